/*
 * Extensions and cut off high bits that change nothing, as the integers lie in between. The number that a narrow value
 * holds is computed in the wide type at once, from what was cut to the narrow one: sext(trunc(id) - 1) becomes id - 1
 * where that fits. Compilers also write it with shifts, (id << 32) - (1 << 32) >> 32, or with a mask.
 */
#include "fuser/passes/integers/widen.h"

enum { DEEPEST = 8 };

static bool inside(struct interval a, unsigned bits)
{
    struct interval all = interval_all(bits);
    return a.low >= all.low && a.high <= all.high;
}

/* ---- narrow values ---- */

static bool is_exact(const struct known_ranges *k, const struct ir_inst *inst)
{
    struct interval operands[2] = {known_range(k, inst->operands[0]), known_range(k, inst->operands[1])};
    return interval_is_exact(inst, operands);
}

/* Whether the number that v holds is one that was cut off for nothing, or such ones added up and multiplied: what is
   linear stays linear. Where other operations come between, the narrow ones are cheaper. */
static bool gains(const struct known_ranges *k, const struct ir_value *v, ir_type t, unsigned depth)
{
    if (v->kind != IR_VALUE_RESULT || depth == DEEPEST) return false;
    const struct ir_inst *inst = v->of.inst;
    struct ir_value **o = inst->operands;
    switch (inst->op) {
    case IR_OP_ITRUNC:
        return ir_type_bits(o[0]->type) >= ir_type_bits(t) && inside(known_range(k, o[0]), ir_type_bits(v->type));
    case IR_OP_SHL: return is_exact(k, inst) && gains(k, o[0], t, depth + 1);
    case IR_OP_ADD:
    case IR_OP_SUB:
    case IR_OP_MUL:
        if (!is_exact(k, inst)) return false;
        return gains(k, o[0], t, depth + 1) || gains(k, o[1], t, depth + 1);
    default: return false;
    }
}

static struct ir_value *widened(const struct known_ranges *k, struct ir_builder *b, struct ir_value *v, ir_type t,
                                unsigned depth)
{
    uint64_t n;
    if (ir_value_uint(v, &n)) return ir_const_int(b->module, t, (uint64_t)known_range(k, v).low);
    if (!gains(k, v, t, depth)) return ir_build1(b, IR_OP_SEXT, t, v);
    const struct ir_inst *inst = v->of.inst;
    struct ir_value **o = inst->operands;
    if (inst->op == IR_OP_ITRUNC) return o[0]->type == t ? o[0] : ir_build1(b, IR_OP_ITRUNC, t, o[0]);
    struct ir_value *x = widened(k, b, o[0], t, depth + 1);
    if (inst->op != IR_OP_SHL) return ir_build2(b, inst->op, t, x, widened(k, b, o[1], t, depth + 1));
    ir_value_uint(o[1], &n);
    return ir_build2(b, IR_OP_SHL, t, x, ir_const_int(b->module, t, n % ir_type_bits(inst->type)));
}

static struct ir_value *of_extension(const struct known_ranges *k, struct ir_inst *inst)
{
    struct ir_value *v = inst->operands[0];
    if (!known_range_is_int(v->type) || !gains(k, v, inst->type, 0)) return NULL;
    if (inst->op == IR_OP_ZEXT && known_range(k, v).low < 0) return NULL;
    struct ir_builder b = ir_builder_before(inst);
    return widened(k, &b, v, inst->type, 0);
}

/* ---- shifts there and back ---- */

static bool shifted_by(const struct ir_inst *inst, uint64_t *amount)
{
    return ir_value_uint(inst->operands[1], amount) && *amount < ir_type_bits(inst->type);
}

static bool sum(struct interval a, struct interval b, bool minus, struct interval *to)
{
    if (minus)
        return !__builtin_sub_overflow(a.low, b.high, &to->low) && !__builtin_sub_overflow(a.high, b.low, &to->high);
    return !__builtin_add_overflow(a.low, b.low, &to->low) && !__builtin_add_overflow(a.high, b.high, &to->high);
}

static bool times(struct interval a, int64_t n, struct interval *to)
{
    bool lost = __builtin_mul_overflow(n < 0 ? a.high : a.low, n, &to->low);
    return !(lost | __builtin_mul_overflow(n < 0 ? a.low : a.high, n, &to->high));
}

/* Where v was made by shifts to the left: between which numbers it lies without these bits, if none got lost. */
static bool find_part(const struct known_ranges *k, const struct ir_value *v, unsigned shift, unsigned depth,
                      struct interval *part)
{
    uint64_t n;
    struct interval a, b;
    if (ir_value_uint(v, &n)) {
        *part = (struct interval){known_range(k, v).low >> shift, known_range(k, v).low >> shift};
        return !(n & (((uint64_t)1 << shift) - 1));
    }
    if (v->kind != IR_VALUE_RESULT || depth == DEEPEST) return false;
    const struct ir_inst *inst = v->of.inst;
    struct ir_value **o = inst->operands;
    switch (inst->op) {
    case IR_OP_SHL:
        if (!shifted_by(inst, &n) || n < shift || n - shift > 62) return false;
        return times(known_range(k, o[0]), (int64_t)1 << (n - shift), part);
    case IR_OP_ADD:
    case IR_OP_SUB:
        return find_part(k, o[0], shift, depth + 1, &a) && find_part(k, o[1], shift, depth + 1, &b) &&
               sum(a, b, inst->op == IR_OP_SUB, part);
    case IR_OP_MUL:
        return ir_value_uint(o[1], &n) && find_part(k, o[0], shift, depth + 1, &a) &&
               times(a, known_range(k, o[1]).low, part);
    default: return false;
    }
}

static struct ir_value *part_of(struct ir_builder *b, struct ir_value *v, unsigned shift)
{
    uint64_t n;
    unsigned above = 64 - ir_type_bits(v->type);
    if (ir_value_uint(v, &n))
        return ir_const_int(b->module, v->type, (uint64_t)((int64_t)(n << above) >> above >> shift));
    const struct ir_inst *inst = v->of.inst;
    struct ir_value **o = inst->operands;
    if (inst->op == IR_OP_SHL) {
        shifted_by(inst, &n);
        if (n == shift) return o[0];
        return ir_build2(b, IR_OP_SHL, v->type, o[0], ir_const_int(b->module, v->type, n - shift));
    }
    struct ir_value *x = part_of(b, o[0], shift);
    return ir_build2(b, inst->op, v->type, x, inst->op == IR_OP_MUL ? o[1] : part_of(b, o[1], shift));
}

static struct ir_value *of_shifts(const struct known_ranges *k, struct ir_inst *inst)
{
    uint64_t n;
    struct interval part;
    if (!shifted_by(inst, &n) || !n || inst->operands[0]->kind != IR_VALUE_RESULT) return NULL;
    if (!find_part(k, inst->operands[0], (unsigned)n, 0, &part)) return NULL;
    if (!inside(part, ir_type_bits(inst->type) - (unsigned)n) || (inst->op == IR_OP_LSHR && part.low < 0)) return NULL;
    struct ir_builder b = ir_builder_before(inst);
    return part_of(&b, inst->operands[0], (unsigned)n);
}

/* ---- masks ---- */

static struct ir_value *of_mask(const struct known_ranges *k, struct ir_inst *inst)
{
    for (int i = 0; i < 2; i++) {
        struct interval mask = known_range(k, inst->operands[i]), x = known_range(k, inst->operands[!i]);
        bool is_low_bits = mask.low == mask.high && mask.low >= 0 && !((uint64_t)mask.low & ((uint64_t)mask.low + 1));
        if (is_low_bits && x.low >= 0 && x.high <= mask.low) return inst->operands[!i];
    }
    return NULL;
}

struct ir_value *widen_inst(const struct known_ranges *k, struct ir_inst *inst)
{
    switch (inst->op) {
    case IR_OP_SEXT:
    case IR_OP_ZEXT: return of_extension(k, inst);
    case IR_OP_ASHR:
    case IR_OP_LSHR: return of_shifts(k, inst);
    case IR_OP_AND: return of_mask(k, inst);
    default: return NULL;
    }
}
