/*
 * Counting in bins: atomics whose addresses come of what neighbours load, in loops that go over memory in steps of all
 * work-items. Numbers of all sizes, extended and cut as compilers have it, with guards and conditions, bins in the
 * group's memory and in everybody's. Each gives the interpreter's bits.
 */
#include "tests/support/compiled_kit.h"

#include "ir/base/strbuf.h"
#include "tests/support/cases.h"
#include "tests/support/rng.h"

enum { NUMBERS = 4096, BINS = 64 };

static uint8_t numbers[NUMBERS * 8];
static uint32_t bins[BINS], last[512];

struct form {
    unsigned bits, local, groups, n, bin_bits;
    bool shared, is_written, is_guarded, is_narrow, is_shifted, has_offset, may_skip, counts_numbers, wraps, is_marked;
    unsigned begins_at; /* bins in the group's memory do */
    const char *one;    /* what all do to one number; NULL: each adds to its own bin */
};

static struct form random_form(struct rng *r)
{
    static const char *const ones[] = {"add", "sub", "and", "or", "xor", "smin", "umin", "smax", "umax"};
    static const unsigned bits[] = {8, 16, 32, 64}, locals[] = {16, 64, 96, 128};
    return (struct form){.bits = bits[rng_below(r, 4)],
                         .local = locals[rng_below(r, 4)],
                         .groups = 1 + rng_below(r, 4),
                         .n = rng_chance(r, 20) ? rng_below(r, 40) : rng_below(r, NUMBERS),
                         .bin_bits = rng_chance(r, 30) ? 64 : 32,
                         .shared = rng_chance(r, 60),
                         .is_written = rng_chance(r, 20),
                         .is_guarded = rng_chance(r, 30),
                         .is_narrow = rng_chance(r, 60),
                         .is_shifted = rng_chance(r, 40),
                         .has_offset = rng_chance(r, 40),
                         .may_skip = rng_chance(r, 30),
                         .counts_numbers = rng_chance(r, 30),
                         .wraps = rng_chance(r, 30),
                         .is_marked = rng_chance(r, 20),
                         .begins_at = rng_chance(r, 30) ? 5 : 0,
                         .one = rng_chance(r, 40) ? ones[rng_below(r, 9)] : NULL};
}

/* ---- its text ---- */

static void write_bin(struct strbuf *s, const struct form *f)
{
    strbuf_printf(s, f->is_narrow ? "    %%at = sext i64 %%i\n" : "    %%at = add i64 %%i, 0\n");
    strbuf_printf(s, "    %%v = load i%u %%a[%%at]\n", f->bits);
    if (f->is_shifted) strbuf_printf(s, "    %%sh = lshr i%u %%v, 1\n", f->bits);
    strbuf_printf(s, "    %%low = and i%u %%%s, %d\n", f->bits, f->is_shifted ? "sh" : "v", f->has_offset ? 31 : 63);
    if (f->bits > f->bin_bits)
        strbuf_printf(s, "    %%bin = trunc i%u %%low\n", f->bin_bits);
    else if (f->bits < f->bin_bits)
        strbuf_printf(s, "    %%bin = zext i%u %%low\n", f->bin_bits);
    else
        strbuf_printf(s, "    %%bin = add i%u %%low, 0\n", f->bin_bits);
    strbuf_printf(s, "    %%which = add i%u %%bin, %d\n", f->bin_bits, f->has_offset ? 32 : 0);
}

static void write_count(struct strbuf *s, const struct form *f)
{
    if (f->may_skip)
        strbuf_printf(s, "    %%odd = ieq i%u %%low, 3\n    if %%odd {\n      yield\n    } else {\n", f->bits);
    strbuf_printf(s, "    %%p = elem i32 %%%s, %s\n    %%old = atomic_%s i32 %%p, %s\n", f->shared ? "mine" : "bins",
                  f->one ? "7" : "%which", f->one ? f->one : "add",
                  f->counts_numbers ? "%by"
                  : f->one          ? "%hash"
                                    : "1");
    if (f->may_skip) strbuf_printf(s, "    yield\n    }\n");
}

static void write_loop(struct strbuf *s, const struct form *f)
{
    const char *t = f->is_narrow ? "i32" : "i64";
    strbuf_printf(s, f->is_narrow ? "  %%first = trunc i32 %%id\n  %%size = trunc i32 %%gs\n"
                                  : "  %%first = add i64 %%id, 0\n  %%size = add i64 %%gs, 0\n");
    strbuf_printf(s, "  loop (%%i: %s = %%first) {\n    %%c = %s %s %%i, %%n\n    if %%c {\n", t,
                  f->wraps ? "ult" : "slt", t);
    write_bin(s, f);
    write_count(s, f);
    strbuf_printf(s, "    %%next = add %s %%i, %%size\n    continue %%next\n    }\n    break\n  }\n", t);
}

static void write_kernel(struct strbuf *s, const struct form *f)
{
    strbuf_printf(s,
                  "local @mine: [%d x i32]\nkernel @k(%%a: ptr.global i%u%s, %%bins: ptr.global i32, "
                  "%%last: ptr.global i32, %%n: %s) assumes(small_ids, small_memory) {\n",
                  BINS, f->bits, f->is_written ? "" : " read", f->is_narrow ? "i32" : "i64");
    strbuf_printf(s, "  %%id = global_id x\n  %%gs = global_size x\n  %%l = local_id x\n  %%by = trunc i32 %%l\n"
                     "  %%times = mul i32 %%by, 2654435761\n  %%hash = xor i32 %%times, 1234567\n"
                     "  %%mine = global @mine\n");
    if (f->shared)
        strbuf_printf(s,
                      "  %%few = ult i64 %%l, 4\n  if %%few {\n    loop (%%z: i64 = %%l) {\n"
                      "      %%pz = elem i32 %%mine, %%z\n      store i32 %%pz, %u\n      %%z1 = add i64 %%z, 4\n"
                      "      %%cz = ult i64 %%z1, %d\n      if %%cz {\n        continue %%z1\n      }\n      break\n"
                      "    }\n    yield\n  }\n  barrier work_group, local\n",
                      f->begins_at, BINS);
    if (f->shared && f->is_marked)
        strbuf_printf(
            s,
            "  %%own = ult i64 %%l, %d\n  if %%own {\n    %%pm = elem i32 %%mine, %%l\n    store i32 %%pm, %%by\n"
            "    yield\n  }\n  barrier work_group, local\n",
            BINS);
    if (f->is_guarded) strbuf_printf(s, "  %%g = ult i64 %%l, 41\n  if %%g {\n");
    write_loop(s, f);
    if (f->is_guarded) strbuf_printf(s, "  yield\n  }\n");
    if (f->shared)
        strbuf_printf(s,
                      "  barrier work_group, local\n  %%lb = and i64 %%l, %d\n  %%pl = elem i32 %%mine, %%lb\n"
                      "  %%sum = load i32 %%pl\n  store i32 %%last[%%id], %%sum\n",
                      BINS - 1);
    strbuf_printf(s, "  return\n}\n");
}

/* ---- the test ---- */

static void run(uint64_t seed)
{
    struct rng rng = {seed};
    struct form f = random_form(&rng);
    struct nd_range range = {1, {f.local * f.groups, 1, 1}, {0}, {f.local, 1, 1}};
    int64_t n = f.n;
    struct strbuf text = {0};
    write_kernel(&text, &f);
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = numbers, .size = sizeof numbers},
                                {.kind = INTERP_ARG_BUFFER, .data = bins, .size = sizeof bins},
                                {.kind = INTERP_ARG_BUFFER, .data = last, .size = sizeof last},
                                {.kind = INTERP_ARG_BYTES, .data = &n, .size = f.is_narrow ? 4 : 8}};
    struct ir_module *m = kit_parse(text.text);
    struct ir_function *kernel = kit_kernel(m);
    for (unsigned d = 0; d < 3; d++) kernel->work_group_size[d] = (uint32_t)range.local[d];
    kernel->assumes |= IR_ASSUME_WHOLE_GROUPS;
    kit_same_in_all_ways(kernel, &range, 1, 0, args, 4);
    ir_module_free(m);
    free(text.text);
}

static void counts(void **state)
{
    (void)state;
    struct rng rng = {7};
    for (unsigned i = 0; i < sizeof numbers; i++) numbers[i] = (uint8_t)rng_below(&rng, 256);
    for (uint64_t seed = 1; seed <= test_cases(60); seed++) run(seed);
}

/* Arrays in which a loop counts are there four times; not those of which somebody asks what was there, into which
   numbers are put that are not known, or that are large. */
static void copies(void **state)
{
    (void)state;
    static const struct {
        const char *store, *use;
        unsigned bins, bytes;
    } cases[] = {{"0", "0", 64, 4 * 256}, {"7", "0", 64, 4 * 256},    {"%l", "0", 64, 256},
                 {"0", "%old", 64, 256},  {"0", "0", 1024, 4 * 4096}, {"0", "0", 1025, 4100}};
    enum cpu_isa isas[CPU_ISA_COUNT];
    enum cpu_isa best = isas[compiled_isas(isas) - 1];
    if (best == CPU_ISA_GENERIC) skip();
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strbuf text = {0};
        struct compiled c;
        strbuf_printf(
            &text,
            "local @mine: [%u x i32]\nkernel @k(%%a: ptr.global i8 read, %%o: ptr.global i32, %%n: i64)\n"
            "        work_group_size(64, 1, 1) assumes(small_ids, small_memory, whole_groups) {\n"
            "  %%id = global_id x\n  %%li = local_id x\n  %%l = trunc i32 %%li\n  %%m = global @mine\n"
            "  %%p = elem i32 %%m, %%li\n  store i32 %%p, %s\n  barrier work_group, local\n"
            "  loop (%%i: i64 = %%li) {\n    %%v = load i8 %%a[%%i]\n    %%b = zext i64 %%v\n"
            "    %%q = elem i32 %%m, %%b\n    %%old = atomic_add i32 %%q, 1\n    store i32 %%o[%%i], %s\n"
            "    %%j = add i64 %%i, 64\n    %%c = ult i64 %%j, %%n\n    if %%c { continue %%j }\n    break\n"
            "  }\n  barrier work_group, local\n  %%r = load i32 %%p\n  store i32 %%o[%%id], %%r\n  return\n}\n",
            cases[i].bins, cases[i].store, cases[i].use);
        struct ir_module *m = kit_parse(text.text);
        assert_true(compiled_make(&c, kit_kernel(m), best, false));
        assert_int_equal(c.info->static_local_size, cases[i].bytes);
        compiled_clear(&c);
        ir_module_free(m);
        free(text.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts), cmocka_unit_test(copies)};
    return cmocka_run_group_tests_name("diff_cpu_bins", tests, NULL, NULL);
}
