/* Stores of launches: of several of one place, which ifs choose from, one is left; what is kept is not read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/core/ir.h"
#include "tests/support/plan_check.h"
#include "tests/support/plan_run.h"

enum { N = 64, LOCAL = 16, BUFFERS = 4 };

static const char kernels[] =
    /* two places of one buffer, stored before and again where there is an obstacle */
    "kernel @stream(%f: ptr.global i32, %flag: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %n = global_size x\n %j = add i64 %i, %n\n"
    "    %x = load i32 %f[%i]\n %y = load i32 %f[%j]\n %s = add i32 %x, %y\n %d = sub i32 %x, %y\n"
    "    store i32 %o[%i], %s\n store i32 %o[%j], %d\n"
    "    %w = load i32 %flag[%i]\n %c = sgt i32 %w, 2\n"
    "    if %c {\n store i32 %o[%i], %y\n store i32 %o[%j], %x\n }\n}\n"
    /* one of three, then read again */
    "kernel @clamp(%f: ptr.global i32, %flag: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %x = load i32 %f[%i]\n %low = slt i32 %x, 1\n %high = sgt i32 %x, 3\n"
    "    if %low { store i32 %o[%i], 1 } else {\n"
    "        if %high { store i32 %o[%i], 3 } else { store i32 %o[%i], %x }\n    }\n"
    "    %y = load i32 %o[%i]\n %z = mul i32 %y, 5\n store i32 %flag[%i], %z\n}\n"
    /* the second store is behind a barrier, of another element, or of what was only loaded */
    "kernel @apart(%f: ptr.global i32, %flag: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %n = global_size x\n %j = add i64 %i, %n\n %x = load i32 %f[%i]\n %c = sgt i32 %x, 2\n"
    "    store i32 %o[%i], 1\n barrier work_group, global\n if %c { store i32 %o[%i], 2 }\n"
    "    if %c { store i32 %o[%j], 3 }\n"
    "    %w = load i32 %flag[%i]\n if %c { store i32 %flag[%i], %x }\n}\n"
    "kernel @twice(%f: ptr.global i32, %flag: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %x = load i32 %flag[%i]\n %c = sgt i32 %x, 2\n"
    "    store i32 %f[%i], 4\n if %c { store i32 %o[%i], 7 }\n}\n"
    "kernel @use(%f: ptr.global i32, %flag: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %x = load i32 %f[%i]\n %y = add i32 %x, 1\n store i32 %o[%i], %y\n}\n";

static void add(struct test_graph *g, const char *kernel, uint32_t f, uint32_t flag, uint32_t o)
{
    struct fuser_arg args[] = {test_arg_buffer(f), test_arg_buffer(flag), test_arg_buffer(o)};
    test_kernel(g, kernel, kernel, test_range(N, LOCAL), args, 3);
}

static struct test_graph *with_buffers(void)
{
    static const char *const names[BUFFERS] = {"a", "b", "c", "d"};
    struct test_graph *g = test_graph_new(kernels);
    for (unsigned i = 0; i < BUFFERS; i++) test_buffer(g, names[i], IR_I32, 2 * N, (struct fuser_props){0});
    return g;
}

struct counts {
    unsigned loads, stores, under_ifs; /* stores that stand in an if */
};

static void count(struct ir_inst *inst, void *data)
{
    struct counts *c = data;
    c->loads += inst->op == IR_OP_LOAD;
    c->stores += inst->op == IR_OP_STORE;
    c->under_ifs += inst->op == IR_OP_STORE && inst->parent->parent;
}

/* One launch with so many accesses, which computes what the nodes do. */
static void check_accesses(struct test_graph *g, struct counts wanted)
{
    struct counts c = {0};
    struct fuser_plan *plan = check_planned(g);
    assert_int_equal(plan->n_launches, 1);
    ir_walk(plan->launches[0].kernel->body, count, &c);
    assert_int_equal(c.loads, wanted.loads);
    assert_int_equal(c.stores, wanted.stores);
    assert_int_equal(c.under_ifs, wanted.under_ifs);
    check_same(g, plan);
    fuser_plan_free(plan);
    test_graph_free(g);
}

static void one_store_of_two(void **state)
{
    (void)state;
    struct test_graph *g = with_buffers();
    add(g, "stream", 0, 1, 2);
    check_accesses(g, (struct counts){3, 2, 0});
}

static void one_store_of_three_not_read_back(void **state)
{
    (void)state;
    struct test_graph *g = with_buffers();
    add(g, "clamp", 0, 1, 2);
    check_accesses(g, (struct counts){1, 2, 0});
}

/* The second kernel reads what the first one chose, from registers. */
static void read_by_the_next_kernel(void **state)
{
    (void)state;
    struct test_graph *g = with_buffers();
    add(g, "clamp", 0, 1, 2);
    add(g, "use", 2, 0, 3);
    check_accesses(g, (struct counts){1, 3, 0});
}

static void stores_that_stay(void **state)
{
    (void)state;
    struct test_graph *g = with_buffers();
    add(g, "apart", 0, 1, 2);
    check_accesses(g, (struct counts){1, 4, 3});
}

static void one_buffer_for_two_parameters(void **state)
{
    (void)state;
    struct test_graph *g = with_buffers();
    add(g, "twice", 2, 1, 2);
    check_accesses(g, (struct counts){1, 1, 0});
    g = with_buffers();
    add(g, "twice", 0, 1, 2);
    check_accesses(g, (struct counts){1, 2, 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_store_of_two),
        cmocka_unit_test(one_store_of_three_not_read_back),
        cmocka_unit_test(read_by_the_next_kernel),
        cmocka_unit_test(stores_that_stay),
        cmocka_unit_test(one_buffer_for_two_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
