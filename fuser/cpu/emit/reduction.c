/*
 * Reductions and scans over the lanes of a vector, for sub-groups and, vector by vector, for work-groups. The
 * order of float sums is the IR's: reductions by halves, scans from lane to lane.
 */
#include "fuser/cpu/emit/reduction.h"

#include "fuser/cpu/jit/counted_loop.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/lower/permute.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/simd/mask.h"
#include "fuser/cpu/simd/spill.h"

enum ir_op reduction_op(const struct ir_inst *inst)
{
    static const enum ir_op ints[] = {IR_OP_ADD,  IR_OP_MUL, IR_OP_SMIN, IR_OP_UMIN, IR_OP_SMAX,
                                      IR_OP_UMAX, IR_OP_AND, IR_OP_OR,   IR_OP_XOR};
    static const enum ir_op floats[] = {IR_OP_FADD, IR_OP_FMUL, IR_OP_FMIN, IR_OP_FMIN, IR_OP_FMAX, IR_OP_FMAX};
    return ir_type_is_float(inst->type) ? floats[inst->attrs.group_op] : ints[inst->attrs.group_op];
}

/* ---- where sums start ---- */

static struct lanes int_of_bits(struct emit *e, enum ir_kind kind, unsigned bits, bool top, bool rest)
{
    uint64_t low = bits == 1 ? 0 : (1ull << (bits - 1)) - 1;
    return lanes_int(e, kind, (rest ? low : 0) | (top ? 1ull << (bits - 1) : 0));
}

struct lanes reduction_identity(struct emit *e, const struct ir_inst *inst, bool shown)
{
    enum ir_kind kind = ir_type_kind(inst->type);
    unsigned bits = ir_type_bits(inst->type);
    bool is_float = ir_type_is_float(inst->type);
    switch ((enum ir_group_op)inst->attrs.group_op) {
    case IR_GROUP_MUL: return is_float ? op_number(e, kind, 1) : lanes_int(e, kind, 1);
    case IR_GROUP_SMIN:
    case IR_GROUP_UMIN:
        if (is_float) return op_number(e, kind, shown ? __builtin_inf() : __builtin_nan(""));
        return int_of_bits(e, kind, bits, inst->attrs.group_op == IR_GROUP_UMIN, true);
    case IR_GROUP_SMAX:
    case IR_GROUP_UMAX:
        if (is_float) return op_number(e, kind, shown ? -__builtin_inf() : __builtin_nan(""));
        return int_of_bits(e, kind, bits, inst->attrs.group_op == IR_GROUP_SMAX, false);
    case IR_GROUP_AND: return int_of_bits(e, kind, bits, true, true);
    default: return is_float && !shown ? op_number(e, kind, -0.0) : lanes_int(e, kind, 0);
    }
}

/* ---- reduction ---- */

/* The upper or lower half of the chunks, as the value of half as many lanes. */
static struct lanes half_of_chunks(struct emit *e, const struct lanes *v, bool upper)
{
    struct lanes r = *v;
    r.chunk += upper ? lanes_chunks(e, v->kind) / 2 : 0;
    return r;
}

/* Lane i is that of i ^ distance. */
static struct lanes crossed(struct emit *e, const struct lanes *v, unsigned distance)
{
    struct permute_table t = {1, {v}};
    unsigned from[MAX_WIDTH];
    for (unsigned i = 0; i < e->width; i++) from[i] = i ^ distance;
    return permute_known(e, &t, from);
}

/* Within one register: lane i takes in lane i + d; what the lanes from d on then hold is of no use. */
static struct lanes fold_register(struct emit *e, const struct ir_inst *inst, struct lanes v)
{
    for (unsigned d = e->width / 2; d > 0; d /= 2) v = op2(e, reduction_op(inst), v.kind, v, crossed(e, &v, d));
    return v;
}

struct lanes reduction_of_lanes(struct emit *e, const struct ir_inst *inst, struct lanes v)
{
    if (e->width == 1) return v;
    struct lanes x = v;
    if (e->exec.chunk) x = op_select(e, mask_lanes_value(e, e->exec), v, reduction_identity(e, inst, false));
    x = (struct lanes){.kind = v.kind, .shape = SHAPE_VARYING, .chunk = lanes_vectors(e, &x)};
    unsigned width = e->width;
    while (e->width > mask_lanes(e)) {
        struct lanes low = half_of_chunks(e, &x, false), high = half_of_chunks(e, &x, true);
        e->width /= 2;
        x = op2(e, reduction_op(inst), v.kind, low, high);
    }
    x = fold_register(e, inst, x);
    rval sum = jit_read(jit_keep(e, lanes_get(e, &x, 0)));
    e->width = width;
    return lanes_uniform(v.kind, sum);
}

/* ---- scan ---- */

/* Lane by lane, in a loop: unrolled it would be long and no faster, for each sum waits for the one before. */
static struct lanes scan_in_order(struct emit *e, const struct ir_inst *inst, const struct lanes *v, struct lanes *sum,
                                  rval is_first)
{
    bool exclusive = inst->op == IR_OP_GROUP_SCAN_EXCL;
    lval in = spill_lanes(e, v), out = spill_lanes(e, v);
    rval before = jit_read(jit_keep(e, sum->scalar));
    struct counted lane =
        counted_begin(e, jit_int(e, IR_KIND_I64, 0), jit_int(e, IR_KIND_I64, e->width), jit_int(e, IR_KIND_I64, 1));
    struct lanes x = lanes_uniform(v->kind, jit_read(jit_keep(e, spilled_lane(e, in, jit_read(lane.v)))));
    struct lanes next = op2(e, reduction_op(inst), v->kind, *sum, x);
    lval to = gcc_jit_context_new_array_access(e->gcc, NULL, jit_read(out), jit_read(lane.v));
    jit_set(e, to, exclusive ? sum->scalar : next.scalar);
    lanes_assign(e, sum, &next);
    counted_end(e, &lane);
    if (exclusive) { /* the very first one sees the identity, but adds to what changes nothing */
        rval first = jit_select(e, is_first, reduction_identity(e, inst, true).scalar, before);
        jit_set(e, gcc_jit_context_new_array_access(e->gcc, NULL, jit_read(out), jit_int(e, IR_KIND_I64, 0)), first);
    }
    return unspill_lanes(e, v->kind, out);
}

/* Lane i is that of i - distance, or what changes nothing. */
static struct lanes moved_up(struct emit *e, const struct lanes *none, const struct lanes *v, unsigned distance)
{
    struct permute_table t = {2, {none, v}};
    unsigned from[MAX_WIDTH];
    for (unsigned i = 0; i < e->width; i++) from[i] = e->width + i - distance;
    return permute_known(e, &t, from);
}

/* In as many steps as the logarithm of the lanes: the order does not matter. */
static struct lanes scan_by_steps(struct emit *e, const struct ir_inst *inst, struct lanes v, struct lanes *sum)
{
    struct lanes none = reduction_identity(e, inst, false),
                 before = lanes_uniform(v.kind, jit_read(jit_keep(e, sum->scalar)));
    for (unsigned d = 1; d < e->width; d *= 2) v = op2(e, reduction_op(inst), v.kind, moved_up(e, &none, &v, d), v);
    struct lanes all = lanes_uniform(v.kind, jit_read(jit_keep(e, lanes_get(e, &v, e->width - 1))));
    all = op2(e, reduction_op(inst), v.kind, before, all);
    lanes_assign(e, sum, &all);
    if (inst->op == IR_OP_GROUP_SCAN_EXCL) v = moved_up(e, &none, &v, 1);
    return op2(e, reduction_op(inst), v.kind, before, v);
}

struct lanes reduction_scan(struct emit *e, const struct ir_inst *inst, struct lanes v, struct lanes *sum,
                            rval is_first)
{
    if (e->exec.chunk) v = op_select(e, mask_lanes_value(e, e->exec), v, reduction_identity(e, inst, false));
    if (ir_type_is_float(inst->type) || e->width == 1) return scan_in_order(e, inst, &v, sum, is_first);
    return scan_by_steps(e, inst, v, sum);
}
