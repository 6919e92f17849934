/* Readers that compute what they would read of others: stencils behind pointwise kernels, in OpenCL C. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/plan_check.h"
#include "tests/support/spirv_make.h"

enum { WIDTH = 24, HEIGHT = 10, MAX_KERNELS = 6 };

/* Kernels k0, k1 ... of (in, out, int w, int h), one behind the other; all but the ends are internal. */
struct chain {
    const char *source;
    unsigned n;
    struct nd_range ranges[MAX_KERNELS];
    const char *launches, *internalized;
};

static struct test_graph *make(const struct chain *c, const char *level)
{
    struct test_graph *g = test_graph_of(spirv_make_module(c->source, level));
    for (unsigned i = 0; i <= c->n; i++) {
        char name[] = {'b', (char)('0' + i), 0};
        test_buffer(g, name, IR_F32, WIDTH * HEIGHT, (struct fuser_props){.internal_memory = i && i < c->n});
    }
    for (unsigned i = 0; i < c->n; i++) {
        char name[] = {'k', (char)('0' + i), 0};
        uint32_t w = test_value(g, 4), h = test_value(g, 4);
        g->graph.values[w].number = WIDTH;
        g->graph.values[h].number = HEIGHT;
        g->graph.values[w].alike = 1;
        g->graph.values[h].alike = 2;
        struct fuser_arg args[4] = {test_arg_buffer(i), test_arg_buffer(i + 1), test_arg_value(w), test_arg_value(h)};
        struct nd_range range = c->ranges[i].dims ? c->ranges[i] : test_range_2d(WIDTH, HEIGHT);
        test_kernel(g, name, name, range, args, 4);
    }
    return g;
}

static void check(const struct chain *c)
{
    static const char *const levels[] = {"O0", "O1", "O2"};
    int64_t numbers[2 * MAX_KERNELS];
    if (!spirv_make_can_compile()) skip();
    for (unsigned i = 0; i < 3; i++) {
        struct test_graph *g = make(c, levels[i]);
        g->options.explain = true;
        struct fuser_plan *plan = check_planned(g);
        if (strcmp(c->internalized, "") != 0) check_remark(plan, "recomputed", "", "b1", "computes what it reads");
        check_launches(g, plan, c->launches);
        check_internalized(g, plan, c->internalized);
        for (unsigned k = 0; k < 2 * c->n; k++) numbers[k] = k % 2 ? HEIGHT : WIDTH;
        check_same_with(g, plan, numbers);
        for (unsigned k = 0; k < 2 * c->n; k++) numbers[k] = k % 2 ? HEIGHT - 3 : WIDTH;
        check_same_with(g, plan, numbers);
        for (unsigned k = 0; k < 2 * c->n; k++) numbers[k] = k % 2 ? HEIGHT - 1 - k : WIDTH - k;
        check_same_with(g, plan, numbers);
        fuser_plan_free(plan);
        test_graph_free(g);
    }
}

#define POINT(name, expression)                                                                                        \
    "kernel void " name "(global const float *in, global float *out, int w, int h)\n"                                  \
    "{ int x = get_global_id(0), y = get_global_id(1);\n"                                                              \
    "  if (x < w && y < h) { float v = in[y * w + x]; out[y * w + x] = " expression "; } }\n"

#define INSIDE(name, expression)                                                                                       \
    "kernel void " name "(global const float *in, global float *out, int w, int h)\n"                                  \
    "{ int x = get_global_id(0), y = get_global_id(1);\n"                                                              \
    "  if (x > 0 && y > 0 && x < w - 1 && y < h - 1) { int i = y * w + x; out[i] = " expression "; } }\n"

#define SOBEL "fabs(in[i - w - 1] + 2 * in[i - w] + in[i - w + 1] - in[i + w - 1] - 2 * in[i + w] - in[i + w + 1])"

/* What the inside of an image reads of its neighbours. */
static void pointwise_then_stencil(void **state)
{
    (void)state;
    check(&(struct chain){
        .source = POINT("k0", "v * 3 - 1") INSIDE("k1", SOBEL), .n = 2, .launches = "k0 k1", .internalized = "b1"});
    check(&(struct chain){.source = POINT("k0", "v * get_work_dim()") INSIDE("k1", SOBEL),
                          .n = 2,
                          .launches = "k0 k1",
                          .internalized = "b1"});
}

static void clamped(void **state)
{
    (void)state;
    check(&(struct chain){
        .source = POINT("k0", "v * 3 - 1") "kernel void k1(global const float *in, global float *out, int w, int h)\n"
                                           "{ int x = get_global_id(0), y = get_global_id(1);\n"
                                           "  if (x >= w || y >= h) return; float s = 0;\n"
                                           "  for (int j = -1; j <= 1; j++) for (int i = -1; i <= 1; i++)\n"
                                           "    s += in[clamp(y + j, 0, h - 1) * w + clamp(x + i, 0, w - 1)];\n"
                                           "  out[y * w + x] = s; }\n",
        .n = 2,
        .launches = "k0 k1",
        .internalized = "b1"});
}

/* What a reader computes may itself read what can be computed. */
static void chains(void **state)
{
    (void)state;
    check(&(struct chain){.source = POINT("k0", "v * 3 - 1") POINT("k1", "v + 7") INSIDE("k2", SOBEL),
                          .n = 3,
                          .launches = "k0 k1 k2",
                          .internalized = "b1 b2"});
    check(&(struct chain){.source = POINT("k0", "v * 3 - 1") INSIDE("k1", SOBEL) POINT("k2", "v + 7"),
                          .n = 3,
                          .launches = "k0 k1 k2",
                          .internalized = "b1"});
    check(&(struct chain){
        .source = POINT("k0", "v * 3 - 1") INSIDE(
            "k1", "in[i - 1] + in[i + 1]") "kernel void k2(global const float *in, global float *out, int w, int h)\n"
                                           "{ int x = get_global_id(0), y = get_global_id(1);\n"
                                           "  if (x > 0 && y > 0 && x < w - 1 && y < h - 1) out[y * w + x] = in[y * w "
                                           "+ x] * 2; }\n",
        .n = 3,
        .launches = "k0 k1 k2",
        .internalized = "b1 b2"});
}

/* A border that is written otherwise is written, too. */
static void borders(void **state)
{
    (void)state;
    check(&(struct chain){.source =
                              "kernel void k0(global const float *in, global float *out, int w, int h)\n"
                              "{ int x = get_global_id(0), y = get_global_id(1); int i = y * w + x;\n"
                              "  if (x < w && y < h) {\n"
                              "  if (x > 0 && x < w - 1) out[i] = in[i - 1] + in[i + 1]; else out[i] = in[i] * 2; } }\n"
                              "kernel void k1(global const float *in, global float *out, int w, int h)\n"
                              "{ int x = get_global_id(0), y = get_global_id(1); int i = y * w + x;\n"
                              "  if (x < w && y < h) out[i] = y > 0 && y < h - 1 ? in[i - w] + in[i + w] : in[i]; }\n",
                          .n = 2,
                          .launches = "k0 k1",
                          .internalized = "b1"});
}

/* Pictures of a half and of twice the size. */
static void pyramids(void **state)
{
    (void)state;
    struct chain c = {
        .source =
            POINT("k0", "v * 3 - 1") "kernel void k1(global const float *in, global float *out, int w, int h)\n"
                                     "{ int x = get_global_id(0), y = get_global_id(1); int i = 2 * y * w + 2 * x;\n"
                                     "  if (2 * x < w && 2 * y < h) out[y * w + x] = in[i] + in[i + 1] + in[i + w] + "
                                     "in[i + w + 1]; }\n",
        .n = 2,
        .launches = "k0 k1",
        .internalized = "b1"};
    c.ranges[1] = test_range_2d(WIDTH / 2, HEIGHT / 2);
    check(&c);
    c = (struct chain){.source =
                           "kernel void k0(global const float *in, global float *out, int w, int h)\n"
                           "{ int x = get_global_id(0), y = get_global_id(1); out[y * w + x] = in[y * w + x] * 3; }\n"
                           "kernel void k1(global const float *in, global float *out, int w, int h)\n"
                           "{ int x = get_global_id(0), y = get_global_id(1);\n"
                           "  if (x < w && y < h) out[y * w + x] = in[y / 2 * w + x / 2]; }\n",
                       .n = 2,
                       .launches = "k0 k1",
                       .internalized = "b1"};
    c.ranges[0] = test_range_2d(WIDTH / 2, HEIGHT / 2);
    check(&c);
}

/* Two launches do a kernel's work: it is one of the first of them. */
static void readers_in_two_launches(void **state)
{
    (void)state;
    static const char text[] =
        "kernel @twice(%in: ptr.global i32, %out: ptr.global i32) {\n"
        "    %i = global_id x\n    %v = load i32 %in[%i]\n    %w = add i32 %v, %v\n    store i32 %out[%i], %w\n}\n"
        "kernel @turned(%in: ptr.global i32, %out: ptr.global i32) {\n"
        "    %i = global_id x\n    %k = sub i64 31, %i\n    %v = load i32 %in[%k]\n    store i32 %out[%i], %v\n}\n";
    struct test_graph *g = test_graph_new(text);
    const struct nd_range range = test_range(32, 0);
    for (int i = 0; i < 5; i++) {
        char name[] = {'b', (char)('0' + i), 0};
        test_buffer(g, name, IR_I32, 32, (struct fuser_props){.internal_memory = i == 1});
    }
    test_kernel(g, "k0", "twice", range, (struct fuser_arg[]){test_arg_buffer(0), test_arg_buffer(1)}, 2);
    test_kernel(g, "k1", "turned", range, (struct fuser_arg[]){test_arg_buffer(1), test_arg_buffer(2)}, 2);
    test_in_rows(g, test_copy(g, "copy", 2, 3, 64), 2);
    test_depends(g, 2, 1);
    test_kernel(g, "k2", "turned", range, (struct fuser_arg[]){test_arg_buffer(1), test_arg_buffer(4)}, 2);
    test_depends(g, 3, 2);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "k0 k1|k2");
    check_internalized(g, plan, "b1");
    check_same(g, plan);
    fuser_plan_free(plan);
    test_graph_free(g);
}

/* ---- what is not proved, or does not pay ---- */

static void reads_beyond_what_is_written(void **state)
{
    (void)state;
    struct chain c = {
        .source = POINT("k0", "v * 3 - 1") "kernel void k1(global const float *in, global float *out, int w, int h)\n"
                                           "{ int x = get_global_id(0), y = get_global_id(1); int i = y * w + x;\n"
                                           "  if (y > 0 && x < w && y < h) out[i] = in[i - 1] + in[i]; }\n",
        .n = 2,
        .launches = "k0|k1",
        .internalized = ""};
    check(&c);
    c.source = INSIDE("k0", "in[i] * 3") "kernel void k1(global const float *in, global float *out, int w, int h)\n"
                                         "{ int x = get_global_id(0), y = get_global_id(1); int i = y * w + x;\n"
                                         "  if (x > 0 && x < w && y < h) out[i] = in[i - 1] + in[i]; }\n";
    check(&c);
    c.source = POINT("k0", "v * 3 - 1") "kernel void k1(global const float *in, global float *out, int w, int h)\n"
                                        "{ int x = get_global_id(0), y = get_global_id(1); int i = y * w + x;\n"
                                        "  if (x < w && y < h) { float v = in[i]; if (v >= 0 && v < w * h - 1) out[i] "
                                        "= in[(int)v + 1]; } }\n";
    check(&c);
}

static void costs_too_much(void **state)
{
    (void)state;
    check(&(struct chain){.source = POINT("k0", "pow(fabs(v), 1.7f)") INSIDE("k1", SOBEL),
                          .n = 2,
                          .launches = "k0|k1",
                          .internalized = ""});
}

/* What the writer reads is changed before the reader runs, or by the reader. */
static void inputs_that_change(void **state)
{
    (void)state;
    static const char text[] =
        "kernel @twice(%in: ptr.global i32, %out: ptr.global i32) {\n"
        "    %i = global_id x\n    %v = load i32 %in[%i]\n    %w = add i32 %v, %v\n    store i32 %out[%i], %w\n}\n"
        "kernel @next(%in: ptr.global i32, %out: ptr.global i32) {\n"
        "    %i = global_id x\n    %k = xor i64 %i, 1\n    %k1 = and i64 %i, 31\n    %k2 = sub i64 31, %k1\n"
        "    %v = load i32 %in[%k2]\n    store i32 %out[%i], %v\n}\n";
    for (int changed = 0; changed < 3; changed++) {
        struct test_graph *g = test_graph_new(text);
        test_buffer(g, "a", IR_I32, 32, (struct fuser_props){0});
        test_buffer(g, "t", IR_I32, 32, (struct fuser_props){.internal_memory = true});
        test_buffer(g, "o", IR_I32, 32, (struct fuser_props){0});
        test_kernel(g, "k0", "twice", test_range(32, 0), (struct fuser_arg[]){test_arg_buffer(0), test_arg_buffer(1)},
                    2);
        if (changed == 1) test_fill(g, "f", 0, 128, 3);
        test_kernel(g, "k1", "next", test_range(32, 0),
                    (struct fuser_arg[]){test_arg_buffer(1), test_arg_buffer(changed == 2 ? 0 : 2)}, 2);
        if (changed == 1) test_depends(g, 2, 1);
        struct fuser_plan *plan = check_planned(g);
        check_launches(g, plan, (const char *[]){"k0 k1", "k0 f|k1", "k0|k1"}[changed]);
        check_same(g, plan);
        fuser_plan_free(plan);
        test_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pointwise_then_stencil),
        cmocka_unit_test(clamped),
        cmocka_unit_test(chains),
        cmocka_unit_test(borders),
        cmocka_unit_test(pyramids),
        cmocka_unit_test(readers_in_two_launches),
        cmocka_unit_test(reads_beyond_what_is_written),
        cmocka_unit_test(costs_too_much),
        cmocka_unit_test(inputs_that_change),
    };
    return cmocka_run_group_tests_name("plan_recompute", tests, NULL, NULL);
}
