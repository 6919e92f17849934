/* Code of launches whose last work-group does something else: what the others do is compiled as if it were alone, and
   what comes out is what the graph's kernels give one by one in the interpreter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fuser/cpu/prepare/last_group.h"
#include "ir/core/edit.h"
#include "tests/support/compiled.h"
#include "tests/support/plan_check.h"
#include "tests/support/plan_run.h"

enum { LOCAL = 64, GROUPS = 256, N = LOCAL * GROUPS };

/* A tree whose steps are far from each other; sums of the groups, of which one work-group makes one. */
static const char kernels[] =
    "local @part: [64 x i32]\nlocal @large: [2048 x i32]\n"
    "kernel @sums(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %l = local_id x\n %g = group_id x\n %x = load i32 %a[%i]\n %p = global @part\n"
    "    %mine = elem i32 %p, %l\n store i32 %mine, %x\n"
    "    loop (%d: i64 = 1) {\n"
    "        %more = ult i64 %d, 64\n if %more { yield } else { break }\n"
    "        barrier work_group, local\n %d2 = shl i64 %d, 1\n %n = udiv i64 32, %d\n %c = ult i64 %l, %n\n"
    "        if %c {\n %at = mul i64 %l, %d2\n %far = add i64 %at, %d\n %u = load i32 %p[%at]\n"
    "            %v = load i32 %p[%far]\n %w = add i32 %u, %v\n store i32 %p[%at], %w\n yield\n }\n"
    "        continue %d2\n    }\n"
    "    %first = ieq i64 %l, 0\n if %first {\n %s = load i32 %p\n store i32 %o[%g], %s\n yield\n }\n}\n"
    /* with more memory of the work-group than groups that are lanes have */
    "kernel @total(%a: ptr.global i32, %o: ptr.global i32, %m: ptr.local i32) {\n"
    "    %i = global_id x\n %l = local_id x\n %j = add i64 %i, 64\n %x = load i32 %a[%j]\n"
    "    %n = num_groups x\n %t = trunc i32 %n\n %p = global @large\n store i32 %p[%l], %x\n"
    "    %s = group_reduce i32 %x, work_group, add\n %k = sub i64 63, %l\n barrier work_group, local\n %u = load i32 "
    "%p[%k]\n"
    "    store i32 %m[%l], %u\n barrier work_group, local\n %v = load i32 %m[%k]\n %w = add i32 %s, %v\n"
    "    %y = mul i32 %w, %t\n %c = ieq i64 %l, 0\n if %c { store i32 %o[0], %y }\n}\n"
    "kernel @scale(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %x = load i32 %a[%i]\n %y = mul i32 %x, 3\n store i32 %o[%i], %y\n}\n";

/* a -> t -> sums -> s */
static struct test_graph *graph_of(const char *second, uint64_t items)
{
    struct test_graph *g = test_graph_new(kernels);
    const char *const names[] = {"a", "t", "sums", "s"}, *const kernel[] = {"scale", second, "total"},
                      *const nodes[] = {"one", "two", "three"};
    for (unsigned i = 0; i < 4; i++) test_buffer(g, names[i], IR_I32, N + LOCAL, (struct fuser_props){0});
    g->options.device.last_groups = true;
    for (unsigned i = 0; i < 3; i++) {
        struct fuser_arg args[] = {test_arg_buffer(i), test_arg_buffer(i + 1), test_arg_local(4 * LOCAL)};
        test_kernel(g, nodes[i], kernel[i], test_range(i == 2 ? LOCAL : items, LOCAL), args, i == 2 ? 3 : 2);
    }
    return g;
}

static struct fuser_plan *plan_of(struct test_graph *g, const char *launches)
{
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, launches);
    assert_true(plan->launches[0].last);
    assert_true(plan->launches[0].kernel->assumes & IR_ASSUME_LAST_GROUP);
    return plan;
}

/* ---- sides ---- */

struct found {
    unsigned asks, barriers, stores, globals;
};

static void see(struct ir_inst *inst, void *data)
{
    struct found *f = data;
    f->asks += inst->op == IR_OP_NUM_GROUPS;
    f->barriers += inst->op == IR_OP_BARRIER || inst->op == IR_OP_GROUP_REDUCE;
    f->stores += inst->op == IR_OP_STORE;
}

static struct found side_of(const struct fuser_launch *launch, enum group_side side, uint32_t *assumes)
{
    struct ir_function *taken = last_group_take(launch->kernel, side);
    struct found f = {.globals = taken->module->n_globals};
    ir_walk(taken->body, see, &f);
    *assumes = taken->assumes;
    ir_module_free(taken->module);
    return f;
}

/* Nothing is left of the other side, and nobody asks which group it is. */
static void each_side_is_alone(void **state)
{
    (void)state;
    struct test_graph *g = graph_of("scale", N);
    struct fuser_plan *plan = plan_of(g, "one two three");
    uint32_t assumes;
    struct found all = side_of(&plan->launches[0], GROUP_ALL, &assumes);
    struct found others = side_of(&plan->launches[0], GROUP_OTHERS, &assumes);
    struct found last = side_of(&plan->launches[0], GROUP_LAST, &assumes);
    assert_true(all.asks);
    assert_int_equal(all.stores, 5);
    assert_int_equal(all.globals, 1);
    assert_int_equal(others.asks + others.barriers, 0);
    assert_int_equal(others.stores, 2);
    assert_int_equal(others.globals, 0);
    assert_int_equal(last.asks, 0);
    assert_int_equal(last.barriers, 3);
    assert_int_equal(last.stores, 3);
    fuser_plan_free(plan);
    test_graph_free(g);
}

/* What is said of how many groups there are is said of the others. */
static void others_may_be_lanes(void **state)
{
    (void)state;
    static const struct {
        uint64_t groups;
        bool lanes;
    } cases[] = {{GROUPS, true}, {GROUPS - 1, false}, {GROUPS - 16, false}};
    for (unsigned i = 0; i < 3; i++) {
        struct test_graph *g = graph_of("sums", cases[i].groups * LOCAL);
        struct fuser_plan *plan = plan_of(g, "one two three");
        uint32_t others, last;
        side_of(&plan->launches[0], GROUP_OTHERS, &others);
        side_of(&plan->launches[0], GROUP_LAST, &last);
        assert_int_equal(!!(others & IR_ASSUME_LANE_GROUPS), cases[i].lanes);
        assert_false(last & IR_ASSUME_LANE_GROUPS);
        fuser_plan_free(plan);
        test_graph_free(g);
    }
}

/* ---- code ---- */

static unsigned statements_of(const struct ir_function *kernel, enum cpu_isa isa)
{
    struct cpu_options options = {.target = cpu_target_host(isa), .emit_only = true};
    struct cpu_object object;
    struct diag_list list = {0};
    assert_int_equal(cpu_compile(kernel, &options, &object, &list), 0);
    unsigned n = object.statements;
    cpu_object_clear(&object);
    return n;
}

/* The code of both sides is no more than that of launches of their own. */
static void code_is_that_of_two_launches(void **state)
{
    (void)state;
    enum { CHOICE = 20 };
    enum cpu_isa isas[CPU_ISA_COUNT];
    for (unsigned n = compiled_isas(isas); n-- > 0;) {
        struct test_graph *g = graph_of("sums", N);
        struct fuser_plan *plan = plan_of(g, "one two three");
        unsigned together = statements_of(plan->launches[0].kernel, isas[n]), apart = 0;
        fuser_plan_free(plan);
        g->options.device.last_groups = false;
        plan = check_planned(g);
        check_launches(g, plan, "one two|three");
        for (unsigned i = 0; i < 2; i++) apart += statements_of(plan->launches[i].kernel, isas[n]);
        print_message("# %s: %u statements, %u apart\n", cpu_isa_name(isas[n]), together, apart);
        assert_true(together <= apart + CHOICE);
        fuser_plan_free(plan);
        test_graph_free(g);
    }
}

struct way {
    enum cpu_isa isa;
    enum cpu_effort effort;
    unsigned parts;
};

static bool run_compiled(const struct fuser_launch *launch, const struct nd_range *range, const struct interp_arg *args,
                         void *data)
{
    const struct way *way = data;
    struct compiled c;
    if (!compiled_make_with(&c, launch->kernel, way->isa, way->effort)) return false;
    compiled_run(&c, launch->kernel, range, args, way->parts, 0);
    compiled_clear(&c);
    return true;
}

static void check_by(struct test_graph *g, const struct fuser_plan *plan, struct way way)
{
    struct graph_memory a = graph_memory_new(&g->graph, way.parts), b = graph_memory_new(&g->graph, way.parts);
    char why[600];
    if (!run_graph(&g->graph, &a, why, sizeof why) ||
        !run_plan_by(&g->graph, plan, &b, run_compiled, &way, why, sizeof why) ||
        !same_memory(plan, &a, &b, why, sizeof why))
        fail_msg("%s, %s: %s", cpu_isa_name(way.isa), cpu_effort_name(way.effort), why);
    graph_memory_free(&a);
    graph_memory_free(&b);
}

/* With every instruction set, however much is made of it, and wherever threads divide it. */
static void values_are_the_same(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {GROUPS, GROUPS - 3, 65};
    enum cpu_isa isas[CPU_ISA_COUNT];
    unsigned n = compiled_isas(isas);
    for (unsigned i = 0; i < 3 * n; i++) {
        struct test_graph *g = graph_of("sums", sizes[i % 3] * LOCAL);
        struct fuser_plan *plan = plan_of(g, "one two three");
        enum cpu_effort effort = i % 3 == 2 ? CPU_EFFORT_MINIMAL : i % 3 == 1 ? CPU_EFFORT_SCALAR : CPU_EFFORT_FULL;
        check_by(g, plan, (struct way){isas[i / 3], CPU_EFFORT_FULL, 1});
        check_by(g, plan, (struct way){isas[i / 3], effort, 5});
        fuser_plan_free(plan);
        test_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_side_is_alone),
        cmocka_unit_test(others_may_be_lanes),
        cmocka_unit_test(code_is_that_of_two_launches),
        cmocka_unit_test(values_are_the_same),
    };
    return cmocka_run_group_tests_name("test_cpu_last_group", tests, NULL, NULL);
}
