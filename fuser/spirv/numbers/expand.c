/* Pure operations that are several instructions in both dialects: what SPIR-V leaves undefined and we do not. */
#include "fuser/spirv/numbers/expand.h"

#include "fuser/spirv/base/ids.h"
#include "fuser/spirv/maths/library.h"
#include "fuser/spirv/numbers/divide.h"
#include "fuser/spirv/numbers/float.h"
#include "fuser/spirv/numbers/integer.h"
#include "fuser/spirv/numbers/notation.h"
#include "fuser/spirv/numbers/rounding.h"
#include "ir/formula/formula.h"

/* NVIDIA's compiler (580.159) takes it that the negative of a number of 8 or 16 bits has as many, also where it is
   negated in more bits and cut, however that is written; the least one's has not. Of a difference it knows too little
   for that. */
static value negated(struct spw *w, enum ir_kind kind, value x)
{
    return spw_native(w, IR_OP_SUB, kind, 2, (value[]){{kind, spw_unseen_zero(w, kind), NULL}, x});
}

static bool expand_negation(struct spw *w, enum ir_op op, enum ir_kind kind, const value *args, value *result)
{
    uint64_t n;
    bool difference = op == IR_OP_SUB && spw_number_of(&w->m, (uint32_t)args[0].bits, &n) && n == 0;
    if (!w->vulkan || !(op == IR_OP_NEG || difference)) return false;
    *result = negated(w, kind, args[difference]);
    return true;
}

/* A remainder with the divisor's sign, by one with the dividend's. */
static value modulo(const struct formula *f, enum ir_kind kind, value x, value y)
{
    value r = OP2(SREM, x, y), differ = IS2(SLT, OP2(XOR, r, y), K(0));
    value add = IS2(AND, differ, IS2(INE, r, K(0)));
    return SELECT(add, OP2(ADD, r, y), r);
}

static value shifted(const struct formula *f, enum ir_op op, enum ir_kind kind, value x, value y)
{
    value by = OP2(AND, y, K(spw_bits(kind) - 1));
    return spw_native(f->user, op, kind, 2, (value[]){x, by});
}

static bool expand_common(struct spw *w, enum ir_op op, enum ir_kind kind, const value *args, value *result)
{
    const struct formula *f = &w->formula;
    value x = args[0], y = args[1];
    switch (op) {
    case IR_OP_NEG:
    case IR_OP_SUB: return expand_negation(w, op, kind, args, result);
    case IR_OP_UDIV:
    case IR_OP_UREM:
    case IR_OP_SDIV:
    case IR_OP_SREM:
        if (spw_divided_by_known(w, op, kind, x, y, result)) return true;
        if (op == IR_OP_SREM && w->vulkan) return false;
        *result = spw_divided(w, op, kind, x, y);
        return true;
    case IR_OP_SMOD: *result = modulo(f, kind, x, y); return true;
    case IR_OP_SHL:
    case IR_OP_LSHR:
    case IR_OP_ASHR: *result = shifted(f, op, kind, x, y); return true;
    case IR_OP_ZEXT:
    case IR_OP_SEXT:
        if (x.kind != IR_KIND_BOOL) return false;
        *result = SELECT(x, K(op == IR_OP_ZEXT ? 1 : ~0ull), K(0));
        return true;
    default: return false;
    }
}

bool spw_expand(struct spw *w, enum ir_op op, enum ir_kind kind, const value *args, value *result)
{
    if (expand_common(w, op, kind, args, result)) return true;
    if (w->vulkan && formula_expand(&w->formula, op, kind, args, result)) return true;
    if (spw_expand_rounding(w, op, kind, args, result)) return true;
    return spw_expand_integer(w, op, kind, args, result) || spw_expand_float(w, op, kind, args, result) ||
           (w->vulkan && spw_library(&w->formula, op, kind, spw_wants_all_digits(w), args, result));
}
