/* Graphs that say what is read after them: the rest is their own, and what nobody reads is not computed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/plan_check.h"

enum { ITEMS = 64 };

static const char kernels[] =
    "kernel @scale(%a: ptr.global f32, %o: ptr.global f32) {\n"
    "    %i = global_id x\n %x = load f32 %a[%i]\n %y = fmul f32 %x, 2.0\n store f32 %o[%i], %y\n}\n"
    "kernel @next(%a: ptr.global f32, %o: ptr.global f32) {\n"
    "    %i = global_id x\n %n = global_size x\n %j = add i64 %i, 1\n %k = urem i64 %j, %n\n %x = load f32 %a[%k]\n"
    "    store f32 %o[%i], %x\n}\n"
    "kernel @follow(%p: ptr.global ptr.global, %o: ptr.global f32) {\n"
    "    %i = global_id x\n %q = load ptr.global %p\n %x = load f32 %q\n store f32 %o[%i], %x\n}\n";

/* Buffers a, t, h, o; `outputs`: names of those that are. */
static struct test_graph *graph(const char *outputs)
{
    static const char names[] = "atho";
    struct test_graph *g = test_graph_new(kernels);
    for (unsigned i = 0; i < 4; i++) {
        char name[2] = {names[i], 0};
        test_buffer(g, name, IR_F32, ITEMS, (struct fuser_props){0});
        g->graph.buffers[i].unread = !strchr(outputs, names[i]);
    }
    return g;
}

static void run(struct test_graph *g, const char *name, const char *kernel, uint32_t from, uint32_t to)
{
    struct fuser_arg args[] = {test_arg_buffer(from), test_arg_buffer(to)};
    test_kernel(g, name, kernel, test_range(ITEMS, 0), args, 2);
}

/* a to t, t to o, and t to h. */
static struct test_graph *two_results(const char *outputs)
{
    struct test_graph *g = graph(outputs);
    run(g, "blur", "scale", 0, 1);
    run(g, "histogram", "scale", 1, 2);
    run(g, "sharpen", "scale", 1, 3);
    return g;
}

static void finish(struct test_graph *g, struct fuser_plan *plan)
{
    fuser_plan_free(plan);
    test_graph_free(g);
}

static void what_is_no_output_is_internal(void **state)
{
    (void)state;
    struct test_graph *g = two_results("ho");
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "blur histogram sharpen");
    check_internalized(g, plan, "t");
    check_remark(plan, "inferred_internal", "", "t", "none of the outputs");
    check_no_remark(plan, "unneeded");
    check_same(g, plan);
    finish(g, plan);
}

static void what_nobody_reads_does_not_run(void **state)
{
    (void)state;
    struct test_graph *g = two_results("o");
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "blur sharpen");
    check_internalized(g, plan, "t");
    check_remark(plan, "unneeded", "histogram", "", "nobody reads");
    assert_int_equal(plan->n_order, 3);
    assert_int_equal(plan->order[2], 1);
    finish(g, plan);
    g = two_results("");
    plan = check_planned(g);
    assert_int_equal(plan->n_launches, 0);
    finish(g, plan);
    /* Not fused is as it was written. */
    g = two_results("o");
    g->options.mode = FUSER_MODE_NONE;
    plan = check_planned(g);
    check_launches(g, plan, "blur|histogram|sharpen");
    finish(g, plan);
}

/* Copies and fills are nodes like others. */
static void commands(void **state)
{
    (void)state;
    struct test_graph *g = two_results("o");
    test_copy(g, "save", 2, 0, ITEMS * 4); /* h to a, which blur reads, in the next submission */
    struct fuser_plan *plan = check_planned(g);
    check_no_remark(plan, "unneeded");
    finish(g, plan);
    g = two_results("o");
    test_fill(g, "clear", 2, ITEMS * 4, 0);
    plan = check_planned(g);
    check_launches(g, plan, "blur sharpen");
    check_remark(plan, "unneeded", "clear", "", "");
    check_remark(plan, "unneeded", "histogram", "", "");
    finish(g, plan);
}

/* What is left for the next submission has memory. */
static void contents_that_stay(void **state)
{
    (void)state;
    struct test_graph *g = graph("o");
    run(g, "use", "scale", 1, 3);
    run(g, "update", "next", 3, 1);
    struct fuser_plan *plan = check_planned(g);
    check_internalized(g, plan, "");
    check_no_remark(plan, "unneeded");
    check_same(g, plan);
    finish(g, plan);
}

static void pointers_may_lead_anywhere(void **state)
{
    (void)state;
    struct test_graph *g = two_results("o");
    test_buffer(g, "p", IR_I64, 1, (struct fuser_props){0});
    struct fuser_arg args[] = {test_arg_buffer(4), test_arg_buffer(3)};
    test_kernel(g, "follow", "follow", test_range(ITEMS, 0), args, 2);
    struct fuser_plan *plan = check_planned(g);
    check_no_remark(plan, "unneeded");
    check_no_remark(plan, "inferred_internal");
    finish(g, plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_output_is_internal),
        cmocka_unit_test(what_nobody_reads_does_not_run),
        cmocka_unit_test(commands),
        cmocka_unit_test(contents_that_stay),
        cmocka_unit_test(pointers_may_lead_anywhere),
    };
    return cmocka_run_group_tests_name("plan outputs", tests, NULL, NULL);
}
