/*
 * Recording: queues whose commands become nodes of a graph. Each graph that was recorded has a number in its session,
 * for the events of its nodes and for what has to be submitted before it: recordings that are open at the same time
 * depend on each other by events and by the memory that they share, and must not do so in a circle.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/internal.h"

/* An event of a node that was recorded: this bit, the recording's number, the node. */
#define RECORDED (UINT64_C(1) << 63)
enum { NUMBER_SHIFT = 32 };

struct recording {
    fusion_graph *graph; /* while it is open */
    fusion_event submitted;
    uint32_t n_before;
    uint32_t *before; /* recordings that are submitted first */
};

static uint32_t number_of(fusion_event event)
{
    return (uint32_t)((event & ~RECORDED) >> NUMBER_SHIFT);
}

static fusion_node node_of(fusion_event event)
{
    return (fusion_node)event;
}

static fusion_status no_memory(void)
{
    return client_error(FUSION_OUT_OF_MEMORY, "recording", "no memory");
}

/* ---- begin and end ---- */

/* The graph's recording, which is made where there is none. Numbers begin at 1. Session locked. */
static fusion_status open_recording(fusion_session *s, fusion_graph *g)
{
    if (!g->recording) {
        struct recording *more = reallocarray(s->recordings, s->n_recordings + 1, sizeof *more);
        if (!more) return no_memory();
        s->recordings = more;
        s->recordings[s->n_recordings++] = (struct recording){0};
        g->recording = s->n_recordings;
    }
    s->recordings[g->recording - 1].graph = g;
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
    g->session->recordings[g->recording - 1].graph = NULL;
    pthread_mutex_unlock(&g->session->lock);
}

fusion_status fusion_graph_end_recording(fusion_graph *g)
{
    if (!g->recorders) return client_error(FUSION_INVALID, "graph", "no queue records into it");
    while (g->recorders) client_queue_stop_recording(g->recorders);
    return FUSION_SUCCESS;
}

void client_recordings_clear(fusion_session *s)
{
    for (uint32_t i = 0; i < s->n_recordings; i++) free(s->recordings[i].before);
    free(s->recordings);
}

/* ---- recordings that wait for each other; session locked ---- */

static bool comes_before(const fusion_session *s, uint32_t a, uint32_t b)
{
    const struct recording *r = &s->recordings[b - 1];
    for (uint32_t i = 0; i < r->n_before; i++)
        if (r->before[i] == a || comes_before(s, a, r->before[i])) return true;
    return false;
}

static fusion_status put_before(fusion_session *s, uint32_t first, uint32_t second, const char *object, const char *why)
{
    if (first == second || comes_before(s, first, second)) return FUSION_SUCCESS;
    if (comes_before(s, second, first))
        return client_error(FUSION_INVALID, object,
                            "%s recorded into another graph, which already waits for this one: the two would wait for "
                            "each other in a circle",
                            why);
    struct recording *r = &s->recordings[second - 1];
    uint32_t *more = reallocarray(r->before, r->n_before + 1, sizeof *more);
    if (!more) return no_memory();
    r->before = more;
    r->before[r->n_before++] = first;
    return FUSION_SUCCESS;
}

/* ---- memory that open recordings share ---- */

struct use {
    uint64_t memory;
    bool write;
};

/* What a node does, at most max uses; their number. */
static uint32_t uses_of(const fusion_graph *g, const struct proto_node *n, struct use *uses, uint32_t max)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < n->n_args && used + 2 < max; i++)
        if (n->args[i].kind == PROTO_ARG_SLOT)
            uses[used++] = (struct use){g->slot_memory[n->args[i].index], n->args[i].access != PROTO_ACCESS_READ};
    if (n->kind == PROTO_NODE_COPY) uses[used++] = (struct use){g->slot_memory[n->from], false};
    if (n->kind == PROTO_NODE_COPY || n->kind == PROTO_NODE_FILL)
        uses[used++] = (struct use){g->slot_memory[n->to], true};
    return used;
}

enum { MAX_USES = 1026 };

static bool share(const struct use *a, uint32_t n_a, const struct use *b, uint32_t n_b)
{
    for (uint32_t i = 0; i < n_a; i++)
        for (uint32_t k = 0; k < n_b; k++)
            if (a[i].memory == b[k].memory && (a[i].write || b[k].write)) return true;
    return false;
}

static fusion_status order_by_memory(fusion_session *s, const fusion_graph *g, const struct proto_node *node)
{
    struct use *uses = calloc(2 * MAX_USES, sizeof *uses), *others = uses ? uses + MAX_USES : NULL;
    if (!uses) return no_memory();
    uint32_t n = uses_of(g, node, uses, MAX_USES);
    fusion_status status = FUSION_SUCCESS;
    for (uint32_t i = 0; i < s->n_recordings && status == FUSION_SUCCESS; i++) {
        const fusion_graph *other = s->recordings[i].graph;
        for (uint32_t k = 0; other && other != g && k < other->wire.n_nodes && status == FUSION_SUCCESS; k++) {
            const struct proto_node *earlier = &other->wire.nodes[k];
            if (!share(uses, n, others, uses_of(other, earlier, others, MAX_USES))) continue;
            char why[400];
            snprintf(why, sizeof why, "it uses memory that node %s uses, which is", earlier->name);
            status = put_before(s, i + 1, g->recording, node->name, why);
        }
    }
    free(uses);
    return status;
}

/* ---- events ---- */

static fusion_status check_wait(fusion_session *s, const fusion_queue *q, fusion_event event)
{
    uint32_t number = number_of(event);
    if (!(event & RECORDED)) {
        if (event == 0 || event < s->next_sequence) return FUSION_SUCCESS;
        return client_error(FUSION_INVALID, "event", "%" PRIu64 " is no submission of this session", event);
    }
    if (number == 0 || number > s->n_recordings)
        return client_error(FUSION_INVALID, "event", "%" PRIu64 " is of no recording of this session", event);
    if (s->recordings[number - 1].submitted || q->recording) return FUSION_SUCCESS;
    return client_error(FUSION_INVALID, "event", "node %" PRIu32 " was recorded, but its graph not submitted yet",
                        node_of(event));
}

fusion_status fusion_queue_depends_on(fusion_queue *q, const fusion_event *events, uint32_t n)
{
    fusion_session *s = q->session;
    fusion_event *more = reallocarray(q->waits, q->n_waits + n + 1, sizeof *more);
    if (!more) return no_memory();
    q->waits = more;
    fusion_status status = FUSION_SUCCESS;
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < n && status == FUSION_SUCCESS; i++) {
        status = check_wait(s, q, events[i]);
        bool other = events[i] & RECORDED && q->recording && number_of(events[i]) != q->recording->recording;
        if (status == FUSION_SUCCESS && other)
            status = put_before(s, number_of(events[i]), q->recording->recording, "queue",
                                "it would depend on a node that was");
    }
    pthread_mutex_unlock(&s->lock);
    if (status != FUSION_SUCCESS) return status;
    if (n) memcpy(q->waits + q->n_waits, events, n * sizeof *events);
    q->n_waits += n;
    return FUSION_SUCCESS;
}

/* Edges from the nodes of this graph that the queue was told to wait for. What else it waits for is submitted earlier.
 */
static fusion_status add_waits(fusion_queue *q, struct proto_node *n)
{
    uint32_t *deps = reallocarray(n->deps, n->n_deps + q->n_waits + 1, sizeof *deps);
    if (!deps) return no_memory();
    n->deps = deps;
    for (uint32_t i = 0; i < q->n_waits; i++)
        if (q->waits[i] & RECORDED && number_of(q->waits[i]) == q->recording->recording)
            n->deps[n->n_deps++] = node_of(q->waits[i]);
    return FUSION_SUCCESS;
}

fusion_status client_recorded(fusion_queue *q, fusion_event *event)
{
    fusion_graph *g = q->recording;
    struct proto_node *node = &g->wire.nodes[g->wire.n_nodes - 1];
    pthread_mutex_lock(&g->session->lock);
    fusion_status status = order_by_memory(g->session, g, node);
    pthread_mutex_unlock(&g->session->lock);
    if (status == FUSION_SUCCESS) status = add_waits(q, node);
    q->n_waits = 0;
    if (status != FUSION_SUCCESS) {
        client_graph_take_back(g);
        return status;
    }
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
    bool known = number > 0 && number <= s->n_recordings;
    fusion_event submitted = known ? s->recordings[number - 1].submitted : 0;
    pthread_mutex_unlock(&s->lock);
    if (!submitted)
        return client_error(FUSION_INVALID, "event", "node %" PRIu32 " was recorded, but its graph not submitted yet",
                            node_of(*event));
    *event = submitted;
    return FUSION_SUCCESS;
}

/* ---- submissions ---- */

fusion_status client_recording_ready(fusion_session *s, uint32_t recording)
{
    fusion_status status = FUSION_SUCCESS;
    if (!recording) return status;
    pthread_mutex_lock(&s->lock);
    const struct recording *r = &s->recordings[recording - 1];
    for (uint32_t i = 0; i < r->n_before && status == FUSION_SUCCESS; i++)
        if (!s->recordings[r->before[i] - 1].submitted)
            status =
                client_error(FUSION_INVALID, "submission",
                             "the graph depends on another one that was recorded at the same time and has not been "
                             "submitted yet (recording %" PRIu32 " before %" PRIu32 ")",
                             r->before[i], recording);
    pthread_mutex_unlock(&s->lock);
    return status;
}

void client_recording_submitted(fusion_session *s, uint32_t recording, fusion_event event)
{
    if (!recording) return;
    pthread_mutex_lock(&s->lock);
    s->recordings[recording - 1].submitted = event;
    pthread_mutex_unlock(&s->lock);
}
