/* What planning makes of ids: what it assumes of a launch, and `int` ids as users write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/graph_make.h"

static const char kernels[] = "kernel @fill(%o: ptr.global f32) {\n"
                              "    %i = global_id x\n"
                              "    %n = trunc i32 %i\n"
                              "    %w = sext i64 %n\n"
                              "    store f32 %o[%w], 1.0\n"
                              "}\n"
                              "kernel @careful(%o: ptr.global f32) assumes(small_ids, small_memory) {\n"
                              "    %i = global_id x\n"
                              "    store f32 %o[%i], 1.0\n"
                              "}\n";

/* ---- assumptions ---- */

/* Of the launch of the kernel over so many work-items from that offset on, into so many floats. */
static uint32_t assumed(const char *kernel, uint64_t items, uint64_t offset, uint64_t floats)
{
    struct test_graph *g = test_graph_new(kernels);
    struct nd_range range = test_range(items, 0);
    range.offset[0] = offset;
    struct fuser_arg arg = test_arg_buffer(test_buffer(g, "o", IR_F32, floats, (struct fuser_props){0}));
    test_kernel(g, "node", kernel, range, &arg, 1);
    struct error error;
    struct fuser_plan *plan = fuser_plan_new(&g->graph, &g->options, &error);
    assert_non_null(plan);
    uint32_t assumes = plan->launches[0].kernel->assumes;
    fuser_plan_free(plan);
    test_graph_free(g);
    return assumes;
}

static void what_is_assumed(void **state)
{
    (void)state;
    const uint64_t two_31 = 1ull << 31;
    assert_int_equal(assumed("fill", 100, 0, 100), IR_ASSUME_SMALL_IDS | IR_ASSUME_SMALL_MEMORY);
    assert_int_equal(assumed("fill", 100, 0, two_31 / 4), IR_ASSUME_SMALL_IDS | IR_ASSUME_SMALL_MEMORY);
    assert_int_equal(assumed("fill", 100, 0, two_31 / 4 + 1), IR_ASSUME_SMALL_IDS);
    assert_int_equal(assumed("fill", 100, two_31 - 101, 100), IR_ASSUME_SMALL_IDS | IR_ASSUME_SMALL_MEMORY);
    assert_int_equal(assumed("fill", 100, two_31 - 100, 100), IR_ASSUME_SMALL_MEMORY);
    assert_int_equal(assumed("fill", two_31, 0, two_31), 0);
    assert_int_equal(assumed("careful", 100, 0, two_31 / 4), IR_ASSUME_SMALL_IDS | IR_ASSUME_SMALL_MEMORY);
}

static void refuse(struct nd_range range, uint64_t floats, const char *why)
{
    struct test_graph *g = test_graph_new(kernels);
    struct fuser_arg arg = test_arg_buffer(test_buffer(g, "o", IR_F32, floats, (struct fuser_props){0}));
    test_kernel(g, "careful", "careful", range, &arg, 1);
    struct error error;
    assert_null(fuser_plan_new(&g->graph, &g->options, &error));
    assert_int_equal(error.code, FUSER_INVALID);
    assert_non_null(strstr(error.reason, why));
    test_graph_free(g);
}

static void what_a_kernel_assumes_must_hold(void **state)
{
    (void)state;
    refuse(test_range(1ull << 31, 0), 1ull << 29, "assumes sizes and ids below 2^31");
    refuse(test_range(100, 0), (1ull << 29) + 1, "memory of at most 2^31 bytes, and buffer o has 2147483652");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_assumed),
        cmocka_unit_test(what_a_kernel_assumes_must_hold),
    };
    return cmocka_run_group_tests_name("plan_ids", tests, NULL, NULL);
}
