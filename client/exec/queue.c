/* Queues: recording into a graph, or running each command at once. */
#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "client/exec/submit.h"
#include "client/exec/window.h"
#include "client/graph/recording.h"
#include "client/session/fork.h"
#include "client/session/held.h"
#include "client/session/locks.h"
#include "client/session/wait.h"

enum { QUEUE_CACHE = 64 };

struct queue_entry {
    uint8_t *key; /* the wire graph and module ids */
    size_t key_size;
    fusion_exec *exec;
};

static void free_queue(struct client_object *object)
{
    fusion_queue *q = (fusion_queue *)object;
    for (uint32_t i = 0; i < q->n_cache; i++) free(q->cache[i].key);
    free(q->cache);
    free(q->waits);
    free(q->order.since);
    client_window_free(q);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

fusion_status fusion_queue_create(fusion_session *s, fusion_queue **queue)
{
    fusion_queue *q = calloc(1, sizeof *q);
    struct queue_entry *cache = calloc(QUEUE_CACHE, sizeof *cache);
    if (!q || !cache) {
        free(q);
        free(cache);
        return client_no_memory("queue");
    }
    q->session = s;
    q->cache = cache;
    client_init_recursive(&q->lock);
    client_object_add(s, &q->object, free_queue);
    *queue = q;
    return FUSION_SUCCESS;
}

void fusion_queue_destroy(fusion_queue *q)
{
    if (!q) return;
    client_queue_stop_recording(q);
    if (q->window) client_flush(q->session);
    client_window_end(q);
    for (uint32_t i = 0; i < q->n_cache; i++) fusion_exec_destroy(q->cache[i].exec);
    client_object_remove(q->session, &q->object);
    free_queue(&q->object);
}

/* ---- running at once ---- */

/* What makes two one-node graphs the same handle: the wire graph and the modules, not buffers or values. */
static uint8_t *cache_key(const fusion_graph *g, size_t *size)
{
    size_t graph_size;
    uint8_t *bytes = proto_graph_encode(&g->wire, &graph_size);
    size_t modules = g->wire.n_modules * sizeof *g->modules;
    uint8_t *key = bytes ? realloc(bytes, graph_size + modules) : NULL;
    if (!key) {
        free(bytes);
        return NULL;
    }
    if (modules) memcpy(key + graph_size, g->modules, modules);
    *size = graph_size + modules;
    return key;
}

static fusion_exec *cache_find(const fusion_queue *q, const uint8_t *key, size_t size)
{
    for (uint32_t i = 0; i < q->n_cache; i++)
        if (q->cache[i].key_size == size && memcmp(q->cache[i].key, key, size) == 0) return q->cache[i].exec;
    return NULL;
}

/* Takes key and exec. */
static void cache_insert(fusion_queue *q, uint8_t *key, size_t size, fusion_exec *exec)
{
    if (q->n_cache == QUEUE_CACHE) client_window_submit(q); /* which may need what goes */
    uint32_t place = q->n_cache < QUEUE_CACHE ? q->n_cache++ : q->next_evict++ % QUEUE_CACHE;
    struct queue_entry *e = &q->cache[place];
    fusion_exec_destroy(e->exec);
    free(e->key);
    *e = (struct queue_entry){key, size, exec};
}

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
    status = fusion_exec_submit(exec, NULL, 0, &submitted); /* behind all that was submitted before */
    if (status == FUSION_SUCCESS) {
        note(q, submitted);
        if (event) *event = submitted;
    }
    fusion_exec_destroy(exec);
    return status;
}

/* For what the command depends on, as it runs in this process. How that went its own waiters learn. */
static void wait_here(const fusion_queue *q)
{
    for (uint32_t i = 0; i < q->n_waits; i++) {
        fusion_event event = q->waits[i];
        if (client_event_resolve(q->session, &event) == FUSION_SUCCESS) client_wait(q->session, event, -1, NULL);
    }
}

/* held: whether the command may be gathered; then whether it is, and the graph was taken. */
static fusion_status run_graph(fusion_queue *q, fusion_graph *g, fusion_event *event, bool *held)
{
    bool pipe = g->n_actions && g->actions[0].kind == ACTION_PIPE;
    if (g->n_actions && !pipe) {
        *held = false;
        return run_here(q, g, event);
    }
    size_t size;
    uint8_t *key = cache_key(g, &size);
    if (!key) return client_no_memory("queue");
    fusion_exec *exec = cache_find(q, key, size);
    if (exec) {
        free(key);
    } else {
        fusion_status status = fusion_graph_finalize(g, NULL, &exec);
        if (status != FUSION_SUCCESS) {
            free(key);
            return status;
        }
        cache_insert(q, key, size, exec);
    }
    if (pipe) {
        exec->actions[0] = g->actions[0]; /* all graphs of such a command alone are alike */
        wait_here(q);
    }
    fusion_event submitted;
    const struct submit_after after = {q->waits, q->n_waits};
    *held = *held && !after.n && client_window_takes(q, g);
    fusion_status status =
        *held ? client_window_add(q, exec, g, &submitted) : client_submit_graph(exec, g, &after, &submitted);
    if (status != FUSION_SUCCESS) return status;
    note(q, submitted);
    if (event) *event = submitted;
    return FUSION_SUCCESS;
}

/* Where commands are gathered, the session's turn comes before the queue's lock. */
static fusion_status run_in_order(fusion_queue *q, fusion_graph *g, fusion_event *event, bool *held)
{
    bool gathers = q->window != NULL;
    if (gathers) pthread_mutex_lock(&q->session->turn_lock);
    pthread_mutex_lock(&q->lock);
    *held = gathers;
    fusion_status status = run_graph(q, g, event, held);
    q->n_waits = 0;
    if (status != FUSION_SUCCESS) *held = false;
    pthread_mutex_unlock(&q->lock);
    if (gathers) pthread_mutex_unlock(&q->session->turn_lock);
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

fusion_status fusion_queue_wait(fusion_queue *q)
{
    if (q->recording) return client_error(FUSION_INVALID, "queue", "it records; end the recording before waiting");
    return client_open_wait(q->session, &q->open);
}
