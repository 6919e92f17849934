/* Access analysis of one kernel: sets up the walk over it and owns what comes out. */
#include "fuser/access/access.h"

#include <stdlib.h>

#include "fuser/access/deciding.h"
#include "fuser/access/provenance.h"
#include "fuser/access/walk.h"
#include "fuser/passes/manager/pipelines.h"
#include "ir/base/arena.h"

static void number_value(struct access_walk *w, struct ir_value *v)
{
    v->scratch = w->n_values++;
}

static void number_block(struct access_walk *w, const struct ir_block *block)
{
    for (uint32_t i = 0; i < block->n_args; i++) number_value(w, block->args[i]);
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) {
        for (uint32_t i = 0; i < inst->n_results; i++) number_value(w, inst->results[i]);
        for (int i = 0; i < 2; i++)
            if (inst->blocks[i]) number_block(w, inst->blocks[i]);
    }
}

static void number_all(struct access_walk *w)
{
    w->n_values = 1;
    for (uint32_t i = 0; i < w->kernel->n_params; i++) number_value(w, w->kernel->params[i].value);
    number_block(w, w->kernel->body);
}

static void bound_ids(struct access_walk *w)
{
    const struct nd_range *r = &w->range;
    w->even_groups = r->local[0] != 0;
    for (unsigned d = 0; d < 3; d++) {
        int64_t items = (int64_t)r->global[d], local = (int64_t)r->local[d];
        w->bounds.low[AFFINE_GLOBAL + d] = (int64_t)r->offset[d];
        w->bounds.high[AFFINE_GLOBAL + d] = (int64_t)r->offset[d] + items - 1;
        w->bounds.high[AFFINE_LOCAL + d] = (local && local < items ? local : items) - 1;
        w->bounds.high[AFFINE_GROUP + d] = local ? (items - 1) / local : items - 1;
        if (local && items % local) w->even_groups = false;
    }
}

static void bound_sub_groups(struct access_walk *w, uint32_t size)
{
    const uint64_t *local = w->range.local;
    if (!size && w->kernel->sub_group_size < IR_SUB_GROUP_AUTOMATIC) size = w->kernel->sub_group_size;
    w->sub_group_size = size;
    w->even_sub_groups = size && w->even_groups && local[1] == 1 && local[2] == 1 && local[0] % size == 0;
    w->bounds.high[AFFINE_LANE] = size ? size - 1 : w->bounds.high[AFFINE_GLOBAL];
    w->bounds.high[AFFINE_SUB_GROUP] = w->even_sub_groups ? (int64_t)(local[0] / size) - 1 : 0;
}

static bool is_int_param(const struct ir_value *v)
{
    return v->kind == IR_VALUE_PARAM && ir_type_is_int(v->type) && !ir_type_is_vector(v->type);
}

/* The parameter that the value is, perhaps converted; NULL: it is none. */
static const struct ir_value *param_of(const struct ir_value *v)
{
    while (v->kind == IR_VALUE_RESULT) {
        enum ir_op op = v->of.inst->op;
        if (op != IR_OP_SEXT && op != IR_OP_ZEXT && op != IR_OP_ITRUNC) return NULL;
        v = v->of.inst->operands[0];
    }
    return is_int_param(v) ? v : NULL;
}

/* Parameters that something else than a constant is multiplied with: strides. */
static void see_stride(struct ir_inst *inst, void *data)
{
    struct access_walk *w = data;
    for (unsigned i = 0; inst->op == IR_OP_MUL && i < 2; i++) {
        const struct ir_value *param = param_of(inst->operands[i]);
        if (param && inst->operands[1 - i]->kind != IR_VALUE_CONST)
            w->result->params[param->index].number = w->numbers[param->index];
    }
}

static void known_params(struct access_walk *w)
{
    if (w->numbers) ir_walk(w->kernel->body, see_stride, w);
    for (uint32_t i = 0; i < w->kernel->n_params; i++) {
        ir_type type = w->kernel->params[i].value->type;
        struct affine *sum = &w->sums[access_value_number(w->kernel->params[i].value)];
        if (ir_type_is_ptr(type)) *sum = affine_constant(0);
        int64_t number = w->result->params[i].number;
        if (ir_type_is_int(type) && !ir_type_is_vector(type)) *sum = number ? affine_constant(number) : affine_param(i);
    }
}

static void see_need(struct ir_inst *inst, void *data)
{
    bool is_logic = inst->op == IR_OP_SELECT && ir_type_is_bool(inst->type);
    if (inst->op == IR_OP_CALL || inst->op == IR_OP_VAR || inst->op == IR_OP_LOOP || is_logic) *(bool *)data = true;
}

static void see_local(struct ir_inst *inst, void *data)
{
    struct access_analysis *a = data;
    const struct ir_global *g = inst->op == IR_OP_GLOBAL ? inst->attrs.global : NULL;
    if (!g || g->space != IR_SPACE_LOCAL) return;
    for (uint32_t i = 0; i < a->n_locals; i++)
        if (a->locals[i] == g) return;
    a->locals = arena_grow(a->arena, a->locals, a->n_locals, sizeof *a->locals);
    a->locals[a->n_locals++] = g;
    a->local_bytes += ir_type_size(a->kernel->module, g->type);
}

/* Calls hide accesses, variables hide pointers, short loops hide places, and choices between bools what a condition
   says: all are taken out, in a copy. */
static const struct ir_function *readable(struct access_analysis *a, const struct ir_function *kernel)
{
    bool hides_accesses = false;
    ir_walk(kernel->body, see_need, &hides_accesses);
    if (!hides_accesses) return kernel;
    a->copy = ir_module_new(kernel->module->name);
    struct ir_function *copy = ir_function_copy(a->copy, kernel, kernel->name);
    pipeline_run(&pipeline_analysis, copy);
    return copy;
}

static struct access_analysis *analysis_new(const struct ir_function *kernel)
{
    struct arena *arena = arena_new();
    struct access_analysis *a = arena_alloc(arena, sizeof *a);
    a->arena = arena;
    a->kernel = kernel;
    a->n_params = kernel->n_params;
    a->params = arena_alloc(arena, (kernel->n_params + 1) * sizeof *a->params);
    for (uint32_t i = 0; i < kernel->n_params; i++)
        a->has_pipes |= ir_type_kind(kernel->params[i].value->type) == IR_KIND_PIPE;
    return a;
}

static void analyse(struct access_analysis *a, const struct nd_range *range, uint32_t sub_group_size, bool small_memory,
                    const int64_t *numbers)
{
    ir_walk(a->kernel->body, see_local, a);

    struct access_walk w = {
        .result = a, .kernel = a->kernel, .range = *range, .small_memory = small_memory, .numbers = numbers};
    number_all(&w);
    bound_ids(&w);
    bound_sub_groups(&w, sub_group_size);
    w.sums = arena_realloc(NULL, w.n_values * sizeof *w.sums);
    for (uint32_t i = 0; i < w.n_values; i++) w.sums[i] = (struct affine){.known = false};
    known_params(&w);
    provenance_find(&w);
    walk_kernel(&w);
    deciding_find(&w);
    free(w.provenance);
    free(w.sums);
}

struct access_analysis *access_analyse(const struct ir_function *kernel, const struct nd_range *range,
                                       uint32_t sub_group_size, bool small_memory, const int64_t *numbers)
{
    struct access_analysis *a = analysis_new(kernel);
    a->kernel = readable(a, kernel);
    analyse(a, range, sub_group_size, small_memory, numbers);
    return a;
}

struct access_analysis *access_analyse_inlined(const struct ir_function *kernel, const struct nd_range *range,
                                               uint32_t sub_group_size, bool small_memory, const int64_t *numbers)
{
    struct access_analysis *a = analysis_new(kernel);
    analyse(a, range, sub_group_size, small_memory, numbers);
    return a;
}

void access_analysis_free(struct access_analysis *a)
{
    if (!a) return;
    ir_module_free(a->copy);
    arena_free(a->arena);
}
