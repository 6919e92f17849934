/* Planning kernels as users write them in OpenCL C, through their compiler: guards and indices by scalar arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/plan_check.h"
#include "tests/support/spirv_make.h"

enum { ITEMS = 96 };

/* A chain of kernels: buffer 0 is read by the first, each other one written by a kernel and read by the next. All but
   the ends are internal, and nothing else is said of them. */
struct chain {
    const char *source;   /* kernels k0, k1 ... of (in, out, scalars) */
    unsigned n, n_values; /* kernels; scalars of each, ints */
    struct nd_range range;
    uint64_t floats;
    const int64_t *recorded; /* what the scalars are, of each kernel its own; NULL: all kernels share them */
    const char *launches, *internalized;
    const int64_t *changed; /* what a submission says instead, by kernel */
    uint32_t params;        /* of the first launch; 0: any number */
};

/* As the client describes values. */
static void describe(struct test_graph *g, const struct chain *c, unsigned value, unsigned v)
{
    int64_t number = c->recorded[v];
    g->graph.values[value].alike = (uint32_t)number + 1;
    if (number > (int64_t)c->range.global[0] / 2) g->graph.values[value].number = number;
}

static struct test_graph *make(const struct chain *c, const char *level)
{
    struct test_graph *g = test_graph_of(spirv_make_module(c->source, level));
    for (unsigned i = 0; i <= c->n; i++) {
        char name[] = {'b', (char)('0' + i), 0};
        test_buffer(g, name, IR_F32, c->floats, (struct fuser_props){.internal_memory = i && i < c->n});
    }
    for (unsigned i = 0; i < c->n; i++) {
        char name[] = {'k', (char)('0' + i), 0};
        struct fuser_arg args[2 + 4] = {test_arg_buffer(i), test_arg_buffer(i + 1)};
        for (unsigned v = 0; v < c->n_values; v++) {
            unsigned value = c->recorded ? i * c->n_values + v : v;
            if (value == g->graph.n_values) test_value(g, 4);
            if (c->recorded) describe(g, c, value, v);
            args[2 + v] = test_arg_value(value);
        }
        test_kernel(g, name, name, c->range, args, 2 + c->n_values);
    }
    return g;
}

static void check_values(const struct test_graph *g, const struct fuser_plan *plan, const struct chain *c)
{
    int64_t numbers[64];
    for (unsigned i = 0; i < c->n * c->n_values; i++) numbers[i] = c->recorded[i % c->n_values];
    check_same_with(g, plan, numbers);
    if (c->changed) check_same_with(g, plan, c->changed);
}

/* Planned as it should be from each level of optimization, and computes what it should. */
static void check(const struct chain *c)
{
    static const char *const levels[] = {"O0", "O1", "O2"};
    if (!spirv_make_can_compile()) skip();
    for (unsigned i = 0; i < 3; i++) {
        struct test_graph *g = make(c, levels[i]);
        struct fuser_plan *plan = check_planned(g);
        check_launches(g, plan, c->launches);
        check_internalized(g, plan, c->internalized);
        if (c->params) assert_int_equal(plan->launches[0].n_params, c->params);
        if (c->recorded)
            check_values(g, plan, c);
        else
            check_same(g, plan);
        fuser_plan_free(plan);
        test_graph_free(g);
    }
}

/* ---- what whoever reads has written ---- */

static void guarded_chain(void **state)
{
    (void)state;
    check(&(struct chain){.source = "kernel void k0(global const float *a, global float *t, int n)\n"
                                    "{ int i = get_global_id(0); if (i < n) t[i] = a[i] + 1; }\n"
                                    "kernel void k1(global const float *t, global float *s, int n)\n"
                                    "{ int i = get_global_id(0); if (i >= n) return; s[i] = t[i] * 2; }\n"
                                    "kernel void k2(global const float *s, global float *o, int n)\n"
                                    "{ int i = get_global_id(0); if (n > i) o[i] = s[i] - 3; }\n",
                          .n = 3,
                          .n_values = 1,
                          .range = test_range(ITEMS, 0),
                          .floats = ITEMS,
                          .launches = "k0 k1 k2",
                          .internalized = "b1 b2"});
}

/* The narrower guard reads what the wider one wrote, not the other way round. */
static void narrower_guard(void **state)
{
    (void)state;
    struct chain c = {.source = "kernel void k0(global const float *a, global float *t, int n, int m)\n"
                                "{ int i = get_global_id(0); if (i < n) t[i] = a[i] + 1; }\n"
                                "kernel void k1(global const float *t, global float *o, int n, int m)\n"
                                "{ int i = get_global_id(0); if (i > 2 && i < n && i != m) o[i] = t[i] * 2; }\n",
                      .n = 2,
                      .n_values = 2,
                      .range = test_range(ITEMS, 0),
                      .floats = ITEMS,
                      .launches = "k0 k1",
                      .internalized = "b1"};
    check(&c);
    c.source = "kernel void k0(global const float *a, global float *t, int n, int m)\n"
               "{ int i = get_global_id(0); if (i < n && i < m) t[i] = a[i] + 1; }\n"
               "kernel void k1(global const float *t, global float *o, int n, int m)\n"
               "{ int i = get_global_id(0); if (i < n) o[i] = t[i] * 2; }\n";
    c.internalized = "";
    check(&c);
    c.source = "kernel void k0(global const float *a, global float *t, int n, int m)\n"
               "{ int i = get_global_id(0); if (i < n) t[i] = a[i] + 1; }\n"
               "kernel void k1(global const float *t, global float *o, int n, int m)\n"
               "{ int i = get_global_id(0); if (i <= n) o[i] = t[i] * 2; }\n";
    check(&c);
}

/* Some elements of a work-item behind one guard, others behind another. */
static void elements_behind_guards(void **state)
{
    (void)state;
    check(&(struct chain){
        .source =
            "kernel void k0(global const float *a, global float *t, int n, int m)\n"
            "{ int i = get_global_id(0); if (i >= n) return; t[2 * i] = a[i] + 1; if (i < m) t[2 * i + 1] = a[i]; }\n"
            "kernel void k1(global const float *t, global float *o, int n, int m)\n"
            "{ int i = get_global_id(0); if (i < n) { float x = t[2 * i]; if (i < m) x += t[2 * i + 1]; o[i] = x; } "
            "}\n",
        .n = 2,
        .n_values = 2,
        .range = test_range(ITEMS, 0),
        .floats = 2 * ITEMS,
        .launches = "k0 k1",
        .internalized = "b1"});
}

/* ---- scalars of each kernel's own that were alike ---- */

static void equal_bounds(void **state)
{
    (void)state;
    check(&(struct chain){
        .source = "kernel void k0(global const float *a, global float *t, int n)\n"
                  "{ int i = get_global_id(0); if (i < n) t[i] = a[i] + 1; }\n"
                  "kernel void k1(global const float *t, global float *s, int n)\n"
                  "{ int i = get_global_id(0); if (i >= n) return; s[i] = t[i] * 2; }\n"
                  "kernel void k2(global const float *s, global float *o, int n)\n"
                  "{ int i = get_global_id(0); if (n > i) o[i] = s[i] - 3; }\n",
        .n = 3,
        .n_values = 1,
        .range = test_range(ITEMS, 0),
        .floats = ITEMS,
        .recorded = (const int64_t[]){90},
        .launches = "k0 k1 k2",
        .internalized = "b1 b2",
        .changed = (const int64_t[]){70, 80, 60},
        .params = 3, /* a, o and one n */
    });
}

/* Numbers that nothing but numbers depends on have a parameter each, however equal: each may change without a
 * condition. */
static void equal_factors(void **state)
{
    (void)state;
    check(&(struct chain){
        .source = "kernel void k0(global const float *a, global float *t, int m)\n"
                  "{ int i = get_global_id(0); t[i] = a[i] * m; }\n"
                  "kernel void k1(global const float *t, global float *o, int m)\n"
                  "{ int i = get_global_id(0); o[i] = t[i] + m; }\n",
        .n = 2,
        .n_values = 1,
        .range = test_range(ITEMS, 0),
        .floats = ITEMS,
        .recorded = (const int64_t[]){3},
        .launches = "k0 k1",
        .internalized = "b1",
        .changed = (const int64_t[]){4, 5},
        .params = 4, /* a, o and two m */
    });
}

static void equal_offsets(void **state)
{
    (void)state;
    check(&(struct chain){
        .source = "kernel void k0(global const float *a, global float *t, int off)\n"
                  "{ int i = get_global_id(0); t[i + off] = a[i] + 1; }\n"
                  "kernel void k1(global const float *t, global float *o, int off)\n"
                  "{ int i = get_global_id(0); o[i] = t[i + off] * 2; }\n",
        .n = 2,
        .n_values = 1,
        .range = test_range(ITEMS, 0),
        .floats = 2 * ITEMS,
        .recorded = (const int64_t[]){5},
        .launches = "k0 k1",
        .internalized = "b1",
        .changed = (const int64_t[]){0, 7},
    });
}

/* ---- strides ---- */

static const char images[] =
    "kernel void k0(global const float *a, global float *t, int w, int h)\n"
    "{ int x = get_global_id(0), y = get_global_id(1); if (x < w && y < h) t[y * w + x] = a[y * w + x] + 1; }\n"
    "kernel void k1(global const float *t, global float *s, int w, int h)\n"
    "{ int x = get_global_id(0), y = get_global_id(1); if (x >= w || y >= h) return; s[y * w + x] = t[y * w + x] * 2; "
    "}\n"
    "kernel void k2(global const float *s, global float *o, int w, int h)\n"
    "{ int x = get_global_id(0), y = get_global_id(1), i = x + w * y; if (x < w && y < h) o[i] = s[i] - 3; }\n";

static void rows_of_images(void **state)
{
    (void)state;
    check(&(struct chain){
        .source = images,
        .n = 3,
        .n_values = 2,
        .range = test_range_2d(24, 8),
        .floats = 24 * 8,
        .recorded = (const int64_t[]){24, 8},
        .launches = "k0 k1 k2",
        .internalized = "b1 b2",
        .changed = (const int64_t[]){24, 8, 20, 8, 12, 7},
    });
}

/* The range is rounded up to whole work-groups, or rows are padded. */
static void rows_of_other_lengths(void **state)
{
    (void)state;
    struct chain c = {
        .source = images,
        .n = 3,
        .n_values = 2,
        .range = test_range_2d(32, 16),
        .floats = 48 * 16,
        .recorded = (const int64_t[]){24, 9},
        .launches = "k0 k1 k2",
        .internalized = "b1 b2",
        .changed = (const int64_t[]){24, 9, 24, 8, 20, 7},
    };
    check(&c);
    c.recorded = (const int64_t[]){40, 16};
    c.changed = (const int64_t[]){40, 16, 24, 16, 48, 4};
    check(&c);
}

/* A step of diffusion, and more on each point: the border is written by another store than the inside. */
static void stencil_and_points(void **state)
{
    (void)state;
    check(&(struct chain){
        .source = "kernel void k0(global const float *a, global float *o, int w, int h)\n"
                  "{ int x = get_global_id(0), y = get_global_id(1), i = y * w + x;\n"
                  "  if (x > 0 && y > 0 && x < w - 1 && y < h - 1)\n"
                  "      o[i] = a[i] + 0.25f * (a[i - 1] + a[i + 1] + a[i - w] + a[i + w] - 4.0f * a[i]);\n"
                  "  else if (x < w && y < h) o[i] = a[i]; }\n"
                  "kernel void k1(global const float *t, global float *s, int w, int h)\n"
                  "{ int x = get_global_id(0), y = get_global_id(1);\n"
                  "  if (x < w && y < h) s[y * w + x] = t[y * w + x] * 2; }\n"
                  "kernel void k2(global const float *s, global float *o, int w, int h)\n"
                  "{ int x = get_global_id(0), y = get_global_id(1);\n"
                  "  if (x < w && y < h) o[y * w + x] = s[y * w + x] - 3; }\n",
        .n = 3,
        .n_values = 2,
        .range = test_range_2d(24, 8),
        .floats = 24 * 8,
        .recorded = (const int64_t[]){24, 8},
        .launches = "k0 k1 k2",
        .internalized = "b1 b2",
        .changed = (const int64_t[]){24, 8, 24, 7, 20, 7},
    });
}

/* All of them overlap then. */
static void rows_that_overlap(void **state)
{
    (void)state;
    check(&(struct chain){
        .source =
            "kernel void k0(global const float *a, global float *t, int w)\n"
            "{ int x = get_global_id(0), y = get_global_id(1); if (!(y & 1)) t[y * w + x] = a[y * 24 + x] + 1; }\n"
            "kernel void k1(global const float *t, global float *o, int w)\n"
            "{ int x = get_global_id(0), y = get_global_id(1); if (!(y & 1)) o[y * 24 + x] = t[y * w + x] * 2; }\n",
        .n = 2,
        .n_values = 1,
        .range = test_range_2d(24, 8),
        .floats = 24 * 8,
        .recorded = (const int64_t[]){24},
        .launches = "k0 k1",
        .internalized = "b1",
        .changed = (const int64_t[]){12, 13},
    });
}

static void check_changes(const struct chain *c, const int64_t (*changes)[2], unsigned n)
{
    if (!spirv_make_can_compile()) skip();
    struct test_graph *g = make(c, "O2");
    struct fuser_plan *plan = check_planned(g);
    for (unsigned i = 0; i < n; i++) check_same_with(g, plan, changes[i]);
    fuser_plan_free(plan);
    test_graph_free(g);
}

/* Whoever reads does so behind no guard: what was written is all, as long as n is as large as it was. */
static void large_enough(void **state)
{
    (void)state;
    static const int64_t changes[][2] = {{ITEMS + 1, 0}, {ITEMS, 7}, {ITEMS - 1, 0}, {0, 0}, {-5, ITEMS}, {1 << 30, 1}};
    static const char *const sources[] = {"kernel void k0(global const float *a, global float *t, int n)\n"
                                          "{ int i = get_global_id(0); if (i < n) t[i] = a[i] + 1; }\n"
                                          "kernel void k1(global const float *t, global float *o, int n)\n"
                                          "{ int i = get_global_id(0); o[i] = t[i] * 2; }\n",
                                          "kernel void k0(global const float *a, global float *t, int n)\n"
                                          "{ int i = get_global_id(0); if (i >= n) return; t[i] = a[i] + 1; }\n"
                                          "kernel void k1(global const float *t, global float *o, int n)\n"
                                          "{ int i = get_global_id(0); o[i] = t[i] * 2; }\n"};
    for (unsigned i = 0; i < 2; i++) {
        const struct chain c = {.source = sources[i],
                                .n = 2,
                                .n_values = 1,
                                .range = test_range(ITEMS, 0),
                                .floats = ITEMS,
                                .recorded = (const int64_t[]){ITEMS},
                                .launches = "k0 k1",
                                .internalized = "b1"};
        check(&c);
        check_changes(&c, changes, sizeof changes / sizeof *changes);
    }
}

/* Too small from the beginning; or nobody needs it to be large: then it may be anything. */
static void not_large_enough(void **state)
{
    (void)state;
    struct chain c = {.source = "kernel void k0(global const float *a, global float *t, int n)\n"
                                "{ int i = get_global_id(0); if (i < n) t[i] = a[i] + 1; }\n"
                                "kernel void k1(global const float *t, global float *o, int n)\n"
                                "{ int i = get_global_id(0); o[i] = t[i] * 2; }\n",
                      .n = 2,
                      .n_values = 1,
                      .range = test_range(ITEMS, 0),
                      .floats = ITEMS,
                      .recorded = (const int64_t[]){ITEMS - 1},
                      .launches = "k0 k1",
                      .internalized = "",
                      .changed = (const int64_t[]){ITEMS, ITEMS}};
    check(&c);
    c.source = "kernel void k0(global const float *a, global float *t, int n)\n"
               "{ int i = get_global_id(0); if (i < n) t[i] = a[i] + 1; }\n"
               "kernel void k1(global const float *t, global float *o, int n)\n"
               "{ int i = get_global_id(0); if (i < n) o[i] = t[i] * 2; }\n";
    c.recorded = (const int64_t[]){ITEMS};
    c.internalized = "b1";
    c.changed = (const int64_t[]){5, 5};
    check(&c);
    if (!spirv_make_can_compile()) skip();
    struct test_graph *g = make(&c, "O2");
    struct fuser_plan *plan = check_planned(g);
    for (uint32_t i = 0; i < plan->launches[0].n_conditions; i++)
        assert_false(plan->launches[0].conditions[i].at_least);
    fuser_plan_free(plan);
    test_graph_free(g);
}

/* Of a launch of one kernel nothing is taken to be so: its width and height may come to differ. */
static void square_image_alone(void **state)
{
    (void)state;
    check(&(struct chain){
        .source = "kernel void k0(global const float *a, global float *o, int w, int h)\n"
                  "{ int x = get_global_id(0), y = get_global_id(1);\n"
                  "  if (x < w && y < h) o[y * w + x] = a[(h - 1 - y) * w + x] + 1; }\n",
        .n = 1,
        .n_values = 2,
        .range = test_range_2d(16, 16),
        .floats = 16 * 16,
        .recorded = (const int64_t[]){16, 16},
        .launches = "k0",
        .internalized = "",
        .changed = (const int64_t[]){16, 9},
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guarded_chain),          cmocka_unit_test(narrower_guard),
        cmocka_unit_test(elements_behind_guards), cmocka_unit_test(equal_bounds),
        cmocka_unit_test(equal_offsets),          cmocka_unit_test(equal_factors),
        cmocka_unit_test(rows_of_images),         cmocka_unit_test(rows_of_other_lengths),
        cmocka_unit_test(stencil_and_points),     cmocka_unit_test(rows_that_overlap),
        cmocka_unit_test(large_enough),           cmocka_unit_test(not_large_enough),
        cmocka_unit_test(square_image_alone),
    };
    return cmocka_run_group_tests_name("plan params", tests, NULL, NULL);
}
