/* Pipes between kernels that become one: which lose their packets to registers, and what stands in the way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/plan_check.h"
#include "tests/support/plan_run.h"

static const char pipes[] = "pipe @p: packet i32 capacity 8\n"
                            "pipe @q: packet i32 capacity 8\n"
                            "pipe @in: packet i32 capacity 8 host_access \"in\"\n"
                            "pipe @out: packet i32 capacity 8 host_access \"out\"\n";

#define PUT "    pipe_write_wait i32 %p, %w\n"
#define PUT_Q "    pipe_write_wait i32 %q, %w\n"
#define TAKE "    pipe_read_wait i32 %p, %w\n"
#define TAKE_Q "    pipe_read_wait i32 %q, %w\n"
#define NUMBER "    store i32 %w, %i\n"
#define LOAD "    %v = load i32 %x[%i]\n    store i32 %w, %v\n"
#define KEEP "    %v = load i32 %w\n    store i32 %x[%i], %v\n"

/* What a round of each kernel's loop does. */
static const struct {
    const char *name, *round;
} loops[] = {
    {"put", NUMBER PUT},
    {"put_q", NUMBER PUT_Q},
    {"take", TAKE KEEP},
    {"pass", TAKE PUT_Q},
    {"take_q", TAKE_Q KEEP},
    {"put_some", LOAD "    %is = sgt i32 %v, 0\n    if %is {\n" PUT "    }\n"},
    {"put_pairs", NUMBER PUT PUT},
    {"put_inside", NUMBER "    loop (%k: i32 = 0) {\n    %all = sge i32 %k, %i\n    if %all { break }\n" PUT
                          "    %more = add i32 %k, 1\n    continue %more\n    }\n"},
    {"try", NUMBER "    %done = pipe_write i32 %p, %w\n"},
    {"put_two", NUMBER PUT PUT_Q},
    {"take_two", TAKE TAKE_Q},
    {"put_read", LOAD PUT},
    {"put_until", LOAD "    %is = slt i32 %v, 0\n    if %is { break }\n" PUT},
    {"reserve", "    %id = pipe_reserve_write %p, 1\n    pipe_commit_write %p, %id\n"},
    {"from_host", "    pipe_read_wait i32 %in, %w\n" PUT},
    {"to_host", TAKE "    pipe_write_wait i32 %out, %w\n"},
};

#define TRY_PUT "    %put = pipe_write i32 %p, %w\n"
#define TRY_TAKE "    %took = pipe_read i32 %p, %w\n    %v = load i32 %w\n    %u = select i32 %took, %v, 77\n"
#define IF_LESS "    %in = slt i32 %i, %n\n    if %in {\n"

/* What each work-item of others does. */
static const struct {
    const char *name, *item;
} each[] = {
    {"each_puts", LOAD TRY_PUT},
    {"each_takes", TRY_TAKE "    store i32 %x[%i], %u\n"},
    {"some_put", LOAD IF_LESS TRY_PUT "    }\n"},
    {"some_take", IF_LESS TRY_TAKE "    store i32 %x[%i], %u\n    }\n"},
    {"others_take", "    %in = sge i32 %i, %n\n    if %in {\n" TRY_TAKE "    store i32 %x[%i], %u\n    }\n"},
    {"data_puts", LOAD "    %in = sgt i32 %v, 0\n    if %in {\n" TRY_PUT "    }\n"},
    {"each_puts_two",
     LOAD TRY_PUT "    %more = add i32 %v, 5\n    store i32 %w, %more\n    %again = pipe_write i32 %p, %w\n"},
    {"each_takes_two", TRY_TAKE "    %again = pipe_read i32 %p, %w\n    %a = load i32 %w\n    %b = mul i32 %a, 3\n"
                                "    %sum = add i32 %b, %u\n    store i32 %x[%i], %sum\n"},
    {"each_puts_wait", LOAD PUT},
    {"each_takes_wait", TAKE KEEP},
};

/* The pipes that a round uses. */
static const char *handles(const char *round)
{
    static const char *const names[] = {"p", "q", "in", "out"};
    static char text[128];
    char use[8];
    size_t n = 0;
    for (unsigned i = 0; i < 4; i++) {
        snprintf(use, sizeof use, " %%%s,", names[i]);
        if (strstr(round, use))
            n += (size_t)snprintf(text + n, sizeof text - n, "  %%%s = global @%s\n", names[i], names[i]);
    }
    return text;
}

/* The module of all of them. */
static const char *text(void)
{
    static char all[1 << 14];
    size_t n = (size_t)snprintf(all, sizeof all, "%s", pipes);
    for (unsigned i = 0; i < sizeof loops / sizeof *loops; i++)
        n += (size_t)snprintf(all + n, sizeof all - n,
                              "kernel @%s(%%n: i32, %%x: ptr.global i32) {\n"
                              "%s"
                              "  %%w = var i32\n  loop (%%i: i32 = 0) {\n    %%end = sge i32 %%i, %%n\n"
                              "    if %%end { break }\n%s    %%next = add i32 %%i, 1\n    continue %%next\n  }\n}\n",
                              loops[i].name, handles(loops[i].round), loops[i].round);
    for (unsigned i = 0; i < sizeof each / sizeof *each; i++)
        n += (size_t)snprintf(all + n, sizeof all - n,
                              "kernel @%s(%%n: i32, %%x: ptr.global i32) {\n%s  %%w = var i32\n  %%id = global_id x\n"
                              "  %%i = trunc i32 %%id\n%s}\n",
                              each[i].name, handles(each[i].item), each[i].item);
    assert_true(n < sizeof all);
    return all;
}

struct given {
    const char *kernel;
    unsigned buffer; /* which of two, x or o */
};

/* A graph of these kernels, each over so many work-items and with a number of its own. */
static struct test_graph *graph_of(const struct given *kernels, uint64_t items)
{
    struct test_graph *g = test_graph_new(text());
    uint32_t buffers[] = {test_buffer(g, "x", IR_I32, 64, (struct fuser_props){0}),
                          test_buffer(g, "o", IR_I32, 64, (struct fuser_props){0})};
    for (; kernels->kernel; kernels++) {
        struct fuser_arg args[] = {test_arg_value(test_value(g, 4)), test_arg_buffer(buffers[kernels->buffer])};
        test_kernel(g, kernels->kernel, kernels->kernel, test_range(items, 0), args, 2);
    }
    return g;
}

/* All are given one number. */
static struct test_graph *items_of(const struct given *kernels, uint64_t n)
{
    struct test_graph *g = graph_of(kernels, n);
    for (uint32_t i = 0; i < g->graph.n_nodes; i++) g->graph.nodes[i].args[0].index = 0;
    return g;
}

static void expect_in(struct test_graph *g, const char *launches, const char *code, const char *node,
                      const char *buffer, const char *reason)
{
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, launches);
    check_remark(plan, code, node, buffer, reason);
    fuser_plan_free(plan);
    test_graph_free(g);
}

#define KERNELS(...) ((const struct given[]){__VA_ARGS__, {NULL, 0}})

static void streams(void **state)
{
    (void)state;
    expect_in(graph_of(KERNELS({"put", 0}, {"take", 1}), 1), "put take", "pipe_in_registers", "take", "@p", "put");
    expect_in(graph_of(KERNELS({"put_some", 0}, {"take", 1}), 1), "put_some take", "pipe_in_registers", "take", "@p",
              "");
    expect_in(graph_of(KERNELS({"put", 0}, {"pass", 0}, {"take_q", 1}), 1), "put pass take_q", "pipe_in_registers",
              "take_q", "@q", "pass");
    expect_in(graph_of(KERNELS({"put", 0}, {"put_q", 0}, {"take_two", 1}), 1), "put|put_q take_two",
              "pipe_in_registers", "take_two", "@q", "put_q");
}

static void in_the_way(void **state)
{
    (void)state;
    static const struct {
        struct given kernels[4];
        uint64_t items;
        const char *launches, *node, *reason;
    } cases[] = {
        {{{"put_pairs", 0}, {"take", 1}}, 1, "put_pairs|take", "take", "puts packets in several places, lines"},
        {{{"put_inside", 0}, {"take", 1}}, 1, "put_inside|take", "take", "in a loop inside of another one"},
        {{{"put_until", 0}, {"take", 1}}, 1, "put_until|take", "take", "is left in several places"},
        {{{"try", 0}, {"take", 1}}, 1, "try|take", "take", "does not wait for room"},
        {{{"put", 0}, {"take", 1}}, 4, "put|take", "take", "by more than one work-item"},
        {{{"put", 0}, {"put_read", 0}, {"take", 1}}, 1, "put|put_read|take", "take", "3 kernels of the graph use it"},
        {{{"take", 1}, {"put", 0}}, 1, "take|put", "put", "comes before who puts them"},
        {{{"put_read", 0}, {"take", 0}}, 1, "put_read|take", "take", "depends on put_read otherwise, too"},
        {{{"put_two", 0}, {"take_two", 1}}, 1, "put_two|take_two", "take_two", "two pipes connect them"},
        {{{"reserve", 0}, {"take", 1}}, 1, "reserve|take", "take", "more with it in line"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_in(graph_of(cases[i].kernels, cases[i].items), cases[i].launches, "not_fused_pipe", cases[i].node, "@p",
                  cases[i].reason);
}

/* The program may put packets in only when others have come out: then it needs the room between the kernels. */
static void room(void **state)
{
    (void)state;
    const struct given *kernels = KERNELS({"from_host", 0}, {"to_host", 1});
    expect_in(graph_of(kernels, 1), "from_host|to_host", "not_fused_pipe", "to_host", "@p", "may need the room in it");
    struct test_graph *g = graph_of(kernels, 1);
    g->options.mode = FUSER_MODE_REQUIRE;
    expect_in(g, "from_host to_host", "vouched_by_require", "to_host", "@p", "needs the room");
    expect_in(graph_of(KERNELS({"from_host", 0}, {"take", 1}), 1), "from_host take", "pipe_in_registers", "take", "@p",
              "from_host");
}

/* A packet that another one than the reader of this launch may take is no reason to fuse under require_fusion either.
 */
static void required(void **state)
{
    (void)state;
    struct test_graph *g = graph_of(KERNELS({"put_pairs", 0}, {"take", 1}), 1);
    g->options.mode = FUSER_MODE_REQUIRE;
    check_fails(g, FUSER_KERNEL_NOT_SUPPORTED, "take", "packets stay in pipe @p");
    test_graph_free(g);
    g = items_of(KERNELS({"some_put", 0}, {"each_takes", 1}), 4);
    g->options.mode = FUSER_MODE_REQUIRE;
    expect_in(g, "some_put each_takes", "vouched_by_require", "each_takes", "@p", "packets stay in the pipe");
}

/* ---- several work-items ---- */

static void check_like_unfused(struct test_graph *g, const struct fuser_plan *plan)
{
    char why[400];
    struct graph_memory memory[2];
    g->options.mode = FUSER_MODE_NONE;
    struct fuser_plan *apart = check_planned(g);
    for (unsigned i = 0; i < 2; i++) {
        memory[i] = graph_memory_new(&g->graph, 3);
        if (!run_plan(&g->graph, i ? apart : plan, &memory[i], why, sizeof why)) fail_msg("%s", why);
    }
    assert_memory_equal(memory[0].buffers[1], memory[1].buffers[1], 64 * sizeof(int));
    graph_memory_free(&memory[0]);
    graph_memory_free(&memory[1]);
    fuser_plan_free(apart);
}

static void item_by_item(void **state)
{
    (void)state;
    static const struct given cases[][3] = {{{"each_puts", 0}, {"each_takes", 1}},
                                            {{"some_put", 0}, {"some_take", 1}},
                                            {{"each_puts_two", 0}, {"each_takes_two", 1}}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct test_graph *g = items_of(cases[i], 4);
        struct fuser_plan *plan = check_planned(g);
        assert_int_equal(plan->n_launches, 1);
        assert_int_equal(plan->launches[0].n_spares, 2);
        check_remark(plan, "pipe_in_registers", cases[i][1].kernel, "@p", cases[i][0].kernel);
        check_remark(plan, "conditional", "", "", "pipe @p is empty");
        for (uint32_t k = 0; k < plan->launches[0].n_params; k++)
            assert_true(plan->launches[0].params[k].kind != FUSER_PARAM_PROGRAM_VARIABLE);
        check_like_unfused(g, plan);
        fuser_plan_free(plan);
        test_graph_free(g);
    }
}

/* Those that wait need no room; where it is not empty, they run at the same time. */
static void waiting_items(void **state)
{
    (void)state;
    struct test_graph *g = items_of(KERNELS({"each_puts_wait", 0}, {"each_takes_wait", 1}), 64);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "each_puts_wait each_takes_wait");
    assert_int_equal(plan->launches[0].n_spares, 2);
    assert_false(plan->spares[0].together);
    assert_true(plan->spares[1].together);
    fuser_plan_free(plan);
    test_graph_free(g);
}

static void items_in_the_way(void **state)
{
    (void)state;
    static const struct {
        struct given kernels[3];
        uint64_t items;
        const char *launches, *reason;
    } cases[] = {
        {{{"each_puts", 0}, {"each_takes", 1}}, 64, "each_puts|each_takes", "64 packets may be put and 8 fit"},
        {{{"each_puts_two", 0}, {"each_takes", 1}},
         4,
         "each_puts_two|each_takes",
         "puts 2 packets, and each_takes takes 1"},
        {{{"some_put", 0}, {"each_takes", 1}}, 4, "some_put|each_takes", "and only then, is not proved"},
        {{{"each_puts", 0}, {"some_take", 1}}, 4, "each_puts|some_take", "and only then, is not proved"},
        {{{"some_put", 0}, {"others_take", 1}}, 4, "some_put|others_take", "and only then, is not proved"},
        {{{"data_puts", 0}, {"some_take", 1}}, 4, "data_puts|some_take", "and only then, is not proved"},
        {{{"each_puts_wait", 0}, {"each_takes_wait", 0}}, 64, "each_puts_wait|each_takes_wait", "8 fit"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_in(items_of(cases[i].kernels, cases[i].items), cases[i].launches, "not_fused_pipe",
                  cases[i].kernels[1].kernel, "@p", cases[i].reason);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(item_by_item),     cmocka_unit_test(waiting_items),
                                       cmocka_unit_test(items_in_the_way), cmocka_unit_test(streams),
                                       cmocka_unit_test(in_the_way),       cmocka_unit_test(room),
                                       cmocka_unit_test(required)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
