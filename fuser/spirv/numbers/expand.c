/* Pure operations that are several instructions in both dialects: what SPIR-V leaves undefined and we do not. */
#include "fuser/spirv/numbers/expand.h"

#include "fuser/spirv/maths/library.h"
#include "fuser/spirv/numbers/float.h"
#include "fuser/spirv/numbers/integer.h"
#include "fuser/spirv/numbers/notation.h"
#include "ir/formula/formula.h"

/* By zero gives zero; the largest negative number by -1 wraps. SPIR-V leaves both undefined. */
static value divided(const struct formula *f, enum ir_op op, enum ir_kind kind, value x, value y)
{
    struct spw *w = f->user;
    bool quotient = op == IR_OP_UDIV || op == IR_OP_SDIV, is_signed = op == IR_OP_SDIV || op == IR_OP_SREM;
    value zero = IS2(IEQ, y, K(0)), safe = SELECT(zero, K(1), y), r;
    if (is_signed) {
        value minus = IS2(IEQ, y, K(~0ull));
        safe = SELECT(minus, K(1), safe);
        r = spw_native(w, op, kind, 2, (value[]){x, safe});
        r = SELECT(minus, quotient ? OP1(NEG, x) : K(0), r);
    } else {
        r = spw_native(w, op, kind, 2, (value[]){x, safe});
    }
    return SELECT(zero, K(0), r);
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
    case IR_OP_UDIV:
    case IR_OP_UREM:
    case IR_OP_SDIV: *result = divided(f, op, kind, x, y); return true;
    case IR_OP_SREM:
        if (w->vulkan) return false;
        *result = divided(f, op, kind, x, y);
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
    return spw_expand_integer(w, op, kind, args, result) || spw_expand_float(w, op, kind, args, result) ||
           (w->vulkan && spw_library(w, op, kind, args, result));
}
