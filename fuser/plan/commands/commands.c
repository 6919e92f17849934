/* Which copies and fills are made kernels. */
#include "fuser/plan/commands/commands.h"

#include <string.h>

#include "fuser/plan/commands/command_kernel.h"
#include "fuser/plan/graph/edges.h"
#include "fuser/plan/order/order.h"
#include "ir/base/arena.h"

enum { MAX_NEIGHBOURS = 4 /* looked at for each, on either side */, MAX_USES = 4096 /* of a buffer */ };

struct making {
    struct plan_context *ctx;
    const struct plan_facts *facts;
    struct plan_order order; /* of the graph as it was given */
    struct commands *out;
};

/* A run of bytes between kernels' memory, one buffer and another. */
static bool can_be_kernel(const struct fuser_graph *g, const struct fuser_node *n)
{
    bool copy = n->kind == FUSER_NODE_COPY;
    if ((!copy && n->kind != FUSER_NODE_FILL) || n->rows || g->buffers[n->to.buffer].image) return false;
    return !copy || (n->from.buffer != n->to.buffer && !g->buffers[n->from.buffer].image);
}

/* ---- neighbours ---- */

static bool meets(const struct making *m, const struct plan_use *own, const struct plan_use *other, bool later)
{
    return m->facts->graph->nodes[other->node].kind == FUSER_NODE_KERNEL && own->first < other->end &&
           other->first < own->end && (own->writes || other->writes) &&
           (m->order.rank[other->node] > m->order.rank[own->node]) == later;
}

static uint32_t distance(const struct making *m, const struct plan_use *a, const struct plan_use *b)
{
    uint32_t x = m->order.rank[a->node], y = m->order.rank[b->node];
    return x < y ? y - x : x - y;
}

/* The nearest use by a kernel on that side that shares bytes with the command, further away than `beyond`: by rank,
   which is the same however the graph was recorded. NULL: there is none. */
static const struct plan_use *next_neighbour(const struct making *m, const struct plan_use *own, bool later,
                                             uint32_t beyond)
{
    const struct plan_facts *f = m->facts;
    const struct plan_use *best = NULL;
    uint32_t first = f->buffer_uses_start[own->buffer], end = f->buffer_uses_start[own->buffer + 1];
    for (uint32_t i = first; i < end && end - first <= MAX_USES; i++) {
        const struct plan_use *use = &f->uses[f->buffer_uses[i]];
        if (!meets(m, own, use, later) || distance(m, own, use) <= beyond) continue;
        if (!best || distance(m, own, use) < distance(m, own, best)) best = use;
    }
    return best;
}

static bool shape_of_neighbour(const struct making *m, const struct plan_use *own, bool later,
                               struct command_shape *shape)
{
    const struct fuser_node *command = &m->facts->graph->nodes[own->node];
    const struct plan_use *use = next_neighbour(m, own, later, 0);
    for (uint32_t n = 0; use && n < MAX_NEIGHBOURS; n++) {
        const struct plan_node *node = &m->facts->nodes[use->node];
        if (command_shape_find(command, (int64_t)own->first - (int64_t)use->first, &node->access->params[use->arg],
                               &node->range, shape))
            return true;
        use = next_neighbour(m, own, later, distance(m, own, use));
    }
    return false;
}

/* Who reads what it writes, who wrote what it reads, who comes before the one and after the other. */
static bool find_shape(const struct making *m, uint32_t node, struct command_shape *shape)
{
    const struct plan_node *n = &m->facts->nodes[node];
    const struct plan_use *from = &m->facts->uses[n->first_use], *to = from + n->n_uses - 1;
    return shape_of_neighbour(m, to, true, shape) || shape_of_neighbour(m, from, false, shape) ||
           shape_of_neighbour(m, to, false, shape) || (from != to && shape_of_neighbour(m, from, true, shape));
}

/* Under require_fusion all kernels have to be one: of the copies and fills only those that would stand between them. */
static bool stands_between(const struct making *m, uint32_t node)
{
    const struct plan_node *n = &m->facts->nodes[node];
    const struct plan_use *from = &m->facts->uses[n->first_use], *to = from + n->n_uses - 1;
    return (next_neighbour(m, from, false, 0) || next_neighbour(m, to, false, 0)) &&
           (next_neighbour(m, from, true, 0) || next_neighbour(m, to, true, 0));
}

/* ---- nodes ---- */

static struct fuser_arg arg_of(const struct fuser_node *command, const struct fuser_region *r, enum ir_access access)
{
    return (struct fuser_arg){
        .kind = FUSER_ARG_BUFFER, .index = r->buffer, .access = access, .offset = r->offset, .bytes = command->bytes};
}

static void make_kernel(struct making *m, struct fuser_node *n, const struct command_shape *shape)
{
    struct commands *out = m->out;
    struct ir_module *module = command_kernel_new(n, shape);
    bool copy = n->kind == FUSER_NODE_COPY;
    out->modules = arena_grow(m->ctx->arena, out->modules, out->n_modules, sizeof *out->modules);
    out->modules[out->n_modules++] = module;
    n->args = arena_alloc(m->ctx->arena, 2 * sizeof *n->args);
    n->n_args = 0;
    if (copy) n->args[n->n_args++] = arg_of(n, &n->from, IR_ACCESS_READ);
    n->args[n->n_args++] = arg_of(n, &n->to, IR_ACCESS_WRITE);
    n->kind = FUSER_NODE_KERNEL;
    n->kernel = module->functions[0];
    n->range = shape->range;
    n->command = true;
}

static bool are_wanted(const struct plan_context *ctx, const struct fuser_graph *g)
{
    const struct fuser_options *o = ctx->options;
    if (o->mode == FUSER_MODE_NONE || !o->device.can_fuse || o->insert_barriers || o->debug) return false;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (can_be_kernel(g, &g->nodes[i])) return true;
    return false;
}

static struct fuser_graph *copy_of(struct plan_context *ctx, const struct fuser_graph *g)
{
    struct fuser_graph *copy = arena_alloc(ctx->arena, sizeof *copy);
    *copy = *g;
    copy->nodes = arena_alloc(ctx->arena, (g->n_nodes + 1) * sizeof *copy->nodes);
    memcpy(copy->nodes, g->nodes, g->n_nodes * sizeof *copy->nodes);
    return copy;
}

bool commands_make_kernels(struct plan_context *ctx, const struct plan_facts *f, struct commands *out)
{
    const struct fuser_graph *g = f->graph;
    struct making m = {.ctx = ctx, .facts = f, .out = out};
    struct plan_edges edges;
    *out = (struct commands){.graph = g};
    if (!are_wanted(ctx, g)) return true;
    edges_find(ctx, f, &edges);
    if (!order_find(ctx, f, &edges, &m.order)) return false;
    struct fuser_graph *changed = copy_of(ctx, g);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        struct command_shape shape;
        if (!can_be_kernel(g, &g->nodes[i]) || !find_shape(&m, i, &shape)) continue;
        if (ctx->options->mode == FUSER_MODE_REQUIRE && !stands_between(&m, i)) continue;
        make_kernel(&m, &changed->nodes[i], &shape);
    }
    if (out->n_modules) out->graph = changed;
    return true;
}

void commands_free(struct commands *c)
{
    for (uint32_t i = 0; i < c->n_modules; i++) ir_module_free(c->modules[i]);
}
