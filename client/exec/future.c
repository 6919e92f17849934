/* Finalizing in threads of the session. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/base/error.h"
#include "client/base/sized.h"
#include "client/exec/finalize.h"
#include "client/graph/flatten.h"
#include "client/session/fork.h"
#include "client/session/objects.h"
#include "client/session/request.h"
#include "client/session/workers.h"

/* Freed by the last of those who refer to it: the caller (or the session), and the task until it is over. */
struct fusion_future {
    struct client_object object;
    struct client_task task;
    fusion_session *session;
    fusion_graph *graph; /* the future's own; NULL: it has been finalized */
    fusion_finalize_options options;
    char *device;
    fusion_future_function *function;
    void *data;
    struct client_ticket ticket;

    _Atomic uint32_t references;
    pthread_mutex_t lock; /* what follows */
    pthread_cond_t settled;
    bool done, taken, abandoned;
    fusion_exec *exec;
    fusion_error error;
};

static void unref(fusion_future *f)
{
    if (atomic_fetch_sub(&f->references, 1) > 1) return;
    client_graph_free(f->graph);
    pthread_cond_destroy(&f->settled);
    pthread_mutex_destroy(&f->lock);
    free(f->device);
    free(f);
}

/* The session ends, and frees the executable itself. */
static void free_future(struct client_object *object)
{
    unref((fusion_future *)object);
}

/* ---- the outcome ---- */

static void settle(fusion_future *f, fusion_status status, fusion_exec *exec)
{
    pthread_mutex_lock(&f->lock);
    if (f->abandoned && status == FUSION_SUCCESS)
        status = client_error(FUSION_CANCELLED, "graph", "the future was destroyed before it was finalized");
    if (status != FUSION_SUCCESS) f->error = *fusion_last_error();
    if (status == FUSION_SUCCESS) f->exec = exec;
    f->done = true;
    pthread_cond_broadcast(&f->settled);
    pthread_mutex_unlock(&f->lock);
    if (status != FUSION_SUCCESS) fusion_exec_destroy(exec);
    if (f->function) f->function(f->data, f);
    unref(f); /* the task is over; the session may have ended in the function */
}

static void run(struct client_task *task, bool ended)
{
    fusion_future *f = (fusion_future *)((char *)task - offsetof(fusion_future, task));
    fusion_exec *exec = NULL;
    if (ended) {
        settle(f, client_error(FUSION_CONNECTION, "graph", "the session ended before it was finalized"), NULL);
        return;
    }
    client_ticket_use(&f->ticket);
    fusion_status status = fusion_graph_finalize(f->graph, &f->options, &exec);
    client_ticket_use(NULL);
    client_graph_free(f->graph);
    f->graph = NULL;
    settle(f, status, exec);
}

/* ---- begun ---- */

static fusion_future *new_future(fusion_session *s)
{
    fusion_future *f = calloc(1, sizeof *f);
    pthread_condattr_t monotonic;
    if (!f) return NULL;
    f->session = f->ticket.session = s;
    f->task.run = run;
    f->references = 1;
    pthread_mutex_init(&f->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&f->settled, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return f;
}

/* All that the call says, but for the graph. */
static fusion_status take(fusion_future *f, const fusion_finalize_options *options, const fusion_async_options *async)
{
    f->options = *options;
    if (options->device) f->options.device = f->device = strdup(options->device);
    if (options->device && !f->device) return client_no_memory("graph");
    f->function = async->done;
    f->data = async->data;
    f->task.priority = (int32_t)async->priority;
    return FUSION_SUCCESS;
}

static fusion_status copy_graph(fusion_future *f, const fusion_graph *g)
{
    f->graph = client_graph_copy(g);
    if (!f->graph) return fusion_last_error()->status;
    f->graph->recording = g->recording;
    return FUSION_SUCCESS;
}

static fusion_status check(const fusion_graph *g, const fusion_finalize_options *options,
                           const fusion_async_options *async)
{
    if (g->recorders) return client_error(FUSION_BUSY, "graph", "a queue is still recording into it");
    if (async->priority < INT32_MIN || async->priority > INT32_MAX)
        return client_error(FUSION_INVALID, "graph", "a priority of %lld", (long long)async->priority);
    return client_check_finalize_options(options);
}

static fusion_status begin(fusion_future *f)
{
    f->references++; /* the task's */
    client_object_add(f->session, &f->object, free_future);
    if (client_task_add(f->session, &f->task)) return FUSION_SUCCESS;
    client_object_remove(f->session, &f->object);
    f->references--;
    return client_error(FUSION_OUT_OF_MEMORY, "graph", "no thread can be started to finalize it");
}

fusion_status fusion_graph_finalize_async(fusion_graph *g, const fusion_finalize_options *options,
                                          const fusion_async_options *async, fusion_future **future)
{
    fusion_finalize_options own;
    fusion_async_options own_async = {0};
    fusion_status status = client_take_finalize_options(&own, options);
    if (status == FUSION_SUCCESS && async)
        status = CLIENT_TAKE(fusion_async_options, priority, &own_async, async, "async options");
    if (status == FUSION_SUCCESS) status = check(g, &own, &own_async);
    if (status != FUSION_SUCCESS) return status;
    fusion_future *f = new_future(g->session);
    if (!f) return client_no_memory("graph");
    status = take(f, &own, &own_async);
    if (status == FUSION_SUCCESS) status = copy_graph(f, g);
    if (status == FUSION_SUCCESS) status = begin(f);
    if (status == FUSION_SUCCESS)
        *future = f;
    else
        unref(f);
    return status;
}

fusion_status client_finalize_later(fusion_graph *g, const fusion_finalize_options *options, int64_t priority,
                                    fusion_future **future)
{
    const fusion_async_options async = {.priority = priority};
    fusion_future *f = new_future(g->session);
    if (!f) {
        client_graph_free(g);
        return client_no_memory("graph");
    }
    f->graph = g;
    fusion_status status = take(f, options, &async);
    if (status == FUSION_SUCCESS) status = begin(f);
    if (status == FUSION_SUCCESS)
        *future = f;
    else
        unref(f);
    return status;
}

/* ---- asked for ---- */

static fusion_status tell(fusion_future *f, fusion_exec **exec)
{
    const fusion_error *e = &f->error;
    if (e->status != FUSION_SUCCESS) return client_error(e->status, e->object, "%s", e->reason);
    if (exec) *exec = f->exec;
    if (exec) f->taken = true;
    return FUSION_SUCCESS;
}

fusion_status fusion_future_wait(fusion_future *f, int timeout_ms, fusion_exec **exec)
{
    uint64_t end = client_now_ms() + (timeout_ms > 0 ? (uint64_t)timeout_ms : 0);
    const struct timespec at = client_time_at(end);
    int late = 0;
    pthread_mutex_lock(&f->lock);
    while (!f->done && late != ETIMEDOUT)
        late = timeout_ms < 0 ? pthread_cond_wait(&f->settled, &f->lock)
                              : pthread_cond_timedwait(&f->settled, &f->lock, &at);
    fusion_status status =
        f->done ? tell(f, exec) : client_error(FUSION_TIMEOUT, "graph", "it was not finalized after %d ms", timeout_ms);
    pthread_mutex_unlock(&f->lock);
    return status;
}

fusion_status fusion_future_poll(fusion_future *f)
{
    pthread_mutex_lock(&f->lock);
    fusion_status status =
        f->done ? tell(f, NULL) : client_error(FUSION_BUSY, "graph", "it has not been finalized yet");
    pthread_mutex_unlock(&f->lock);
    return status;
}

fusion_status fusion_future_cancel(fusion_future *f)
{
    pthread_mutex_lock(&f->lock);
    bool done = f->done;
    pthread_mutex_unlock(&f->lock);
    if (done) return FUSION_SUCCESS;
    if (!client_task_take_back(f->session, &f->task)) return client_ticket_cancel(&f->ticket);
    settle(f, client_error(FUSION_CANCELLED, "graph", "it was cancelled before it began"), NULL);
    return FUSION_SUCCESS;
}

void fusion_future_destroy(fusion_future *f)
{
    if (!f) return;
    if (client_is_foreign(f->session)) return;  /* it goes with the session, whose threads the child has not */
    fusion_error before = *fusion_last_error(); /* a destructor does not disturb the error being looked at */
    pthread_mutex_lock(&f->lock);
    f->abandoned = true;
    pthread_mutex_unlock(&f->lock);
    fusion_future_cancel(f);
    client_object_remove(f->session, &f->object);
    pthread_mutex_lock(&f->lock);
    fusion_exec *left = f->done && !f->taken ? f->exec : NULL;
    f->taken = true;
    pthread_mutex_unlock(&f->lock);
    fusion_exec_destroy(left);
    unref(f);
    client_error(before.status, before.object, "%s", before.reason);
}
