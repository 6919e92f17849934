/* Which launches run in bands, and which buffers have ring memory then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/plan_check.h"
#include "tests/support/spirv_make.h"

enum { WIDTH = 512, HEIGHT = 600, PLANES = 3, CACHE = 256 << 10 };

#define KERNEL(name, in, sum)                                                                                          \
    "kernel void " name "(global const float *" in ", global float *out, int w, int h)\n"                              \
    "{ int x = get_global_id(0), y = get_global_id(1); float s = 0;\n"                                                 \
    "  for (int d = -8; d <= 8; d++) s += " sum "; out[y * w + x] = s / 17; }\n"

/* The first two are those of docs/fusion.md. */
static const char source[] = KERNEL("blur_x", "in", "in[y * w + clamp(x + d, 0, w - 1)]")
    KERNEL("blur_y", "t", "t[clamp(y + d, 0, h - 1) * w + x]")
        KERNEL("upside_down", "t", "t[(h - 1 - y) * w + clamp(x + d, 0, w - 1)]") KERNEL(
            "anywhere", "t",
            "t[(int)t[y * w + x] + d]") "kernel void inside(global const float *in, global float *out, int w, int h)\n"
                                        "{ int x = get_global_id(0), y = get_global_id(1); float s = 0;\n"
                                        "  for (int d = -8; d <= 8; d++) s += in[y * w + clamp(x + d, 0, w - 1)];\n"
                                        "  if (y > 0 && y < h - 1) out[y * w + x] = s; }\n"
                                        "kernel void gray(global const float *in, global float *out, int w, int h)\n"
                                        "{ int x = get_global_id(0), y = get_global_id(1), i = y * w + x, n = w * h;\n"
                                        "  if (x < w && y < h) out[i] = sqrt(in[i] * in[i + n] * in[i + 2 * n]); }\n";

/* Kernels one behind the other over pictures b0, b1 ..., all between internal, in buffers for so many pictures. */
static struct fuser_plan *plan_for(const char *const *kernels, unsigned n, uint64_t cache, uint32_t cores,
                                   unsigned room)
{
    struct test_graph *g = test_graph_of(spirv_make_module(source, "O2"));
    for (unsigned i = 0; i <= n; i++) {
        char name[] = {'b', (char)('0' + i), 0};
        test_buffer(g, name, IR_F32, (uint64_t)WIDTH * HEIGHT * (i ? room : PLANES),
                    (struct fuser_props){.internal_memory = i && i < n});
    }
    for (unsigned i = 0; i < n; i++) {
        char name[] = {'k', (char)('0' + i), 0};
        uint32_t w = test_value(g, 4), h = test_value(g, 4);
        g->graph.values[w].number = WIDTH;
        g->graph.values[h].number = HEIGHT;
        struct fuser_arg args[4] = {test_arg_buffer(i), test_arg_buffer(i + 1), test_arg_value(w), test_arg_value(h)};
        test_kernel(g, name, kernels[i], test_range_2d(WIDTH, HEIGHT), args, 4);
    }
    g->options.explain = true;
    g->options.device.machine.cache_bytes = cache;
    g->options.device.machine.cores = cores;
    struct fuser_plan *plan = check_planned(g);
    test_graph_free(g);
    return plan;
}

static struct fuser_plan *plan_of(const char *const *kernels, unsigned n, uint64_t cache)
{
    return plan_for(kernels, n, cache, 1, 1);
}

/* Work-groups run once and in order, and those of the second launch when the rows that they read are there. */
static void expect_lag(const struct fuser_plan *plan, uint64_t lag)
{
    const struct fuser_bands *b = &plan->bands[0];
    const struct nd_range *r = &plan->launches[0].range;
    assert_int_equal(plan->n_bands, 1);
    assert_int_equal(b->n_steps, 2);
    uint64_t of_row = r->global[0] / r->local[0], all = HEIGHT / r->local[1] * of_row, done[2] = {0};
    for (uint32_t band = 0; band < b->n_bands; band++) {
        for (unsigned i = 0; i < 2; i++) {
            assert_true(b->ends[2 * band + i] >= done[i]);
            done[i] = b->ends[2 * band + i];
        }
        uint64_t first = done[0] / of_row * r->local[1], second = done[1] / of_row * r->local[1];
        assert_true(first == HEIGHT || second == 0 || second + lag <= first);
    }
    assert_int_equal(done[0], all);
    assert_int_equal(done[1], all);
}

static void a_separable_filter_runs_in_bands(void **state)
{
    (void)state;
    if (!spirv_make_can_compile()) skip();
    struct fuser_plan *plan = plan_of((const char *const[]){"blur_x", "blur_y"}, 2, CACHE);
    check_remark(plan, "banded", "k0", "", "the 2 launches from k0 to k1");
    check_remark(plan, "ring_memory", "k0", "b1", "no more are in use");
    expect_lag(plan, 8);
    assert_true(plan->rings[1] && plan->rings[1] < CACHE && !plan->rings[0] && !plan->rings[2]);
    assert_int_equal(plan->bands[0].n_conditions, 3);
    fuser_plan_free(plan);
}

/* The ring then has what all of them have in use, and bands are enough for nobody to wait long. */
static void each_core_has_a_band(void **state)
{
    static const char *const kernels[] = {"blur_x", "blur_y"};
    (void)state;
    if (!spirv_make_can_compile()) skip();
    struct fuser_plan *one = plan_for(kernels, 2, CACHE, 1, 1), *four = plan_for(kernels, 2, CACHE, 4, 1);
    assert_int_equal(one->bands[0].at_once, 1);
    assert_int_equal(four->bands[0].at_once, 4);
    expect_lag(four, 8);
    const struct fuser_bands *b = &four->bands[0];
    uint64_t row_bytes = WIDTH * sizeof(float), of_row = WIDTH / four->launches[0].range.local[0];
    for (uint32_t band = 0; band + b->at_once <= b->n_bands; band++) {
        uint64_t read = band ? b->ends[2 * (band - 1) + 1] / of_row : 0, first = read < 8 ? 0 : read - 8;
        assert_true((b->ends[2 * (band + b->at_once - 1)] / of_row - first) * row_bytes <= four->rings[1]);
    }
    fuser_plan_free(one);
    fuser_plan_free(four);
    four = plan_for(kernels, 2, 48 << 10, 4, 1); /* no room for four */
    assert_int_equal(four->bands[0].at_once, 1);
    fuser_plan_free(four);
}

/* An executor maps a ring 1024 times at most. */
static void rings_have_few_rounds(void **state)
{
    static const char *const kernels[] = {"blur_x", "blur_y"};
    (void)state;
    if (!spirv_make_can_compile()) skip();
    struct fuser_plan *some = plan_for(kernels, 2, CACHE, 1, 2), *many = plan_for(kernels, 2, CACHE, 1, 300);
    assert_true(some->rings[1] > 0);
    assert_int_equal(many->rings[1], 0);
    fuser_plan_free(some);
    fuser_plan_free(many);
}

static void planes_of_a_picture_are_apart(void **state)
{
    (void)state;
    if (!spirv_make_can_compile()) skip();
    struct fuser_plan *plan = plan_of((const char *const[]){"gray", "blur_x", "blur_y"}, 3, CACHE);
    check_remark(plan, "banded", "k0", "", "from k0 to k2");
    fuser_plan_free(plan);
}

static void elements_that_nobody_writes_need_their_memory(void **state)
{
    (void)state;
    if (!spirv_make_can_compile()) skip();
    struct fuser_plan *plan = plan_of((const char *const[]){"inside", "blur_y"}, 2, CACHE);
    check_no_remark(plan, "ring_memory");
    fuser_plan_free(plan);
}

static void what_needs_all_rows_ends_the_bands(void **state)
{
    static const char *const last[] = {"upside_down", "anywhere"};
    (void)state;
    if (!spirv_make_can_compile()) skip();
    for (unsigned i = 0; i < 2; i++) {
        struct fuser_plan *plan = plan_of((const char *const[]){"blur_x", last[i]}, 2, CACHE);
        check_no_remark(plan, "banded");
        check_remark(plan, "not_banded", "k0", "", "too much would be in use");
        fuser_plan_free(plan);
        plan = plan_of((const char *const[]){"blur_x", "blur_y", last[i]}, 3, CACHE);
        check_remark(plan, "banded", "k0", "", "from k0 to k1");
        assert_true(plan->rings[1] && !plan->rings[2]);
        fuser_plan_free(plan);
    }
}

static void small_pictures_stay_in_the_cache_anyway(void **state)
{
    (void)state;
    if (!spirv_make_can_compile()) skip();
    struct fuser_plan *plan = plan_of((const char *const[]){"blur_x", "blur_y"}, 2, 1 << 20);
    check_no_remark(plan, "banded");
    fuser_plan_free(plan);
    plan = plan_of((const char *const[]){"blur_x", "blur_y"}, 2, 0);
    assert_int_equal(plan->n_bands, 0);
    fuser_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_separable_filter_runs_in_bands),
        cmocka_unit_test(each_core_has_a_band),
        cmocka_unit_test(rings_have_few_rounds),
        cmocka_unit_test(planes_of_a_picture_are_apart),
        cmocka_unit_test(elements_that_nobody_writes_need_their_memory),
        cmocka_unit_test(what_needs_all_rows_ends_the_bands),
        cmocka_unit_test(small_pictures_stay_in_the_cache_anyway),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
