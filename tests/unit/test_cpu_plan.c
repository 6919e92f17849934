/* Random graphs, planned and compiled: fused kernels with buffers in registers, in arrays and in work-group memory,
   over mixed ND-ranges, leave in memory what the graph's kernels leave one by one in the interpreter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/text/print/print.h"
#include "tests/support/cases.h"
#include "tests/support/compiled.h"
#include "tests/support/plan_check.h"
#include "tests/support/plan_run.h"
#include "tests/support/random_graph.h"

struct count {
    unsigned kernels, launches, private, local;
};

static bool run_compiled(const struct fuser_launch *launch, const struct nd_range *range, const struct interp_arg *args,
                         void *data)
{
    enum cpu_isa isas[CPU_ISA_COUNT];
    struct count *count = data;
    struct compiled c;
    unsigned n = compiled_isas(isas);
    if (!compiled_make(&c, launch->kernel, isas[count->kernels++ % n], false)) return false;
    compiled_run(&c, launch->kernel, range, args, 1, 0);
    compiled_clear(&c);
    return true;
}

static void check_graph(struct test_graph *g, unsigned seed, struct count *count)
{
    struct fuser_plan *plan = check_planned(g);
    struct graph_memory a = graph_memory_new(&g->graph, seed), b = graph_memory_new(&g->graph, seed);
    char why[600];
    if (!run_graph(&g->graph, &a, why, sizeof why) ||
        !run_plan_by(&g->graph, plan, &b, run_compiled, count, why, sizeof why) ||
        !same_memory(plan, &a, &b, why, sizeof why))
        fail_msg("seed %u: %s\n%s", seed, why, ir_print_function(plan->launches[0].kernel));
    for (uint32_t i = 0; i < g->graph.n_buffers; i++) {
        count->private += plan->storage[i] == FUSER_STORAGE_PRIVATE;
        count->local += plan->storage[i] == FUSER_STORAGE_LOCAL;
    }
    graph_memory_free(&a);
    graph_memory_free(&b);
    count->launches += plan->n_launches;
    fuser_plan_free(plan);
    test_graph_free(g);
}

static void check(unsigned seed, struct count *count)
{
    struct random_graph_knobs knobs = random_graph_knobs(seed);
    knobs.least_nodes = knobs.most_nodes = 6;
    knobs.commands = 0;
    knobs.properties = 100;
    knobs.barriers = seed % 2;
    check_graph(random_graph_new(seed, &knobs), seed, count);
}

static void compiled_plans_compute_the_same(void **state)
{
    (void)state;
    struct count count = {0};
    for (unsigned seed = 0; seed < test_cases(40); seed++) check(seed, &count);
    print_message("# %u kernels, %u buffers in registers, %u in work-group memory\n", count.kernels, count.private,
                  count.local);
    assert_true(count.private > 0 && count.local > 0);
}

/* Whole work-groups behind a guard meet at barriers there, work-group memory of several kernels beside each other. */
static void barriers_behind_guards(void **state)
{
    (void)state;
    static const char text[] =
        "kernel @turn(%a: ptr.global i32, %m: ptr.local i32, %o: ptr.global i32) {\n"
        "    %i = global_id x\n    %l = local_id x\n    %x = load i32 %a[%i]\n    store i32 %m[%l], %x\n"
        "    barrier local\n    %s = local_size x\n    %k = sub i64 %s, 1\n    %j = sub i64 %k, %l\n"
        "    %y = load i32 %m[%j]\n    %n = num_groups x\n    %t = trunc i32 %n\n"
        "    %g = group_reduce i32 %y, work_group, add\n    %z = mul i32 %g, %t\n    %w = add i32 %z, %y\n"
        "    store i32 %o[%i], %w\n}\n";
    for (unsigned order = 0; order < 2; order++) {
        struct test_graph *g = test_graph_new(text);
        struct count count = {0};
        for (unsigned k = 0; k < 2; k++) {
            struct fuser_arg args[3] = {[1] = test_arg_local(64)};
            args[0] = test_arg_buffer(test_buffer(g, k ? "a" : "b", IR_I32, 128, (struct fuser_props){0}));
            args[2] = test_arg_buffer(test_buffer(g, k ? "o" : "p", IR_I32, 128, (struct fuser_props){0}));
            test_kernel(g, k ? "two" : "one", "turn", test_range(k == order ? 128 : 48, 16), args, 3);
        }
        check_graph(g, order, &count);
        assert_int_equal(count.launches, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiled_plans_compute_the_same),
        cmocka_unit_test(barriers_behind_guards),
    };
    return cmocka_run_group_tests_name("cpu_plan", tests, NULL, NULL);
}
