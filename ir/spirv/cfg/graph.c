/* Builds the graph, and dominators over its forward edges. */
#include "ir/spirv/cfg/graph.h"

#include <stdlib.h>

#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"

/* ---- blocks ---- */

/* The labels that a terminator names, in order; NULL past the last. `at` begins at 0. */
static uint32_t next_target(const struct spirv_reader *r, const struct spirv_inst *end, uint32_t *at)
{
    uint32_t k = (*at)++;
    switch (end->op) {
    case SpvOpBranch: return k == 0 ? end->words[1] : 0;
    case SpvOpBranchConditional: return k < 2 ? end->words[2 + k] : 0;
    case SpvOpSwitch: {
        const struct spirv_inst *selector = spirv_def(r, end->words[1]);
        const struct spirv_inst *type = spirv_def(r, selector->type);
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
        if (i->id) g->ids->block[i->id] = g->n;
        g->nodes[g->n - 1].end = i;
    }
}

uint32_t cfg_block(const struct cfg *g, uint32_t label)
{
    uint32_t block = g->ids->block[label];
    return block ? block - 1 : CFG_NONE;
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

uint32_t cfg_sort_unique(uint32_t *items, uint32_t n)
{
    uint32_t kept = 0;
    if (n > 1) qsort(items, n, sizeof *items, compare_numbers);
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
        node->n_succs = cfg_sort_unique(node->succs, n);
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

static bool check_reducible(struct cfg *g)
{
    for (uint32_t k = 0; k < g->n; k++) {
        for (uint32_t e = 0; e < g->nodes[k].n_succs; e++) {
            uint32_t to = g->nodes[k].succs[e];
            if (to > k || cfg_dominates(g, to, k)) continue;
            const char *name = spirv_name(g->r, g->nodes[to].label->id);
            spirv_fail(g->r, g->nodes[k].end,
                       "control flow is irreducible: the loop of block %s (id %u) can be entered elsewhere too",
                       name ? name : "without a name", g->nodes[to].label->id);
            return false;
        }
    }
    return true;
}

bool cfg_build_graph(struct cfg *g, const struct spirv_function *f)
{
    number_blocks(g, f);
    add_edges(g);
    find_dominators(g);
    number_tree(g);
    return check_reducible(g);
}
