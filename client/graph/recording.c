/*
 * Recording: queues whose commands become nodes of a graph. Each graph that was recorded has a number in its session,
 * for the events of its nodes and for what has to be submitted before it: recordings that are open at the same time
 * depend on each other by events and by the memory that they share, and must not do so in a circle.
 */
#include "client/graph/recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/base/array.h"
#include "client/base/error.h"
#include "client/graph/node.h"

/* An event of a node that was recorded: this bit, the recording's number, the node. */
#define RECORDED (UINT64_C(1) << 63)
enum { NUMBER_SHIFT = 32 };

struct recording {
    fusion_graph *graph; /* while it is open */
    fusion_event submitted;
    uint32_t n_before, before_capacity;
    uint32_t *before; /* recordings that are submitted first */
    /* While it is open: what its nodes so far do with which memory. */
    uint32_t n_nodes;  /* those that are noted */
    struct map places; /* in uses, by memory */
    struct use *uses;
    uint32_t n_uses, uses_capacity;
};

/* Of a session; an object that it frees. */
struct recordings {
    struct client_object object;
    struct recording *list; /* by number - 1 */
    uint32_t n, capacity;
    uint32_t *open, n_open, open_capacity; /* numbers of those that are recorded into */
};

/* Names of the last nodes that read and that write some memory; NULL: none does. */
struct use {
    const char *reader, *writer;
};

static uint32_t number_of(fusion_event event)
{
    return (uint32_t)((event & ~RECORDED) >> NUMBER_SHIFT);
}

static fusion_node node_of(fusion_event event)
{
    return (fusion_node)event;
}

/* ---- begin and end ---- */

/* Session locked. */
static void close_recording(struct recordings *all, uint32_t number)
{
    struct recording *r = &all->list[number - 1];
    uint32_t at = 0;
    while (all->open[at] != number) at++;
    all->open[at] = all->open[--all->n_open];
    map_clear(&r->places);
    free(r->uses);
    r->uses = NULL;
    r->n_nodes = r->n_uses = r->uses_capacity = 0;
    r->graph = NULL;
}

static void free_recordings(struct client_object *object)
{
    struct recordings *all = (struct recordings *)object;
    while (all->n_open) close_recording(all, all->open[0]);
    for (uint32_t i = 0; i < all->n; i++) free(all->list[i].before);
    free(all->list);
    free(all->open);
    free(all);
}

/* Made when they are first needed. Session locked. */
static struct recordings *recordings_of(fusion_session *s)
{
    if (s->recordings) return s->recordings;
    struct recordings *all = calloc(1, sizeof *all);
    if (!all) return NULL;
    client_object_add_locked(s, &all->object, free_recordings);
    return s->recordings = all;
}

/* The graph's recording, which is made where there is none. Numbers begin at 1. Session locked. */
static fusion_status open_recording(fusion_session *s, fusion_graph *g)
{
    struct recordings *all = recordings_of(s);
    if (!all || !client_reserve(&all->list, all->n, &all->capacity, sizeof *all->list) ||
        !client_reserve(&all->open, all->n_open, &all->open_capacity, sizeof *all->open))
        return client_no_memory("recording");
    if (!g->recording) {
        all->list[all->n++] = (struct recording){0};
        g->recording = all->n;
    }
    struct recording *r = &all->list[g->recording - 1];
    if (r->graph) return FUSION_SUCCESS;
    all->open[all->n_open++] = g->recording;
    r->graph = g;
    return FUSION_SUCCESS;
}

fusion_status fusion_graph_begin_recording(fusion_graph *g, fusion_queue *q)
{
    fusion_session *s = g->session;
    if (q->recording == g) return client_error(FUSION_BUSY, "graph", "the queue records into it already");
    if (q->recording) return client_error(FUSION_BUSY, "queue", "it records into another graph");
    if (q->session != s) return client_error(FUSION_INVALID, "queue", "queue and graph belong to different sessions");
    pthread_mutex_lock(&s->lock);
    fusion_status status = open_recording(s, g);
    pthread_mutex_unlock(&s->lock);
    if (status != FUSION_SUCCESS) return status;
    q->recording = g;
    if (q->order.recording != g->recording) {
        q->order.any_here = q->order.any_standing = false;
        q->order.n_since = 0;
        q->order.recording = g->recording;
    }
    q->next_recorder = g->recorders;
    g->recorders = q;
    return FUSION_SUCCESS;
}

void client_queue_stop_recording(fusion_queue *q)
{
    fusion_graph *g = q->recording;
    if (!g) return;
    fusion_queue **at = &g->recorders;
    while (*at != q) at = &(*at)->next_recorder;
    *at = q->next_recorder;
    q->recording = NULL;
    q->n_waits = 0;
    if (g->recorders) return;
    pthread_mutex_lock(&g->session->lock);
    close_recording(g->session->recordings, g->recording);
    pthread_mutex_unlock(&g->session->lock);
}

fusion_status fusion_graph_end_recording(fusion_graph *g)
{
    if (!g->recorders) return client_error(FUSION_INVALID, "graph", "no queue records into it");
    while (g->recorders) client_queue_stop_recording(g->recorders);
    return FUSION_SUCCESS;
}

/* ---- recordings that wait for each other; session locked ---- */

/* Does b wait for a, through others too? What was submitted waits no more. seen: by number - 1. */
static bool waits_for(const fusion_session *s, uint32_t b, uint32_t a, bool *seen)
{
    const struct recording *r = &s->recordings->list[b - 1];
    for (uint32_t i = 0; i < r->n_before; i++) {
        uint32_t before = r->before[i];
        if (before == a) return true;
        if (seen[before - 1] || s->recordings->list[before - 1].submitted) continue;
        seen[before - 1] = true;
        if (waits_for(s, before, a, seen)) return true;
    }
    return false;
}

static fusion_status put_before(fusion_session *s, uint32_t first, uint32_t second, const char *object, const char *why)
{
    struct recording *r = &s->recordings->list[second - 1];
    if (first == second) return FUSION_SUCCESS;
    for (uint32_t i = 0; i < r->n_before; i++)
        if (r->before[i] == first) return FUSION_SUCCESS;
    if (!client_reserve(&r->before, r->n_before, &r->before_capacity, sizeof *r->before))
        return client_no_memory("recording");
    bool *seen = calloc(s->recordings->n, sizeof *seen);
    if (!seen) return client_no_memory("recording");
    bool circle = waits_for(s, first, second, seen);
    free(seen);
    if (circle)
        return client_error(FUSION_INVALID, object,
                            "%s recorded into another graph, which already waits for this one: the two would wait for "
                            "each other in a circle",
                            why);
    r->before[r->n_before++] = first;
    return FUSION_SUCCESS;
}

/* ---- memory that open recordings share ---- */

/* Calls f for each use of memory by the node, until one fails. */
typedef fusion_status use_fn(void *data, uint64_t memory, bool read, bool write);

static fusion_status each_use(const fusion_graph *g, const struct proto_node *n, use_fn *f, void *data)
{
    fusion_status status = FUSION_SUCCESS;
    for (uint32_t i = 0; i < n->n_args && status == FUSION_SUCCESS; i++)
        if (n->args[i].kind == PROTO_ARG_SLOT)
            status = f(data, g->slot_memory[n->args[i].index], n->args[i].access != PROTO_ACCESS_WRITE,
                       n->args[i].access != PROTO_ACCESS_READ);
    if (status == FUSION_SUCCESS && n->kind == PROTO_NODE_COPY) status = f(data, g->slot_memory[n->from], true, false);
    if (status == FUSION_SUCCESS && (n->kind == PROTO_NODE_COPY || n->kind == PROTO_NODE_FILL))
        status = f(data, g->slot_memory[n->to], false, true);
    return status;
}

/* A node that is recorded, and the recording it goes into. */
struct recorded {
    fusion_session *session;
    const struct proto_node *node;
    uint32_t number; /* of the recording */
};

/* A use of nobody yet. */
static fusion_status make_use(void *data, uint64_t memory, bool read, bool write)
{
    struct recording *r = data;
    (void)read;
    (void)write;
    if (map_find(&r->places, memory)) return FUSION_SUCCESS;
    struct map_entry *entry =
        client_reserve(&r->uses, r->n_uses, &r->uses_capacity, sizeof *r->uses) ? map_make(&r->places, memory) : NULL;
    if (!entry) return client_no_memory("recording");
    entry->number = r->n_uses;
    r->uses[r->n_uses++] = (struct use){0};
    return FUSION_SUCCESS;
}

/* There is a use of the memory. */
static fusion_status note_use(void *data, uint64_t memory, bool read, bool write)
{
    struct recording *r = data;
    struct use *use = &r->uses[map_find(&r->places, memory)->number];
    if (read) use->reader = r->graph->wire.nodes[r->n_nodes].name;
    if (write) use->writer = r->graph->wire.nodes[r->n_nodes].name;
    return FUSION_SUCCESS;
}

/* What note_nodes() needs. */
static fusion_status prepare_notes(struct recording *r)
{
    fusion_status status = FUSION_SUCCESS;
    for (uint32_t i = r->n_nodes; i < r->graph->wire.n_nodes && status == FUSION_SUCCESS; i++)
        status = each_use(r->graph, &r->graph->wire.nodes[i], make_use, r);
    return status;
}

/* Its nodes up to the last one, also those that were added otherwise. */
static void note_nodes(struct recording *r)
{
    for (; r->n_nodes < r->graph->wire.n_nodes; r->n_nodes++)
        each_use(r->graph, &r->graph->wire.nodes[r->n_nodes], note_use, r);
}

/* After each other open recording whose nodes use the memory, where one of the two writes. */
static fusion_status order_use(void *data, uint64_t memory, bool read, bool write)
{
    const struct recorded *n = data;
    const struct recordings *all = n->session->recordings;
    (void)read;
    for (uint32_t i = 0; i < all->n_open; i++) {
        uint32_t number = all->open[i];
        const struct recording *other = &all->list[number - 1];
        const struct map_entry *place = number == n->number ? NULL : map_find(&other->places, memory);
        if (!place) continue;
        const struct use *use = &other->uses[place->number];
        const char *earlier = use->writer ? use->writer : write ? use->reader : NULL;
        if (!earlier) continue;
        char why[400];
        snprintf(why, sizeof why, "it uses memory that node %s uses, which is", earlier);
        fusion_status status = put_before(n->session, number, n->number, n->node->name, why);
        if (status != FUSION_SUCCESS) return status;
    }
    return FUSION_SUCCESS;
}

static fusion_status order_by_memory(fusion_session *s, const fusion_graph *g, const struct proto_node *node)
{
    struct recorded n = {s, node, g->recording};
    fusion_status status = s->recordings->n_open > 1 ? each_use(g, node, order_use, &n) : FUSION_SUCCESS;
    return status == FUSION_SUCCESS ? prepare_notes(&s->recordings->list[g->recording - 1]) : status;
}

/* ---- events ---- */

static fusion_status check_wait(fusion_session *s, const fusion_queue *q, fusion_event event)
{
    uint32_t number = number_of(event), n_recordings = s->recordings ? s->recordings->n : 0;
    if (!(event & RECORDED)) {
        if (event == 0 || event < s->next_sequence) return FUSION_SUCCESS;
        return client_error(FUSION_INVALID, "event", "%" PRIu64 " is no submission of this session", event);
    }
    if (number == 0 || number > n_recordings)
        return client_error(FUSION_INVALID, "event", "%" PRIu64 " is of no recording of this session", event);
    if (s->recordings->list[number - 1].submitted || q->recording) return FUSION_SUCCESS;
    return client_error(FUSION_INVALID, "event", "node %" PRIu32 " was recorded, but its graph not submitted yet",
                        node_of(event));
}

/* What the graph that q records then waits for. Session locked. */
static fusion_status wait_for_events(fusion_session *s, fusion_queue *q, const fusion_event *events, uint32_t n)
{
    fusion_status status = FUSION_SUCCESS;
    uint32_t recording = q->recording ? q->recording->recording : 0;
    uint32_t n_before = recording ? s->recordings->list[recording - 1].n_before : 0;
    for (uint32_t i = 0; i < n && status == FUSION_SUCCESS; i++) {
        status = check_wait(s, q, events[i]);
        bool other = events[i] & RECORDED && recording && number_of(events[i]) != recording;
        if (status == FUSION_SUCCESS && other)
            status = put_before(s, number_of(events[i]), recording, "queue", "it would depend on a node that was");
    }
    if (status != FUSION_SUCCESS && recording) s->recordings->list[recording - 1].n_before = n_before;
    return status;
}

fusion_status fusion_queue_depends_on(fusion_queue *q, const fusion_event *events, uint32_t n)
{
    fusion_session *s = q->session;
    pthread_mutex_lock(&s->lock);
    fusion_event *more = reallocarray(q->waits, q->n_waits + n + 1, sizeof *more);
    if (more) q->waits = more;
    fusion_status status = more ? wait_for_events(s, q, events, n) : client_no_memory("recording");
    if (status == FUSION_SUCCESS && n) memcpy(q->waits + q->n_waits, events, n * sizeof *events);
    if (status == FUSION_SUCCESS) q->n_waits += n;
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* Edges from the nodes of this graph that the queue was told to wait for. What else it waits for is submitted earlier.
 */
static fusion_status add_waits(fusion_queue *q, struct proto_node *n)
{
    fusion_status status = FUSION_SUCCESS;
    for (uint32_t i = 0; i < q->n_waits && status == FUSION_SUCCESS; i++) {
        fusion_node node = node_of(q->waits[i]);
        if (q->waits[i] & RECORDED && number_of(q->waits[i]) == q->recording->recording)
            status = client_node_add_deps(n, &node, 1);
    }
    return status;
}

/* ---- the order of a queue ---- */

/* What the edges from accesses do not say of it: what runs in this process keeps its order, since it may have to do
   with any memory of the process; and a function that names no memory stands where it was recorded, as if it ran at
   once. */
static fusion_status keep_order(fusion_queue *q, struct proto_node *n, fusion_node number)
{
    struct queue_order *o = &q->order;
    bool here = n->kind == PROTO_NODE_HOST, stands = here && n->n_args == 0;
    fusion_status status = FUSION_SUCCESS;
    if (!client_reserve(&o->since, o->n_since, &o->since_capacity, sizeof *o->since))
        return client_no_memory("recording");
    if (stands)
        status = client_node_add_deps(n, o->since, o->n_since);
    else if (here && o->any_here)
        status = client_node_add_deps(n, &o->last_here, 1);
    if (status == FUSION_SUCCESS && o->any_standing) status = client_node_add_deps(n, &o->standing, 1);
    if (status != FUSION_SUCCESS) return status;
    if (stands) {
        o->standing = number;
        o->any_standing = true;
        o->n_since = 0;
    } else {
        o->since[o->n_since++] = number;
    }
    if (here) {
        o->last_here = number;
        o->any_here = true;
    }
    return FUSION_SUCCESS;
}

/* All that recording the node needs; the last step is the one that notes it in the queue. */
static fusion_status record_node(fusion_queue *q, struct proto_node *node)
{
    fusion_graph *g = q->recording;
    fusion_status status = add_waits(q, node);
    if (status == FUSION_SUCCESS) status = order_by_memory(g->session, g, node);
    return status == FUSION_SUCCESS ? keep_order(q, node, g->wire.n_nodes - 1) : status;
}

fusion_status client_recorded(fusion_queue *q, fusion_event *event)
{
    fusion_graph *g = q->recording;
    pthread_mutex_lock(&g->session->lock);
    struct recording *r = &g->session->recordings->list[g->recording - 1];
    uint32_t n_before = r->n_before;
    fusion_status status = record_node(q, &g->wire.nodes[g->wire.n_nodes - 1]);
    if (status == FUSION_SUCCESS)
        note_nodes(r);
    else
        r->n_before = n_before;
    pthread_mutex_unlock(&g->session->lock);
    if (status != FUSION_SUCCESS) {
        client_graph_take_back(g);
        return status;
    }
    q->n_waits = 0;
    if (event) *event = RECORDED | (fusion_event)g->recording << NUMBER_SHIFT | (g->wire.n_nodes - 1);
    return FUSION_SUCCESS;
}

bool fusion_event_node(fusion_event event, fusion_node *node)
{
    if (!(event & RECORDED)) return false;
    *node = node_of(event);
    return true;
}

fusion_status client_event_resolve(fusion_session *s, fusion_event *event)
{
    if (!(*event & RECORDED)) return FUSION_SUCCESS;
    pthread_mutex_lock(&s->lock);
    uint32_t number = number_of(*event);
    bool known = number > 0 && s->recordings && number <= s->recordings->n;
    fusion_event submitted = known ? s->recordings->list[number - 1].submitted : 0;
    pthread_mutex_unlock(&s->lock);
    if (!submitted)
        return client_error(FUSION_INVALID, "event", "node %" PRIu32 " was recorded, but its graph not submitted yet",
                            node_of(*event));
    *event = submitted;
    return FUSION_SUCCESS;
}

/* ---- submissions ---- */

fusion_status client_recording_ready(fusion_session *s, uint32_t recording, fusion_event **before, uint32_t *n)
{
    fusion_status status = FUSION_SUCCESS;
    *before = NULL;
    *n = 0;
    if (!recording) return status;
    pthread_mutex_lock(&s->lock);
    const struct recording *r = &s->recordings->list[recording - 1];
    *before = calloc(r->n_before + 1, sizeof **before);
    if (!*before) status = client_no_memory("submission");
    for (uint32_t i = 0; i < r->n_before && status == FUSION_SUCCESS; i++)
        if (!s->recordings->list[r->before[i] - 1].submitted)
            status =
                client_error(FUSION_INVALID, "submission",
                             "the graph depends on another one that was recorded at the same time and has not been "
                             "submitted yet (recording %" PRIu32 " before %" PRIu32 ")",
                             r->before[i], recording);
        else
            (*before)[(*n)++] = s->recordings->list[r->before[i] - 1].submitted;
    pthread_mutex_unlock(&s->lock);
    return status;
}

void client_recording_submitted(fusion_session *s, uint32_t recording, fusion_event event)
{
    if (!recording) return;
    pthread_mutex_lock(&s->lock);
    s->recordings->list[recording - 1].submitted = event;
    pthread_mutex_unlock(&s->lock);
}
