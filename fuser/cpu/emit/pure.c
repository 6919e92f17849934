/* Pure instructions on all components of their operands. */
#include "fuser/cpu/emit/pure.h"

#include <string.h>

#include "fuser/cpu/emit/address_space.h"
#include "fuser/cpu/emit/near.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/formula.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/lower/rounding.h"
#include "fuser/cpu/prepare/generic_cast.h"
#include "fuser/cpu/prepare/uniformity.h"

static enum ir_kind kind_of(const struct ir_value *v)
{
    return ir_type_kind(v->type);
}

static enum ir_kind result_kind(const struct ir_inst *inst)
{
    return kind_of(inst->results[0]);
}

/* One component by one operation, on scalars where the result's shape allows. */
static struct lanes emit_component(struct emit *e, const struct ir_inst *inst, enum ir_op op, enum ir_kind kind,
                                   unsigned n, const struct lanes *args)
{
    struct shape s = e->values->uniformity.values[inst->results[0]->scratch];
    if (s.kind == SHAPE_VARYING) return op_n(e, op, kind, n, args);
    struct lanes r = op_linear(e, op, kind, n, args, s.stride);
    return s.wraps || s.kind == SHAPE_UNIFORM ? r : lanes_linear(kind, r.scalar, s.stride);
}

static void elementwise(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    struct lanes *operands[4];
    for (uint32_t i = 0; i < inst->n_operands; i++) operands[i] = emit_value(e, inst->operands[i]);
    for (unsigned c = 0; c < ir_type_lanes(inst->results[0]->type); c++) {
        struct lanes args[4];
        for (uint32_t i = 0; i < inst->n_operands; i++)
            args[i] = operands[i][ir_type_lanes(inst->operands[i]->type) > 1 ? c : 0];
        result[c] = emit_component(e, inst, inst->op, result_kind(inst), inst->n_operands, args);
    }
}

/* ---- addresses ---- */

static struct lanes to_address(struct emit *e, struct lanes v)
{
    return kind_bytes(v.kind) == 8 ? v : op_linear(e, IR_OP_SEXT, IR_KIND_I64, 1, &v, v.stride);
}

/* Where lanes are anywhere; computed at once unless accesses mostly will not ask for it. */
static struct lanes varying_address(struct emit *e, struct lanes base, struct lanes index, uint64_t size,
                                    const struct near_lanes *near)
{
    struct lanes bytes = lanes_int(e, IR_KIND_I64, size);
    if (!near) {
        if (kind_bytes(index.kind) < 8) index = op1(e, IR_OP_SEXT, IR_KIND_I64, index);
        return op2(e, IR_OP_ADD, IR_KIND_I64, base, op2(e, IR_OP_MUL, IR_KIND_I64, index, bytes));
    }
    if (kind_bytes(index.kind) < 8) index = op_later(e, IR_OP_SEXT, IR_KIND_I64, 1, &index);
    struct lanes offset = op_later(e, IR_OP_MUL, IR_KIND_I64, 2, (struct lanes[]){index, bytes});
    struct lanes address = op_later(e, IR_OP_ADD, IR_KIND_I64, 2, (struct lanes[]){base, offset});
    address.near = near;
    return address;
}

static void element_address(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    struct lanes base = *emit_value(e, inst->operands[0]), index = *emit_value(e, inst->operands[1]);
    uint64_t bytes = private_element_step(inst);
    struct lanes size = lanes_int(e, IR_KIND_I64, bytes);
    bool varying = e->values->uniformity.values[inst->results[0]->scratch].kind == SHAPE_VARYING;
    base.kind = IR_KIND_I64;
    if (varying) {
        *result = varying_address(e, base, index, bytes, near_element(e, inst));
    } else {
        index = to_address(e, index);
        int64_t step = (int64_t)((uint64_t)index.stride * bytes);
        struct lanes offset = op_linear(e, IR_OP_MUL, IR_KIND_I64, 2, (struct lanes[]){index, size}, step);
        *result = op_linear(e, IR_OP_ADD, IR_KIND_I64, 2, (struct lanes[]){base, offset}, base.stride + step);
    }
    result->kind = IR_KIND_PTR;
}

static void field_address(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    struct lanes base = *emit_value(e, inst->operands[0]);
    const struct ir_struct *s = ir_type_struct(e->module, inst->type);
    uint64_t offset = s->fields[inst->attrs.index].offset;
    struct lanes args[2] = {base, lanes_int(e, IR_KIND_I64, offset)};
    args[0].kind = IR_KIND_I64;
    if (base.near)
        *result = op_later(e, IR_OP_ADD, IR_KIND_I64, 2, args);
    else
        *result = emit_component(e, inst, IR_OP_ADD, IR_KIND_I64, 2, args);
    result->near = near_plus(e, base.near, offset);
    result->kind = IR_KIND_PTR;
}

static void pointer_cast(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    struct lanes v = *emit_value(e, inst->operands[0]);
    enum ir_kind kind = result_kind(inst);
    if (generic_cast_may_be_null(inst)) v = emit_address_space_cast(e, inst, v);
    if (kind_bytes(v.kind) != kind_bytes(kind)) {
        enum ir_op op = kind_bytes(kind) < kind_bytes(v.kind) ? IR_OP_ITRUNC : IR_OP_ZEXT;
        if (v.kind == IR_KIND_PTR) v.kind = IR_KIND_I64;
        v = emit_component(e, inst, op, kind == IR_KIND_PTR ? IR_KIND_I64 : kind, 1, &v);
    }
    *result = v;
    result->kind = kind;
}

/* ---- lanes of IR vectors ---- */

static void concatenate(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    unsigned at = 0;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        const struct lanes *v = emit_value(e, inst->operands[i]);
        for (unsigned c = 0; c < ir_type_lanes(inst->operands[i]->type); c++) result[at++] = v[c];
    }
}

/* The component whose number is index, of n. Out of range: component 0. */
static struct lanes select_component(struct emit *e, const struct lanes *v, unsigned n, struct lanes index)
{
    struct lanes r = v[0];
    for (unsigned c = 1; c < n; c++) {
        struct lanes here = op2(e, IR_OP_IEQ, IR_KIND_BOOL, index, lanes_int(e, index.kind, c));
        r = op_select(e, here, v[c], r);
    }
    return r;
}

static void emit_extract(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    unsigned n = ir_type_lanes(inst->operands[0]->type);
    const struct lanes *v = emit_value(e, inst->operands[0]);
    uint64_t index;
    if (ir_value_uint(inst->operands[1], &index))
        *result = v[index < n ? index : 0];
    else
        *result = select_component(e, v, n, *emit_value(e, inst->operands[1]));
}

static void emit_insert(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    unsigned n = ir_type_lanes(inst->type);
    struct lanes v = *emit_value(e, inst->operands[1]), index = *emit_value(e, inst->operands[2]);
    memcpy(result, emit_value(e, inst->operands[0]), n * sizeof *result);
    uint64_t known;
    if (ir_value_uint(inst->operands[2], &known)) {
        if (known < n) result[known] = v;
        return;
    }
    for (unsigned c = 0; c < n; c++) {
        struct lanes here = op2(e, IR_OP_IEQ, IR_KIND_BOOL, index, lanes_int(e, index.kind, c));
        result[c] = op_select(e, here, v, result[c]);
    }
}

/* All components of the first n operands, one after the other; a vector of 3 has room for 4 where the
   mask counts so. Returns how many there are. */
static unsigned concatenated(struct emit *e, const struct ir_inst *inst, unsigned n, bool rounded, struct lanes *all)
{
    unsigned at = 0;
    for (unsigned i = 0; i < n; i++) {
        const struct lanes *v = emit_value(e, inst->operands[i]);
        unsigned lanes = ir_type_lanes(inst->operands[i]->type);
        for (unsigned c = 0; c < lanes; c++) all[at++] = v[c];
        if (rounded && lanes == 3) all[at++] = v[0];
    }
    return at;
}

static void shuffle(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    struct lanes all[2 * IR_MAX_LANES];
    unsigned n = concatenated(e, inst, 2, false, all);
    for (unsigned c = 0; c < ir_type_lanes(inst->type); c++) {
        int from = inst->attrs.mask[c];
        result[c] = all[from >= 0 && (unsigned)from < n ? from : 0];
    }
}

static void shuffle_dynamic(struct emit *e, const struct ir_inst *inst, unsigned sources, struct lanes *result)
{
    struct lanes all[2 * IR_MAX_LANES];
    unsigned n = concatenated(e, inst, sources, true, all);
    const struct lanes *mask = emit_value(e, inst->operands[sources]);
    for (unsigned c = 0; c < ir_type_lanes(inst->type); c++) {
        struct lanes index = op2(e, IR_OP_AND, mask[c].kind, mask[c], lanes_int(e, mask[c].kind, n - 1));
        result[c] = select_component(e, all, n, index);
    }
}

/* ---- bit casts ---- */

static void emit_bitcast(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    ir_type from = inst->operands[0]->type, to = inst->type;
    const struct lanes *v = emit_value(e, inst->operands[0]);
    unsigned from_bytes = kind_bytes(ir_type_kind(from)), to_bytes = kind_bytes(ir_type_kind(to));
    enum ir_kind to_int = kind_of_bytes(to_bytes), kind = ir_type_kind(to);
    for (unsigned c = 0; c < ir_type_lanes(to); c++) {
        struct lanes bits;
        if (from_bytes == to_bytes) {
            bits = v[c];
        } else if (from_bytes > to_bytes) {
            unsigned ratio = from_bytes / to_bytes;
            enum ir_kind wide = kind_of_bytes(from_bytes);
            struct lanes whole = op_bits(e, v[c / ratio], wide);
            whole = op2(e, IR_OP_LSHR, wide, whole, lanes_int(e, wide, c % ratio * to_bytes * 8));
            bits = op1(e, IR_OP_ITRUNC, to_int, whole);
        } else {
            unsigned ratio = to_bytes / from_bytes;
            for (unsigned i = 0; i < ratio && c * ratio + i < ir_type_lanes(from); i++) {
                struct lanes part = op1(e, IR_OP_ZEXT, to_int, op_bits(e, v[c * ratio + i], kind_of_bytes(from_bytes)));
                part = op2(e, IR_OP_SHL, to_int, part, lanes_int(e, to_int, i * from_bytes * 8));
                bits = i ? op2(e, IR_OP_OR, to_int, bits, part) : part;
            }
        }
        result[c] = op_bits(e, bits, kind);
    }
}

/* ---- reductions over the components ---- */

static void any_or_all(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    const struct lanes *v = emit_value(e, inst->operands[0]);
    enum ir_kind kind = ir_type_kind(inst->type);
    enum ir_op op = inst->op == IR_OP_ANY ? IR_OP_OR : IR_OP_AND;
    struct lanes r = v[0];
    for (unsigned c = 1; c < ir_type_lanes(inst->type); c++) r = op2(e, op, kind, r, v[c]);
    *result = kind == IR_KIND_BOOL ? r : op2(e, IR_OP_SLT, IR_KIND_BOOL, r, lanes_int(e, kind, 0));
}

static void geometric(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    const struct lanes *a = emit_value(e, inst->operands[0]), *b = a;
    if (inst->n_operands > 1) b = emit_value(e, inst->operands[1]);
    lower_geometric(e, inst->op, ir_type_kind(inst->type), ir_type_lanes(inst->type), a, b, result);
}

/* ---- conversions with another rounding than usual ---- */

static void float_to_int(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    static const enum ir_op rounding[IR_ROUND_COUNT] = {
        [IR_ROUND_RTE] = IR_OP_RINT, [IR_ROUND_RTP] = IR_OP_CEIL, [IR_ROUND_RTN] = IR_OP_FLOOR};
    const struct lanes *v = emit_value(e, inst->operands[0]);
    for (unsigned c = 0; c < ir_type_lanes(inst->type); c++) {
        struct lanes x = v[c];
        enum ir_op round = rounding[inst->attrs.rounding];
        if (round) x = op1(e, round, x.kind, x);
        result[c] = op1(e, inst->op, ir_type_kind(inst->type), x);
    }
}

static void rounded(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    const struct lanes *v = emit_value(e, inst->operands[0]);
    for (unsigned c = 0; c < ir_type_lanes(inst->type); c++)
        result[c] = rounding_convert(e, inst->op, ir_type_kind(inst->type), inst->attrs.rounding, v[c]);
}

void emit_pure(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    switch (inst->op) {
    case IR_OP_ELEM: element_address(e, inst, result); break;
    case IR_OP_FIELD: field_address(e, inst, result); break;
    case IR_OP_PTRTOINT:
    case IR_OP_INTTOPTR:
    case IR_OP_SPACECAST: pointer_cast(e, inst, result); break;
    case IR_OP_VEC: concatenate(e, inst, result); break;
    case IR_OP_SPLAT:
        for (unsigned c = 0; c < ir_type_lanes(inst->type); c++) result[c] = *emit_value(e, inst->operands[0]);
        break;
    case IR_OP_EXTRACT: emit_extract(e, inst, result); break;
    case IR_OP_INSERT: emit_insert(e, inst, result); break;
    case IR_OP_SHUFFLE: shuffle(e, inst, result); break;
    case IR_OP_VSHUFFLE: shuffle_dynamic(e, inst, 1, result); break;
    case IR_OP_VSHUFFLE2: shuffle_dynamic(e, inst, 2, result); break;
    case IR_OP_BITCAST: emit_bitcast(e, inst, result); break;
    case IR_OP_ANY:
    case IR_OP_ALL: any_or_all(e, inst, result); break;
    case IR_OP_DOT ... IR_OP_NORMALIZE: geometric(e, inst, result); break;
    case IR_OP_FTOS:
    case IR_OP_FTOU: float_to_int(e, inst, result); break;
    case IR_OP_FPCONV:
    case IR_OP_STOF:
    case IR_OP_UTOF:
        if (rounding_matters(inst))
            rounded(e, inst, result);
        else
            elementwise(e, inst, result);
        break;
    default: elementwise(e, inst, result);
    }
}
