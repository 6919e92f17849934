/* The functions that are written out for Vulkan, computed here step by step: as far from the right result as docs/ir.md
   says, and what is exact is what the interpreter has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "ir/core/float.h"
#include "ir/eval/float.h"
#include "tests/support/accuracy.h"
#include "tests/support/cases.h"
#include "tests/support/written.h"

static double evaluate(enum ir_op op, ir_type t, double x, double y)
{
    enum ir_kind kind = ir_type_kind(t);
    bool whole = ir_op_info(op)->operands[1] == 'J';
    uint64_t v[4] = {ir_float_bits(kind, x), whole ? (uint32_t)(int32_t)y : ir_float_bits(kind, y)}, r = 0;
    assert_true(written_eval(op, kind, v, &r));
    return ir_float_value(kind, r);
}

static void errors_are_within_the_bounds(void **state)
{
    (void)state;
    assert_true(accuracy_is_within_bounds(evaluate, ACCURACY_WRITTEN_OUT));
}

/* ---- what is exact ---- */

static uint64_t random_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Any number, one near to the other, a multiple of its half, or something special. */
static uint64_t second_of(enum ir_kind kind, uint64_t first, uint64_t *state)
{
    static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1, -3, 0x1p-1074, 0x1p-149, 0x1p127};
    uint64_t r = random_bits(state);
    double x = ir_float_value(kind, first);
    switch (r % 8) {
    case 0: return ir_float_bits(kind, special[r / 8 % (sizeof special / sizeof *special)]);
    case 1: return ir_float_bits(kind, x * 2 / (1 + (double)(r / 8 % 9)));
    case 2: return ir_float_bits(kind, x * ldexp((double)(r >> 11), -(int)(r / 8 % 200)));
    default: return kind == IR_KIND_F32 ? (uint32_t)r : r;
    }
}

/* Any number, or one next to the product of the others. */
static uint64_t third_of(enum ir_kind kind, uint64_t x, uint64_t y, uint64_t *state)
{
    uint64_t r = random_bits(state);
    double product = ir_float_value(kind, x) * ir_float_value(kind, y);
    if (r % 4 == 0) return second_of(kind, x, state);
    if (r % 4 == 1) return kind == IR_KIND_F32 ? (uint32_t)r : r;
    return ir_float_bits(kind, -product *
                                   (r % 4 == 2 ? 1 : ldexp(1 + (double)(r >> 11) * 0x1p-53, (int)(r / 8 % 240) - 120)));
}

static bool same(enum ir_kind kind, uint64_t x, uint64_t y)
{
    return x == y || (isnan(ir_float_value(kind, x)) && isnan(ir_float_value(kind, y)));
}

static void check(enum ir_op op, enum ir_kind kind, const uint64_t v[4])
{
    uint64_t want = 0, got = 0;
    assert_true(eval_float(op, kind, v, &want) && written_eval(op, kind, v, &got));
    bool whole = ir_op_info(op)->result == 'I';
    /* The C library (glibc 2.36) loses the sign of some zeros when it divides by denormals. */
    if (op == IR_OP_REMAINDER && ir_float_value(kind, want) == 0)
        want = ir_float_bits(kind, copysign(0, ir_float_value(kind, v[0])));
    if (whole ? (uint32_t)want == (uint32_t)got : same(kind, want, got)) return;
    fail_msg("%s of %a, %a, %a (%d): %llx, not %llx", ir_op_info(op)->text, ir_float_value(kind, v[0]),
             ir_float_value(kind, v[1]), ir_float_value(kind, v[2]), (int)v[1], (unsigned long long)got,
             (unsigned long long)want);
}

static void exact_ones_are_exact(void **state)
{
    (void)state;
    static const enum ir_op ops[] = {IR_OP_FREM,       IR_OP_REMAINDER, IR_OP_REMQUO_QUO, IR_OP_LDEXP, IR_OP_LOGB,
                                     IR_OP_FREXP_MANT, IR_OP_FREXP_EXP, IR_OP_ILOGB,      IR_OP_FMA};
    uint64_t seed = 88172645463325252u;
    for (unsigned i = 0; i < test_cases(8000); i++) {
        enum ir_kind kind = i % 2 ? IR_KIND_F32 : IR_KIND_F64;
        uint64_t r = random_bits(&seed), x = second_of(kind, kind == IR_KIND_F32 ? (uint32_t)r : r, &seed);
        for (unsigned k = 0; k < sizeof ops / sizeof *ops; k++) {
            uint64_t y = second_of(kind, x, &seed);
            if (ops[k] == IR_OP_LDEXP) y = (uint32_t)((int64_t)y >> (y % 2 ? 52 : 32));
            check(ops[k], kind, (const uint64_t[4]){x, y, third_of(kind, x, y, &seed)});
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_within_the_bounds),
        cmocka_unit_test(exact_ones_are_exact),
    };
    return cmocka_run_group_tests_name("written_functions", tests, NULL, NULL);
}
