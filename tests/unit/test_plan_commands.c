/* Copies and fills that a kernel does by the way, and those that nobody needs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/plan_check.h"

enum { ITEMS = 64, BYTES = 4 * ITEMS };

static const char kernels[] =
    "kernel @scale(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %x = load i32 %a[%i]\n %y = mul i32 %x, 3\n store i32 %o[%i], %y\n}\n"
    "kernel @add(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %x = load i32 %a[%i]\n %y = load i32 %o[%i]\n %s = add i32 %x, %y\n"
    "    store i32 %o[%i], %s\n}\n"
    "kernel @turned(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %n = global_size x\n %m = sub i64 %n, 1\n %j = sub i64 %m, %i\n %x = load i32 %a[%j]\n"
    "    store i32 %o[%i], %x\n}\n"
    "kernel @next(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %j = add i64 %i, 1\n %n = smin i64 %j, 63\n %x = load i32 %a[%n]\n %y = load i32 %a[%i]\n"
    "    %s = sub i32 %x, %y\n store i32 %o[%i], %s\n}\n"
    "kernel @fours(%a: ptr.global i32x4, %o: ptr.global i32x4) {\n"
    "    %i = global_id x\n %x = load i32x4 %a[%i]\n %y = load i32x4 %o[%i]\n %s = add i32x4 %x, %y\n"
    "    store i32x4 %o[%i], %s\n}\n"
    "kernel @four(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %r = shl i64 %i, 2\n %k = or i64 %r, 3\n %x = load i32 %a[%r]\n %y = load i32 %o[%r]\n"
    "    %z = load i32 %o[%k]\n %s = add i32 %x, %y\n store i32 %o[%r], %s\n store i32 %o[%k], %z\n}\n"
    "kernel @plane(%a: ptr.global i32, %o: ptr.global i32, %w: i32) {\n"
    "    %x0 = global_id x\n %y0 = global_id y\n %x = trunc i32 %x0\n %y = trunc i32 %y0\n %c = slt i32 %x, %w\n"
    "    if %c {\n %r = mul i32 %y, %w\n %j = add i32 %r, %x\n %i = sext i64 %j\n %v = load i32 %a[%i]\n"
    "    %u = load i32 %o[%i]\n %s = add i32 %v, %u\n store i32 %o[%i], %s\n }\n}\n"
    "kernel @some(%a: ptr.global i32, %o: ptr.global i32, %n: i64) {\n"
    "    %i = global_id x\n %c = ult i64 %i, %n\n if %c {\n %x = load i32 %a[%i]\n store i32 %o[%i], %x\n }\n}\n"
    "kernel @follow(%p: ptr.global ptr.global, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %q = load ptr.global %p\n %x = load i32 %q\n store i32 %o[%i], %x\n}\n";

/* Buffers named by letters, those in capitals internal. */
static struct test_graph *graph(const char *names)
{
    struct test_graph *g = test_graph_new(kernels);
    for (const char *c = names; *c; c++) {
        char name[] = {*c, 0};
        test_buffer(g, name, IR_I32, ITEMS, (struct fuser_props){.internal_memory = *c < 'a'});
    }
    return g;
}

static uint32_t run_over(struct test_graph *g, const char *name, const char *kernel, uint32_t from, uint32_t to,
                         struct nd_range range)
{
    struct fuser_arg args[] = {test_arg_buffer(from), test_arg_buffer(to)};
    return test_kernel(g, name, kernel, range, args, 2);
}

static uint32_t run(struct test_graph *g, const char *name, const char *kernel, uint32_t from, uint32_t to)
{
    return run_over(g, name, kernel, from, to, test_range(ITEMS, 0));
}

static struct fuser_node *node(struct test_graph *g, uint32_t i)
{
    return &g->graph.nodes[i];
}

static void finish(struct test_graph *g, struct fuser_plan *plan)
{
    fuser_plan_free(plan);
    test_graph_free(g);
}

/* The graph is these launches and does what it did. */
static void becomes(struct test_graph *g, const char *launches, const char *internalized)
{
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, launches);
    check_internalized(g, plan, internalized);
    check_same(g, plan);
    finish(g, plan);
}

/* ---- in a launch ---- */

static void fill_then_accumulate(void **state)
{
    (void)state;
    struct test_graph *g = graph("abo");
    test_fill(g, "clear", 2, BYTES, 0);
    run(g, "first", "add", 0, 2);
    run(g, "second", "add", 1, 2);
    becomes(g, "clear first second", "");
}

static void copy_between_kernels(void **state)
{
    (void)state;
    struct test_graph *g = graph("aTUo");
    run(g, "before", "scale", 0, 1);
    test_copy(g, "copy", 1, 2, BYTES);
    run(g, "after", "scale", 2, 3);
    becomes(g, "before copy after", "T U");
}

static void as_required(void **state)
{
    (void)state;
    struct test_graph *g = graph("aTUo");
    g->options.mode = FUSER_MODE_REQUIRE;
    run(g, "before", "scale", 0, 1);
    test_copy(g, "copy", 1, 2, BYTES);
    run(g, "after", "scale", 2, 3);
    test_copy(g, "result", 3, 0, BYTES); /* behind all kernels: no part of them */
    becomes(g, "before copy after", "T U");
}

/* The second half of one buffer to the first of another. */
static void ranges(void **state)
{
    (void)state;
    struct test_graph *g = graph("atuo");
    run(g, "before", "scale", 0, 1);
    struct fuser_node *copy = node(g, test_copy(g, "copy", 1, 2, BYTES / 2));
    copy->from.offset = BYTES / 2;
    becomes(g, "before copy", "");
    g = graph("atuo");
    run_over(g, "before", "scale", 0, 1, test_range(ITEMS / 2, 0));
    copy = node(g, test_copy(g, "copy", 1, 2, BYTES / 2));
    copy->to.offset = BYTES / 2;
    struct fuser_arg args[] = {test_arg_buffer(2), test_arg_buffer(3)};
    args[0].offset = BYTES / 2;
    test_kernel(g, "after", "scale", test_range(ITEMS / 2, 0), args, 2);
    becomes(g, "before copy after", "");
}

static void several_elements_each(void **state)
{
    (void)state;
    static const char *const names[] = {"fours", "four"};
    for (int i = 0; i < 2; i++) {
        struct test_graph *g = graph("ao");
        struct fuser_node *fill = node(g, test_fill(g, "clear", 1, BYTES, 1));
        fill->pattern_size = 16;
        for (int k = 0; k < 16; k++) fill->pattern[k] = (uint8_t)(k + 1);
        run_over(g, "sum", names[i], 0, 1, test_range(ITEMS / 4, 0));
        becomes(g, "clear sum", "");
    }
}

/* Rows are as long as a scalar says, work-items in a row are more. */
static void planes(void **state)
{
    (void)state;
    for (int64_t width = 3; width < 9; width++) {
        struct test_graph *g = graph("ao");
        uint32_t w = test_value(g, 4);
        g->graph.values[w].number = 7;
        test_fill(g, "clear", 1, 56 * 4, 5);
        test_kernel(g, "sum", "plane", test_range_2d(8, 8),
                    (struct fuser_arg[]){test_arg_buffer(0), test_arg_buffer(1), test_arg_value(w)}, 3);
        struct fuser_plan *plan = check_planned(g);
        check_launches(g, plan, "clear sum");
        int64_t numbers[] = {width};
        check_same_with(g, plan, numbers);
        finish(g, plan);
    }
}

/* What a kernel reads at its neighbours it reads where the copy would have. */
static void copied_again(void **state)
{
    (void)state;
    struct test_graph *g = graph("aTo");
    test_copy(g, "copy", 0, 1, BYTES);
    run(g, "differ", "next", 1, 2);
    struct fuser_plan *plan = check_planned(g);
    check_internalized(g, plan, "T");
    check_remark(plan, "recomputed", "differ", "T", "");
    check_same(g, plan);
    finish(g, plan);
}

/* ---- by themselves ---- */

static void no_launch_takes_it(void **state)
{
    (void)state;
    /* Other elements. */
    struct test_graph *g = graph("atuo");
    run(g, "before", "turned", 0, 1);
    test_copy(g, "copy", 1, 2, BYTES);
    run(g, "after", "turned", 2, 3);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "before copy|after");
    check_same(g, plan);
    finish(g, plan);
    /* Of no kernel at all; a pattern longer than an element; rows. */
    for (int what = 0; what < 3; what++) {
        g = graph("ato");
        uint32_t fill = test_fill(g, "fill", what ? 2 : 1, BYTES / (what == 2 ? 2 : 1), 1);
        g->graph.nodes[fill].pattern_size = 8;
        for (uint8_t k = 0; k < 8; k++) g->graph.nodes[fill].pattern[k] = what == 1 ? k : 1;
        if (what == 2) test_in_rows(g, fill, 2);
        run(g, "sum", "add", 0, 2);
        plan = check_planned(g);
        check_launches(g, plan, "sum");
        assert_int_equal(plan->n_steps, 2);
        check_same(g, plan);
        finish(g, plan);
    }
    /* Kernels that are watched are those that were given. */
    g = graph("ao");
    test_fill(g, "clear", 1, BYTES, 0);
    run(g, "sum", "add", 0, 1);
    g->options.debug = true;
    becomes(g, "sum", "");
}

/* ---- not needed ---- */

static void what_is_overwritten_does_not_run(void **state)
{
    (void)state;
    struct test_graph *g = graph("abo");
    test_fill(g, "clear", 2, BYTES, 0);
    run(g, "all", "scale", 0, 2);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "all");
    check_remark(plan, "overwritten", "clear", "o", "all writes all of it");
    assert_int_equal(plan->n_steps, 1);
    assert_int_equal(plan->n_order, 2);
    check_same(g, plan);
    finish(g, plan);
    /* By another one, of a part. */
    g = graph("abo");
    test_fill(g, "clear", 2, BYTES / 2, 0);
    test_copy(g, "copy", 0, 2, BYTES);
    plan = check_planned(g);
    check_remark(plan, "overwritten", "clear", "o", "copy");
    check_same(g, plan);
    finish(g, plan);
}

static void stays(struct test_graph *g)
{
    struct fuser_plan *plan = check_planned(g);
    check_no_remark(plan, "overwritten");
    check_same(g, plan);
    finish(g, plan);
}

static void what_may_be_read_runs(void **state)
{
    (void)state;
    struct test_graph *g = graph("abo");
    test_fill(g, "clear", 2, BYTES, 0);
    run(g, "read", "scale", 2, 1);
    run(g, "all", "scale", 0, 2);
    stays(g);
    g = graph("abo");
    test_fill(g, "clear", 2, BYTES, 0);
    run_over(g, "half", "scale", 0, 2, test_range(ITEMS / 2, 0));
    stays(g);
    g = graph("abo");
    test_fill(g, "clear", 2, BYTES, 0);
    run(g, "reads_too", "add", 0, 2);
    stays(g);
    /* As many as a scalar says. */
    g = graph("abo");
    uint32_t n = test_value(g, 8);
    g->graph.values[n].number = ITEMS;
    test_fill(g, "clear", 2, BYTES, 0);
    test_kernel(g, "some", "some", test_range(ITEMS, 0),
                (struct fuser_arg[]){test_arg_buffer(0), test_arg_buffer(2), test_arg_value(n)}, 3);
    stays(g);
    /* Not fused is as it was written. */
    g = graph("abo");
    g->options.mode = FUSER_MODE_NONE;
    test_fill(g, "clear", 2, BYTES, 0);
    run(g, "all", "scale", 0, 2);
    stays(g);
}

/* A host task without arguments, and a kernel that follows pointers, may look at anything. */
static void anybody_may_look(void **state)
{
    (void)state;
    struct test_graph *g = graph("abo");
    test_fill(g, "clear", 2, BYTES, 0);
    test_host(g, "look", NULL, 0);
    run(g, "all", "scale", 0, 2);
    struct fuser_plan *plan = check_planned(g);
    check_no_remark(plan, "overwritten");
    finish(g, plan);
    g = graph("abo");
    test_buffer(g, "p", IR_I64, 1, (struct fuser_props){0});
    test_fill(g, "clear", 2, BYTES, 0);
    run(g, "look", "follow", 3, 1);
    run(g, "all", "scale", 0, 2);
    plan = check_planned(g);
    check_no_remark(plan, "overwritten");
    finish(g, plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fill_then_accumulate),  cmocka_unit_test(copy_between_kernels),
        cmocka_unit_test(as_required),           cmocka_unit_test(ranges),
        cmocka_unit_test(several_elements_each), cmocka_unit_test(planes),
        cmocka_unit_test(copied_again),          cmocka_unit_test(no_launch_takes_it),
        cmocka_unit_test(what_may_be_read_runs), cmocka_unit_test(what_is_overwritten_does_not_run),
        cmocka_unit_test(anybody_may_look),
    };
    return cmocka_run_group_tests_name("plan commands", tests, NULL, NULL);
}
