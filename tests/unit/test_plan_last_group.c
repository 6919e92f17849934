/* The last work-group: a kernel of one work-group behind those of many is no launch of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/plan_check.h"
#include "tests/support/plan_run.h"

enum { N = 256, LOCAL = 32, GROUPS = N / LOCAL };

static const char kernels[] =
    "kernel @scale(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %x = load i32 %a[%i]\n %y = mul i32 %x, 3\n store i32 %o[%i], %y\n}\n"
    "kernel @total(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %l = local_id x\n %g = group_id x\n %x = load i32 %a[%i]\n"
    "    %s = group_reduce i32 %x, work_group, add\n %c = ieq i64 %l, 0\n"
    "    if %c { store i32 %o[%g], %s }\n}\n"
    /* of the first eight; with its ids and sizes */
    "kernel @all(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %g = group_id x\n %n = num_groups x\n %size = global_size x\n %c = ult i64 %i, 8\n"
    "    %x = if %c -> i32 {\n %v = load i32 %a[%i]\n yield %v\n } else { yield 0 }\n"
    "    %s = group_reduce i32 %x, work_group, add\n %p = add i64 %n, %size\n %q = add i64 %p, %g\n"
    "    %t = trunc i32 %q\n %y = add i32 %s, %t\n %z = ieq i64 %i, 0\n if %z { store i32 %o[%i], %y }\n}\n"
    "kernel @once(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %x = load i32 %a[%i]\n %y = mul i32 %x, 7\n %d = add i64 %i, 1\n store i32 %o[%d], %y\n}\n"
    "kernel @minus(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %s = load i32 %a[1]\n %x = load i32 %o[%i]\n %y = sub i32 %x, %s\n"
    "    store i32 %o[%i], %y\n}\n";

static void add(struct test_graph *g, const char *kernel, struct nd_range range, uint32_t from, uint32_t to)
{
    struct fuser_arg args[] = {test_arg_buffer(from), test_arg_buffer(to)};
    test_kernel(g, kernel, kernel, range, args, 2);
}

/* a -> t -> sums -> s: the sum in one work-group of `one`, behind work-groups of `local`. */
static struct test_graph *sum_over(struct nd_range many, struct nd_range one)
{
    struct test_graph *g = test_graph_new(kernels);
    const char *const names[] = {"a", "t", "sums", "s"};
    for (unsigned i = 0; i < 4; i++)
        test_buffer(g, names[i], IR_I32, N, (struct fuser_props){.internal_memory = i == 1});
    g->options.device.last_groups = true;
    add(g, "scale", many, 0, 1);
    add(g, "total", many, 1, 2);
    add(g, "all", one, 2, 3);
    return g;
}

static void check_plan(struct test_graph *g, const char *launches)
{
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, launches);
    check_same(g, plan);
    fuser_plan_free(plan);
    test_graph_free(g);
}

/* Of the first two kernels. */
static uint64_t work_of_two(uint64_t local)
{
    struct test_graph *g = sum_over(test_range(N, local), test_range(local, local));
    g->options.device.last_groups = false;
    struct fuser_plan *plan = check_planned(g);
    uint64_t work = plan->launches[0].work;
    fuser_plan_free(plan);
    test_graph_free(g);
    return work;
}

static void one_group_is_the_last(void **state)
{
    (void)state;
    struct test_graph *g = sum_over(test_range(N, LOCAL), test_range(LOCAL, LOCAL));
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "scale total all");
    check_internalized(g, plan, "t");
    check_remark(plan, "last_group", "all", "", "when all others have ended");
    assert_true(plan->launches[0].last);
    assert_int_equal(plan->launches[0].range.global[0], N + LOCAL);
    assert_true(plan->launches[0].work <= work_of_two(LOCAL) * 5 / 4); /* what one work-group does is next to nothing */
    check_same(g, plan);
    fuser_plan_free(plan);
    test_graph_free(g);
}

/* One after the other in it, with barriers in between; a few work-items that look at no work-group, too. */
static void several_are(void **state)
{
    (void)state;
    struct test_graph *g = sum_over(test_range(N, LOCAL), test_range(LOCAL, LOCAL));
    add(g, "once", test_range(1, 0), 3, 3);
    add(g, "minus", test_range(N, LOCAL), 3, 0);
    check_plan(g, "scale total all once|minus");
}

/* What has begun to run there ends the launch: nothing else is behind it. */
static void nothing_is_behind(void **state)
{
    (void)state;
    struct test_graph *g = sum_over(test_range(N, LOCAL), test_range(LOCAL, LOCAL));
    add(g, "minus", test_range(N, LOCAL), 3, 0);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "scale total all|minus");
    check_remark(plan, "not_fused_last_group", "minus", "", "runs there, too");
    assert_false(plan->launches[1].last);
    check_same(g, plan);
    fuser_plan_free(plan);
    test_graph_free(g);
}

static void only_where_work_groups_are_like_it(void **state)
{
    (void)state;
    check_plan(sum_over(test_range(N, LOCAL), test_range(2 * LOCAL, LOCAL)), "scale total|all"); /* two */
    check_plan(sum_over(test_range(N, LOCAL), test_range(16, 16)), "scale total|all");           /* a smaller one */
    /* nobody knows how large they are */
    struct test_graph *g = sum_over(test_range(N, 0), test_range(LOCAL, LOCAL));
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "scale total|all");
    fuser_plan_free(plan);
    test_graph_free(g);
}

static void only_where_it_is_wanted(void **state)
{
    (void)state;
    struct test_graph *g = sum_over(test_range(N, LOCAL), test_range(LOCAL, LOCAL));
    g->options.device.last_groups = false;
    check_plan(g, "scale total|all");
    g = sum_over(test_range(N, LOCAL), test_range(LOCAL, LOCAL));
    g->options.insert_barriers = true;
    check_plan(g, "scale total|all");
    g = sum_over(test_range(N, LOCAL), test_range(LOCAL, LOCAL));
    g->options.mode = FUSER_MODE_NONE;
    check_plan(g, "scale|total|all");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_group_is_the_last),   cmocka_unit_test(several_are),
        cmocka_unit_test(nothing_is_behind),       cmocka_unit_test(only_where_work_groups_are_like_it),
        cmocka_unit_test(only_where_it_is_wanted),
    };
    return cmocka_run_group_tests_name("test_plan_last_group", tests, NULL, NULL);
}
