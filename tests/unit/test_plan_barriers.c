/* Work-group barriers that nobody asked for: where one is proved to be needed and enough, and only there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/plan_check.h"
#include "tests/support/plan_run.h"

enum { N = 256, LOCAL = 32, ROW = 128, ALL = N / LOCAL * ROW };

static const char kernels[] =
    "kernel @scale(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %x = load i32 %a[%i]\n %y = mul i32 %x, 3\n store i32 %o[%i], %y\n}\n"
    "kernel @swap(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %l = local_id x\n %s = local_size x\n %g = group_id x\n %b = mul i64 %g, %s\n %m = sub i64 %s, 1\n"
    "    %r = sub i64 %m, %l\n %j = add i64 %b, %r\n %i = global_id x\n"
    "    %x = load i32 %a[%j]\n %y = add i32 %x, 1\n store i32 %o[%i], %y\n}\n"
    "kernel @next(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %n = add i64 %i, 1\n %j = and i64 %n, 255\n %x = load i32 %a[%j]\n store i32 %o[%i], "
    "%x\n}\n"
    /* element g of %o: what the work-group has in %a; in group operations, and as such kernels mostly do it */
    "kernel @total(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %l = local_id x\n %g = group_id x\n %x = load i32 %a[%i]\n"
    "    %s = group_reduce i32 %x, work_group, add\n %c = ieq i64 %l, 0\n"
    "    if %c { store i32 %o[%g], %s }\n}\n"
    "kernel @total_of_last(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %l0 = local_id x\n %l = trunc i32 %l0\n %g = group_id x\n %x = load i32 %a[%i]\n"
    "    %s = group_reduce i32 %x, work_group, add\n %c = sgt i32 %l, 30\n"
    "    if %c { store i32 %o[%g], %s }\n}\n"
    "kernel @total_of_some(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %l = local_id x\n %g = group_id x\n %x = load i32 %a[%i]\n"
    "    %s = group_reduce i32 %x, work_group, add\n %c = ieq i64 %l, 0\n %d = ugt i64 %g, 0\n %e = and bool %c, %d\n"
    "    if %e { store i32 %o[%g], %s }\n}\n"
    "kernel @total_perhaps(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %l = local_id x\n %g = group_id x\n %x = load i32 %a[%i]\n"
    "    %s = group_reduce i32 %x, work_group, add\n %c = ieq i64 %l, 0\n %d = sgt i32 %s, 40\n %e = and bool %c, %d\n"
    "    if %e { store i32 %o[%g], %s }\n}\n"
    "kernel @total_of_none(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %l = local_id x\n %g = group_id x\n %x = load i32 %a[%i]\n"
    "    %s = group_reduce i32 %x, work_group, add\n %c = ieq i64 %l, 32\n"
    "    if %c { store i32 %o[%g], %s }\n}\n"
    "kernel @minus(%a: ptr.global i32, %t: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %g = group_id x\n %x = load i32 %a[%i]\n %s = load i32 %t[%g]\n %y = sub i32 %x, %s\n"
    "    store i32 %o[%i], %y\n}\n"
    /* a row of %n for each work-group, whose work-items go over it together; as compilers leave it, and as it is
       written */
    "kernel @row(%a: ptr.global i32, %o: ptr.global i32, %n: i32) {\n"
    "    %l0 = local_id x\n %g0 = group_id x\n %l = trunc i32 %l0\n %g = trunc i32 %g0\n %b = mul i32 %g, %n\n"
    "    %first = slt i32 %l, %n\n"
    "    if %first {\n loop (%j: i32 = %l) {\n %k = add i32 %b, %j\n %i = sext i64 %k\n %x = load i32 %a[%i]\n"
    "    %y = mul i32 %x, 5\n store i32 %o[%i], %y\n %next = add i32 %j, 32\n %c = slt i32 %next, %n\n"
    "    if %c { continue %next }\n break\n }\n }\n}\n"
    "kernel @turned(%a: ptr.global i32, %o: ptr.global i32, %n: i32) {\n"
    "    %l0 = local_id x\n %g0 = group_id x\n %l = trunc i32 %l0\n %g = trunc i32 %g0\n %b = mul i32 %g, %n\n"
    "    loop (%j: i32 = %l) {\n %c = slt i32 %j, %n\n if %c { } else { break }\n"
    "    %m = sub i32 %n, %j\n %t = sub i32 %m, 1\n %k = add i32 %b, %j\n %h = add i32 %b, %t\n %i = sext i64 %k\n"
    "    %i2 = sext i64 %h\n %x = load i32 %a[%i2]\n store i32 %o[%i], %x\n %next = add i32 %j, 32\n continue %next\n"
    "    }\n}\n"
    "kernel @beyond(%a: ptr.global i32, %o: ptr.global i32, %n: i32) {\n"
    "    %l0 = local_id x\n %g0 = group_id x\n %l = trunc i32 %l0\n %g = trunc i32 %g0\n %b = mul i32 %g, %n\n"
    "    loop (%j: i32 = %l) {\n %c = slt i32 %j, %n\n if %c { } else { break }\n"
    "    %k = add i32 %b, %j\n %h = add i32 %k, 1\n %i = sext i64 %k\n %i2 = sext i64 %h\n %x = load i32 %a[%i2]\n"
    "    store i32 %o[%i], %x\n %next = add i32 %j, 32\n continue %next\n }\n}\n"
    /* each work-item goes into the next one's part */
    "kernel @crowded(%a: ptr.global i32, %o: ptr.global i32, %n: i32) {\n"
    "    %l0 = local_id x\n %g0 = group_id x\n %l = trunc i32 %l0\n %g = trunc i32 %g0\n %b = mul i32 %g, %n\n"
    "    %sum = loop (%j: i32 = %l, %s: i32 = 0) -> i32 {\n %c = slt i32 %j, %n\n if %c { } else { break %s }\n"
    "    %k = add i32 %b, %j\n %i = sext i64 %k\n %x = load i32 %a[%i]\n %s1 = add i32 %s, %x\n"
    "    %next = add i32 %j, 31\n continue %next, %s1\n }\n"
    "    %id = global_id x\n store i32 %o[%id], %sum\n}\n"
    "kernel @row_total(%a: ptr.global i32, %o: ptr.global i32, %n: i32) {\n"
    "    %l0 = local_id x\n %g0 = group_id x\n %l = trunc i32 %l0\n %g = trunc i32 %g0\n %b = mul i32 %g, %n\n"
    "    %sum = loop (%j: i32 = %l, %s: i32 = 0) -> i32 {\n %c = slt i32 %j, %n\n if %c { } else { break %s }\n"
    "    %k = add i32 %b, %j\n %i = sext i64 %k\n %x = load i32 %a[%i]\n %s1 = add i32 %s, %x\n"
    "    %next = add i32 %j, 32\n continue %next, %s1\n }\n"
    "    %all = group_reduce i32 %sum, work_group, add\n %c0 = ieq i64 %l0, 0\n"
    "    if %c0 { store i32 %o[%g0], %all }\n}\n"
    "kernel @row_minus(%a: ptr.global i32, %t: ptr.global i32, %o: ptr.global i32, %n: i32) {\n"
    "    %l0 = local_id x\n %g0 = group_id x\n %l = trunc i32 %l0\n %g = trunc i32 %g0\n %b = mul i32 %g, %n\n"
    "    loop (%j: i32 = %l) {\n %c = slt i32 %j, %n\n if %c { } else { break }\n"
    "    %k = add i32 %b, %j\n %i = sext i64 %k\n %x = load i32 %a[%i]\n %s = load i32 %t[%g0]\n %y = sub i32 %x, %s\n"
    "    store i32 %o[%i], %y\n %next = add i32 %j, 32\n continue %next\n }\n}\n";

static struct test_graph *new_graph(unsigned n_buffers)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    struct test_graph *g = test_graph_new(kernels);
    for (unsigned i = 0; i < n_buffers; i++) test_buffer(g, names[i], IR_I32, N, (struct fuser_props){0});
    return g;
}

static void add(struct test_graph *g, const char *name, const char *kernel, uint64_t local, uint32_t from, uint32_t to)
{
    struct fuser_arg args[] = {test_arg_buffer(from), test_arg_buffer(to)};
    test_kernel(g, name, kernel, test_range(N, local), args, 2);
}

/* a -> b -> c. */
static struct test_graph *pair(const char *first, const char *second, uint64_t local)
{
    struct test_graph *g = new_graph(3);
    add(g, "earlier", first, local, 0, 1);
    add(g, "later", second, local, 1, 2);
    return g;
}

static void finish(struct test_graph *g, struct fuser_plan *plan)
{
    fuser_plan_free(plan);
    test_graph_free(g);
}

/* The same over rows: of `row` numbers, as an argument that all share. */
static struct test_graph *rows(const char *first, const char *second, int64_t row)
{
    struct test_graph *g = test_graph_new(kernels);
    const char *const names[] = {first, second};
    for (unsigned i = 0; i < 3; i++)
        test_buffer(g, i == 0 ? "a" : i == 1 ? "b" : "c", IR_I32, ALL + 1, (struct fuser_props){0});
    uint32_t n = test_value(g, 4);
    g->graph.values[n] = (struct fuser_value){.size = 4, .alike = 1, .number = row};
    for (uint32_t i = 0; i < 2; i++) {
        struct fuser_arg args[] = {test_arg_buffer(i), test_arg_buffer(i + 1), test_arg_value(n)};
        test_kernel(g, i ? "later" : "earlier", names[i], test_range(N, LOCAL), args, 3);
    }
    return g;
}

/* The plan does what the graph does, and nothing races in it. */
static void check_right(const struct test_graph *g, const struct fuser_plan *plan)
{
    struct graph_memory m = graph_memory_new(&g->graph, 1);
    char why[1500];
    check_same(g, plan);
    if (!run_watched(&g->graph, plan, &m, why, sizeof why)) fail_msg("%s", why);
    graph_memory_free(&m);
}

static unsigned count_barriers(const struct fuser_plan *plan)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < plan->n_launches; i++)
        for (uint32_t k = 0; k < plan->launches[i].n_nodes; k++) n += plan->launches[i].barriers[k];
    return n;
}

static void one_is_put_where_it_orders(void **state)
{
    (void)state;
    struct test_graph *g = pair("scale", "swap", 32);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "earlier later");
    assert_int_equal(count_barriers(plan), 1);
    check_remark(plan, "barrier_inserted", "later", "b", "inside work-groups");
    check_remark(plan, "fused", "earlier", "", "with a work-group barrier between each two");
    check_right(g, plan);
    finish(g, plan);
}

static void none_is_put_where_none_is_needed(void **state)
{
    (void)state;
    struct test_graph *g = pair("scale", "scale", 32);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "earlier later");
    assert_int_equal(count_barriers(plan), 0);
    check_no_remark(plan, "barrier_inserted");
    finish(g, plan);
}

static void none_is_put_where_it_is_not_enough(void **state)
{
    (void)state;
    struct test_graph *g = pair("scale", "next", 32);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "earlier|later");
    check_remark(plan, "not_fused_race", "later", "b", "work-item");
    finish(g, plan);

    g = pair("scale", "swap", 0); /* nobody knows the work-groups */
    plan = check_planned(g);
    check_launches(g, plan, "earlier|later");
    finish(g, plan);
}

/* Two that need one share it, where it stands between both and what they need. */
static void one_orders_all_before_it(void **state)
{
    (void)state;
    struct test_graph *g = new_graph(5);
    add(g, "k1", "scale", 32, 0, 1);
    add(g, "k2", "scale", 32, 0, 2);
    add(g, "k3", "swap", 32, 1, 3);
    add(g, "k4", "swap", 32, 2, 4);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "k1 k2 k3 k4");
    assert_int_equal(count_barriers(plan), 1);
    assert_true(plan->launches[0].barriers[2]);
    check_remark(plan, "barrier_inserted", "k3", "b", "k1 and k3");
    check_remark(plan, "barrier_orders", "k4", "c", "k2 and k4");
    check_remark(plan, "fused", "k1", "", "with 1 work-group barrier between them");
    check_right(g, plan);
    finish(g, plan);
}

/* The reductions that rows are normalized by: a kernel each, a launch for all. */
static void totals_of_work_groups(void **state)
{
    (void)state;
    struct test_graph *g = new_graph(5);
    add(g, "sum", "total", 32, 0, 1);
    struct fuser_arg args[] = {test_arg_buffer(0), test_arg_buffer(1), test_arg_buffer(2)};
    test_kernel(g, "subtract", "minus", test_range(N, 32), args, 3);
    add(g, "again", "total", 32, 2, 3);
    add(g, "turn", "swap", 32, 2, 4);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "sum subtract again turn");
    check_right(g, plan);
    finish(g, plan);
}

/* Work-items that go over a row in whole steps come to numbers of their own; over one of another length not all do. */
static void rows_that_work_items_share(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second;
        int64_t row;
        int barriers; /* -1: they are not one launch */
    } cases[] = {{"row", "row", ROW, 0},     {"row", "row", 100, 1},       {"row", "turned", ROW, 1},
                 {"turned", "row", ROW, 0},  {"turned", "turned", 99, 1},  {"row", "beyond", ROW, -1},
                 {"row", "crowded", ROW, 1}, {"row", "row_total", ROW, 0}, {"row_total", "row", ROW, -1}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct test_graph *g = rows(cases[i].first, cases[i].second, cases[i].row);
        struct fuser_plan *plan = check_planned(g);
        check_launches(g, plan, cases[i].barriers < 0 ? "earlier|later" : "earlier later");
        assert_int_equal(count_barriers(plan), cases[i].barriers < 0 ? 0 : cases[i].barriers);
        check_right(g, plan);
        const int64_t other[] = {cases[i].row - 5};
        check_same_with(g, plan, other);
        finish(g, plan);
    }
}

static void check_no_values(const struct fuser_plan *plan)
{
    for (uint32_t i = 0; i < plan->launches[0].n_params; i++)
        assert_int_equal(plan->launches[0].params[i].kind, FUSER_PARAM_BUFFER);
}

/* Total, difference, total, each with a row's length of its own: a launch with two barriers, and what only it uses is
   in work-group memory. */
static void rows_are_normalized(void **state)
{
    (void)state;
    struct test_graph *g = test_graph_new(kernels);
    static const char *const names[] = {"x", "sum", "d", "o"};
    const struct fuser_props inside = {.internal_memory = true, .no_init = true};
    for (unsigned i = 0; i < 4; i++)
        test_buffer(g, names[i], IR_I32, i == 1 ? N / LOCAL : ALL, i == 1 || i == 2 ? inside : (struct fuser_props){0});
    g->graph.buffers[1].props.no_init = false; /* each group writes its sum */
    for (unsigned i = 0; i < 3; i++) test_value(g, 4);
    for (unsigned i = 0; i < 3; i++) g->graph.values[i] = (struct fuser_value){.size = 4, .alike = 1, .number = ROW};
    struct fuser_arg total[] = {test_arg_buffer(0), test_arg_buffer(1), test_arg_value(0)};
    struct fuser_arg minus[] = {test_arg_buffer(0), test_arg_buffer(1), test_arg_buffer(2), test_arg_value(1)};
    struct fuser_arg turned[] = {test_arg_buffer(2), test_arg_buffer(3), test_arg_value(2)};
    test_kernel(g, "total", "row_total", test_range(N, LOCAL), total, 3);
    test_kernel(g, "minus", "row_minus", test_range(N, LOCAL), minus, 4);
    test_kernel(g, "turn", "turned", test_range(N, LOCAL), turned, 3);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "total minus turn");
    assert_int_equal(count_barriers(plan), 2);
    check_remark(plan, "conditional", "total", "", "n of total is 128");
    check_internalized(g, plan, "sum d");
    assert_int_equal(plan->storage[2], FUSER_STORAGE_LOCAL);
    check_no_values(plan); /* four rounds of a group: in the code */
    check_right(g, plan);
    const int64_t other[] = {ROW, ROW - 1, ROW};
    check_same_with(g, plan, other);
    finish(g, plan);
}

/* What one work-item of each group writes for all of it needs no no_init; what it may not write does. */
static void one_result_of_each_group(void **state)
{
    (void)state;
    static const struct {
        const char *kernel, *internalized;
    } cases[] = {
        {"total", "b"}, {"total_of_last", "b"}, {"total_of_some", ""}, {"total_perhaps", ""}, {"total_of_none", ""}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct test_graph *g = new_graph(3);
        g->graph.buffers[1].props.internal_memory = true;
        add(g, "sum", cases[i].kernel, 32, 0, 1);
        struct fuser_arg args[] = {test_arg_buffer(0), test_arg_buffer(1), test_arg_buffer(2)};
        test_kernel(g, "minus", "minus", test_range(N, 32), args, 3);
        struct fuser_plan *plan = check_planned(g);
        check_launches(g, plan, "sum minus");
        check_internalized(g, plan, cases[i].internalized);
        check_same(g, plan);
        finish(g, plan);
    }
}

static void what_the_options_say(void **state)
{
    (void)state;
    struct test_graph *g = pair("scale", "swap", 32);
    g->options.barriers = FUSER_BARRIERS_NONE;
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "earlier|later");
    check_remark(plan, "not_fused_race", "later", "b", "insert_barriers would order it");
    fuser_plan_free(plan);
    g->options.insert_barriers = true; /* is what somebody asked for */
    plan = check_planned(g);
    check_launches(g, plan, "earlier later");
    fuser_plan_free(plan);

    g->options = (struct fuser_options){.mode = FUSER_MODE_REQUIRE, .device = g->options.device};
    check_fails(g, FUSER_KERNEL_NOT_SUPPORTED, "node later", "cannot run as one kernel");
    g->options.barriers = FUSER_BARRIERS_NEEDED;
    plan = check_planned(g);
    check_launches(g, plan, "earlier later");
    check_right(g, plan);
    finish(g, plan);
}

/* What is asserted of a buffer needs no barrier, but nothing is asserted by require_fusion where one does it. */
static void proofs_come_before_promises(void **state)
{
    (void)state;
    struct test_graph *g = pair("total", "swap", 32);
    g->options.mode = FUSER_MODE_REQUIRE;
    struct fuser_plan *plan = check_planned(g);
    check_remark(plan, "vouched_by_require", "later", "b", "");
    assert_int_equal(count_barriers(plan), 0);
    finish(g, plan);

    g = new_graph(3);
    add(g, "earlier", "total", 32, 0, 1);
    struct fuser_arg args[] = {test_arg_buffer(0), test_arg_buffer(1), test_arg_buffer(2)};
    test_kernel(g, "later", "minus", test_range(N, 32), args, 3);
    g->options.mode = FUSER_MODE_REQUIRE;
    g->options.barriers = FUSER_BARRIERS_NEEDED;
    plan = check_planned(g);
    check_remark(plan, "barrier_inserted", "later", "b", "");
    check_no_remark(plan, "vouched_by_require");
    check_right(g, plan);
    finish(g, plan);
}

/* In short rows each work-group leaves most of a vector empty, unless it does so anyway. */
static void short_rows_do_not_pay(void **state)
{
    (void)state;
    struct test_graph *g = pair("scale", "swap", 8);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "earlier|later");
    check_remark(plan, "not_fused_barrier", "later", "b", "rows are 8 work-items");
    fuser_plan_free(plan);
    g->options.barriers = FUSER_BARRIERS_NEEDED;
    plan = check_planned(g);
    check_launches(g, plan, "earlier later");
    check_right(g, plan);
    finish(g, plan);
}

/* Behind a barrier the work-groups stay what they are. */
static void work_groups_stay(void **state)
{
    (void)state;
    struct test_graph *g = new_graph(5);
    add(g, "k1", "scale", 32, 0, 1);
    add(g, "k2", "swap", 32, 1, 2);
    add(g, "k3", "total", 64, 2, 3); /* needs its own */
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "k1 k2|k3");
    check_remark(plan, "not_fused_local_size", "k3", "", "");
    check_right(g, plan);
    finish(g, plan);

    g = new_graph(5);
    add(g, "k1", "scale", 64, 0, 1); /* takes any */
    add(g, "k2", "swap", 32, 1, 2);
    add(g, "k3", "scale", 128, 2, 3);
    plan = check_planned(g);
    check_launches(g, plan, "k1 k2 k3");
    assert_int_equal(plan->launches[0].range.local[0], 32);
    check_right(g, plan);
    finish(g, plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_put_where_it_orders),
        cmocka_unit_test(none_is_put_where_none_is_needed),
        cmocka_unit_test(none_is_put_where_it_is_not_enough),
        cmocka_unit_test(one_orders_all_before_it),
        cmocka_unit_test(totals_of_work_groups),
        cmocka_unit_test(rows_that_work_items_share),
        cmocka_unit_test(rows_are_normalized),
        cmocka_unit_test(one_result_of_each_group),
        cmocka_unit_test(what_the_options_say),
        cmocka_unit_test(proofs_come_before_promises),
        cmocka_unit_test(short_rows_do_not_pay),
        cmocka_unit_test(work_groups_stay),
    };
    return cmocka_run_group_tests_name("plan_barriers", tests, NULL, NULL);
}
