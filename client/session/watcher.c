/* A thread that sleeps at the ring until a submission completes that somebody wants to be told of. */
#include "client/session/watcher.h"

#include <stdlib.h>

#include "client/base/error.h"
#include "client/session/fork.h"
#include "client/session/wait.h"
#include "proto/ring_wait.h"

struct watched {
    TAILQ_ENTRY(watched) link;
    fusion_event event;
    fusion_event_function *function;
    void *data;
};

struct client_watcher {
    fusion_session *session; /* NULL: it was disconnected in this thread */
    pthread_t thread;
    pthread_mutex_t lock;
    TAILQ_HEAD(, watched) list; /* the oldest event first */
    bool ends;
};

static _Thread_local struct client_watcher *own; /* of the calling thread; NULL: it is none */

/* ---- what there is to tell ---- */

/* One whose outcome is there. lock held. */
static struct watched *take_complete(struct client_watcher *w)
{
    struct watched *one;
    TAILQ_FOREACH(one, &w->list, link)
    {
        if (!client_ended(w->session, one->event)) continue;
        TAILQ_REMOVE(&w->list, one, link);
        return one;
    }
    return NULL;
}

/* The service is not going to complete anything any more. */
static bool is_over(fusion_session *s)
{
    return client_ring_is(s, RING_CLOSED) || client_daemon_gone(s);
}

static void tell(fusion_session *s, struct watched *one)
{
    fusion_status status =
        client_ended(s, one->event)
            ? client_outcome(s, one->event, NULL)
            : client_error(FUSION_CONNECTION, "submission", "the session or fusiond ended before it was complete");
    one->function(one->data, s, one->event, status);
    free(one);
}

/* ---- the thread ---- */

/* lock held, but while it sleeps. NULL: the session ends. */
static struct watched *next(struct client_watcher *w)
{
    struct ring *ring = w->session->ring;
    while (!w->ends) {
        uint32_t seen = ring_completion_bell(ring);
        struct watched *one = take_complete(w);
        if (!one && !TAILQ_EMPTY(&w->list) && is_over(w->session)) {
            one = TAILQ_FIRST(&w->list);
            TAILQ_REMOVE(&w->list, one, link);
        }
        if (one) return one;
        int slice = TAILQ_EMPTY(&w->list) ? -1 : CLIENT_WAIT_SLICE_MS;
        pthread_mutex_unlock(&w->lock);
        ring_wait_completion(ring, seen, slice);
        pthread_mutex_lock(&w->lock);
    }
    return NULL;
}

static void free_watcher(struct client_watcher *w)
{
    pthread_mutex_destroy(&w->lock);
    free(w);
}

static void *watch(void *data)
{
    struct client_watcher *w = own = data;
    struct watched *one;
    pthread_mutex_lock(&w->lock);
    while ((one = next(w))) {
        pthread_mutex_unlock(&w->lock);
        tell(w->session, one);
        if (!w->session) {
            free_watcher(w);
            return NULL;
        }
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static struct client_watcher *new_watcher(fusion_session *s)
{
    struct client_watcher *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->session = s;
    TAILQ_INIT(&w->list);
    pthread_mutex_init(&w->lock, NULL);
    if (pthread_create(&w->thread, NULL, watch, w) == 0) return w;
    free_watcher(w);
    return NULL;
}

fusion_status client_watch(fusion_session *s, fusion_event event, fusion_event_function *function, void *data)
{
    struct watched *one = malloc(sizeof *one), *later;
    pthread_mutex_lock(&s->lock);
    if (!s->watcher) s->watcher = new_watcher(s);
    struct client_watcher *w = s->watcher;
    pthread_mutex_unlock(&s->lock);
    if (!one || !w) {
        free(one);
        return client_no_memory("event");
    }
    *one = (struct watched){.event = event, .function = function, .data = data};
    pthread_mutex_lock(&w->lock);
    TAILQ_FOREACH(later, &w->list, link)
    {
        if (later->event > event) break;
    }
    if (later)
        TAILQ_INSERT_BEFORE(later, one, link);
    else
        TAILQ_INSERT_TAIL(&w->list, one, link);
    pthread_mutex_unlock(&w->lock);
    ring_wake_clients(s->ring);
    return FUSION_SUCCESS;
}

void client_watcher_end(fusion_session *s)
{
    struct client_watcher *w = s->watcher;
    struct watched *one;
    if (!w || client_is_foreign(s)) return; /* a child has not the thread */
    pthread_mutex_lock(&w->lock);
    w->ends = true;
    pthread_mutex_unlock(&w->lock);
    ring_wake_clients(s->ring);
    bool itself = w == own;
    if (!itself) pthread_join(w->thread, NULL);
    while ((one = TAILQ_FIRST(&w->list))) {
        TAILQ_REMOVE(&w->list, one, link);
        tell(s, one);
    }
    s->watcher = NULL;
    if (!itself) {
        free_watcher(w);
        return;
    }
    w->session = NULL;
    pthread_detach(w->thread);
}
