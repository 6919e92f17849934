/*
 * Private arrays that are only touched at constant places become a variable for each element, which may then become
 * a value.
 */
#include <stdlib.h>
#include <string.h>

#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"
#include "ir/base/arena.h"

enum { MAX_ELEMENTS = 64 };

struct split {
    struct ir_module *module;
    struct ir_inst **array; /* by number of a value: the array it is an address in */
    bool *refused;          /* by number of the array's address */
};

static const struct ir_array *array_of(const struct split *s, const struct ir_inst *var)
{
    if (var->op != IR_OP_VAR || ir_type_kind(var->type) != IR_KIND_ARRAY) return NULL;
    const struct ir_array *a = &s->module->arrays[ir_type_detail(var->type)];
    return a->count <= MAX_ELEMENTS && ir_type_is_number(a->element) ? a : NULL;
}

static bool is_element(const struct split *s, const struct ir_inst *elem, const struct ir_inst *var)
{
    uint64_t at;
    const struct ir_array *a = array_of(s, var);
    return elem->operands[0] == var->results[0] && elem->type == a->element && ir_value_uint(elem->operands[1], &at) &&
           at < a->count;
}

static void find_array(struct ir_inst *inst, void *data)
{
    struct split *s = data;
    if (array_of(s, inst)) s->array[inst->results[0]->scratch] = inst;
    struct ir_inst *var = inst->op == IR_OP_ELEM ? s->array[inst->operands[0]->scratch] : NULL;
    if (var && is_element(s, inst, var)) s->array[inst->results[0]->scratch] = var;
}

/* Whole loads and stores of an element. */
static void check_use(struct ir_inst *inst, void *data)
{
    struct split *s = data;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        struct ir_inst *var = s->array[inst->operands[i]->scratch];
        if (!var) continue;
        bool access = (inst->op == IR_OP_LOAD || inst->op == IR_OP_STORE) && i == 0;
        bool fine = access && !inst->attrs.is_volatile && pass_same_bits(array_of(s, var)->element, inst->type);
        if (inst->op == IR_OP_ELEM && i == 0 && s->array[inst->results[0]->scratch] == var) fine = true;
        if (!fine) s->refused[var->results[0]->scratch] = true;
    }
}

/* Its elements' addresses, in their order. */
static struct ir_value **make_variables(struct split *s, struct ir_inst *var)
{
    const struct ir_array *a = array_of(s, var);
    struct ir_builder b = ir_builder_before(var);
    struct ir_value **v = ir_alloc(s->module, a->count * sizeof(*v));
    for (uint64_t i = 0; i < a->count; i++)
        v[i] = ir_build_ptr(&b, IR_OP_VAR, a->element, IR_SPACE_PRIVATE, NULL, 0)->results[0];
    return v;
}

struct addresses {
    struct split *s;
    struct pass_map map;
    struct ir_value ***variables; /* by number of the array's address */
};

static void replace(struct ir_inst *inst, void *data)
{
    struct addresses *a = data;
    uint64_t at = 0;
    if (inst->op != IR_OP_VAR && inst->op != IR_OP_ELEM) return;
    uint32_t n = inst->results[0]->scratch;
    struct ir_inst *var = a->s->array[n];
    if (!var || a->s->refused[var->results[0]->scratch]) return;
    struct ir_value ***variables = &a->variables[var->results[0]->scratch];
    if (inst == var) *variables = make_variables(a->s, var);
    if (inst != var) ir_value_uint(inst->operands[1], &at);
    pass_map_set(&a->map, inst->results[0], (*variables)[at]);
    ir_inst_remove(inst);
}

static void *zeroed(size_t n, size_t size)
{
    return memset(arena_realloc(NULL, n * size), 0, n * size);
}

static bool run_sroa(struct ir_function *f)
{
    uint32_t n = pass_number(f);
    struct split s = {f->module, zeroed(n, sizeof *s.array), zeroed(n, sizeof *s.refused)};
    bool found = false;
    ir_walk(f->body, find_array, &s);
    ir_walk(f->body, check_use, &s);
    for (uint32_t i = 1; i < n; i++) found |= s.array[i] && !s.refused[s.array[i]->results[0]->scratch];
    if (found) {
        struct addresses a = {.s = &s, .variables = zeroed(n, sizeof *a.variables)};
        pass_map_init(&a.map, f); /* the same numbers again */
        ir_walk(f->body, replace, &a);
        pass_map_all(&a.map, f);
        pass_map_clear(&a.map);
        free(a.variables);
    }
    free(s.array);
    free(s.refused);
    return found;
}

const struct pass pass_sroa = {"sroa", "private arrays become variables", run_sroa};
