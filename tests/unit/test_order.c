/* The linear order: a function of the graph alone, with copies and host tasks out of the way; and cycles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/graph_make.h"
#include "tests/support/rng.h"

static const char kernels[] = "kernel @inc(%a: ptr.global i32) {\n"
                              "    %i = global_id x\n"
                              "    %x = load i32 %a[%i]\n"
                              "    %s = add i32 %x, 1\n"
                              "    store i32 %a[%i], %s\n"
                              "}\n"
                              "kernel @move(%a: ptr.global i32, %o: ptr.global i32) {\n"
                              "    %i = global_id x\n"
                              "    %x = load i32 %a[%i]\n"
                              "    store i32 %o[%i], %x\n"
                              "}\n";

/* A graph of nodes and explicit dependences alone. */
struct recipe {
    const char *names; /* one letter each; capitals are host tasks */
    const char *deps;  /* "ba ca": b after a, c after a */
    const char *order;
};

static uint32_t index_of(const struct test_graph *g, char name)
{
    for (uint32_t i = 0; i < g->graph.n_nodes; i++)
        if (g->graph.nodes[i].name[0] == name) return i;
    fail_msg("no node %c", name);
    return 0;
}

/* The recipe's nodes recorded in the sequence given. */
static struct test_graph *make(const struct recipe *r, const char *sequence)
{
    struct test_graph *g = test_graph_new(kernels);
    for (const char *c = sequence; *c; c++) {
        char name[2] = {*c};
        uint32_t b = test_buffer(g, name, IR_I32, 16, (struct fuser_props){0});
        struct fuser_arg arg = test_arg_buffer(b);
        if (*c >= 'a') {
            test_kernel(g, name, "inc", test_range(*c >= 'p' ? 8 : 16, 0), &arg, 1);
        } else {
            test_host(g, name, &arg, 1);
        }
    }
    for (const char *d = r->deps; *d; d += d[2] ? 3 : 2) test_depends(g, index_of(g, d[0]), index_of(g, d[1]));
    return g;
}

static struct fuser_plan *planned(struct test_graph *g)
{
    struct error error;
    struct fuser_plan *plan = fuser_plan_new(&g->graph, &g->options, &error);
    if (!plan) fail_msg("%s: %s", error.object, error.reason);
    return plan;
}

static void check_order(const struct recipe *r, const char *sequence)
{
    struct test_graph *g = make(r, sequence);
    struct fuser_plan *plan = planned(g);
    char order[64] = "";
    for (uint32_t i = 0; i < plan->n_order; i++) order[i] = g->graph.nodes[plan->order[i]].name[0];
    assert_string_equal(order, r->order);
    fuser_plan_free(plan);
    test_graph_free(g);
}

static const struct recipe recipes[] = {
    {"cab", "", "abc"},
    {"abcd", "ba ca db dc", "abcd"},     /* diamond */
    {"abcd", "ac bd", "cdab"},           /* by depth, then name */
    {"aAbB", "bA", "ABab"},              /* what can go first does */
    {"aAbB", "Aa BA", "abAB"},           /* what can go last does */
    {"abAcd", "Aa cA", "abdAc"},         /* c must wait; b and d need not */
    {"aApbq", "Aa", "abpqA"},            /* p and q have another ND-range: each range in one go */
    {"apbqcr", "ba cb qp rq", "abcpqr"}, /* two chains */
    {"ABC", "AB", "BCA"},
};

static void shuffle(char *s, struct rng *rng)
{
    for (uint32_t n = (uint32_t)strlen(s); n > 1; n--) {
        uint32_t k = rng_below(rng, n);
        char c = s[n - 1];
        s[n - 1] = s[k];
        s[k] = c;
    }
}

static void the_rule_whatever_the_recording(void **state)
{
    (void)state;
    struct rng rng = {1};
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        for (int k = 0; k < 20; k++) {
            char sequence[32];
            snprintf(sequence, sizeof sequence, "%s", recipes[i].names);
            if (k) shuffle(sequence, &rng);
            check_order(&recipes[i], sequence);
        }
}

/* Edges from accesses: of each buffer the sequence counts, of unrelated nodes not. */
static void order_from_accesses(void **state)
{
    (void)state;
    static const char *const recorded[] = {"abcd", "cdab", "acbd", "cabd"};
    for (int k = 0; k < 4; k++) {
        struct test_graph *g = test_graph_new(kernels);
        for (char b = 'p'; b < 's'; b++) test_buffer(g, (char[]){b, 0}, IR_I32, 16, (struct fuser_props){0});
        struct fuser_arg one[] = {test_arg_buffer(0)}, other[] = {test_arg_buffer(1), test_arg_buffer(2)};
        for (const char *c = recorded[k]; *c; c++) /* a then b on buffer 0; c then d, b reads after, on 1 and 2 */
            test_kernel(g, (char[]){*c, 0}, *c < 'c' ? "inc" : "move", test_range(16, 0), *c < 'c' ? one : other,
                        *c < 'c' ? 1 : 2);
        struct fuser_plan *plan = planned(g);
        char order[8] = "";
        for (uint32_t i = 0; i < 4; i++) order[i] = g->graph.nodes[plan->order[i]].name[0];
        assert_string_equal(order, "acbd");
        fuser_plan_free(plan);
        test_graph_free(g);
    }
}

static void pieces_that_do_not_overlap_make_no_edge(void **state)
{
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        struct test_graph *g = test_graph_new(kernels);
        uint32_t b = test_buffer(g, "b", IR_I32, 64, (struct fuser_props){0});
        struct fuser_arg low = test_arg_buffer(b), high = test_arg_buffer(b);
        low.bytes = 64;
        high.offset = apart ? 64 : 60;
        high.bytes = 64;
        test_kernel(g, "z", "inc", test_range(16, 0), &low, 1);
        test_kernel(g, "a", "inc", test_range(16, 0), &high, 1);
        struct fuser_plan *plan = planned(g);
        assert_string_equal(g->graph.nodes[plan->order[0]].name, apart ? "a" : "z");
        fuser_plan_free(plan);
        test_graph_free(g);
    }
}

static void expect_cycle(const struct recipe *r, const char *text)
{
    struct test_graph *g = make(r, r->names);
    struct error error;
    assert_null(fuser_plan_new(&g->graph, &g->options, &error));
    assert_int_equal(error.code, FUSER_INVALID);
    if (!strstr(error.reason, text)) fail_msg("%s", error.reason);
    test_graph_free(g);
}

static void cycles_are_named(void **state)
{
    (void)state;
    expect_cycle(&(struct recipe){.names = "a", .deps = "aa"}, "a cycle of 1 nodes: a -> a");
    expect_cycle(&(struct recipe){.names = "ba", .deps = "ab ba"}, "a cycle of 2 nodes: a -> b -> a");
    expect_cycle(&(struct recipe){.names = "xcbaz", .deps = "ba cb ac xz zc"}, "a cycle of 3 nodes: a -> b -> c -> a");
}

/* A dependence on a later node against an edge from accesses. */
static void accesses_and_dependences_can_form_a_cycle(void **state)
{
    (void)state;
    struct test_graph *g = test_graph_new(kernels);
    struct fuser_arg arg = test_arg_buffer(test_buffer(g, "b", IR_I32, 16, (struct fuser_props){0}));
    test_kernel(g, "a", "inc", test_range(16, 0), &arg, 1);
    test_kernel(g, "b", "inc", test_range(16, 0), &arg, 1);
    test_depends(g, 0, 1);
    struct error error;
    assert_null(fuser_plan_new(&g->graph, &g->options, &error));
    assert_non_null(strstr(error.reason, "a -> b -> a"));
    test_graph_free(g);
}

static double seconds_to_plan(uint32_t n)
{
    struct test_graph *g = test_graph_new(kernels);
    struct nd_range range = test_range(16, 0);
    char name[16];
    uint32_t n_buffers = n / 10 + 2;
    struct rng rng = {3};
    for (uint32_t i = 0; i < n_buffers; i++) {
        snprintf(name, sizeof name, "b%u", i);
        test_buffer(g, name, IR_I32, 16, (struct fuser_props){0});
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t a = rng_below(&rng, n_buffers);
        struct fuser_arg args[] = {test_arg_buffer(a), test_arg_buffer((a + 1) % n_buffers)};
        snprintf(name, sizeof name, "n%u", i);
        test_kernel(g, name, "move", range, args, 2);
    }
    struct timespec start, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    struct fuser_plan *plan = planned(g);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    assert_int_equal(plan->n_order, n);
    fuser_plan_free(plan);
    test_graph_free(g);
    return (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
}

/* Far above what it takes, so that only the growth is tested, not the machine. */
static void large_graphs_are_planned_in_time(void **state)
{
    (void)state;
    double small = seconds_to_plan(1000), large = seconds_to_plan(10000);
    print_message("# 1000 nodes: %.0f ms, 10000 nodes: %.0f ms\n", small * 1e3, large * 1e3);
    assert_true(large < 60 * small + 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rule_whatever_the_recording),           cmocka_unit_test(order_from_accesses),
        cmocka_unit_test(pieces_that_do_not_overlap_make_no_edge),   cmocka_unit_test(cycles_are_named),
        cmocka_unit_test(accesses_and_dependences_can_form_a_cycle), cmocka_unit_test(large_graphs_are_planned_in_time),
    };
    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
