/* Loops, from the inner ones outwards. */
#include "ir/spirv/cfg/loops.h"

#include "ir/spirv/decode/fail.h"

/* Climbs from a block inside a loop to the outermost loop found so far. */
static uint32_t outermost(const struct cfg *g, uint32_t node)
{
    uint32_t loop = g->loops[node] ? node : g->nodes[node].loop;
    while (loop != CFG_NONE && g->loops[loop]->parent != CFG_NONE) loop = g->loops[loop]->parent;
    return loop;
}

/* Headers from the last to the first: inner loops before the ones around them, so that each block is met once by
   itself and its loop once as a whole. */
static void find_loop(struct cfg *g, uint32_t header, uint32_t *stack)
{
    uint32_t n = 0;
    for (uint32_t e = 0; e < g->nodes[header].n_preds; e++)
        if (g->nodes[header].preds[e] >= header) stack[n++] = g->nodes[header].preds[e];
    if (!n) return;
    struct cfg_loop *loop = arena_alloc(g->r->arena, sizeof *loop);
    *loop = (struct cfg_loop){.header = header, .parent = CFG_NONE};
    g->loops[header] = loop;
    while (n) {
        uint32_t at = stack[--n], inner = outermost(g, at);
        if (at == header || inner == header) continue;
        if (inner != CFG_NONE) {
            g->loops[inner]->parent = header;
            at = inner;
        } else {
            g->nodes[at].loop = header;
        }
        for (uint32_t e = 0; e < g->nodes[at].n_preds; e++) {
            uint32_t p = g->nodes[at].preds[e];
            if (p < at && p != header) stack[n++] = p;
        }
    }
    g->nodes[header].loop = header;
}

bool cfg_in_loop(const struct cfg *g, uint32_t node, uint32_t loop)
{
    if (loop == CFG_NONE) return true;
    uint32_t at = g->nodes[node].loop;
    while (at != CFG_NONE && at > loop) at = g->loops[at]->parent;
    return at == loop;
}

uint32_t cfg_outer(const struct cfg *g, uint32_t node)
{
    return g->loops[node] ? g->loops[node]->parent : g->nodes[node].loop;
}

static bool check_depth(struct cfg *g)
{
    for (uint32_t k = 0; k < g->n; k++) {
        struct cfg_loop *loop = g->loops[k];
        if (!loop || loop->parent == CFG_NONE) continue;
        loop->depth = g->loops[loop->parent]->depth + 1;
        if (loop->depth < CFG_MAX_LOOP_DEPTH) continue;
        spirv_fail(g->r, g->nodes[k].end, "more than %d loops are inside each other", CFG_MAX_LOOP_DEPTH);
        return false;
    }
    return true;
}

static void add_exit(struct cfg *g, struct cfg_loop *loop, uint32_t to)
{
    loop->exits = arena_grow(g->r->arena, loop->exits, loop->n_exits, sizeof *loop->exits);
    loop->exits[loop->n_exits++] = to;
}

static bool only_returns(const struct cfg *g, uint32_t node)
{
    const struct cfg_node *b = &g->nodes[node];
    const struct spirv_inst *i = b->label + 1;
    while (i < b->end && (i->op == SpvOpPhi || i->op == SpvOpLine || i->op == SpvOpNoLine)) i++;
    return i == b->end && (i->op == SpvOpReturn || i->op == SpvOpReturnValue || i->op == SpvOpUnreachable);
}

/* A block that does nothing but return is repeated inside the loop, where the loop is left elsewhere too. */
static void drop_returns(const struct cfg *g, struct cfg_loop *loop)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < loop->n_exits; k++) {
        bool last = k + 1 == loop->n_exits && !kept;
        if (last || !g->nodes[loop->exits[k]].only_returns) loop->exits[kept++] = loop->exits[k];
    }
    loop->n_exits = kept;
}

static void find_exits(struct cfg *g)
{
    for (uint32_t k = 0; k < g->n; k++) {
        for (uint32_t e = 0; e < g->nodes[k].n_succs; e++) {
            uint32_t to = g->nodes[k].succs[e], loop = g->nodes[k].loop;
            for (; loop != CFG_NONE && !cfg_in_loop(g, to, loop); loop = g->loops[loop]->parent)
                add_exit(g, g->loops[loop], to);
        }
    }
    for (uint32_t k = 0; k < g->n; k++) {
        struct cfg_loop *loop = g->loops[k];
        if (!loop) continue;
        loop->n_exits = cfg_sort_unique(loop->exits, loop->n_exits);
        drop_returns(g, loop);
    }
}

bool cfg_exit(const struct cfg_loop *loop, uint32_t node)
{
    uint32_t low = 0, high = loop->n_exits;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (loop->exits[middle] == node) return true;
        if (loop->exits[middle] < node) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

/* Marks the blocks whose subtree of dominance an edge leaves for a place that is no exit and no next round of the
   loop in which they are entered. */
static void find_falls(struct cfg *g)
{
    for (uint32_t k = 0; k < g->n; k++) {
        for (uint32_t e = 0; e < g->nodes[k].n_succs; e++) {
            uint32_t to = g->nodes[k].succs[e], stop = g->nodes[to].idom, loop = cfg_outer(g, to);
            if (to <= k) continue;
            for (uint32_t at = k; at != stop; at = g->nodes[at].idom) {
                struct cfg_node *node = &g->nodes[at];
                if (cfg_outer(g, at) != loop) continue;
                if (node->falls && node->fall_loop == loop && node->fall_depth <= g->nodes[stop].depth) break;
                node->falls = true;
                node->fall_loop = loop;
                node->fall_depth = g->nodes[stop].depth;
            }
        }
    }
}

bool cfg_find_loops(struct cfg *g)
{
    uint32_t edges = 0;
    for (uint32_t k = 0; k < g->n; k++) edges += g->nodes[k].n_preds;
    uint32_t *stack = arena_alloc(g->r->arena, (edges + g->n + 1) * sizeof *stack);
    for (uint32_t k = g->n; k--;) find_loop(g, k, stack);
    if (!check_depth(g)) return false;
    for (uint32_t k = 0; k < g->n; k++) g->nodes[k].only_returns = only_returns(g, k);
    find_exits(g);
    find_falls(g);
    return true;
}
