/* Sub-groups in launches over other ND-ranges than the kernel's own: the same work-items in the same order, and what a
   kernel asks about them is what it would be alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "ir/text/print/print.h"
#include "tests/support/cases.h"
#include "tests/support/compiled.h"
#include "tests/support/plan_check.h"
#include "tests/support/plan_run.h"
#include "tests/support/rng.h"

/* @numbers tells all there is to know of a sub-group, @passes passes values around in it, @copies sees nothing of it.
 */
#define PUT(n, value) "    store i32 %p[" #n "], " value "\n"
static const char kernels[] =
    "kernel @numbers(%a: ptr.global i32, %o: ptr.global i32) sub_group_size(8) {\n"
    "    %i = global_linear_id\n    %r = shl i64 %i, 4\n    %p = elem i32 %o, %r\n"
    "    %s = sub_group_size\n    %m = sub_group_max_size\n    %n = num_sub_groups\n"
    "    %e = enqueued_num_sub_groups\n    %g = sub_group_id\n    %l = sub_group_local_id\n"
    "    %gx = group_id x\n    %x = trunc i32 %gx\n    %lx = local_linear_id\n    %k = trunc i32 %lx\n" //
    PUT(0, "%s") PUT(1, "%m") PUT(2, "%n") PUT(3, "%e") PUT(4, "%g") PUT(5, "%l") PUT(6, "%x") PUT(
        7,
        "%k") "}\n"
              "kernel @passes(%a: ptr.global i32, %o: ptr.global i32) sub_group_size(8) {\n"
              "    %i = global_linear_id\n    %v = load i32 %a[%i]\n    %r = shl i64 %i, 4\n    %p = elem i32 %o, %r\n"
              "    %n = sub_group_size\n    %l = sub_group_local_id\n    %q = xor i32 %l, 1\n    %b = ult i32 %q, %n\n"
              "    %h = select i32 %b, %q, %l\n    %w = sub_group_shuffle i32 %v, %h\n    %y = group_reduce i32 %v, "
              "sub_group, add\n"
              "    %z = group_scan_excl i32 %v, sub_group, add\n    %c = group_broadcast i32 %v, 0, sub_group\n"
              "    barrier global, sub_group\n    %t = ult i32 %v, 40\n    %u = group_any %t, sub_group\n"
              "    %d = zext i32 %u\n" //
    PUT(0, "%w") PUT(1, "%y") PUT(2, "%z") PUT(3, "%c") PUT(
        4,
        "%d") "}\n"
              "kernel @copies(%a: ptr.global i32, %o: ptr.global i32) {\n"
              "    %i = global_linear_id\n    %v = load i32 %a[%i]\n    %r = shl i64 %i, 4\n    store i32 %o[%r], "
              "%v\n}\n"
              "kernel @meets(%a: ptr.global i32, %o: ptr.global i32) {\n"
              "    %i = global_linear_id\n    %v = load i32 %a[%i]\n    %s = group_reduce i32 %v, work_group, add\n"
              "    %r = shl i64 %i, 4\n    store i32 %o[%r], %s\n}\n"
              "kernel @other_size(%a: ptr.global i32, %o: ptr.global i32) sub_group_size(16) {\n"
              "    %i = global_linear_id\n    %s = sub_group_size\n    store i32 %o[%i], %s\n}\n"
              "kernel @any_size(%a: ptr.global i32, %o: ptr.global i32) sub_group_size(automatic) {\n"
              "    %i = global_linear_id\n    %v = load i32 %a[%i]\n    %s = group_reduce i32 %v, sub_group, add\n"
              "    store i32 %o[%i], %s\n}\n"
              "kernel @own_size(%a: ptr.global i32, %o: ptr.global i32) {\n"
              "    %i = global_linear_id\n    %s = sub_group_max_size\n    store i32 %o[%i], %s\n}\n"
              "kernel @trio(%a: ptr.global i32, %o: ptr.global i32) sub_groups_per_work_group(3) sub_group_size(8) {\n"
              "    %i = global_linear_id\n    %n = num_sub_groups\n    store i32 %o[%i], %n\n}\n"
              "kernel @makes(%a: ptr.global i32, %t: ptr.global i32) {\n"
              "    %i = global_id x\n    %v = load i32 %a[%i]\n    %w = mul i32 %v, 3\n    store i32 %t[%i], %w\n}\n"
              "kernel @swaps(%t: ptr.global i32, %o: ptr.global i32) sub_group_size(8) {\n"
              "    %i = global_id x\n    %v = load i32 %t[%i]\n    %w = sub_group_shuffle_xor i32 %v, 3\n"
              "    %g = sub_group_id\n    %x = add i32 %w, %g\n    store i32 %o[%i], %x\n}\n";

enum { ITEMS = 1536 };

static const struct fuser_props none = {0};
static const struct fuser_props internal = {FUSER_SCOPE_NONE, true, false};

static struct test_graph *graph_of(const char *const *names, const struct nd_range *ranges, unsigned n)
{
    struct test_graph *g = test_graph_new(kernels);
    uint32_t in = test_buffer(g, "in", IR_I32, ITEMS, none);
    for (unsigned i = 0; i < n; i++) {
        char name[2][8];
        snprintf(name[0], sizeof name[0], "k%u", i);
        snprintf(name[1], sizeof name[1], "o%u", i);
        struct fuser_arg args[] = {test_arg_buffer(in),
                                   test_arg_buffer(test_buffer(g, name[1], IR_I32, 16 * ITEMS, none))};
        test_kernel(g, name[0], names[i], ranges[i], args, 2);
    }
    return g;
}

static void finish(struct test_graph *g, struct fuser_plan *plan)
{
    fuser_plan_free(plan);
    test_graph_free(g);
}

/* ---- what fits, and what does not ---- */

static void expect_two(const char *second, struct nd_range a, struct nd_range b, const char *launches, const char *code,
                       const char *text)
{
    static const char *const firsts[] = {"numbers", "passes"};
    for (unsigned i = 0; i < 2; i++) {
        const struct nd_range ranges[] = {a, b};
        struct test_graph *g = graph_of((const char *const[]){firsts[i], second}, ranges, 2);
        g->options.mode = FUSER_MODE_ENABLE;
        struct fuser_plan *plan = check_planned(g);
        check_launches(g, plan, launches);
        if (code) check_remark(plan, code, "k1", "", text);
        check_same(g, plan);
        finish(g, plan);
    }
}

static void sub_groups_that_stay_together(void **state)
{
    (void)state;
    static const struct nd_range line = {1, {128, 1, 1}, {0}, {32, 1, 1}}, fine = {1, {128, 1, 1}, {0}, {16, 1, 1}};
    static const struct nd_range less = {1, {48, 1, 1}, {0}, {16, 1, 1}}, odd = {1, {72, 1, 1}, {0}, {24, 1, 1}};
    static const struct nd_range moved = {1, {64, 1, 1}, {16, 0, 0}, {32, 1, 1}};
    static const struct nd_range rows = {2, {16, 8, 1}, {0}, {8, 4, 1}}, all = {2, {4, 32, 1}, {0}, {4, 2, 1}};
    static const struct nd_range low = {2, {16, 6, 1}, {0}, {16, 2, 1}}, cube = {3, {8, 4, 2}, {0}, {8, 2, 1}};
    static const struct nd_range *const fitting[] = {&line, &fine, &less, &odd, &moved, &rows, &low, &cube};
    enum { N = sizeof fitting / sizeof *fitting };
    for (unsigned i = 0; i < N * N; i++) {
        struct nd_range a = *fitting[i / N], b = *fitting[i % N];
        if (a.global[0] * a.global[1] * a.global[2] < b.global[0] * b.global[1] * b.global[2]) continue;
        if (a.dims != b.dims && (a.offset[0] || b.offset[0])) continue;
        expect_two("passes", a, b, "k0 k1", NULL, NULL);
    }
    expect_two("passes", line, all, "k0 k1", NULL, NULL); /* two rows are a sub-group, and a work-group */
    expect_two("copies", line, less, "k0 k1", NULL, NULL);
}

/* A size that the compiler chooses is the same alone and beside kernels of other sizes. */
static void sizes_that_stay(void **state)
{
    (void)state;
    static const struct nd_range line = {1, {128, 1, 1}, {0}, {32, 1, 1}};
    static const struct nd_range ranges[] = {line, line, line, line};
    static const char *const names[] = {"other_size", "any_size", "own_size", "copies"};
    expect_two("any_size", line, line, "k0|k1", "not_fused_sub_group_size",
               "its sub-groups have 16 work-items, theirs 8");
    expect_two("own_size", line, line, "k0|k1", "not_fused_sub_group_size",
               "its sub-groups have 16 work-items, theirs 8");
    struct test_graph *g = graph_of(names, ranges, 4);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "k0 k1 k2 k3");
    check_same(g, plan);
    finish(g, plan);
}

/* A number of sub-groups: the local size follows from it, or must fit. */
static void a_number_of_sub_groups(void **state)
{
    (void)state;
    static const struct nd_range any = {1, {120, 1, 1}, {0}, {0}}, fit = {1, {120, 1, 1}, {0}, {20, 1, 1}};
    static const struct nd_range wrong = {1, {120, 1, 1}, {0}, {40, 1, 1}};
    static const uint64_t local[] = {24, 20};
    struct test_graph *g;
    for (unsigned i = 0; i < 2; i++) {
        const struct nd_range ranges[] = {i ? fit : any, i ? fit : wrong};
        g = graph_of((const char *const[]){"trio", "passes"}, ranges, 2);
        struct fuser_plan *plan = check_planned(g);
        check_launches(g, plan, "k0 k1"); /* the second one's sub-groups are the same in work-groups of 24 */
        assert_int_equal(plan->launches[0].range.local[0], local[i]);
        if (i) check_same(g, plan); /* alone it would have the local size that it was given */
        finish(g, plan);
    }
    const struct nd_range ranges[] = {wrong, any};
    g = graph_of((const char *const[]){"meets", "trio"}, ranges, 2);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "k0|k1");
    check_remark(plan, "not_fused_local_size", "k1", "",
                 "k1 requires a number of sub-groups, and has 120 in work-groups of 24");
    finish(g, plan);
    g = graph_of((const char *const[]){"trio"}, &wrong, 1);
    check_fails(g, FUSER_INVALID, "node k0",
                "work-groups of 40 work-items are 5 sub-groups of 8, but kernel trio requires 3");
    test_graph_free(g);
}

/* The kernel that needs its work-groups most gives them to the launch. */
static void who_decides_on_the_work_groups(void **state)
{
    (void)state;
    static const struct nd_range line = {1, {128, 1, 1}, {0}, {32, 1, 1}}, fine = {1, {128, 1, 1}, {0}, {16, 1, 1}};
    static const char *const names[] = {"copies", "passes", "meets"};
    const struct nd_range ranges[] = {{1, {128, 1, 1}, {0}, {4, 1, 1}}, line, fine};
    struct test_graph *g = graph_of(names, ranges, 3);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "k0 k1 k2");
    assert_int_equal(plan->launches[0].range.local[0], 16);
    check_same(g, plan);
    finish(g, plan);
    g = graph_of((const char *const[]){"meets", "meets"}, &ranges[1], 2);
    plan = check_planned(g);
    check_launches(g, plan, "k0|k1");
    check_remark(plan, "not_fused_local_size", "k1", "",
                 "k1 has group operations, and has 128 in work-groups of 16, the launch 128 in work-groups of 32");
    check_same(g, plan);
    finish(g, plan);
    g = graph_of((const char *const[]){"passes", "passes"}, &ranges[1], 2);
    g->options.insert_barriers = true;
    plan = check_planned(g);
    check_launches(g, plan, "k0|k1");
    check_remark(plan, "not_fused_local_size", "k1", "", "insert_barriers wants the work-groups of all kernels");
    finish(g, plan);
}

static void sub_groups_that_do_not(void **state)
{
    (void)state;
    static const struct nd_range line = {1, {128, 1, 1}, {0}, {32, 1, 1}}, by20 = {1, {60, 1, 1}, {0}, {20, 1, 1}};
    static const struct nd_range whole = {1, {60, 1, 1}, {0}, {60, 1, 1}}, off = {1, {64, 1, 1}, {4, 0, 0}, {32}};
    static const struct nd_range plane = {2, {15, 4, 1}, {0}, {15, 4, 1}}, tall = {2, {4, 16, 1}, {0}, {2, 16, 1}};
    struct nd_range moved = off;
    moved.local[1] = moved.local[2] = 1;
    expect_two("passes", line, by20, "k0|k1", "not_fused_local_size",
               "k1 is not fused with k0: k1 depends on its sub-groups of 8, and over 60 in work-groups of 20 they are "
               "others than over 128 in work-groups of 32");
    expect_two("passes", line, whole, "k0|k1", "not_fused_local_size", "over 60 in work-groups of 60");
    expect_two("passes", line, moved, "k0|k1", "not_fused_range", "64 in work-groups of 32");
    expect_two("passes", line, tall, "k0|k1", "not_fused_local_size", "over 4 x 16 in work-groups of 2 x 16");
    expect_two("passes", whole, plane, "k0 k1", NULL, NULL); /* what is incomplete is the same */
    expect_two("other_size", line, line, "k0|k1", "not_fused_sub_group_size", "16 work-items, theirs 8");
}

/* Where nobody gave a local size it is ours to choose, whole sub-groups before the end or not. */
static void work_groups_of_our_choice(void **state)
{
    (void)state;
    static const struct nd_range many = {1, {128, 1, 1}, {0}, {0}}, few = {1, {48, 1, 1}, {0}, {0}};
    static const struct nd_range part = {1, {52, 1, 1}, {0}, {0}};
    const struct nd_range good[] = {many, few}, bad[] = {many, part};
    static const char *const names[] = {"passes", "passes"};
    struct test_graph *g = graph_of(names, good, 2);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "k0 k1");
    check_same(g, plan);
    finish(g, plan);
    g = graph_of(names, bad, 2);
    plan = check_planned(g);
    check_launches(g, plan, "k0|k1");
    check_remark(plan, "not_fused_range", "k1", "", "k1 depends on its sub-groups of 8, and over 52 ");
    finish(g, plan);
}

/* Buffers go from kernel to kernel in registers all the same. */
static void homes_across_local_sizes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct test_graph *g = test_graph_new(kernels);
        uint32_t in = test_buffer(g, "in", IR_I32, ITEMS, none), t = test_buffer(g, "t", IR_I32, ITEMS, internal);
        uint32_t u = test_buffer(g, "u", IR_I32, ITEMS, internal), o = test_buffer(g, "o", IR_I32, ITEMS, none);
        struct fuser_arg a[] = {test_arg_buffer(in), test_arg_buffer(t)},
                         b[] = {test_arg_buffer(t), test_arg_buffer(u)};
        struct fuser_arg c[] = {test_arg_buffer(u), test_arg_buffer(o)};
        test_kernel(g, "k0", "makes", test_range(128, 64), a, 2);
        test_kernel(g, "k1", "swaps", test_range(128, 32), b, 2);
        test_kernel(g, "k2", "swaps", test_range(i ? 64 : 128, 16), c, 2);
        struct fuser_plan *plan = check_planned(g);
        check_launches(g, plan, "k0 k1 k2");
        check_internalized(g, plan, "t u");
        check_same(g, plan);
        finish(g, plan);
    }
}

/* ---- any three ---- */

static struct nd_range random_range(struct rng *rng)
{
    static const uint64_t x[] = {1, 2, 4, 8, 8, 16, 16, 24, 32, 12}, y[] = {1, 1, 2, 4, 3};
    struct nd_range r = {1 + rng_below(rng, 3), {1, 1, 1}, {0}, {1, 1, 1}};
    r.local[0] = x[rng_below(rng, 10)];
    if (r.dims > 1) r.local[1] = y[rng_below(rng, 5)];
    r.global[0] = r.local[0] * (1 + rng_below(rng, 3));
    if (r.dims > 1) r.global[1] = r.local[1] * (1 + rng_below(rng, 2));
    if (r.dims > 2) r.global[2] = 1 + rng_below(rng, 2);
    if (rng_chance(rng, 10)) r.offset[0] = 4 * rng_below(rng, 5);
    return r;
}

static struct test_graph *random_three(struct rng *rng)
{
    static const char *const all[] = {"numbers", "passes", "passes", "copies", "numbers"};
    const char *names[3];
    struct nd_range ranges[3];
    for (unsigned i = 0; i < 3; i++) {
        names[i] = all[rng_below(rng, 5)];
        ranges[i] = i && rng_chance(rng, 30) ? ranges[0] : random_range(rng);
    }
    struct test_graph *g = graph_of(names, ranges, 3);
    g->options.mode = FUSER_MODE_ENABLE;
    return g;
}

static void any_three(void **state)
{
    (void)state;
    unsigned fused = 0, cases = test_cases(300);
    for (unsigned seed = 0; seed < cases; seed++) {
        struct rng rng = {seed};
        struct test_graph *g = random_three(&rng);
        struct fuser_plan *plan = check_planned(g);
        check_same(g, plan);
        fused += plan->n_launches < 3;
        finish(g, plan);
    }
    print_message("# %u of %u are fewer launches\n", fused, cases);
    assert_true(fused > cases / 4 && fused < cases);
}

static bool run_compiled(const struct fuser_launch *launch, const struct nd_range *range, const struct interp_arg *args,
                         void *data)
{
    enum cpu_isa isas[CPU_ISA_COUNT];
    unsigned *made = data, n = compiled_isas(isas);
    struct compiled c;
    if (!compiled_make(&c, launch->kernel, isas[(*made)++ % n], false)) return false;
    compiled_run(&c, launch->kernel, range, args, 1, 0);
    compiled_clear(&c);
    return true;
}

static void any_three_compiled(void **state)
{
    (void)state;
    unsigned made = 0;
    char why[600];
    for (unsigned seed = 0, done = 0; done < test_cases(300) / 20; seed++) {
        struct rng rng = {seed};
        struct test_graph *g = random_three(&rng);
        struct fuser_plan *plan = check_planned(g);
        if (plan->n_launches < 3) {
            struct graph_memory a = graph_memory_new(&g->graph, seed), b = graph_memory_new(&g->graph, seed);
            if (!run_graph(&g->graph, &a, why, sizeof why) ||
                !run_plan_by(&g->graph, plan, &b, run_compiled, &made, why, sizeof why) ||
                !same_memory(plan, &a, &b, why, sizeof why))
                fail_msg("seed %u: %s\n%s", seed, why, ir_print_function(plan->launches[0].kernel));
            graph_memory_free(&a);
            graph_memory_free(&b);
            done++;
        }
        finish(g, plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sub_groups_that_stay_together),
        cmocka_unit_test(sizes_that_stay),
        cmocka_unit_test(a_number_of_sub_groups),
        cmocka_unit_test(who_decides_on_the_work_groups),
        cmocka_unit_test(sub_groups_that_do_not),
        cmocka_unit_test(work_groups_of_our_choice),
        cmocka_unit_test(homes_across_local_sizes),
        cmocka_unit_test(any_three),
        cmocka_unit_test(any_three_compiled),
    };
    return cmocka_run_group_tests_name("plan_sub_groups", tests, NULL, NULL);
}
