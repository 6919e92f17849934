/* Simple operations on one lane. */
#include "fuser/cpu/lower/scalar.h"

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/math.h"
#include "fuser/cpu/simd/op.h"

#define BITS(kind) (kind_bytes(kind) * 8)

static rval bool_as(struct emit *e, rval condition, enum ir_kind kind)
{
    return jit_cast(e, condition, jit_type(e, kind));
}

static rval shifted(struct emit *e, enum ir_op op, enum ir_kind kind, rval a, rval b)
{
    rval by = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, b, jit_int(e, kind, BITS(kind) - 1));
    if (op == IR_OP_SHL) return jit_binary(e, GCC_JIT_BINARY_OP_LSHIFT, a, by);
    if (op == IR_OP_LSHR) return jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, a, by);
    gcc_jit_type *type = jit_signed(e, kind);
    rval r = jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, jit_cast(e, a, type), jit_cast(e, by, type));
    return jit_cast(e, r, jit_type(e, kind));
}

/* By zero: divided by one and thrown away, so that nothing traps. */
static rval unsigned_division(struct emit *e, enum ir_op op, enum ir_kind kind, rval a, rval b)
{
    rval is_zero = bool_as(e, jit_compare(e, GCC_JIT_COMPARISON_EQ, b, jit_int(e, kind, 0)), kind);
    lval zero = jit_keep(e, is_zero);
    enum gcc_jit_binary_op divide = op == IR_OP_UDIV ? GCC_JIT_BINARY_OP_DIVIDE : GCC_JIT_BINARY_OP_MODULO;
    rval r = jit_binary(e, divide, a, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, b, jit_read(zero)));
    rval keep = jit_binary(e, GCC_JIT_BINARY_OP_MINUS, jit_read(zero), jit_int(e, kind, 1)); /* ones unless zero */
    return jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, r, keep);
}

/* Likewise; and by -1, which may overflow, is a negation. */
static rval signed_division(struct emit *e, enum ir_op op, enum ir_kind kind, rval a, rval b)
{
    gcc_jit_type *type = jit_signed(e, kind), *as = jit_type(e, kind);
    lval zero = jit_keep(e, bool_as(e, jit_compare(e, GCC_JIT_COMPARISON_EQ, b, jit_int(e, kind, 0)), kind));
    rval minus_one = jit_compare(e, GCC_JIT_COMPARISON_EQ, jit_cast(e, b, type),
                                 gcc_jit_context_new_rvalue_from_int(e->gcc, type, -1));
    lval minus = jit_keep(e, bool_as(e, minus_one, kind));
    rval safe = jit_add(e, jit_add(e, b, jit_read(zero)), jit_add(e, jit_read(minus), jit_read(minus)));
    lval divisor = jit_keep(e, jit_cast(e, safe, type)), dividend = jit_keep(e, jit_cast(e, a, type));
    rval keep = jit_binary(e, GCC_JIT_BINARY_OP_MINUS, jit_read(zero), jit_int(e, kind, 1));
    if (op == IR_OP_SDIV) {
        rval q = jit_cast(e, jit_binary(e, GCC_JIT_BINARY_OP_DIVIDE, jit_read(dividend), jit_read(divisor)), as);
        rval flip = gcc_jit_context_new_unary_op(e->gcc, NULL, GCC_JIT_UNARY_OP_MINUS, as, jit_read(minus));
        q = jit_add(e, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_XOR, q, flip), jit_read(minus));
        return jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, q, keep);
    }
    lval r =
        jit_keep(e, jit_cast(e, jit_binary(e, GCC_JIT_BINARY_OP_MODULO, jit_read(dividend), jit_read(divisor)), as));
    rval rest = jit_read(r);
    if (op == IR_OP_SMOD) {
        /* The divisor's sign: one more divisor where the signs differ and something is left. */
        rval differ = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_XOR, jit_read(r), jit_cast(e, jit_read(divisor), as));
        rval negative =
            jit_compare(e, GCC_JIT_COMPARISON_LT, jit_cast(e, differ, type), gcc_jit_context_zero(e->gcc, type));
        rval some = jit_compare(e, GCC_JIT_COMPARISON_NE, jit_read(r), jit_int(e, kind, 0));
        rval add = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, negative, some);
        rest = jit_add(e, jit_read(r), jit_mul(e, jit_cast(e, jit_read(divisor), as), bool_as(e, add, kind)));
    }
    return jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, rest, keep);
}

/* 64 bits: through a product of 128. */
static rval wide_product(struct emit *e, enum ir_op op, rval *args)
{
    bool is_signed = op == IR_OP_SMUL_HI || op == IR_OP_SMAD_SAT;
    gcc_jit_type *wide = jit_c(e, is_signed ? GCC_JIT_TYPE_INT128_T : GCC_JIT_TYPE_UINT128_T);
    gcc_jit_type *narrow = is_signed ? jit_signed(e, IR_KIND_I64) : jit_type(e, IR_KIND_I64),
                 *as = jit_type(e, IR_KIND_I64);
    rval x = jit_cast(e, jit_cast(e, args[0], narrow), wide), y = jit_cast(e, jit_cast(e, args[1], narrow), wide);
    lval product = jit_keep(e, jit_mul(e, x, y));
    rval bits = gcc_jit_context_new_rvalue_from_int(e->gcc, wide, 64);
    if (op == IR_OP_SMUL_HI || op == IR_OP_UMUL_HI)
        return jit_cast(e, jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, jit_read(product), bits), as);
    lval sum = jit_keep(e, jit_add(e, jit_read(product), jit_cast(e, jit_cast(e, args[2], narrow), wide)));
    lval top = jit_keep(e, jit_cast(e, jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, jit_read(sum), bits), as));
    rval low = jit_read(jit_keep(e, jit_cast(e, jit_read(sum), as)));
    if (!is_signed) {
        rval overflow = jit_compare(e, GCC_JIT_COMPARISON_NE, jit_read(top), jit_int(e, IR_KIND_I64, 0));
        return jit_select(e, overflow, jit_int(e, IR_KIND_I64, ~0ull), low);
    }
    /* It fits where the upper half is the lower one's sign. */
    rval sign = shifted(e, IR_OP_ASHR, IR_KIND_I64, low, jit_int(e, IR_KIND_I64, 63));
    rval limit = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_XOR,
                            shifted(e, IR_OP_ASHR, IR_KIND_I64, jit_read(top), jit_int(e, IR_KIND_I64, 63)),
                            jit_int(e, IR_KIND_I64, INT64_MAX));
    limit = jit_read(jit_keep(e, limit));
    return jit_select(e, jit_compare(e, GCC_JIT_COMPARISON_NE, jit_read(top), sign), limit, low);
}

static rval leading_zeros(struct emit *e, enum ir_kind kind, rval x)
{
    unsigned w = BITS(kind);
    rval wide = jit_cast(e, x, jit_type(e, IR_KIND_I64));
    if (w < 64) wide = jit_binary(e, GCC_JIT_BINARY_OP_LSHIFT, wide, jit_int(e, IR_KIND_I64, 64 - w));
    rval one = jit_int(e, IR_KIND_I64, w < 64 ? 1ull << (63 - w) : 1);
    rval n = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, wide, one);
    n = jit_cast(e, jit_builtin(e, "__builtin_clzl", 1, (rval[]){jit_cast(e, n, jit_c(e, GCC_JIT_TYPE_UNSIGNED_LONG))}),
                 jit_type(e, kind));
    return w < 64 ? n : jit_add(e, n, bool_as(e, jit_compare(e, GCC_JIT_COMPARISON_EQ, x, jit_int(e, kind, 0)), kind));
}

static rval trailing_zeros(struct emit *e, enum ir_kind kind, rval x)
{
    unsigned w = BITS(kind);
    rval one = jit_int(e, IR_KIND_I64, w < 64 ? 1ull << w : 1ull << 63);
    rval n = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, jit_cast(e, x, jit_type(e, IR_KIND_I64)), one);
    n = jit_cast(e, jit_builtin(e, "__builtin_ctzl", 1, (rval[]){jit_cast(e, n, jit_c(e, GCC_JIT_TYPE_UNSIGNED_LONG))}),
                 jit_type(e, kind));
    return w < 64 ? n : jit_add(e, n, bool_as(e, jit_compare(e, GCC_JIT_COMPARISON_EQ, x, jit_int(e, kind, 0)), kind));
}

/* By adding neighbours up: the library's function would need libgcc where there is no instruction. */
static rval population(struct emit *e, enum ir_kind kind, rval x)
{
    static const uint64_t masks[] = {0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f};
    lval n = jit_keep(e, jit_cast(e, x, jit_type(e, IR_KIND_I64)));
    for (unsigned i = 0; i < 3; i++) {
        rval mask = jit_int(e, IR_KIND_I64, masks[i]);
        rval high = jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, jit_read(n), jit_int(e, IR_KIND_I64, 1u << i));
        rval sum = jit_add(e, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, jit_read(n), mask),
                           jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, high, mask));
        n = jit_keep(e, sum);
    }
    rval sum = jit_mul(e, jit_read(n), jit_int(e, IR_KIND_I64, 0x0101010101010101));
    return jit_cast(e, jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, sum, jit_int(e, IR_KIND_I64, 56)), jit_type(e, kind));
}

static rval extreme(struct emit *e, enum ir_op op, enum ir_kind kind, rval a, rval b)
{
    bool is_signed = op == IR_OP_SMIN || op == IR_OP_SMAX, min = op == IR_OP_SMIN || op == IR_OP_UMIN;
    gcc_jit_type *type = is_signed ? jit_signed(e, kind) : jit_type(e, kind);
    rval first =
        jit_compare(e, min ? GCC_JIT_COMPARISON_LT : GCC_JIT_COMPARISON_GT, jit_cast(e, a, type), jit_cast(e, b, type));
    return jit_select(e, first, a, b);
}

static rval int_op(struct emit *e, enum ir_op op, enum ir_kind kind, rval *x)
{
    switch (op) {
    case IR_OP_ADD: return jit_add(e, x[0], x[1]);
    case IR_OP_SUB: return jit_binary(e, GCC_JIT_BINARY_OP_MINUS, x[0], x[1]);
    case IR_OP_MUL: return jit_mul(e, x[0], x[1]);
    case IR_OP_UDIV:
    case IR_OP_UREM: return unsigned_division(e, op, kind, x[0], x[1]);
    case IR_OP_SDIV:
    case IR_OP_SREM:
    case IR_OP_SMOD: return signed_division(e, op, kind, x[0], x[1]);
    case IR_OP_NEG: return jit_binary(e, GCC_JIT_BINARY_OP_MINUS, jit_int(e, kind, 0), x[0]);
    case IR_OP_SHL:
    case IR_OP_LSHR:
    case IR_OP_ASHR: return shifted(e, op, kind, x[0], x[1]);
    case IR_OP_AND: return jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, x[0], x[1]);
    case IR_OP_OR: return jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, x[0], x[1]);
    case IR_OP_XOR: return jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_XOR, x[0], x[1]);
    case IR_OP_NOT:
        if (kind == IR_KIND_BOOL) return jit_not(e, x[0]);
        return gcc_jit_context_new_unary_op(e->gcc, NULL, GCC_JIT_UNARY_OP_BITWISE_NEGATE, jit_type(e, kind), x[0]);
    case IR_OP_SMIN:
    case IR_OP_SMAX:
    case IR_OP_UMIN:
    case IR_OP_UMAX: return extreme(e, op, kind, x[0], x[1]);
    case IR_OP_SABS: {
        rval negative = jit_binary(e, GCC_JIT_BINARY_OP_MINUS, jit_int(e, kind, 0), x[0]);
        return extreme(e, IR_OP_SMAX, kind, x[0], jit_read(jit_keep(e, negative)));
    }
    case IR_OP_SMUL_HI:
    case IR_OP_UMUL_HI:
    case IR_OP_SMAD_SAT:
    case IR_OP_UMAD_SAT: return wide_product(e, op, x);
    case IR_OP_CLZ: return leading_zeros(e, kind, x[0]);
    case IR_OP_CTZ: return trailing_zeros(e, kind, x[0]);
    case IR_OP_POPCOUNT: return population(e, kind, x[0]);
    default: return NULL;
    }
}

static rval either(struct emit *e, rval a, rval b)
{
    return jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, a, b);
}

static rval compared(struct emit *e, enum ir_op op, enum ir_kind from, rval a, rval b)
{
    static const enum gcc_jit_comparison order[] = {GCC_JIT_COMPARISON_LT, GCC_JIT_COMPARISON_LE, GCC_JIT_COMPARISON_GT,
                                                    GCC_JIT_COMPARISON_GE};
    static const enum gcc_jit_comparison opposite[] = {GCC_JIT_COMPARISON_GE, GCC_JIT_COMPARISON_GT,
                                                       GCC_JIT_COMPARISON_LE, GCC_JIT_COMPARISON_LT};
    switch (op) {
    case IR_OP_IEQ:
    case IR_OP_FOEQ: return jit_compare(e, GCC_JIT_COMPARISON_EQ, a, b);
    case IR_OP_INE:
    case IR_OP_FUNE: return jit_compare(e, GCC_JIT_COMPARISON_NE, a, b);
    case IR_OP_SLT ... IR_OP_SGE: {
        gcc_jit_type *type = jit_signed(e, from);
        return jit_compare(e, order[op - IR_OP_SLT], jit_cast(e, a, type), jit_cast(e, b, type));
    }
    case IR_OP_ULT ... IR_OP_UGE: return jit_compare(e, order[op - IR_OP_ULT], a, b);
    case IR_OP_FOLT ... IR_OP_FOGE: return jit_compare(e, order[op - IR_OP_FOLT], a, b);
    case IR_OP_FULT ... IR_OP_FUGE: return jit_not(e, jit_compare(e, opposite[op - IR_OP_FULT], a, b));
    case IR_OP_FUNO:
    case IR_OP_FORD: {
        rval nan = either(e, jit_compare(e, GCC_JIT_COMPARISON_NE, a, a), jit_compare(e, GCC_JIT_COMPARISON_NE, b, b));
        return op == IR_OP_FUNO ? nan : jit_not(e, nan);
    }
    default: return NULL;
    }
}

static rval float_op(struct emit *e, enum ir_op op, enum ir_kind kind, rval *x)
{
    static const char *const names[][2] = {
        {"__builtin_sqrtf", "__builtin_sqrt"}, {"__builtin_floorf", "__builtin_floor"},
        {"__builtin_ceilf", "__builtin_ceil"}, {"__builtin_truncf", "__builtin_trunc"},
        {"__builtin_rintf", "__builtin_rint"}, {"__builtin_fmaf", "__builtin_fma"}};
    bool wide = kind == IR_KIND_F64;
    switch ((int)op) {
    case IR_OP_FADD: return jit_add(e, x[0], x[1]);
    case IR_OP_FSUB: return jit_binary(e, GCC_JIT_BINARY_OP_MINUS, x[0], x[1]);
    case IR_OP_FMUL: return jit_mul(e, x[0], x[1]);
    case IR_OP_FDIV: return jit_binary(e, GCC_JIT_BINARY_OP_DIVIDE, x[0], x[1]);
    case FORMULA_FMIN: return jit_select(e, jit_compare(e, GCC_JIT_COMPARISON_LT, x[0], x[1]), x[0], x[1]);
    case FORMULA_FMAX: return jit_select(e, jit_compare(e, GCC_JIT_COMPARISON_GT, x[0], x[1]), x[0], x[1]);
    case IR_OP_SQRT: return jit_builtin(e, names[0][wide], 1, x);
    case IR_OP_FLOOR: return jit_builtin(e, names[1][wide], 1, x);
    case IR_OP_CEIL: return jit_builtin(e, names[2][wide], 1, x);
    case IR_OP_TRUNC: return jit_builtin(e, names[3][wide], 1, x);
    case IR_OP_RINT: return jit_builtin(e, names[4][wide], 1, x);
    case IR_OP_FMA: return jit_builtin(e, names[5][wide], 3, x);
    default: return NULL;
    }
}

/* ---- conversions ---- */

/* binary16 to float: the exponent is rebased by a multiplication, which gets denormals right too. */
static rval half_to_float(struct emit *e, rval h)
{
    gcc_jit_type *word = jit_type(e, IR_KIND_I32), *real = jit_type(e, IR_KIND_F32);
    lval bits = jit_keep(e, jit_cast(e, h, word));
    rval magnitude = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, jit_read(bits), jit_int(e, IR_KIND_I32, 0x7fff));
    magnitude = jit_binary(e, GCC_JIT_BINARY_OP_LSHIFT, magnitude, jit_int(e, IR_KIND_I32, 13));
    rval scaled =
        jit_mul(e, jit_bits(e, magnitude, real), gcc_jit_context_new_rvalue_from_double(e->gcc, real, 0x1p112));
    lval value = jit_keep(e, jit_bits(e, scaled, word));
    rval special = jit_compare(e, GCC_JIT_COMPARISON_GE, jit_read(value), jit_int(e, IR_KIND_I32, 0x47800000));
    rval infinite = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, jit_read(value), jit_int(e, IR_KIND_I32, 0x7f800000));
    rval r = jit_select(e, special, jit_read(jit_keep(e, infinite)), jit_read(value));
    rval sign = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, jit_read(bits), jit_int(e, IR_KIND_I32, 0x8000));
    sign = jit_binary(e, GCC_JIT_BINARY_OP_LSHIFT, sign, jit_int(e, IR_KIND_I32, 16));
    return jit_bits(e, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, r, sign), real);
}

/* double to binary16 in one rounding. Adding and taking away a number whose last place is that of the
   result rounds to it, ties to even; the number depends on the exponent, for denormals it is fixed. */
static rval double_to_half(struct emit *e, rval d)
{
    enum ir_kind k = IR_KIND_I64;
    gcc_jit_type *word = jit_type(e, k), *real = jit_type(e, IR_KIND_F64);
    lval bits = jit_keep(e, jit_bits(e, d, word));
    lval magnitude =
        jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, jit_read(bits), jit_int(e, k, INT64_MAX)));
    rval exponent =
        jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, jit_read(magnitude), jit_int(e, k, 0x7ff0000000000000));
    rval least = jit_int(e, k, 0x3f10000000000000); /* 2^-14 */
    lval kept = jit_keep(e, exponent);
    rval base = jit_select(e, jit_compare(e, GCC_JIT_COMPARISON_LT, jit_read(kept), least), least, jit_read(kept));
    rval top = jit_int(e, k, 0x40f0000000000000); /* 2^16: more is infinite anyway */
    base = jit_read(jit_keep(e, base));
    base = jit_select(e, jit_compare(e, GCC_JIT_COMPARISON_GT, base, top), top, base);
    lval adder = jit_keep(e, jit_bits(e, jit_add(e, base, jit_int(e, k, 42ull << 52)), real));
    lval sum = jit_keep(e, jit_add(e, jit_bits(e, jit_read(magnitude), real), jit_read(adder)));
    lval rounded = jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_MINUS, jit_read(sum), jit_read(adder)));
    /* Now exact: scaled so that binary16's exponent field comes out, denormals through an integer. */
    rval units = jit_mul(e, jit_read(rounded), gcc_jit_context_new_rvalue_from_double(e->gcc, real, 0x1p24));
    lval small = jit_keep(e, jit_cast(e, jit_cast(e, units, jit_signed(e, k)), word));
    rval raw = jit_bits(e, jit_read(rounded), word);
    rval rebased = jit_binary(e, GCC_JIT_BINARY_OP_MINUS, raw, jit_int(e, k, 1008ull << 52));
    lval normal = jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, rebased, jit_int(e, k, 42)));
    rval denormal = jit_compare(e, GCC_JIT_COMPARISON_LT, jit_read(rounded),
                                gcc_jit_context_new_rvalue_from_double(e->gcc, real, 0x1p-14));
    rval r = jit_select(e, denormal, jit_read(small), jit_read(normal));
    rval infinite =
        jit_compare(e, GCC_JIT_COMPARISON_GE, jit_read(magnitude), jit_int(e, k, 0x40effe0000000000)); /* 65520 */
    r = jit_select(e, infinite, jit_int(e, k, 0x7c00), r);
    rval payload = jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, jit_read(magnitude), jit_int(e, k, 42));
    payload = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, payload, jit_int(e, k, 0x3ff));
    payload = jit_read(jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, payload, jit_int(e, k, 0x7e00))));
    rval nan = jit_compare(e, GCC_JIT_COMPARISON_GT, jit_read(magnitude), jit_int(e, k, 0x7ff0000000000000));
    r = jit_select(e, nan, payload, r);
    rval sign = jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, jit_read(bits), jit_int(e, k, 48));
    sign = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, sign, jit_int(e, k, 0x8000));
    return jit_cast(e, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, r, sign), jit_type(e, IR_KIND_F16));
}

static rval float_width(struct emit *e, enum ir_kind kind, enum ir_kind from, rval x)
{
    if (from == kind) return x;
    if (from == IR_KIND_F16) return jit_cast(e, half_to_float(e, x), jit_type(e, kind));
    if (kind == IR_KIND_F16) return double_to_half(e, jit_cast(e, x, jit_type(e, IR_KIND_F64)));
    return jit_cast(e, x, jit_type(e, kind));
}

static rval converted(struct emit *e, enum ir_op op, enum ir_kind kind, enum ir_kind from, rval x)
{
    gcc_jit_type *type = jit_type(e, kind);
    switch ((int)op) {
    case IR_OP_ITRUNC:
        if (kind == IR_KIND_BOOL) return jit_compare(e, GCC_JIT_COMPARISON_NE, x, jit_int(e, from, 0));
        return jit_cast(e, x, type);
    case IR_OP_ZEXT:
    case IR_OP_UTOF: return jit_cast(e, x, type);
    case IR_OP_SEXT: return jit_cast(e, jit_cast(e, jit_cast(e, x, jit_signed(e, from)), jit_signed(e, kind)), type);
    case IR_OP_STOF: return jit_cast(e, jit_cast(e, x, jit_signed(e, from)), type);
    case OP_RAW_FTOS: return jit_cast(e, jit_cast(e, x, jit_signed(e, kind)), type);
    case OP_RAW_FTOU:
        /* Narrow ones by way of a wider signed number, which the processor has. */
        if (kind == IR_KIND_I32) return jit_cast(e, jit_cast(e, x, jit_signed(e, IR_KIND_I64)), type);
        return jit_cast(e, x, type);
    case IR_OP_FPCONV: return float_width(e, kind, from, x);
    default: return NULL;
    }
}

rval scalar_op(struct emit *e, enum ir_op op, enum ir_kind kind, enum ir_kind from, rval *args)
{
    if (op == IR_OP_SELECT) return jit_select(e, args[0], args[1], args[2]);
    if (op_is_comparison(op)) return compared(e, op, from, args[0], args[1]);
    rval r = converted(e, op, kind, from, args[0]);
    if (r) return r;
    if (kind == IR_KIND_F32 || kind == IR_KIND_F64) r = float_op(e, op, kind, args);
    if (!r) r = int_op(e, op, kind, args);
    return r ? r : math_scalar(e, op, kind, from, args);
}
