/* Loops that nothing leaves: a submission with one runs into its time limit. */
#include "fuser/plan/graph/endless_loops.h"

#include <stdlib.h>

#include "ir/base/arena.h"

/* Does something in the block leave the loop around it? nested: it is in a loop of its own by now. */
static bool has_way_out(const struct ir_block *block, bool nested)
{
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) {
        if (inst->op == IR_OP_RETURN || inst->op == IR_OP_UNREACHABLE) return true;
        if (inst->op == IR_OP_BREAK && !nested) return true;
        for (unsigned i = 0; i < 2; i++)
            if (inst->blocks[i] && has_way_out(inst->blocks[i], nested || inst->op == IR_OP_LOOP)) return true;
    }
    return false;
}

enum { MAX_CALLS = 4096 }; /* looked into for one kernel */

struct finding {
    const struct ir_inst *loop;
    uint32_t calls;
};

static void find_endless(struct ir_inst *inst, void *data)
{
    struct finding *found = data;
    if (found->loop) return;
    if (inst->op == IR_OP_LOOP && !has_way_out(inst->blocks[0], false)) found->loop = inst;
    if (inst->op == IR_OP_CALL && inst->attrs.callee->body && found->calls++ < MAX_CALLS)
        ir_walk(inst->attrs.callee->body, find_endless, found);
}

static void remark_endless(struct plan_context *ctx, const struct fuser_node *n)
{
    struct finding found = {0};
    ir_walk(n->kernel->body, find_endless, &found);
    if (!found.loop) return;
    plan_remark(ctx, "endless_loop", n->name, NULL,
                "kernel %s: nothing leaves the loop of line %u, neither break nor return: what comes there runs into "
                "the time limit",
                n->kernel->name, found.loop->loc.line);
}

/* By kernel, then in the order they were given. */
static int by_kernel(const void *x, const void *y, void *data)
{
    const struct fuser_graph *g = data;
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    uintptr_t k = (uintptr_t)g->nodes[a].kernel, l = (uintptr_t)g->nodes[b].kernel;
    return k != l ? (k < l ? -1 : 1) : a < b ? -1 : a > b;
}

static int by_number(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return a < b ? -1 : a > b;
}

/* Each kernel is looked at once, and said of the first node that has it. */
void endless_loops_remark(struct plan_context *ctx, const struct fuser_graph *g)
{
    uint32_t n = 0, firsts = 0, *nodes = arena_alloc(ctx->arena, (g->n_nodes + 1) * sizeof *nodes);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].kind == FUSER_NODE_KERNEL) nodes[n++] = i;
    qsort_r(nodes, n, sizeof *nodes, by_kernel, (void *)g);
    for (uint32_t i = 0; i < n; i++)
        if (!firsts || g->nodes[nodes[i]].kernel != g->nodes[nodes[firsts - 1]].kernel) nodes[firsts++] = nodes[i];
    qsort(nodes, firsts, sizeof *nodes, by_number);
    for (uint32_t i = 0; i < firsts; i++) remark_endless(ctx, &g->nodes[nodes[i]]);
}
