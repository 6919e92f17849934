/* Variables and pipes of programs in plans: order, groups, and what launches get. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/text/parse/parse.h"
#include "tests/support/plan_check.h"
#include "tests/support/plan_run.h"

enum { ITEMS = 64 };

static const char text[] = "global @table: [64 x i32]\n"
                           "global @sum: i32 = 5\n"
                           "pipe @queue: packet i32 capacity 64\n"
                           "func @slot(%i: i64) -> ptr.global {\n"
                           "    %t = global @table\n"
                           "    %at = elem i32 %t, %i\n"
                           "    return %at\n"
                           "}\n"
                           "kernel @remember(%x: ptr.global i32) {\n"
                           "    %i = global_id x\n"
                           "    %at = call @slot(%i)\n"
                           "    %v = load i32 %x[%i]\n"
                           "    store i32 %at, %v\n"
                           "}\n"
                           "kernel @scatter(%x: ptr.global i32) {\n"
                           "    %i = global_id x\n"
                           "    %v = load i32 %x[%i]\n"
                           "    %k = and i32 %v, 63\n"
                           "    %w = zext i64 %k\n"
                           "    %at = call @slot(%w)\n"
                           "    store i32 %at, %v\n"
                           "}\n"
                           "kernel @recall(%o: ptr.global i32) {\n"
                           "    %i = global_id x\n"
                           "    %at = call @slot(%i)\n"
                           "    %v = load i32 %at\n"
                           "    store i32 %o[%i], %v\n"
                           "}\n"
                           "kernel @reverse(%o: ptr.global i32) {\n"
                           "    %i = global_id x\n"
                           "    %r = sub i64 63, %i\n"
                           "    %at = call @slot(%r)\n"
                           "    %v = load i32 %at\n"
                           "    store i32 %o[%i], %v\n"
                           "}\n"
                           "kernel @count(%x: ptr.global i32) {\n"
                           "    %i = global_id x\n"
                           "    %v = load i32 %x[%i]\n"
                           "    %s = global @sum\n"
                           "    %old = atomic_add i32 %s, %v, device, relaxed\n"
                           "}\n"
                           "kernel @total(%o: ptr.global i32) {\n"
                           "    %i = global_id x\n"
                           "    %s = global @sum\n"
                           "    %v = load i32 %s\n"
                           "    store i32 %o[%i], %v\n"
                           "}\n"
                           "kernel @put(%x: ptr.global i32) {\n"
                           "    %i = global_id x\n"
                           "    %q = global @queue\n"
                           "    %at = elem i32 %x, %i\n"
                           "    %done = pipe_write i32 %q, %at\n"
                           "}\n"
                           "kernel @put_reserved(%x: ptr.global i32) {\n"
                           "    %i = global_id x\n"
                           "    %q = global @queue\n"
                           "    %at = elem i32 %x, %i\n"
                           "    %r = pipe_reserve_write %q, 1\n"
                           "    %done = pipe_write_at i32 %q, %at, %r, 0\n"
                           "    pipe_commit_write %q, %r\n"
                           "}\n"
                           "kernel @waiting(%o: ptr.global i32) {\n"
                           "    %i = global_id x\n"
                           "    %q = global @queue\n"
                           "    %n = pipe_num_packets %q\n"
                           "    store i32 %o[%i], %n\n"
                           "}\n"
                           "kernel @plain(%o: ptr.global i32) {\n"
                           "    %i = global_id x\n"
                           "    store i32 %o[%i], 7\n"
                           "}\n"
                           "kernel @lots() { %g = global @vast; %v = load i8 %g }\n"
                           "global @vast: [1073741825 x i8]\n"
                           "kernel @follow() { %w = global @way; %v = load ptr.global %w }\n"
                           "global @way: ptr.global = @sum\n";

struct made {
    struct test_graph *g;
    uint32_t x, o;
};

static void add(struct made *m, const char *kernel, uint32_t buffer)
{
    struct fuser_arg arg = test_arg_buffer(buffer);
    test_kernel(m->g, kernel, kernel, test_range(ITEMS, 0), &arg, 1);
}

/* One kernel on buffer x, another on buffer o. */
static struct made pair(const char *first, const char *second)
{
    struct made m = {.g = test_graph_new(text)};
    m.x = test_buffer(m.g, "x", IR_I32, ITEMS, (struct fuser_props){0});
    m.o = test_buffer(m.g, "o", IR_I32, ITEMS, (struct fuser_props){0});
    add(&m, first, m.x);
    add(&m, second, m.o);
    return m;
}

static uint32_t state_params(const struct fuser_launch *l, uint32_t *index)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->n_params; i++) {
        if (l->params[i].kind != FUSER_PARAM_PROGRAM_VARIABLE) continue;
        *index = l->params[i].index;
        n++;
    }
    return n;
}

/* Runs the plan on memory filled from one seed; gives that of buffer o, until the next call. */
static const int *outcome(const struct made *m, const struct fuser_plan *plan)
{
    static int result[ITEMS];
    char why[400];
    struct graph_memory memory = graph_memory_new(&m->g->graph, 7);
    if (!run_plan(&m->g->graph, plan, &memory, why, sizeof why)) fail_msg("%s", why);
    memcpy(result, memory.buffers[m->o], sizeof result);
    graph_memory_free(&memory);
    return result;
}

/* The fused plan does what kernels one by one do. */
static void check_like_unfused(const struct made *m, const struct fuser_plan *plan)
{
    int fused[ITEMS];
    memcpy(fused, outcome(m, plan), sizeof fused);
    m->g->options.mode = FUSER_MODE_NONE;
    struct fuser_plan *apart = check_planned(m->g);
    assert_memory_equal(fused, outcome(m, apart), sizeof fused);
    fuser_plan_free(apart);
}

static void one_launch(void **state)
{
    (void)state;
    struct made m = pair("remember", "recall");
    struct fuser_plan *plan = check_planned(m.g);
    uint32_t index = 9;
    check_launches(m.g, plan, "remember recall");
    assert_int_equal(plan->n_program_variables, 1);
    assert_ptr_equal(plan->program_variables[0].module, m.g->module);
    assert_string_equal(plan->program_variables[0].global->name, "table");
    assert_int_equal(state_params(&plan->launches[0], &index), 1);
    assert_int_equal(index, 0);
    check_like_unfused(&m, plan);
    fuser_plan_free(plan);
    test_graph_free(m.g);
}

/* What others wrote is read: two launches, in the order they were recorded in. */
static void kept_apart(void **state)
{
    (void)state;
    struct made m = pair("remember", "reverse");
    struct fuser_plan *plan = check_planned(m.g);
    check_launches(m.g, plan, "remember|reverse");
    check_remark(plan, "not_fused_race", "reverse", "@table", "@table");
    check_like_unfused(&m, plan);
    fuser_plan_free(plan);
    test_graph_free(m.g);
}

/* Users can say nothing of it. */
static void not_proved(void **state)
{
    (void)state;
    struct made m = pair("scatter", "recall");
    struct fuser_plan *plan = check_planned(m.g);
    check_launches(m.g, plan, "scatter|recall");
    check_remark(plan, "not_fused_dependence", "recall", "@table", "it is a program-scope variable");
    fuser_plan_free(plan);
    test_graph_free(m.g);
}

static void counted(void **state)
{
    (void)state;
    struct made m = pair("count", "total");
    struct fuser_plan *plan = check_planned(m.g);
    uint32_t first = 9, second = 9;
    check_launches(m.g, plan, "count|total");
    assert_int_equal(state_params(&plan->launches[0], &first), 1);
    assert_int_equal(state_params(&plan->launches[1], &second), 1);
    assert_int_equal(first, second);
    struct graph_memory memory = graph_memory_new(&m.g->graph, 7);
    int sum = 5;
    for (int i = 0; i < ITEMS; i++) sum += ((int *)memory.buffers[m.x])[i];
    graph_memory_free(&memory);
    assert_int_equal(outcome(&m, plan)[3], sum);
    fuser_plan_free(plan);
    test_graph_free(m.g);
}

/* Those that use nothing of the program join; what is different of it is no reason against. */
static void others_join(void **state)
{
    (void)state;
    struct made m = pair("count", "plain");
    struct fuser_plan *plan = check_planned(m.g);
    check_launches(m.g, plan, "count plain");
    fuser_plan_free(plan);
    test_graph_free(m.g);
    m = pair("remember", "total");
    plan = check_planned(m.g);
    check_launches(m.g, plan, "remember total");
    assert_int_equal(plan->n_program_variables, 2);
    fuser_plan_free(plan);
    test_graph_free(m.g);
}

/* Whoever looks at a pipe comes after those before it. */
static void pipes(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"put", "put|waiting"}, {"put_reserved", "put_reserved|waiting"}};
    for (unsigned i = 0; i < 2; i++) {
        struct made m = pair(cases[i][0], "waiting");
        struct fuser_plan *plan = check_planned(m.g);
        check_launches(m.g, plan, cases[i][1]);
        check_remark(plan, "not_fused_pipe", "waiting", "@queue", "put and take single packets");
        assert_int_equal(outcome(&m, plan)[0], ITEMS);
        fuser_plan_free(plan);
        test_graph_free(m.g);
    }
}

/* Variables of equal modules are different ones. */
static void modules(void **state)
{
    (void)state;
    struct made m = pair("remember", "recall");
    struct diag_list list = {0};
    struct ir_module *twin = ir_parse(text, strlen(text), "test.fk", &list);
    m.g->graph.nodes[1].kernel = ir_module_find(twin, "recall");
    struct fuser_plan *plan = check_planned(m.g);
    check_launches(m.g, plan, "recall remember");
    assert_int_equal(plan->n_program_variables, 2);
    assert_ptr_not_equal(plan->program_variables[0].module, plan->program_variables[1].module);
    for (int i = 0; i < ITEMS; i++) assert_int_equal(outcome(&m, plan)[i], 0);
    fuser_plan_free(plan);
    ir_module_free(twin);
    test_graph_free(m.g);
}

static void too_large(void **state)
{
    (void)state;
    struct made m = pair("plain", "total");
    test_kernel(m.g, "lots", "lots", test_range(1, 0), NULL, 0);
    check_fails(m.g, FUSER_KERNEL_NOT_SUPPORTED, "lots", "@vast of 1073741825 bytes");
    test_graph_free(m.g);
}

/* No memory that outlives a kernel holds addresses of the constants in it. */
static void holds_addresses(void **state)
{
    (void)state;
    struct made m = pair("plain", "total");
    test_kernel(m.g, "follow", "follow", test_range(1, 0), NULL, 0);
    check_fails(m.g, FUSER_KERNEL_NOT_SUPPORTED, "follow", "@way, whose initial value holds the address of @sum");
    test_graph_free(m.g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_launch),      cmocka_unit_test(kept_apart),  cmocka_unit_test(not_proved),
        cmocka_unit_test(counted),         cmocka_unit_test(others_join), cmocka_unit_test(pipes),
        cmocka_unit_test(holds_addresses), cmocka_unit_test(modules),     cmocka_unit_test(too_large),
    };
    return cmocka_run_group_tests_name("plan_program_scope", tests, NULL, NULL);
}
