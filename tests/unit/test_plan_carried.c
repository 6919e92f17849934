/* What fused kernels carry over from their parts, when they are refused for it, and what is cleaned up across parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/text/print/print.h"
#include "tests/support/plan_check.h"

enum { N = 64 };

#define SCALE(name, attributes, factor)                                                                                \
    "kernel @" name "(%a: ptr.global i32, %o: ptr.global i32) " attributes " {\n"                                      \
    "    %i = global_id x\n    %x = load i32 %a[%i]\n    %y = mul i32 %x, " factor "\n    store i32 %o[%i], %y\n}\n"

static const char kernels[] = SCALE("plain", "", "3") SCALE("other", "", "5") SCALE("teams", "work_group_size(16)", "7")
    SCALE("crowds", "work_group_size(32)", "9") SCALE("squads", "sub_group_size(8)", "2")
        SCALE("platoons", "sub_group_size(16)", "4") SCALE("doubles", "aspects(fp64)", "6")
            SCALE("halves", "aspects(fp16)", "8") SCALE("here", "targets(\"cpu\")", "2")
                SCALE("there", "targets(\"gpu\")",
                      "2") "kernel @rounds(%a: ptr.global i32, %o: ptr.global i32, %n: i32) {\n"
                           "    %i = global_id x\n"
                           "    %x = load i32 %a[%i]\n"
                           "    %s = loop (%k: i32 = 0, %u: i32 = %x) -> i32 {\n"
                           "        %g = global_id x\n"
                           "        %t = trunc i32 %g\n"
                           "        %d = mul i32 %t, %n\n" /* the same in each round, and in each kernel */
                           "        %v = xor i32 %u, %d\n"
                           "        %m = add i32 %k, 1\n"
                           "        %c = ult i32 %m, 4\n"
                           "        if %c {\n"
                           "            continue %m, %v\n"
                           "        }\n"
                           "        break %v\n"
                           "    }\n"
                           "    store i32 %o[%i], %s\n"
                           "}\n";

static const struct fuser_props none = {0};

/* Nodes "first" and "second" to t and u: both from a, or the second from t where `chained`. */
static struct test_graph *two(const char *first, const char *second, bool chained)
{
    struct test_graph *g = test_graph_new(kernels);
    static const char *const buffers[] = {"a", "t", "u"};
    const char *const names[] = {first, second};
    uint32_t value = test_value(g, 4);
    for (int i = 0; i < 3; i++) test_buffer(g, buffers[i], IR_I32, N, none);
    for (uint32_t i = 0; i < 2; i++) {
        struct fuser_arg args[] = {test_arg_buffer(chained ? i : 0), test_arg_buffer(i + 1), test_arg_value(value)};
        test_kernel(g, i ? "second" : "first", names[i], test_range(N, 0), args,
                    strcmp(names[i], "rounds") == 0 ? 3 : 2);
    }
    return g;
}

static void finish(struct test_graph *g, struct fuser_plan *plan)
{
    fuser_plan_free(plan);
    test_graph_free(g);
}

/* ---- carried over ---- */

static void sizes_and_aspects(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second;
        uint32_t work_group, sub_group;
        uint64_t aspects;
    } cases[] = {
        {"plain", "other", 0, 0, 0},
        {"plain", "teams", 16, 0, 0},
        {"teams", "squads", 16, 8, 0},
        {"squads", "plain", 0, 8, 0},
        {"doubles", "halves", 0, 0, IR_ASPECT_FP64 | IR_ASPECT_FP16},
        {"plain", "doubles", 0, 0, IR_ASPECT_FP64},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct test_graph *g = two(cases[i].first, cases[i].second, true);
        g->options.mode = FUSER_MODE_REQUIRE;
        struct fuser_plan *plan = check_planned(g);
        const struct ir_function *kernel = plan->launches[0].kernel;
        assert_int_equal(plan->n_launches, 1);
        assert_int_equal(kernel->work_group_size[0], cases[i].work_group);
        if (cases[i].work_group) assert_int_equal(plan->launches[0].range.local[0], cases[i].work_group);
        assert_int_equal(kernel->sub_group_size, cases[i].sub_group);
        assert_int_equal(kernel->has_declared ? kernel->aspects_declared : 0, cases[i].aspects);
        check_same(g, plan);
        finish(g, plan);
    }
}

static void what_cannot_be_carried_over(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second, *code, *reason;
    } cases[] = {
        {"teams", "crowds", "not_fused_local_size",
         "second requires a work-group size, and has 64 in work-groups of 32, the launch 64 in work-groups of 16"},
        {"squads", "platoons", "not_fused_sub_group_size", "its sub-groups have 16 work-items, theirs 8"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct test_graph *g = two(cases[i].first, cases[i].second, true);
        struct fuser_plan *plan = check_planned(g);
        check_launches(g, plan, "first|second");
        check_remark(plan, cases[i].code, "second", "", cases[i].reason);
        fuser_plan_free(plan);
        g->options.mode = FUSER_MODE_REQUIRE;
        check_fails(g, FUSER_KERNEL_NOT_SUPPORTED, "node", cases[i].reason);
        test_graph_free(g);
    }
}

/* An aspect that the device lacks is an error, fused or not; so is a kernel for others. */
static void what_the_device_is_not(void **state)
{
    (void)state;
    struct test_graph *g = two("plain", "doubles", true);
    g->options.device.aspects &= ~(uint64_t)IR_ASPECT_FP64;
    check_fails(g, FUSER_KERNEL_NOT_SUPPORTED, "node second", "fp64");
    test_graph_free(g);
    g = two("here", "there", true);
    check_fails(g, FUSER_KERNEL_NOT_SUPPORTED, "node second",
                "'-fsycl-fixed-targets=gpu' but was submitted to a different device.");
    test_graph_free(g);
    g = two("here", "plain", true);
    struct fuser_plan *plan = check_planned(g);
    assert_int_equal(plan->n_launches, 1);
    assert_int_equal(plan->launches[0].kernel->n_targets, 1);
    assert_string_equal(plan->launches[0].kernel->targets[0], "cpu");
    finish(g, plan);
}

/* The same buffer and the same value are one parameter each, whatever the kernels call them. */
static void arguments_are_merged(void **state)
{
    (void)state;
    struct test_graph *g = two("rounds", "rounds", false);
    struct fuser_plan *plan = check_planned(g);
    assert_int_equal(plan->n_launches, 1);
    assert_int_equal(plan->launches[0].n_params, 4); /* a, t, u, n */
    check_same(g, plan);
    finish(g, plan);
}

/* ---- cleaned up ---- */

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;
    for (; (text = strstr(text, what)); text++) n++;
    return n;
}

/* How often the text is in the only kernel of the plan; before: in front of its first loop. */
static unsigned in_kernel(const struct fuser_plan *plan, const char *what, bool before)
{
    char *text = ir_print_function(plan->launches[0].kernel);
    char *loop = strstr(text, "loop (");
    if (before && loop) *loop = '\0';
    unsigned n = count(text, what);
    free(text);
    return n;
}

static void loads_are_shared(void **state)
{
    (void)state;
    struct test_graph *g = two("plain", "other", false);
    struct fuser_plan *plan = check_planned(g);
    assert_int_equal(plan->n_launches, 1);
    assert_int_equal(in_kernel(plan, "load i32", false), 1);
    assert_int_equal(in_kernel(plan, "store i32", false), 2);
    assert_int_equal(in_kernel(plan, "global_id", false), 1);
    check_same(g, plan);
    finish(g, plan);
}

/* What the first kernel writes is overwritten by the second one, and nobody reads it in between. */
static void dead_stores_go(void **state)
{
    (void)state;
    struct test_graph *g = two("plain", "other", false);
    g->graph.nodes[1].args[1].index = g->graph.nodes[0].args[1].index;
    struct fuser_plan *plan = check_planned(g);
    assert_int_equal(plan->n_launches, 1);
    assert_int_equal(in_kernel(plan, "store i32", false), 1);
    assert_int_equal(in_kernel(plan, "mul i32", false), 1); /* nor is it computed */
    check_same(g, plan);
    finish(g, plan);
}

/* What is stored and then read by the same work-item is not read from memory. */
static void stores_are_forwarded(void **state)
{
    (void)state;
    struct test_graph *g = two("plain", "other", true);
    struct fuser_plan *plan = check_planned(g);
    assert_int_equal(in_kernel(plan, "load i32", false), 1);
    assert_int_equal(in_kernel(plan, "store i32", false), 2); /* t is seen outside */
    check_same(g, plan);
    finish(g, plan);
}

static void ids_leave_loops(void **state)
{
    (void)state;
    struct test_graph *g = two("rounds", "rounds", true);
    struct fuser_plan *plan = check_planned(g);
    assert_int_equal(plan->n_launches, 1);
    assert_int_equal(in_kernel(plan, "global_id", true), 1);
    assert_int_equal(in_kernel(plan, "global_id", false), 1);
    assert_int_equal(in_kernel(plan, "mul i32", true), 1); /* of both loops */
    assert_int_equal(in_kernel(plan, "mul i32", false), 1);
    check_same(g, plan);
    finish(g, plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_aspects),      cmocka_unit_test(what_cannot_be_carried_over),
        cmocka_unit_test(what_the_device_is_not), cmocka_unit_test(arguments_are_merged),
        cmocka_unit_test(loads_are_shared),       cmocka_unit_test(dead_stores_go),
        cmocka_unit_test(stores_are_forwarded),   cmocka_unit_test(ids_leave_loops),
    };
    return cmocka_run_group_tests_name("plan_carried", tests, NULL, NULL);
}
