#include "tools/inspect/terminal/progress.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 400, EACH_MS = 200, MS = 1000000 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_started, is_shown;
    const char *what; /* NULL: nothing */
    uint32_t done, of;
    struct timespec since;
} now = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static double seconds_since(const struct timespec *t)
{
    struct timespec is;
    clock_gettime(CLOCK_REALTIME, &is);
    return (double)(is.tv_sec - t->tv_sec) + (double)(is.tv_nsec - t->tv_nsec) / 1e9;
}

static void show(void)
{
    double seconds = seconds_since(&now.since);
    if (seconds * 1000 < FIRST_MS) return;
    fprintf(stderr, "\r\033[K%s", now.what);
    if (now.of) fprintf(stderr, " %u of %u", now.done, now.of);
    fprintf(stderr, ", %.1f s", seconds);
    fflush(stderr);
    now.is_shown = true;
}

static void *tell(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&now.lock);
    for (;;) {
        struct timespec next;
        clock_gettime(CLOCK_REALTIME, &next);
        next.tv_nsec += EACH_MS * MS;
        next.tv_sec += next.tv_nsec / (1000 * MS);
        next.tv_nsec %= 1000 * MS;
        if (now.what)
            pthread_cond_timedwait(&now.changed, &now.lock, &next);
        else
            pthread_cond_wait(&now.changed, &now.lock);
        if (now.what) show();
    }
    return NULL;
}

/* Without a thread nothing is shown. */
static void start(void)
{
    pthread_t id;
    now.is_started = true;
    if (pthread_create(&id, NULL, tell, NULL) == 0) pthread_detach(id);
}

void progress(const char *what, uint32_t done, uint32_t of)
{
    if (!isatty(STDERR_FILENO)) return;
    pthread_mutex_lock(&now.lock);
    if (!now.is_started) start();
    if (now.what != what) {
        clock_gettime(CLOCK_REALTIME, &now.since);
        pthread_cond_signal(&now.changed);
    }
    now.what = what;
    now.done = done;
    now.of = of;
    pthread_mutex_unlock(&now.lock);
}

void progress_end(void)
{
    pthread_mutex_lock(&now.lock);
    now.what = NULL;
    if (now.is_shown) fputs("\r\033[K", stderr);
    now.is_shown = false;
    pthread_mutex_unlock(&now.lock);
}
