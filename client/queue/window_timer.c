/* A thread that submits what a queue has gathered for too long. */
#include "client/queue/window_timer.h"

#include <stdlib.h>
#include <time.h>

#include "client/session/held.h"

struct window_timer {
    fusion_session *session;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool set, ends;
    struct timespec at;
};

static void *run(void *data)
{
    struct window_timer *t = data;
    pthread_mutex_lock(&t->lock);
    while (!t->ends) {
        if (!t->set) {
            pthread_cond_wait(&t->changed, &t->lock);
        } else if (pthread_cond_timedwait(&t->changed, &t->lock, &t->at) != 0) {
            t->set = false;
            pthread_mutex_unlock(&t->lock);
            client_flush(t->session);
            pthread_mutex_lock(&t->lock);
        }
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

struct window_timer *window_timer_new(fusion_session *s)
{
    struct window_timer *t = calloc(1, sizeof *t);
    pthread_condattr_t attr;
    if (!t) return NULL;
    t->session = s;
    pthread_mutex_init(&t->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&t->changed, &attr);
    pthread_condattr_destroy(&attr);
    if (pthread_create(&t->thread, NULL, run, t) == 0) return t;
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    free(t);
    return NULL;
}

void window_timer_free(struct window_timer *t)
{
    if (!t) return;
    if (t->session->foreign) return; /* a child has not the thread, and the lock may be held for good */
    pthread_mutex_lock(&t->lock);
    t->ends = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

void window_timer_set(struct window_timer *t, uint64_t microseconds)
{
    pthread_mutex_lock(&t->lock);
    clock_gettime(CLOCK_MONOTONIC, &t->at);
    uint64_t ns = (uint64_t)t->at.tv_nsec + microseconds % 1000000 * 1000;
    t->at.tv_sec += (time_t)(microseconds / 1000000 + ns / 1000000000);
    t->at.tv_nsec = (long)(ns % 1000000000);
    t->set = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

void window_timer_stop(struct window_timer *t)
{
    pthread_mutex_lock(&t->lock);
    t->set = false;
    pthread_mutex_unlock(&t->lock);
}
