/* Group and sub-group operations of random kernels. */
#include "tests/support/random_groups.h"

#include "tests/support/random_control.h"

enum { MOST_IDS = 128 }; /* bits of a ballot */

static uint32_t below(struct steps *k, uint32_t n)
{
    return rng_below(&k->g.rng, n);
}

static bool chance(struct steps *k, uint32_t percent)
{
    return rng_chance(&k->g.rng, percent);
}

static struct ir_value *i32(struct steps *k, uint64_t v)
{
    return ir_const_int(k->g.m, IR_I32, v);
}

static struct ir_value *op2(struct steps *k, enum ir_op op, ir_type t, struct ir_value *x, struct ir_value *y)
{
    return ir_build2(&k->g.b, op, t, x, y);
}

static struct ir_value *query(struct steps *k, enum ir_op op)
{
    return ir_build0(&k->g.b, op, IR_VOID);
}

/* So that each result shows in the end, whatever becomes of it. */
static struct ir_value *see(struct steps *k, struct ir_value *v)
{
    if (!k->seen || !v) return v;
    struct ir_builder *b = &k->g.b;
    struct ir_value *x = v;
    if (ir_type_is_vector(x->type)) x = op2(k, IR_OP_EXTRACT, x->type, x, i32(k, below(k, ir_type_lanes(x->type))));
    x = ir_type_is_bool(x->type) ? ir_build1(b, IR_OP_ZEXT, IR_I64, x) : steps_convert(k, x, IR_I64);
    struct ir_value *sum =
        op2(k, IR_OP_MUL, IR_I64, ir_build_load(b, IR_I64, k->seen, NULL), ir_const_int(k->g.m, IR_I64, 3));
    ir_build_store(b, IR_I64, k->seen, NULL, op2(k, IR_OP_ADD, IR_I64, sum, x));
    return v;
}

static struct ir_inst *collective(struct steps *k, enum ir_op op, enum ir_scope scope, ir_type t, struct ir_value *x)
{
    struct ir_value *r = steps_emit(k, op, t, &x, 1);
    r->of.inst->attrs.scope = scope;
    return r->of.inst;
}

/* ---- the active work-items ---- */

/* Is the work-item with that id of the sub-group active here? Others' values are undefined. */
static struct ir_value *is_active(struct steps *k, struct ir_value *id, bool whole)
{
    if (whole) return op2(k, IR_OP_ULT, IR_I32, id, query(k, IR_OP_SUB_GROUP_SIZE));
    struct ir_value *all = ir_build1(&k->g.b, IR_OP_SUB_GROUP_BALLOT, IR_VOID, ir_const_bool(k->g.m, true));
    struct ir_value *at = op2(k, IR_OP_AND, IR_I32, id, i32(k, MOST_IDS - 1));
    struct ir_value *word = op2(k, IR_OP_EXTRACT, all->type, all, op2(k, IR_OP_LSHR, IR_I32, at, i32(k, 5)));
    struct ir_value *bit = op2(k, IR_OP_AND, IR_I32, op2(k, IR_OP_LSHR, IR_I32, word, at), i32(k, 1));
    struct ir_value *set = op2(k, IR_OP_INE, IR_I32, bit, i32(k, 0));
    return op2(k, IR_OP_AND, IR_BOOL, set, op2(k, IR_OP_ULT, IR_I32, id, i32(k, MOST_IDS)));
}

/* An id or a distance: the same for all, or each its own. */
static struct ir_value *some_number(struct steps *k, uint32_t most, bool same)
{
    if (same || chance(k, 40)) return i32(k, below(k, most));
    return op2(k, IR_OP_AND, IR_I32, steps_value(k, IR_I32), i32(k, most - 1));
}

/* The id from which a shuffle by x takes its value. */
static struct ir_value *source(struct steps *k, enum ir_op op, struct ir_value *x)
{
    struct ir_value *id = query(k, IR_OP_SUB_GROUP_LOCAL_ID), *max = query(k, IR_OP_SUB_GROUP_MAX_SIZE), *sum;
    switch (op) {
    case IR_OP_SUB_GROUP_SHUFFLE: return x;
    case IR_OP_SUB_GROUP_SHUFFLE_XOR: return op2(k, IR_OP_XOR, IR_I32, id, x);
    case IR_OP_SUB_GROUP_ROTATE:
        return op2(k, IR_OP_UREM, IR_I32, op2(k, IR_OP_ADD, IR_I32, id, x), query(k, IR_OP_SUB_GROUP_SIZE));
    case IR_OP_SUB_GROUP_SHUFFLE_UP:
        sum = op2(k, IR_OP_SUB, IR_I32, id, x);
        return ir_build3(&k->g.b, IR_OP_SELECT, IR_I32, op2(k, IR_OP_UGE, IR_I32, id, x), sum,
                         op2(k, IR_OP_ADD, IR_I32, sum, max));
    default:
        sum = op2(k, IR_OP_ADD, IR_I32, id, x);
        return ir_build3(&k->g.b, IR_OP_SELECT, IR_I32, op2(k, IR_OP_ULT, IR_I32, sum, max), sum,
                         op2(k, IR_OP_SUB, IR_I32, sum, max));
    }
}

static void shuffle(struct steps *k, bool whole)
{
    enum ir_op op = IR_OP_SUB_GROUP_SHUFFLE + below(k, 5);
    bool two = op == IR_OP_SUB_GROUP_SHUFFLE_UP || op == IR_OP_SUB_GROUP_SHUFFLE_DOWN;
    ir_type t = chance(k, 5) ? IR_BOOL : steps_type(k);
    struct ir_value *v = steps_value(k, t), *w = two && chance(k, 70) ? steps_value(k, t) : v;
    struct ir_value *x = some_number(k, 64, op == IR_OP_SUB_GROUP_ROTATE);
    struct ir_value *operands[3] = {v, two ? w : x, x};
    struct ir_value *there = is_active(k, source(k, op, x), whole);
    struct ir_value *got = ir_build(&k->g.b, op, t, operands, two ? 3 : 2)->results[0];
    see(k, steps_emit(k, IR_OP_SELECT, t, (struct ir_value *[]){there, got, v}, 3));
}

static void vote(struct steps *k)
{
    struct ir_value *c;
    switch (below(k, 3)) {
    case 0: see(k, steps_emit(k, IR_OP_SUB_GROUP_ELECT, IR_VOID, NULL, 0)); break;
    case 1:
        c = steps_condition(k);
        see(k, steps_emit(k, IR_OP_SUB_GROUP_BALLOT, IR_VOID, &c, 1));
        break;
    default:
        c = steps_value(k, chance(k, 70) ? steps_scalar(k) : steps_type(k));
        see(k, steps_emit(k, IR_OP_SUB_GROUP_ALL_EQUAL, c->type, &c, 1));
    }
}

static void active(struct steps *k, bool whole)
{
    if (chance(k, 70)) {
        shuffle(k, whole);
    } else {
        vote(k);
    }
}

void groups_active(struct steps *k)
{
    active(k, false);
}

/* ---- operations of a whole group ---- */

/* Which zero is the smaller one differs between implementations, so there is only one of them. */
static struct ir_value *without_minus_zero(struct steps *k, struct ir_value *x)
{
    return op2(k, IR_OP_FADD, x->type, x, ir_const_float(k->g.m, x->type, 0));
}

static void reduce(struct steps *k, enum ir_scope scope)
{
    static const uint8_t of_floats[] = {IR_GROUP_ADD, IR_GROUP_MUL, IR_GROUP_SMIN, IR_GROUP_SMAX};
    ir_type t = chance(k, 80) ? steps_scalar(k) : steps_type(k);
    struct ir_value *x = steps_value(k, t);
    bool is_float = ir_type_is_float(t);
    enum ir_group_op op = is_float ? of_floats[below(k, 4)] : below(k, IR_GROUP_XOR + 1);
    if (is_float && op >= IR_GROUP_SMIN) x = without_minus_zero(k, x);
    struct ir_inst *inst = collective(k, IR_OP_GROUP_REDUCE + below(k, 3), scope, t, x);
    inst->attrs.group_op = op;
    see(k, inst->results[0]);
}

static struct ir_value *local_size(struct steps *k, unsigned dim)
{
    return ir_build_id(&k->g.b, IR_OP_LOCAL_SIZE, dim);
}

/* The id of a work-item: one number in a sub-group, up to three in a work-group. */
static uint32_t some_id(struct steps *k, enum ir_scope scope, struct ir_value *ids[3])
{
    if (scope == IR_SCOPE_SUB_GROUP) {
        struct ir_value *x = i32(k, below(k, 64));
        if (chance(k, 30)) x = op2(k, IR_OP_ADD, IR_I32, x, query(k, IR_OP_SUB_GROUP_ID));
        ids[0] = op2(k, IR_OP_UREM, IR_I32, x, query(k, IR_OP_SUB_GROUP_SIZE));
        return 1;
    }
    uint32_t n = 1 + below(k, 3);
    for (uint32_t d = 0; d < n; d++)
        ids[d] = op2(k, IR_OP_UREM, IR_I64, ir_const_int(k->g.m, IR_I64, below(k, 64)), local_size(k, d));
    return n;
}

static void broadcast(struct steps *k, enum ir_scope scope)
{
    ir_type t = steps_type(k);
    struct ir_value *operands[4] = {steps_value(k, t)};
    uint32_t n = 1 + some_id(k, scope, operands + 1);
    struct ir_value *r = steps_emit(k, IR_OP_GROUP_BROADCAST, t, operands, n);
    r->of.inst->attrs.scope = scope;
    see(k, r);
}

static struct ir_value *any_or_all(struct steps *k, enum ir_scope scope)
{
    struct ir_value *c = steps_condition(k);
    return collective(k, chance(k, 50) ? IR_OP_GROUP_ALL : IR_OP_GROUP_ANY, scope, IR_VOID, c)->results[0];
}

static struct ir_value *group_volume(struct steps *k)
{
    return op2(k, IR_OP_MUL, IR_I64, op2(k, IR_OP_MUL, IR_I64, local_size(k, 0), local_size(k, 1)), local_size(k, 2));
}

/* The place of the work-item `distance` further on, of the group or the sub-group, as a linear local id. */
static struct ir_value *neighbour(struct steps *k, enum ir_scope scope, struct ir_value *own, uint32_t distance)
{
    if (scope == IR_SCOPE_WORK_GROUP) {
        struct ir_value *sum = op2(k, IR_OP_ADD, IR_I64, own, ir_const_int(k->g.m, IR_I64, distance));
        return op2(k, IR_OP_UREM, IR_I64, sum, group_volume(k));
    }
    struct ir_value *id = query(k, IR_OP_SUB_GROUP_LOCAL_ID);
    struct ir_value *sum = op2(k, IR_OP_ADD, IR_I32, id, i32(k, distance));
    struct ir_value *there = op2(k, IR_OP_UREM, IR_I32, sum, query(k, IR_OP_SUB_GROUP_SIZE));
    struct ir_value *step = ir_build1(&k->g.b, IR_OP_SEXT, IR_I64, op2(k, IR_OP_SUB, IR_I32, there, id));
    return op2(k, IR_OP_ADD, IR_I64, own, step);
}

void groups_exchange(struct steps *k, enum ir_scope scope)
{
    ir_type t = k->args[k->local].type;
    struct ir_value *memory = k->f->params[k->local].value, *own = query(k, IR_OP_LOCAL_LINEAR_ID);
    ir_build_store(&k->g.b, t, memory, own, steps_value(k, t));
    steps_barrier(k, scope);
    struct ir_value *other = neighbour(k, scope, own, 1 + below(k, 4));
    see(k, gen_define(&k->g, ir_build_load(&k->g.b, t, memory, other)));
    steps_barrier(k, scope);
}

/* ---- blocks ---- */

static struct ir_value *flat(struct steps *k, struct ir_value *row, enum ir_op size, enum ir_op id, unsigned dim)
{
    struct ir_value *rows = op2(k, IR_OP_MUL, IR_I64, row, ir_build_id(&k->g.b, size, dim));
    return op2(k, IR_OP_ADD, IR_I64, rows, ir_build_id(&k->g.b, id, dim));
}

/* Where the sub-group's own part of a buffer begins. */
static struct ir_value *own_block(struct steps *k, uint32_t arg)
{
    struct ir_builder *b = &k->g.b;
    struct ir_value *group = ir_build_id(b, IR_OP_GROUP_ID, 2);
    group = flat(k, group, IR_OP_NUM_GROUPS, IR_OP_GROUP_ID, 1);
    group = flat(k, group, IR_OP_NUM_GROUPS, IR_OP_GROUP_ID, 0);
    struct ir_value *each = ir_build1(b, IR_OP_ZEXT, IR_I64, query(k, IR_OP_ENQUEUED_NUM_SUB_GROUPS));
    struct ir_value *id = ir_build1(b, IR_OP_ZEXT, IR_I64, query(k, IR_OP_SUB_GROUP_ID));
    id = op2(k, IR_OP_ADD, IR_I64, op2(k, IR_OP_MUL, IR_I64, group, each), id);
    struct ir_value *size = ir_build1(b, IR_OP_ZEXT, IR_I64, query(k, IR_OP_SUB_GROUP_MAX_SIZE));
    size = op2(k, IR_OP_MUL, IR_I64, size, ir_const_int(k->g.m, IR_I64, GROUPS_BLOCK));
    return op2(k, IR_OP_ELEM, k->args[arg].type, k->f->params[arg].value, op2(k, IR_OP_MUL, IR_I64, id, size));
}

static void block(struct steps *k)
{
    static const uint8_t lanes[] = {1, 2, 4, 8, 16};
    bool write = chance(k, 50);
    uint32_t arg = write ? k->block_out : k->block_in;
    ir_type t = ir_type_with_lanes(k->args[arg].type, lanes[below(k, sizeof lanes)]);
    struct ir_value *operands[2] = {NULL, write ? steps_value(k, t) : NULL};
    operands[0] = own_block(k, arg);
    if (write)
        ir_build(&k->g.b, IR_OP_BLOCK_WRITE, t, operands, 2);
    else
        see(k, steps_emit(k, IR_OP_BLOCK_READ, t, operands, 1));
}

static void any_operation(struct steps *k, enum ir_scope scope)
{
    switch (below(k, 8)) {
    case 0 ... 3: reduce(k, scope); break;
    case 4: broadcast(k, scope); break;
    case 5: see(k, any_or_all(k, scope)); break;
    case 6: groups_exchange(k, scope); break;
    default: steps_barrier(k, scope);
    }
}

void groups_sub_group(struct steps *k)
{
    if (chance(k, 25)) {
        block(k);
    } else if (chance(k, 20)) {
        active(k, true);
    } else {
        any_operation(k, IR_SCOPE_SUB_GROUP);
    }
}

void groups_work_group(struct steps *k)
{
    any_operation(k, IR_SCOPE_WORK_GROUP);
}

/* ---- the same for all ---- */

/* A number that needs nobody to say it. */
static struct ir_value *uniform_number(struct steps *k, enum ir_scope scope)
{
    struct ir_builder *b = &k->g.b;
    if (scope == IR_SCOPE_SUB_GROUP && chance(k, 60)) return query(k, IR_OP_SUB_GROUP_ID);
    unsigned dim = below(k, 3);
    return ir_build1(b, IR_OP_ITRUNC, IR_I32, ir_build_id(b, chance(k, 70) ? IR_OP_GROUP_ID : IR_OP_LOCAL_SIZE, dim));
}

/* One that all of the scope make together. */
static struct ir_value *common_number(struct steps *k, enum ir_scope scope)
{
    struct ir_value *x = steps_value(k, IR_I32);
    if (scope == IR_SCOPE_SUB_GROUP && chance(k, 40)) {
        struct ir_value *operands[4] = {x}, *r;
        some_id(k, scope, operands + 1);
        r = steps_emit(k, IR_OP_GROUP_BROADCAST, IR_I32, operands, 2);
        r->of.inst->attrs.scope = scope;
        return r;
    }
    return collective(k, IR_OP_GROUP_REDUCE, scope, IR_I32, x)->results[0];
}

static struct ir_value *same_number(struct steps *k, enum ir_scope scope)
{
    return chance(k, 60) ? uniform_number(k, scope) : common_number(k, scope);
}

/* Is the group, or the sub-group, a complete one? */
static struct ir_value *is_complete(struct steps *k, enum ir_scope scope)
{
    if (scope == IR_SCOPE_SUB_GROUP)
        return op2(k, IR_OP_IEQ, IR_I32, query(k, IR_OP_SUB_GROUP_SIZE), query(k, IR_OP_SUB_GROUP_MAX_SIZE));
    return op2(k, IR_OP_IEQ, IR_I64, local_size(k, 0), ir_build_id(&k->g.b, IR_OP_ENQUEUED_LOCAL_SIZE, 0));
}

struct ir_value *groups_condition(struct steps *k, enum ir_scope scope)
{
    uint32_t choice = below(k, 10);
    if (choice < 3) return any_or_all(k, scope);
    if (choice < 4) return is_complete(k, scope);
    struct ir_value *bit = op2(k, IR_OP_AND, IR_I32, same_number(k, scope), i32(k, 1 + below(k, 3)));
    return op2(k, IR_OP_IEQ, IR_I32, bit, i32(k, 0));
}

struct ir_value *groups_rounds(struct steps *k, enum ir_scope scope)
{
    if (chance(k, 40)) return i32(k, 1 + below(k, 3));
    struct ir_value *n = op2(k, IR_OP_AND, IR_I32, same_number(k, scope), i32(k, 3));
    return op2(k, IR_OP_ADD, IR_I32, n, i32(k, 1));
}
