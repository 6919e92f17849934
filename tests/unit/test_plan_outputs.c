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
    "kernel @some(%a: ptr.global f32, %o: ptr.global f32, %m: i32) {\n"
    "    %i = global_id x\n %k = trunc i32 %i\n %c = slt i32 %k, %m\n if %c {\n %x = load f32 %a[%i]\n"
    "    %y = fmul f32 %x, 3.0\n store f32 %o[%i], %y\n yield\n }\n return\n}\n"
    "kernel @mix(%t: ptr.global f32, %b: ptr.global f32) {\n"
    "    %i = global_id x\n %n = global_size x\n %j = add i64 %i, 1\n %k = urem i64 %j, %n\n %x = load f32 %b[%k]\n"
    "    %y = load f32 %t[%i]\n %z = fadd f32 %x, %y\n store f32 %t[%i], %z\n}\n"
    "kernel @near(%a: ptr.global f32, %o: ptr.global f32, %m: i32) {\n"
    "    %i = global_id x\n %k = trunc i32 %i\n %c = slt i32 %k, %m\n if %c {\n %n = global_size x\n"
    "    %j = add i64 %i, 1\n %l = urem i64 %j, %n\n %x = load f32 %a[%l]\n store f32 %o[%i], %x\n yield\n }\n"
    "    return\n}\n"
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

/* Step after step with the same scratch buffer t: from a through t to h, and from its neighbours through t to o.
   Between what writes t and what reads it nothing of it flows from one launch to another. */
static struct test_graph *two_steps(const char *second_writes, const char *second_reads)
{
    struct test_graph *g = graph("o");
    run(g, "blur", "scale", 0, 1);
    run(g, "keep", "scale", 1, 2);
    run(g, "blur2", second_writes, 2, 1);
    run(g, "keep2", second_reads, 1, 3);
    return g;
}

static void scratch_that_is_used_again(void **state)
{
    (void)state;
    struct test_graph *g = two_steps("next", "scale");
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "blur keep|blur2 keep2");
    check_internalized(g, plan, "t");
    check_remark(plan, "internalized_private", "blur", "t", "registers of blur, keep");
    check_remark(plan, "internalized_private", "blur2", "t", "registers of blur2, keep2");
    check_same(g, plan);
    finish(g, plan);
    /* One launch that cannot do without is enough for it to have memory. */
    g = two_steps("next", "next");
    plan = check_planned(g);
    check_launches(g, plan, "blur keep|blur2|keep2");
    check_internalized(g, plan, "");
    check_same(g, plan);
    finish(g, plan);
    /* So is one that reads what another one wrote, whatever no_init says of what was there before both. */
    g = graph("ho");
    g->graph.buffers[1].props.no_init = true;
    run(g, "blur", "scale", 0, 1);
    run(g, "keep", "scale", 1, 2);
    run(g, "later", "mix", 1, 2);
    run(g, "last", "scale", 1, 3);
    plan = check_planned(g);
    check_launches(g, plan, "blur keep|later last");
    check_internalized(g, plan, "");
    check_same(g, plan);
    finish(g, plan);
}

static void guarded(struct test_graph *g, const char *name, const char *kernel, uint32_t from, uint32_t to,
                    uint32_t value)
{
    struct fuser_arg args[] = {test_arg_buffer(from), test_arg_buffer(to), test_arg_value(value)};
    test_kernel(g, name, kernel, test_range(ITEMS, 0), args, 3);
}

/* The second step writes as many elements as it reads, as long as its numbers are equal. When they are not, it reads
   what the first one left there, which then has to be there: also the first launch goes by that. */
static void scratch_on_condition(void **state)
{
    (void)state;
    struct test_graph *g = graph("o");
    uint32_t m[4];
    for (unsigned i = 0; i < 4; i++) {
        m[i] = test_value(g, 4);
        g->graph.values[m[i]].alike = 1;
    }
    guarded(g, "blur", "some", 0, 1, m[0]);
    guarded(g, "keep", "some", 1, 2, m[1]);
    guarded(g, "blur2", "near", 2, 1, m[2]);
    guarded(g, "keep2", "some", 1, 3, m[3]);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "blur keep|blur2 keep2");
    check_internalized(g, plan, "t");
    for (uint32_t i = 0; i < plan->n_launches; i++) assert_int_equal(plan->launches[i].n_conditions, 2);
    check_same_with(g, plan, (const int64_t[]){40, 40, 40, 40});
    check_same_with(g, plan, (const int64_t[]){40, 40, 20, 40});
    check_same_with(g, plan, (const int64_t[]){40, 30, 30, 30});
    check_same_with(g, plan, (const int64_t[]){64, 64, 10, 64});
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
        cmocka_unit_test(scratch_that_is_used_again),
        cmocka_unit_test(scratch_on_condition),
        cmocka_unit_test(pointers_may_lead_anywhere),
    };
    return cmocka_run_group_tests_name("plan outputs", tests, NULL, NULL);
}
