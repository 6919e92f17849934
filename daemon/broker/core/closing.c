/* Closing descriptors in helper threads. */
#include "daemon/broker/core/closing.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum {
    MAX_THREADS = 16,   /* of what ends some day */
    MAX_OF_USER = 2,    /* of what one user has sent; */
    MAX_OF_USERS = 128, /* of all users */
    PATIENCE_MS = 20,   /* then a signal ends what can be interrupted, such as the lingering of a socket */
    WAKE_SIGNAL = SIGUSR2
};

/* A stack: their order does not matter. */
struct descriptors {
    int *fds;
    size_t n, capacity;
};

/* A user whose descriptors are being closed. */
struct owner {
    LIST_ENTRY(owner) link;
    uid_t uid;
    struct descriptors waiting;
    unsigned n_threads, n_busy; /* that are there for it, and those that close one now */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct descriptors waiting;
    unsigned n_threads, n_idle;
    LIST_HEAD(, owner) owners;
    unsigned n_of_users; /* threads */
    uint64_t pending;    /* of all users */
} closing = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

static void on_wake(int number)
{
    (void)number; /* it is there to interrupt a system call */
}

/* A timer that sends the wake signal to this thread. False: there is none. */
static bool make_timer(timer_t *timer)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = WAKE_SIGNAL};
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    return timer_create(CLOCK_MONOTONIC, &event, timer) == 0;
}

static void set_timer(timer_t timer, long ms)
{
    struct timespec period = {0, ms * 1000000};
    timer_settime(timer, 0, &(struct itimerspec){period, period}, NULL);
}

static void close_in_time(int fd, const timer_t *timer)
{
    static const struct linger none = {0, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none); /* of anything but a socket it is just an error */
    if (timer) set_timer(*timer, PATIENCE_MS);
    close(fd); /* interrupted or not, it is closed */
    if (timer) set_timer(*timer, 0);
}

/* One idle thread stays. */
static void *work(void *unused)
{
    (void)unused;
    timer_t timer;
    bool timed = make_timer(&timer);
    pthread_mutex_lock(&closing.lock);
    for (;;) {
        while (closing.waiting.n == 0) {
            if (closing.n_idle > 0) goto out;
            closing.n_idle++;
            pthread_cond_wait(&closing.more, &closing.lock);
            closing.n_idle--;
        }
        int fd = closing.waiting.fds[--closing.waiting.n];
        pthread_mutex_unlock(&closing.lock);
        close_in_time(fd, timed ? &timer : NULL);
        pthread_mutex_lock(&closing.lock);
    }
out:
    closing.n_threads--;
    pthread_mutex_unlock(&closing.lock);
    if (timed) timer_delete(timer);
    return NULL;
}

/* With the lock held. The daemon's own signals are for the event loop's thread. */
static bool start_thread(void *(*run)(void *data), void *data)
{
    sigset_t all, before;
    pthread_t id;
    sigfillset(&all);
    sigdelset(&all, WAKE_SIGNAL);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&id, NULL, run, data) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) pthread_detach(id);
    return started;
}

/* With the lock held. */
static bool start_worker(void)
{
    bool started = start_thread(work, NULL);
    closing.n_threads += started;
    return started;
}

bool closing_start(void)
{
    struct sigaction action = {.sa_handler = on_wake}; /* no SA_RESTART */
    sigaction(WAKE_SIGNAL, &action, NULL);
    pthread_mutex_lock(&closing.lock);
    bool started = closing.n_threads > 0 || start_worker();
    pthread_mutex_unlock(&closing.lock);
    return started;
}

/* With the lock held. */
static bool push(struct descriptors *d, int fd)
{
    if (d->n == d->capacity) {
        size_t capacity = d->capacity ? 2 * d->capacity : 64;
        int *fds = realloc(d->fds, capacity * sizeof *fds);
        if (!fds) return false;
        d->fds = fds;
        d->capacity = capacity;
    }
    d->fds[d->n++] = fd;
    return true;
}

void closing_close(int fd)
{
    if (fd < 0) return;
    pthread_mutex_lock(&closing.lock);
    bool queued = closing.n_threads > 0 && push(&closing.waiting, fd);
    if (queued && closing.n_idle == 0 && closing.n_threads < MAX_THREADS) start_worker();
    if (queued) pthread_cond_signal(&closing.more);
    pthread_mutex_unlock(&closing.lock);
    if (!queued) close(fd); /* no thread yet, or no memory at all */
}

/* ---- what strangers have sent ---- */

/* With the lock held, as all of these. */
static struct owner *find_owner(uid_t uid)
{
    struct owner *owner;
    LIST_FOREACH(owner, &closing.owners, link)
    if (owner->uid == uid) return owner;
    return NULL;
}

static struct owner *get_owner(uid_t uid)
{
    struct owner *owner = find_owner(uid);
    if (!owner && (owner = calloc(1, sizeof *owner))) {
        owner->uid = uid;
        LIST_INSERT_HEAD(&closing.owners, owner, link);
    }
    return owner;
}

static void leave_idle(struct owner *owner)
{
    if (!owner || owner->n_threads > 0 || owner->waiting.n > 0) return;
    LIST_REMOVE(owner, link);
    free(owner->waiting.fds);
    free(owner);
}

/* Somebody who has something waiting and may have a thread more; NULL: nobody. */
static struct owner *next_owner(void)
{
    struct owner *owner;
    LIST_FOREACH(owner, &closing.owners, link)
    if (owner->waiting.n > 0 && owner->n_threads < MAX_OF_USER) return owner;
    return NULL;
}

static void close_waiting(struct owner *owner, const timer_t *timer)
{
    while (owner->waiting.n > 0) {
        int fd = owner->waiting.fds[--owner->waiting.n];
        owner->n_busy++;
        pthread_mutex_unlock(&closing.lock);
        close_in_time(fd, timer);
        pthread_mutex_lock(&closing.lock);
        owner->n_busy--;
        closing.pending--;
    }
}

/* For this user first, then for whoever has something waiting and too few threads. */
static void *work_for_users(void *data)
{
    struct owner *owner = data;
    timer_t timer;
    bool timed = make_timer(&timer);
    pthread_mutex_lock(&closing.lock);
    while (owner) {
        close_waiting(owner, timed ? &timer : NULL);
        owner->n_threads--;
        leave_idle(owner);
        owner = next_owner();
        if (owner) owner->n_threads++;
    }
    closing.n_of_users--;
    pthread_mutex_unlock(&closing.lock);
    if (timed) timer_delete(timer);
    return NULL;
}

void closing_close_of(uid_t uid, int fd)
{
    if (fd < 0) return;
    pthread_mutex_lock(&closing.lock);
    struct owner *owner = closing.n_threads > 0 ? get_owner(uid) : NULL;
    bool queued = owner && push(&owner->waiting, fd);
    closing.pending += queued;
    if (queued && owner->n_threads < MAX_OF_USER && closing.n_of_users < MAX_OF_USERS &&
        start_thread(work_for_users, owner)) {
        owner->n_threads++;
        closing.n_of_users++;
    }
    leave_idle(owner);
    pthread_mutex_unlock(&closing.lock);
    if (!queued) close(fd);
}

uint64_t closing_pending_of(uid_t uid)
{
    pthread_mutex_lock(&closing.lock);
    const struct owner *owner = find_owner(uid);
    uint64_t n = owner ? owner->waiting.n + owner->n_busy : 0;
    pthread_mutex_unlock(&closing.lock);
    return n;
}

uint64_t closing_pending(void)
{
    pthread_mutex_lock(&closing.lock);
    uint64_t n = closing.pending;
    pthread_mutex_unlock(&closing.lock);
    return n;
}
