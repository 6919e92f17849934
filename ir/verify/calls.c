/* The verifier's part for the graph of calls: no recursion, not too deep. */
#include "ir/verify/calls.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/strbuf.h"
#include "ir/verify/limits.h"
#include "ir/verify/report.h"

struct call_graph {
    struct edge {
        uint32_t caller, callee;
        const struct ir_inst *call;
    } * edges; /* sorted by caller */
    size_t n_edges, capacity;
    size_t *first;       /* by function: its first edge; n_functions + 1 entries */
    uint32_t *n_callers; /* by function: edges to it from functions not yet taken off */
    uint32_t *depth;     /* by function: longest row of calls that leads to it */
    uint32_t *ready;     /* functions taken off, in order */
    uint32_t n_ready;
};

static void add_edge(struct call_graph *g, const struct ir_function *caller, const struct ir_inst *call)
{
    if (g->n_edges == g->capacity) {
        g->capacity = g->capacity ? 2 * g->capacity : 16;
        g->edges = arena_realloc(g->edges, g->capacity * sizeof *g->edges);
    }
    g->edges[g->n_edges++] = (struct edge){caller->scratch, call->attrs.callee->scratch, call};
}

static void add_edges(struct call_graph *g, const struct ir_function *f, const struct ir_block *block)
{
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) {
        if (inst->op == IR_OP_CALL) add_edge(g, f, inst);
        for (int i = 0; i < 2; i++)
            if (inst->blocks[i]) add_edges(g, f, inst->blocks[i]);
    }
}

static void *zeroed(size_t n, size_t size)
{
    return memset(arena_realloc(NULL, n * size), 0, n * size);
}

static void build_graph(struct call_graph *g, const struct ir_module *m)
{
    uint32_t n = m->n_functions;
    g->first = zeroed(n + 1, sizeof *g->first);
    g->n_callers = zeroed(n, sizeof *g->n_callers);
    g->depth = zeroed(n, sizeof *g->depth);
    g->ready = zeroed(n, sizeof *g->ready);
    for (uint32_t i = 0; i < n; i++) {
        g->first[i] = g->n_edges;
        if (m->functions[i]->body) add_edges(g, m->functions[i], m->functions[i]->body);
    }
    g->first[n] = g->n_edges;
    for (size_t e = 0; e < g->n_edges; e++) g->n_callers[g->edges[e].callee]++;
}

static void free_graph(struct call_graph *g)
{
    free(g->edges);
    free(g->first);
    free(g->n_callers);
    free(g->depth);
    free(g->ready);
}

/* Takes off functions that nothing left calls; what stays is on a cycle or called from one. */
static void take_off(struct call_graph *g, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!g->n_callers[i]) g->ready[g->n_ready++] = i;
    for (uint32_t done = 0; done < g->n_ready; done++) {
        uint32_t caller = g->ready[done];
        for (size_t e = g->first[caller]; e < g->first[caller + 1]; e++) {
            uint32_t callee = g->edges[e].callee;
            if (g->depth[callee] <= g->depth[caller]) g->depth[callee] = g->depth[caller] + 1;
            if (--g->n_callers[callee] == 0) g->ready[g->n_ready++] = callee;
        }
    }
}

static void report_cycle(struct verifier *v, const struct edge *const *caller, uint32_t start)
{
    struct strbuf text = {0};
    uint32_t at = start;
    do { /* goes against the calls, so the names come in front */
        strbuf_printf(&text, "%s, called by ", v->m->functions[at]->name);
        at = caller[at]->caller;
    } while (at != start);
    strbuf_printf(&text, "%s", v->m->functions[start]->name);
    const struct edge *closing = caller[start];
    v->f = v->m->functions[closing->caller];
    v->inst = closing->call;
    v->block = closing->call->parent;
    char *cycle = strbuf_take(&text);
    verify_report(v, "functions call each other in a circle: %s", cycle);
    free(cycle);
    v->f = NULL;
    v->inst = NULL;
    v->block = NULL;
}

/* Each function that is left has a caller that is left, so going from caller to caller ends on a cycle. */
static void report_cycles(struct verifier *v, const struct call_graph *g)
{
    uint32_t n = v->m->n_functions;
    const struct edge **caller = zeroed(n, sizeof(*caller));
    uint32_t *walk = zeroed(n, sizeof *walk); /* by function: the walk that came by first, from 1 */
    for (size_t e = 0; e < g->n_edges; e++)
        if (g->n_callers[g->edges[e].caller]) caller[g->edges[e].callee] = &g->edges[e];
    for (uint32_t i = 0; i < n; i++) {
        if (!g->n_callers[i]) continue;
        uint32_t at = i;
        for (; !walk[at]; at = caller[at]->caller) walk[at] = i + 1;
        if (walk[at] == i + 1) report_cycle(v, caller, at);
    }
    free(caller);
    free(walk);
}

bool verify_calls(struct verifier *v)
{
    if (v->broken) return false;
    struct call_graph g = {0};
    uint32_t n = v->m->n_functions;
    build_graph(&g, v->m);
    take_off(&g, n);
    bool good = g.n_ready == n;
    if (!good) report_cycles(v, &g);
    for (uint32_t i = 0; i < g.n_ready; i++) {
        uint32_t f = g.ready[i];
        if (g.depth[f] != IR_MAX_CALL_DEPTH) continue; /* only the first of a row that is too long */
        v->f = v->m->functions[f];
        verify_report(v, "is called through more than %d functions", IR_MAX_CALL_DEPTH - 1);
        v->f = NULL;
        good = false;
    }
    free_graph(&g);
    return good;
}
