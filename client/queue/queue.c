/* Queues: recording into a graph, or running each command at once. */
#include <stdlib.h>

#include "client/base/error.h"
#include "client/exec/submit.h"
#include "client/graph/recording.h"
#include "client/queue/handles.h"
#include "client/queue/window.h"
#include "client/session/fork.h"
#include "client/session/wait.h"

static void free_queue(struct client_object *object)
{
    fusion_queue *q = (fusion_queue *)object;
    queue_handles_free(q->handles);
    free(q->waits);
    free(q->order.since);
    client_window_free(q);
    free(q);
}

fusion_status fusion_queue_create(fusion_session *s, fusion_queue **queue)
{
    fusion_queue *q = calloc(1, sizeof *q);
    if (q) q->handles = queue_handles_new();
    if (!q || !q->handles) {
        free(q);
        return client_no_memory("queue");
    }
    q->session = s;
    client_object_add(s, &q->object, free_queue);
    *queue = q;
    return FUSION_SUCCESS;
}

/* A child has the locks as some thread held them, and nothing to submit. */
static void end_handles(fusion_queue *q)
{
    if (client_is_foreign(q->session)) return;
    pthread_mutex_lock(&q->session->turn_lock);
    client_window_end(q);
    pthread_mutex_unlock(&q->session->turn_lock);
    queue_handles_end(q->handles);
}

void fusion_queue_destroy(fusion_queue *q)
{
    if (!q) return;
    client_queue_stop_recording(q);
    end_handles(q);
    client_object_remove(q->session, &q->object);
    free_queue(&q->object);
}

/* ---- running at once ---- */

static void note(fusion_queue *q, fusion_event event)
{
    pthread_mutex_lock(&q->session->lock);
    client_open_add(q->session, &q->open, event);
    pthread_mutex_unlock(&q->session->lock);
}

/* A command with a part that runs here has a handle of its own. */
static fusion_status run_here(fusion_queue *q, fusion_graph *g, fusion_event *event)
{
    fusion_exec *exec;
    fusion_event submitted;
    fusion_status status = fusion_graph_finalize(g, NULL, &exec);
    if (status != FUSION_SUCCESS) return status;
    status = fusion_exec_submit_with(exec, NULL, 0, &q->options, &submitted); /* behind all that was submitted before */
    if (status == FUSION_SUCCESS) {
        note(q, submitted);
        if (event) *event = submitted;
    }
    fusion_exec_destroy(exec);
    return status;
}

/* For what the command depends on, as it runs in this process. How that went its own waiters learn. */
static void wait_here(const fusion_queue *q, const struct submit_after *after)
{
    for (uint32_t i = 0; i < after->n; i++) {
        fusion_event event = after->events[i];
        if (client_event_resolve(q->session, &event) == FUSION_SUCCESS) client_wait(q->session, event, -1, NULL);
    }
}

/* The graph and the handle are taken where it is. */
static bool gather(fusion_queue *q, struct queue_handle *handle, fusion_graph *g, fusion_event *event,
                   fusion_status *status)
{
    pthread_mutex_lock(&q->session->turn_lock);
    bool takes = client_window_takes(q, g);
    if (takes) *status = client_window_add(q, handle, g, event);
    pthread_mutex_unlock(&q->session->turn_lock);
    return takes && *status == FUSION_SUCCESS;
}

/* held: whether it is gathered, and the graph was taken. */
static fusion_status run_handle(fusion_queue *q, struct queue_handle *handle, fusion_graph *g,
                                const struct submit_after *after, fusion_event *event, bool *held)
{
    fusion_status status = FUSION_SUCCESS;
    if (g->n_actions) { /* all graphs of such a command alone are alike */
        handle->exec->actions[0] = g->actions[0];
        wait_here(q, after);
    } else if (!after->n) {
        *held = gather(q, handle, g, event, &status);
    }
    if (!*held && status == FUSION_SUCCESS) status = client_submit_graph(handle->exec, g, after, &q->options, event);
    if (!*held) queue_handles_release(q->handles, handle);
    return status;
}

/* held: as of run_handle(). */
static fusion_status run_graph(fusion_queue *q, fusion_graph *g, const struct submit_after *after, fusion_event *event,
                               bool *held)
{
    struct queue_handle *handle;
    fusion_event submitted;
    bool pipe = g->n_actions && g->actions[0].kind == ACTION_PIPE;
    if (g->n_actions && !pipe) return run_here(q, g, event);
    fusion_status status = queue_handles_take(q->handles, g, pipe, &handle);
    if (status == FUSION_SUCCESS) status = run_handle(q, handle, g, after, &submitted, held);
    if (status != FUSION_SUCCESS) return status;
    note(q, submitted);
    if (event) *event = submitted;
    return FUSION_SUCCESS;
}

/* What it depends on is that of this command alone. */
static fusion_status run_in_order(fusion_queue *q, fusion_graph *g, fusion_event *event, bool *held)
{
    pthread_mutex_lock(&q->session->lock);
    fusion_event *waits = q->waits;
    const struct submit_after after = {waits, q->n_waits};
    q->waits = NULL;
    q->n_waits = 0;
    pthread_mutex_unlock(&q->session->lock);
    fusion_status status = run_graph(q, g, &after, event, held);
    free(waits);
    return status;
}

/* A command is added to the graph that records, or to a graph of its own that runs at once. */
static fusion_status target_graph(fusion_queue *q, fusion_graph **graph)
{
    *graph = q->recording;
    return q->recording ? FUSION_SUCCESS : fusion_graph_create(q->session, graph);
}

static fusion_status finish(fusion_queue *q, fusion_graph *graph, fusion_status added, fusion_event *event)
{
    if (q->recording) return added == FUSION_SUCCESS ? client_recorded(q, event) : added;
    fusion_status status = added;
    bool held = false;
    if (status == FUSION_SUCCESS && client_is_foreign(q->session)) status = client_foreign("queue");
    if (status == FUSION_SUCCESS) status = run_in_order(q, graph, event, &held);
    if (!held) fusion_graph_destroy(graph);
    return status;
}

fusion_status fusion_queue_submit(fusion_queue *q, const fusion_kernel_node *kernel, fusion_event *event)
{
    fusion_graph *graph;
    fusion_status status = target_graph(q, &graph);
    if (status != FUSION_SUCCESS) return status;
    return finish(q, graph, fusion_graph_add_kernel(graph, kernel, NULL), event);
}

fusion_status fusion_queue_copy(fusion_queue *q, fusion_memory from, fusion_memory to, uint64_t bytes,
                                fusion_event *event)
{
    fusion_graph *graph;
    fusion_status status = target_graph(q, &graph);
    if (status != FUSION_SUCCESS) return status;
    return finish(q, graph, fusion_graph_add_copy(graph, NULL, from, to, bytes, NULL, 0, NULL), event);
}

fusion_status fusion_queue_copy_2d(fusion_queue *q, fusion_memory from, uint64_t from_pitch, fusion_memory to,
                                   uint64_t to_pitch, uint64_t bytes, uint32_t rows, fusion_event *event)
{
    fusion_graph *graph;
    fusion_status status = target_graph(q, &graph);
    if (status != FUSION_SUCCESS) return status;
    return finish(q, graph,
                  fusion_graph_add_copy_2d(graph, NULL, from, from_pitch, to, to_pitch, bytes, rows, NULL, 0, NULL),
                  event);
}

fusion_status fusion_queue_fill(fusion_queue *q, fusion_memory to, uint64_t bytes, const void *pattern,
                                uint32_t pattern_bytes, fusion_event *event)
{
    fusion_graph *graph;
    fusion_status status = target_graph(q, &graph);
    if (status != FUSION_SUCCESS) return status;
    return finish(q, graph, fusion_graph_add_fill(graph, NULL, to, bytes, pattern, pattern_bytes, NULL, 0, NULL),
                  event);
}

fusion_status fusion_queue_copy_pixels(fusion_queue *q, fusion_pixels from, fusion_pixels to, uint32_t width,
                                       uint32_t height, fusion_event *event)
{
    return fusion_queue_copy_pixels_3d(q, from, to, width, height, 1, event);
}

fusion_status fusion_queue_copy_pixels_3d(fusion_queue *q, fusion_pixels from, fusion_pixels to, uint32_t width,
                                          uint32_t height, uint32_t depth, fusion_event *event)
{
    fusion_graph *graph;
    fusion_status status = target_graph(q, &graph);
    if (status != FUSION_SUCCESS) return status;
    return finish(q, graph, fusion_graph_add_copy_pixels_3d(graph, NULL, from, to, width, height, depth, NULL, 0, NULL),
                  event);
}

fusion_status fusion_queue_fill_image(fusion_queue *q, fusion_image *to, const fusion_region *region, const void *pixel,
                                      fusion_event *event)
{
    fusion_graph *graph;
    fusion_status status = target_graph(q, &graph);
    if (status != FUSION_SUCCESS) return status;
    return finish(q, graph, fusion_graph_add_fill_image(graph, NULL, to, region, pixel, NULL, 0, NULL), event);
}

fusion_status fusion_queue_host_task(fusion_queue *q, const fusion_arg *args, uint32_t n_args,
                                     fusion_host_function *function, void *data, fusion_event *event)
{
    fusion_graph *graph;
    fusion_status status = target_graph(q, &graph);
    if (status != FUSION_SUCCESS) return status;
    return finish(q, graph, fusion_graph_add_host_task(graph, NULL, args, n_args, function, data, NULL, 0, NULL),
                  event);
}

fusion_status fusion_queue_pipe(fusion_queue *q, fusion_pipe *pipe, void *packets, uint64_t n, int timeout_ms,
                                fusion_event *event)
{
    fusion_graph *graph;
    fusion_status status = target_graph(q, &graph);
    if (status != FUSION_SUCCESS) return status;
    return finish(q, graph, fusion_graph_add_pipe(graph, NULL, pipe, packets, n, timeout_ms, NULL, 0, NULL), event);
}

fusion_status fusion_queue_set_options(fusion_queue *q, const fusion_submit_options *given)
{
    fusion_submit_options own;
    fusion_status status = client_check_submit_options(given, &own);
    if (status != FUSION_SUCCESS) return status;
    pthread_mutex_lock(&q->session->turn_lock);
    client_window_submit(q);
    q->options = own;
    pthread_mutex_unlock(&q->session->turn_lock);
    return FUSION_SUCCESS;
}

fusion_status fusion_queue_wait(fusion_queue *q)
{
    if (q->recording) return client_error(FUSION_INVALID, "queue", "it records; end the recording before waiting");
    return client_open_wait(q->session, &q->open);
}
