/* The functions of OpenCL.std on doubles. For f16 and f32 the result is rounded afterwards, so that it
   is within a hair of half a unit in the last place; for f64 it is what libm gives. */
#include "ir/eval/internal.h"

#include <limits.h>
#include <math.h>

/* Sine and cosine of pi * x: the argument is reduced exactly before pi comes in. */
static double sin_pi(double x)
{
    if (!isfinite(x)) return NAN;
    double t = fmod(fabs(x), 2.0), s;
    if (t == 0.0 || t == 1.0) return copysign(0.0, x);
    if (t > 1.0) return -copysign(1.0, x) * sin_pi(t - 1.0);
    if (t <= 0.25)
        s = sin(M_PI * t);
    else if (t <= 0.75)
        s = cos(M_PI * (t - 0.5));
    else
        s = sin(M_PI * (1.0 - t));
    return copysign(s, x);
}

static double cos_pi(double x)
{
    if (!isfinite(x)) return NAN;
    double t = fmod(fabs(x), 2.0);
    if (t > 1.0) t = 2.0 - t;
    if (t <= 0.25) return cos(M_PI * t);
    if (t < 0.75) return t == 0.5 ? 0.0 : sin(M_PI * (0.5 - t));
    return -cos(M_PI * (1.0 - t));
}

/* The signs OpenCL asks for: a zero at even whole numbers has the sign of x, at odd ones the other. */
static double tan_pi(double x)
{
    if (!isfinite(x)) return NAN;
    double t = fmod(fabs(x), 2.0);
    if (t == 0.0) return copysign(0.0, x);
    if (t == 1.0) return copysign(0.0, -x);
    if (t == 0.5) return copysign(INFINITY, x);
    if (t == 1.5) return copysign(INFINITY, -x);
    double tangent = sin_pi(t) / cos_pi(t);
    return signbit(x) ? -tangent : tangent;
}

static double fract(enum ir_kind kind, double x)
{
    if (isnan(x)) return x;
    if (isinf(x) || x == 0.0) return copysign(0.0, x);
    double below_one = 1.0 - ldexp(1.0, -(int)eval_format(kind).fraction - 1);
    double f = eval_round(kind, x - floor(x));
    return f < below_one ? f : below_one;
}

static double modf_fraction(double x)
{
    double whole;
    return isinf(x) ? copysign(0.0, x) : copysign(modf(x, &whole), x);
}

/* 1 / k in double would cost f64 some 70 units in the last place where x is large. */
static double root(double x, int64_t k)
{
    if (k == 0 || (x < 0 && k % 2 == 0)) return NAN;
    double r = (double)powl(fabsl((long double)x), 1.0L / (long double)k);
    return k % 2 == 0 ? r : copysign(r, x);
}

static double pow_of_positive(double x, double y)
{
    if (isnan(x) || isnan(y) || x < 0) return NAN;
    if (y == 0 && (x == 0 || isinf(x))) return NAN;
    if (x == 1 && isinf(y)) return NAN;
    return pow(fabs(x), y);
}

static double log_gamma(double x, int *sign)
{
    return lgamma_r(x, sign);
}

static double mix(enum ir_kind kind, double x, double y, double a)
{
    return x + eval_round(kind, eval_round(kind, y - x) * a);
}

static double smooth_step(enum ir_kind kind, double low, double high, double x)
{
    double t = eval_round(kind, eval_round(kind, x - low) / eval_round(kind, high - low));
    t = t > 0 ? (t < 1 ? t : 1) : (isnan(t) ? t : 0);
    double square = eval_round(kind, t * t);
    return square * eval_round(kind, 3 - 2 * t);
}

static double sign_of(double x)
{
    if (isnan(x)) return 0;
    return x > 0 ? 1 : x < 0 ? -1 : x;
}

static bool trigonometric(enum ir_op op, double x, double y, double *r)
{
    switch (op) {
    case IR_OP_ACOS: *r = acos(x); return true;
    case IR_OP_ACOSH: *r = acosh(x); return true;
    case IR_OP_ACOSPI: *r = acos(x) / M_PI; return true;
    case IR_OP_ASIN: *r = asin(x); return true;
    case IR_OP_ASINH: *r = asinh(x); return true;
    case IR_OP_ASINPI: *r = asin(x) / M_PI; return true;
    case IR_OP_ATAN: *r = atan(x); return true;
    case IR_OP_ATAN2: *r = atan2(x, y); return true;
    case IR_OP_ATANH: *r = atanh(x); return true;
    case IR_OP_ATANPI: *r = atan(x) / M_PI; return true;
    case IR_OP_ATAN2PI: *r = atan2(x, y) / M_PI; return true;
    case IR_OP_COS: *r = cos(x); return true;
    case IR_OP_COSH: *r = cosh(x); return true;
    case IR_OP_COSPI: *r = cos_pi(x); return true;
    case IR_OP_SIN: *r = sin(x); return true;
    case IR_OP_SINH: *r = sinh(x); return true;
    case IR_OP_SINPI: *r = sin_pi(x); return true;
    case IR_OP_TAN: *r = tan(x); return true;
    case IR_OP_TANH: *r = tanh(x); return true;
    case IR_OP_TANPI: *r = tan_pi(x); return true;
    case IR_OP_DEGREES: *r = 180 / M_PI * x; return true;
    case IR_OP_RADIANS: *r = M_PI / 180 * x; return true;
    default: return false;
    }
}

static bool exponential(enum ir_op op, double x, double y, int64_t k, double *r)
{
    switch (op) {
    case IR_OP_CBRT: *r = cbrt(x); return true;
    case IR_OP_EXP: *r = exp(x); return true;
    case IR_OP_EXP2: *r = exp2(x); return true;
    case IR_OP_EXP10: *r = exp10(x); return true;
    case IR_OP_EXPM1: *r = expm1(x); return true;
    case IR_OP_HYPOT: *r = hypot(x, y); return true;
    case IR_OP_LOG: *r = log(x); return true;
    case IR_OP_LOG2: *r = log2(x); return true;
    case IR_OP_LOG10: *r = log10(x); return true;
    case IR_OP_LOG1P: *r = log1p(x); return true;
    case IR_OP_POW: *r = pow(x, y); return true;
    case IR_OP_POWN: *r = pow(x, (double)k); return true;
    case IR_OP_POWR: *r = pow_of_positive(x, y); return true;
    case IR_OP_ROOTN: *r = root(x, k); return true;
    case IR_OP_RSQRT: *r = 1 / sqrt(x); return true;
    default: return false;
    }
}

static bool other(enum ir_op op, enum ir_kind kind, const double v[3], int64_t k, double *r)
{
    double x = v[0], y = v[1];
    int sign, exponent;
    switch (op) {
    case IR_OP_ERF: *r = erf(x); return true;
    case IR_OP_ERFC: *r = erfc(x); return true;
    case IR_OP_TGAMMA: *r = tgamma(x); return true;
    case IR_OP_LGAMMA: *r = log_gamma(x, &sign); return true;
    case IR_OP_FDIM: *r = fdim(x, y); return true;
    case IR_OP_FRACT: *r = fract(kind, x); return true;
    case IR_OP_LDEXP: *r = ldexp(x, (int)k); return true;
    case IR_OP_LOGB: *r = logb(x); return true;
    case IR_OP_FREXP_MANT: *r = frexp(x, &exponent); return true;
    case IR_OP_MODF_FRACT: *r = modf_fraction(x); return true;
    case IR_OP_REMAINDER: *r = remainder(x, y); return true;
    case IR_OP_MIX: *r = mix(kind, x, y, v[2]); return true;
    case IR_OP_STEP: *r = y < x ? 0 : 1; return true;
    case IR_OP_SMOOTHSTEP: *r = smooth_step(kind, x, y, v[2]); return true;
    case IR_OP_SIGN: *r = sign_of(x); return true;
    default: return false;
    }
}

bool eval_math(enum ir_op op, enum ir_kind kind, const double x[3], int64_t k, double *r)
{
    return trigonometric(op, x[0], x[1], r) || exponential(op, x[0], x[1], k, r) || other(op, kind, x, k, r);
}

/* The low 7 bits of x / y rounded to nearest even: libm promises three bits only. */
static int32_t quotient_bits(double x, double y)
{
    if (!isfinite(x) || isnan(y) || y == 0 || isinf(y)) return 0;
    double a = fabs(x), b = fabs(y), top = b * 128;
    if (isfinite(top)) a = fmod(a, top);
    int32_t q = 0;
    for (int i = 6; i >= 0; i--) {
        double part = ldexp(b, i);
        if (a < part) continue;
        a -= part; /* exact: a is below twice part */
        q |= 1 << i;
    }
    if (a > b - a || (a == b - a && (q & 1))) q++;
    q &= 127;
    return signbit(x) == signbit(y) ? q : -q;
}

/* As FP_ILOGB0 and FP_ILOGBNAN are in the header of OpenCL C compilers. */
static int32_t exponent_of(double x)
{
    if (x == 0) return INT_MIN;
    return isfinite(x) ? ilogb(x) : INT_MAX;
}

static int32_t frexp_exponent(double x)
{
    int exponent = 0;
    if (isfinite(x)) (void)frexp(x, &exponent);
    return exponent;
}

static int32_t gamma_sign(double x)
{
    int sign = 1;
    (void)log_gamma(x, &sign);
    return sign < 0 ? -1 : 1;
}

bool eval_math_int(enum ir_op op, const double x[2], int32_t *r)
{
    switch (op) {
    case IR_OP_ILOGB: *r = exponent_of(x[0]); return true;
    case IR_OP_FREXP_EXP: *r = frexp_exponent(x[0]); return true;
    case IR_OP_LGAMMA_SIGN: *r = gamma_sign(x[0]); return true;
    case IR_OP_REMQUO_QUO: *r = quotient_bits(x[0], x[1]); return true;
    default: return false;
    }
}
