/*
 * Private arrays that work-items walk through together: of all numbers, of one or two dimensions, on the stack and in
 * kernels with barriers, in groups of all shapes, whole or not, begun with zeros, a constant or stores, with and
 * without accesses that only some work-items do. The interpreter's bits; and that the accesses are vector moves.
 */
#include "ir/base/strbuf.h"
#include "tests/support/cases.h"
#include "tests/support/compiled_kit.h"
#include "tests/support/rng.h"

enum { MOST_ITEMS = 1024 };

static int64_t numbers[MOST_ITEMS], results[MOST_ITEMS];

struct form {
    const char *type, *add;
    unsigned rows, columns; /* rows 0: one dimension */
    enum { ZEROS, CONSTANT, STORES } begin;
    bool waits, some, has_own_index, is_wide;
};

static struct form random_form(struct rng *r)
{
    static const char *const types[] = {"i8", "i16", "i32", "i64", "f32", "f64"};
    unsigned t = rng_below(r, 6);
    return (struct form){.type = types[t],
                         .add = t < 4 ? "add" : "fadd",
                         .rows = rng_chance(r, 40) ? 1 + rng_below(r, 5) : 0,
                         .columns = 1 + rng_below(r, 40),
                         .begin = rng_below(r, 3),
                         .waits = rng_chance(r, 60),
                         .some = rng_chance(r, 40),
                         .has_own_index = rng_chance(r, 20),
                         .is_wide = rng_chance(r, 50)};
}

/* ---- its text ---- */

static unsigned bytes_of(const struct form *f)
{
    return (unsigned)(f->type[1] == '8'                                  ? 1
                      : (f->type[1] - '0') * 10 + f->type[2] - '0' == 16 ? 2
                      : f->type[1] == '3'                                ? 4
                                                                         : 8);
}

static unsigned count_of(const struct form *f)
{
    return (f->rows ? f->rows : 1) * f->columns;
}

static void write_globals(struct strbuf *s, const struct form *f)
{
    unsigned bytes = count_of(f) * bytes_of(f);
    strbuf_printf(s, "local @s: [4 x i32]\nconstant @t: [%u x i8]", bytes);
    for (unsigned i = 0; i < bytes && f->begin == CONSTANT; i++)
        strbuf_printf(s, "%s%u%s", i ? ", " : " = { ",
                      f->type[0] == 'f' ? (i % bytes_of(f) == bytes_of(f) - 1) * 64 : i % 100,
                      i == bytes - 1 ? " }" : "");
    strbuf_printf(s, "\n");
}

/* The element number %j of the array, as %NAME. */
static void write_element(struct strbuf *s, const struct form *f, const char *name, const char *j)
{
    const char *t = f->is_wide ? "i64" : "i32";
    if (!f->rows) {
        strbuf_printf(s, "  %%%s = elem %s %%c, %%%s\n", name, f->type, j);
        return;
    }
    strbuf_printf(s,
                  "  %%%s_r = udiv %s %%%s, %u\n  %%%s_c = urem %s %%%s, %u\n"
                  "  %%%s_p = elem [%u x %s] %%c, %%%s_r\n  %%%s = elem %s %%%s_p, %%%s_c\n",
                  name, t, j, f->columns, name, t, j, f->columns, name, f->columns, f->type, name, name, f->type, name,
                  name);
}

static void write_loop_end(struct strbuf *s, const struct form *f, const char *j)
{
    const char *t = f->is_wide ? "i64" : "i32";
    strbuf_printf(
        s,
        "  %%%s1 = add %s %%%s, 1\n  %%%sc = ult %s %%%s1, %u\n  if %%%sc {\n    continue %%%s1\n  }\n  break\n  }\n",
        j, t, j, j, t, j, count_of(f), j, j);
}

static void write_begin(struct strbuf *s, const struct form *f)
{
    if (f->begin != STORES) {
        strbuf_printf(s, "  %%t = global @t\n  copy i8 %%c, %%t, %u\n", count_of(f) * bytes_of(f));
        return;
    }
    strbuf_printf(s, "  loop (%%z: %s = 0) {\n", f->is_wide ? "i64" : "i32");
    write_element(s, f, "pz", "z");
    strbuf_printf(s, "  store %s %%pz, %%v\n", f->type);
    write_loop_end(s, f, "z");
}

/* Adds to each element, some work-items only. */
static void write_sums(struct strbuf *s, const struct form *f)
{
    const char *t = f->is_wide ? "i64" : "i32";
    if (f->some) strbuf_printf(s, "  %%odd = and i64 %%l, 5\n  %%is_odd = ine i64 %%odd, 0\n  if %%is_odd {\n");
    strbuf_printf(s, "  loop (%%k: %s = 0) {\n", t);
    if (f->has_own_index) {
        strbuf_printf(s, f->is_wide ? "  %%l32 = add i64 %%l, 0\n" : "  %%l32 = trunc i32 %%l\n");
        strbuf_printf(s, "  %%k0 = add %s %%k, %%l32\n  %%own = urem %s %%k0, %u\n", t, t, count_of(f));
    }
    write_element(s, f, "pk", f->has_own_index ? "own" : "k");
    strbuf_printf(s, "  %%x = load %s %%pk\n  %%y = %s %s %%x, %%v\n  store %s %%pk, %%y\n", f->type, f->add, f->type,
                  f->type);
    write_loop_end(s, f, "k");
    if (f->some) strbuf_printf(s, "  yield\n  }\n");
}

static void write_kernel(struct strbuf *s, const struct form *f)
{
    const char *t = f->is_wide ? "i64" : "i32", *barrier = f->waits ? "  barrier work_group, local\n" : "";
    write_globals(s, f);
    strbuf_printf(s,
                  "kernel @k(%%a: ptr.global %s read, %%o: ptr.global %s) assumes(small_ids, small_memory) {\n"
                  "  %%c = var ",
                  f->type, f->type);
    if (f->rows) strbuf_printf(s, "[%u x ", f->rows);
    strbuf_printf(s, "[%u x %s]%s\n", f->columns, f->type, f->rows ? "]" : "");
    strbuf_printf(s, "  %%i = global_linear_id\n  %%l = local_linear_id\n  %%v = load %s %%a[%%i]\n", f->type);
    write_begin(s, f);
    strbuf_printf(s, "%s", barrier);
    write_sums(s, f);
    strbuf_printf(s, "%s  %%sum = loop (%%j: %s = 0, %%w: %s = %%v) -> %s {\n", barrier, t, f->type, f->type);
    write_element(s, f, "pj", "j");
    strbuf_printf(
        s,
        "  %%e = load %s %%pj\n  %%w1 = %s %s %%w, %%e\n  %%j1 = add %s %%j, 1\n  %%jc = ult %s %%j1, %u\n"
        "  if %%jc {\n    continue %%j1, %%w1\n  }\n  break %%w1\n  }\n  store %s %%o[%%i], %%sum\n  return\n}\n",
        f->type, f->add, f->type, t, t, count_of(f), f->type);
}

/* ---- the tests ---- */

static struct nd_range some_range(struct rng *r)
{
    static const uint64_t shapes[][3] = {{64, 1, 1}, {32, 8, 1},  {20, 3, 1}, {1, 33, 1},
                                         {7, 1, 5},  {16, 16, 1}, {128, 1, 1}};
    const uint64_t *l = shapes[rng_below(r, 7)];
    uint64_t less = rng_chance(r, 30) && l[0] > 1 ? 1 + rng_below(r, (unsigned)l[0] - 1) : 0;
    return (struct nd_range){3, {2 * l[0] - less, l[1], l[2]}, {0}, {l[0], l[1], l[2]}};
}

static void run(uint64_t seed)
{
    struct rng rng = {seed};
    struct form f = random_form(&rng);
    struct nd_range range = some_range(&rng);
    struct strbuf text = {0};
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = numbers, .size = sizeof numbers},
                                {.kind = INTERP_ARG_BUFFER, .data = results, .size = sizeof results}};
    for (int i = 0; i < MOST_ITEMS; i++) numbers[i] = i * 37 % 101;
    float *singles = (float *)numbers;
    double *doubles = (double *)numbers;
    for (int i = 0; i < MOST_ITEMS && f.type[0] == 'f'; i++)
        if (f.type[1] == '3')
            singles[i] = (float)(i * 37 % 101) * 0.125f - 5;
        else
            doubles[i] = (i * 37 % 101) * 0.125 - 5;
    write_kernel(&text, &f);
    if (getenv("FUSIOND_TEST_SEED")) fprintf(stderr, "# %s", text.text);
    kit_same_as_planned(text.text, &range, args, 2);
    free(text.text);
}

static void lane_arrays(void **state)
{
    (void)state;
    const char *first = getenv("FUSIOND_TEST_SEED");
    uint64_t seed = first ? strtoull(first, NULL, 10) : 1, n = first ? 1 : test_cases(60);
    for (uint64_t i = 0; i < n; i++) run(seed + i);
}

/* Sums as a matrix product keeps them: cleared and added to by whole registers. */
static void no_lane_is_gathered(void **state)
{
    (void)state;
    static const char text[] =
        "local @s: [64 x f32]\nconstant @t: [128 x i8]\n"
        "kernel @k(%a: ptr.global f32 read, %o: ptr.global f32) work_group_size(64, 1, 1)\n"
        "        assumes(small_ids, small_memory, whole_groups) {\n"
        "  %c = var [32 x f32]\n  %t = global @t\n  copy i8 %c, %t, 128\n"
        "  %l = local_id x\n  %i = global_id x\n  %v = load f32 %a[%i]\n"
        "  %s = global @s\n  %mine = elem f32 %s, %l\n  store f32 %mine, %v\n  barrier work_group, local\n"
        "  loop (%k: i32 = 0) {\n    %b = load f32 %s[%k]\n    %p = elem f32 %c, %k\n    %x = load f32 %p\n"
        "    %y = mad f32 %v, %b, %x, contract\n    store f32 %p, %y\n    %k1 = add i32 %k, 1\n"
        "    %kc = ult i32 %k1, 32\n    if %kc {\n      continue %k1\n    }\n    break\n  }\n"
        "  barrier work_group, local\n  loop (%j: i32 = 0) {\n    %q = elem f32 %c, %j\n    %e = load f32 %q\n"
        "    %j64 = zext i64 %j\n    %row = shl i64 %j64, 7\n    %at = add i64 %row, %i\n    store f32 %o[%at], %e\n"
        "    %j1 = add i32 %j, 1\n    %jc = ult i32 %j1, 32\n    if %jc {\n      continue %j1\n    }\n    break\n"
        "  }\n  return\n}\n";
    struct ir_module *module = kit_parse(text);
    enum cpu_isa isas[CPU_ISA_COUNT];
    for (unsigned n = compiled_isas(isas); n-- > 0;) {
        if (isas[n] < CPU_ISA_AVX2) continue;
        struct cpu_options options = {.target = cpu_target_host(isas[n]), .keep_assembly = true};
        struct cpu_object object;
        struct diag_list list = {0};
        assert_int_equal(cpu_compile(kit_kernel(module), &options, &object, &list), 0);
        assert_null(strstr(object.assembly, "memcpy"));
        assert_null(strstr(object.assembly, "vgather"));
        assert_null(strstr(object.assembly, "tzcnt"));
        cpu_object_clear(&object);
    }
    ir_module_free(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lane_arrays), cmocka_unit_test(no_lane_is_gathered)};
    return cmocka_run_group_tests_name("diff_cpu_lane_arrays", tests, NULL, NULL);
}
