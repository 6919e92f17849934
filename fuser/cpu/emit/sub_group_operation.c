/*
 * Operations of a sub-group. Its work-items are the lanes of one vector: all of them execute an operation together, and
 * the active ones are the lanes that run.
 */
#include "fuser/cpu/emit/sub_group_operation.h"

#include "fuser/cpu/emit/ids.h"
#include "fuser/cpu/emit/memory.h"
#include "fuser/cpu/emit/reduction.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/lower/permute.h"
#include "fuser/cpu/simd/mask.h"
#include "fuser/cpu/simd/spill.h"

/* ---- numbers ---- */

static struct lanes as_u32(struct emit *e, rval v)
{
    return lanes_uniform(IR_KIND_I32, jit_read(jit_keep(e, jit_cast(e, v, jit_type(e, IR_KIND_I32)))));
}

static rval sub_groups_of(struct emit *e, rval items)
{
    rval up = jit_add(e, items, jit_u64(e, e->width - 1));
    return jit_binary(e, GCC_JIT_BINARY_OP_DIVIDE, up, jit_u64(e, e->width));
}

static struct lanes lane_numbers(struct emit *e)
{
    return lanes_linear(IR_KIND_I32, jit_int(e, IR_KIND_I32, 0), e->width > 1);
}

/* Work-items of this sub-group: fewer than lanes only in the last one, where rows end with the work-group. */
static struct lanes items_here(struct emit *e)
{
    return as_u32(e, jit_min(e, ids_items_left(e), jit_u64(e, e->width)));
}

static struct lanes emit_number(struct emit *e, const struct ir_inst *inst)
{
    const struct work_item_ids *p = e->ids;
    switch (inst->op) {
    case IR_OP_SUB_GROUP_SIZE: return items_here(e);
    case IR_OP_SUB_GROUP_MAX_SIZE: return lanes_int(e, IR_KIND_I32, e->width);
    case IR_OP_NUM_SUB_GROUPS: return as_u32(e, sub_groups_of(e, p->items));
    case IR_OP_ENQUEUED_NUM_SUB_GROUPS: {
        rval items = jit_mul(e, jit_mul(e, p->local_size[0], p->local_size[1]), p->local_size[2]);
        return as_u32(e, sub_groups_of(e, items));
    }
    case IR_OP_SUB_GROUP_ID:
        return as_u32(e, jit_binary(e, GCC_JIT_BINARY_OP_DIVIDE, ids_local_linear(e), jit_u64(e, e->width)));
    default: return lane_numbers(e);
    }
}

/* ---- votes ---- */

static struct mask running_where(struct emit *e, const struct lanes *condition)
{
    return mask_and(e, e->exec, mask_of(e, condition));
}

static struct lanes vote_any(struct emit *e, const struct lanes *x)
{
    if (x->shape != SHAPE_VARYING) return *x;
    return lanes_uniform(IR_KIND_BOOL, mask_any(e, running_where(e, x)));
}

static struct lanes vote_all(struct emit *e, const struct lanes *x)
{
    if (x->shape != SHAPE_VARYING) return *x;
    rval not = mask_any(e, mask_and_not(e, e->exec, mask_of(e, x)));
    return lanes_uniform(IR_KIND_BOOL, jit_not(e, not ));
}

/* One bit for each lane that runs. */
static rval running_bits(struct emit *e)
{
    return e->width == 1 ? jit_u64(e, 1) : mask_bits(e, e->exec);
}

static rval first_running(struct emit *e)
{
    if (!e->exec.chunk) return jit_u64(e, 0);
    rval bits = jit_cast(e, running_bits(e), jit_c(e, GCC_JIT_TYPE_UNSIGNED_LONG));
    rval first = jit_cast(e, jit_builtin(e, "__builtin_ctzl", 1, &bits), jit_type(e, IR_KIND_I64));
    /* Where none is active nobody reads the result, but the number must be that of a lane. */
    return jit_read(jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, first, jit_u64(e, e->width - 1))));
}

static struct lanes elect(struct emit *e)
{
    if (e->width == 1) return lanes_int(e, IR_KIND_BOOL, 1);
    return op2(e, IR_OP_IEQ, IR_KIND_BOOL, lane_numbers(e), as_u32(e, first_running(e)));
}

static void ballot(struct emit *e, const struct lanes *x, struct lanes *result)
{
    rval bits;
    if (e->width > 1 && x->shape == SHAPE_VARYING)
        bits = mask_bits(e, running_where(e, x));
    else
        bits = jit_select(e, x->scalar, running_bits(e), jit_u64(e, 0));
    bits = jit_read(jit_keep(e, bits));
    result[0] = as_u32(e, bits);
    result[1] = as_u32(e, jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, bits, jit_u64(e, 32)));
    result[2] = result[3] = lanes_int(e, IR_KIND_I32, 0);
}

/* ---- values of other lanes ---- */

/* Bools have no place in memory as they are. */
static struct lanes as_stored(struct emit *e, struct lanes v)
{
    if (v.kind == IR_KIND_PTR) v.kind = IR_KIND_I64;
    return v.kind == IR_KIND_BOOL ? op1(e, IR_OP_ZEXT, IR_KIND_I8, v) : v;
}

static struct lanes from_stored(struct emit *e, enum ir_kind kind, struct lanes v)
{
    if (kind == IR_KIND_BOOL) return op2(e, IR_OP_INE, IR_KIND_BOOL, v, lanes_int(e, IR_KIND_I8, 0));
    v.kind = kind;
    return v;
}

/* The value of one lane; lane < width. */
static struct lanes of_lane(struct emit *e, const struct lanes *v, rval lane)
{
    if (v->shape == SHAPE_UNIFORM) return *v;
    struct lanes x = as_stored(e, *v);
    rval picked = jit_read(jit_keep(e, spilled_lane(e, spill_lanes(e, &x), lane)));
    return from_stored(e, v->kind, lanes_uniform(x.kind, picked));
}

static struct lanes all_equal(struct emit *e, const struct ir_inst *inst)
{
    const struct lanes *v = emit_value(e, inst->operands[0]);
    enum ir_op equal = ir_type_is_float(inst->type) ? IR_OP_FOEQ : IR_OP_IEQ;
    struct lanes same = lanes_int(e, IR_KIND_BOOL, 1);
    rval first = first_running(e);
    for (unsigned c = 0; c < ir_type_lanes(inst->type); c++) {
        struct lanes here = op2(e, equal, IR_KIND_BOOL, v[c], of_lane(e, &v[c], first));
        same = op2(e, IR_OP_AND, IR_KIND_BOOL, same, here);
    }
    return vote_all(e, &same);
}

/* The number of the lane that an operand names; out of range it is that of any lane. */
static rval named_lane(struct emit *e, const struct lanes *id)
{
    rval lane = jit_cast(e, lanes_get(e, id, 0), jit_type(e, IR_KIND_I64));
    return jit_read(jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, lane, jit_u64(e, e->width - 1))));
}

static struct lanes broadcast(struct emit *e, const struct lanes *v, const struct lanes *id)
{
    return of_lane(e, v, named_lane(e, id));
}

/* ---- shuffles ---- */

static struct lanes wrapped_index(struct emit *e, struct lanes index, unsigned size)
{
    return op2(e, IR_OP_AND, IR_KIND_I32, index, lanes_int(e, IR_KIND_I32, size - 1));
}

/* Where the numbers of the source lanes are constants; false: they are not. */
static bool known_numbers(const struct emit *e, const struct ir_inst *inst, unsigned values, unsigned *from)
{
    uint64_t x;
    bool by_distance = inst->op != IR_OP_SUB_GROUP_SHUFFLE && inst->op != IR_OP_SUB_GROUP_ROTATE;
    if (!by_distance || !ir_value_uint(inst->operands[inst->n_operands - 1], &x)) return false;
    for (unsigned i = 0; i < e->width; i++) {
        uint64_t at = inst->op == IR_OP_SUB_GROUP_SHUFFLE_XOR  ? i ^ x
                      : inst->op == IR_OP_SUB_GROUP_SHUFFLE_UP ? e->width + i - x
                                                               : i + x;
        from[i] = (unsigned)(at & (values * e->width - 1));
    }
    return true;
}

static struct lanes rotated(struct emit *e, struct lanes by)
{
    struct lanes n = items_here(e);
    struct lanes id = op2(e, IR_OP_ADD, IR_KIND_I32, lane_numbers(e), op2(e, IR_OP_UREM, IR_KIND_I32, by, n));
    struct lanes less = op2(e, IR_OP_SUB, IR_KIND_I32, id, n);
    return op_select(e, op2(e, IR_OP_ULT, IR_KIND_BOOL, id, n), id, less);
}

static struct lanes source_lanes(struct emit *e, const struct ir_inst *inst, unsigned n)
{
    struct lanes x = *emit_value(e, inst->operands[inst->n_operands - 1]), id = lane_numbers(e), from;
    switch (inst->op) {
    case IR_OP_SUB_GROUP_SHUFFLE: from = x; break;
    case IR_OP_SUB_GROUP_SHUFFLE_XOR: from = op2(e, IR_OP_XOR, IR_KIND_I32, id, x); break;
    case IR_OP_SUB_GROUP_SHUFFLE_UP: {
        struct lanes up = op2(e, IR_OP_ADD, IR_KIND_I32, id, lanes_int(e, IR_KIND_I32, e->width));
        from = op2(e, IR_OP_SUB, IR_KIND_I32, up, x);
        break;
    }
    case IR_OP_SUB_GROUP_ROTATE: from = rotated(e, x); break;
    default: from = op2(e, IR_OP_ADD, IR_KIND_I32, id, x); /* down */
    }
    return wrapped_index(e, from, n * e->width);
}

static bool is_two_source(const struct ir_inst *inst)
{
    return inst->op == IR_OP_SUB_GROUP_SHUFFLE_UP || inst->op == IR_OP_SUB_GROUP_SHUFFLE_DOWN;
}

static void shuffle(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    unsigned n = ir_type_lanes(inst->type), sources = is_two_source(inst) ? 2 : 1, from[MAX_WIDTH];
    const struct lanes *v = emit_value(e, inst->operands[0]), *id = emit_value(e, inst->operands[1]);
    if (inst->op == IR_OP_SUB_GROUP_SHUFFLE && id->shape == SHAPE_UNIFORM) {
        for (unsigned c = 0; c < n; c++) result[c] = broadcast(e, &v[c], id);
        return;
    }
    struct lanes values[2][IR_MAX_LANES];
    struct permute_table tables[IR_MAX_LANES];
    for (unsigned c = 0; c < n; c++) {
        tables[c] = (struct permute_table){sources, {&values[0][c], &values[1][c]}};
        for (unsigned i = 0; i < sources; i++) values[i][c] = as_stored(e, emit_value(e, inst->operands[i])[c]);
    }
    if (known_numbers(e, inst, sources, from)) {
        for (unsigned c = 0; c < n; c++) result[c] = permute_known(e, &tables[c], from);
    } else {
        struct lanes index = source_lanes(e, inst, sources);
        permute_lanes(e, tables, n, &index, result);
    }
    for (unsigned c = 0; c < n; c++) result[c] = from_stored(e, v[c].kind, result[c]);
}

/* ---- reductions and scans ---- */

static void scan(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    const struct lanes *v = emit_value(e, inst->operands[0]);
    struct lanes none = reduction_identity(e, inst, false);
    for (unsigned c = 0; c < ir_type_lanes(inst->type); c++) {
        struct lanes sum = lanes_variable(e, v[c].kind, (struct shape){.kind = SHAPE_UNIFORM});
        lanes_assign(e, &sum, &none);
        result[c] = reduction_scan(e, inst, v[c], &sum, jit_int(e, IR_KIND_BOOL, 1));
    }
}

/* ---- block reads and writes ---- */

/* Lane i's part of component k is number k * width + i from a pointer on that is the same for all. */
static struct lanes block_address(struct emit *e, const struct ir_inst *inst)
{
    struct lanes p = *emit_value(e, inst->operands[0]);
    rval first = jit_read(jit_keep(e, lanes_get(e, &p, 0)));
    return lanes_linear(IR_KIND_PTR, first, e->width > 1 ? kind_bytes(ir_type_kind(inst->type)) : 0);
}

static void emit_block(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    struct lanes address = block_address(e, inst);
    for (unsigned k = 0; k < ir_type_lanes(inst->type); k++) {
        if (inst->op == IR_OP_BLOCK_READ)
            result[k] = memory_load(e, ir_type_kind(inst->type), &address, k * e->width);
        else
            memory_store(e, &address, k * e->width, &emit_value(e, inst->operands[1])[k]);
    }
}

void emit_sub_group_operation(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    const struct lanes *x = inst->n_operands ? emit_value(e, inst->operands[0]) : NULL;
    unsigned n = ir_type_lanes(inst->type);
    switch (inst->op) {
    case IR_OP_BARRIER: break; /* all lanes are here, and what they wrote before is written */
    case IR_OP_GROUP_ALL: *result = vote_all(e, x); break;
    case IR_OP_GROUP_ANY: *result = vote_any(e, x); break;
    case IR_OP_GROUP_BROADCAST:
        for (unsigned c = 0; c < n; c++) result[c] = broadcast(e, &x[c], emit_value(e, inst->operands[1]));
        break;
    case IR_OP_GROUP_REDUCE:
        for (unsigned c = 0; c < n; c++) result[c] = reduction_of_lanes(e, inst, x[c]);
        break;
    case IR_OP_GROUP_SCAN_INCL:
    case IR_OP_GROUP_SCAN_EXCL: scan(e, inst, result); break;
    case IR_OP_SUB_GROUP_ELECT: *result = elect(e); break;
    case IR_OP_SUB_GROUP_BALLOT: ballot(e, x, result); break;
    case IR_OP_SUB_GROUP_ALL_EQUAL: *result = all_equal(e, inst); break;
    case IR_OP_SUB_GROUP_SHUFFLE ... IR_OP_SUB_GROUP_ROTATE: shuffle(e, inst, result); break;
    case IR_OP_BLOCK_READ:
    case IR_OP_BLOCK_WRITE: emit_block(e, inst, result); break;
    default: *result = emit_number(e, inst);
    }
}
