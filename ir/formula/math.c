/* The formulas of OpenCL.std's functions: from the library's, mended where these end too early, and from each other. */
#include "ir/formula/math.h"

#include <math.h>

#include "ir/formula/exp.h"
#include "ir/formula/hyperbolic.h"
#include "ir/formula/library.h"
#include "ir/formula/notation.h"
#include "ir/formula/trigonometric.h"

/* ---- of pi x ---- */

/* |x| modulo 2, exactly. */
static value modulo_two(const struct formula *f, enum ir_kind kind, value x)
{
    value a = OP1(FABS, x);
    return OP2(FSUB, a, OP2(FMUL, C(2), OP1(TRUNC, OP2(FMUL, a, C(0.5)))));
}

/* A zero has the sign of x. */
static value sin_pi(const struct formula *f, enum ir_kind kind, value x)
{
    value t = modulo_two(f, kind, x), zero = IS2(OR, IS2(FOEQ, t, C(0)), IS2(FOEQ, t, C(1)));
    value s = SELECT(zero, C(0), LIBRARY1(SINPI, t));
    return SELECT(IS1(SIGNBIT, x), OP1(FNEG, s), s);
}

static value cos_pi(const struct formula *f, enum ir_kind kind, value x)
{
    value t = modulo_two(f, kind, x), zero = IS2(OR, IS2(FOEQ, t, C(0.5)), IS2(FOEQ, t, C(1.5)));
    return SELECT(zero, C(0), LIBRARY1(COSPI, t));
}

/* A zero at even whole numbers has the sign of x, at odd ones the other; so have the infinities. */
static value tan_pi(const struct formula *f, enum ir_kind kind, value x)
{
    value t = modulo_two(f, kind, x), r = OP2(FDIV, LIBRARY1(SINPI, t), LIBRARY1(COSPI, t));
    r = SELECT(IS2(FOEQ, t, C(0)), C(0), r);
    r = SELECT(IS2(FOEQ, t, C(1)), C(-0.0), r);
    r = SELECT(IS2(FOEQ, t, C(0.5)), C(INFINITY), r);
    r = SELECT(IS2(FOEQ, t, C(1.5)), C(-INFINITY), r);
    return SELECT(IS1(SIGNBIT, x), OP1(FNEG, r), r);
}

/* ---- where the library ends too early ---- */

static const double ln2 = 0x1.62e42fefa39efp-1;

/* Beyond 2^30 the rest of log(2 x) is below half a unit in the last place of f32's, beyond 2^60 of f64's. */
static value large(const struct formula *f, enum ir_kind kind, value x)
{
    return IS2(FOGT, x, C(kind == IR_KIND_F32 ? 0x1p30 : 0x1p60));
}

static value log_of_double(const struct formula *f, const value *args)
{
    enum ir_kind kind = args[0].kind;
    return OP2(COPYSIGN, OP2(FADD, OP1(LOG, OP1(FABS, args[0])), C(ln2)), args[0]);
}

static value acosh_of(const struct formula *f, enum ir_kind kind, value x)
{
    return f->rarely(f, large(f, kind, x), LIBRARY1(ACOSH, x), log_of_double, &x);
}

static value asinh_of(const struct formula *f, enum ir_kind kind, value x)
{
    return f->rarely(f, large(f, kind, OP1(FABS, x)), LIBRARY1(ASINH, x), log_of_double, &x);
}

static value log_of(const struct formula *f, const value *args)
{
    enum ir_kind kind = args[0].kind;
    return OP1(LOG, args[0]);
}

static value log1p_of(const struct formula *f, enum ir_kind kind, value x)
{
    return f->rarely(f, large(f, kind, x), LIBRARY1(LOG1P, x), log_of, &x);
}

/* Near the largest numbers: exp(x) as exp(x - less) * exp(less), where the difference is exact. */
static value power_below(const struct formula *f, value x, double less, double factor)
{
    enum ir_kind kind = x.kind;
    return OP2(FMUL, LIBRARY1(EXP, OP2(FSUB, x, C(less))), C(factor));
}

static value exp_far(const struct formula *f, const value *args)
{
    return power_below(f, args[0], 1, M_E);
}

static value exp_of_f64(const struct formula *f, value x)
{
    enum ir_kind kind = IR_KIND_F64;
    return f->rarely(f, IS2(FOGT, x, C(709)), LIBRARY1(EXP, x), exp_far, &x);
}

/* exp(|x|) / 2 with the sign of args[1]. Of f32 half the power of what is taken off is a float to 44 digits. */
static value half_power(const struct formula *f, const value *args)
{
    enum ir_kind kind = args[0].kind;
    value far = kind == IR_KIND_F32 ? power_below(f, args[0], 0x1.0e9b8p+0, 0x1.705ef8p+0)
                                    : power_below(f, args[0], 1, M_E / 2);
    return OP2(COPYSIGN, far, args[1]);
}

static value hyperbolic(const struct formula *f, enum ir_op op, enum ir_kind kind, value x)
{
    bool even = op == IR_OP_COSH;
    value args[2] = {OP1(FABS, x), even ? C(1) : x}, usual;
    if (kind == IR_KIND_F32)
        usual = even ? formula_cosh_f32(f, x) : formula_sinh_f32(f, x);
    else
        usual = even ? LIBRARY1(COSH, x) : LIBRARY1(SINH, x);
    value far = IS2(FOGT, args[0], C(kind == IR_KIND_F32 ? formula_hyperbolic_most : 700));
    return f->rarely(f, far, usual, half_power, args);
}

/* ---- powers ---- */

/* The square of the root, with the sign of the infinity that the library gives, unless that is what the operands make.
 */
static value pow_far(const struct formula *f, const value *args)
{
    value x = args[0], y = args[1];
    enum ir_kind kind = x.kind;
    value root = LIBRARY2(POW, OP1(FABS, x), OP2(FMUL, y, C(0.5)));
    value finite = IS2(AND, IS2(FUNE, x, C(0)), IS2(AND, IS1(ISFINITE, x), IS1(ISFINITE, y)));
    return SELECT(finite, OP2(COPYSIGN, OP2(FMUL, root, root), args[2]), args[2]);
}

static value pow_of(const struct formula *f, enum ir_kind kind, value x, value y)
{
    value args[3] = {x, y, LIBRARY2(POW, x, y)};
    return f->rarely(f, IS2(FOEQ, OP1(FABS, args[2]), C(INFINITY)), args[2], pow_far, args);
}

static value pow_of_positive(const struct formula *f, enum ir_kind kind, value x, value y)
{
    value infinite_y = IS2(FOEQ, OP1(FABS, y), C(INFINITY));
    value edge_x = IS2(OR, IS2(FOEQ, x, C(0)), IS2(FOEQ, x, C(INFINITY)));
    value bad = IS2(AND, IS2(FOEQ, y, C(0)), edge_x);
    bad = IS2(OR, bad, IS2(AND, IS2(FOEQ, x, C(1)), infinite_y));
    bad = IS2(OR, bad, IS2(FOLT, x, C(0)));
    bad = IS2(OR, bad, IS2(FUNO, x, y));
    return SELECT(bad, C(NAN), OP2(POW, OP1(FABS, x), y));
}

static value whole_root(const struct formula *f, enum ir_kind kind, value x, value k)
{
    value odd = IS2(INE, INT2(AND, k, I(1)), I(0)), a = OP1(FABS, x);
    value degree = OP1(STOF, k), inverse = OP2(FDIV, C(1), degree), root = OP2(POW, a, inverse);
    /* 1 / k is rounded: x^(1/k) = x^(inverse + rest), and x^rest is next to 1 + rest * log(x). */
    value rest = OP2(FDIV, OP3(FMA, OP1(FNEG, degree), inverse, C(1)), degree);
    value change = OP2(FMUL, root, OP2(FMUL, rest, OP1(LOG, a)));
    root = SELECT(IS1(ISFINITE, change), OP2(FADD, root, change), root);
    value bad = IS2(AND, IS2(FOLT, x, C(0)), IS1(NOT, odd));
    bad = IS2(OR, bad, IS2(IEQ, k, I(0)));
    return SELECT(bad, C(NAN), SELECT(odd, OP2(COPYSIGN, root, x), root));
}

/* ---- the gamma function ---- */

/* Where results are next to nothing the library loses digits: gamma(x) = gamma(x + n) / (x (x + 1) ... (x + n - 1)),
   where the sums are exact. */
static value gamma_far(const struct formula *f, const value *args)
{
    enum { STEPS = 14 };
    enum ir_kind kind = args[0].kind;
    value x = args[0], product = x;
    for (int i = 1; i < STEPS; i++) product = OP2(FMUL, product, OP2(FADD, x, C(i)));
    return OP2(FDIV, LIBRARY1(TGAMMA, OP2(FADD, x, C(STEPS))), product);
}

static value gamma_of_f64(const struct formula *f, value x)
{
    enum ir_kind kind = IR_KIND_F64;
    return f->rarely(f, IS2(FOLT, x, C(-170)), LIBRARY1(TGAMMA, x), gamma_far, &x);
}

/* ---- whole numbers ---- */

/* The low 7 bits of x / y rounded to nearest even. */
static value quotient_bits(const struct formula *f, value x, value y)
{
    enum ir_kind kind = x.kind;
    value a = OP1(FABS, x), b = OP1(FABS, y), top = OP2(FMUL, b, C(128)), q = I(0);
    a = SELECT(IS2(FOLT, top, C(INFINITY)), OP2(FREM, a, top), a);
    for (int i = 6; i >= 0; i--) {
        value part = OP2(FMUL, b, C(1 << i)), in = IS2(FOGE, a, part);
        a = SELECT(in, OP2(FSUB, a, part), a); /* exact: a is below twice part */
        q = INT2(OR, q, SELECT(in, I(1u << i), I(0)));
    }
    value odd = IS2(INE, INT2(AND, q, I(1)), I(0)), rest = OP2(FSUB, b, a);
    value more = IS2(OR, IS2(FOGT, a, rest), IS2(AND, IS2(FOEQ, a, rest), odd));
    q = INT2(AND, INT2(ADD, q, INT1(ZEXT, more)), I(127));
    q = SELECT(IS2(XOR, IS1(SIGNBIT, x), IS1(SIGNBIT, y)), INT1(NEG, q), q);
    value good = IS2(AND, IS1(ISFINITE, x), IS1(ISFINITE, y));
    return SELECT(IS2(AND, good, IS2(FUNE, y, C(0))), q, I(0));
}

/* Negative between an odd whole number below zero and the next one, and at -0. */
static value gamma_sign(const struct formula *f, value x)
{
    enum ir_kind kind = x.kind;
    value low = OP1(FLOOR, x), half = OP2(FMUL, low, C(0.5));
    value odd = IS2(AND, IS2(FUNE, OP1(FLOOR, half), half), IS2(FOLT, x, C(0)));
    value negative = IS2(AND, odd, IS2(FUNE, x, low));
    value zero = IS2(AND, IS2(FOEQ, x, C(0)), IS1(SIGNBIT, x));
    return SELECT(IS2(OR, negative, zero), I(-1), I(1));
}

/* ---- */

/* Functions of f32 that are computed in f64 and rounded: by division or powers of rounded numbers they would lose too
   much, the gamma functions near their zeros. */
static bool needs_double(enum ir_op op)
{
    switch (op) {
    case IR_OP_ACOSPI:
    case IR_OP_ASINPI:
    case IR_OP_ATANPI:
    case IR_OP_ATAN2PI:
    case IR_OP_LGAMMA:
    case IR_OP_POWN:
    case IR_OP_ROOTN:
    case IR_OP_TGAMMA: return true;
    default: return false;
    }
}

static value in_double(const struct formula *f, enum ir_op op, const value *args)
{
    value in[2];
    unsigned n = ir_op_info(op)->operands[1] ? 2 : 1;
    for (unsigned i = 0; i < n; i++) in[i] = args[i].kind == IR_KIND_F32 ? AS(IR_KIND_F64, args[i]) : args[i];
    return AS(IR_KIND_F32, formula_op(f, op, IR_KIND_F64, n, in));
}

static bool of_f32(const struct formula *f, enum ir_op op, const value *args, value *result)
{
    switch (op) {
    case IR_OP_EXP: *result = formula_exp_f32(f, args[0]); return true;
    case IR_OP_LOG: *result = formula_log_f32(f, args[0]); return true;
    case IR_OP_ERF: *result = formula_erf_f32(f, args[0]); return true;
    case IR_OP_SIN: *result = formula_sin_f32(f, args[0]); return true;
    case IR_OP_COS: *result = formula_cos_f32(f, args[0]); return true;
    case IR_OP_TAN: *result = formula_tan_f32(f, args[0]); return true;
    case IR_OP_ASIN: *result = formula_asin_f32(f, args[0]); return true;
    case IR_OP_ATAN: *result = formula_atan_f32(f, args[0]); return true;
    case IR_OP_ATAN2: *result = formula_atan2_f32(f, args[0], args[1]); return true;
    case IR_OP_TANH: *result = formula_tanh_f32(f, args[0]); return true;
    default:
        if (!needs_double(op)) return false;
        *result = in_double(f, op, args);
        return true;
    }
}

bool formula_math(const struct formula *f, enum ir_op op, enum ir_kind kind, const value *args, value *result)
{
    value x = args[0], y = args[1];
    if (kind == IR_KIND_F32 && of_f32(f, op, args, result)) return true;
    switch (op) {
    case IR_OP_ACOSH: *result = acosh_of(f, kind, x); return true;
    case IR_OP_ACOSPI: *result = OP2(FDIV, OP1(ACOS, x), C(M_PI)); return true;
    case IR_OP_ASINH: *result = asinh_of(f, kind, x); return true;
    case IR_OP_ASINPI: *result = OP2(FDIV, OP1(ASIN, x), C(M_PI)); return true;
    case IR_OP_ATANPI: *result = OP2(FDIV, OP1(ATAN, x), C(M_PI)); return true;
    case IR_OP_ATAN2PI: *result = OP2(FDIV, OP2(ATAN2, x, y), C(M_PI)); return true;
    case IR_OP_EXP: *result = exp_of_f64(f, x); return true; /* f32: above */
    case IR_OP_COSH:
    case IR_OP_SINH: *result = hyperbolic(f, op, kind, x); return true;
    case IR_OP_COSPI: *result = cos_pi(f, kind, x); return true;
    case IR_OP_HYPOT: *result = formula_hypot(f, kind, x, y); return true;
    case IR_OP_LGAMMA_SIGN: *result = gamma_sign(f, x); return true;
    case IR_OP_LOG1P: *result = log1p_of(f, kind, x); return true;
    case IR_OP_POW: *result = pow_of(f, kind, x, y); return true;
    case IR_OP_POWN: *result = OP2(POW, x, OP1(STOF, y)); return true;
    case IR_OP_POWR: *result = pow_of_positive(f, kind, x, y); return true;
    case IR_OP_REMQUO_QUO: *result = quotient_bits(f, x, y); return true;
    case IR_OP_ROOTN: *result = whole_root(f, kind, x, y); return true;
    case IR_OP_SINPI: *result = sin_pi(f, kind, x); return true;
    case IR_OP_TGAMMA: *result = gamma_of_f64(f, x); return true; /* f32: in f64 */
    case IR_OP_TANPI: *result = tan_pi(f, kind, x); return true;
    default: break;
    }
    const struct library_function *library = library_find(op);
    if (!library) return false;
    *result = formula_op(f, (enum ir_op)(FORMULA_LIBRARY + op), kind, library->n, args);
    return true;
}
