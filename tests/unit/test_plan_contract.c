/* Contraction is decided for each kernel by itself: what is fused computes bit for bit what it computes alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/graph_make.h"
#include "tests/support/plan_check.h"
#include "tests/support/plan_run.h"

enum { COUNT = 64 };

/* product and sum are each what the other would need for an fma; both and other have one of their own each, of the same
   product. */
static const char text[] =
    "kernel @product(%a: ptr.global f32, %b: ptr.global f32, %o: ptr.global f32) {\n"
    "    %i = global_id x\n    %x = load f32 %a[%i]\n    %y = load f32 %b[%i]\n"
    "    %p = fmul f32 %x, %y, contract\n    store f32 %o[%i], %p\n}\n"
    "kernel @sum(%a: ptr.global f32, %b: ptr.global f32, %o: ptr.global f32) {\n"
    "    %i = global_id x\n    %x = load f32 %a[%i]\n    %y = load f32 %b[%i]\n"
    "    %s = fadd f32 %x, %y, contract\n    store f32 %o[%i], %s\n}\n"
    "func @times(%x: f32, %y: f32) -> f32 { %p = fmul f32 %x, %y, contract; return %p }\n"
    "kernel @both(%a: ptr.global f32, %b: ptr.global f32, %o: ptr.global f32) {\n"
    "    %i = global_id x\n    %x = load f32 %a[%i]\n    %y = load f32 %b[%i]\n"
    "    %p = call @times(%x, %y)\n    %s = fadd f32 %p, -1.0, contract\n    store f32 %o[%i], %s\n}\n"
    "kernel @other(%a: ptr.global f32, %b: ptr.global f32, %o: ptr.global f32) {\n"
    "    %i = global_id x\n    %x = load f32 %a[%i]\n    %y = load f32 %b[%i]\n"
    "    %p = call @times(%x, %y)\n    %s = fadd f32 %p, -0.5, contract\n    store f32 %o[%i], %s\n}\n"
    "kernel @mad(%a: ptr.global f32, %b: ptr.global f32, %o: ptr.global f32) {\n"
    "    %i = global_id x\n    %x = load f32 %a[%i]\n    %y = load f32 %b[%i]\n"
    "    %s = mad f32 %x, %y, -1.0\n    store f32 %o[%i], %s\n}\n";

static void add(struct test_graph *g, const char *name, const char *kernel, uint32_t a, uint32_t b, uint32_t o)
{
    struct fuser_arg args[] = {test_arg_buffer(a), test_arg_buffer(b), test_arg_buffer(o)};
    test_kernel(g, name, kernel, test_range(COUNT, 0), args, 3);
}

/* 1 + small: the product of two has more digits than a float. */
static void fill(struct graph_memory *m, const struct test_graph *g)
{
    for (uint32_t b = 0; b < g->graph.n_buffers; b++)
        for (uint32_t i = 0; i < COUNT; i++) {
            float v = 1 + (float)(i * 37 + b * 11 + 1) * 0x1p-20f;
            memcpy(m->buffers[b] + i * sizeof v, &v, sizeof v);
        }
}

/* Plans by a mode, runs, and returns the memory. */
static struct graph_memory run(struct test_graph *g, enum fuser_mode mode, uint32_t launches, struct fuser_plan **plan)
{
    char why[600];
    g->options.mode = mode;
    g->options.device.fma = true;
    *plan = check_planned(g);
    assert_int_equal((*plan)->n_launches, launches);
    struct graph_memory m = graph_memory_new(&g->graph, 1);
    fill(&m, g);
    if (!run_plan(&g->graph, *plan, &m, why, sizeof why)) fail_msg("%s", why);
    return m;
}

static void expect_same_bits(struct test_graph *g, uint32_t nodes)
{
    char why[600];
    struct fuser_plan *fused, *unfused;
    struct graph_memory a = run(g, FUSER_MODE_ENABLE, 1, &fused), b = run(g, FUSER_MODE_NONE, nodes, &unfused);
    if (!same_memory(fused, &a, &b, why, sizeof why)) fail_msg("%s", why);
    graph_memory_free(&a);
    graph_memory_free(&b);
    fuser_plan_free(fused);
    fuser_plan_free(unfused);
}

/* b2 is needed by nobody after the run. */
static void make_buffers(struct test_graph *g, uint32_t b[5])
{
    for (int i = 0; i < 5; i++) {
        struct fuser_props props = {.internal_memory = i == 2};
        b[i] = test_buffer(g, (char[]){'b', (char)('0' + i), 0}, IR_F32, COUNT, props);
    }
}

static void a_product_and_a_sum_of_two_kernels(void **state)
{
    (void)state;
    struct test_graph *g = test_graph_new(text);
    uint32_t b[5];
    make_buffers(g, b);
    add(g, "n0", "product", b[0], b[1], b[2]);
    add(g, "n1", "sum", b[2], b[3], b[4]);
    expect_same_bits(g, 2);
    test_graph_free(g);
}

/* Two kernels make the same product, each for its own fma. */
static void the_same_product_in_two_kernels(void **state)
{
    (void)state;
    struct test_graph *g = test_graph_new(text);
    uint32_t b[5];
    make_buffers(g, b);
    add(g, "n0", "product", b[0], b[1], b[2]);
    add(g, "n1", "both", b[0], b[1], b[3]);
    add(g, "n2", "other", b[0], b[1], b[4]);
    expect_same_bits(g, 3);
    struct fuser_plan *plan;
    struct graph_memory m = run(g, FUSER_MODE_ENABLE, 1, &plan);
    for (uint32_t i = 0; i < COUNT; i++) {
        float x = 1 + (float)(i * 37 + 1) * 0x1p-20f, y = 1 + (float)(i * 37 + 12) * 0x1p-20f, got;
        memcpy(&got, m.buffers[b[3]] + i * sizeof got, sizeof got);
        assert_true(got == __builtin_fmaf(x, y, -1));
    }
    graph_memory_free(&m);
    fuser_plan_free(plan);
    test_graph_free(g);
}

/* Compilers write it for a sum of a product that may be one operation; it needs no word of it. */
static void a_mad_is_rounded_once(void **state)
{
    (void)state;
    struct test_graph *g = test_graph_new(text);
    uint32_t b[5];
    make_buffers(g, b);
    add(g, "n0", "mad", b[0], b[1], b[2]);
    add(g, "n1", "sum", b[2], b[1], b[3]);
    expect_same_bits(g, 2);
    struct fuser_plan *plan;
    struct graph_memory m = run(g, FUSER_MODE_ENABLE, 1, &plan);
    for (uint32_t i = 0; i < COUNT; i++) {
        float x = 1 + (float)(i * 37 + 1) * 0x1p-20f, y = 1 + (float)(i * 37 + 12) * 0x1p-20f, got;
        memcpy(&got, m.buffers[b[3]] + i * sizeof got, sizeof got);
        assert_true(got == __builtin_fmaf(x, y, -1) + y);
    }
    graph_memory_free(&m);
    fuser_plan_free(plan);
    test_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_and_a_sum_of_two_kernels),
        cmocka_unit_test(the_same_product_in_two_kernels),
        cmocka_unit_test(a_mad_is_rounded_once),
    };
    return cmocka_run_group_tests_name("plan_contract", tests, NULL, NULL);
}
