/*
 * Where outputs were declared, all other memory is the graph's own: nobody reads what the graph leaves there. A node is
 * needed where it writes an output or does something else that is seen, or where a needed node reads what it writes, at
 * whatever time: in the next submission, too.
 */
#include "fuser/plan/graph/unneeded.h"

#include "fuser/plan/graph/overwritten.h"
#include "ir/base/arena.h"

/* A kernel that follows pointers may read any memory. */
static bool follows_pointers(const struct plan_facts *f)
{
    for (uint32_t i = 0; i < f->graph->n_nodes; i++) {
        const struct access_analysis *a = f->nodes[i].access;
        if (a && (a->unknown_reads || a->unknown_writes)) return true;
    }
    return false;
}

/* Variables of the program, which come last, are never unread. */
static bool is_unread(const struct plan_facts *f, uint32_t buffer)
{
    return f->graph->buffers[buffer].unread;
}

static bool counts(const struct plan_context *ctx, const struct plan_facts *f)
{
    if (ctx->options->mode == FUSER_MODE_NONE || !ctx->options->device.can_fuse || follows_pointers(f)) return false;
    for (uint32_t i = 0; i < f->graph->n_buffers; i++)
        if (is_unread(f, i)) return true;
    return false;
}

/* ---- nodes ---- */

struct needs {
    const struct plan_facts *facts;
    const uint32_t *overwriters; /* NULL: none */
    bool *needed;
    uint32_t n, *stack; /* of needed nodes that were not looked at */
};

static void need(struct needs *s, uint32_t node)
{
    if (s->needed[node] || (s->overwriters && s->overwriters[node] != NO_OVERWRITER)) return;
    s->needed[node] = true;
    s->stack[s->n++] = node;
}

static bool is_seen(const struct plan_facts *f, uint32_t node)
{
    const struct plan_node *n = &f->nodes[node];
    if (f->graph->nodes[node].kind == FUSER_NODE_HOST || (n->access && n->access->shared_state)) return true;
    for (uint32_t i = n->first_use; i < n->first_use + n->n_uses; i++)
        if (f->uses[i].writes && !is_unread(f, f->uses[i].buffer)) return true;
    return false;
}

static void need_writers(struct needs *s, const struct plan_use *use)
{
    const struct plan_facts *f = s->facts;
    for (uint32_t i = f->buffer_uses_start[use->buffer]; i < f->buffer_uses_start[use->buffer + 1]; i++) {
        const struct plan_use *other = &f->uses[f->buffer_uses[i]];
        if (other->writes && other->first < use->end && use->first < other->end) need(s, other->node);
    }
}

/* All but the overwritten ones, where the graph does not say what it is for. */
static void need_all(struct needs *s)
{
    for (uint32_t i = 0; i < s->facts->graph->n_nodes; i++) need(s, i);
    s->n = 0;
}

static void need_what_is_seen(struct needs *s)
{
    for (uint32_t i = 0; i < s->facts->graph->n_nodes; i++)
        if (is_seen(s->facts, i)) need(s, i);
    while (s->n) {
        const struct plan_node *node = &s->facts->nodes[s->stack[--s->n]];
        for (uint32_t i = node->first_use; i < node->first_use + node->n_uses; i++)
            if (s->facts->uses[i].reads || !s->facts->uses[i].writes) need_writers(s, &s->facts->uses[i]);
    }
}

const bool *unneeded_nodes(struct plan_context *ctx, const struct plan_facts *f, const uint32_t *overwriters)
{
    uint32_t n = f->graph->n_nodes, left = 0;
    struct needs s = {.facts = f, .overwriters = overwriters, .needed = arena_alloc(ctx->arena, n + 1)};
    s.stack = arena_alloc(ctx->arena, (n + 1) * sizeof *s.stack);
    if (counts(ctx, f)) {
        need_what_is_seen(&s);
    } else {
        need_all(&s);
    }
    bool *unneeded = arena_alloc(ctx->arena, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        unneeded[i] = !s.needed[i];
        left += unneeded[i];
    }
    return left ? unneeded : NULL;
}

/* ---- buffers ---- */

static bool is_written(const struct plan_facts *f, uint32_t buffer)
{
    for (uint32_t i = f->buffer_uses_start[buffer]; i < f->buffer_uses_start[buffer + 1]; i++)
        if (f->uses[f->buffer_uses[i]].writes) return true;
    return false;
}

/* Not an image, which always has memory. */
static bool is_own(const struct plan_facts *f, uint32_t buffer)
{
    const struct fuser_buffer *b = &f->graph->buffers[buffer];
    return b->unread && !b->image && !b->viewed && is_written(f, buffer);
}

void unneeded_make_internal(struct plan_context *ctx, struct plan_facts *f)
{
    const struct fuser_graph *g = f->graph;
    if (!counts(ctx, f)) return;
    struct fuser_graph *own = arena_alloc(ctx->arena, sizeof *own);
    *own = *g;
    own->buffers = arena_alloc(ctx->arena, (g->n_buffers + 1) * sizeof *own->buffers);
    for (uint32_t i = 0; i < g->n_buffers; i++) {
        own->buffers[i] = g->buffers[i];
        if (!is_own(f, i) || g->buffers[i].props.internal_memory) continue;
        own->buffers[i].props.internal_memory = true;
        plan_remark(ctx, "inferred_internal", g->nodes[f->uses[f->buffer_uses[f->buffer_uses_start[i]]].node].name,
                    g->buffers[i].name,
                    "buffer %s is none of the outputs that were declared: nobody reads it after the graph",
                    g->buffers[i].name);
    }
    for (uint32_t i = 0; i < f->n_uses; i++)
        f->uses[i].props.internal_memory |= own->buffers[f->uses[i].buffer].props.internal_memory;
    f->graph = own;
}
