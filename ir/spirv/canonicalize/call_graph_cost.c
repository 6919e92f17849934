/*
 * Bounds what SPIRV-Tools does for each pair of an entry point and a function that it reaches: very many of both, and
 * it takes seconds. The pairs are counted first.
 */
#include "ir/spirv/canonicalize/call_graph_cost.h"

enum { PAIR = 600 /* nanoseconds, more or less */, CALL = 4 };

struct node {
    uint32_t first_call, n_calls; /* in the list of calls */
    uint32_t seen_from;           /* entry point, numbered from 1 */
};

struct call_graph {
    struct spirv_words *m;
    uint32_t *number; /* by id of a function: its number, from 1 on */
    struct node *nodes;
    uint32_t *calls; /* numbers of functions */
    uint32_t *stack;
    uint32_t n_calls;
};

static uint32_t number_of(const struct call_graph *g, uint32_t id)
{
    return id < g->m->bound ? g->number[id] : 0;
}

static void number_functions(struct call_graph *g)
{
    const uint32_t *words = g->m->words;
    uint32_t n = 0, n_calls = 0;
    for (size_t at = SPIRV_HEADER_WORDS; at < g->m->n_words; at += words[at] >> 16) {
        unsigned op = words[at] & 0xffff;
        uint32_t type, id = spirv_result(g->m, words + at, &type);
        n_calls += op == SpvOpFunctionCall;
        if (op == SpvOpFunction && id) g->number[id] = ++n;
    }
    g->nodes = arena_alloc(g->m->arena, (n + 1) * sizeof *g->nodes);
    g->calls = arena_alloc(g->m->arena, (n_calls + 1) * sizeof *g->calls);
    g->stack = arena_alloc(g->m->arena, (n + 1) * sizeof *g->stack);
}

static void list_calls(struct call_graph *g)
{
    const uint32_t *words = g->m->words;
    struct node *in = NULL;
    for (size_t at = SPIRV_HEADER_WORDS; at < g->m->n_words; at += words[at] >> 16) {
        unsigned op = words[at] & 0xffff;
        uint32_t type, id = spirv_result(g->m, words + at, &type);
        if (op == SpvOpFunction) {
            in = &g->nodes[number_of(g, id)];
            in->first_call = g->n_calls;
        }
        uint32_t callee = op == SpvOpFunctionCall && words[at] >> 16 > 3 ? number_of(g, words[at + 3]) : 0;
        if (!in || !callee) continue;
        g->calls[g->n_calls++] = callee;
        in->n_calls++;
    }
}

static bool walk_calls(struct call_graph *g, uint32_t from, uint32_t entry)
{
    uint32_t n = 0;
    g->nodes[from].seen_from = entry;
    g->stack[n++] = from;
    while (n) {
        const struct node *at = &g->nodes[g->stack[--n]];
        if (!spirv_spend_effort(g->m->budget, PAIR + (uint64_t)at->n_calls * CALL)) return false;
        for (uint32_t k = 0; k < at->n_calls; k++) {
            uint32_t callee = g->calls[at->first_call + k];
            if (g->nodes[callee].seen_from == entry) continue;
            g->nodes[callee].seen_from = entry;
            g->stack[n++] = callee;
        }
    }
    return true;
}

bool spirv_check_call_graph_cost(struct spirv_words *m)
{
    struct call_graph g = {.m = m};
    uint32_t entries = 0;
    g.number = arena_alloc(m->arena, (m->bound + 1) * sizeof *g.number);
    number_functions(&g);
    list_calls(&g);
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words; at += m->words[at] >> 16) {
        const uint32_t *w = m->words + at;
        uint32_t from = (w[0] & 0xffff) == SpvOpEntryPoint && w[0] >> 16 > 2 ? number_of(&g, w[2]) : 0;
        if (!from || walk_calls(&g, from, ++entries)) continue;
        spirv_fail_module(m->findings,
                          "has so many entry points and functions that they call, that it would take too long to read");
        return false;
    }
    return true;
}
