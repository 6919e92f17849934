/* Functions of MPFR, numbers on which operations are compared with them, and the table in docs/ir.md. */
#include "tests/support/accuracy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>
#include <mpfr.h>

#include "ir/core/float.h"
#include "tests/support/cases.h"

/* ---- what is right ---- */

typedef int unary(mpfr_t r, const mpfr_t x, mpfr_rnd_t rounding);
typedef int binary(mpfr_t r, const mpfr_t x, const mpfr_t y, mpfr_rnd_t rounding);

static void over_pi(mpfr_t r)
{
    mpfr_t pi;
    mpfr_init2(pi, mpfr_get_prec(r));
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_div(r, r, pi, MPFR_RNDN);
    mpfr_clear(pi);
}

static int log_gamma(mpfr_t r, const mpfr_t x, mpfr_rnd_t rounding)
{
    int sign;
    return mpfr_lgamma(r, &sign, x, rounding);
}

static int acos_pi(mpfr_t r, const mpfr_t x, mpfr_rnd_t rounding)
{
    mpfr_acos(r, x, rounding);
    over_pi(r);
    return 0;
}

static int asin_pi(mpfr_t r, const mpfr_t x, mpfr_rnd_t rounding)
{
    mpfr_asin(r, x, rounding);
    over_pi(r);
    return 0;
}

static int atan_pi(mpfr_t r, const mpfr_t x, mpfr_rnd_t rounding)
{
    mpfr_atan(r, x, rounding);
    over_pi(r);
    return 0;
}

static int atan2_pi(mpfr_t r, const mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding)
{
    mpfr_atan2(r, y, x, rounding);
    over_pi(r);
    return 0;
}

static int degrees(mpfr_t r, const mpfr_t x, mpfr_rnd_t rounding)
{
    mpfr_mul_ui(r, x, 180, rounding);
    over_pi(r);
    return 0;
}

static int radians(mpfr_t r, const mpfr_t x, mpfr_rnd_t rounding)
{
    mpfr_t pi;
    mpfr_init2(pi, mpfr_get_prec(r));
    mpfr_const_pi(pi, rounding);
    mpfr_mul(r, x, pi, rounding);
    mpfr_div_ui(r, r, 180, rounding);
    mpfr_clear(pi);
    return 0;
}

static int power_of_positive(mpfr_t r, const mpfr_t x, const mpfr_t y, mpfr_rnd_t rounding)
{
    return mpfr_pow(r, x, y, rounding);
}

static int root(mpfr_t r, const mpfr_t x, const mpfr_t k, mpfr_rnd_t rounding)
{
    return mpfr_rootn_ui(r, x, mpfr_get_ui(k, rounding), rounding);
}

struct function {
    enum ir_op op;
    unary *one;
    binary *two;
    double most; /* the largest magnitude of the first operand */
    bool positive;
};

static const struct function functions[] = {
    {IR_OP_ACOS, mpfr_acos, NULL, 2, false},
    {IR_OP_ACOSH, mpfr_acosh, NULL, INFINITY, false},
    {IR_OP_ACOSPI, acos_pi, NULL, 2, false},
    {IR_OP_ASIN, mpfr_asin, NULL, 2, false},
    {IR_OP_ASINH, mpfr_asinh, NULL, INFINITY, false},
    {IR_OP_ASINPI, asin_pi, NULL, 2, false},
    {IR_OP_ATAN, mpfr_atan, NULL, INFINITY, false},
    {IR_OP_ATAN2, NULL, mpfr_atan2, INFINITY, false},
    {IR_OP_ATANH, mpfr_atanh, NULL, 2, false},
    {IR_OP_ATANPI, atan_pi, NULL, INFINITY, false},
    {IR_OP_ATAN2PI, NULL, atan2_pi, INFINITY, false},
    {IR_OP_CBRT, mpfr_cbrt, NULL, INFINITY, false},
    {IR_OP_COS, mpfr_cos, NULL, INFINITY, false},
    {IR_OP_COSH, mpfr_cosh, NULL, 2000, false},
    {IR_OP_COSPI, mpfr_cospi, NULL, INFINITY, false},
    {IR_OP_DEGREES, degrees, NULL, INFINITY, false},
    {IR_OP_ERF, mpfr_erf, NULL, INFINITY, false},
    {IR_OP_ERFC, mpfr_erfc, NULL, 200, false},
    {IR_OP_EXP, mpfr_exp, NULL, 2000, false},
    {IR_OP_EXP2, mpfr_exp2, NULL, 2000, false},
    {IR_OP_EXP10, mpfr_exp10, NULL, 2000, false},
    {IR_OP_EXPM1, mpfr_expm1, NULL, 2000, false},
    {IR_OP_HYPOT, NULL, mpfr_hypot, INFINITY, false},
    {IR_OP_LGAMMA, log_gamma, NULL, 1e6, true},
    {IR_OP_LOG, mpfr_log, NULL, INFINITY, false},
    {IR_OP_LOG2, mpfr_log2, NULL, INFINITY, false},
    {IR_OP_LOG10, mpfr_log10, NULL, INFINITY, false},
    {IR_OP_LOG1P, mpfr_log1p, NULL, INFINITY, false},
    {IR_OP_POW, NULL, mpfr_pow, INFINITY, false},
    {IR_OP_POWN, NULL, mpfr_pow, INFINITY, false},
    {IR_OP_POWR, NULL, power_of_positive, INFINITY, true},
    {IR_OP_RADIANS, radians, NULL, INFINITY, false},
    {IR_OP_ROOTN, NULL, root, INFINITY, true},
    {IR_OP_RSQRT, mpfr_rec_sqrt, NULL, INFINITY, true},
    {IR_OP_SIN, mpfr_sin, NULL, INFINITY, false},
    {IR_OP_SINH, mpfr_sinh, NULL, 2000, false},
    {IR_OP_SINPI, mpfr_sinpi, NULL, INFINITY, false},
    {IR_OP_TAN, mpfr_tan, NULL, INFINITY, false},
    {IR_OP_TANH, mpfr_tanh, NULL, INFINITY, false},
    {IR_OP_TANPI, mpfr_tanpi, NULL, INFINITY, false},
    {IR_OP_TGAMMA, mpfr_gamma, NULL, INFINITY, false},
};

/* ---- numbers ---- */

static uint64_t random_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Where functions overflow or vanish, for f32 and f64. */
static const double edges[] = {88.722839, 89.415986, 103.97208,  128,       149,       38.531839,  45.154499, 35.040097,
                               10.054,    709.78271, 710.475860, 745.13322, 1024,      1074,       308.25472, 323.60724,
                               171.62438, 26.543259, 1.0,        2.0,       16777216., 8388608.25, 0x1p30,    0x1p60,
                               80,        700,       709,        0x1p-126,  0x1p-1022, 3.1415927,  1.5707963, 0.875};
static const double specials[] = {0.0, -0.0, 1, -1, 0.5, 2, INFINITY, -INFINITY, NAN, 0x1p-149, 0x1p-1074};

static double rounded(ir_type t, double v)
{
    return ir_float_value(ir_type_kind(t), ir_float_bits(ir_type_kind(t), v));
}

static double pick(ir_type t, unsigned i, uint64_t *state)
{
    uint64_t r = random_bits(state), s = random_bits(state);
    double signed_one = (double)(int64_t)r / 0x1p63;
    switch (i % 5) {
    case 0: return ir_float_value(ir_type_kind(t), t == IR_F32 ? (uint32_t)r : r);
    case 1: return rounded(t, signed_one * 1.25);
    case 2: return rounded(t, signed_one * (t == IR_F32 ? 110 : 760));
    case 3: return rounded(t, ldexp(signed_one, (int)(s % 12)));
    default: break;
    }
    if (i % 50 == 4) return rounded(t, specials[r % (sizeof specials / sizeof *specials)]);
    double edge = edges[r % (sizeof edges / sizeof *edges)], step = ldexp(s & 64 ? 1 : -1, -(int)(s % 53));
    return rounded(t, (s & 128 ? edge : -edge) * (1 + step));
}

/* The second operand of pow so that the result is near the largest or the least numbers, of others anything. */
static double pick_second(const struct function *f, ir_type t, double x, unsigned i, uint64_t *state)
{
    if (f->op == IR_OP_POWN) return (double)(int32_t)(random_bits(state) % (i % 3 ? 40 : 4000)) - (i % 2 ? 20 : 0);
    if (f->op == IR_OP_ROOTN) return (double)(1 + random_bits(state) % 40);
    if ((f->op != IR_OP_POW && f->op != IR_OP_POWR) || i % 2)
        return pick(t, (unsigned)random_bits(state) % 1000, state);
    double reach = t == IR_F32 ? (i % 4 ? 88.7228391 : -103.97) : (i % 4 ? 709.782712893384 : -745.1);
    return rounded(t, reach / log(fabs(x)) * (1 - ldexp(1, -(int)(random_bits(state) % 50))));
}

/* ---- errors ---- */

/* In units in the last place of the right result; infinite where one is a NaN, infinite or 0 and the other is not. */
static double error_of(ir_type t, double got, const mpfr_t right)
{
    int least = t == IR_F32 ? -126 : -1022, digits = t == IR_F32 ? 24 : 53;
    if (mpfr_nan_p(right) || isnan(got)) return mpfr_nan_p(right) && isnan(got) ? 0 : INFINITY;
    double nearest = t == IR_F32 ? (double)mpfr_get_flt(right, MPFR_RNDN) : mpfr_get_d(right, MPFR_RNDN);
    if (nearest == got && (isinf(got) || got == 0)) return 0;
    if (isinf(nearest) || isinf(got)) {
        /* Infinity is the number after the largest one. */
        double largest = t == IR_F32 ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
        return fabs(isinf(nearest) ? got : nearest) == largest ? 1 : INFINITY;
    }
    int exponent;
    (void)frexp(nearest, &exponent);
    exponent = exponent - 1 < least || nearest == 0 ? least : exponent - 1;
    mpfr_t difference;
    mpfr_init2(difference, 200);
    mpfr_set_d(difference, got, MPFR_RNDN);
    mpfr_sub(difference, difference, right, MPFR_RNDN);
    mpfr_mul_2si(difference, difference, digits - 1 - exponent, MPFR_RNDN);
    double error = fabs(mpfr_get_d(difference, MPFR_RNDN));
    mpfr_clear(difference);
    return error;
}

/* OpenCL's own rules where they are not MPFR's: powr(0, 0) and its like are NaN. */
static bool left_out(const struct function *f, double x, double y)
{
    if (fabs(x) > f->most && isfinite(f->most)) return true;
    if (f->positive && !(x > 0)) return true;
    if (f->op == IR_OP_POWR) return !isfinite(y) || isinf(x);
    return f->op == IR_OP_ROOTN && isinf(x);
}

struct worst {
    double error, x, y, got;
};

static struct worst measure(const struct function *f, ir_type t, accuracy_evaluate *evaluate)
{
    struct worst worst = {0};
    uint64_t state = 88172645463325252u + f->op;
    mpfr_t x, y, r;
    mpfr_init2(x, 64);
    mpfr_init2(y, 64);
    mpfr_init2(r, 160);
    for (unsigned i = 0; i < test_cases(2500); i++) {
        double a = pick(t, i, &state), b = f->two ? pick_second(f, t, a, i / 5, &state) : 0;
        if (left_out(f, a, b)) continue;
        mpfr_set_d(x, a, MPFR_RNDN);
        mpfr_set_d(y, b, MPFR_RNDN);
        if (f->one)
            f->one(r, x, MPFR_RNDN);
        else
            f->two(r, x, y, MPFR_RNDN);
        double got = evaluate(f->op, t, a, b), error = error_of(t, got, r);
        if (error > worst.error) worst = (struct worst){error, a, b, got};
    }
    mpfr_clears(x, y, r, (mpfr_ptr)NULL);
    return worst;
}

/* ---- what docs/ir.md says ---- */

static char *read_document(void)
{
    char path[4096];
    const char *source = getenv("FUSIOND_SOURCE_ROOT");
    snprintf(path, sizeof path, "%s/docs/ir.md", source ? source : ".");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

/* Of the row "| `name` | OpenCL | f32 | f64 | f32 | f64 |". */
static bool find_bounds(const char *document, const char *name, double bounds[5])
{
    const char *table = strstr(document, "### Accuracy");
    char row[64];
    snprintf(row, sizeof row, "\n| `%s` | ", name);
    const char *at = table ? strstr(table, row) : NULL;
    return at && sscanf(at + strlen(row), "%lf | %lf | %lf | %lf | %lf |", &bounds[0], &bounds[1], &bounds[2],
                        &bounds[3], &bounds[4]) == 5;
}

bool accuracy_is_within_bounds(accuracy_evaluate *evaluate, unsigned column)
{
    char *document = read_document();
    bool print = getenv("FUSIOND_PRINT_ERRORS"), good = true;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const char *name = ir_op_info(functions[i].op)->text;
        double bounds[5];
        if (!find_bounds(document, name, bounds)) fail_msg("docs/ir.md has no accuracy of %s", name);
        for (unsigned k = 0; k < 2; k++) {
            double bound = bounds[column + k];
            assert_true(bound <= bounds[0]);
            ir_type t = k == 0 ? IR_F32 : IR_F64;
            struct worst w = measure(&functions[i], t, evaluate);
            if (print) printf("# %s f%u %.4g at %a %a\n", name, ir_type_bits(t), w.error, w.x, w.y);
            if (w.error <= bound) continue;
            good = false;
            fprintf(stderr, "# %s f%u of %a, %a gives %a: an error of %g, more than %g\n", name, ir_type_bits(t), w.x,
                    w.y, w.got, w.error, bound);
        }
    }
    free(document);
    return good;
}
