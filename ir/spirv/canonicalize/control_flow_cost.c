/*
 * Bounds the time that a module's control flow takes. SPIRV-Tools walks up the tree of dominators for each edge and for
 * each use of a value, which is nothing for what compilers make, and minutes for a graph that is made to be slow. How
 * far it will walk is added up here first, on functions as spirv_order_blocks() leaves them.
 */
#include <string.h>

#include "ir/spirv/canonicalize/control_flow_cost.h"

/* What steps of the validator cost next to each other, in nanoseconds. */
enum { NONE = 0, WALK = 8, SEARCH = 1, ROUNDS = 100 /* of irreducible graphs */ };

struct block {
    uint32_t idom;  /* number of the block that is its immediate dominator; NONE: not known yet */
    uint32_t depth; /* in the tree of dominators */
};

/* A function; its blocks have numbers from 1 on, in reverse postorder. */
struct graph {
    struct spirv_words *m;
    uint32_t n;
    struct block *blocks;
    uint32_t *home;  /* by id: block of the function that defines it; labels: block that it begins */
    uint64_t walked; /* steps for edges, where one round is enough */
    bool irreducible;
};

static uint32_t home_of(const struct graph *g, uint32_t id)
{
    return id < g->m->bound ? g->home[id] : NONE;
}

/* ---- edges ---- */

static uint32_t common_dominator(struct graph *g, uint32_t a, uint32_t b)
{
    while (a != b) {
        uint32_t *lower = a > b ? &a : &b;
        *lower = g->blocks[*lower].idom;
        g->walked++;
    }
    return a;
}

static void see_edge(struct graph *g, uint32_t from, uint32_t to)
{
    struct block *t = &g->blocks[to];
    if (to > from) {
        t->idom = t->idom == NONE ? from : common_dominator(g, t->idom, from);
        return;
    }
    uint32_t at = from;
    for (; at > to; at = g->blocks[at].idom) g->walked++;
    g->irreducible |= at != to;
}

/* All ways into a block from the blocks before it have been seen when its turn comes. */
static bool see_edges(struct graph *g, size_t first, size_t end)
{
    const struct spirv_words *m = g->m;
    uint32_t from = NONE;
    for (size_t at = first; at < end && g->walked * WALK <= g->m->budget->effort; at += m->words[at] >> 16) {
        if ((m->words[at] & 0xffff) == SpvOpLabel) {
            struct block *b = &g->blocks[++from];
            b->depth = b->idom == NONE ? 0 : g->blocks[b->idom].depth + 1;
            if (!spirv_spend_effort(g->m->budget, (uint64_t)b->idom * SEARCH)) return false;
        }
        size_t place;
        for (uint32_t k = 0; from && (place = spirv_target(m, m->words, at, k)); k++) {
            uint32_t to = home_of(g, m->words[place]);
            if (to != NONE) see_edge(g, from, to);
        }
    }
    uint64_t steps = g->irreducible ? (uint64_t)g->n * g->n * ROUNDS : g->walked;
    return spirv_spend_effort(g->m->budget, steps * WALK);
}

/* ---- uses ---- */

/* Words that are no ids count as ids too: they are few, and small. */
static bool see_uses(struct graph *g, size_t first, size_t end)
{
    const uint32_t *words = g->m->words;
    uint32_t block = NONE;
    uint64_t steps = 0;
    for (size_t at = first; at < end; at += words[at] >> 16) {
        block += (words[at] & 0xffff) == SpvOpLabel;
        for (uint32_t k = 1; block && k < words[at] >> 16; k++) {
            uint32_t home = home_of(g, words[at + k]), depth = g->blocks[block].depth;
            if (home != NONE && g->blocks[home].depth < depth) steps += depth - g->blocks[home].depth;
        }
    }
    return spirv_spend_effort(g->m->budget, steps * WALK);
}

/* ---- functions ---- */

static void find_homes(struct graph *g, size_t first, size_t end)
{
    const uint32_t *words = g->m->words;
    for (size_t at = first; at < end; at += words[at] >> 16) {
        g->n += (words[at] & 0xffff) == SpvOpLabel;
        uint32_t type, id = spirv_result(g->m, words + at, &type);
        if (g->n && id) g->home[id] = g->n;
    }
}

static void forget_homes(struct graph *g, size_t first, size_t end)
{
    const uint32_t *words = g->m->words;
    for (size_t at = first; at < end; at += words[at] >> 16) {
        uint32_t type, id = spirv_result(g->m, words + at, &type);
        g->home[id] = NONE;
    }
}

/* What the module calls an id; nothing has looked at its strings yet. */
static const char *name_of(const struct spirv_words *m, uint32_t id)
{
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words; at += m->words[at] >> 16) {
        const uint32_t *w = m->words + at;
        uint32_t n = w[0] >> 16, name = (w[0] & 0xffff) == SpvOpEntryPoint ? 3 : 2;
        bool names = (w[0] & 0xffff) == SpvOpEntryPoint || (w[0] & 0xffff) == SpvOpName;
        if (names && n > name && w[name - 1] == id && memchr(w + name, 0, (n - name) * sizeof *w))
            return (const char *)(w + name);
    }
    return "";
}

static bool see_function(struct graph *g, size_t first, size_t end)
{
    g->n = 0;
    g->walked = 0;
    g->irreducible = false;
    find_homes(g, first, end);
    for (uint32_t k = 0; k <= g->n; k++) g->blocks[k] = (struct block){0};
    bool good = see_edges(g, first, end) && see_uses(g, first, end);
    forget_homes(g, first, end);
    return good;
}

bool spirv_check_control_flow_cost(struct spirv_words *m)
{
    struct graph g = {.m = m};
    size_t n_labels = 0, first = SPIRV_HEADER_WORDS;
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words; at += m->words[at] >> 16)
        n_labels += (m->words[at] & 0xffff) == SpvOpLabel;
    g.blocks = arena_alloc(m->arena, (n_labels + 1) * sizeof *g.blocks);
    g.home = arena_alloc(m->arena, (m->bound + 1) * sizeof *g.home);
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words; at += m->words[at] >> 16) {
        unsigned op = m->words[at] & 0xffff;
        if (op == SpvOpFunction) first = at;
        if (op != SpvOpFunctionEnd || see_function(&g, first, at)) continue;
        uint32_t type, id = spirv_result(m, m->words + first, &type);
        spirv_fail_module(m->findings, "function %s (id %u) has %u blocks, whose control flow %s", name_of(m, id), id,
                          g.n, g.irreducible ? "is irreducible" : "would take too long to read");
        return false;
    }
    return true;
}
