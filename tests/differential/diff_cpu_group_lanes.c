/*
 * Kernels whose work-groups are the lanes of vectors: random ones that go through work-group memory in trees up and
 * down and by permutations, with ifs in which neighbours of a group differ and groups differ, loops around barriers,
 * numbers of several sizes, pairs of numbers, and all kinds of ids. Each gives the interpreter's bits.
 */
#include "tests/support/compiled_kit.h"

#include "fuser/cpu/rows/group_lanes.h"
#include "ir/base/strbuf.h"
#include "tests/support/cases.h"
#include "tests/support/rng.h"

enum { GROUPS = 16, MOST_ITEMS = 64, NUMBERS = 2 * 2 * GROUPS * MOST_ITEMS * 2 };

static uint64_t in[NUMBERS], out[NUMBERS];

struct writer {
    struct strbuf text;
    struct rng rng;
    const char *type; /* of the numbers */
    uint32_t local[2], items;
    unsigned names, number; /* the latest */
};

static bool chance(struct writer *w, unsigned percent)
{
    return rng_chance(&w->rng, percent);
}

static void wait(struct writer *w)
{
    strbuf_add(&w->text, "  barrier work_group, local\n");
}

/* Of all places in the array, one for each work-item. */
static unsigned place(struct writer *w)
{
    unsigned n = w->names += 4;
    strbuf_printf(&w->text,
                  "  %%v%u = mul i32 %%l, %u\n  %%v%u = add i32 %%v%u, %u\n  %%v%u = and i32 %%v%u, %u\n"
                  "  %%v%u = sext i64 %%v%u\n",
                  n - 3, 1 + 2 * rng_below(&w->rng, 8), n - 2, n - 3, rng_below(&w->rng, 64), n - 1, n - 2,
                  w->items - 1, n, n - 1);
    return n;
}

static void add_number(struct writer *w, unsigned other)
{
    unsigned n = ++w->names;
    strbuf_printf(&w->text, "  %%v%u = add %s %%v%u, %%v%u\n", n, w->type, w->number, other);
    w->number = n;
}

/* Numbers change their owners. */
static void exchange(struct writer *w)
{
    unsigned there = place(w), here = place(w), n = w->names += 3;
    wait(w);
    strbuf_printf(&w->text, "  %%v%u = elem %s %%part, %%v%u\n  store %s %%v%u, %%v%u\n", n - 2, w->type, there,
                  w->type, n - 2, w->number);
    wait(w);
    strbuf_printf(&w->text, "  %%v%u = elem %s %%part, %%v%u\n  %%v%u = load %s %%v%u\n", n - 1, w->type, here, n,
                  w->type, n - 1);
    add_number(w, n);
}

/* Two numbers of each work-item, side by side, as one or the other. */
static void bring_pair(struct writer *w)
{
    unsigned n = w->names += 3;
    wait(w);
    strbuf_printf(&w->text,
                  "  %%v%u = elem %sx2 %%part, %%l0\n  %%v%u = vec %sx2 %%v%u, %%first\n  store %sx2 %%v%u, %%v%u\n",
                  n - 2, w->type, n - 1, w->type, w->number, w->type, n - 2, n - 1);
    wait(w);
}

/* Sums over twice the distance each time, in a loop or written out. */
static void tree(struct writer *w, bool up)
{
    for (unsigned d = up ? w->items : 1; d >= 1 && d <= w->items; d = up ? d / 2 : d * 2) {
        unsigned stride = w->items / d, n = w->names += 12;
        wait(w);
        strbuf_printf(&w->text,
                      "  %%v%u = slt i32 %%l, %u\n  if %%v%u {\n  %%v%u = shl i32 %%l, 1\n  %%v%u = add i32 %%v%u, 1\n"
                      "  %%v%u = add i32 %%v%u, 2\n  %%v%u = mul i32 %%v%u, %u\n  %%v%u = mul i32 %%v%u, %u\n",
                      n - 11, d, n - 11, n - 10, n - 9, n - 10, n - 8, n - 10, n - 7, n - 9, stride, n - 6, n - 8,
                      stride);
        strbuf_printf(&w->text,
                      "  %%v%u = sext i64 %%v%u\n  %%v%u = sext i64 %%v%u\n  %%v%u = sub i64 %%v%u, 1\n"
                      "  %%p%u = elem %s %%part, %%v%u\n  %%q%u = sub i64 %%v%u, 1\n  %%r%u = elem %s %%part, %%q%u\n"
                      "  %%v%u = load %s %%p%u\n  %%v%u = load %s %%r%u\n  %%s%u = add %s %%v%u, %%v%u\n",
                      n - 5, n - 7, n - 4, n - 6, n - 3, n - 5, n, w->type, n - 3, n, n - 4, n, w->type, n, n - 2,
                      w->type, n, n - 1, w->type, n, n, w->type, n - 2, n - 1);
        if (!up) strbuf_printf(&w->text, "  store %s %%p%u, %%v%u\n", w->type, n, n - 1);
        strbuf_printf(&w->text, "  store %s %%r%u, %%s%u\n  }\n", w->type, n, n);
    }
    wait(w);
    unsigned here = place(w), n = w->names += 2;
    strbuf_printf(&w->text, "  %%v%u = elem %s %%part, %%v%u\n  %%v%u = load %s %%v%u\n", n - 1, w->type, here, n,
                  w->type, n - 1);
    add_number(w, n);
}

/* An if in which work-items of a group differ, or groups. */
static void branch(struct writer *w)
{
    static const char *const tests[] = {"slt i32 %l, 5", "sgt i32 %g, 3", "ieq i32 %lodd, 0", "slt i32 %g, %n",
                                        "sge i32 %l, %n"};
    unsigned n = w->names += 3;
    strbuf_printf(&w->text, "  %%v%u = %s\n  %%v%u = if %%v%u -> %s {\n  %%v%u = add %s %%v%u, %%first\n", n - 2,
                  tests[rng_below(&w->rng, 5)], n, n - 2, w->type, n - 1, w->type, w->number);
    strbuf_printf(&w->text, "  yield %%v%u\n  } else {\n  yield %%first\n  }\n", n - 1);
    w->number = n;
}

/* As often as an argument says, all wait. */
static void rounds(struct writer *w)
{
    unsigned n = w->names += 5, before = w->number;
    strbuf_printf(&w->text, "  %%v%u = loop (%%v%u: i32 = 0, %%v%u: %s = %%v%u) -> %s {\n", n, n - 4, n - 3, w->type,
                  before, w->type);
    w->number = n - 3;
    exchange(w);
    strbuf_printf(&w->text,
                  "  %%v%u = add i32 %%v%u, 1\n  %%v%u = slt i32 %%v%u, %%n\n  if %%v%u {\n  continue %%v%u, %%v%u\n  "
                  "}\n  break %%v%u\n  }\n",
                  n - 2, n - 4, n - 1, n - 2, n - 1, n - 2, w->number, w->number);
    w->number = n;
}

static void write_ids(struct writer *w)
{
    static const char *const ids[] = {"global_id x",      "global_id y",    "local_id y",   "group_id x",
                                      "group_id y",       "local_size x",   "num_groups x", "global_size y",
                                      "global_linear_id", "local_linear_id"};
    strbuf_printf(&w->text,
                  "  %%part = global @part\n  %%x0 = local_id x\n  %%y0 = local_id y\n  %%y1 = mul i64 %%y0, %u\n"
                  "  %%l0 = add i64 %%y1, %%x0\n  %%l = trunc i32 %%l0\n  %%lodd = and i32 %%l, 1\n"
                  "  %%g0 = group_id x\n  %%g = trunc i32 %%g0\n  %%gy = group_id y\n  %%any0 = %s\n",
                  w->local[0], ids[rng_below(&w->rng, 10)]);
    strbuf_printf(&w->text,
                  "  %%across = num_groups x\n  %%row = mul i64 %%gy, %%across\n  %%group = add i64 %%row, %%g0\n"
                  "  %%start = mul i64 %%group, %u\n  %%at = add i64 %%start, %%l0\n  %%any = %s %s %%any0\n",
                  w->items, strcmp(w->type, "i64") == 0 ? "add" : "trunc",
                  strcmp(w->type, "i64") == 0 ? "i64 0," : w->type);
    if (chance(w, 50))
        strbuf_printf(&w->text, "  %%from = elem %s %%in, %%at\n  %%first = load %s %%from\n", w->type, w->type);
    else
        strbuf_printf(&w->text,
                      "  %%from = elem %sx2 %%in, %%at\n  %%both = load %sx2 %%from\n"
                      "  %%first = extract %sx2 %%both, 1\n",
                      w->type, w->type, w->type);
}

static void write_kernel(struct writer *w)
{
    strbuf_printf(&w->text,
                  "local @part: [%u x %s]\nkernel @k(%%in: ptr.global %s read, %%out: ptr.global %s, %%n: i32) "
                  "assumes(small_ids, small_memory) {\n",
                  2 * w->items, w->type, w->type, w->type);
    write_ids(w);
    w->number = w->names += 1;
    strbuf_printf(&w->text, "  %%v%u = add %s %%first, %%any\n", w->number, w->type);
    bring_pair(w);
    for (unsigned i = 0, n = 2 + rng_below(&w->rng, 3); i < n; i++) {
        if (chance(w, 60)) tree(w, chance(w, 50));
        if (chance(w, 40)) branch(w);
        if (chance(w, 40)) rounds(w);
        if (chance(w, 40)) exchange(w);
    }
    strbuf_printf(&w->text, "  %%to = elem %s %%out, %%at\n  store %s %%to, %%v%u\n  return\n}\n", w->type, w->type,
                  w->number);
}

static bool runs_as_lanes(const struct ir_function *kernel)
{
    struct ir_module *m = ir_module_new("lanes");
    struct ir_function *copy = ir_function_copy(m, kernel, kernel->name);
    bool changed = pass_group_lanes.run(copy);
    ir_module_free(m);
    return changed;
}

static bool run(uint64_t seed)
{
    static const char *const types[] = {"i32", "i32", "i64", "i16", "i8"};
    static const uint32_t sizes[][2] = {{16, 1}, {32, 1}, {64, 1}, {8, 2}, {16, 4}};
    struct writer w = {.rng = {seed}};
    const uint32_t *size = sizes[rng_below(&w.rng, 5)];
    w.type = types[rng_below(&w.rng, 5)];
    w.local[0] = size[0];
    w.local[1] = size[1];
    w.items = size[0] * size[1];
    uint64_t gx = GROUPS * (1 + rng_below(&w.rng, 2)), gy = 1 + rng_below(&w.rng, 2);
    struct nd_range range = {2, {gx * size[0], gy * size[1], 1}, {0}, {size[0], size[1], 1}};
    if (chance(&w, 30)) range.offset[1] = rng_below(&w.rng, 5);
    int32_t n = 1 + (int32_t)rng_below(&w.rng, 6);
    write_kernel(&w);
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = in, .size = sizeof in},
                                {.kind = INTERP_ARG_BUFFER, .data = out, .size = sizeof out},
                                {.kind = INTERP_ARG_BYTES, .data = &n, .size = sizeof n}};
    struct ir_module *m = kit_parse(w.text.text);
    struct ir_function *kernel = kit_kernel(m);
    for (unsigned d = 0; d < 3; d++) kernel->work_group_size[d] = d < 2 ? size[d] : 1;
    kernel->assumes |= IR_ASSUME_WHOLE_GROUPS | IR_ASSUME_LANE_GROUPS;
    bool lanes = runs_as_lanes(kernel);
    kit_same_in_all_ways(kernel, &range, 1, 0, args, 3);
    ir_module_free(m);
    free(w.text.text);
    return lanes;
}

static void group_lanes(void **state)
{
    (void)state;
    unsigned n = test_cases(20), as_lanes = 0;
    for (unsigned i = 0; i < NUMBERS; i++) in[i] = i * 0x9e3779b97f4a7c15u;
    for (uint64_t seed = 1; seed <= n; seed++) as_lanes += run(seed);
    assert_true(as_lanes >= n / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(group_lanes)};
    return cmocka_run_group_tests_name("diff_cpu_group_lanes", tests, NULL, NULL);
}
