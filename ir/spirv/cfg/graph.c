/* Builds the graph: dominators over its forward edges, loops from the inner ones outwards. */
#include "ir/spirv/cfg/graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- blocks ---- */

/* The labels that a terminator names, in order; NULL past the last. `at` begins at 0. */
static uint32_t next_target(const struct spirv_reader *r, const struct spirv_inst *end, uint32_t *at)
{
    uint32_t k = (*at)++;
    switch (end->op) {
    case SpvOpBranch: return k == 0 ? end->words[1] : 0;
    case SpvOpBranchConditional: return k < 2 ? end->words[2 + k] : 0;
    case SpvOpSwitch: {
        const struct spirv_inst *selector = r->ids[end->words[1]].def;
        const struct spirv_inst *type = r->ids[selector->type].def;
        uint32_t step = type->op == SpvOpTypeInt && type->words[2] == 64 ? 3 : 2, place = 2 + k * step;
        return place < end->n ? end->words[place] : 0;
    }
    default: return 0;
    }
}

/* Blocks stand in reverse postorder, and all can be reached: canonicalize/block_order.c has seen to that. */
static void number_blocks(struct cfg *g, const struct spirv_function *f)
{
    struct spirv_reader *r = g->r;
    uint32_t n = 0;
    for (const struct spirv_inst *i = f->first; i < f->end; i++) n += i->op == SpvOpLabel;
    g->nodes = arena_alloc(r->arena, n * sizeof *g->nodes);
    g->loops = arena_alloc(r->arena, n * sizeof(*g->loops));
    for (const struct spirv_inst *i = f->first; i < f->end; i++) {
        if (i->op == SpvOpLabel) g->nodes[g->n++] = (struct cfg_node){.label = i, .idom = CFG_NONE, .loop = CFG_NONE};
        if (!g->n) continue;
        if (i->id) r->ids[i->id].block = g->n;
        g->nodes[g->n - 1].end = i;
    }
}

uint32_t cfg_block(const struct cfg *g, uint32_t label)
{
    uint32_t block = g->r->ids[label].block;
    return block ? block - 1 : CFG_NONE;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Sorts numbers and drops those that occur again. */
static uint32_t sort_unique(uint32_t *items, uint32_t n)
{
    uint32_t kept = 0;
    if (n > 1) qsort(items, n, sizeof *items, compare);
    for (uint32_t k = 0; k < n; k++)
        if (!kept || items[kept - 1] != items[k]) items[kept++] = items[k];
    return kept;
}

static void add_edges(struct cfg *g)
{
    struct spirv_reader *r = g->r;
    for (uint32_t k = 0; k < g->n; k++) {
        struct cfg_node *node = &g->nodes[k];
        uint32_t n = 0, at = 0;
        while (next_target(r, node->end, &at)) n++;
        node->succs = arena_alloc(r->arena, n * sizeof *node->succs);
        at = 0;
        for (uint32_t e = 0; e < n; e++) node->succs[e] = cfg_block(g, next_target(r, node->end, &at));
        node->n_succs = sort_unique(node->succs, n);
        for (uint32_t e = 0; e < node->n_succs; e++) g->nodes[node->succs[e]].n_preds++;
    }
    for (uint32_t k = 0; k < g->n; k++) {
        struct cfg_node *node = &g->nodes[k];
        node->preds = arena_alloc(r->arena, node->n_preds * sizeof *node->preds);
        node->n_preds = 0;
    }
    for (uint32_t k = 0; k < g->n; k++) {
        for (uint32_t e = 0; e < g->nodes[k].n_succs; e++) {
            struct cfg_node *to = &g->nodes[g->nodes[k].succs[e]];
            to->preds[to->n_preds++] = k;
            to->pending += g->nodes[k].succs[e] > k;
        }
    }
}

/* ---- dominators ---- */

static uint32_t common_dominator(const struct cfg *g, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (a > b) a = g->nodes[a].idom;
        while (b > a) b = g->nodes[b].idom;
    }
    return a;
}

/* One round is enough for a reducible graph, a second one finds nothing new; an irreducible one is refused after. */
static void find_dominators(struct cfg *g)
{
    g->nodes[0].idom = 0;
    for (uint32_t k = 1; k < g->n; k++) {
        uint32_t idom = CFG_NONE;
        for (uint32_t e = 0; e < g->nodes[k].n_preds; e++) {
            uint32_t p = g->nodes[k].preds[e];
            if (g->nodes[p].idom == CFG_NONE) continue; /* a back edge */
            idom = idom == CFG_NONE ? p : common_dominator(g, p, idom);
        }
        g->nodes[k].idom = idom;
        g->nodes[k].depth = g->nodes[idom].depth + 1;
    }
}

/* Sizes of subtrees from the leaves up (children have larger numbers), then places from the root down. */
static void number_tree(struct cfg *g)
{
    uint32_t *size = arena_alloc(g->r->arena, g->n * sizeof *size);
    for (uint32_t k = g->n; k--;) {
        size[k]++;
        if (k) size[g->nodes[k].idom] += size[k];
    }
    uint32_t *used = arena_alloc(g->r->arena, g->n * sizeof *used);
    for (uint32_t k = 0; k < g->n; k++) {
        struct cfg_node *node = &g->nodes[k];
        if (k) {
            uint32_t up = node->idom;
            node->enter = g->nodes[up].enter + 1 + used[up];
            used[up] += size[k];
        }
        node->leave = node->enter + size[k];
    }
}

bool cfg_dominates(const struct cfg *g, uint32_t a, uint32_t b)
{
    return g->nodes[a].enter <= g->nodes[b].enter && g->nodes[b].enter < g->nodes[a].leave;
}

/* ---- loops ---- */

static bool check_reducible(struct cfg *g)
{
    for (uint32_t k = 0; k < g->n; k++) {
        for (uint32_t e = 0; e < g->nodes[k].n_succs; e++) {
            uint32_t to = g->nodes[k].succs[e];
            if (to > k || cfg_dominates(g, to, k)) continue;
            const char *name = g->r->ids[g->nodes[to].label->id].name;
            spirv_fail(g->r, g->nodes[k].end,
                       "control flow is irreducible: the loop of block %s (id %u) can be entered elsewhere too",
                       name ? name : "without a name", g->nodes[to].label->id);
            return false;
        }
    }
    return true;
}

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
        loop->n_exits = sort_unique(loop->exits, loop->n_exits);
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

bool cfg_build(struct cfg *g, struct spirv_reader *r, const struct spirv_function *f)
{
    *g = (struct cfg){.r = r};
    number_blocks(g, f);
    add_edges(g);
    find_dominators(g);
    number_tree(g);
    if (!check_reducible(g)) return false;
    uint32_t edges = 0;
    for (uint32_t k = 0; k < g->n; k++) edges += g->nodes[k].n_preds;
    uint32_t *stack = arena_alloc(r->arena, (edges + g->n + 1) * sizeof *stack);
    for (uint32_t k = g->n; k--;) find_loop(g, k, stack);
    if (!check_depth(g)) return false;
    for (uint32_t k = 0; k < g->n; k++) g->nodes[k].only_returns = only_returns(g, k);
    find_exits(g);
    find_falls(g);
    return true;
}
