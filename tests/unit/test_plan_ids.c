/* What planning makes of ids: what it assumes of a launch, and `int` ids as users write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/graph_make.h"

static const char kernels[] = "kernel @fill(%o: ptr.global f32) {\n"
                              "    %i = global_id x\n"
                              "    %n = trunc i32 %i\n"
                              "    %w = sext i64 %n\n"
                              "    store f32 %o[%w], 1.0\n"
                              "}\n"
                              "kernel @careful(%o: ptr.global f32) assumes(small_ids, small_memory) {\n"
                              "    %i = global_id x\n"
                              "    store f32 %o[%i], 1.0\n"
                              "}\n"
                              "kernel @waiting(%o: ptr.global f32) {\n"
                              "    %i = global_id x\n"
                              "    barrier work_group, global\n"
                              "    store f32 %o[%i], 1.0\n"
                              "}\n"
                              "local @part: [32 x f32]\n"
                              "kernel @sharing(%o: ptr.global f32) {\n"
                              "    %i = global_id x\n"
                              "    %l = local_id x\n"
                              "    %p = global @part\n"
                              "    %q = elem f32 %p, %l\n"
                              "    store f32 %q, 1.0\n"
                              "    barrier work_group, local\n"
                              "    %v = load f32 %q\n"
                              "    store f32 %o[%i], %v\n"
                              "}\n"
                              "kernel @striding(%o: ptr.global f32) {\n"
                              "    %i = global_id x\n"
                              "    %n = global_size x\n"
                              "    loop (%j: i64 = %i) {\n"
                              "        store f32 %o[%j], 1.0\n"
                              "        %k = add i64 %j, %n\n"
                              "        %c = ult i64 %k, 96\n"
                              "        if %c {\n"
                              "            continue %k\n"
                              "        }\n"
                              "        break\n"
                              "    }\n"
                              "}\n"
                              "kernel @masked(%o: ptr.global f32) {\n"
                              "    %i = global_id x\n"
                              "    %j = and i64 %i, 63\n"
                              "    store f32 %o[%j], 1.0\n"
                              "}\n"
                              "kernel @plane(%o: ptr.global f32) {\n"
                              "    %x = global_id x\n"
                              "    %y = global_id y\n"
                              "    %r = mul i64 %x, 64\n"
                              "    %i = add i64 %r, %y\n"
                              "    store f32 %o[%i], 1.0\n"
                              "}\n";

/* ---- assumptions ---- */

static uint32_t assumed_over(const char *kernel, struct nd_range range, uint64_t floats)
{
    struct test_graph *g = test_graph_new(kernels);
    struct fuser_arg arg = test_arg_buffer(test_buffer(g, "o", IR_F32, floats, (struct fuser_props){0}));
    test_kernel(g, "node", kernel, range, &arg, 1);
    struct error error;
    struct fuser_plan *plan = fuser_plan_new(&g->graph, &g->options, &error);
    assert_non_null(plan);
    uint32_t assumes = plan->launches[0].kernel->assumes;
    fuser_plan_free(plan);
    test_graph_free(g);
    return assumes;
}

/* Of the launch of the kernel over so many work-items from that offset on, into so many floats. */
static uint32_t assumed(const char *kernel, uint64_t items, uint64_t offset, uint64_t floats)
{
    struct nd_range range = test_range(items, 0);
    range.offset[0] = offset;
    return assumed_over(kernel, range, floats);
}

/* Of kernels whose work-items wait for each other, or go over a row together. */
static void whole_groups(void **state)
{
    (void)state;
    const uint32_t usual = IR_ASSUME_SMALL_IDS | IR_ASSUME_SMALL_MEMORY;
    assert_int_equal(assumed_over("waiting", test_range(96, 32), 100), usual | IR_ASSUME_WHOLE_GROUPS);
    assert_int_equal(assumed_over("waiting", test_range(100, 32), 100), usual);
    assert_int_equal(assumed_over("striding", test_range(96, 32), 100), usual | IR_ASSUME_WHOLE_GROUPS);
    assert_int_equal(assumed_over("fill", test_range(96, 32), 100), usual);
}

/* Of kernels that share memory of the group: whether groups may be lanes, and there are some for each thread. */
static void lane_groups(void **state)
{
    (void)state;
    const uint32_t usual = IR_ASSUME_SMALL_IDS | IR_ASSUME_SMALL_MEMORY | IR_ASSUME_WHOLE_GROUPS;
    assert_int_equal(assumed_over("sharing", test_range(32 * 256, 32), 32 * 256), usual | IR_ASSUME_LANE_GROUPS);
    assert_int_equal(assumed_over("sharing", test_range(32 * 240, 32), 32 * 256), usual);
    assert_int_equal(assumed_over("sharing", test_range(32 * 257, 32), 32 * 257), usual);
    assert_int_equal(assumed_over("waiting", test_range(32 * 256, 32), 32 * 256), usual);
}

/* Of kernels over planes. */
static void long_rows(void **state)
{
    (void)state;
    const uint32_t usual = IR_ASSUME_SMALL_IDS | IR_ASSUME_SMALL_MEMORY;
    const struct nd_range wide = {.dims = 2, .global = {8, 64, 1}}, narrow = {.dims = 2, .global = {8, 63, 1}};
    assert_int_equal(assumed_over("plane", wide, 512), usual | IR_ASSUME_LONG_Y);
    assert_int_equal(assumed_over("plane", narrow, 512), usual);
    assert_int_equal(assumed_over("fill", test_range(96, 0), 100), usual);
}

static void what_is_assumed(void **state)
{
    (void)state;
    const uint64_t two_31 = 1ull << 31;
    assert_int_equal(assumed("fill", 100, 0, 100), IR_ASSUME_SMALL_IDS | IR_ASSUME_SMALL_MEMORY);
    assert_int_equal(assumed("fill", 100, 0, two_31 / 4), IR_ASSUME_SMALL_IDS | IR_ASSUME_SMALL_MEMORY);
    assert_int_equal(assumed("fill", 100, 0, two_31 / 4 + 1), IR_ASSUME_SMALL_IDS);
    assert_int_equal(assumed("masked", 100, two_31 - 101, 100), IR_ASSUME_SMALL_IDS | IR_ASSUME_SMALL_MEMORY);
    assert_int_equal(assumed("masked", 100, two_31 - 100, 100), IR_ASSUME_SMALL_MEMORY);
    assert_int_equal(assumed("fill", two_31, 0, two_31), 0);
    assert_int_equal(assumed("careful", 100, 0, two_31 / 4), IR_ASSUME_SMALL_IDS | IR_ASSUME_SMALL_MEMORY);
}

static void refuse(struct nd_range range, uint64_t floats, const char *why)
{
    struct test_graph *g = test_graph_new(kernels);
    struct fuser_arg arg = test_arg_buffer(test_buffer(g, "o", IR_F32, floats, (struct fuser_props){0}));
    test_kernel(g, "careful", "careful", range, &arg, 1);
    struct error error;
    assert_null(fuser_plan_new(&g->graph, &g->options, &error));
    assert_int_equal(error.code, FUSER_INVALID);
    assert_non_null(strstr(error.reason, why));
    test_graph_free(g);
}

static void what_a_kernel_assumes_must_hold(void **state)
{
    (void)state;
    refuse(test_range(1ull << 31, 0), 1ull << 29, "assumes sizes and ids below 2^31");
    refuse(test_range(100, 0), (1ull << 29) + 1, "memory of at most 2^31 bytes, and buffer o has 2147483652");
}

/* ---- narrow ids ---- */

/* How compilers make the index %w of the global id %g and the scalar %n. */
static const struct form {
    const char *name, *index;
} forms[] = {
    {"size_t", "    %w = add i64 %g, 0\n"},
    {"int", "    %i = trunc i32 %g\n    %w = sext i64 %i\n"},
    {"unsigned", "    %i = trunc i32 %g\n    %w = zext i64 %i\n"},
    {"int at -O2", "    %i = shl i64 %g, 32\n    %w = ashr i64 %i, 32\n"},
    {"unsigned at -O2", "    %w = and i64 %g, 4294967295\n"},
};
static const struct form behind[] = {
    {"size_t", "    %n64 = sext i64 %n\n    %w = add i64 %g, %n64\n"},
    {"int", "    %i = trunc i32 %g\n    %j = add i32 %i, %n\n    %w = sext i64 %j\n"},
    {"unsigned", "    %i = trunc i32 %g\n    %j = add i32 %i, %n\n    %w = zext i64 %j\n"},
};
static const struct form before[] = {
    {"size_t", "    %w = sub i64 %g, 1\n"},
    {"int", "    %i = trunc i32 %g\n    %j = sub i32 %i, 1\n    %w = sext i64 %j\n"},
    {"unsigned", "    %i = trunc i32 %g\n    %j = sub i32 %i, 1\n    %w = zext i64 %j\n"},
    {"int at -O2", "    %i = shl i64 %g, 32\n    %j = add i64 %i, -4294967296\n    %w = ashr i64 %j, 32\n"},
    {"unsigned at -O2", "    %i = add i64 %g, 4294967295\n    %w = and i64 %i, 4294967295\n"},
};

/* a -> t -> o, where t is written by one form of the index and read by another, perhaps under a guard. */
static struct fuser_plan *plan_chain(struct test_graph **g, const char *in, const char *out, const char *guard,
                                     uint64_t floats)
{
    char text[2000];
    snprintf(text, sizeof text,
             "kernel @first(%%a: ptr.global f32, %%t: ptr.global f32, %%n: i32) {\n    %%g = global_id x\n%s"
             "%s    %%x = load f32 %%a[%%w]\n    store f32 %%t[%%w], %%x\n%s}\n"
             "kernel @second(%%t: ptr.global f32, %%o: ptr.global f32, %%n: i32) {\n    %%g = global_id x\n%s"
             "%s    %%x = load f32 %%t[%%w]\n    store f32 %%o[%%w], %%x\n%s}\n",
             in, guard, *guard ? "    }\n" : "", out, guard, *guard ? "    }\n" : "");
    *g = test_graph_new(text);
    uint32_t a = test_buffer(*g, "a", IR_F32, floats, (struct fuser_props){0});
    uint32_t t = test_buffer(*g, "t", IR_F32, floats, (struct fuser_props){FUSER_SCOPE_NONE, true, true});
    uint32_t o = test_buffer(*g, "o", IR_F32, floats, (struct fuser_props){0});
    struct fuser_arg n = test_arg_value(test_value(*g, 4));
    struct fuser_arg first[] = {test_arg_buffer(a), test_arg_buffer(t), n};
    struct fuser_arg second[] = {test_arg_buffer(t), test_arg_buffer(o), n};
    test_kernel(*g, "one", "first", test_range(256, 0), first, 3);
    test_kernel(*g, "two", "second", test_range(256, 0), second, 3);
    struct error error;
    struct fuser_plan *plan = fuser_plan_new(&(*g)->graph, &(*g)->options, &error);
    assert_non_null(plan);
    return plan;
}

/* Each form with each other: one launch, and t in registers. */
static void check_all(const struct form *f, unsigned n, const char *guard, bool internal)
{
    for (unsigned i = 0; i < n * n; i++) {
        struct test_graph *g;
        struct fuser_plan *plan = plan_chain(&g, f[i / n].index, f[i % n].index, guard, 1024);
        bool good = plan->n_launches == 1 && (!internal || plan->storage[1] == FUSER_STORAGE_PRIVATE);
        for (uint32_t k = 0; !good && k < plan->n_remarks; k++) print_message("# %s\n", plan->remarks[k].text);
        if (!good) fail_msg("%s, then %s: %u launches", f[i / n].name, f[i % n].name, plan->n_launches);
        fuser_plan_free(plan);
        test_graph_free(g);
    }
}

static const char below_n[] = "    %c = trunc i32 %g\n    %ok = slt i32 %c, %n\n    if %ok {\n";
static const char not_first[] = "    %c = trunc i32 %g\n    %ok = sgt i32 %c, 0\n    if %ok {\n";

static const char inner[] = "    %c = trunc i32 %g\n    %above = sgt i32 %c, 0\n    %below = slt i32 %c, 300\n"
                            "    %ok = select bool %above, %below, false\n    if %ok {\n";

static void narrow_ids_are_ids(void **state)
{
    (void)state;
    check_all(forms, sizeof forms / sizeof *forms, "", true);
    check_all(forms, sizeof forms / sizeof *forms, below_n, true);
    check_all(before, sizeof before / sizeof *before, not_first, true);
    check_all(before, sizeof before / sizeof *before, inner, true);
    check_all(behind, sizeof behind / sizeof *behind, "", true);
}

/* What wraps in large memory may be there as well. */
static void large_memory_is_not_assumed_to_be_small(void **state)
{
    (void)state;
    struct test_graph *g;
    struct fuser_plan *plan = plan_chain(&g, behind[0].index, behind[1].index, "", 1ull << 32);
    assert_int_equal(plan->n_launches, 2);
    fuser_plan_free(plan);
    test_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_rows),
        cmocka_unit_test(what_is_assumed),
        cmocka_unit_test(narrow_ids_are_ids),
        cmocka_unit_test(large_memory_is_not_assumed_to_be_small),
        cmocka_unit_test(whole_groups),
        cmocka_unit_test(lane_groups),
        cmocka_unit_test(what_a_kernel_assumes_must_hold),
    };
    return cmocka_run_group_tests_name("plan_ids", tests, NULL, NULL);
}
