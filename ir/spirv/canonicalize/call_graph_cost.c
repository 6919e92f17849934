/*
 * Bounds what SPIRV-Tools does for each pair of an entry point and a function that it reaches: very many of both, and
 * it takes seconds. The pairs are counted first.
 */
#include "ir/spirv/decode/reader.h"

enum { HEADER_WORDS = 5, PAIR = 600 /* nanoseconds, more or less */, CALL = 4 };

struct node {
    uint32_t first_call, n_calls; /* in the list of calls */
    uint32_t seen_from;           /* entry point, numbered from 1 */
};

struct call_graph {
    struct spirv_reader *r;
    uint32_t *number; /* by id of a function: its number, from 1 on */
    struct node *nodes;
    uint32_t *calls; /* numbers of functions */
    uint32_t *stack;
    uint32_t n_calls;
};

static uint32_t number_of(const struct call_graph *g, uint32_t id)
{
    return id < g->r->bound ? g->number[id] : 0;
}

static void number_functions(struct call_graph *g)
{
    const uint32_t *words = g->r->words;
    uint32_t n = 0, n_calls = 0;
    for (size_t at = HEADER_WORDS; at < g->r->n_words; at += words[at] >> 16) {
        unsigned op = words[at] & 0xffff;
        uint32_t type, id = spirv_result(g->r, words + at, &type);
        n_calls += op == SpvOpFunctionCall;
        if (op == SpvOpFunction && id) g->number[id] = ++n;
    }
    g->nodes = arena_alloc(g->r->arena, (n + 1) * sizeof *g->nodes);
    g->calls = arena_alloc(g->r->arena, (n_calls + 1) * sizeof *g->calls);
    g->stack = arena_alloc(g->r->arena, (n + 1) * sizeof *g->stack);
}

static void list_calls(struct call_graph *g)
{
    const uint32_t *words = g->r->words;
    struct node *in = NULL;
    for (size_t at = HEADER_WORDS; at < g->r->n_words; at += words[at] >> 16) {
        unsigned op = words[at] & 0xffff;
        uint32_t type, id = spirv_result(g->r, words + at, &type);
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

static bool walk(struct call_graph *g, uint32_t from, uint32_t entry)
{
    uint32_t n = 0;
    g->nodes[from].seen_from = entry;
    g->stack[n++] = from;
    while (n) {
        const struct node *at = &g->nodes[g->stack[--n]];
        if (!spirv_spend_effort(g->r, PAIR + (uint64_t)at->n_calls * CALL)) return false;
        for (uint32_t k = 0; k < at->n_calls; k++) {
            uint32_t callee = g->calls[at->first_call + k];
            if (g->nodes[callee].seen_from == entry) continue;
            g->nodes[callee].seen_from = entry;
            g->stack[n++] = callee;
        }
    }
    return true;
}

bool spirv_check_reach(struct spirv_reader *r)
{
    struct call_graph g = {.r = r};
    uint32_t entries = 0;
    g.number = arena_alloc(r->arena, (r->bound + 1) * sizeof *g.number);
    number_functions(&g);
    list_calls(&g);
    for (size_t at = HEADER_WORDS; at < r->n_words; at += r->words[at] >> 16) {
        const uint32_t *w = r->words + at;
        uint32_t from = (w[0] & 0xffff) == SpvOpEntryPoint && w[0] >> 16 > 2 ? number_of(&g, w[2]) : 0;
        if (!from || walk(&g, from, ++entries)) continue;
        spirv_fail(r, NULL,
                   "has so many entry points and functions that they call, that it would take too long to read");
        return false;
    }
    return true;
}
