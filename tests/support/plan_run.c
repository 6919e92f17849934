/* Running graphs and plans in the interpreter, to compare what they make of the same memory. */
#include "tests/support/plan_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/assertions/assertion_check.h"
#include "fuser/graph/props.h"
#include "fuser/graph/range.h"
#include "ir/base/arena.h"
#include "ir/interp/interp.h"
#include "tests/support/rng.h"

enum { MOST_PARAMS = 128 };

static void fill_buffer(uint8_t *data, const struct fuser_buffer *b, struct rng *rng)
{
    for (uint64_t i = 0; i < b->bytes; i++) data[i] = (uint8_t)rng_below(rng, 256);
    if (b->elem == IR_F32)
        for (uint64_t i = 0; i < b->bytes / 4; i++) ((float *)data)[i] = (float)rng_below(rng, 1024) / 64 - 8;
    if (b->elem == IR_I32)
        for (uint64_t i = 0; i < b->bytes / 4; i++) ((uint32_t *)data)[i] = rng_below(rng, 100);
}

struct graph_memory graph_memory_new(const struct fuser_graph *graph, uint64_t seed)
{
    struct rng rng = {seed};
    struct graph_memory m = {.graph = graph};
    m.buffers = arena_realloc(NULL, (graph->n_buffers + 1) * sizeof *m.buffers);
    m.values = arena_realloc(NULL, (graph->n_values + 1) * sizeof *m.values);
    for (uint32_t i = 0; i < graph->n_buffers; i++) {
        m.buffers[i] = arena_realloc(NULL, graph->buffers[i].bytes);
        fill_buffer(m.buffers[i], &graph->buffers[i], &rng);
    }
    for (uint32_t i = 0; i < graph->n_values; i++) {
        m.values[i] = calloc(1, graph->values[i].size + 8);
        m.values[i][0] = (uint8_t)rng_below(&rng, 8);
        if (graph->values[i].number) graph_memory_set(&m, i, graph->values[i].number);
        for (uint32_t k = 0; k < i && graph->values[i].alike; k++)
            if (graph->values[k].alike == graph->values[i].alike)
                memcpy(m.values[i], m.values[k], graph->values[i].size);
    }
    return m;
}

void graph_memory_set(struct graph_memory *m, uint32_t value, int64_t number)
{
    memcpy(m->values[value], &number, m->graph->values[value].size < 8 ? m->graph->values[value].size : 8);
}

void graph_memory_free(struct graph_memory *m)
{
    for (uint32_t i = 0; i < m->graph->n_buffers; i++) free(m->buffers[i]);
    for (uint32_t i = 0; i < m->graph->n_values; i++) free(m->values[i]);
    for (uint32_t i = 0; i < m->n_states; i++) free(m->states[i]);
    free(m->buffers);
    free(m->values);
    free(m->states);
}

enum { PRIMARY = 16 }; /* sub-group size of the device that graphs are made for (graph_make.c) */

static struct nd_range with_local_size(const struct nd_range *range)
{
    struct nd_range r = *range;
    for (unsigned d = 0; d < 3; d++)
        r.local[d] = range->local[d] ? range->local[d] : (range->global[d] < 16 ? range->global[d] : 16);
    return r;
}

/* last: the last work-group waits for all others. */
static bool run_kernel(const struct ir_function *kernel, const struct nd_range *range, bool last,
                       const struct interp_arg *args, const char *what, char *why, size_t why_size)
{
    struct nd_range r = with_local_size(range);
    struct interp_options options = {
        .sub_group_size = PRIMARY, .check_races = true, .last_group_waits = last, .max_steps = 1 << 28};
    struct interp_result result = {0};
    int rc = interp_run(kernel, &r, args, &options, &result);
    bool good = rc == 0 && result.completed && result.n_findings == 0;
    if (!good) snprintf(why, why_size, "%s: %s", what, result.n_findings ? result.findings[0].text : "not completed");
    interp_result_clear(&result);
    return good;
}

static struct interp_arg buffer_arg(const struct graph_memory *m, uint32_t buffer, uint64_t offset, uint64_t bytes)
{
    uint64_t rest = m->graph->buffers[buffer].bytes - offset;
    return (struct interp_arg){
        .kind = INTERP_ARG_BUFFER, .data = m->buffers[buffer] + offset, .size = bytes ? bytes : rest};
}

static struct interp_arg value_arg(const struct graph_memory *m, uint32_t value)
{
    return (struct interp_arg){
        .kind = INTERP_ARG_BYTES, .data = m->values[value], .size = m->graph->values[value].size};
}

/* A host task changes each byte it may write, in a way that depends on all it may read. */
static void run_host(const struct fuser_node *n, struct graph_memory *m)
{
    uint32_t sum = 1;
    for (uint32_t i = 0; i < n->n_args; i++) {
        struct interp_arg a = buffer_arg(m, n->args[i].index, n->args[i].offset, n->args[i].bytes);
        for (uint64_t k = 0; k < a.size && n->args[i].access != IR_ACCESS_WRITE; k++)
            sum = sum * 31 + ((uint8_t *)a.data)[k];
    }
    for (uint32_t i = 0; i < n->n_args; i++) {
        struct interp_arg a = buffer_arg(m, n->args[i].index, n->args[i].offset, n->args[i].bytes);
        for (uint64_t k = 0; k < a.size && n->args[i].access != IR_ACCESS_READ; k++)
            ((uint8_t *)a.data)[k] = (uint8_t)(sum >> k % 24);
    }
}

static uint32_t rows_of(const struct fuser_node *n)
{
    return n->rows ? n->rows : 1;
}

static void run_command(const struct fuser_node *n, struct graph_memory *m)
{
    for (uint32_t i = 0; i < rows_of(n) && n->kind == FUSER_NODE_COPY; i++)
        memcpy(m->buffers[n->to.buffer] + n->to.offset + i * n->to.pitch,
               m->buffers[n->from.buffer] + n->from.offset + i * n->from.pitch, n->bytes);
    if (n->kind == FUSER_NODE_FILL)
        for (uint64_t i = 0; i < n->bytes; i++)
            m->buffers[n->to.buffer][n->to.offset + i] = n->pattern[i % n->pattern_size];
    if (n->kind == FUSER_NODE_HOST) run_host(n, m);
}

static void node_args(const struct fuser_node *n, const struct graph_memory *m, struct interp_arg *args)
{
    for (uint32_t i = 0; i < n->n_args; i++) {
        const struct fuser_arg *a = &n->args[i];
        if (a->kind == FUSER_ARG_BUFFER) args[i] = buffer_arg(m, a->index, a->offset, a->bytes);
        if (a->kind == FUSER_ARG_VALUE) args[i] = value_arg(m, a->index);
        if (a->kind == FUSER_ARG_LOCAL) args[i] = (struct interp_arg){.kind = INTERP_ARG_LOCAL, .size = a->bytes};
    }
}

static bool run_node(const struct fuser_node *n, struct graph_memory *m, char *why, size_t why_size)
{
    struct interp_arg args[MOST_PARAMS];
    if (n->kind == FUSER_NODE_KERNEL) node_args(n, m, args);
    if (n->kind == FUSER_NODE_KERNEL && !range_items(&n->range)) return true; /* no work-items */
    if (n->kind == FUSER_NODE_KERNEL) return run_kernel(n->kernel, &n->range, false, args, n->name, why, why_size);
    run_command(n, m);
    return true;
}

bool run_graph(const struct fuser_graph *graph, struct graph_memory *m, char *why, size_t why_size)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        if (!run_node(&graph->nodes[i], m, why, why_size)) return false;
    return true;
}

static bool is_pipe(const struct fuser_program_variable *s)
{
    return ir_type_kind(s->global->type) == IR_KIND_PIPE;
}

static struct interp_arg state_arg(const struct fuser_plan *plan, const struct graph_memory *m, uint32_t state)
{
    const struct fuser_program_variable *s = &plan->program_variables[state];
    if (is_pipe(s)) return (struct interp_arg){.kind = INTERP_ARG_PIPE, .data = m->states[state]};
    return (struct interp_arg){
        .kind = INTERP_ARG_BUFFER, .data = m->states[state], .size = ir_type_size(s->module, s->global->type)};
}

static uint8_t *new_state(const struct fuser_program_variable *s)
{
    bool pipe = is_pipe(s);
    uint64_t packet = pipe ? ir_type_size(s->module, s->global->packet) : 0;
    uint64_t bytes =
        pipe ? sizeof(struct interp_pipe) + packet * s->global->capacity : ir_type_size(s->module, s->global->type);
    uint8_t *memory = memset(arena_realloc(NULL, bytes + 1), 0, bytes + 1);
    struct interp_pipe *record = (struct interp_pipe *)memory;
    if (pipe)
        *record = (struct interp_pipe){(uint8_t *)(record + 1), (uint32_t)packet, s->global->capacity, 0, 0};
    else if (s->global->init)
        memcpy(memory, s->global->init, bytes);
    return memory;
}

/* Variables of programs begin with their initial values, once. */
static void make_states(const struct fuser_plan *plan, struct graph_memory *m)
{
    if (m->n_states) return;
    m->states = arena_realloc(NULL, (plan->n_program_variables + 1) * sizeof *m->states);
    for (; m->n_states < plan->n_program_variables; m->n_states++)
        m->states[m->n_states] = new_state(&plan->program_variables[m->n_states]);
}

static bool run_launch(const struct fuser_plan *plan, const struct fuser_launch *l, struct graph_memory *m,
                       plan_runner *runner, void *data, char *why, size_t why_size)
{
    struct interp_arg args[MOST_PARAMS];
    if (l->n_params != l->kernel->n_params || l->n_params > MOST_PARAMS) {
        snprintf(why, why_size, "%s has %u parameters, its launch %u", l->kernel->name, l->kernel->n_params,
                 l->n_params);
        return false;
    }
    for (uint32_t i = 0; i < l->n_params; i++) {
        const struct fuser_param *p = &l->params[i];
        bool is_spare = l >= plan->spares && l < plan->spares + plan->n_spares;
        if (p->kind == FUSER_PARAM_BUFFER && plan->storage[p->index] != FUSER_STORAGE_MEMORY && !is_spare) {
            snprintf(why, why_size, "%s takes buffer %s, which has no memory", l->kernel->name,
                     m->graph->buffers[p->index].name);
            return false;
        }
        if (p->kind == FUSER_PARAM_BUFFER) args[i] = buffer_arg(m, p->index, p->offset, 0);
        if (p->kind == FUSER_PARAM_PROGRAM_VARIABLE) args[i] = state_arg(plan, m, p->index);
        if (p->kind == FUSER_PARAM_VALUE) args[i] = value_arg(m, p->index);
        if (p->kind == FUSER_PARAM_LOCAL) args[i] = (struct interp_arg){.kind = INTERP_ARG_LOCAL, .size = p->offset};
    }
    if (!runner) return run_kernel(l->kernel, &l->range, l->last, args, l->kernel->name, why, why_size);
    struct nd_range range = with_local_size(&l->range);
    if (runner(l, &range, args, data)) return true;
    snprintf(why, why_size, "%s did not run", l->kernel->name);
    return false;
}

static bool holds(const struct fuser_condition *c, const struct graph_memory *m)
{
    uint32_t size = m->graph->values[c->value].size;
    if (c->at_least) {
        int32_t narrow;
        int64_t wide;
        memcpy(&narrow, m->values[c->value], sizeof narrow);
        if (size == sizeof wide) memcpy(&wide, m->values[c->value], sizeof wide);
        return (size == sizeof wide ? wide : narrow) >= c->number;
    }
    if (c->like != c->value) return memcmp(m->values[c->value], m->values[c->like], size) == 0;
    return memcmp(m->values[c->value], &c->number, size) == 0;
}

static bool all_hold(const struct fuser_launch *l, const struct graph_memory *m)
{
    for (uint32_t i = 0; i < l->n_conditions; i++)
        if (!holds(&l->conditions[i], m)) return false;
    return true;
}

static bool run_spares(const struct fuser_plan *plan, const struct fuser_launch *l, struct graph_memory *m,
                       plan_runner *runner, void *data, char *why, size_t why_size)
{
    for (uint32_t i = 0; i < l->n_spares; i++)
        if (!run_launch(plan, &plan->spares[l->first_spare + i], m, runner, data, why, why_size)) return false;
    return true;
}

bool run_plan(const struct fuser_graph *graph, const struct fuser_plan *plan, struct graph_memory *m, char *why,
              size_t why_size)
{
    return run_plan_by(graph, plan, m, NULL, NULL, why, why_size);
}

bool run_plan_by(const struct fuser_graph *graph, const struct fuser_plan *plan, struct graph_memory *m,
                 plan_runner *runner, void *data, char *why, size_t why_size)
{
    bool as_planned = true;
    make_states(plan, m);
    for (uint32_t i = 0; i < plan->n_launches; i++) as_planned &= all_hold(&plan->launches[i], m);
    for (uint32_t i = 0; i < graph->n_buffers && as_planned; i++)
        if (plan->storage[i] != FUSER_STORAGE_MEMORY) memset(m->buffers[i], 0xa5, graph->buffers[i].bytes);
    for (uint32_t i = 0; i < plan->n_steps; i++) {
        const struct fuser_step *s = &plan->steps[i];
        const struct fuser_launch *l = s->kind == FUSER_STEP_LAUNCH ? &plan->launches[s->index] : NULL;
        bool good = !l               ? run_node(&graph->nodes[s->index], m, why, why_size)
                    : all_hold(l, m) ? run_launch(plan, l, m, runner, data, why, why_size)
                                     : run_spares(plan, l, m, runner, data, why, why_size);
        if (!good) return false;
    }
    return true;
}

/* ---- watched ---- */

static struct assertion_check *new_watch(const struct fuser_graph *graph)
{
    struct assertion_buffer *buffers = arena_realloc(NULL, (graph->n_buffers + 1) * sizeof *buffers);
    for (uint32_t i = 0; i < graph->n_buffers; i++)
        buffers[i] = (struct assertion_buffer){graph->buffers[i].name, graph->buffers[i].bytes,
                                               (ir_type_bits(graph->buffers[i].elem) + 7) / 8};
    struct assertion_check *w = assertion_check_new(buffers, graph->n_buffers);
    free(buffers);
    return w;
}

/* A node of a launch, as the launch would run it. False: it is wrong by itself, or broken. */
static bool watch_node(struct assertion_check *w, const struct fuser_node *n, const struct fuser_plan *plan,
                       const struct assertion_kernel *launch, const struct nd_range *launched, struct graph_memory *m,
                       char *why, size_t why_size)
{
    static const enum assertion_scope owners[] = {[FUSER_STORAGE_MEMORY] = ASSERTION_SCOPE_ANY,
                                                  [FUSER_STORAGE_PRIVATE] = ASSERTION_SCOPE_WORK_ITEM,
                                                  [FUSER_STORAGE_LOCAL] = ASSERTION_SCOPE_WORK_GROUP,
                                                  [FUSER_STORAGE_NOWHERE] = ASSERTION_SCOPE_ANY};
    struct interp_arg args[MOST_PARAMS];
    struct assertion_arg watched[MOST_PARAMS] = {0};
    struct interp_options options = {.sub_group_size = PRIMARY, .max_steps = 1 << 28};
    struct nd_range range = with_local_size(&n->range);
    struct interp_result result = {0};
    struct assertion_kernel kernel = *launch;
    node_args(n, m, args);
    for (uint32_t i = 0; i < n->n_args; i++) {
        const struct fuser_arg *a = &n->args[i];
        struct fuser_props props;
        if (a->kind != FUSER_ARG_BUFFER) continue;
        fuser_props_inherit(&m->graph->buffers[a->index].props, &a->props, &props);
        watched[i] = (struct assertion_arg){true,          a->index,
                                            a->offset,     (enum assertion_scope)props.access_scope,
                                            props.no_init, owners[plan->storage[a->index]]};
    }
    kernel.name = n->name;
    kernel.linear = !range_is_box(&n->range, launched);
    kernel.args = watched;
    int rc = assertion_check_run(w, &kernel, n->kernel, &range, args, &options, &result);
    bool good = rc == 0 && result.completed && result.n_findings == 0;
    const char *broken = assertion_check_broken(w);
    if (!good) snprintf(why, why_size, "%s", broken ? broken : result.n_findings ? result.findings[0].text : "?");
    interp_result_clear(&result);
    return good;
}

static void watch_command(struct assertion_check *w, const struct fuser_node *n, struct graph_memory *m)
{
    run_command(n, m);
    for (uint32_t i = 0; i < rows_of(n) && n->kind != FUSER_NODE_HOST; i++)
        assertion_check_written(w, n->to.buffer, n->to.offset + i * n->to.pitch, n->bytes);
    for (uint32_t i = 0; i < n->n_args; i++) {
        struct interp_arg a = buffer_arg(m, n->args[i].index, n->args[i].offset, n->args[i].bytes);
        if (n->args[i].access != IR_ACCESS_READ)
            assertion_check_written(w, n->args[i].index, n->args[i].offset, a.size);
    }
}

bool run_watched(const struct fuser_graph *graph, const struct fuser_plan *plan, struct graph_memory *m, char *why,
                 size_t why_size)
{
    struct assertion_check *w = new_watch(graph);
    bool good = true;
    for (uint32_t i = 0; i < plan->n_steps && good; i++) {
        const struct fuser_step *s = &plan->steps[i];
        if (s->kind == FUSER_STEP_NODE) {
            watch_command(w, &graph->nodes[s->index], m);
            continue;
        }
        const struct fuser_launch *l = &plan->launches[s->index];
        struct assertion_kernel kernel = {.launch = s->index, .launched = with_local_size(&l->range)};
        for (uint32_t k = 0; k < l->n_nodes && good; k++) {
            kernel.barrier = l->barriers[k];
            good = watch_node(w, &graph->nodes[l->nodes[k]], plan, &kernel, &l->range, m, why, why_size);
        }
    }
    assertion_check_free(w);
    return good;
}

bool same_memory(const struct fuser_plan *plan, const struct graph_memory *a, const struct graph_memory *b, char *why,
                 size_t why_size)
{
    for (uint32_t i = 0; i < a->graph->n_buffers; i++) {
        uint64_t bytes = a->graph->buffers[i].bytes, at = 0;
        if (plan->storage[i] != FUSER_STORAGE_MEMORY || a->graph->buffers[i].unread) continue;
        while (at < bytes && a->buffers[i][at] == b->buffers[i][at]) at++;
        if (at == bytes) continue;
        snprintf(why, why_size, "buffer %s differs at byte %llu", a->graph->buffers[i].name, (unsigned long long)at);
        return false;
    }
    return true;
}
