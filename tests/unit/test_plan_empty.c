/* Nodes over no work-items or bytes: an empty run, which keeps nothing from being fused and loses no dependence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "tests/support/plan_check.h"

enum { N = 64 };

static const char kernels[] = "kernel @scale(%a: ptr.global i32, %o: ptr.global i32) {\n"
                              "    %i = global_id x\n"
                              "    %x = load i32 %a[%i]\n"
                              "    %y = mul i32 %x, 3\n"
                              "    store i32 %o[%i], %y\n"
                              "}\n"
                              "kernel @meet(%a: ptr.global i32, %o: ptr.global i32) work_group_size(4, 4, 1) {\n"
                              "    barrier\n"
                              "}\n";

static struct test_graph *buffers(void)
{
    struct test_graph *g = test_graph_new(kernels);
    for (int i = 0; i < 5; i++)
        test_buffer(g, (const char *const[]){"a", "b", "c", "d", "e"}[i], IR_I32, N, (struct fuser_props){0});
    return g;
}

static uint32_t scale(struct test_graph *g, const char *name, uint32_t from, uint32_t to, uint64_t n)
{
    struct fuser_arg args[] = {test_arg_buffer(from), test_arg_buffer(to)};
    return test_kernel(g, name, "scale", test_range(n, 0), args, 2);
}

static void finish(struct test_graph *g, struct fuser_plan *plan)
{
    fuser_plan_free(plan);
    test_graph_free(g);
}

static void check_order(const struct test_graph *g, const struct fuser_plan *plan, const char *order)
{
    char text[200] = "";
    for (uint32_t i = 0; i < plan->n_order; i++) {
        if (i) strcat(text, " ");
        strcat(text, g->graph.nodes[plan->order[i]].name);
    }
    assert_string_equal(text, order);
}

/* The empty one lies between in the graph, by its dependences, and uses what both use. */
static void others_are_fused_around_it(void **state)
{
    (void)state;
    struct test_graph *g = buffers();
    uint32_t first = scale(g, "z", 0, 1, N), nothing = scale(g, "m", 1, 2, 0), last = scale(g, "a", 3, 4, N);
    test_depends(g, nothing, first);
    test_depends(g, last, nothing);
    g->options.mode = FUSER_MODE_REQUIRE;
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "z a"); /* not by name: a waits for z, through m */
    check_order(g, plan, "z a m");
    check_remark(plan, "empty_range", "m", "", "m has no work-items: nothing runs");
    check_same(g, plan);
    finish(g, plan);
}

static void copies_and_fills(void **state)
{
    (void)state;
    struct test_graph *g = buffers();
    scale(g, "first", 0, 1, N);
    test_copy(g, "copy", 1, 2, 0);
    test_fill(g, "fill", 1, 0, 7);
    scale(g, "second", 1, 3, N);
    g->options.mode = FUSER_MODE_REQUIRE;
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "first second");
    check_order(g, plan, "first second copy fill");
    assert_int_equal(plan->n_steps, 1);
    check_remark(plan, "empty_range", "copy", "", "no bytes");
    finish(g, plan);
}

static void steps_name_nodes_as_given(void **state)
{
    (void)state;
    struct test_graph *g = buffers();
    scale(g, "nothing", 0, 1, 0);
    scale(g, "kernel", 0, 1, N);
    uint32_t copy = test_copy(g, "copy", 1, 2, 2 * N);
    test_in_rows(g, copy, 2);
    struct fuser_plan *plan = check_planned(g);
    assert_int_equal(plan->n_steps, 2);
    assert_int_equal(plan->steps[1].kind, FUSER_STEP_NODE);
    assert_int_equal(plan->steps[1].index, copy);
    assert_int_equal(plan->launches[0].nodes[0], 1);
    check_same(g, plan);
    finish(g, plan);
}

static void nothing_at_all(void **state)
{
    (void)state;
    struct test_graph *g = buffers();
    scale(g, "x", 0, 1, 0);
    scale(g, "y", 1, 2, 0);
    g->options.mode = FUSER_MODE_REQUIRE;
    struct fuser_plan *plan = check_planned(g);
    assert_int_equal(plan->n_launches, 0);
    assert_int_equal(plan->n_steps, 0);
    assert_int_equal(plan->bytes_unfused, 0);
    check_order(g, plan, "x y");
    finish(g, plan);
}

static void cycles_are_found(void **state)
{
    (void)state;
    struct test_graph *g = buffers();
    uint32_t x = scale(g, "x", 0, 1, 0), y = scale(g, "y", 1, 2, 0), z = scale(g, "z", 2, 3, N);
    test_depends(g, x, y);
    test_depends(g, y, z);
    test_depends(g, z, x);
    check_fails(g, FUSER_INVALID, "graph", "a cycle of 1 nodes: z -> z");
    test_graph_free(g);
    g = buffers();
    x = scale(g, "x", 0, 1, 0);
    y = scale(g, "y", 1, 2, 0);
    z = scale(g, "z", 2, 3, 0);
    test_depends(g, x, y);
    test_depends(g, y, x);
    test_depends(g, z, y);
    check_fails(g, FUSER_INVALID, "graph", "a cycle of nodes that nothing has to be done for, one of them x");
    test_graph_free(g);
}

/* They are checked like all others. */
static void mistakes_are_found(void **state)
{
    (void)state;
    struct test_graph *g = buffers();
    struct fuser_arg args[] = {test_arg_buffer(0)};
    test_kernel(g, "few", "scale", test_range(0, 0), args, 1);
    check_fails(g, FUSER_INVALID, "node few", "argument");
    test_graph_free(g);
    g = buffers();
    struct fuser_arg both[] = {test_arg_buffer(0), test_arg_buffer(1)};
    test_kernel(g, "local", "meet", test_range(0, 8), both, 2);
    check_fails(g, FUSER_INVALID, "node local", "requires 4");
    test_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_are_fused_around_it), cmocka_unit_test(copies_and_fills),
        cmocka_unit_test(steps_name_nodes_as_given),  cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(cycles_are_found),           cmocka_unit_test(mistakes_are_found),
    };
    return cmocka_run_group_tests_name("plan empty", tests, NULL, NULL);
}
