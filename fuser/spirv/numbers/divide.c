/* Quotients and remainders of integers. */
#include "fuser/spirv/numbers/divide.h"

#include "fuser/spirv/numbers/notation.h"

static bool is_quotient(enum ir_op op)
{
    return op == IR_OP_UDIV || op == IR_OP_SDIV;
}

/* ---- by a number that is known ---- */

/* The high half of a product with 2^(bits + power) / d, rounded up and without its first bit, is a little less than the
   quotient wants: half of what is missing is added, and the rest shifted out. */
static value by_known(const struct formula *f, enum ir_kind kind, value x, uint64_t d)
{
    unsigned bits = spw_bits(kind), power = d > 1 ? 64 - (unsigned)__builtin_clzll(d - 1) : 0;
    if ((d & (d - 1)) == 0) return OP2(LSHR, x, K(power));
    unsigned __int128 above = ((unsigned __int128)1 << power) - d;
    value high = OP2(UMUL_HI, x, K((above << bits) / d + 1));
    return OP2(LSHR, OP2(ADD, high, OP2(LSHR, OP2(SUB, x, high), K(1))), K(power - 1));
}

static value by_known_signed(const struct formula *f, enum ir_kind kind, value x, uint64_t d)
{
    bool negative = d >> (spw_bits(kind) - 1) & 1;
    value q = by_known(f, kind, OP1(SABS, x), negative ? -d & ~0ull >> (64 - spw_bits(kind)) : d);
    value other = OP1(NEG, q), below = IS2(SLT, x, K(0));
    return negative ? SELECT(below, q, other) : SELECT(below, other, q);
}

/* NVIDIA's compiler (580.159) computes some quotients of the same number of 64 bits by several known ones as if these
   were the same: it is not shown any. */
bool spw_divided_by_known(struct spw *w, enum ir_op op, enum ir_kind kind, value x, value y, value *result)
{
    const struct formula *f = &w->formula;
    uint64_t d;
    if (!w->vulkan || kind != IR_KIND_I64 || !spw_number_of(&w->m, (uint32_t)y.bits, &d) || !d) return false;
    bool is_signed = op == IR_OP_SDIV || op == IR_OP_SREM;
    value q = is_signed ? by_known_signed(f, kind, x, d) : by_known(f, kind, x, d);
    *result = is_quotient(op) ? q : OP2(SUB, x, OP2(MUL, q, y));
    return true;
}

/* ---- by any number ---- */

/* By zero gives zero; the largest negative number by -1 wraps. SPIR-V leaves both undefined. */
value spw_divided(struct spw *w, enum ir_op op, enum ir_kind kind, value x, value y)
{
    const struct formula *f = &w->formula;
    value zero = IS2(IEQ, y, K(0)), safe = SELECT(zero, K(1), y), r;
    if (op == IR_OP_SDIV || op == IR_OP_SREM) {
        value minus = IS2(IEQ, y, K(~0ull));
        safe = SELECT(minus, K(1), safe);
        r = spw_native(w, op, kind, 2, (value[]){x, safe});
        r = SELECT(minus, is_quotient(op) ? OP1(NEG, x) : K(0), r);
    } else {
        r = spw_native(w, op, kind, 2, (value[]){x, safe});
    }
    return SELECT(zero, K(0), r);
}
