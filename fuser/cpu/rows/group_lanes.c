/*
 * Work-groups as lanes. In a tree, as of sums over twice the distance each time, the work-items of a group access its
 * memory far from each other, and fewer of them each time. But work-items at the same place of several groups do the
 * same in each step. So here they are neighbours: a work-group has those of 16 groups in x,
 *
 *     if (l < d) part[b] += part[a];     becomes     if (y < d) part[16 * b + x] += part[16 * a + x];
 *
 * and an array of the group has 16 numbers in place of each. What a step's condition asks is the same for a vector
 * then, and each access is one of a whole register. Numbers that are neighbours in global memory along the group are so
 * along y, and come and go by tiles (work_group/tiles.c).
 */
#include "fuser/cpu/rows/group_lanes.h"

#include "fuser/cpu/prepare/group_operation.h"
#include "fuser/cpu/rows/joined.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"
#include "ir/core/edit.h"
#include "ir/core/facts.h"
#include "ir/core/layout.h"

/* ---- where it is possible ---- */

struct finder {
    struct joined between; /* what groups have in common */
    struct uniformity row; /* and neighbours in a group */
    uint64_t unit;         /* bytes of the numbers in work-group memory; 0: none seen */
    uint64_t now, then;    /* what accesses cost */
    bool waits, prevented;
};

static bool is_local(const struct ir_value *v)
{
    return ir_type_is_ptr(v->type) && ir_type_space(v->type) == IR_SPACE_LOCAL;
}

/* All numbers in work-group memory are of one size, which all distances are multiples of. */
static bool has_unit(struct finder *f, uint64_t bytes)
{
    if (!f->unit) f->unit = bytes;
    return f->unit == bytes;
}

static bool can_access(struct finder *f, const struct ir_inst *inst)
{
    if (inst->attrs.is_volatile || (inst->op == IR_OP_STORE && is_local(inst->operands[1]))) return false;
    if (!is_local(inst->operands[0])) return true;
    ir_type number = ir_type_with_lanes(inst->type, 1);
    return ir_type_is_number(number) && !ir_type_is_bool(number) &&
           has_unit(f, ir_type_size(f->between.kernel->module, number));
}

static bool can_step(struct finder *f, const struct ir_inst *inst)
{
    uint64_t bytes = ir_type_size(f->between.kernel->module, inst->type);
    return !is_local(inst->operands[0]) || (f->unit && bytes % f->unit == 0);
}

static bool can_compute(const struct ir_inst *inst)
{
    if (!(ir_op_info(inst->op)->flags & (IR_FLAG_PURE | IR_FLAG_TERMINATOR))) return false;
    if (ir_op_class(inst->op) == IR_CLASS_ND_RANGE) return false; /* one that place_of() does not know */
    for (uint32_t i = 0; i < inst->n_operands; i++)               /* an address that is looked at */
        if (is_local(inst->operands[i]) && inst->op != IR_OP_SELECT) return false;
    return true;
}

static bool is_possible(struct finder *f, const struct ir_inst *inst)
{
    switch (inst->op) {
    case IR_OP_IF:
    case IR_OP_LOOP:
    case IR_OP_YIELD:
    case IR_OP_BREAK:
    case IR_OP_CONTINUE:
    case IR_OP_GLOBAL:
    case IR_OP_VAR:
    case IR_OP_GLOBAL_ID:
    case IR_OP_LOCAL_ID:
    case IR_OP_GROUP_ID:
    case IR_OP_GLOBAL_SIZE:
    case IR_OP_LOCAL_SIZE:
    case IR_OP_ENQUEUED_LOCAL_SIZE:
    case IR_OP_NUM_GROUPS:
    case IR_OP_GLOBAL_OFFSET:
    case IR_OP_WORK_DIM: return true;
    case IR_OP_ELEM: return can_step(f, inst);
    case IR_OP_LOAD:
    case IR_OP_STORE: return can_access(f, inst);
    case IR_OP_BARRIER: f->waits = true; /* fallthrough */
    case IR_OP_RETURN: return !joined_is_in_difference(&f->between, inst);
    default: return can_compute(inst);
    }
}

static void see_unit(struct ir_inst *inst, void *data)
{
    struct finder *f = data;
    bool accesses = inst->op == IR_OP_LOAD || inst->op == IR_OP_STORE;
    if (accesses && is_local(inst->operands[0]) && !can_access(f, inst)) f->prevented = true;
}

static void see_obstacle(struct ir_inst *inst, void *data)
{
    struct finder *f = data;
    if (!is_possible(f, inst)) f->prevented = true;
}

/* ---- whether it pays ---- */

enum { SCALAR = 1, MOVE = 2, NEAR = 8, TURNED = 8, GATHER = 24, ROUNDS = 8, DEEPEST = 3, NEAR_WORDS = 4 };

static bool waits(const struct ir_block *block)
{
    for (const struct ir_inst *i = block->first; i; i = i->next)
        if (i->op == IR_OP_BARRIER || (i->blocks[0] && waits(i->blocks[0])) || (i->blocks[1] && waits(i->blocks[1])))
            return true;
    return false;
}

/* In a loop of the work-items' own, where there are no tiles. */
static bool is_in_own_loop(const struct ir_inst *inst)
{
    const struct ir_inst *loop = ir_enclosing_loop(inst);
    return loop && !waits(loop->blocks[0]);
}

static struct shape shape_of(const struct uniformity *u, const struct ir_value *v)
{
    return v->kind < IR_VALUE_PARAM ? (struct shape){SHAPE_UNIFORM, 0, false} : u->values[v->scratch];
}

static void see_cost(struct ir_inst *inst, void *data)
{
    struct finder *f = data;
    if (inst->op != IR_OP_LOAD && inst->op != IR_OP_STORE) return;
    struct shape along = shape_of(&f->row, inst->operands[0]);
    int64_t bytes = (int64_t)ir_type_size(f->between.kernel->module, inst->type);
    unsigned weight = ir_type_lanes(inst->type), depth = 0;
    for (const struct ir_inst *i = inst; depth < DEEPEST && (i = ir_enclosing_loop(i)); depth++) weight *= ROUNDS;
    bool even = along.kind == SHAPE_LINEAR, whole = even && along.stride == bytes;
    bool near = even && along.stride > 0 && along.stride <= NEAR_WORDS * bytes;
    unsigned plain = ir_type_lanes(inst->type) > 1 ? NEAR : MOVE;
    f->now += weight * (along.kind == SHAPE_UNIFORM ? SCALAR : whole ? plain : near ? NEAR : GATHER);
    if (is_local(inst->operands[0]) || along.kind == SHAPE_UNIFORM)
        f->then += weight * MOVE;
    else if (joined_is_same(&f->between, inst->operands[0]))
        f->then += weight * SCALAR;
    else
        f->then += weight * (whole && !is_in_own_loop(inst) ? TURNED : GATHER);
}

/* ---- what becomes of the kernel ---- */

struct maker {
    struct ir_function *kernel;
    const struct finder *found;
    uint32_t size[3]; /* of a work-group before */
    struct ir_value *lane;
};

static ir_type unit_type(uint64_t bytes)
{
    return bytes == 8 ? IR_I64 : bytes == 4 ? IR_I32 : bytes == 2 ? IR_I16 : IR_I8;
}

static struct ir_value *elem(struct ir_builder *b, ir_type type, struct ir_value *base, struct ir_value *index)
{
    struct ir_value *operands[2] = {base, index};
    return ir_build_ptr(b, IR_OP_ELEM, type, ir_type_space(base->type), operands, 2)->results[0];
}

/* 16 of them. */
static ir_type row_of(struct ir_module *m, ir_type type)
{
    return ir_array_type(m, type, LANE_GROUPS);
}

/* The numbers of an array of the group, of which each lane has its own. */
static void place_array(const struct maker *k, struct ir_inst *inst)
{
    const struct ir_global *of = inst->attrs.global;
    if (of->space != IR_SPACE_LOCAL) return;
    struct ir_global *rows = ir_global_new(k->kernel->module, of->name, of->space, row_of(k->kernel->module, of->type));
    rows->align = of->align > 64 ? of->align : 64;
    rows->linkage = of->linkage;
    struct ir_builder b = ir_builder_before(inst);
    struct ir_value *own = elem(&b, unit_type(k->found->unit), ir_build_global(&b, rows), k->lane);
    ir_replace_uses(k->kernel->body, inst->results[0], own);
    ir_inst_remove(inst);
}

/* Where number `i` of a vector is. */
static struct ir_value *number_at(struct ir_builder *b, const struct ir_inst *inst, unsigned i)
{
    ir_type row = row_of(b->module, ir_type_with_lanes(inst->type, 1));
    return i ? elem(b, row, inst->operands[0], ir_const_int(b->module, IR_I64, i)) : inst->operands[0];
}

static void split_load(const struct maker *k, struct ir_inst *inst)
{
    struct ir_builder b = ir_builder_before(inst);
    struct ir_value *numbers[IR_MAX_LANES];
    unsigned n = ir_type_lanes(inst->type);
    for (unsigned i = 0; i < n; i++)
        numbers[i] = ir_build_load(&b, ir_type_with_lanes(inst->type, 1), number_at(&b, inst, i), NULL);
    struct ir_value *all = ir_build(&b, IR_OP_VEC, inst->type, numbers, n)->results[0];
    ir_replace_uses(k->kernel->body, inst->results[0], all);
    ir_inst_remove(inst);
}

static void split_store(struct ir_inst *inst)
{
    struct ir_builder b = ir_builder_before(inst);
    for (unsigned i = 0; i < ir_type_lanes(inst->type); i++) {
        struct ir_value *lane = ir_const_int(b.module, IR_I32, i);
        struct ir_value *number = ir_build2(&b, IR_OP_EXTRACT, inst->type, inst->operands[1], lane);
        ir_build_store(&b, ir_type_with_lanes(inst->type, 1), number_at(&b, inst, i), NULL, number);
    }
    ir_inst_remove(inst);
}

static struct ir_value *group_id(const struct maker *k, struct ir_builder *b, unsigned dim)
{
    struct ir_value *first = ir_build_id(b, IR_OP_GROUP_ID, dim);
    return dim ? first : ir_build2(b, IR_OP_ADD, IR_I64, first, k->lane);
}

static struct ir_value *local_id(struct ir_builder *b, unsigned dim)
{
    return dim < 2 ? ir_build_id(b, IR_OP_LOCAL_ID, dim + 1) : ir_const_int(b->module, IR_I64, 0);
}

static struct ir_value *size_of(const struct maker *k, unsigned dim)
{
    return ir_const_int(k->kernel->module, IR_I64, k->size[dim]);
}

static struct ir_value *global_id(const struct maker *k, struct ir_builder *b, unsigned dim)
{
    struct ir_value *start = ir_build2(b, IR_OP_MUL, IR_I64, group_id(k, b, dim), size_of(k, dim));
    struct ir_value *at = ir_build2(b, IR_OP_ADD, IR_I64, start, local_id(b, dim));
    return ir_build2(b, IR_OP_ADD, IR_I64, at, ir_build_id(b, IR_OP_GLOBAL_OFFSET, dim));
}

/* What an id or a size of before is; NULL: it is none that changes. */
static struct ir_value *place_of(const struct maker *k, struct ir_builder *b, const struct ir_inst *inst)
{
    unsigned dim = inst->attrs.dim;
    switch (inst->op) {
    case IR_OP_GLOBAL_ID: return global_id(k, b, dim);
    case IR_OP_LOCAL_ID: return local_id(b, dim);
    case IR_OP_GROUP_ID: return group_id(k, b, dim);
    case IR_OP_LOCAL_SIZE:
    case IR_OP_ENQUEUED_LOCAL_SIZE: return size_of(k, dim);
    default: return NULL;
    }
}

static void make_block(const struct maker *k, struct ir_block *block);

static void make_inst(const struct maker *k, struct ir_inst *inst)
{
    struct ir_builder b = ir_builder_before(inst);
    struct ir_value *place = place_of(k, &b, inst);
    bool local = inst->n_operands && is_local(inst->operands[0]), vector = ir_type_lanes(inst->type) > 1;
    for (int i = 0; i < 2; i++)
        if (inst->blocks[i]) make_block(k, inst->blocks[i]);
    if (place) {
        ir_replace_uses(k->kernel->body, inst->results[0], place);
        ir_inst_remove(inst);
    } else if (inst->op == IR_OP_GLOBAL) {
        place_array(k, inst);
    } else if (local && inst->op == IR_OP_ELEM) {
        inst->type = row_of(b.module, inst->type);
    } else if (local && vector && inst->op == IR_OP_LOAD) {
        split_load(k, inst);
    } else if (local && vector && inst->op == IR_OP_STORE) {
        split_store(inst);
    }
}

static void make_block(const struct maker *k, struct ir_block *block)
{
    for (struct ir_inst *inst = block->first, *next; inst; inst = next) {
        next = inst->next;
        make_inst(k, inst);
    }
}

static void make(struct ir_function *kernel, const struct finder *found)
{
    struct maker k = {.kernel = kernel, .found = found};
    uint32_t *size = kernel->work_group_size;
    for (unsigned d = 0; d < 3; d++) k.size[d] = size[d];
    struct ir_builder first = ir_builder_before(kernel->body->first);
    struct ir_inst *begin = kernel->body->first;
    k.lane = ir_build_id(&first, IR_OP_LOCAL_ID, 0);
    for (struct ir_inst *inst = begin, *next; inst; inst = next) {
        next = inst->next;
        make_inst(&k, inst);
    }
    size[2] = size[1];
    size[1] = size[0];
    size[0] = LANE_GROUPS;
    pass_fold.run(kernel);
    pass_cse.run(kernel);
    pass_dce.run(kernel);
}

/* ---- the pass ---- */

/* Work-group memory of all that run as one stays in the nearest cache, and is all the group's own. */
static bool has_small_arrays(const struct ir_function *kernel)
{
    enum { MOST_BYTES = 64 << 10 };
    uint64_t bytes = 0;
    if (uses_local_params(kernel)) return false;
    for (uint32_t i = 0; i < kernel->module->n_globals; i++) {
        const struct ir_global *g = kernel->module->globals[i];
        if (g->space == IR_SPACE_LOCAL) bytes += ir_type_size(kernel->module, g->type);
    }
    return bytes && bytes * LANE_GROUPS <= MOST_BYTES;
}

static bool run_group_lanes(struct ir_function *kernel)
{
    enum { LEAST_GAIN = 2 };
    const uint32_t needed = IR_ASSUME_WHOLE_GROUPS | IR_ASSUME_LANE_GROUPS, *size = kernel->work_group_size;
    if ((kernel->assumes & needed) != needed || size[2] > 1 || uses_sub_groups(kernel) || !has_small_arrays(kernel))
        return false;
    struct finder f = {0};
    joined_begin(&f.between, kernel, TOGETHER_GROUPS);
    uniformity_find(&f.row, f.between.arena, kernel, TOGETHER_ROW);
    ir_walk(kernel->body, see_unit, &f);
    ir_walk(kernel->body, see_obstacle, &f);
    ir_walk(kernel->body, see_cost, &f);
    bool pays = f.waits && f.unit && !f.prevented && f.then * LEAST_GAIN <= f.now;
    if (pays) make(kernel, &f);
    joined_end(&f.between);
    return pays;
}

const struct pass pass_group_lanes = {"group_lanes", "work-items at the same place of 16 work-groups are neighbours",
                                      run_group_lanes};
