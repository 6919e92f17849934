/*
 * Float functions on a device of Vulkan, written out there: the bits that the same formulas give here, computed step by
 * step. test_written_functions says how far these are from the right result. Skipped where there is no device, or none
 * with f64.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "fuser/spirv/writer.h"
#include "ir/core/float.h"
#include "ir/core/ir.h"
#include "ir/text/parse/parse.h"
#include "tests/spirv_out/dispatch.h"
#include "tests/support/written.h"

enum { ITEMS = 2048, WORD = 8, SKIPPED = 77 };

static struct dispatcher *device;

static const enum ir_op ops[] = {
    IR_OP_ACOS,       IR_OP_ACOSH,    IR_OP_ACOSPI, IR_OP_ASIN,       IR_OP_ASINH,     IR_OP_ASINPI, IR_OP_ATAN,
    IR_OP_ATAN2,      IR_OP_ATANH,    IR_OP_ATANPI, IR_OP_ATAN2PI,    IR_OP_CBRT,      IR_OP_COS,    IR_OP_COSH,
    IR_OP_COSPI,      IR_OP_ERF,      IR_OP_ERFC,   IR_OP_EXP,        IR_OP_EXP2,      IR_OP_EXP10,  IR_OP_EXPM1,
    IR_OP_HYPOT,      IR_OP_LGAMMA,   IR_OP_LOG,    IR_OP_LOG2,       IR_OP_LOG10,     IR_OP_LOG1P,  IR_OP_POW,
    IR_OP_POWN,       IR_OP_POWR,     IR_OP_ROOTN,  IR_OP_RSQRT,      IR_OP_SIN,       IR_OP_SINH,   IR_OP_SINPI,
    IR_OP_TAN,        IR_OP_TANH,     IR_OP_TANPI,  IR_OP_TGAMMA,     IR_OP_FMA,       IR_OP_FREM,   IR_OP_REMAINDER,
    IR_OP_REMQUO_QUO, IR_OP_LDEXP,    IR_OP_LOGB,   IR_OP_FREXP_MANT, IR_OP_FREXP_EXP, IR_OP_ILOGB,  IR_OP_FDIV,
    IR_OP_SQRT,       IR_OP_NEXTAFTER};

/* ---- numbers ---- */

static uint64_t random_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Of any exponent, of usual ones, and special. */
static uint64_t pick(enum ir_kind kind, uint64_t *state)
{
    static const double special[] = {0.0, -0.0, 1, -1, 2, 0.5, INFINITY, -INFINITY, NAN, 1e300, -1e-300, 0x1p-1074};
    uint64_t r = random_bits(state), s = random_bits(state);
    double one = (double)(int64_t)r / 0x1p63;
    switch (s % 8) {
    case 0: return ir_float_bits(kind, special[s / 8 % (sizeof special / sizeof *special)]);
    case 1:
    case 2: return kind == IR_KIND_F32 ? (uint32_t)r : r;
    case 3: return ir_float_bits(kind, one * (kind == IR_KIND_F32 ? 110 : 760));
    default: return ir_float_bits(kind, ldexp(one, (int)(s / 8 % 16) - 4));
    }
}

static bool is_whole(enum ir_op op, unsigned operand)
{
    return ir_op_info(op)->operands[operand] == 'J';
}

static uint64_t pick_operand(enum ir_op op, enum ir_kind kind, unsigned operand, uint64_t *state)
{
    if (!is_whole(op, operand)) return pick(kind, state);
    uint64_t r = random_bits(state);
    return (uint32_t)((int32_t)r >> (r >> 32) % 32);
}

/* ---- on the device ---- */

static struct ir_module *module_of(enum ir_op op, const char *type)
{
    static const char *const names[] = {"%a", "%b", "%c"};
    const struct ir_op_info *info = ir_op_info(op);
    const char *to = info->result == 'I' ? "i32" : type;
    char text[1000], operands[40] = "";
    for (unsigned i = 0; info->operands[i]; i++)
        snprintf(operands + strlen(operands), sizeof operands - strlen(operands), "%s%s", i ? ", " : "", names[i]);
    snprintf(text, sizeof text,
             "module \"m\"\nkernel @k(%%out: ptr.global, %%x: ptr.global, %%y: ptr.global, %%z: ptr.global) {\n"
             "%%i = global_id x\n%%a = load %s %%x[%%i]\n%%b = load %s %%y[%%i]\n%%c = load %s %%z[%%i]\n"
             "%%r = %s %s %s\nstore %s %%out[%%i], %%r\nreturn\n}\n",
             type, is_whole(op, 1) ? "i32" : type, type, info->text, type, operands, to);
    struct diag_list list = {0};
    struct ir_module *m = ir_parse(text, strlen(text), "test", &list);
    if (!m) fprintf(stderr, "# %s%s", text, diag_format(&list));
    diag_clear(&list);
    assert_non_null(m);
    return m;
}

static void *run_on_device(struct ir_module *m, uint64_t v[3][ITEMS], const unsigned sizes[3])
{
    struct spirv_module written;
    struct diag_list list = {0};
    const struct nd_range range = {1, {ITEMS, 1, 1}, {0}, {64, 1, 1}};
    uint64_t addresses[4];
    assert_int_equal(spirv_write(ir_module_find(m, "k"), dispatch_target(device), &written, &list), 0);
    dispatch_reset(device);
    void *out = dispatch_memory(device, (size_t)ITEMS * WORD, &addresses[0]);
    for (unsigned i = 0; i < 3; i++) {
        uint8_t *in = dispatch_memory(device, (size_t)ITEMS * WORD, &addresses[i + 1]);
        for (unsigned k = 0; k < ITEMS; k++) memcpy(in + (size_t)k * sizes[i], &v[i][k], sizes[i]);
    }
    assert_true(dispatch_run(device, &written, &range, addresses, 0, 1));
    spirv_module_clear(&written);
    diag_clear(&list);
    return out;
}

/* ---- comparison ---- */

static bool is_denormal(enum ir_kind kind, uint64_t bits)
{
    double x = fabs(ir_float_value(kind, bits));
    return kind == IR_KIND_F32 && x > 0 && x < 0x1p-126;
}

/* What a NaN's bits are is open; devices may take denormals of f32 for 0. */
static bool agrees(enum ir_op op, enum ir_kind kind, const uint64_t v[4], uint64_t want, uint64_t got)
{
    if (ir_op_info(op)->result == 'I') return (uint32_t)want == (uint32_t)got || is_denormal(kind, v[0]);
    if (want == got || (isnan(ir_float_value(kind, want)) && isnan(ir_float_value(kind, got)))) return true;
    return is_denormal(kind, want) || is_denormal(kind, v[0]) || is_denormal(kind, v[1]) || is_denormal(kind, v[2]);
}

static unsigned wrong_of(enum ir_op op, enum ir_kind kind)
{
    static uint64_t v[3][ITEMS];
    uint64_t state = 88172645463325252u + op, size = kind == IR_KIND_F32 ? 4 : 8;
    bool whole = ir_op_info(op)->result == 'I';
    const unsigned sizes[3] = {(unsigned)size, is_whole(op, 1) ? 4 : (unsigned)size, (unsigned)size};
    for (unsigned i = 0; i < 3; i++)
        for (unsigned k = 0; k < ITEMS; k++) v[i][k] = pick_operand(op, kind, i == 1 ? 1 : 0, &state);
    struct ir_module *m = module_of(op, kind == IR_KIND_F32 ? "f32" : "f64");
    const uint8_t *out = run_on_device(m, v, sizes);
    unsigned wrong = 0;
    for (unsigned k = 0; k < ITEMS; k++) {
        const uint64_t in[4] = {v[0][k], v[1][k], v[2][k]}, bytes = whole ? 4 : size;
        uint64_t want = 0, got = 0;
        assert_true(written_eval(op, kind, in, &want));
        memcpy(&got, out + k * bytes, bytes);
        if (agrees(op, kind, in, want, got)) continue;
        if (!wrong++)
            fprintf(stderr, "# %s of %llx, %llx, %llx: %llx, not %llx\n", ir_op_info(op)->text,
                    (unsigned long long)in[0], (unsigned long long)in[1], (unsigned long long)in[2],
                    (unsigned long long)got, (unsigned long long)want);
    }
    ir_module_free(m);
    return wrong;
}

static void give_the_bits_of(enum ir_kind kind)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++) wrong += wrong_of(ops[i], kind);
    assert_int_equal(wrong, 0);
}

static void functions_of_f32(void **state)
{
    (void)state;
    give_the_bits_of(IR_KIND_F32);
}

static void functions_of_f64(void **state)
{
    (void)state;
    give_the_bits_of(IR_KIND_F64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(functions_of_f32), cmocka_unit_test(functions_of_f64)};
    device = dispatch_open();
    if (!device || !(dispatch_target(device)->features & SPIRV_FLOAT64)) return SKIPPED;
    fprintf(stderr, "# %s\n", dispatch_device(device));
    int failed = cmocka_run_group_tests_name("device_functions", tests, NULL, NULL);
    dispatch_close(device);
    return failed;
}
