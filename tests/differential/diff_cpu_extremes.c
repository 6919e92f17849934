/* The lesser and the greater of two floats, and what lies between bounds: compiled code gives the interpreter's bits
   where either of them varies, is an argument or a constant, and whatever it is: NaNs, infinities, zeros of both signs.
 */
#include "tests/support/compiled_kit.h"

#include <math.h>

#include "ir/base/strbuf.h"
#include "ir/core/float.h"
#include "tests/support/cases.h"
#include "tests/support/rng.h"

enum { ITEMS = 300, MOST = 64, MOST_BYTES = 8 };

static const char *const constants[] = {"0", "-0.0", "1.5", "-1", "inf", "-inf", "nan"};
enum { N_CONSTANTS = sizeof constants / sizeof *constants };

/* A store of the last result, to its place among all of a work-item. */
static void store(struct strbuf *text, const char *type, unsigned *n)
{
    strbuf_printf(text, "  %%d%u = add i64 %%i, %u\n  store %s %%out[%%d%u], %%r%u\n", *n, *n * ITEMS, type, *n, *n);
    ++*n;
}

static void one(struct strbuf *text, const char *op, const char *type, const char *operands, unsigned *n)
{
    strbuf_printf(text, "  %%r%u = %s %s %s\n", *n, op, type, operands);
    store(text, type, n);
}

/* All ways in which the operands may come; half of the work-items compute some of it once more, under masks. */
static unsigned write_kernel(struct strbuf *text, const char *type)
{
    static const char *const ops[] = {"fmin", "fmax"};
    unsigned n = 0;
    char operands[64];
    strbuf_printf(
        text,
        "kernel @k(%%in: ptr.global %s read, %%low: %s, %%high: %s, %%out: ptr.global %s write) {\n"
        "  %%i = global_id x\n  %%x = load %s %%in[%%i]\n  %%j = add i64 %%i, %u\n  %%y = load %s %%in[%%j]\n",
        type, type, type, type, type, ITEMS, type);
    for (unsigned o = 0; o < 2; o++) {
        static const char *const pairs[] = {"%x, %y", "%x, %low", "%low, %x", "%low, %high", "%low, 1.5"};
        for (unsigned k = 0; k < sizeof pairs / sizeof *pairs; k++) one(text, ops[o], type, pairs[k], &n);
        for (unsigned k = 0; k < 2 * N_CONSTANTS; k++) {
            snprintf(operands, sizeof operands, "%%x, %s", constants[k / 2]);
            if (k % 2) snprintf(operands, sizeof operands, "%s, %%x", constants[k / 2]);
            one(text, ops[o], type, operands, &n);
        }
    }
    one(text, "fclamp", type, "%x, %low, %high", &n);
    one(text, "fclamp", type, "%x, %y, %high", &n);
    one(text, "fclamp", type, "%x, -1, 1", &n);
    strbuf_printf(text, "  %%q = folt %s %%x, %%y\n  if %%q {\n", type);
    one(text, "fmax", type, "%x, %high", &n);
    strbuf_printf(text, "    yield\n  }\n  return\n}\n");
    return n;
}

static uint64_t number(struct rng *rng, enum ir_kind kind)
{
    static const double special[] = {0, -0.0, 1.5, -1.5, 1, -1, INFINITY, -INFINITY, NAN, NAN, 0.25, 3};
    uint64_t r = rng_next(rng);
    double v = special[r % (sizeof special / sizeof *special)];
    if (r >> 62 == 0) v = (double)(int64_t)rng_next(rng) * 0x1p-62;
    return ir_float_bits(kind, v);
}

static void compare(const void *want, const void *got, size_t count, enum ir_kind kind, const char *how)
{
    unsigned bytes = kind == IR_KIND_F16 ? 2 : kind == IR_KIND_F32 ? 4 : 8;
    for (size_t i = 0; i < count; i++) {
        uint64_t a = 0, b = 0;
        memcpy(&a, (const char *)want + i * bytes, bytes);
        memcpy(&b, (const char *)got + i * bytes, bytes);
        if (a == b || (isnan(ir_float_value(kind, a)) && isnan(ir_float_value(kind, b)))) continue;
        fail_msg("%s: result %zu of item %zu: %llx instead of %llx", how, i / ITEMS, i % ITEMS, (unsigned long long)b,
                 (unsigned long long)a);
    }
}

static void run(const char *type, enum ir_kind kind)
{
    static uint64_t in[2 * ITEMS], want[MOST * ITEMS], got[MOST * ITEMS];
    unsigned bytes = kind == IR_KIND_F16 ? 2 : kind == IR_KIND_F32 ? 4 : 8;
    struct strbuf text = {0};
    unsigned n = write_kernel(&text, type);
    struct ir_module *m = kit_parse(text.text);
    struct kit_way ways[KIT_MAX_WAYS];
    unsigned n_ways = kit_ways(ways);
    struct nd_range range = {1, {ITEMS, 1, 1}, {0, 0, 0}, {100, 1, 1}};
    assert_true(n <= MOST);
    for (unsigned w = 0; w < n_ways; w++) {
        struct compiled c;
        struct rng rng = {bytes};
        assert_true(kit_make(&c, kit_kernel(m), &ways[w]));
        for (unsigned round = 0; round < test_cases(20); round++) {
            uint64_t low = number(&rng, kind), high = number(&rng, kind);
            for (unsigned i = 0; i < 2 * ITEMS; i++) {
                uint64_t v = number(&rng, kind);
                memcpy((char *)in + i * bytes, &v, bytes);
            }
            struct interp_arg args[] = {{INTERP_ARG_BUFFER, in, 2 * ITEMS * bytes, NULL},
                                        {INTERP_ARG_BYTES, &low, bytes, NULL},
                                        {INTERP_ARG_BYTES, &high, bytes, NULL},
                                        {INTERP_ARG_BUFFER, want, n * ITEMS * bytes, NULL}};
            memset(want, 0, sizeof want);
            memset(got, 0, sizeof got);
            kit_interpret(kit_kernel(m), &range, args);
            args[3].data = got;
            compiled_run(&c, kit_kernel(m), &range, args, 1, 0);
            compare(want, got, n * ITEMS, kind, kit_way_name(&ways[w]));
        }
        compiled_clear(&c);
    }
    ir_module_free(m);
    free(text.text);
}

static void of_f16(void **state)
{
    (void)state;
    run("f16", IR_KIND_F16);
}

static void of_f32(void **state)
{
    (void)state;
    run("f32", IR_KIND_F32);
}

static void of_f64(void **state)
{
    (void)state;
    run("f64", IR_KIND_F64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_f16), cmocka_unit_test(of_f32), cmocka_unit_test(of_f64)};
    return cmocka_run_group_tests_name("cpu_extremes", tests, NULL, NULL);
}
