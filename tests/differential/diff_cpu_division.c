/* Division and remainders of integers: compiled code against C, for dividends next to multiples of the divisor and at
   the ends of each type, by divisors that all work-items share and by one of each. */
#include "tests/support/compiled_kit.h"

#include "ir/base/strbuf.h"
#include "tests/support/rng.h"

enum { ITEMS = 1003, OPS = 5, FORMS = 3 };

static const char *const names[OPS] = {"udiv", "urem", "sdiv", "srem", "smod"};

/* Result k of item i is out[k * ITEMS + i]: a / b of a shared b, a / c of the item's c, and id / b. */
static char *write_kernel(unsigned bits)
{
    struct strbuf text = {0};
    const char *id = bits == 64 ? "%i" : "%n", *form[FORMS][2] = {{"%a", "%b"}, {"%a", "%c"}, {id, "%b"}};
    strbuf_printf(&text,
                  "kernel @k(%%x: ptr.global i%u read, %%y: ptr.global i%u read, %%b: i%u, "
                  "%%out: ptr.global i%u write) {\n  %%i = global_id x\n",
                  bits, bits, bits, bits);
    if (bits < 64) strbuf_printf(&text, "  %%n = trunc i%u %%i\n", bits);
    strbuf_printf(&text, "  %%a = load i%u %%x[%%i]\n  %%c = load i%u %%y[%%i]\n", bits, bits);
    for (unsigned f = 0; f < FORMS; f++)
        for (unsigned op = 0; op < OPS; op++) {
            unsigned k = f * OPS + op;
            strbuf_printf(&text,
                          "  %%r%u = %s i%u %s, %s\n  %%at%u = add i64 %%i, %u\n  store i%u %%out[%%at%u], %%r%u\n", k,
                          names[op], bits, form[f][0], form[f][1], k, k * ITEMS, bits, k, k);
        }
    strbuf_printf(&text, "}\n");
    return strbuf_take(&text);
}

/* ---- what C makes of it ---- */

static uint64_t low_bits(uint64_t v, unsigned bits)
{
    return bits == 64 ? v : v & ((1ull << bits) - 1);
}

static int64_t as_signed(uint64_t v, unsigned bits)
{
    return (int64_t)(v << (64 - bits)) >> (64 - bits);
}

static uint64_t expected(unsigned op, unsigned bits, uint64_t a, uint64_t b)
{
    int64_t x = as_signed(a, bits), y = as_signed(b, bits);
    if (b == 0) return 0;
    if (op == 0) return a / b;
    if (op == 1) return a % b;
    if (y == -1) return op == 2 ? low_bits(0 - a, bits) : 0;
    int64_t rest = x % y;
    if (op == 2) return low_bits((uint64_t)(x / y), bits);
    if (op == 4 && rest && (rest < 0) != (y < 0)) rest += y;
    return low_bits((uint64_t)rest, bits);
}

/* ---- data ---- */

static uint64_t divisor(struct rng *rng, unsigned bits)
{
    static const uint64_t special[] = {0, 1, 2, 3, 5, 7, 10, 100, 641, 1000, 65535, 65537, 0xfffffffb, ~0ull, ~1ull};
    uint64_t r = rng_next(rng);
    switch (r % 3) {
    case 0: return low_bits(special[r / 3 % (sizeof special / sizeof *special)], bits);
    case 1: return low_bits((1ull << rng_below(rng, bits)) + rng_below(rng, 3) - 1, bits);
    default: return low_bits(rng_next(rng) >> rng_below(rng, 64), bits);
    }
}

/* small: less than 2^32, as sizes are. */
static uint64_t dividend(struct rng *rng, unsigned bits, uint64_t b, bool small)
{
    uint64_t r = rng_next(rng), v = rng_next(rng) >> rng_below(rng, 64), ends[] = {0, 1, ~0ull, 1ull << (bits - 1)};
    unsigned kept = small && bits > 32 ? 32 : bits;
    switch (r % 4) {
    case 0: v = ends[r / 4 % 4] + rng_below(rng, 3) - 1; break;
    case 1: break;
    default: v = (b ? low_bits(v, kept) / b * b : v) + rng_below(rng, 3) - 1;
    }
    return low_bits(v, kept);
}

static void put(void *memory, unsigned i, unsigned bits, uint64_t v)
{
    memcpy((uint8_t *)memory + (size_t)i * bits / 8, &v, bits / 8);
}

static uint64_t get(const void *memory, unsigned i, unsigned bits)
{
    uint64_t v = 0;
    memcpy(&v, (const uint8_t *)memory + (size_t)i * bits / 8, bits / 8);
    return v;
}

/* ---- the comparison ---- */

static uint64_t x[ITEMS], y[ITEMS], out[FORMS * OPS * ITEMS];

static void fill(struct rng *rng, unsigned bits, uint64_t b, bool small)
{
    for (unsigned i = 0; i < ITEMS; i++) {
        uint64_t c = divisor(rng, small && bits > 32 ? 32 : bits);
        put(y, i, bits, c);
        put(x, i, bits, dividend(rng, bits, i % 2 ? b : c, small));
    }
}

static void check(unsigned bits, uint64_t b, const char *how)
{
    for (unsigned k = 0; k < FORMS * OPS; k++)
        for (unsigned i = 0; i < ITEMS; i++) {
            uint64_t a = k / OPS == 2 ? low_bits(i, bits) : get(x, i, bits), c = k / OPS == 1 ? get(y, i, bits) : b;
            uint64_t want = expected(k % OPS, bits, a, c), got = get(out, k * ITEMS + i, bits);
            if (want != got)
                fail_msg("%s: %s i%u %llx, %llx (form %u, item %u): %llx instead of %llx", how, names[k % OPS], bits,
                         (unsigned long long)a, (unsigned long long)c, k / OPS, i, (unsigned long long)got,
                         (unsigned long long)want);
        }
}

static void run(unsigned bits)
{
    char *text = write_kernel(bits);
    struct ir_module *m = kit_parse(text);
    struct ir_function *kernel = kit_kernel(m);
    struct kit_way ways[KIT_MAX_WAYS];
    unsigned n = kit_ways(ways);
    struct nd_range range = {1, {ITEMS, 1, 1}, {0, 0, 0}, {64, 1, 1}};
    for (unsigned w = 0; w < n; w++) {
        struct compiled c;
        struct rng rng = {4711};
        assert_true(kit_make(&c, kernel, &ways[w]));
        for (unsigned round = 0; round < 60; round++) {
            uint64_t b = divisor(&rng, bits);
            fill(&rng, bits, b, round % 2);
            struct interp_arg args[] = {{INTERP_ARG_BUFFER, x, sizeof x, NULL},
                                        {INTERP_ARG_BUFFER, y, sizeof y, NULL},
                                        {INTERP_ARG_BYTES, &b, bits / 8, NULL},
                                        {INTERP_ARG_BUFFER, out, sizeof out, NULL}};
            compiled_run(&c, kernel, &range, args, 1, 0);
            check(bits, b, ways[w].scalar ? "scalar" : cpu_isa_name(ways[w].isa));
        }
        compiled_clear(&c);
    }
    ir_module_free(m);
    free(text);
}

static void test_i8(void **state)
{
    (void)state;
    run(8);
}

static void test_i16(void **state)
{
    (void)state;
    run(16);
}

static void test_i32(void **state)
{
    (void)state;
    run(32);
}

static void test_i64(void **state)
{
    (void)state;
    run(64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_i8), cmocka_unit_test(test_i16),
                                       cmocka_unit_test(test_i32), cmocka_unit_test(test_i64)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
