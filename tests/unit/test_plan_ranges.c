/* Kernels over different ND-ranges in one launch: each sees the ids and sizes that it sees alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tests/support/plan_check.h"

/* @see writes 16 numbers for each work-item at its linear id, @see_groups those about its work-group. */
#define PUT(n, query)                                                                                                  \
    "    %v" #n " = " query "\n    %w" #n " = trunc i32 %v" #n "\n    store i32 %p[" #n "], %w" #n "\n"
static const char kernels[] =
    "kernel @see(%o: ptr.global i32) {\n    %l = global_linear_id\n    %r = shl i64 %l, 4\n    %p = elem i32 %o, "
    "%r\n" PUT(0, "global_id x") PUT(1, "global_id y") PUT(2, "global_id z") PUT(3, "global_size x")
        PUT(4, "global_size y") PUT(5, "global_size z") PUT(6, "global_offset x") PUT(7, "global_offset y") PUT(
            8,
            "global_linear_id") "    %d = work_dim\n    store i32 %p[9], %d\n}\n"
                                "kernel @see_groups(%o: ptr.global i32) {\n    %l = global_linear_id\n    %r = shl i64 "
                                "%l, 4\n"
                                "    %p = elem i32 %o, %r\n" PUT(0, "local_id x") PUT(1, "local_id y") PUT(
                                    2, "group_id x") PUT(3, "group_id y") PUT(4, "num_groups x") PUT(5, "num_groups y")
                                    PUT(6, "local_size x") PUT(7, "enqueued_local_size y") PUT(
                                        8,
                                        "local_linear_id") "}\n"
                                                           "kernel @total(%o: ptr.global i32, %m: ptr.local i32) {\n"
                                                           "    %i = global_id x\n    %l = local_id x\n    %w = trunc "
                                                           "i32 %i\n    store i32 %m[%l], %w\n    barrier local\n"
                                                           "    %s = local_size x\n    %k = sub i64 %s, 1\n    %j = "
                                                           "sub i64 %k, %l\n    %x = load i32 %m[%j]\n"
                                                           "    %g = group_reduce i32 %w, work_group, add\n    %y "
                                                           "= mul i32 %x, 1000\n    %z = add i32 %y, %g\n"
                                                           "    %f = global_offset x\n    %q = sub i64 %i, %f\n    "
                                                           "store i32 %o[%q], %z\n}\n"
                                                           "kernel @plane(%a: ptr.global i32, %o: ptr.global i32) {\n"
                                                           "    %x = global_id x\n    %y = global_id y\n    %w = "
                                                           "global_size x\n    %r = mul i64 %y, %w\n    %i = add i64 "
                                                           "%r, %x\n"
                                                           "    %v = load i32 %a[%i]\n    %s = add i32 %v, 11\n    "
                                                           "store i32 %o[%i], %s\n}\n"
                                                           "kernel @line(%a: ptr.global i32, %o: ptr.global i32) {\n"
                                                           "    %i = global_id x\n    %v = load i32 %a[%i]\n    %s = "
                                                           "mul i32 %v, 3\n    store i32 %o[%i], %s\n}\n"
                                                           "kernel @turned(%a: ptr.global i32, %o: ptr.global i32) {\n"
                                                           "    %x = global_id x\n    %y = global_id y\n    %h = "
                                                           "global_size y\n    %r = mul i64 %x, %h\n    %i = add i64 "
                                                           "%r, %y\n"
                                                           "    %v = load i32 %a[%i]\n    store i32 %o[%i], %v\n}\n"
                                                           "kernel @fours(%a: ptr.global i32, %t: ptr.global i32) {\n"
                                                           "    %x = global_id x\n    %y = global_id y\n    %w = "
                                                           "global_size x\n    %r = mul i64 %y, %w\n    %i = add i64 "
                                                           "%r, %x\n"
                                                           "    %v = load i32 %a[%i]\n    %q = shl i64 %i, 1\n    %q1 "
                                                           "= add i64 %q, 1\n    store i32 %t[%q], %v\n"
                                                           "    %n = neg i32 %v\n    store i32 %t[%q1], %n\n}\n"
                                                           "kernel @unfours(%t: ptr.global i32, %o: ptr.global i32) {\n"
                                                           "    %i = global_id x\n    %q = shl i64 %i, 1\n    %q1 = "
                                                           "add i64 %q, 1\n    %x = load i32 %t[%q]\n"
                                                           "    %y = load i32 %t[%q1]\n    %z = mul i32 %y, 7\n    %s "
                                                           "= add i32 %x, %z\n    store i32 %o[%i], %s\n}\n";

enum { ITEMS = 256 };

static const struct fuser_props none = {0};
static const struct fuser_props internal = {FUSER_SCOPE_NONE, true, false};

static void finish(struct test_graph *g, struct fuser_plan *plan)
{
    fuser_plan_free(plan);
    test_graph_free(g);
}

/* ---- ids and sizes ---- */

static const struct nd_range ranges[] = {{1, {64, 1, 1}, {0, 0, 0}, {0}},  {1, {50, 1, 1}, {0, 0, 0}, {0}},
                                         {1, {30, 1, 1}, {20, 0, 0}, {0}}, {2, {8, 8, 1}, {0, 0, 0}, {0}},
                                         {2, {7, 5, 1}, {2, 1, 0}, {0}},   {2, {16, 2, 1}, {0, 0, 0}, {0}},
                                         {3, {4, 4, 4}, {0, 0, 0}, {0}},   {3, {3, 5, 2}, {1, 2, 3}, {0}},
                                         {3, {2, 2, 2}, {0, 0, 0}, {0}},   {1, {100, 1, 1}, {200, 0, 0}, {0}}};
enum { RANGES = sizeof ranges / sizeof *ranges };

static void every_kernel_sees_its_own_range(void **state)
{
    (void)state;
    for (unsigned i = 0; i < RANGES * RANGES * RANGES; i++) {
        const unsigned pick[] = {i % RANGES, i / RANGES % RANGES, i / RANGES / RANGES};
        struct test_graph *g = test_graph_new(kernels);
        for (unsigned k = 0; k < 3; k++) {
            char name[2][8];
            snprintf(name[0], sizeof name[0], "k%u", k);
            snprintf(name[1], sizeof name[1], "o%u", k);
            struct fuser_arg arg = test_arg_buffer(test_buffer(g, name[1], IR_I32, 16 * ITEMS, none));
            test_kernel(g, name[0], "see", ranges[pick[k]], &arg, 1);
        }
        struct fuser_plan *plan = check_planned(g);
        check_same(g, plan);
        if (pick[0] == pick[1] || pick[0] == pick[2] || pick[1] == pick[2]) assert_true(plan->n_launches < 3);
        finish(g, plan);
    }
}

static struct fuser_plan *two(struct test_graph **g, const char *kernel, struct nd_range a, struct nd_range b)
{
    *g = test_graph_new(kernels);
    struct fuser_arg first[] = {test_arg_buffer(test_buffer(*g, "o", IR_I32, 16 * ITEMS, none)), test_arg_local(64)};
    struct fuser_arg second[] = {test_arg_buffer(test_buffer(*g, "p", IR_I32, 16 * ITEMS, none)), test_arg_local(64)};
    uint32_t n = ir_module_find((*g)->module, kernel)->n_params;
    test_kernel(*g, "one", kernel, a, first, n);
    test_kernel(*g, "two", kernel, b, second, n);
    return check_planned(*g);
}

static void expect_two(const char *kernel, struct nd_range a, struct nd_range b, const char *launches, const char *code,
                       const char *text)
{
    struct test_graph *g;
    struct fuser_plan *plan = two(&g, kernel, a, b);
    check_launches(g, plan, launches);
    if (code) check_remark(plan, code, "two", "", text);
    check_same(g, plan);
    finish(g, plan);
}

/* In linear ids a kernel's work-groups are elsewhere, but what it sees of them can be computed. */
static void group_ids_without_the_group(void **state)
{
    (void)state;
    static const struct nd_range line = {1, {64, 1, 1}, {0, 0, 0}, {0}};
    static const struct nd_range plane = {2, {8, 6, 1}, {0, 0, 0}, {4, 2, 1}};
    static const struct nd_range moved = {2, {8, 6, 1}, {3, 1, 0}, {4, 2, 1}};
    static const struct nd_range short_line = {1, {40, 1, 1}, {0, 0, 0}, {8, 1, 1}};
    static const struct nd_range long_line = {1, {64, 1, 1}, {0, 0, 0}, {8, 1, 1}};
    static const struct nd_range odd_line = {1, {60, 1, 1}, {0, 0, 0}, {0}};
    struct test_graph *g;
    struct fuser_plan *plan = two(&g, "see_groups", plane, plane);
    check_launches(g, plan, "one two");
    check_same(g, plan);
    finish(g, plan);
    expect_two("see_groups", plane, moved, "one two", NULL, NULL);
    expect_two("see_groups", long_line, short_line, "one two", NULL, NULL);
    expect_two("see_groups", short_line, long_line, "one two", NULL, NULL);
    /* alone it may choose its work-groups; here it would have to have those of the other one */
    plan = two(&g, "see_groups", line, odd_line);
    check_launches(g, plan, "one|two");
    check_remark(plan, "not_fused_range", "two", "", "two has fewer work-items, and looks at its work-group");
    finish(g, plan);
}

static void barriers_in_fewer_work_groups(void **state)
{
    (void)state;
    static const struct nd_range line = {1, {64, 1, 1}, {0, 0, 0}, {16, 1, 1}};
    static const struct nd_range less = {1, {32, 1, 1}, {0, 0, 0}, {16, 1, 1}};
    static const struct nd_range other = {1, {64, 1, 1}, {0, 0, 0}, {8, 1, 1}};
    static const struct nd_range plane = {2, {16, 2, 1}, {0, 0, 0}, {16, 1, 1}};
    static const struct nd_range moved = {1, {32, 1, 1}, {16, 0, 0}, {16, 1, 1}};
    expect_two("total", line, less, "one two", NULL, NULL);
    expect_two("total", less, line, "one two", NULL, NULL);
    expect_two("total", line, other, "one|two", "not_fused_local_size",
               "two has a barrier, and has 64 in work-groups of 8, the launch 64 in work-groups of 16");
    expect_two("total", line, moved, "one|two", "not_fused_range", "two has fewer work-items");
    struct test_graph *g;
    struct fuser_plan *plan = two(&g, "total", line, plane);
    check_launches(g, plan, "one|two");
    check_remark(plan, "not_fused_range", "two", "", "two would get its ids from the linear id, but has a barrier");
    finish(g, plan);
}

/* ---- dependences and homes across ranges ---- */

static struct test_graph *through(const char *maker, struct nd_range a, const char *taker, struct nd_range b)
{
    struct test_graph *g = test_graph_new(kernels);
    uint32_t in = test_buffer(g, "a", IR_I32, ITEMS, none), t = test_buffer(g, "t", IR_I32, 2 * ITEMS, internal);
    uint32_t out = test_buffer(g, "o", IR_I32, ITEMS, none);
    struct fuser_arg make[] = {test_arg_buffer(in), test_arg_buffer(t)};
    struct fuser_arg take[] = {test_arg_buffer(t), test_arg_buffer(out)};
    test_kernel(g, "one", maker, a, make, 2);
    test_kernel(g, "two", taker, b, take, 2);
    return g;
}

static void expect_through(const char *maker, struct nd_range a, const char *taker, struct nd_range b,
                           const char *launches, const char *internalized)
{
    struct test_graph *g = through(maker, a, taker, b);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, launches);
    check_internalized(g, plan, internalized);
    check_same(g, plan);
    finish(g, plan);
}

static void planes_and_lines_share_elements(void **state)
{
    (void)state;
    static const struct nd_range plane = {2, {16, 8, 1}, {0, 0, 0}, {0}}, low = {2, {32, 4, 1}, {0, 0, 0}, {0}};
    const struct nd_range line = test_range(128, 0), half = test_range(64, 0);
    expect_through("plane", plane, "line", line, "one two", "t");
    expect_through("line", line, "plane", plane, "one two", "t");
    expect_through("plane", plane, "line", half, "one two", "t");
    expect_through("plane", plane, "plane", low, "one two", "t");
    expect_through("fours", plane, "unfours", line, "one two", "t");
    expect_through("line", half, "plane", plane, "one two", ""); /* the second half is not written */
    expect_through("turned", plane, "line", line, "one|two", "");
}

/* Ids that have to be divided out of the linear id for each access cost more than a launch. */
static void what_is_dear_is_not_done_unasked(void **state)
{
    (void)state;
    static const struct nd_range plane = {2, {16, 8, 1}, {0, 0, 0}, {0}};
    struct test_graph *g = through("line", test_range(128, 0), "turned", plane);
    g->graph.nodes[1].args[0].index = 0; /* they have nothing to do with each other */
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "one|two");
    check_remark(plan, "not_fused_range", "two", "", "by divisions for each work-item; require_fusion fuses anyway");
    check_same(g, plan);
    fuser_plan_free(plan);
    g->options.mode = FUSER_MODE_REQUIRE;
    plan = check_planned(g);
    check_launches(g, plan, "one two");
    check_same(g, plan);
    finish(g, plan);
}

static void offsets_keep_their_elements(void **state)
{
    (void)state;
    struct nd_range upper = test_range(64, 0), far = test_range(16, 0);
    upper.offset[0] = 32;
    far.offset[0] = 200;
    expect_through("line", test_range(96, 0), "line", upper, "one two", "t");
    expect_through("line", test_range(64, 0), "line", upper, "one two", "");
    expect_through("line", upper, "line", test_range(64, 0), "one two", "");
    struct test_graph *g = through("line", test_range(128, 0), "line", far);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "one two"); /* no element is in both */
    check_same(g, plan);
    finish(g, plan);
    far.offset[0] = 120;
    g = through("line", test_range(32, 0), "line", far);
    plan = check_planned(g);
    check_same(g, plan);
    finish(g, plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_sees_its_own_range),  cmocka_unit_test(group_ids_without_the_group),
        cmocka_unit_test(barriers_in_fewer_work_groups),    cmocka_unit_test(planes_and_lines_share_elements),
        cmocka_unit_test(what_is_dear_is_not_done_unasked), cmocka_unit_test(offsets_keep_their_elements),
    };
    return cmocka_run_group_tests_name("plan_ranges", tests, NULL, NULL);
}
