/* Closing descriptors that strangers have sent, in helper threads. */
#include "daemon/broker/core/closing.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum {
    MAX_THREADS = 16,
    PATIENCE_MS = 20, /* then a signal ends what can be interrupted, such as the lingering of a socket */
    WAKE_SIGNAL = SIGUSR2
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    int *fds; /* to be closed; a stack: their order does not matter */
    size_t n, capacity;
    unsigned n_threads, n_idle;
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
        while (closing.n == 0) {
            if (closing.n_idle > 0) goto out;
            closing.n_idle++;
            pthread_cond_wait(&closing.more, &closing.lock);
            closing.n_idle--;
        }
        int fd = closing.fds[--closing.n];
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
static bool start_thread(void)
{
    sigset_t all, before;
    pthread_t id;
    sigfillset(&all);
    sigdelset(&all, WAKE_SIGNAL);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&id, NULL, work, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!started) return false;
    pthread_detach(id);
    closing.n_threads++;
    return true;
}

bool closing_start(void)
{
    struct sigaction action = {.sa_handler = on_wake}; /* no SA_RESTART */
    sigaction(WAKE_SIGNAL, &action, NULL);
    pthread_mutex_lock(&closing.lock);
    bool started = closing.n_threads > 0 || start_thread();
    pthread_mutex_unlock(&closing.lock);
    return started;
}

/* With the lock held. */
static bool push(int fd)
{
    if (closing.n == closing.capacity) {
        size_t capacity = closing.capacity ? 2 * closing.capacity : 64;
        int *fds = realloc(closing.fds, capacity * sizeof *fds);
        if (!fds) return false;
        closing.fds = fds;
        closing.capacity = capacity;
    }
    closing.fds[closing.n++] = fd;
    return true;
}

void closing_close(int fd)
{
    if (fd < 0) return;
    pthread_mutex_lock(&closing.lock);
    bool queued = closing.n_threads > 0 && push(fd);
    if (queued && closing.n_idle == 0 && closing.n_threads < MAX_THREADS) start_thread();
    if (queued) pthread_cond_signal(&closing.more);
    pthread_mutex_unlock(&closing.lock);
    if (!queued) close(fd); /* no thread yet, or no memory at all */
}
