/* Conversions to floats in all roundings: compiled code gives the interpreter's bits for numbers of every size, next
   to ties, powers of two and the ends of the formats, and for denormals, infinities and zeros. */
#include "tests/support/compiled_kit.h"

#include <math.h>

#include "ir/base/strbuf.h"
#include "ir/core/float.h"
#include "tests/support/cases.h"
#include "tests/support/rng.h"

enum { ITEMS = 2000, MAX_RESULTS = 64 };

struct conversion {
    const char *op, *to, *rounding, *word;
};

/* One kernel with all conversions of a type: result k of item i is out[k * ITEMS + i]. */
static unsigned write_kernel(struct strbuf *text, const char *from, bool is_float, struct conversion *list)
{
    static const char *const targets[] = {"f16", "f32", "f64"}, *const words[] = {"i16", "i32", "i64"};
    static const char *const roundings[] = {"rte", "rtz", "rtp", "rtn"};
    unsigned n = 0;
    strbuf_printf(text,
                  "kernel @k(%%in: ptr.global %s read, %%out: ptr.global i64 write) {\n"
                  "  %%i = global_id x\n  %%x = load %s %%in[%%i]\n",
                  from, from);
    for (unsigned t = 0; t < 3; t++)
        for (unsigned op = 0; op < 2; op++)
            for (unsigned r = 0; r < 4; r++) {
                const char *name = is_float ? "fpconv" : op ? "utof" : "stof";
                if (is_float && (op || strcmp(from, targets[t]) <= 0)) continue; /* to narrower ones */
                strbuf_printf(text, "  %%a%u = %s %s %%x, %s\n  %%b%u = bitcast %s %%a%u\n", n, name, targets[t],
                              roundings[r], n, words[t], n);
                if (t < 2) strbuf_printf(text, "  %%c%u = zext i64 %%b%u\n", n, n);
                strbuf_printf(text, "  %%d%u = add i64 %%i, %u\n  store i64 %%out[%%d%u], %%%c%u\n", n, n * ITEMS, n,
                              t < 2 ? 'c' : 'b', n);
                list[n++] = (struct conversion){name, targets[t], roundings[r], words[t]};
            }
    strbuf_printf(text, "}\n");
    return n;
}

/* ---- data ---- */

/* Of every magnitude; at and next to numbers with few digits, and half way between them. */
static uint64_t whole(struct rng *rng, unsigned bits)
{
    static const uint64_t special[] = {0,         1,         2047,       2048,     2049,
                                       2050,      2051,      65503,      65504,    65505,
                                       65519,     65520,     65521,      65535,    65536,
                                       16777215,  16777216,  16777217,   33554433, 33554435,
                                       INT32_MAX, INT64_MAX, 1ull << 63, ~0ull,    0x7fffffbfffffffff};
    uint64_t r = rng_next(rng), v = rng_next(rng) >> rng_below(rng, 64);
    switch (r % 4) {
    case 0: v = special[r / 4 % (sizeof special / sizeof *special)]; break;
    case 1: v = (1ull << rng_below(rng, 64)) + rng_below(rng, 5) - 2; break;
    case 2: v = (v | 1) << rng_below(rng, 64); break;
    default: break;
    }
    if (r >> 60 & 1) v = -v;
    return bits == 64 ? v : v & ((1ull << bits) - 1);
}

static uint64_t real(struct rng *rng, enum ir_kind kind)
{
    static const double special[] = {
        0,         INFINITY,  NAN,       1,         65504,    65519.99, 65520,          65536,          0x1p-24,
        0x1p-25,   0x1.8p-25, 0x1p-14,   0x1p-149,  0x1p-150, 0x1p-126, 0x1.fffffep127, 0x1.ffffffp127, 0x1p128,
        0x1p-1074, 0x1p1023,  0x1.001p0, 0x1.003p0, 2049,     2051};
    uint64_t r = rng_next(rng);
    double v = special[r / 4 % (sizeof special / sizeof *special)];
    double fraction = 1 + (double)(rng_next(rng) >> 12) * 0x1p-52;
    if (r % 4 == 1) v = ldexp(fraction, (int)rng_below(rng, 50) - 30);   /* about f16's */
    if (r % 4 == 2) v = ldexp(fraction, (int)rng_below(rng, 300) - 160); /* about f32's */
    if (r % 4 == 3)                                                      /* few digits: exact, or ties */
        v = ldexp((double)(rng_next(rng) >> 39), (int)rng_below(rng, 60) - 50 - 13 * (int)(r >> 58 & 1));
    return ir_float_bits(kind, r >> 62 & 1 ? -v : v);
}

static void fill(void *memory, ir_type t, struct rng *rng)
{
    unsigned bytes = ir_type_bits(t) / 8;
    for (unsigned i = 0; i < ITEMS; i++) {
        uint64_t v = ir_type_is_float(t) ? real(rng, ir_type_kind(t)) : whole(rng, ir_type_bits(t));
        memcpy((uint8_t *)memory + i * bytes, &v, bytes);
    }
}

/* ---- comparison ---- */

static bool is_nan(const char *type, uint64_t bits)
{
    enum ir_kind kind = type[1] == '1' ? IR_KIND_F16 : type[1] == '3' ? IR_KIND_F32 : IR_KIND_F64;
    return isnan(ir_float_value(kind, bits));
}

static void compare(const struct conversion *list, unsigned n, const uint64_t *want, const uint64_t *got,
                    const char *from, const char *how)
{
    for (unsigned k = 0; k < n; k++)
        for (unsigned i = 0; i < ITEMS; i++) {
            uint64_t a = want[k * ITEMS + i], b = got[k * ITEMS + i];
            if (a == b || (is_nan(list[k].to, a) && is_nan(list[k].to, b))) continue;
            fail_msg("%s: %s %s of %s, %s, item %u: %llx instead of %llx", how, list[k].op, list[k].to, from,
                     list[k].rounding, i, (unsigned long long)b, (unsigned long long)a);
        }
}

static void run(const char *from, ir_type type)
{
    static uint64_t in[ITEMS], want[MAX_RESULTS * ITEMS], got[MAX_RESULTS * ITEMS];
    struct strbuf text = {0};
    struct conversion list[MAX_RESULTS];
    unsigned n = write_kernel(&text, from, ir_type_is_float(type), list);
    struct ir_module *m = kit_parse(text.text);
    struct kit_way ways[KIT_MAX_WAYS];
    unsigned n_ways = kit_ways(ways);
    struct nd_range range = {1, {ITEMS, 1, 1}, {0, 0, 0}, {100, 1, 1}};
    for (unsigned w = 0; w < n_ways; w++) {
        struct compiled c;
        struct rng rng = {ir_type_bits(type)};
        char how[64];
        snprintf(how, sizeof how, "%s%s", cpu_isa_name(ways[w].isa), ways[w].scalar ? " scalar" : "");
        assert_true(kit_make(&c, kit_kernel(m), &ways[w]));
        for (unsigned round = 0; round < test_cases(2); round++) {
            fill(in, type, &rng);
            struct interp_arg args[] = {{INTERP_ARG_BUFFER, in, ITEMS * ir_type_bits(type) / 8, NULL},
                                        {INTERP_ARG_BUFFER, want, sizeof want, NULL}};
            kit_interpret(kit_kernel(m), &range, args);
            args[1].data = got;
            compiled_run(&c, kit_kernel(m), &range, args, 1, 0);
            compare(list, n, want, got, from, how);
        }
        compiled_clear(&c);
    }
    ir_module_free(m);
    free(text.text);
}

static void from_i8(void **state)
{
    (void)state;
    run("i8", IR_I8);
}

static void from_i16(void **state)
{
    (void)state;
    run("i16", IR_I16);
}

static void from_i32(void **state)
{
    (void)state;
    run("i32", IR_I32);
}

static void from_i64(void **state)
{
    (void)state;
    run("i64", IR_I64);
}

static void from_f32(void **state)
{
    (void)state;
    run("f32", IR_F32);
}

static void from_f64(void **state)
{
    (void)state;
    run("f64", IR_F64);
}

/* The interpreter itself, where the answer is known. */
static void known(void **state)
{
    (void)state;
    static const struct {
        double x;
        uint16_t rtz, rtp, rtn;
    } cases[] = {
        {1.0001, 0x3c00, 0x3c01, 0x3c00},   {-1.0001, 0xbc00, 0xbc00, 0xbc01}, {1e6, 0x7bff, 0x7c00, 0x7bff},
        {-1e6, 0xfbff, 0xfbff, 0xfc00},     {1e-9, 0x0000, 0x0001, 0x0000},    {-1e-9, 0x8000, 0x8000, 0x8001},
        {INFINITY, 0x7c00, 0x7c00, 0x7c00}, {-0.0, 0x8000, 0x8000, 0x8000},    {65504, 0x7bff, 0x7bff, 0x7bff}};
    enum { N = sizeof cases / sizeof *cases };
    struct ir_module *m = kit_parse("kernel @k(%in: ptr.global f64 read, %out: ptr.global f16 write) {\n"
                                    "  %i = global_id x\n"
                                    "  %x = load f64 %in[%i]\n"
                                    "  %o = mul i64 %i, 3\n"
                                    "  %z = fpconv f16 %x, rtz\n"
                                    "  store f16 %out[%o], %z\n"
                                    "  %o1 = add i64 %o, 1\n"
                                    "  %p = fpconv f16 %x, rtp\n"
                                    "  store f16 %out[%o1], %p\n"
                                    "  %o2 = add i64 %o, 2\n"
                                    "  %n = fpconv f16 %x, rtn\n"
                                    "  store f16 %out[%o2], %n\n"
                                    "}\n");
    double in[N];
    uint16_t out[3 * N];
    for (unsigned i = 0; i < N; i++) in[i] = cases[i].x;
    struct interp_arg args[] = {{INTERP_ARG_BUFFER, in, sizeof in, NULL}, {INTERP_ARG_BUFFER, out, sizeof out, NULL}};
    struct nd_range range = {1, {N, 1, 1}, {0, 0, 0}, {N, 1, 1}};
    struct compiled c;
    struct kit_way ways[KIT_MAX_WAYS];
    unsigned n_ways = kit_ways(ways);
    assert_true(compiled_make(&c, kit_kernel(m), ways[n_ways - 1].isa, false));
    for (int compiled = 0; compiled < 2; compiled++) {
        memset(out, 0xff, sizeof out);
        if (compiled)
            compiled_run(&c, kit_kernel(m), &range, args, 1, 0);
        else
            kit_interpret(kit_kernel(m), &range, args);
        for (unsigned i = 0; i < N; i++) {
            assert_int_equal(out[3 * i], cases[i].rtz);
            assert_int_equal(out[3 * i + 1], cases[i].rtp);
            assert_int_equal(out[3 * i + 2], cases[i].rtn);
        }
    }
    compiled_clear(&c);
    ir_module_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known),    cmocka_unit_test(from_i8),  cmocka_unit_test(from_i16), cmocka_unit_test(from_i32),
        cmocka_unit_test(from_i64), cmocka_unit_test(from_f32), cmocka_unit_test(from_f64),
    };
    return cmocka_run_group_tests_name("diff_cpu_round", tests, NULL, NULL);
}
