/*
 * Windows: commands that a queue gathers. Each has its number already, and an executable of its own, so that an error
 * in it was told to who gave it. The first time a window is submitted command by command; when one of the same shape
 * comes again (kernels, ranges, which arguments are the same memory, all but contents of memory and scalars), it is
 * finalized as one graph, and from then on submitted as that.
 */
#include "client/queue/window.h"

#include <fusiond/window.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "client/base/sized.h"
#include "client/exec/submit.h"
#include "client/graph/flatten.h"
#include "client/queue/window_timer.h"
#include "client/session/held.h"
#include "client/session/push.h"

enum { MAX_COMMANDS = 128, MAX_SHAPES = 64, DEFAULT_MICROSECONDS = 1000 };

struct command {
    fusion_graph *graph;
    struct queue_handle *handle;
};

struct shape {
    uint8_t *key;
    size_t size;
    bool tried;        /* to make one executable of it */
    fusion_exec *exec; /* NULL: there is none, or it would be no gain */
};

struct queue_window {
    uint32_t most, microseconds; /* most 0: nothing is gathered */
    uint32_t n;
    struct command commands[MAX_COMMANDS];
    fusion_event last; /* number of the last one */
    uint32_t n_shapes, next_evict;
    struct shape shapes[MAX_SHAPES];
    struct window_timer *timer;
};

/* ---- the shape ---- */

/* What is said of buffers is said of those that graphs use. */
static void forget_properties(fusion_graph *g)
{
    for (uint32_t i = 0; i < g->wire.n_slots; i++) g->wire.slots[i].props = (struct proto_props){0};
    for (uint32_t i = 0; i < g->wire.n_nodes; i++)
        for (uint32_t k = 0; k < g->wire.nodes[i].n_args; k++) g->wire.nodes[i].args[k].props = (struct proto_props){0};
}

/* The commands as one graph; NULL: no memory. */
static fusion_graph *graph_of(const fusion_queue *q)
{
    const struct queue_window *w = q->window;
    fusion_graph *g = client_graph_new(q->session);
    fusion_status status = g ? FUSION_SUCCESS : FUSION_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < w->n && status == FUSION_SUCCESS; i++)
        status = client_graph_take_nodes(g, w->commands[i].graph);
    if (status == FUSION_SUCCESS) {
        forget_properties(g);
        return g;
    }
    if (g) client_graph_free(g);
    return NULL;
}

/* The wire graph and the modules, whatever buffers are called. */
static uint8_t *key_of(fusion_graph *g, size_t *size)
{
    uint32_t n = g->wire.n_slots;
    size_t modules = g->wire.n_modules * sizeof *g->modules;
    char **names = calloc(n + 1, sizeof *names), (*plain)[16] = calloc(n + 1, sizeof *plain);
    uint8_t *bytes = NULL;
    for (uint32_t i = 0; i < n && names && plain; i++) {
        names[i] = g->wire.slots[i].name;
        snprintf(plain[i], sizeof *plain, "%u", i);
        g->wire.slots[i].name = plain[i];
    }
    if (names && plain) bytes = proto_graph_encode(&g->wire, size);
    for (uint32_t i = 0; i < n && names && plain; i++) g->wire.slots[i].name = names[i];
    free(names);
    free(plain);
    uint8_t *key = bytes ? realloc(bytes, *size + modules) : NULL;
    if (!key) {
        free(bytes);
        return NULL;
    }
    if (modules) memcpy(key + *size, g->modules, modules);
    *size += modules;
    return key;
}

/* The shape, which is noted where it is new. NULL: no memory, or it is new. */
static struct shape *find_shape(struct queue_window *w, fusion_graph *g)
{
    size_t size;
    uint8_t *key = key_of(g, &size);
    if (!key) return NULL;
    for (uint32_t i = 0; i < w->n_shapes; i++) {
        struct shape *s = &w->shapes[i];
        if (s->size != size || memcmp(s->key, key, size) != 0) continue;
        free(key);
        return s;
    }
    struct shape *s = &w->shapes[w->n_shapes < MAX_SHAPES ? w->n_shapes++ : w->next_evict++ % MAX_SHAPES];
    fusion_exec_destroy(s->exec);
    free(s->key);
    *s = (struct shape){.key = key, .size = size};
    return NULL;
}

/* One that is nothing but its commands one after the other is no gain. */
static void make_exec(fusion_session *s, struct shape *shape, fusion_graph *g)
{
    shape->tried = true;
    if (fusion_graph_finalize(g, &(fusion_finalize_options){.mode = FUSION_ENABLE}, &shape->exec) != FUSION_SUCCESS) {
        shape->exec = NULL;
    } else if (shape->exec->n_actions || shape->exec->report.launches >= g->wire.n_nodes) {
        fusion_exec_destroy(shape->exec);
        shape->exec = NULL;
    } else {
        s->windows.shapes++;
    }
}

/* ---- submitting ---- */

static bool submit_as_one(fusion_queue *q)
{
    struct queue_window *w = q->window;
    fusion_graph *g = w->n > 1 ? graph_of(q) : NULL;
    if (!g) return false;
    struct shape *shape = find_shape(w, g);
    if (shape && !shape->tried) make_exec(q->session, shape, g);
    bool done = shape && shape->exec && client_submit_reserved(shape->exec, g, &q->options, w->last) == FUSION_SUCCESS;
    client_graph_free(g);
    q->session->windows.fused += done;
    return done;
}

static void submit_each(fusion_queue *q)
{
    struct queue_window *w = q->window;
    for (uint32_t i = 0; i < w->n; i++)
        if (client_submit_reserved(w->commands[i].handle->exec, w->commands[i].graph, &q->options,
                                   w->last - w->n + 1 + i) != FUSION_SUCCESS)
            client_fail_reserved(q->session);
}

void client_window_submit(fusion_queue *q)
{
    struct queue_window *w = q->window;
    if (!w || !w->n) return;
    window_timer_stop(w->timer);
    q->session->held = NULL;
    if (!submit_as_one(q)) submit_each(q);
    q->session->windows.windows++;
    for (uint32_t i = 0; i < w->n; i++) {
        fusion_graph_destroy(w->commands[i].graph);
        queue_handles_release(q->handles, w->commands[i].handle);
    }
    w->n = 0;
}

static void submit_held(fusion_session *s)
{
    pthread_mutex_lock(&s->turn_lock);
    if (s->held) client_window_submit(s->held);
    pthread_mutex_unlock(&s->turn_lock);
}

/* ---- gathering ---- */

bool client_window_takes(const fusion_queue *q, const fusion_graph *g)
{
    return q->window && q->window->most && !g->n_actions && !q->session->uses_gpus;
}

fusion_status client_window_add(fusion_queue *q, struct queue_handle *handle, fusion_graph *g, fusion_event *event)
{
    struct queue_window *w = q->window;
    fusion_session *s = q->session;
    fusion_status status = client_submit_check(handle->exec, g);
    if (status != FUSION_SUCCESS) return status;
    if (s->held && s->held != q) submit_held(s);
    if (!w->n) window_timer_set(w->timer, w->microseconds);
    s->held = q;
    w->commands[w->n++] = (struct command){g, handle};
    *event = w->last = client_reserve_event(s);
    s->windows.commands++;
    if (w->n >= w->most) client_window_submit(q);
    return FUSION_SUCCESS;
}

/* ---- of a queue ---- */

static fusion_status make_window(fusion_queue *q)
{
    struct queue_window *w = calloc(1, sizeof *w);
    if (w) w->timer = window_timer_new(q->session);
    if (!w || !w->timer) {
        free(w);
        return client_no_memory("queue");
    }
    q->window = w;
    return FUSION_SUCCESS;
}

fusion_status fusion_queue_set_window(fusion_queue *q, const fusion_window_options *given)
{
    fusion_session *s = q->session;
    fusion_window_options own, *options = &own;
    fusion_status status = CLIENT_TAKE(fusion_window_options, microseconds, options, given, "window options");
    if (status != FUSION_SUCCESS) return status;
    if (options->commands == 1 || options->commands > MAX_COMMANDS)
        return client_error(FUSION_INVALID, "queue", "a window has 2 to %d commands, not %u", MAX_COMMANDS,
                            options->commands);
    pthread_mutex_lock(&s->turn_lock);
    s->flush = submit_held;
    client_window_submit(q);
    status = q->window || !options->commands ? FUSION_SUCCESS : make_window(q);
    if (q->window) {
        q->window->most = options->commands;
        q->window->microseconds = options->microseconds ? options->microseconds : DEFAULT_MICROSECONDS;
    }
    pthread_mutex_unlock(&s->turn_lock);
    return status;
}

fusion_status fusion_queue_flush(fusion_queue *q)
{
    if (q->recording) return client_error(FUSION_INVALID, "queue", "it records; end the recording before flushing");
    client_flush(q->session);
    return FUSION_SUCCESS;
}

void fusion_session_windows(const fusion_session *s, fusion_window_counters *counters)
{
    fusion_window_counters own = {.commands = s->windows.commands,
                                  .windows = s->windows.windows,
                                  .fused = s->windows.fused,
                                  .shapes = s->windows.shapes};
    CLIENT_GIVE(fusion_window_counters, shapes, &own, counters, "window counters");
}

void client_window_end(fusion_queue *q)
{
    struct queue_window *w = q->window;
    if (!w) return;
    client_window_submit(q);
    for (uint32_t i = 0; i < w->n_shapes; i++) fusion_exec_destroy(w->shapes[i].exec);
}

void client_window_free(fusion_queue *q)
{
    struct queue_window *w = q->window;
    if (!w) return;
    window_timer_free(w->timer);
    for (uint32_t i = 0; i < w->n_shapes; i++) free(w->shapes[i].key);
    free(w);
    q->window = NULL;
}
