/* Groups that would keep too much alive are cut, others are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/plan/launch/pressure.h"
#include "ir/base/strbuf.h"
#include "ir/text/parse/parse.h"
#include "tests/support/plan_check.h"

enum { N = 64, MAKERS = 24 };

static const struct fuser_props none = {0};
static const struct fuser_props internal = {FUSER_SCOPE_NONE, true, false};

static uint64_t pressure_of(const char *text)
{
    struct diag_list list = {0};
    struct ir_module *m = ir_parse(text, strlen(text), "test.fk", &list);
    if (!m) fail_msg("%s", diag_format(&list));
    uint64_t bytes = register_pressure(m->functions[0]);
    ir_module_free(m);
    return bytes;
}

static void values_live_from_first_to_last_use(void **state)
{
    (void)state;
    /* x, y and z at once, and the address for the store */
    assert_int_equal(pressure_of("kernel @k(%a: ptr.global f32, %k: f32) {\n"
                                 "    %x = load f32 %a[0]\n    %y = load f32 %a[1]\n    %z = load f32 %a[2]\n"
                                 "    %s = fadd f32 %x, %y\n    %t = fadd f32 %s, %z\n    store f32 %a[3], %t\n}\n"),
                     12);
    /* a vector counts as what it is, a scalar argument and what is made of it not at all */
    assert_int_equal(pressure_of("kernel @k(%a: ptr.global f32x4, %k: f32) {\n"
                                 "    %h = fmul f32 %k, %k\n    %x = load f32x4 %a[0]\n    %v = splat f32x4 %h\n"
                                 "    %s = fadd f32x4 %x, %v\n    store f32x4 %a[1], %s\n}\n"),
                     16);
    /* w is needed in each round, so it lives through the loop beside the two values the loop carries */
    assert_int_equal(pressure_of("kernel @k(%a: ptr.global i32) {\n"
                                 "    %w = load i32 %a[0]\n"
                                 "    %s = loop (%k: i32 = 0, %t: i32 = 0) -> i32 {\n        %c = ult i32 %k, 9\n"
                                 "        if %c {\n            %u = add i32 %t, %w\n            %n = add i32 %k, 1\n"
                                 "            continue %n, %u\n        } else {\n            break %t\n        }\n"
                                 "        unreachable\n    }\n    store i32 %a[1], %s\n}\n"),
                     16);
}

/* Makers each fill a buffer, one taker reads them all: fused, all values are alive at once. */
static struct test_graph *many(void)
{
    struct strbuf s = {0};
    strbuf_printf(&s, "kernel @make(%%a: ptr.global f32, %%o: ptr.global f32, %%k: f32) {\n    %%i = global_id x\n"
                      "    %%x = load f32 %%a[%%i]\n    %%y = fmul f32 %%x, %%k\n    store f32 %%o[%%i], %%y\n}\n"
                      "kernel @take(%%o: ptr.global f32");
    for (int i = 0; i < MAKERS; i++) strbuf_printf(&s, ", %%t%d: ptr.global f32", i);
    strbuf_printf(&s, ") {\n    %%i = global_id x\n    %%s0 = load f32 %%t0[%%i]\n");
    for (int i = 1; i < MAKERS; i++)
        strbuf_printf(&s, "    %%x%d = load f32 %%t%d[%%i]\n    %%s%d = fadd f32 %%s%d, %%x%d\n", i, i, i, i - 1, i);
    strbuf_printf(&s, "    store f32 %%o[%%i], %%s%d\n}\n", MAKERS - 1);
    char *text = strbuf_take(&s);
    struct test_graph *g = test_graph_new(text);
    struct fuser_arg take[MAKERS + 1];
    uint32_t a = test_buffer(g, "a", IR_F32, N, none);
    take[0] = test_arg_buffer(test_buffer(g, "o", IR_F32, N, none));
    for (int i = 0; i < MAKERS; i++) {
        char buffer[8], node[8];
        snprintf(buffer, sizeof buffer, "t%02d", i);
        snprintf(node, sizeof node, "k%02d", i);
        take[i + 1] = test_arg_buffer(test_buffer(g, buffer, IR_F32, N, internal));
        struct fuser_arg make[] = {test_arg_buffer(a), take[i + 1], test_arg_value(test_value(g, 4))};
        test_kernel(g, node, "make", test_range(N, 0), make, 3);
    }
    test_kernel(g, "take", "take", test_range(N, 0), take, MAKERS + 1);
    free(text);
    return g;
}

static void expect_launches(struct test_graph *g, uint32_t n)
{
    struct fuser_plan *plan = check_planned(g);
    assert_int_equal(plan->n_launches, n);
    if (n == 1) check_no_remark(plan, "not_fused_pressure");
    if (n > 1) check_remark(plan, "not_fused_pressure", "", "", "device cpu has registers for 8");
    check_same(g, plan);
    fuser_plan_free(plan);
}

static void what_would_spill_is_cut(void **state)
{
    (void)state;
    struct test_graph *g = many();
    expect_launches(g, 1); /* nothing is known of the device */
    g->options.device.register_bytes = 32;
    expect_launches(g, 1);
    g->options.device.register_bytes = 8;
    expect_launches(g, 2);
    g->options.mode = FUSER_MODE_REQUIRE; /* what is wanted is done */
    expect_launches(g, 1);
    test_graph_free(g);
}

/* Kernels of `each` operations in a row, the first of which has `first`. */
static struct test_graph *long_chain(uint32_t kernels, uint32_t first, uint32_t each)
{
    struct strbuf s = {0};
    for (int k = 0; k < 2; k++) {
        uint32_t operations = k ? each : first;
        strbuf_printf(&s,
                      "kernel @%s(%%a: ptr.global i32, %%o: ptr.global i32) {\n    %%i = global_id x\n"
                      "    %%v0 = load i32 %%a[%%i]\n",
                      k ? "each" : "first");
        for (uint32_t i = 0; i + 4 < operations; i++)
            strbuf_printf(&s, "    %%v%u = %s i32 %%v%u, %u\n", i + 1, i % 2 ? "add" : "mul", i, i + 3);
        strbuf_printf(&s, "    store i32 %%o[%%i], %%v%u\n    return\n}\n", operations - 4);
    }
    char *text = strbuf_take(&s);
    struct test_graph *g = test_graph_new(text);
    free(text);
    for (uint32_t i = 0; i <= kernels; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%u", i);
        test_buffer(g, name, IR_I32, N, i && i < kernels ? internal : none);
    }
    for (uint32_t i = 0; i < kernels; i++) {
        char name[16];
        struct fuser_arg args[] = {test_arg_buffer(i), test_arg_buffer(i + 1)};
        snprintf(name, sizeof name, "n%02u", i);
        test_kernel(g, name, i ? "each" : "first", test_range(N, 0), args, 2);
    }
    return g;
}

static void expect_lengths(const struct test_graph *g, uint32_t launches)
{
    struct fuser_plan *plan = check_planned(g);
    assert_int_equal(plan->n_launches, launches);
    if (launches > 1) check_remark(plan, "not_fused_size", "", "", "more than 2048");
    check_same(g, plan);
    fuser_plan_free(plan);
}

static void what_is_too_long_is_cut(void **state)
{
    (void)state;
    struct test_graph *g = long_chain(12, 500, 500);
    expect_lengths(g, 3); /* four have 2,000 operations */
    struct fuser_plan *plan = check_planned(g);
    check_remark(plan, "not_fused_size", "n04", "", "it has 502 operations, they have 2008");
    fuser_plan_free(plan);
    g->options.mode = FUSER_MODE_REQUIRE;
    expect_lengths(g, 1);
    test_graph_free(g);
    g = long_chain(12, 100, 100);
    expect_lengths(g, 1);
    test_graph_free(g);
    g = long_chain(6, 3000, 100); /* short ones go with a long one */
    expect_lengths(g, 1);
    test_graph_free(g);
    g = long_chain(12, 3000, 100);
    expect_lengths(g, 2);
    test_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_live_from_first_to_last_use),
        cmocka_unit_test(what_would_spill_is_cut),
        cmocka_unit_test(what_is_too_long_is_cut),
    };
    return cmocka_run_group_tests_name("plan_pressure", tests, NULL, NULL);
}
