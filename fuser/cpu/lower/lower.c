/* Operations in terms of simpler ones, the same for scalars and vectors. */
#include "fuser/cpu/lower/lower.h"

#include <math.h>

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/division.h"
#include "fuser/cpu/lower/extreme.h"
#include "fuser/cpu/lower/formula.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/simd/op.h"
#include "fuser/cpu/simd/x86_interleave.h"
#include "fuser/cpu/target/isa.h"
#include "ir/core/float.h"

static unsigned bits_of(enum ir_kind kind)
{
    return kind == IR_KIND_BOOL ? 1 : kind_bytes(kind) * 8;
}

static bool is_float(enum ir_kind kind)
{
    return kind >= IR_KIND_F16 && kind <= IR_KIND_F64;
}

static enum ir_kind int_of(enum ir_kind kind)
{
    return kind_of_bytes(kind_bytes(kind));
}

static struct lanes constant(struct emit *e, enum ir_kind kind, uint64_t bits)
{
    return lanes_int(e, kind, bits);
}

/* Shorthands on values of one kind. */
#define K(bits) constant(e, kind, bits)
#define OP1(op, x) op1(e, IR_OP_##op, kind, x)
#define OP2(op, x, y) op2(e, IR_OP_##op, kind, x, y)
#define OP3(op, x, y, z) op3(e, IR_OP_##op, kind, x, y, z)
#define IS(op, x, y) op2(e, IR_OP_##op, IR_KIND_BOOL, x, y)
#define SELECT(c, x, y) op_select(e, c, x, y)

/* ---- f16: conversions from and to it, by way of a wider one ---- */

static bool lower_half(struct emit *e, enum ir_op op, enum ir_kind kind, const struct lanes *args, struct lanes *result)
{
    if (args[0].kind != IR_KIND_F16 && kind != IR_KIND_F16) return false;
    if (op == IR_OP_FPCONV && kind == IR_KIND_F64) {
        *result = op1(e, IR_OP_FPCONV, kind, op1(e, IR_OP_FPCONV, IR_KIND_F32, args[0]));
        return true;
    }
    if (op == IR_OP_STOF || op == IR_OP_UTOF) {
        enum ir_kind wide = kind_bytes(args[0].kind) < 4 ? IR_KIND_F32 : IR_KIND_F64;
        *result = op1(e, IR_OP_FPCONV, kind, op1(e, op, wide, args[0]));
        return true;
    }
    return false;
}

/* ---- integers ---- */

static struct lanes high_half(struct emit *e, enum ir_kind kind, bool is_signed, struct lanes x, struct lanes y)
{
    enum ir_kind wide = kind_of_bytes(2 * kind_bytes(kind));
    enum ir_op extend = is_signed ? IR_OP_SEXT : IR_OP_ZEXT;
    struct lanes product = op2(e, IR_OP_MUL, wide, op1(e, extend, wide, x), op1(e, extend, wide, y));
    return op1(e, IR_OP_ITRUNC, kind, op2(e, IR_OP_LSHR, wide, product, constant(e, wide, bits_of(kind))));
}

static struct lanes mad_saturated(struct emit *e, enum ir_kind kind, bool is_signed, const struct lanes *args)
{
    enum ir_kind wide = IR_KIND_I64;
    enum ir_op extend = is_signed ? IR_OP_SEXT : IR_OP_ZEXT;
    struct lanes product = op2(e, IR_OP_MUL, wide, op1(e, extend, wide, args[0]), op1(e, extend, wide, args[1]));
    struct lanes sum = op2(e, IR_OP_ADD, wide, product, op1(e, extend, wide, args[2]));
    return op1(e, is_signed ? IR_OP_SSAT : IR_OP_USAT, kind, sum);
}

/* x + y or x - y, saturated: the sign of the result is wrong where the signs say it overflowed. */
static struct lanes signed_saturated(struct emit *e, enum ir_kind kind, bool add, struct lanes x, struct lanes y)
{
    unsigned w = bits_of(kind);
    struct lanes r = add ? OP2(ADD, x, y) : OP2(SUB, x, y);
    struct lanes overflow = OP2(AND, OP2(XOR, r, x), add ? OP2(XOR, r, y) : OP2(XOR, x, y));
    struct lanes limit = OP2(XOR, OP2(ASHR, x, K(w - 1)), K((1ull << (w - 1)) - 1));
    return SELECT(IS(SLT, overflow, K(0)), limit, r);
}

static struct lanes reversed(struct emit *e, enum ir_kind kind, struct lanes x)
{
    static const uint64_t masks[] = {0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f,
                                     0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff};
    unsigned w = bits_of(kind);
    for (unsigned i = 0; 1u << i < w; i++) {
        uint64_t mask = w == 64 ? masks[i] : masks[i] & ((1ull << w) - 1);
        struct lanes up = OP2(SHL, OP2(AND, x, K(mask)), K(1u << i));
        struct lanes down = OP2(AND, OP2(LSHR, x, K(1u << i)), K(mask));
        x = OP2(OR, up, down);
    }
    return x;
}

static struct lanes resized(struct emit *e, enum ir_kind kind, struct lanes v)
{
    if (bits_of(v.kind) == bits_of(kind)) return v;
    return op1(e, bits_of(v.kind) < bits_of(kind) ? IR_OP_ZEXT : IR_OP_ITRUNC, kind, v);
}

/* count ones at the bottom; the count is at most the width. */
static struct lanes low_ones(struct emit *e, enum ir_kind kind, struct lanes count)
{
    unsigned w = bits_of(kind);
    struct lanes some = OP2(SUB, OP2(SHL, K(1), resized(e, kind, count)), K(1));
    return SELECT(op2(e, IR_OP_UGE, IR_KIND_BOOL, count, constant(e, IR_KIND_I32, w)), K(~0ull), some);
}

/* Bits of the field that lie in the number. */
static struct lanes field_count(struct emit *e, enum ir_kind kind, struct lanes offset, struct lanes count)
{
    struct lanes w = constant(e, IR_KIND_I32, bits_of(kind));
    struct lanes room = op2(e, IR_OP_SUB, IR_KIND_I32, w, op2(e, IR_OP_UMIN, IR_KIND_I32, offset, w));
    return op2(e, IR_OP_UMIN, IR_KIND_I32, count, room);
}

static struct lanes bit_field(struct emit *e, enum ir_op op, enum ir_kind kind, const struct lanes *args)
{
    struct lanes offset = args[op == IR_OP_BITFIELD_INSERT ? 2 : 1], count = args[op == IR_OP_BITFIELD_INSERT ? 3 : 2];
    struct lanes n = field_count(e, kind, offset, count), at = resized(e, kind, offset);
    struct lanes none = op2(e, IR_OP_IEQ, IR_KIND_BOOL, n, constant(e, IR_KIND_I32, 0));
    if (op == IR_OP_BITFIELD_INSERT) {
        struct lanes mask = OP2(SHL, low_ones(e, kind, n), at);
        struct lanes kept = OP2(AND, args[0], OP1(NOT, mask)), put = OP2(AND, OP2(SHL, args[1], at), mask);
        return SELECT(none, args[0], OP2(OR, kept, put));
    }
    struct lanes field = OP2(AND, OP2(LSHR, args[0], at), low_ones(e, kind, n));
    if (op == IR_OP_SBITFIELD_EXTRACT) {
        struct lanes up = resized(e, kind, op2(e, IR_OP_SUB, IR_KIND_I32, constant(e, IR_KIND_I32, bits_of(kind)), n));
        field = OP2(ASHR, OP2(SHL, field, up), up);
    }
    return SELECT(none, K(0), field);
}

static struct lanes multiply24(struct emit *e, enum ir_kind kind, bool is_signed, struct lanes x, struct lanes y)
{
    unsigned w = bits_of(kind);
    if (w <= 24) return OP2(MUL, x, y);
    if (!is_signed) return OP2(MUL, OP2(AND, x, K(0xffffff)), OP2(AND, y, K(0xffffff)));
    struct lanes up = K(w - 24);
    return OP2(MUL, OP2(ASHR, OP2(SHL, x, up), up), OP2(ASHR, OP2(SHL, y, up), up));
}

static bool lower_int(struct emit *e, enum ir_op op, enum ir_kind kind, const struct lanes *args, struct lanes *result)
{
    struct lanes x = args[0];
    struct lanes y = args[1], z = args[2];
    bool wide = bits_of(kind) == 64;
    switch (op) {
    case IR_OP_SABS_DIFF: *result = OP2(SUB, OP2(SMAX, x, y), OP2(SMIN, x, y)); return true;
    case IR_OP_UABS_DIFF: *result = OP2(SUB, OP2(UMAX, x, y), OP2(UMIN, x, y)); return true;
    case IR_OP_SADD_SAT:
    case IR_OP_SSUB_SAT:
        if (bits_of(kind) < 32 && x.shape == SHAPE_VARYING && e->isa->id != CPU_ISA_GENERIC) return false;
        *result = signed_saturated(e, kind, op == IR_OP_SADD_SAT, x, y);
        return true;
    case IR_OP_UADD_SAT: *result = OP2(ADD, x, OP2(UMIN, y, OP1(NOT, x))); return true;
    case IR_OP_USUB_SAT: *result = OP2(SUB, x, OP2(UMIN, x, y)); return true;
    case IR_OP_SHADD: *result = OP2(ADD, OP2(AND, x, y), OP2(ASHR, OP2(XOR, x, y), K(1))); return true;
    case IR_OP_UHADD: *result = OP2(ADD, OP2(AND, x, y), OP2(LSHR, OP2(XOR, x, y), K(1))); return true;
    case IR_OP_SRHADD: *result = OP2(SUB, OP2(OR, x, y), OP2(ASHR, OP2(XOR, x, y), K(1))); return true;
    case IR_OP_URHADD: *result = OP2(SUB, OP2(OR, x, y), OP2(LSHR, OP2(XOR, x, y), K(1))); return true;
    case IR_OP_SCLAMP: *result = OP2(SMIN, OP2(SMAX, x, y), z); return true;
    case IR_OP_UCLAMP: *result = OP2(UMIN, OP2(UMAX, x, y), z); return true;
    case IR_OP_SMUL_HI:
    case IR_OP_UMUL_HI:
        if (wide) return false;
        *result = high_half(e, kind, op == IR_OP_SMUL_HI, x, y);
        return true;
    case IR_OP_SMAD_HI: *result = OP2(ADD, OP2(SMUL_HI, x, y), z); return true;
    case IR_OP_UMAD_HI: *result = OP2(ADD, OP2(UMUL_HI, x, y), z); return true;
    case IR_OP_SMAD_SAT:
    case IR_OP_UMAD_SAT:
        if (wide) return false;
        *result = mad_saturated(e, kind, op == IR_OP_SMAD_SAT, args);
        return true;
    case IR_OP_SMUL24:
    case IR_OP_UMUL24: *result = multiply24(e, kind, op == IR_OP_SMUL24, x, y); return true;
    case IR_OP_SMAD24:
    case IR_OP_UMAD24: *result = OP2(ADD, multiply24(e, kind, op == IR_OP_SMAD24, x, y), z); return true;
    case IR_OP_ROTATE:
        if (x.shape == SHAPE_VARYING && bits_of(kind) >= 32 && e->isa->id == CPU_ISA_AVX512) return false;
        *result = OP2(OR, OP2(SHL, x, y), OP2(LSHR, x, OP1(NEG, y)));
        return true;
    case IR_OP_BITREVERSE: *result = reversed(e, kind, x); return true;
    case IR_OP_BITFIELD_INSERT:
    case IR_OP_SBITFIELD_EXTRACT:
    case IR_OP_UBITFIELD_EXTRACT: *result = bit_field(e, op, kind, args); return true;
    default: return false;
    }
}

/* ---- conversions ---- */

static struct lanes saturate_int(struct emit *e, enum ir_op op, enum ir_kind kind, struct lanes x)
{
    unsigned from = bits_of(x.kind), to = bits_of(kind);
    bool from_signed = op == IR_OP_SSAT || op == IR_OP_S2U_SAT, to_signed = op == IR_OP_SSAT || op == IR_OP_U2S_SAT;
    uint64_t max = to_signed ? (1ull << (to - 1)) - 1 : to == 64 ? ~0ull : (1ull << to) - 1;
    enum ir_kind source = x.kind;
    if (op == IR_OP_S2U_SAT) x = op2(e, IR_OP_SMAX, source, x, constant(e, source, 0));
    if (op == IR_OP_SSAT && to < from) x = op2(e, IR_OP_SMAX, source, x, constant(e, source, ~max));
    if (to < from || (to == from && op == IR_OP_U2S_SAT))
        x = op2(e, from_signed ? IR_OP_SMIN : IR_OP_UMIN, source, x, constant(e, source, max));
    if (to == from) return x;
    if (to < from) return op_fitting(e, op == IR_OP_SSAT ? IR_OP_SEXT : IR_OP_ZEXT, kind, x);
    return op1(e, op == IR_OP_SSAT ? IR_OP_SEXT : IR_OP_ZEXT, kind, x);
}

/* The same of some of its bytes: the highest ones by a shift, others by one shuffle. */
static bool extend_field(struct emit *e, enum ir_op op, enum ir_kind kind, const struct lane_origin *o, unsigned bits,
                         struct lanes *result)
{
    struct lanes word = o->args[1];
    if (!o->is_field || word.kind != IR_KIND_I32 || word.shape != SHAPE_VARYING) return false;
    if (o->first + bits == 32) {
        *result = op2(e, op == IR_OP_ZEXT ? IR_OP_LSHR : IR_OP_ASHR, kind, word, K(o->first));
        return true;
    }
    if (op != IR_OP_ZEXT || !o->first || !x86_can_pick_bytes(e)) return false;
    lval *from = lanes_vectors(e, &word);
    *result = lanes_varying(e, kind);
    for (unsigned c = 0; c < lanes_chunks(e, kind); c++)
        result->chunk[c] = x86_pick_bytes(e, from[c], o->first / 8, bits / 8);
    return true;
}

/* The extension of what was cut off from a number of 32 bits, from that: no bytes are moved together and apart again.
 */
static bool extend_narrowed(struct emit *e, enum ir_op op, enum ir_kind kind, struct lanes x, struct lanes *result)
{
    const struct lane_origin *o = x.shape == SHAPE_VARYING ? x.origin : NULL;
    if (!o || o->op != IR_OP_ITRUNC || bits_of(kind) != 32 || bits_of(o->args[0].kind) != 32) return false;
    if (extend_field(e, op, kind, o, bits_of(x.kind), result)) return true;
    if (o->fits == op) {
        *result = o->args[0];
        return true;
    }
    struct lanes above = K(32 - bits_of(x.kind));
    if (op == IR_OP_ZEXT)
        *result = op2(e, IR_OP_AND, kind, o->args[0], K((1ull << bits_of(x.kind)) - 1));
    else
        *result = op2(e, IR_OP_ASHR, kind, op2(e, IR_OP_SHL, kind, o->args[0], above), above);
    return true;
}

/* Float to integer, saturated, NaN to 0; towards zero. */
static struct lanes to_int(struct emit *e, bool is_signed, enum ir_kind kind, struct lanes x)
{
    unsigned w = bits_of(kind);
    enum ir_kind from = x.kind;
    double top = ldexp(1, (int)(is_signed ? w - 1 : w));
    bool exact = top < (from == IR_KIND_F64 ? 0x1p53 : 0x1p24);
    struct lanes nan = op2(e, IR_OP_FUNO, IR_KIND_BOOL, x, x);
    if (exact) {
        /* Within reach of the float type: cut there. */
        struct lanes low = op_number(e, from, is_signed ? -top : 0), high = op_number(e, from, top - 1);
        struct lanes cut = op2(e, (enum ir_op)FORMULA_FMIN, from, op2(e, (enum ir_op)FORMULA_FMAX, from, x, low), high);
        bool as_signed = is_signed || w < 32;
        struct lanes r = op1(e, (enum ir_op)(as_signed ? OP_RAW_FTOS : OP_RAW_FTOU), IR_KIND_I32, cut);
        if (is_signed) r = SELECT(nan, constant(e, IR_KIND_I32, 0), r);
        return w < 32 ? op_fitting(e, is_signed ? IR_OP_SEXT : IR_OP_ZEXT, kind, r) : r;
    }
    if (!is_signed) {
        struct lanes r =
            op1(e, (enum ir_op)OP_RAW_FTOU, kind, op2(e, (enum ir_op)FORMULA_FMAX, from, x, op_number(e, from, 0)));
        return SELECT(op2(e, IR_OP_FOGE, IR_KIND_BOOL, x, op_number(e, from, top)), K(~0ull), r);
    }
    struct lanes r = op1(e, (enum ir_op)OP_RAW_FTOS, kind, x);
    r = SELECT(op2(e, IR_OP_FOGE, IR_KIND_BOOL, x, op_number(e, from, top)), K((1ull << (w - 1)) - 1), r);
    r = SELECT(op2(e, IR_OP_FOLT, IR_KIND_BOOL, x, op_number(e, from, -top)), K(1ull << (w - 1)), r);
    return SELECT(nan, K(0), r);
}

static bool lower_conversion(struct emit *e, enum ir_op op, enum ir_kind kind, const struct lanes *args,
                             struct lanes *result)
{
    struct lanes x = args[0];
    switch (op) {
    case IR_OP_SSAT:
    case IR_OP_USAT:
    case IR_OP_S2U_SAT:
    case IR_OP_U2S_SAT: *result = saturate_int(e, op, kind, x); return true;
    case IR_OP_ZEXT:
    case IR_OP_SEXT:
        if (x.kind == IR_KIND_BOOL) {
            *result = SELECT(x, K(op == IR_OP_ZEXT ? 1 : ~0ull), K(0));
            return true;
        }
        if (extend_narrowed(e, op, kind, x, result)) return true;
        if (x.shape != SHAPE_UNIFORM && bits_of(x.kind) < 32 && bits_of(kind) == 64) {
            *result = op1(e, op, kind, op1(e, op, IR_KIND_I32, x));
            return true;
        }
        return false;
    case IR_OP_ITRUNC:
        if (x.shape != SHAPE_UNIFORM && bits_of(x.kind) == 64 && bits_of(kind) < 32) {
            *result = op1(e, op, kind, op1(e, op, IR_KIND_I32, x));
            return true;
        }
        return false;
    case IR_OP_STOF:
    case IR_OP_UTOF:
        if (bits_of(x.kind) >= 32) return false;
        *result = op1(e, IR_OP_STOF, kind, op1(e, op == IR_OP_STOF ? IR_OP_SEXT : IR_OP_ZEXT, IR_KIND_I32, x));
        return true;
    case IR_OP_FTOS:
    case IR_OP_FTOU: *result = to_int(e, op == IR_OP_FTOS, kind, x); return true;
    default: return false;
    }
}

/* ---- floats ---- */

static uint64_t sign_bit(enum ir_kind kind)
{
    return 1ull << (bits_of(kind) - 1);
}

static struct lanes sign_masked(struct emit *e, struct lanes x, bool keep_sign)
{
    enum ir_kind kind = int_of(x.kind);
    uint64_t sign = sign_bit(x.kind);
    return OP2(AND, op_bits(e, x, kind), K(keep_sign ? sign : sign - 1));
}

static struct lanes with_sign(struct emit *e, struct lanes magnitude, struct lanes sign)
{
    enum ir_kind kind = int_of(magnitude.kind);
    return op_bits(e, OP2(OR, sign_masked(e, magnitude, false), sign_masked(e, sign, true)), magnitude.kind);
}

static struct lanes is_nan(struct emit *e, struct lanes x)
{
    return IS(FUNO, x, x);
}

/* Away from zero where half or more is cut off. */
static struct lanes rounded_away(struct emit *e, enum ir_kind kind, struct lanes x)
{
    struct lanes whole = OP1(TRUNC, x), rest = OP1(FABS, OP2(FSUB, x, whole));
    struct lanes one = with_sign(e, op_number(e, kind, 1), x);
    struct lanes up = SELECT(IS(FOGE, rest, op_number(e, kind, 0.5)), OP2(FADD, whole, one), whole);
    return with_sign(e, up, x);
}

/* The magnitudes of floats are ordered as their bits. */
static struct lanes next_after(struct emit *e, struct lanes x, struct lanes y)
{
    enum ir_kind real = x.kind, kind = int_of(real);
    struct lanes bits = op_bits(e, x, kind), up = IS(FOLT, x, y), negative = IS(SLT, bits, K(0));
    struct lanes grows = op2(e, IR_OP_XOR, IR_KIND_BOOL, up, negative);
    struct lanes step = SELECT(grows, OP2(ADD, bits, K(1)), OP2(SUB, bits, K(1)));
    struct lanes least = OP2(OR, OP2(AND, op_bits(e, y, kind), K(sign_bit(real))), K(1));
    struct lanes zero = IS(IEQ, OP2(SHL, bits, K(1)), K(0)), r = SELECT(zero, least, step);
    r = SELECT(IS(FOEQ, x, y), op_bits(e, y, kind), r);
    struct lanes nan = op_bits(e, op_number(e, real, NAN), kind);
    return op_bits(e, SELECT(IS(FUNO, x, y), nan, r), real);
}

static bool lower_float(struct emit *e, enum ir_op op, enum ir_kind kind, const struct lanes *args,
                        struct lanes *result)
{
    struct lanes x = args[0], y = args[1];
    enum ir_kind bits = int_of(kind);
    switch (op) {
    case IR_OP_FNEG:
        *result = op_bits(e, op2(e, IR_OP_XOR, bits, op_bits(e, x, bits), constant(e, bits, sign_bit(kind))), kind);
        return true;
    case IR_OP_FABS: *result = op_bits(e, sign_masked(e, x, false), kind); return true;
    case IR_OP_COPYSIGN: *result = with_sign(e, x, y); return true;
    case IR_OP_NEXTAFTER: *result = next_after(e, x, y); return true;
    case IR_OP_ROUND: *result = rounded_away(e, kind, x); return true;
    case IR_OP_NAN: {
        uint64_t payload = kind == IR_KIND_F16 ? 0x1ff : kind == IR_KIND_F32 ? 0x3fffff : 0x7ffffffffffff;
        uint64_t quiet = kind == IR_KIND_F16 ? 0x7e00 : kind == IR_KIND_F32 ? 0x7fc00000 : 0x7ff8000000000000;
        struct lanes code = op2(e, IR_OP_AND, bits, resized(e, bits, x), constant(e, bits, payload));
        *result = op_bits(e, op2(e, IR_OP_OR, bits, code, constant(e, bits, quiet)), kind);
        return true;
    }
    default: return false;
    }
}

/* ---- questions about floats ---- */

static bool lower_comparison(struct emit *e, enum ir_op op, const struct lanes *args, struct lanes *result)
{
    enum ir_kind from = args[0].kind, kind = int_of(from);
    if (op == IR_OP_FUEQ || op == IR_OP_FONE) {
        bool equal = op == IR_OP_FUEQ;
        struct lanes order = equal ? IS(FUNO, args[0], args[1]) : IS(FORD, args[0], args[1]);
        struct lanes same = equal ? IS(FOEQ, args[0], args[1]) : IS(FUNE, args[0], args[1]);
        *result = op2(e, equal ? IR_OP_OR : IR_OP_AND, IR_KIND_BOOL, order, same);
        return true;
    }
    if (op == IR_OP_ISNAN) {
        *result = is_nan(e, args[0]);
        return true;
    }
    if (op < IR_OP_ISINF || op > IR_OP_SIGNBIT) return false;
    uint64_t infinity = from == IR_KIND_F16 ? 0x7c00 : from == IR_KIND_F32 ? 0x7f800000 : 0x7ff0000000000000;
    uint64_t least = from == IR_KIND_F16 ? 0x400 : from == IR_KIND_F32 ? 0x800000 : 0x10000000000000;
    struct lanes magnitude = sign_masked(e, args[0], false);
    switch (op) {
    case IR_OP_ISINF: *result = IS(IEQ, magnitude, K(infinity)); return true;
    case IR_OP_ISFINITE: *result = IS(ULT, magnitude, K(infinity)); return true;
    case IR_OP_ISNORMAL: *result = IS(ULT, OP2(SUB, magnitude, K(least)), K(infinity - least)); return true;
    default: *result = IS(SLT, op_bits(e, args[0], kind), K(0)); return true;
    }
}

/* x * 2^y: times 2^(y/2), and again, of which only the last makes it round. z has y / 2 in its last bits, and nothing
   in those that become exponents but that. */
static struct lanes scaled(struct emit *e, struct lanes x, struct lanes z)
{
    enum ir_kind kind = IR_KIND_I32;
    struct lanes bits = OP2(ADD, OP2(SHL, op_bits(e, z, kind), K(23)), K(0x3f800000)), power = op_bits(e, bits, x.kind);
    return op2(e, IR_OP_FMUL, x.kind, op2(e, IR_OP_FMUL, x.kind, x, power), power);
}

/* What only formulas have. */
static bool lower_formula_op(struct emit *e, unsigned op, const struct lanes *args, struct lanes *result)
{
    if (op != FORMULA_SCALE) return false;
    bool varying = args[0].shape == SHAPE_VARYING || args[1].shape == SHAPE_VARYING;
    if (varying && e->isa->id == CPU_ISA_AVX512) return false; /* an instruction */
    *result = scaled(e, args[0], args[2]);
    return true;
}

bool lower_op(struct emit *e, enum ir_op op, enum ir_kind kind, const struct lanes *args, struct lanes *result)
{
    if ((int)op >= IR_OP_COUNT) return lower_formula_op(e, op, args, result);
    if (lower_half(e, op, kind, args, result) || lower_extreme(e, op, kind, args, result)) return true;
    if (lower_formula(e, op, kind, args, result)) return true;
    if (op_is_comparison(op)) return lower_comparison(e, op, args, result);
    if (lower_division(e, op, kind, args, result)) return true;
    if (op == IR_OP_BITSELECT) {
        enum ir_kind bits = int_of(kind);
        struct lanes x = op_bits(e, args[0], bits), y = op_bits(e, args[1], bits), z = op_bits(e, args[2], bits);
        struct lanes change = op2(e, IR_OP_AND, bits, op2(e, IR_OP_XOR, bits, x, y), z);
        *result = op_bits(e, op2(e, IR_OP_XOR, bits, x, change), kind);
        return true;
    }
    if (lower_conversion(e, op, kind, args, result)) return true;
    return is_float(kind) ? lower_float(e, op, kind, args, result) : lower_int(e, op, kind, args, result);
}
