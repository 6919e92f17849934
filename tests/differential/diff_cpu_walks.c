/*
 * Loops in which each work-item walks along a row of its own, `a[row * n + j]` with a row for each: of all types whose
 * rows are loaded by registers, with tests of all forms, rounds that fill no register, several rows, and loops around.
 * The interpreter's bits; and nothing behind the last row is touched, for there is no memory.
 */
#include <sys/mman.h>

#include "tests/support/compiled_kit.h"

#include "ir/base/strbuf.h"
#include "tests/support/cases.h"
#include "tests/support/rng.h"

enum { ITEMS = 70, LONGEST = 90, NUMBERS = ITEMS * LONGEST };

static uint64_t numbers[2][NUMBERS], results[ITEMS];

struct form {
    const char *type;
    unsigned bytes, rows, rounds, first;
    bool wide, is_float, next, not_less, up_to, is_unsigned, again, guarded, in_if, fixed;
    enum { TOP, BOTTOM_ON, BOTTOM_OUT } test;
};

static struct form random_form(struct rng *r)
{
    static const char *const types[] = {"f32", "i32", "f64", "i64"};
    unsigned t = rng_below(r, 4);
    struct form f = {.type = types[t],
                     .bytes = t < 2 ? 4 : 8,
                     .is_float = t % 2 == 0,
                     .rows = 1 + rng_below(r, 2),
                     .rounds = rng_chance(r, 30) ? 16 * (1 + rng_below(r, 4)) : 1 + rng_below(r, 70),
                     .first = rng_chance(r, 30) ? rng_below(r, 10) : 0,
                     .wide = rng_chance(r, 40),
                     .next = rng_chance(r, 60),
                     .not_less = rng_chance(r, 30),
                     .up_to = rng_chance(r, 30),
                     .is_unsigned = rng_chance(r, 30),
                     .again = rng_chance(r, 30),
                     .guarded = rng_chance(r, 40),
                     .in_if = rng_chance(r, 20),
                     .fixed = rng_chance(r, 20),
                     .test = rng_below(r, 3)};
    if (f.test == TOP) f.next = false;
    if (f.first + f.rounds == 1) f.up_to = false; /* than nothing */
    return f;
}

/* What the counter, or its next value, is compared with so that there are so many rounds. */
static unsigned bound_of(const struct form *f)
{
    unsigned last = f->first + f->rounds - 1; /* the counter in the last round */
    unsigned fails = f->test == TOP || f->next ? last + 1 : last;
    return f->up_to ? fails - 1 : fails;
}

/* ---- its text ---- */

static void write_condition(struct strbuf *s, const struct form *f)
{
    static const char *const less[] = {"slt", "sle", "ult", "ule"}, *const not_less[] = {"sge", "sgt", "uge", "ugt"};
    unsigned which = 2 * f->is_unsigned + f->up_to;
    strbuf_printf(s, "  %%c = %s %s %%%s, %%bound\n", (f->not_less ? not_less : less)[which], f->wide ? "i64" : "i32",
                  f->next ? "j2" : "j");
}

static void write_round(struct strbuf *s, const struct form *f)
{
    const char *t = f->wide ? "i64" : "i32";
    strbuf_printf(s, f->wide ? "  %%at = add i64 %%start, %%j\n"
                             : "  %%at0 = add i32 %%start, %%j\n  %%at = sext i64 %%at0\n");
    strbuf_printf(s, "  %%v = load %s %%a[%%at]\n  %%s1 = %s %s %%s, %%v\n", f->type, f->is_float ? "fadd" : "add",
                  f->type);
    if (f->rows > 1)
        strbuf_printf(s, "  %%w = load %s %%b[%%at]\n  %%s2 = %s %s %%s1, %%w\n", f->type, f->is_float ? "fmul" : "xor",
                      f->type);
    else
        strbuf_printf(s, "  %%s2 = %s %s %%s1, %%v\n", f->is_float ? "fmul" : "xor", f->type);
    strbuf_printf(s, "  %%j2 = add %s %%j, 1\n", t);
}

static void write_loop(struct strbuf *s, const struct form *f)
{
    strbuf_printf(s, "  %%sum = loop (%%j: %s = %%first, %%s: %s = %%zero) -> %s {\n", f->wide ? "i64" : "i32", f->type,
                  f->type);
    if (f->test == TOP) {
        write_condition(s, f);
        strbuf_printf(s, f->not_less ? "  if %%c {\n    break %%s\n  }\n"
                                     : "  if %%c {\n    yield\n  } else {\n    break %%s\n  }\n");
        write_round(s, f);
        strbuf_printf(s, "  continue %%j2, %%s2\n  }\n");
        return;
    }
    write_round(s, f);
    write_condition(s, f);
    if (f->test == BOTTOM_ON)
        strbuf_printf(s, "%s    continue %%j2, %%s2\n  }\n  break %%s2\n  }\n",
                      f->not_less ? "  if %c {\n    yield\n  } else {\n" : "  if %c {\n");
    else
        strbuf_printf(s, "%s    break %%s2\n  }\n  continue %%j2, %%s2\n  }\n",
                      f->not_less ? "  if %c {\n" : "  if %c {\n    yield\n  } else {\n");
}

static void write_kernel(struct strbuf *s, const struct form *f)
{
    const char *t = f->wide ? "i64" : "i32";
    strbuf_printf(s,
                  "kernel @k(%%a: ptr.global %s read, %%b: ptr.global %s read, %%o: ptr.global %s, %%n: %s, "
                  "%%first: %s, %%bound0: %s) assumes(small_ids, small_memory) {\n  %%i = global_id x\n",
                  f->type, f->type, f->type, t, t, t);
    strbuf_printf(s, f->wide ? "  %%row = add i64 %%i, 0\n" : "  %%row = trunc i32 %%i\n");
    strbuf_printf(s, "  %%start = mul %s %%row, %%n\n  %%none = xor %s %%n, %%n\n", t, t);
    strbuf_printf(s, f->fixed ? "  %%bound = add %s %u, 0\n" : "  %%bound = add %s %%bound0, %u\n", t,
                  f->fixed ? bound_of(f) : 0);
    const char *zero = f->wide ? "trunc" : "sext";
    if (f->is_float || f->wide == (f->bytes == 8)) zero = f->is_float ? "stof" : "neg";
    strbuf_printf(s, "  %%zero = %s %s %%none\n", zero, f->type);
    if (f->guarded) strbuf_printf(s, "  %%g = slt %s %%row, 61\n  if %%g {\n", t);
    if (f->again) strbuf_printf(s, "  %%all = loop (%%u: i32 = 0, %%z: %s = %%zero) -> %s {\n", f->type, f->type);
    if (f->in_if) strbuf_printf(s, "  %%k = slt %s %%row, 37\n  %%got = if %%k -> %s {\n", t, f->type);
    write_loop(s, f);
    if (f->in_if) strbuf_printf(s, "    yield %%sum\n  } else {\n    yield %%zero\n  }\n");
    const char *sum = f->in_if ? "got" : "sum";
    if (f->again)
        strbuf_printf(s,
                      "  %%z2 = %s %s %%z, %%%s\n  %%u2 = add i32 %%u, 1\n  %%uc = slt i32 %%u2, 2\n  if %%uc {\n"
                      "    continue %%u2, %%z2\n  }\n  break %%z2\n  }\n",
                      f->is_float ? "fadd" : "add", f->type, sum);
    strbuf_printf(s, "  store %s %%o[%%i], %%%s\n%s  return\n}\n", f->type, f->again ? "all" : sum,
                  f->guarded ? "  yield\n  }\n" : "");
}

/* ---- memory behind which there is none ---- */

enum { PAGE = 4096 };

static void *at_the_end(const void *data, size_t bytes)
{
    size_t pages = (bytes + PAGE - 1) / PAGE * PAGE;
    uint8_t *memory = mmap(NULL, pages + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + pages, PAGE, PROT_NONE), 0);
    return memcpy(memory + pages - bytes, data, bytes);
}

static void unmap(void *data, size_t bytes)
{
    size_t pages = (bytes + PAGE - 1) / PAGE * PAGE;
    munmap((uint8_t *)data + bytes - pages, pages + PAGE);
}

/* ---- the test ---- */

static void run_each_way(const struct ir_function *kernel, const struct nd_range *range, const struct interp_arg *args,
                         const char *text)
{
    struct kit_way ways[KIT_MAX_WAYS];
    unsigned n_ways = kit_ways(ways);
    static uint64_t want[ITEMS], got[ITEMS];
    struct interp_arg as[6];
    memcpy(as, args, sizeof as);
    as[2].data = want;
    memcpy(want, results, sizeof want);
    kit_interpret(kernel, range, as);
    for (unsigned i = 0; i < 2; i++) as[i].data = at_the_end(args[i].data, args[i].size);
    as[2].data = got;
    for (unsigned w = 0; w < n_ways; w++) {
        struct compiled c;
        assert_true(kit_make(&c, kernel, &ways[w]));
        memcpy(got, results, sizeof got);
        compiled_run(&c, kernel, range, as, 1, 0);
        if (memcmp(want, got, sizeof want) != 0) fail_msg("%s: other results of\n%s", kit_way_name(&ways[w]), text);
        compiled_clear(&c);
    }
    for (unsigned i = 0; i < 2; i++) unmap(as[i].data, as[i].size);
}

static void run(uint64_t seed)
{
    struct rng rng = {seed};
    struct form f = random_form(&rng);
    struct nd_range range = {1, {ITEMS - rng_below(&rng, 7), 1, 1}, {0}, {1, 1, 1}};
    uint64_t n = f.first + f.rounds, first = f.first, bound = bound_of(&f);
    size_t bytes = range.global[0] * n * f.bytes, small = f.wide ? 8 : 4;
    struct strbuf text = {0};
    write_kernel(&text, &f);
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = numbers[f.is_float && f.bytes == 8], .size = bytes},
                                {.kind = INTERP_ARG_BUFFER, .data = numbers[f.is_float && f.bytes == 8], .size = bytes},
                                {.kind = INTERP_ARG_BUFFER, .data = results, .size = sizeof results},
                                {.kind = INTERP_ARG_BYTES, .data = &n, .size = small},
                                {.kind = INTERP_ARG_BYTES, .data = &first, .size = small},
                                {.kind = INTERP_ARG_BYTES, .data = &bound, .size = small}};
    struct ir_module *m = kit_parse(text.text);
    run_each_way(kit_kernel(m), &range, args, text.text);
    ir_module_free(m);
    free(text.text);
}

static void walks(void **state)
{
    (void)state;
    float *singles = (float *)numbers[0];
    double *doubles = (double *)numbers[1];
    for (int i = 0; i < 2 * NUMBERS; i++) singles[i] = (float)(i * 37 % 101) * 0.125f - 5;
    for (int i = 0; i < NUMBERS; i++) doubles[i] = (i * 37 % 103) * 0.125 - 5;
    for (uint64_t seed = 1; seed <= test_cases(40); seed++) run(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(walks)};
    return cmocka_run_group_tests_name("diff_cpu_walks", tests, NULL, NULL);
}
