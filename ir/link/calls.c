/* The linker's part for calls: their graph over all modules, in which nothing may go round. */
#include "ir/link/calls.h"

#include <stdlib.h>

#include "ir/base/arena.h"
#include "ir/base/strbuf.h"
#include "ir/link/report.h"
#include "ir/link/symbols.h"

/* ---- the graph ---- */

struct walk {
    struct linker *l;
    size_t node;
};

static void note_instruction(struct ir_inst *inst, void *data)
{
    const struct walk *w = data;
    struct linker *l = w->l;
    struct link_node *caller = &l->nodes[w->node];
    if (inst->op == IR_OP_GLOBAL) {
        const struct ir_inst **use = &l->variable_use[caller->module][inst->attrs.global->scratch];
        if (!*use) *use = inst;
    }
    if (inst->op != IR_OP_CALL) return;
    if (l->n_edges == l->edge_capacity) {
        l->edge_capacity = l->edge_capacity ? 2 * l->edge_capacity : 64;
        l->edges = arena_realloc(l->edges, l->edge_capacity * sizeof *l->edges);
    }
    size_t callee = l->first_node[caller->module] + inst->attrs.callee->scratch;
    l->edges[l->n_edges++] = (struct link_edge){callee, inst};
    caller->n_edges++;
    if (!l->nodes[callee].call) l->nodes[callee].call = inst;
}

static void note_holders(struct linker *l, uint32_t module)
{
    const struct ir_module *m = l->modules[module];
    l->variable_holder[module] = arena_alloc(l->arena, m->n_globals * sizeof **l->variable_holder);
    for (uint32_t i = 0; i < m->n_globals; i++)
        for (uint32_t k = 0; k < m->globals[i]->n_addresses; k++)
            l->variable_holder[module][m->globals[i]->addresses[k].target->scratch] = m->globals[i];
}

static void add_nodes(struct linker *l)
{
    l->first_node = arena_alloc(l->arena, l->n_modules * sizeof *l->first_node);
    l->variable_use = arena_alloc(l->arena, l->n_modules * sizeof *l->variable_use);
    l->variable_holder = arena_alloc(l->arena, l->n_modules * sizeof *l->variable_holder);
    for (uint32_t i = 0; i < l->n_modules; i++) {
        note_holders(l, i);
        l->first_node[i] = l->n_nodes;
        l->n_nodes += l->modules[i]->n_functions;
        l->variable_use[i] = arena_alloc(l->arena, l->modules[i]->n_globals * sizeof **l->variable_use);
    }
    l->nodes = arena_alloc(l->arena, l->n_nodes * sizeof *l->nodes);
    for (uint32_t i = 0; i < l->n_modules; i++)
        for (uint32_t k = 0; k < l->modules[i]->n_functions; k++)
            l->nodes[l->first_node[i] + k] = (struct link_node){.f = l->modules[i]->functions[k], .module = i};
}

void link_calls(struct linker *l)
{
    add_nodes(l);
    for (size_t n = 0; n < l->n_nodes; n++) {
        struct walk w = {l, n};
        l->nodes[n].first_edge = l->n_edges;
        if (l->nodes[n].f->body) ir_walk(l->nodes[n].f->body, note_instruction, &w);
    }
}

size_t link_definition(const struct linker *l, size_t node)
{
    const struct link_symbol *s = link_function_stands_for(l, l->nodes[node].f);
    return s ? l->first_node[s->module] + s->f->scratch : node;
}

/* ---- recursion ---- */

/* The row of calls from a kernel or another beginning down to where the search stands. */
struct search {
    struct linker *l;
    size_t *row, *next; /* nodes, and the next edge of each */
    size_t depth;
    enum { NEW, IN_ROW, DONE } * state; /* by node */
};

static void report_circle(const struct search *s, size_t first, const struct ir_inst *call)
{
    struct linker *l = s->l;
    struct strbuf text = {0};
    size_t at = s->depth;
    while (s->row[at - 1] != first) at--;
    for (; at <= s->depth; at++) {
        const struct link_node *n = &l->nodes[s->row[at - 1]];
        strbuf_printf(&text, "%s of %s calls ", n->f->name, link_place(l, n->module, n->f->loc));
    }
    const struct link_node *last = &l->nodes[s->row[s->depth - 1]];
    strbuf_add(&text, l->nodes[first].f->name);
    char *circle = strbuf_take(&text);
    link_fail(l, last->f, call->loc, "functions call each other in a circle: %s", circle);
    free(circle);
}

static void enter_node(struct search *s, size_t node)
{
    s->state[node] = IN_ROW;
    s->next[s->depth] = s->l->nodes[node].first_edge;
    s->row[s->depth++] = node;
}

static void step_search(struct search *s)
{
    struct linker *l = s->l;
    size_t node = s->row[s->depth - 1], edge = s->next[s->depth - 1]++;
    if (edge == l->nodes[node].first_edge + l->nodes[node].n_edges) {
        s->state[node] = DONE;
        s->depth--;
        return;
    }
    size_t callee = link_definition(l, l->edges[edge].callee);
    if (s->state[callee] == NEW)
        enter_node(s, callee);
    else if (s->state[callee] == IN_ROW)
        report_circle(s, callee, l->edges[edge].call);
}

void link_check_recursion(struct linker *l)
{
    struct search s = {.l = l,
                       .row = arena_alloc(l->arena, l->n_nodes * sizeof *s.row),
                       .next = arena_alloc(l->arena, l->n_nodes * sizeof *s.next),
                       .state = arena_alloc(l->arena, l->n_nodes * sizeof *s.state)};
    for (size_t n = 0; n < l->n_nodes; n++) {
        if (s.state[n] == NEW) enter_node(&s, n);
        while (s.depth) step_search(&s);
    }
}
