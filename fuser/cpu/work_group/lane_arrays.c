/*
 * Private arrays of which work-items access the same elements together. An array whose indices are the same for all
 * work-items of a row, as the sums that a work-item of a matrix product keeps, lies element by element:
 *
 *     element 0 of work-items 0, 1, 2 ...; element 1 of work-items 0, 1, 2 ...
 *
 * so that accesses are vector moves. Else each work-item's lies in one piece, and lanes would be gathered from places
 * as far apart as an array is long.
 *
 * On the stack there are as many work-items as lanes; in memory of a work-group all of its own, whatever vectors they
 * run in. There elements begin an odd number of cache lines apart: with a power of two between them they would have few
 * places in the cache.
 */
#include "fuser/cpu/work_group/lane_arrays.h"

#include "ir/core/edit.h"
#include "ir/core/facts.h"

enum { LINE_BYTES = 64 };

static struct ir_module *module_of(const struct ir_inst *inst)
{
    return inst->parent->function->module;
}

/* ---- which arrays ---- */

struct finder {
    struct ir_module *module;
    const struct uniformity *rows;
    struct ir_inst **array; /* by number of a value: the array it is an address in */
};

static struct ir_inst *array_of(const struct finder *f, const struct ir_value *v)
{
    return v->kind == IR_VALUE_RESULT ? f->array[v->scratch] : NULL;
}

static bool is_uniform(const struct finder *f, const struct ir_value *v)
{
    return v->kind < IR_VALUE_PARAM || f->rows->values[v->scratch].kind == SHAPE_UNIFORM;
}

static bool is_array_of_numbers(const struct finder *f, const struct ir_inst *var)
{
    ir_type leaf = private_array_leaf(f->module, var->type);
    return var->op == IR_OP_VAR && leaf != var->type && ir_type_is_number(leaf);
}

/* An element, or a row of an array of arrays, that all work-items of a row take together. */
static bool is_element(const struct finder *f, const struct ir_inst *elem, const struct ir_inst *var)
{
    ir_type leaf = private_array_leaf(f->module, elem->type);
    return elem->op == IR_OP_ELEM && leaf == private_array_leaf(f->module, var->type) &&
           is_uniform(f, elem->operands[1]);
}

static bool is_access(const struct finder *f, const struct ir_inst *inst, const struct ir_inst *var)
{
    if ((inst->op != IR_OP_LOAD && inst->op != IR_OP_STORE) || inst->attrs.is_volatile) return false;
    if (inst->op == IR_OP_STORE && array_of(f, inst->operands[1])) return false;
    return inst->type == private_array_leaf(f->module, var->type);
}

/* What it begins with: all of it, from a constant. */
static bool is_initial(const struct finder *f, const struct ir_inst *copy, const struct ir_inst *var)
{
    uint64_t n;
    const struct ir_value *from = copy->op == IR_OP_COPY ? copy->operands[1] : NULL;
    const struct ir_inst *global = from && from->kind == IR_VALUE_RESULT ? from->of.inst : NULL;
    if (!global || global->op != IR_OP_GLOBAL || global->attrs.global->space != IR_SPACE_CONSTANT) return false;
    if (copy->operands[0] != var->results[0] || copy->attrs.is_volatile) return false;
    return ir_value_uint(copy->operands[2], &n) &&
           n * ir_type_size(f->module, copy->type) == ir_type_size(f->module, var->type);
}

static void see_array(struct ir_inst *inst, void *data)
{
    struct finder *f = data;
    if (inst->op == IR_OP_VAR) inst->attrs.index = 0;
    if (is_array_of_numbers(f, inst)) {
        f->array[inst->results[0]->scratch] = inst;
        inst->attrs.index = 1;
    }
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        struct ir_inst *var = array_of(f, inst->operands[i]);
        if (!var) continue;
        bool element = i == 0 && is_element(f, inst, var);
        if (element) f->array[inst->results[0]->scratch] = var;
        if (!element && !is_access(f, inst, var) && !is_initial(f, inst, var)) var->attrs.index = 0;
    }
}

/* ---- where they lie ---- */

struct placing {
    const struct ir_function *kernel;
    unsigned width;
    bool of_group;
};

static void place(struct ir_inst *inst, void *data)
{
    const struct placing *p = data;
    if (inst->op != IR_OP_VAR || !inst->attrs.index) return;
    if (p->of_group && inst->parent != p->kernel->body) inst->attrs.index = 0; /* it may be on the stack all the same */
    if (!inst->attrs.index) return;
    uint64_t bytes = ir_type_size(module_of(inst), private_array_leaf(module_of(inst), inst->type));
    uint64_t lines = (private_group_items(p->kernel) * bytes + LINE_BYTES - 1) / LINE_BYTES | 1;
    inst->attrs.index = p->of_group ? (uint32_t)(lines * LINE_BYTES / bytes) : p->width;
}

/* ---- what they begin with ---- */

static bool is_zero(const struct ir_module *module, const struct ir_global *g)
{
    uint64_t bytes = g->init ? ir_type_size(module, g->type) : 0;
    for (uint64_t i = 0; i < bytes; i++)
        if (g->init[i]) return false;
    return !g->n_addresses;
}

static struct ir_value *initial_element(struct ir_builder *b, ir_type leaf, struct ir_value *from, struct ir_value *i)
{
    static const uint64_t zero[1];
    const struct ir_global *g = from->of.inst->attrs.global;
    if (is_zero(b->module, g)) return ir_const(b->module, leaf, zero);
    struct ir_value *v = ir_build_load(b, leaf, from, i);
    uint32_t own = ir_type_align(b->module, g->type), align = g->align > own ? g->align : own;
    if (align < ir_type_align(b->module, leaf)) v->of.inst->attrs.align = align;
    return v;
}

/* Element by element. */
static void begin_with(struct ir_inst *inst, void *data)
{
    const struct ir_value *to = inst->op == IR_OP_COPY ? inst->operands[0] : NULL;
    const struct ir_inst *var = to && to->kind == IR_VALUE_RESULT ? to->of.inst : NULL;
    if (!var || var->op != IR_OP_VAR || !var->attrs.index) return;
    (void)data;
    struct ir_builder b = ir_builder_before(inst);
    ir_type leaf = private_array_leaf(b.module, var->type);
    uint64_t n = ir_type_size(b.module, var->type) / ir_type_size(b.module, leaf);
    struct ir_value *zero = ir_const_int(b.module, IR_I32, 0), *one = ir_const_int(b.module, IR_I32, 1);
    struct ir_inst *loop = ir_build_loop(&b, &zero, 1, NULL, 0);
    struct ir_builder in = ir_builder_at_end(loop->blocks[0]);
    struct ir_value *i = loop->blocks[0]->args[0], *next;
    ir_build_store(&in, leaf, inst->operands[0], i, initial_element(&in, leaf, inst->operands[1], i));
    next = ir_build2(&in, IR_OP_ADD, IR_I32, i, one);
    struct ir_value *more = ir_build2(&in, IR_OP_ULT, IR_I32, next, ir_const_int(b.module, IR_I32, n));
    struct ir_inst *goes_on = ir_build_if(&in, more, NULL, 0);
    struct ir_builder yes = ir_builder_at_end(goes_on->blocks[0]), no = ir_builder_at_end(goes_on->blocks[1]);
    ir_build(&yes, IR_OP_CONTINUE, IR_VOID, &next, 1);
    ir_build(&no, IR_OP_YIELD, IR_VOID, NULL, 0);
    ir_build(&in, IR_OP_BREAK, IR_VOID, NULL, 0);
    ir_inst_remove(inst);
}

static void forget(struct ir_inst *inst, void *data)
{
    (void)data;
    if (inst->op == IR_OP_VAR) inst->attrs.index = 0;
}

void lane_arrays_place(struct arena *arena, struct ir_function *kernel, unsigned width, bool of_group)
{
    struct uniformity rows;
    struct placing p = {kernel, width, of_group};
    ir_walk(kernel->body, forget, NULL);
    if (width == 1 || (of_group && !private_group_items(kernel))) return;
    uniformity_find(&rows, arena, kernel, TOGETHER_ROW);
    struct finder f = {
        .module = kernel->module, .rows = &rows, .array = arena_alloc(arena, (rows.n_values + 1) * sizeof *f.array)};
    ir_walk(kernel->body, see_array, &f);
    ir_walk(kernel->body, place, &p);
    ir_walk(kernel->body, begin_with, NULL);
}
