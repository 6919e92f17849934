/*
 * Kernels much of which is the same along y, or for neighbouring work-groups, so that several rows of a work-group run
 * as one, or two work-groups: random ones with loops, ifs in which rows and groups agree or differ, values that are
 * carried, tiles in the group's memory, which groups may share, and all kinds of ids. Each gives the interpreter's
 * bits.
 */
#include "tests/support/compiled_kit.h"

#include "fuser/cpu/rows/joined_groups.h"
#include "fuser/cpu/rows/joined_rows.h"
#include "ir/base/strbuf.h"
#include "tests/support/cases.h"
#include "tests/support/rng.h"

enum { PITCH = 48, NUMBERS = PITCH * PITCH };

static float a[NUMBERS], b[NUMBERS], out[2 * NUMBERS];

struct writer {
    struct strbuf text;
    struct rng rng;
    uint32_t local[3];
    unsigned names;
    char number[16], count[16]; /* the latest values: a float, and an i32 */
    char brought[16];
    bool waits; /* there is local memory, and barriers */
    bool pairs; /* groups may run as one, with much that is the same for them */
};

static bool chance(struct writer *w, unsigned percent)
{
    return rng_chance(&w->rng, percent);
}

static void set(char name[16], unsigned n)
{
    snprintf(name, 16, "%%v%u", n);
}

/* ---- conditions ---- */

/* One in which rows agree, or one in which they may differ. */
static unsigned condition(struct writer *w, bool differs)
{
    static const char *const same[] = {"ult i32 %x, 9", "slt i32 %x, %n", "ieq i32 %xodd, 0", "slt i32 %n, 7",
                                       "sgt i32 %gx, 1"};
    static const char *const other[] = {"ult i32 %y, 5",  "slt i32 %y, %n", "ieq i32 %yodd, 0", "slt i32 %x, %y",
                                        "sgt i32 %ly, 1", "slt i32 %sy, 9", "slt i32 %gy, 4"};
    const char *text = differs ? other[rng_below(&w->rng, 7)] : same[rng_below(&w->rng, 5)];
    strbuf_printf(&w->text, "  %%v%u = %s\n", ++w->names, text);
    return w->names;
}

/* ---- what is done ---- */

/* A number that is the same along y. */
static unsigned shared_load(struct writer *w, const char *k)
{
    unsigned n = w->names += 4;
    strbuf_printf(&w->text,
                  "  %%v%u = mul i32 %s, %d\n  %%v%u = add i32 %%v%u, %%x\n  %%v%u = sext i64 %%v%u\n"
                  "  %%v%u = load f32 %%b[%%v%u]\n",
                  n - 3, k, PITCH, n - 2, n - 3, n - 1, n - 2, n, n - 1);
    return n;
}

static unsigned own_load(struct writer *w, const char *k)
{
    unsigned n = w->names += 4;
    const char *along = chance(w, 80) ? k : "%x";
    strbuf_printf(&w->text,
                  "  %%v%u = mul i32 %%y, %d\n  %%v%u = add i32 %%v%u, %s\n  %%v%u = sext i64 %%v%u\n"
                  "  %%v%u = load f32 %%a[%%v%u]\n",
                  n - 3, PITCH, n - 2, n - 3, along, n - 1, n - 2, n, n - 1);
    return n;
}

static void step(struct writer *w, const char *k)
{
    unsigned shared = shared_load(w, k), own = own_load(w, k);
    unsigned more = w->pairs ? own_load(w, "%n") : shared_load(w, chance(w, 50) ? "%gx" : "1");
    unsigned n = w->names += 2;
    strbuf_printf(&w->text, "  %%v%u = fmul f32 %%v%u, %%v%u\n  %%v%u = fma f32 %%v%u, %%v%u, %s\n", n - 1, shared,
                  more, n, n - 1, own, w->number);
    set(w->number, n);
}

/* An if that gives two values; rows may differ in it. */
static void branch(struct writer *w, const char *k, bool differs)
{
    unsigned c = condition(w, differs), r = w->names += 2;
    char number[16], count[16];
    memcpy(number, w->number, sizeof number);
    memcpy(count, w->count, sizeof count);
    strbuf_printf(&w->text, "  %%v%u, %%v%u = if %%v%u -> f32, i32 {\n", r - 1, r, c);
    step(w, k);
    static const char *const ids[] = {"global_id x", "global_id y",      "local_id y",
                                      "group_id x",  "global_linear_id", "local_linear_id"};
    unsigned n = w->names += 3;
    strbuf_printf(&w->text, "  %%v%u = %s\n  %%v%u = trunc i32 %%v%u\n  %%v%u = add i32 %s, %%v%u\n", n - 2,
                  ids[rng_below(&w->rng, 6)], n - 1, n - 2, n, w->count, n - 1);
    strbuf_printf(&w->text, "  yield %s, %%v%u\n  } else {\n  yield %s, %s\n  }\n", w->number, n, number,
                  chance(w, 50) ? count : "%ly");
    set(w->number, r - 1);
    set(w->count, r);
}

/* A loop whose rounds all have, or as many as y says. */
static void rounds(struct writer *w, bool differs, unsigned depth)
{
    unsigned n = w->names += 6;
    char k[16];
    snprintf(k, sizeof k, "%%v%u", n - 5);
    strbuf_printf(&w->text,
                  "  %%v%u, %%v%u = loop (%s: i32 = 0, %%v%u: f32 = %s, %%v%u: i32 = %s, %%v%u: i32 = %%gx) "
                  "-> f32, i32 {\n",
                  n - 1, n, k, n - 4, w->number, n - 3, w->count, n - 2);
    set(w->number, n - 4);
    set(w->count, n - 3);
    step(w, k);
    if (depth && chance(w, 30)) rounds(w, chance(w, 30), depth - 1);
    if (chance(w, 40)) branch(w, k, chance(w, 40));
    unsigned next = w->names += 4;
    strbuf_printf(&w->text, "  %%v%u = add i32 %s, 1\n  %%v%u = add i32 %s, %%v%u\n  %%v%u = add i32 %%v%u, 3\n",
                  next - 3, k, next - 2, w->count, n - 2, next - 1, n - 2);
    strbuf_printf(&w->text, "  %%v%u = slt i32 %%v%u, %s\n  if %%v%u {\n  continue %%v%u, %s, %%v%u, %%v%u\n  }\n",
                  next, next - 3, differs ? "%ly" : "%n", next, next - 3, w->number, next - 2, next - 1);
    strbuf_printf(&w->text, "  break %s, %%v%u\n  }\n", w->number, next - 2);
    set(w->number, n - 1);
    set(w->count, n);
}

/* What a work-item brings into the group's memory: its number, or one that those at its place in the neighbouring
   group bring as well. */
static void bring(struct writer *w)
{
    memcpy(w->brought, w->number, sizeof w->brought);
    if (chance(w, 50)) return;
    unsigned n = w->names += 4;
    strbuf_printf(&w->text,
                  "  %%v%u = mul i32 %%y, %d\n  %%v%u = add i32 %%v%u, %%lx\n  %%v%u = sext i64 %%v%u\n"
                  "  %%v%u = load f32 %%a[%%v%u]\n",
                  n - 3, PITCH, n - 2, n - 3, n - 1, n - 2, n, n - 1);
    set(w->brought, n);
}

/* Numbers go through the group's memory: each work-item takes one that another one of its column brought, and one that
   the first of its row did. */
static void exchange(struct writer *w)
{
    bring(w);
    const char *tile = chance(w, 30) ? "%more" : "%tile";
    unsigned n = w->names += 11;
    strbuf_printf(&w->text,
                  "  barrier work_group, local\n  %%v%u = mul i32 %%ly, %u\n  %%v%u = add i32 %%v%u, %%lx\n"
                  "  %%v%u = sext i64 %%v%u\n  %%v%u = elem f32 %s, %%v%u\n  store f32 %%v%u, %s\n"
                  "  barrier work_group, local\n",
                  n - 10, w->local[0], n - 9, n - 10, n - 8, n - 9, n - 7, tile, n - 8, n - 7, w->brought);
    strbuf_printf(&w->text,
                  "  %%v%u = sext i64 %%lx\n  %%v%u = elem f32 %s, %%v%u\n  %%v%u = load f32 %%v%u\n"
                  "  %%v%u = sext i64 %%v%u\n  %%v%u = elem f32 %s, %%v%u\n  %%v%u = load f32 %%v%u\n"
                  "  %%v%u = fma f32 %%v%u, %%v%u, %s\n",
                  n - 6, n - 5, tile, n - 6, n - 4, n - 5, n - 3, n - 10, n - 2, tile, n - 3, n - 1, n - 2, n, n - 4,
                  n - 1, w->number);
    set(w->number, n);
}

/* ---- the kernel ---- */

static void write_ids(struct writer *w)
{
    static const char *const sizes[] = {"local_size y", "global_size y", "num_groups y", "enqueued_local_size y"};
    strbuf_add(&w->text, "  %x0 = global_id x\n  %y0 = global_id y\n  %z0 = global_id z\n  %lx0 = local_id x\n"
                         "  %ly0 = local_id y\n  %gx0 = group_id x\n  %x = trunc i32 %x0\n  %y = trunc i32 %y0\n"
                         "  %z = trunc i32 %z0\n  %lx = trunc i32 %lx0\n  %ly = trunc i32 %ly0\n"
                         "  %gx = trunc i32 %gx0\n  %gy0 = sub i64 %y0, %ly0\n  %gy = trunc i32 %gy0\n  %xodd = and "
                         "i32 %x, 1\n  %yodd = and i32 %y, 1\n");
    strbuf_printf(&w->text, "  %%sy0 = %s\n  %%sy = trunc i32 %%sy0\n", sizes[rng_below(&w->rng, 4)]);
}

static void write_kernel(struct writer *w)
{
    strbuf_printf(&w->text,
                  "local @tile: [%u x f32]\nlocal @more: [%u x f32]\nkernel @k(%%a: ptr.global f32 read, %%b: "
                  "ptr.global f32 read, "
                  "%%o: ptr.global f32, %%n: i32) assumes(small_ids, small_memory) {\n",
                  w->local[0] * w->local[1] * w->local[2], w->local[0] * w->local[1] * w->local[2]);
    write_ids(w);
    if (w->waits) strbuf_add(&w->text, "  %tile = global @tile\n  %more = global @more\n");
    snprintf(w->number, sizeof w->number, "1.5");
    snprintf(w->count, sizeof w->count, "%s", chance(w, 50) ? "%y" : "%sy");
    for (unsigned i = 0, n = 1 + rng_below(&w->rng, 3); i < n; i++) {
        rounds(w, i && chance(w, 20), 1);
        if (chance(w, 30)) branch(w, "2", chance(w, 40));
        if (w->waits) exchange(w);
    }
    strbuf_printf(&w->text,
                  "  %%cf = stof f32 %s\n  %%r = fadd f32 %s, %%cf\n  %%p = mul i32 %%y, %d\n  %%q = add i32 %%p, %%x\n"
                  "  %%zp = mul i32 %%z, %d\n  %%qz = add i32 %%q, %%zp\n  %%at = sext i64 %%qz\n"
                  "  store f32 %%o[%%at], %%r\n  return\n}\n",
                  w->count, w->number, PITCH, NUMBERS);
}

/* ---- the test ---- */

/* How many kernels had rows joined, and groups. */
struct joined_kernels {
    unsigned rows, groups;
};

static void see_joined(const struct ir_function *kernel, struct joined_kernels *n)
{
    struct ir_module *m = ir_module_new("rows");
    struct ir_function *copy = ir_function_copy(m, kernel, kernel->name);
    n->rows += pass_joined_rows.run(copy);
    n->groups += pass_joined_groups.run(copy);
    ir_module_free(m);
}

static void run(uint64_t seed, struct joined_kernels *joined)
{
    static const uint32_t xs[] = {4, 8, 16, 32, 6}, ys[] = {2, 4, 6, 8, 12};
    struct writer w = {.rng = {seed}};
    w.pairs = seed % 2;
    w.local[0] = xs[rng_below(&w.rng, w.pairs ? 3 : 5)];
    w.local[1] = ys[rng_below(&w.rng, 5)];
    w.local[2] = chance(&w, 20) && !w.pairs ? 2 : 1;
    w.waits = w.pairs || (chance(&w, 50) && w.local[2] == 1);
    uint64_t gx = w.pairs ? 2 : w.local[0] <= 16 ? 1 + rng_below(&w.rng, 2) : 1, gy = 1 + rng_below(&w.rng, 3);
    struct nd_range range = {
        3, {gx * w.local[0], gy * w.local[1], w.local[2]}, {0}, {w.local[0], w.local[1], w.local[2]}};
    if (chance(&w, 30)) range.offset[1] = rng_below(&w.rng, 5);
    int32_t n = 3 + (int32_t)rng_below(&w.rng, 12);
    write_kernel(&w);
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = a, .size = sizeof a},
                                {.kind = INTERP_ARG_BUFFER, .data = b, .size = sizeof b},
                                {.kind = INTERP_ARG_BUFFER, .data = out, .size = sizeof out},
                                {.kind = INTERP_ARG_BYTES, .data = &n, .size = sizeof n}};
    struct ir_module *m = kit_parse(w.text.text);
    struct ir_function *kernel = kit_kernel(m);
    for (unsigned d = 0; d < 3; d++) kernel->work_group_size[d] = w.local[d];
    kernel->assumes |= IR_ASSUME_WHOLE_GROUPS;
    if (gx % 2 == 0) kernel->assumes |= IR_ASSUME_PAIRED_GROUPS;
    see_joined(kernel, joined);
    kit_same_in_all_ways(kernel, &range, 1, 0, args, 4);
    ir_module_free(m);
    free(w.text.text);
}

static void joined_rows(void **state)
{
    (void)state;
    struct joined_kernels joined = {0};
    unsigned n = test_cases(30);
    for (int i = 0; i < NUMBERS; i++) {
        a[i] = (float)(i * 37 % 101) * 0.125f - 5;
        b[i] = (float)(i * 53 % 97) * 0.0625f - 2;
    }
    for (uint64_t seed = 1; seed <= n; seed++) run(seed, &joined);
    assert_true(joined.rows >= n / 2);
    assert_true(joined.groups >= n / 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(joined_rows)};
    return cmocka_run_group_tests_name("diff_cpu_joined_rows", tests, NULL, NULL);
}
