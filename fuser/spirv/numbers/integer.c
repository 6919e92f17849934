/* Functions of integers, of the simplest operations. In the kernel dialect OpenCL.std has most of them. */
#include "fuser/spirv/numbers/integer.h"

#include "fuser/spirv/numbers/notation.h"

static uint64_t ones(enum ir_kind kind)
{
    return ~0ull >> (64 - spw_bits(kind));
}

static value resized(const struct formula *f, enum ir_kind kind, bool is_signed, value v)
{
    if (spw_bits(v.kind) == spw_bits(kind)) return v;
    if (spw_bits(v.kind) > spw_bits(kind)) return OP1(ITRUNC, v);
    return is_signed ? OP1(SEXT, v) : OP1(ZEXT, v);
}

/* ---- what both dialects need ---- */

/* count ones at the bottom; the count is at most the width. */
static value low_ones(const struct formula *f, enum ir_kind kind, value count)
{
    value some = OP2(SUB, OP2(SHL, K(1), resized(f, kind, false, count)), K(1));
    return SELECT(IS2(UGE, count, I(spw_bits(kind))), K(ones(kind)), some);
}

/* The field's bits that lie in the number. */
static value field_count(const struct formula *f, enum ir_kind kind, value offset, value count)
{
    value width = I(spw_bits(kind));
    return INT2(UMIN, count, INT2(SUB, width, INT2(UMIN, offset, width)));
}

static value bit_field(const struct formula *f, enum ir_op op, enum ir_kind kind, const value *args)
{
    bool insert = op == IR_OP_BITFIELD_INSERT;
    value offset = args[insert ? 2 : 1], count = field_count(f, kind, offset, args[insert ? 3 : 2]);
    value at = resized(f, kind, false, offset), none = IS2(IEQ, count, I(0));
    if (insert) {
        value mask = OP2(SHL, low_ones(f, kind, count), at);
        value put = OP2(OR, OP2(AND, args[0], OP1(NOT, mask)), OP2(AND, OP2(SHL, args[1], at), mask));
        return SELECT(none, args[0], put);
    }
    value field = OP2(AND, OP2(LSHR, args[0], at), low_ones(f, kind, count));
    if (op == IR_OP_SBITFIELD_EXTRACT) {
        value up = resized(f, kind, false, INT2(SUB, I(spw_bits(kind)), count));
        field = OP2(ASHR, OP2(SHL, field, up), up);
    }
    return SELECT(none, K(0), field);
}

/* Neighbours change places: bits, pairs of bits, and so on. */
static value reversed(const struct formula *f, enum ir_kind kind, value x)
{
    static const uint64_t masks[] = {0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f,
                                     0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff};
    for (unsigned i = 0; 1u << i < spw_bits(kind); i++) {
        uint64_t mask = masks[i] & ones(kind);
        x = OP2(OR, OP2(SHL, OP2(AND, x, K(mask)), K(1u << i)), OP2(AND, OP2(LSHR, x, K(1u << i)), K(mask)));
    }
    return x;
}

static value saturated(const struct formula *f, enum ir_op op, enum ir_kind kind, value x)
{
    unsigned from = spw_bits(x.kind), to = spw_bits(kind);
    bool from_signed = op == IR_OP_SSAT || op == IR_OP_S2U_SAT, to_signed = op == IR_OP_SSAT || op == IR_OP_U2S_SAT;
    uint64_t max = to_signed ? ones(kind) >> 1 : ones(kind);
    enum ir_kind target = kind;
    kind = x.kind;
    if (op == IR_OP_S2U_SAT) x = OP2(SMAX, x, K(0));
    if (op == IR_OP_SSAT && to < from) x = OP2(SMAX, x, K(~max));
    if (to < from || (to == from && op == IR_OP_U2S_SAT)) x = from_signed ? OP2(SMIN, x, K(max)) : OP2(UMIN, x, K(max));
    kind = target;
    return resized(f, kind, op == IR_OP_SSAT, x);
}

static bool expand_both(struct spw *w, enum ir_op op, enum ir_kind kind, const value *args, value *result)
{
    const struct formula *f = &w->formula;
    switch (op) {
    case IR_OP_BITFIELD_INSERT:
    case IR_OP_SBITFIELD_EXTRACT:
    case IR_OP_UBITFIELD_EXTRACT: *result = bit_field(f, op, kind, args); return true;
    case IR_OP_BITREVERSE: *result = reversed(f, kind, args[0]); return true;
    case IR_OP_SSAT:
    case IR_OP_USAT:
    case IR_OP_S2U_SAT:
    case IR_OP_U2S_SAT: *result = saturated(f, op, kind, args[0]); return true;
    default: return false;
    }
}

/* ---- Vulkan ---- */

/* The sign of the dividend; OpSRem of negative numbers is undefined there. By zero 0, as division is. */
static value remainder_of(const struct formula *f, enum ir_kind kind, value x, value y)
{
    value r = OP2(UREM, OP1(SABS, x), OP1(SABS, y));
    return SELECT(IS2(SLT, x, K(0)), OP1(NEG, r), r);
}

static value signed_saturated(const struct formula *f, enum ir_kind kind, bool add, value x, value y)
{
    value r = add ? OP2(ADD, x, y) : OP2(SUB, x, y);
    value limit = OP2(XOR, OP2(ASHR, x, K(spw_bits(kind) - 1)), K(ones(kind) >> 1));
    /* It overflows where the result's sign is not x's, and y's sign would not make it so. */
    value changed = OP2(XOR, x, r), side = add ? OP2(XOR, y, r) : OP2(XOR, x, y);
    return SELECT(IS2(SLT, OP2(AND, changed, side), K(0)), limit, r);
}

/* From products of halves; those of 8 and 16 bits in 32. */
static value high_half(const struct formula *f, enum ir_kind kind, bool is_signed, value x, value y)
{
    enum ir_kind narrow = kind;
    unsigned bits = spw_bits(kind), half = bits / 2;
    if (bits < 32) {
        kind = IR_KIND_I32;
        value product = OP2(MUL, resized(f, kind, is_signed, x), resized(f, kind, is_signed, y));
        product = OP2(LSHR, product, K(bits));
        kind = narrow;
        return OP1(ITRUNC, product);
    }
    value low = K(ones(kind) >> half), a = OP2(AND, x, low), b = OP2(LSHR, x, K(half));
    value c = OP2(AND, y, low), d = OP2(LSHR, y, K(half));
    value middle = OP2(ADD, OP2(MUL, b, c), OP2(LSHR, OP2(MUL, a, c), K(half)));
    value other = OP2(ADD, OP2(MUL, a, d), OP2(AND, middle, low));
    value r = OP2(ADD, OP2(MUL, b, d), OP2(ADD, OP2(LSHR, middle, K(half)), OP2(LSHR, other, K(half))));
    if (!is_signed) return r;
    r = OP2(SUB, r, SELECT(IS2(SLT, x, K(0)), y, K(0)));
    return OP2(SUB, r, SELECT(IS2(SLT, y, K(0)), x, K(0)));
}

/* The sum of a product's halves and z; it fits where the high half says so. */
static value mad_saturated(const struct formula *f, enum ir_kind kind, bool is_signed, const value *args)
{
    value low = OP2(MUL, args[0], args[1]), sum = OP2(ADD, low, args[2]);
    value high = is_signed ? OP2(SMUL_HI, args[0], args[1]) : OP2(UMUL_HI, args[0], args[1]);
    high = OP2(ADD, high, SELECT(IS2(ULT, sum, low), K(1), K(0)));
    if (!is_signed) return SELECT(IS2(INE, high, K(0)), K(ones(kind)), sum);
    value sign = K(spw_bits(kind) - 1);
    high = OP2(ADD, high, OP2(ASHR, args[2], sign));
    value limit = OP2(XOR, OP2(ASHR, high, sign), K(ones(kind) >> 1));
    return SELECT(IS2(INE, high, OP2(ASHR, sum, sign)), limit, sum);
}

static value multiplied24(const struct formula *f, enum ir_kind kind, bool is_signed, value x, value y)
{
    if (spw_bits(kind) <= 24) return OP2(MUL, x, y);
    if (!is_signed) return OP2(MUL, OP2(AND, x, K(0xffffff)), OP2(AND, y, K(0xffffff)));
    value up = K(spw_bits(kind) - 24);
    return OP2(MUL, OP2(ASHR, OP2(SHL, x, up), up), OP2(ASHR, OP2(SHL, y, up), up));
}

/* One bits, by adding neighbours up. */
static value population(const struct formula *f, enum ir_kind kind, value x)
{
    static const uint64_t masks[] = {0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f};
    for (unsigned i = 0; i < 3; i++) {
        value mask = K(masks[i] & ones(kind));
        x = OP2(ADD, OP2(AND, x, mask), OP2(AND, OP2(LSHR, x, K(1u << i)), mask));
    }
    value sum = OP2(MUL, x, K(0x0101010101010101 & ones(kind)));
    return OP2(LSHR, sum, K(spw_bits(kind) - 8));
}

/* All bits below the first one become ones. */
static value leading_zeros(const struct formula *f, enum ir_kind kind, value x)
{
    for (unsigned i = 1; i < spw_bits(kind); i *= 2) x = OP2(OR, x, OP2(LSHR, x, K(i)));
    return OP1(POPCOUNT, OP1(NOT, x));
}

static value trailing_zeros(const struct formula *f, enum ir_kind kind, value x)
{
    return OP1(POPCOUNT, OP2(AND, OP1(NOT, x), OP2(SUB, x, K(1))));
}

static bool expand_sums(const struct formula *f, enum ir_op op, enum ir_kind kind, value x, value y, value *result)
{
    switch (op) {
    case IR_OP_SABS: *result = SELECT(IS2(SLT, x, K(0)), OP1(NEG, x), x); return true;
    case IR_OP_SABS_DIFF: *result = OP2(SUB, OP2(SMAX, x, y), OP2(SMIN, x, y)); return true;
    case IR_OP_UABS_DIFF: *result = OP2(SUB, OP2(UMAX, x, y), OP2(UMIN, x, y)); return true;
    case IR_OP_SADD_SAT:
    case IR_OP_SSUB_SAT: *result = signed_saturated(f, kind, op == IR_OP_SADD_SAT, x, y); return true;
    case IR_OP_UADD_SAT: *result = OP2(ADD, x, OP2(UMIN, y, OP1(NOT, x))); return true;
    case IR_OP_USUB_SAT: *result = OP2(SUB, x, OP2(UMIN, x, y)); return true;
    case IR_OP_SHADD: *result = OP2(ADD, OP2(AND, x, y), OP2(ASHR, OP2(XOR, x, y), K(1))); return true;
    case IR_OP_UHADD: *result = OP2(ADD, OP2(AND, x, y), OP2(LSHR, OP2(XOR, x, y), K(1))); return true;
    case IR_OP_SRHADD: *result = OP2(SUB, OP2(OR, x, y), OP2(ASHR, OP2(XOR, x, y), K(1))); return true;
    case IR_OP_URHADD: *result = OP2(SUB, OP2(OR, x, y), OP2(LSHR, OP2(XOR, x, y), K(1))); return true;
    case IR_OP_ROTATE: *result = OP2(OR, OP2(SHL, x, y), OP2(LSHR, x, OP1(NEG, y))); return true;
    case IR_OP_SREM: *result = remainder_of(f, kind, x, y); return true;
    default: return false;
    }
}

static bool expand_products(const struct formula *f, enum ir_op op, enum ir_kind kind, const value *args, value *result)
{
    value x = args[0], y = args[1], z = args[2];
    switch (op) {
    case IR_OP_SMUL_HI:
    case IR_OP_UMUL_HI: *result = high_half(f, kind, op == IR_OP_SMUL_HI, x, y); return true;
    case IR_OP_SMAD_HI: *result = OP2(ADD, OP2(SMUL_HI, x, y), z); return true;
    case IR_OP_UMAD_HI: *result = OP2(ADD, OP2(UMUL_HI, x, y), z); return true;
    case IR_OP_SMAD_SAT:
    case IR_OP_UMAD_SAT: *result = mad_saturated(f, kind, op == IR_OP_SMAD_SAT, args); return true;
    case IR_OP_SMUL24:
    case IR_OP_UMUL24: *result = multiplied24(f, kind, op == IR_OP_SMUL24, x, y); return true;
    case IR_OP_SMAD24:
    case IR_OP_UMAD24: *result = OP2(ADD, multiplied24(f, kind, op == IR_OP_SMAD24, x, y), z); return true;
    default: return false;
    }
}

bool spw_expand_integer(struct spw *w, enum ir_op op, enum ir_kind kind, const value *args, value *result)
{
    const struct formula *f = &w->formula;
    if (expand_both(w, op, kind, args, result)) return true;
    if (!w->vulkan) return false;
    if (expand_sums(f, op, kind, args[0], args[1], result) || expand_products(f, op, kind, args, result)) return true;
    switch (op) {
    case IR_OP_SCLAMP: *result = OP2(SMIN, OP2(SMAX, args[0], args[1]), args[2]); return true;
    case IR_OP_UCLAMP: *result = OP2(UMIN, OP2(UMAX, args[0], args[1]), args[2]); return true;
    case IR_OP_POPCOUNT: *result = population(f, kind, args[0]); return true;
    case IR_OP_CLZ: *result = leading_zeros(f, kind, args[0]); return true;
    case IR_OP_CTZ: *result = trailing_zeros(f, kind, args[0]); return true;
    case IR_OP_BITSELECT: {
        enum ir_kind whole = kind;
        kind = spw_int_kind(kind);
        value x = AS_BITS(args[0]), y = AS_BITS(args[1]), z = AS_BITS(args[2]);
        *result = BITS(whole, OP2(XOR, x, OP2(AND, OP2(XOR, x, y), z)));
        return true;
    }
    default: return false;
    }
}
