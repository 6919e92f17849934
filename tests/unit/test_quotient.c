/* Quotients and roots of f32 from approximations are the nearest ones: for the operands that come closest to half way
   between two floats, for all roots, and whatever the approximations are within their bounds. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/formula/quotient.h"
#include "tests/support/cases.h"

/* ---- numbers that compute themselves ---- */

static float as_float(struct formula_value v)
{
    uint32_t bits = (uint32_t)v.bits;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static struct formula_value of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (struct formula_value){IR_KIND_F32, bits, NULL};
}

static struct formula_value compute(const struct formula *f, enum ir_op op, enum ir_kind kind, unsigned n,
                                    const struct formula_value *a)
{
    (void)f;
    float x[3];
    for (unsigned i = 0; i < n; i++) x[i] = as_float(a[i]);
    struct formula_value word = {kind, 0, NULL};
    switch (op) {
    case IR_OP_FMA: return of_float(fmaf(x[0], x[1], x[2]));
    case IR_OP_FMUL: return of_float(x[0] * x[1]);
    case IR_OP_FNEG: return of_float(-x[0]);
    case IR_OP_FABS: return of_float(fabsf(x[0]));
    case IR_OP_SELECT: return a[a[0].bits ? 1 : 2];
    case IR_OP_FOLT: word.bits = x[0] < x[1]; break;
    case IR_OP_BITCAST: word.bits = a[0].bits; break;
    case IR_OP_ADD: word.bits = (uint32_t)(a[0].bits + a[1].bits); break;
    case IR_OP_AND: word.bits = a[0].bits & a[1].bits; break;
    case IR_OP_OR: word.bits = a[0].bits | a[1].bits; break;
    case IR_OP_XOR: word.bits = a[0].bits ^ a[1].bits; break;
    case IR_OP_ASHR: word.bits = (uint32_t)((int32_t)a[0].bits >> (a[1].bits & 31)); break;
    case IR_OP_LSHR: word.bits = (uint32_t)a[0].bits >> (a[1].bits & 31); break;
    case IR_OP_SHL: word.bits = (uint32_t)a[0].bits << (a[1].bits & 31); break;
    case IR_OP_SUB: word.bits = (uint32_t)(a[0].bits - a[1].bits); break;
    case IR_OP_SMIN: word.bits = (int32_t)a[0].bits < (int32_t)a[1].bits ? a[0].bits : a[1].bits; break;
    case IR_OP_UTOF: return of_float((float)(uint32_t)a[0].bits);
    case IR_OP_FOGT: word.bits = x[0] > x[1]; break;
    case IR_OP_ULT: word.bits = (uint32_t)a[0].bits < (uint32_t)a[1].bits; break;
    case IR_OP_UGT: word.bits = (uint32_t)a[0].bits > (uint32_t)a[1].bits; break;
    case IR_OP_SLT: word.bits = (int32_t)a[0].bits < (int32_t)a[1].bits; break;
    case IR_OP_SGT: word.bits = (int32_t)a[0].bits > (int32_t)a[1].bits; break;
    case IR_OP_IEQ: word.bits = (uint32_t)a[0].bits == (uint32_t)a[1].bits; break;
    case IR_OP_INE: word.bits = (uint32_t)a[0].bits != (uint32_t)a[1].bits; break;
    default: fail_msg("operation %d", (int)op);
    }
    return word;
}

static struct formula_value number(const struct formula *f, enum ir_kind kind, uint64_t bits)
{
    (void)f;
    return (struct formula_value){kind, bits, NULL};
}

static const struct formula by_hand = {.compute = compute, .number = number};

static float moved(float x, int units)
{
    struct formula_value v = of_float(x);
    v.bits += (uint64_t)units;
    return as_float(v);
}

/* ---- quotients ---- */

static unsigned tried;

static void divide(float x, float y)
{
    float want = x / y;
    for (int units = -3; units <= 3; units += 1 + (tried++ & 1)) {
        float reciprocal = moved(1 / y, units);
        float got = as_float(formula_quotient_f32(&by_hand, of_float(x), of_float(y), of_float(reciprocal)));
        if (memcmp(&got, &want, sizeof got) != 0)
            fail_msg("%a / %a is %a, not %a, with %a", x, y, want, got, reciprocal);
        if ((of_float(y).bits & 0x7fffff) >= FORMULA_QUOTIENT_MOST_DIGITS || of_float(x).bits == 0x80000000) continue;
        got = as_float(formula_quick_quotient_f32(&by_hand, of_float(x), of_float(y), of_float(reciprocal)));
        if (memcmp(&got, &want, sizeof got) != 0)
            fail_msg("%a / %a is %a, not quickly %a, with %a", x, y, want, got, reciprocal);
    }
}

static float of_digits(uint64_t digits, int exponent)
{
    return ldexpf((float)digits, exponent);
}

/* a^-1 modulo m. */
static uint64_t inverse(uint64_t a, uint64_t m)
{
    int64_t t = 0, next_t = 1, r = (int64_t)m, next_r = (int64_t)(a % m);
    while (next_r) {
        int64_t q = r / next_r, kept = t;
        t = next_t;
        next_t = kept - q * next_t;
        kept = r;
        r = next_r;
        next_r = kept - q * next_r;
    }
    return (uint64_t)(t < 0 ? t + (int64_t)m : t);
}

/* Of x 2^k = n modulo y for the smallest n: x / y is as close to half way as can be. */
static void test_close_quotients(void **state)
{
    (void)state;
    uint64_t steps = 40009 / (test_cases(40) / 40 + 1) | 1;
    for (uint64_t y = (1 << 23) + 1; y<1 << 24; y += y>(1 << 24) - 4000 ? 2 : 2 * steps)
        for (int k = 24; k <= 25; k++)
            for (int n = -3; n <= 3; n++) {
                uint64_t x = inverse((1ull << k) % y, y) * (uint64_t)((int64_t)y * 4 + n) % y;
                while (x < 1 << 23) x += y;
                if (n && x < 1 << 24) divide(of_digits(x, (int)(x % 80) - 63), of_digits(y, (int)(y % 78) - 62));
            }
}

static void test_random_quotients(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (unsigned i = 0; i < test_cases(200000); i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        float x = of_digits(1 << 23 | (random >> 40 & 0x7fffff), (int)(random >> 8 & 63) - 60);
        float y = of_digits(1 << 23 | (random >> 17 & 0x7fffff), (int)(random >> 2 & 63) - 60);
        divide(i % 5 ? x : -x, i % 3 ? y : -y);
    }
    divide(0, 3), divide(-0.0f, 3), divide(0, -3), divide(-0.0f, -3);
    divide(5, FORMULA_QUOTIENT_LEAST), divide(FORMULA_QUOTIENT_LEAST, 7), divide(3, 3), divide(1, 0x1.fffffep0f);
}

/* ---- roots ---- */

static void root(float x)
{
    float want = sqrtf(x);
    for (int units = -4; units <= 4; units += 1 + (tried++ & 3)) {
        float inverse_root = moved((float)(1 / sqrt((double)x)), units);
        float got = as_float(formula_root_f32(&by_hand, of_float(x), of_float(inverse_root)));
        if (got != want) fail_msg("the root of %a is %a, not %a, with %a", x, want, got, inverse_root);
    }
}

/* Two octaves are all of them. */
/* With the nearest approximation; with others it is for devices to be tried out. */
static void quick_root(float x)
{
    float inverse_root = (float)(1 / sqrt((double)x));
    float got = as_float(formula_quick_root_f32(&by_hand, of_float(x), of_float(inverse_root)));
    if (got != sqrtf(x)) fail_msg("the root of %a is %a, not %a", x, got, sqrtf(x));
}

static void test_quick_roots(void **state)
{
    (void)state;
    uint32_t step = test_cases(40) > 1000 ? 1 : 37;
    for (uint32_t i = 0; i < 1 << 24; i += step) quick_root(ldexpf(moved(1, (int)i), 2 * (int)(i % 100) - 100));
    for (uint32_t i = 0; i < 3000; i++)
        quick_root(moved(FORMULA_QUICK_ROOT_LEAST, (int)i)), quick_root(moved(FLT_MAX, -(int)i));
}

static void test_roots(void **state)
{
    (void)state;
    uint32_t step = test_cases(40) > 1000 ? 1 : 101;
    for (uint32_t i = 0; i < 1 << 24; i += step) root(ldexpf(moved(1, (int)i), 2 * (int)(i % 50) - 60));
    for (uint32_t i = 1; i < 2000; i++) root(moved(1, (int)i)), root(moved(1, -(int)i)), root(moved(4, -(int)i));
}

/* ---- of any operands ---- */

static struct formula_value rough_reciprocal(const struct formula *f, struct formula_value x)
{
    (void)f;
    return of_float(moved(1 / as_float(x), (int)(tried++ % 7) - 3));
}

static struct formula_value rough_inverse_root(const struct formula *f, struct formula_value x)
{
    (void)f;
    return of_float(moved((float)(1 / sqrt((double)as_float(x))), (int)(tried++ % 9) - 4));
}

static void expect_same(const char *what, float x, float y, float want, struct formula_value got)
{
    float g = as_float(got);
    if (isnan(want) ? !isnan(g) : memcmp(&g, &want, sizeof g) != 0)
        fail_msg("%s of %a and %a is %a, not %a", what, x, y, want, g);
}

static void any(uint32_t x_bits, uint32_t y_bits)
{
    struct formula_value vx = {IR_KIND_F32, x_bits, NULL}, vy = {IR_KIND_F32, y_bits, NULL};
    float x = as_float(vx), y = as_float(vy);
    expect_same("quotient", x, y, x / y, formula_quotient_of_any_f32(&by_hand, vx, vy, rough_reciprocal));
    expect_same("root", x, 0, sqrtf(x), formula_root_of_any_f32(&by_hand, vx, rough_inverse_root));
}

static void test_any(void **state)
{
    (void)state;
    static const uint32_t special[] = {0,          0x80000000, 1,          2,          3,          0x7fffff,
                                       0x800000,   0x800001,   0x3f800000, 0x3fffffff, 0x7f7fffff, 0x7f800000,
                                       0xff800000, 0x7fc00000, 0x400000,   0xbf800000, 0x80000001, 0x00ffffff,
                                       0x7f000000, 0x40000000, 0x807fffff};
    enum { N = sizeof special / sizeof *special };
    uint64_t random = 7;
    for (unsigned i = 0; i < N * N; i++) any(special[i / N], special[i % N]);
    for (unsigned i = 0; i < test_cases(100000); i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint32_t x = (uint32_t)(random >> 32), y = (uint32_t)((random * 0x9e3779b97f4a7c15u) >> 32);
        any(x, y);
        any(x & 0x8fffffff, y | 0x30000000); /* quotients around the least */
        any(x & 0x81ffffff, (y & 0x80ffffff) | 0x3f000000);
        any(x & 0x807fffff, y & 0x807fffff);
        any(x & 0x80ffffff, 0x3f800000 + ((y & 31) << 23)); /* half way between denormals */
        any(x | 0x70000000, y & 0x8fffffff);
        any(x, special[i % N]);
        any(special[i % N], y);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_close_quotients), cmocka_unit_test(test_random_quotients),
                                       cmocka_unit_test(test_roots), cmocka_unit_test(test_quick_roots),
                                       cmocka_unit_test(test_any)};
    return cmocka_run_group_tests_name("quotient", tests, NULL, NULL);
}
