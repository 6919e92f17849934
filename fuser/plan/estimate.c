/* What a launch would move over memory, before it is made: of each buffer what is read first and what is written, once;
   of a buffer that would lose its memory nothing. */
#include "fuser/access/footprint.h"
#include "fuser/plan/planner.h"
#include "ir/base/arena.h"

/* What the launch does with one buffer. */
struct tally {
    uint32_t stamp, n_uses;
    uint64_t first, end;    /* the part that the first of its kernels uses: */
    uint64_t read, written; /* bytes of it; others may be on other parts: */
    uint64_t others;
};

struct plan_estimate {
    uint32_t stamp, n_touched;
    uint32_t *touched;      /* buffers */
    struct tally *tallies;  /* by buffer */
    bool *internal;         /* by buffer: it may lose its memory */
    uint64_t *read, *write; /* by use; UNKNOWN until it is asked for */
};

static const uint64_t UNKNOWN = UINT64_MAX;

static bool may_be_internal(const struct planner *p, uint32_t buffer)
{
    bool written = false;
    for (uint32_t i = p->buffer_uses_start[buffer]; i < p->buffer_uses_start[buffer + 1]; i++) {
        const struct plan_use *use = &p->uses[p->buffer_uses[i]];
        if (!use->props.internal_memory || p->graph->nodes[use->node].kind != FUSER_NODE_KERNEL) return false;
        written |= use->writes;
    }
    return written && !plan_holds_texels(p, buffer);
}

struct plan_estimate *plan_estimate_new(struct planner *p)
{
    struct plan_estimate *e = arena_alloc(p->arena, sizeof *e);
    uint32_t n_buffers = p->graph->n_buffers;
    e->touched = arena_alloc(p->arena, (n_buffers + 1) * sizeof *e->touched);
    e->tallies = arena_alloc(p->arena, (n_buffers + 1) * sizeof *e->tallies);
    e->internal = arena_alloc(p->arena, n_buffers + 1);
    e->read = arena_alloc(p->arena, (p->n_uses + 1) * sizeof *e->read);
    e->write = arena_alloc(p->arena, (p->n_uses + 1) * sizeof *e->write);
    for (uint32_t i = 0; i < n_buffers; i++) e->internal[i] = may_be_internal(p, i);
    for (uint32_t i = 0; i < p->n_uses; i++) e->read[i] = e->write[i] = UNKNOWN;
    return e;
}

static uint64_t bytes_of(const struct planner *p, uint32_t index, bool writing, uint64_t *known)
{
    const struct plan_use *use = &p->uses[index];
    if (*known == UNKNOWN)
        *known = plan_use_is_image(p, use)
                     ? use->end - use->first
                     : footprint_bytes_one_way(&p->nodes[use->node].access->params[use->arg], &p->nodes[use->node].range,
                                            use->end - use->first, writing);
    return *known;
}

static struct tally *tally_of(struct plan_estimate *e, const struct plan_use *use)
{
    struct tally *t = &e->tallies[use->buffer];
    if (t->stamp == e->stamp) return t;
    *t = (struct tally){.stamp = e->stamp, .first = use->first, .end = use->end};
    e->touched[e->n_touched++] = use->buffer;
    return t;
}

static void count(struct tally *t, const struct plan_use *use, uint64_t bytes, uint64_t *sum)
{
    if (use->first != t->first || use->end != t->end) {
        t->others += bytes;
    } else if (bytes > *sum) {
        *sum = bytes;
    }
}

static void add_kernel(const struct planner *p, struct plan_estimate *e, uint32_t kernel)
{
    const struct plan_node *n = &p->nodes[kernel];
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++) {
        const struct plan_use *use = &p->uses[i];
        struct tally *t = tally_of(e, use);
        uint64_t bytes = use->reads ? bytes_of(p, i, false, &e->read[i]) : 0;
        bool forwarded = t->first <= use->first && use->end <= t->end && bytes <= t->written;
        t->n_uses++;
        if (!forwarded) count(t, use, bytes, &t->read);
    }
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++) {
        const struct plan_use *use = &p->uses[i];
        struct tally *t = tally_of(e, use);
        if (use->writes) count(t, use, bytes_of(p, i, true, &e->write[i]), &t->written);
    }
}

uint64_t plan_estimate(struct planner *p, struct plan_estimate *e, const uint32_t *kernels, uint32_t n)
{
    uint64_t sum = 0;
    e->stamp++;
    e->n_touched = 0;
    for (uint32_t i = 0; i < n; i++) add_kernel(p, e, kernels[i]);
    for (uint32_t i = 0; i < e->n_touched; i++) {
        uint32_t buffer = e->touched[i];
        const struct tally *t = &e->tallies[buffer];
        bool whole = t->n_uses == p->buffer_uses_start[buffer + 1] - p->buffer_uses_start[buffer];
        if (!e->internal[buffer] || !whole) sum += t->read + t->written + t->others;
    }
    return sum;
}
