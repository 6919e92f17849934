/* The formulas of simple float operations, and of all on f16, which are computed wider. */
#include "ir/formula/formula.h"

#include <math.h>

#include "ir/formula/math.h"
#include "ir/formula/notation.h"

/* ---- f16: computed wider, where the second rounding does no harm ---- */

/* What is exact on the bits, what is made of simpler operations that each round, and conversions of their own. */
static bool half_as_it_is(enum ir_op op)
{
    switch (op) {
    case IR_OP_SELECT:
    case IR_OP_BITCAST:
    case IR_OP_BITSELECT:
    case IR_OP_FPCONV:
    case IR_OP_STOF:
    case IR_OP_UTOF:
    case IR_OP_FABS:
    case IR_OP_FNEG:
    case IR_OP_COPYSIGN:
    case IR_OP_NAN:
    case IR_OP_NEXTAFTER:
    case IR_OP_ISINF ... IR_OP_SIGNBIT:
    case IR_OP_MAD:
    case IR_OP_MIX:
    case IR_OP_SMOOTHSTEP:
    case IR_OP_FRACT: return true;
    default: return op >= IR_OP_COUNT;
    }
}

static value by_half(const struct formula *f, enum ir_op op, enum ir_kind kind, const value *args)
{
    /* A fused product of two f16 and a sum fit in f64 whenever the rounding could matter. */
    enum ir_kind wide = op == IR_OP_FMA ? IR_KIND_F64 : IR_KIND_F32;
    value in[3];
    unsigned n = 0;
    for (const char *letter = ir_op_info(op)->operands; *letter && n < 3; letter++, n++)
        in[n] = args[n].kind == IR_KIND_F16 ? AS(wide, args[n]) : args[n];
    value r = formula_op(f, op, kind == IR_KIND_F16 ? wide : kind, n, in);
    return kind == IR_KIND_F16 ? AS(kind, r) : r;
}

/* ---- simple ones ---- */

/* Of equal ones, zeros of both signs too, y. */
static value extreme(const struct formula *f, bool max, value x, value y)
{
    enum ir_kind kind = x.kind;
    return SELECT(IS2(FUNO, y, y), x, max ? RAW2(FMAX, x, y) : RAW2(FMIN, x, y));
}

static value by_magnitude(const struct formula *f, bool larger, value x, value y)
{
    enum ir_kind kind = x.kind;
    value ax = OP1(FABS, x), ay = OP1(FABS, y), either = extreme(f, larger, x, y);
    value second = SELECT(larger ? IS2(FOGT, ay, ax) : IS2(FOLT, ay, ax), y, either);
    return SELECT(larger ? IS2(FOGT, ax, ay) : IS2(FOLT, ax, ay), x, second);
}

static value fraction(const struct formula *f, value x)
{
    enum ir_kind kind = x.kind;
    double below_one = kind == IR_KIND_F64 ? 0x1.fffffffffffffp-1 : kind == IR_KIND_F32 ? 0x1.fffffep-1 : 0x1.ffcp-1;
    value r = OP2(FMIN, OP2(FSUB, x, OP1(FLOOR, x)), C(below_one)), magnitude = OP1(FABS, x);
    value zero = IS2(OR, IS2(FOEQ, magnitude, C(0)), IS2(FOEQ, magnitude, C(INFINITY)));
    return SELECT(IS2(FUNO, x, x), x, SELECT(zero, OP2(COPYSIGN, C(0), x), r));
}

static value modf_fraction(const struct formula *f, value x)
{
    enum ir_kind kind = x.kind;
    value infinite = IS2(FOEQ, OP1(FABS, x), C(INFINITY));
    return OP2(COPYSIGN, SELECT(infinite, C(0), OP2(FSUB, x, OP1(TRUNC, x))), x);
}

static value smooth_step(const struct formula *f, value low, value high, value x)
{
    enum ir_kind kind = x.kind;
    value t = OP2(FDIV, OP2(FSUB, x, low), OP2(FSUB, high, low));
    value clamped = SELECT(IS2(FOGT, t, C(0)), SELECT(IS2(FOLT, t, C(1)), t, C(1)), C(0));
    t = SELECT(IS2(FUNO, t, t), t, clamped);
    value slope = OP2(FSUB, C(3), OP2(FMUL, C(2), t));
    return OP2(FMUL, OP2(FMUL, t, t), slope);
}

static value sign_of(const struct formula *f, value x)
{
    enum ir_kind kind = x.kind;
    value r = SELECT(IS2(FOEQ, x, C(0)), x, OP2(COPYSIGN, C(1), x));
    return SELECT(IS2(FUNO, x, x), C(0), r);
}

static bool simple(const struct formula *f, enum ir_op op, enum ir_kind kind, const value *args, value *result)
{
    value x = args[0], y = args[1], z = args[2];
    switch (op) {
    case IR_OP_FMIN: *result = extreme(f, false, x, y); return true;
    case IR_OP_FMAX: *result = extreme(f, true, x, y); return true;
    case IR_OP_FCLAMP: *result = OP2(FMIN, OP2(FMAX, x, y), z); return true;
    case IR_OP_MAXMAG: *result = by_magnitude(f, true, x, y); return true;
    case IR_OP_MINMAG: *result = by_magnitude(f, false, x, y); return true;
    case IR_OP_MAD: *result = OP2(FADD, OP2(FMUL, x, y), z); return true;
    case IR_OP_FRACT: *result = fraction(f, x); return true;
    case IR_OP_MODF_FRACT: *result = modf_fraction(f, x); return true;
    case IR_OP_FDIM: *result = SELECT(IS2(FOLE, x, y), C(0), OP2(FSUB, x, y)); return true;
    case IR_OP_RSQRT: *result = OP2(FDIV, C(1), OP1(SQRT, x)); return true;
    case IR_OP_DEGREES: *result = OP2(FMUL, x, C(180 / M_PI)); return true;
    case IR_OP_RADIANS: *result = OP2(FMUL, x, C(M_PI / 180)); return true;
    case IR_OP_MIX: *result = OP2(FADD, x, OP2(FMUL, OP2(FSUB, y, x), z)); return true;
    case IR_OP_STEP: *result = SELECT(IS2(FOLT, y, x), C(0), C(1)); return true;
    case IR_OP_SMOOTHSTEP: *result = smooth_step(f, x, y, z); return true;
    case IR_OP_SIGN: *result = sign_of(f, x); return true;
    default: return false;
    }
}

bool formula_expand(const struct formula *f, enum ir_op op, enum ir_kind kind, const value *args, value *result)
{
    bool half = args[0].kind == IR_KIND_F16 || kind == IR_KIND_F16;
    if (half && !half_as_it_is(op)) {
        *result = by_half(f, op, kind, args);
        return true;
    }
    return simple(f, op, kind, args, result) || formula_math(f, op, kind, args, result);
}

/* ---- geometry ---- */

static value dot(const struct formula *f, enum ir_kind kind, unsigned n, const value *x, const value *y)
{
    value sum = OP2(FMUL, x[0], y[0]);
    for (unsigned c = 1; c < n; c++) sum = OP2(FADD, sum, OP2(FMUL, x[c], y[c]));
    return sum;
}

/* x[j] * y[k] - x[k] * y[j], each rounded. */
static value minor(const struct formula *f, enum ir_kind kind, const value *x, const value *y, unsigned j, unsigned k)
{
    return OP2(FSUB, OP2(FMUL, x[j], y[k]), OP2(FMUL, x[k], y[j]));
}

/* In f64; also gives the components as such. f16 and f32: squares fit. f64: hypot neither overflows nor vanishes. */
static value length(const struct formula *f, unsigned n, const value *x, value *wide)
{
    enum ir_kind kind = IR_KIND_F64;
    for (unsigned c = 0; c < n; c++) wide[c] = x[c].kind == kind ? x[c] : AS(kind, x[c]);
    if (x[0].kind != kind) return OP1(SQRT, dot(f, kind, n, wide, wide));
    value r = OP1(FABS, x[0]);
    for (unsigned c = 1; c < n; c++) r = OP2(HYPOT, r, x[c]);
    return r;
}

static value narrowed(const struct formula *f, enum ir_kind kind, value v)
{
    return kind == IR_KIND_F64 ? v : AS(kind, v);
}

/* What a vector of f64 is multiplied with so that its length neither overflows nor loses digits. */
static value scale_of(const struct formula *f, unsigned n, const value *x)
{
    enum ir_kind kind = IR_KIND_F64;
    value largest = OP1(FABS, x[0]);
    for (unsigned c = 1; c < n; c++) largest = RAW2(FMAX, OP1(FABS, x[c]), largest);
    value scale = SELECT(IS2(FOLT, largest, C(0x1p-900)), C(0x1p900), C(1));
    return SELECT(IS2(FOGT, largest, C(0x1p900)), C(0x1p-900), scale);
}

/* A vector of zeros stays itself, as OpenCL says. */
static void normalize(const struct formula *f, enum ir_kind to, unsigned n, const value *x, value *result)
{
    enum ir_kind kind = IR_KIND_F64;
    value scaled[IR_MAX_LANES] = {0}, wide[IR_MAX_LANES], scale = to == kind ? scale_of(f, n, x) : x[0];
    for (unsigned c = 0; c < n; c++) scaled[c] = to == kind ? OP2(FMUL, x[c], scale) : x[c];
    value size = length(f, n, scaled, wide), zero = IS2(FOEQ, size, C(0));
    for (unsigned c = 0; c < n; c++) result[c] = SELECT(zero, x[c], narrowed(f, to, OP2(FDIV, wide[c], size)));
}

void formula_geometric(const struct formula *f, enum ir_op op, enum ir_kind kind, unsigned n, const value *x,
                       const value *y, value *result)
{
    value wide[IR_MAX_LANES], difference[IR_MAX_LANES];
    switch (op) {
    case IR_OP_DOT: *result = dot(f, kind, n, x, y); break;
    case IR_OP_LENGTH: *result = narrowed(f, kind, length(f, n, x, wide)); break;
    case IR_OP_DISTANCE:
        for (unsigned c = 0; c < n; c++) difference[c] = OP2(FSUB, x[c], y[c]);
        *result = narrowed(f, kind, length(f, n, difference, wide));
        break;
    case IR_OP_NORMALIZE: normalize(f, kind, n, x, result); break;
    default:
        for (unsigned c = 0; c < 3; c++) result[c] = minor(f, kind, x, y, (c + 1) % 3, (c + 2) % 3);
        if (n > 3) result[3] = C(0);
    }
}
