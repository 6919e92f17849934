/*
 * Operations of a work-group. Its work-items come one vector after the other, in the order of their linear
 * ids, and each adds its part to scalars of the group; a float sum so is the one that the interpreter gets.
 */
#include "fuser/gccjit/emit.h"
#include "ir/float.h"

static bool is_scan(const struct ir_inst *inst)
{
    return inst->op == IR_OP_GROUP_SCAN_INCL || inst->op == IR_OP_GROUP_SCAN_EXCL;
}

static enum ir_op operation(const struct ir_inst *inst)
{
    static const enum ir_op ints[] = {IR_OP_ADD,  IR_OP_MUL, IR_OP_SMIN, IR_OP_UMIN, IR_OP_SMAX,
                                      IR_OP_UMAX, IR_OP_AND, IR_OP_OR,   IR_OP_XOR};
    static const enum ir_op floats[] = {IR_OP_FADD, IR_OP_FMUL, IR_OP_FMIN, IR_OP_FMIN, IR_OP_FMAX, IR_OP_FMAX};
    return ir_type_is_float(inst->type) ? floats[inst->attrs.group_op] : ints[inst->attrs.group_op];
}

/* ---- where sums start ---- */

static struct lanes whole(struct emit *e, enum ir_kind kind, unsigned bits, bool top, bool rest)
{
    uint64_t low = bits == 1 ? 0 : (1ull << (bits - 1)) - 1;
    return lanes_int(e, kind, (rest ? low : 0) | (top ? 1ull << (bits - 1) : 0));
}

/* What changes no value it is combined with. Of floats for the value that is first: -0 + x is x, and the
   minimum of NaN and x is x; a scan shows the specified identity instead. */
static struct lanes start(struct emit *e, const struct ir_inst *inst, bool shown)
{
    enum ir_kind kind = ir_type_kind(inst->type);
    unsigned bits = ir_type_bits(inst->type);
    bool is_float = ir_type_is_float(inst->type);
    switch ((enum ir_group_op)inst->attrs.group_op) {
    case IR_GROUP_MUL: return is_float ? op_number(e, kind, 1) : lanes_int(e, kind, 1);
    case IR_GROUP_SMIN:
    case IR_GROUP_UMIN:
        if (is_float) return op_number(e, kind, shown ? __builtin_inf() : __builtin_nan(""));
        return whole(e, kind, bits, inst->attrs.group_op == IR_GROUP_UMIN, true);
    case IR_GROUP_SMAX:
    case IR_GROUP_UMAX:
        if (is_float) return op_number(e, kind, shown ? -__builtin_inf() : __builtin_nan(""));
        return whole(e, kind, bits, inst->attrs.group_op == IR_GROUP_SMAX, false);
    case IR_GROUP_AND: return whole(e, kind, bits, true, true);
    default: return is_float && !shown ? op_number(e, kind, -0.0) : lanes_int(e, kind, 0);
    }
}

/* The scalars of the group, one per component. */
static struct lanes *sums_of(struct emit *e, const struct ir_inst *inst)
{
    uint32_t number = inst->results[0]->scratch;
    if (!is_scan(inst)) return e->shared[number];
    unsigned n = ir_type_lanes(inst->type);
    struct lanes **sums = &e->sums[number];
    if (*sums) return *sums;
    *sums = arena_alloc(e->arena, n * sizeof **sums);
    for (unsigned c = 0; c < n; c++)
        (*sums)[c] = lanes_variable(e, ir_type_kind(inst->type), (struct shape){.kind = SHAPE_UNIFORM});
    return *sums;
}

void collective_begin(struct emit *e, const struct ir_inst *inst)
{
    if (inst->op == IR_OP_BARRIER) return;
    struct lanes *sums = sums_of(e, inst), first;
    if (inst->op == IR_OP_GROUP_ALL || inst->op == IR_OP_GROUP_ANY)
        first = lanes_int(e, IR_KIND_BOOL, inst->op == IR_OP_GROUP_ALL);
    else if (inst->op == IR_OP_GROUP_BROADCAST)
        first = lanes_uniform(sums->kind, jit_number(e, sums->kind, 0));
    else
        first = start(e, inst, false);
    for (unsigned c = 0; c < ir_type_lanes(inst->results[0]->type); c++) lanes_assign(e, &sums[c], &first, NULL);
}

/* ---- what a vector of work-items adds ---- */

static void vote(struct emit *e, const struct ir_inst *inst, struct lanes *sum)
{
    const struct lanes *x = emit_value(e, inst->operands[0]);
    bool all = inst->op == IR_OP_GROUP_ALL;
    struct lanes r;
    if (x->shape != SHAPE_VARYING) {
        r = *x;
    } else {
        struct mask yes = mask_of(e, x);
        rval any =
            all ? jit_not(e, mask_any(e, mask_and_not(e, e->exec, yes))) : mask_any(e, mask_and(e, e->exec, yes));
        r = lanes_uniform(IR_KIND_BOOL, any);
    }
    r = op2(e, all ? IR_OP_AND : IR_OP_OR, IR_KIND_BOOL, *sum, r);
    lanes_assign(e, sum, &r, NULL);
}

/* Whether lane `lane` runs; NULL: all do. */
static rval runs(struct emit *e, unsigned lane)
{
    return e->exec.chunk ? mask_bit(e, e->exec.chunk[lane / mask_lanes(e)], lane % mask_lanes(e)) : NULL;
}

/* Lane by lane, in order; results[lane] is the sum before it or, inclusive, with it. */
static void add_lanes(struct emit *e, const struct ir_inst *inst, const struct lanes *v, struct lanes *sum,
                      rval *results)
{
    for (unsigned lane = 0; lane < e->width; lane++) {
        struct lanes x = lanes_uniform(v->kind, jit_read(jit_keep(e, lanes_get(e, v, lane))));
        if (results && inst->op == IR_OP_GROUP_SCAN_EXCL) results[lane] = jit_read(jit_keep(e, sum->scalar));
        struct lanes next = op2(e, operation(inst), v->kind, *sum, x);
        rval active = runs(e, lane);
        if (active) next.scalar = jit_select(e, active, next.scalar, jit_read(sum->variable));
        lanes_assign(e, sum, &next, NULL);
        if (results && inst->op == IR_OP_GROUP_SCAN_INCL) results[lane] = jit_read(jit_keep(e, sum->scalar));
    }
}

static void scan(struct emit *e, const struct ir_inst *inst, struct lanes *sums, struct lanes *result)
{
    const struct lanes *v = emit_value(e, inst->operands[0]);
    enum ir_kind kind = ir_type_kind(inst->type);
    for (unsigned c = 0; c < ir_type_lanes(inst->type); c++) {
        rval results[MAX_WIDTH];
        bool exclusive = inst->op == IR_OP_GROUP_SCAN_EXCL;
        if (exclusive) {
            /* The very first work-item sees the identity, but adds to what changes nothing. */
            rval first = jit_compare(e, GCC_JIT_COMPARISON_EQ, place_local_linear(e), jit_int(e, IR_KIND_I64, 0));
            rval identity = start(e, inst, true).scalar;
            rval before = jit_select(e, first, identity, sums[c].scalar);
            add_lanes(e, inst, &v[c], &sums[c], results);
            results[0] = before;
        } else {
            add_lanes(e, inst, &v[c], &sums[c], results);
        }
        result[c] = lanes_build(e, kind, results);
    }
}

/* The number of the lane with that id, or one that is none. */
static rval lane_of(struct emit *e, const struct ir_inst *inst)
{
    const struct place *p = &e->place;
    rval lane = NULL;
    for (uint32_t d = 0; d < 3; d++) {
        rval id = jit_int(e, IR_KIND_I64, 0);
        if (d + 1 < inst->n_operands) {
            const struct lanes *v = emit_value(e, inst->operands[d + 1]);
            id = jit_cast(e, lanes_get(e, v, 0), jit_type(e, IR_KIND_I64));
        }
        if (d == 0) {
            lane = jit_read(jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_MINUS, id, p->item[0])));
            continue;
        }
        rval here = jit_compare(e, GCC_JIT_COMPARISON_EQ, id, p->item[d]);
        lane = jit_select(e, here, lane, jit_int(e, IR_KIND_I64, MAX_WIDTH));
    }
    return lane;
}

static void broadcast(struct emit *e, const struct ir_inst *inst, struct lanes *sums)
{
    gcc_jit_block *take = jit_block(e), *done = jit_block(e);
    const struct lanes *v = emit_value(e, inst->operands[0]);
    rval lane = lane_of(e, inst);
    rval left = jit_binary(e, GCC_JIT_BINARY_OP_MINUS, e->place.extent[0], e->place.item[0]);
    rval in_vector = jit_compare(e, GCC_JIT_COMPARISON_LT, lane, jit_int(e, IR_KIND_I64, e->width));
    rval in_row = jit_compare(e, GCC_JIT_COMPARISON_LT, lane, left);
    jit_branch(e, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, in_vector, in_row), take, done);
    jit_begin(e, take);
    for (unsigned c = 0; c < ir_type_lanes(inst->type); c++) {
        bool spilled = v[c].shape != SHAPE_UNIFORM;
        rval x = spilled ? spilled_lane(e, spill_lanes(e, &v[c]), lane) : v[c].scalar;
        struct lanes taken = lanes_uniform(sums[c].kind, x);
        lanes_assign(e, &sums[c], &taken, NULL);
    }
    jit_jump(e, done);
    jit_begin(e, done);
}

void collective_item(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    if (inst->op == IR_OP_BARRIER) return;
    struct lanes *sums = sums_of(e, inst);
    const struct lanes *v = emit_value(e, inst->operands[0]);
    switch (inst->op) {
    case IR_OP_GROUP_ALL:
    case IR_OP_GROUP_ANY: vote(e, inst, sums); break;
    case IR_OP_GROUP_BROADCAST: broadcast(e, inst, sums); break;
    case IR_OP_GROUP_REDUCE:
        for (unsigned c = 0; c < ir_type_lanes(inst->type); c++) add_lanes(e, inst, &v[c], &sums[c], NULL);
        break;
    default: scan(e, inst, sums, result); return;
    }
    /* Nothing reads these before all work-items came here. */
    for (unsigned c = 0; c < ir_type_lanes(inst->results[0]->type); c++) result[c] = sums[c];
}
