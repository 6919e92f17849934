/* What a launch would move over memory, before it is made: of each buffer what is read first and what is written, once;
   of a buffer that would lose its memory nothing. */
#include "fuser/plan/grouping/estimate.h"

#include "fuser/access/footprint.h"
#include "fuser/plan/graph/image_args.h"
#include "ir/base/arena.h"

/* What the launch does with one buffer. */
struct tally {
    uint32_t stamp, n_uses;
    uint64_t first, end;    /* the part that the first of its kernels uses: */
    uint64_t read, written; /* bytes of it; others may be on other parts: */
    uint64_t others;
};

struct traffic_estimate {
    uint32_t stamp, n_touched;
    uint32_t *touched;      /* buffers */
    struct tally *tallies;  /* by buffer */
    bool *internal;         /* by buffer: it may lose its memory */
    uint64_t *read, *write; /* by use; UNKNOWN until it is asked for */
};

static const uint64_t UNKNOWN = UINT64_MAX;

static bool may_be_internal(const struct grouping *g, uint32_t buffer)
{
    bool written = false;
    for (uint32_t i = g->facts->buffer_uses_start[buffer]; i < g->facts->buffer_uses_start[buffer + 1]; i++) {
        const struct plan_use *use = &g->facts->uses[g->facts->buffer_uses[i]];
        if (!use->props.internal_memory || g->facts->graph->nodes[use->node].kind != FUSER_NODE_KERNEL) return false;
        written |= use->writes;
    }
    return written && !image_args_have(g->facts->graph, buffer);
}

struct traffic_estimate *estimate_new(const struct grouping *g)
{
    struct traffic_estimate *e = arena_alloc(g->ctx->arena, sizeof *e);
    uint32_t n_buffers = g->facts->graph->n_buffers;
    e->touched = arena_alloc(g->ctx->arena, (n_buffers + 1) * sizeof *e->touched);
    e->tallies = arena_alloc(g->ctx->arena, (n_buffers + 1) * sizeof *e->tallies);
    e->internal = arena_alloc(g->ctx->arena, n_buffers + 1);
    e->read = arena_alloc(g->ctx->arena, (g->facts->n_uses + 1) * sizeof *e->read);
    e->write = arena_alloc(g->ctx->arena, (g->facts->n_uses + 1) * sizeof *e->write);
    for (uint32_t i = 0; i < n_buffers; i++) e->internal[i] = may_be_internal(g, i);
    for (uint32_t i = 0; i < g->facts->n_uses; i++) e->read[i] = e->write[i] = UNKNOWN;
    return e;
}

static uint64_t bytes_of(const struct grouping *g, uint32_t index, bool writing, uint64_t *known)
{
    const struct plan_use *use = &g->facts->uses[index];
    if (*known == UNKNOWN)
        *known = image_arg_is_use(g->facts->graph, use)
                     ? use->end - use->first
                     : footprint_bytes_one_way(&g->facts->nodes[use->node].access->params[use->arg],
                                               &g->facts->nodes[use->node].range, use->end - use->first, writing);
    return *known;
}

static struct tally *tally_of(struct traffic_estimate *e, const struct plan_use *use)
{
    struct tally *t = &e->tallies[use->buffer];
    if (t->stamp == e->stamp) return t;
    *t = (struct tally){.stamp = e->stamp, .first = use->first, .end = use->end};
    e->touched[e->n_touched++] = use->buffer;
    return t;
}

static void count_bytes(struct tally *t, const struct plan_use *use, uint64_t bytes, uint64_t *sum)
{
    if (use->first != t->first || use->end != t->end) {
        t->others += bytes;
    } else if (bytes > *sum) {
        *sum = bytes;
    }
}

static void add_kernel(const struct grouping *g, struct traffic_estimate *e, uint32_t kernel)
{
    const struct plan_node *n = &g->facts->nodes[kernel];
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++) {
        const struct plan_use *use = &g->facts->uses[i];
        struct tally *t = tally_of(e, use);
        uint64_t bytes = use->reads ? bytes_of(g, i, false, &e->read[i]) : 0;
        bool forwarded = t->first <= use->first && use->end <= t->end && bytes <= t->written;
        t->n_uses++;
        if (!forwarded) count_bytes(t, use, bytes, &t->read);
    }
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++) {
        const struct plan_use *use = &g->facts->uses[i];
        struct tally *t = tally_of(e, use);
        if (use->writes) count_bytes(t, use, bytes_of(g, i, true, &e->write[i]), &t->written);
    }
}

uint64_t estimate_launch(const struct grouping *g, struct traffic_estimate *e, struct node_run run)
{
    uint64_t sum = 0;
    e->stamp++;
    e->n_touched = 0;
    for (uint32_t i = 0; i < run.n; i++) add_kernel(g, e, run.nodes[i]);
    for (uint32_t i = 0; i < e->n_touched; i++) {
        uint32_t buffer = e->touched[i];
        const struct tally *t = &e->tallies[buffer];
        bool whole = t->n_uses == g->facts->buffer_uses_start[buffer + 1] - g->facts->buffer_uses_start[buffer];
        if (!e->internal[buffer] || !whole) sum += t->read + t->written + t->others;
    }
    return sum;
}
