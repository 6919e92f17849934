/* Images in plans: which kernels they keep apart, and that they stay in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/plan_check.h"

enum { SIDE = 16 };

#define PIXEL                                                                                                          \
    "    %i = global_id x\n    %j = global_id y\n    %x = trunc i32 %i\n    %y = trunc i32 %j\n"                       \
    "    %at = vec i32x2 %x, %y\n"

static const char text[] =
    "kernel @copy(%from: image2d.read, %to: image2d.write) {\n" PIXEL "    %p = image_read f32x4 %from, %at\n"
    "    image_write f32x4 %to, %at, %p\n"
    "}\n"
    "kernel @near(%from: image2d.read, %to: image2d.write) {\n" PIXEL
    "    %z = add i32 %x, 1\n    %by = vec i32x2 %z, %y\n    %p = image_read f32x4 %from, %by\n"
    "    image_write f32x4 %to, %at, %p\n"
    "}\n"
    "kernel @turned(%from: image2d.read, %to: image2d.write) {\n" PIXEL
    "    %by = vec i32x2 %y, %x\n    %p = image_read f32x4 %from, %by\n    image_write f32x4 %to, %at, %p\n"
    "}\n"
    "kernel @edge(%from: image2d.read, %to: image2d.write) {\n" PIXEL
    "    %s = make_sampler 18\n    %f = stof f32x2 %at\n    %p = image_read f32x4 %from, %f, %s\n"
    "    image_write f32x4 %to, %at, %p\n"
    "}\n"
    "kernel @between(%from: image2d.read, %to: image2d.write) {\n" PIXEL
    "    %s = make_sampler 34\n    %f = stof f32x2 %at\n    %p = image_read f32x4 %from, %f, %s\n"
    "    image_write f32x4 %to, %at, %p\n"
    "}\n"
    "kernel @column(%from: image2d.read, %to: image2d.write) {\n" PIXEL
    "    %by = vec i32x2 %x, 0\n    %p = image_read f32x4 %from, %by\n    image_write f32x4 %to, %by, %p\n"
    "}\n"
    "kernel @red(%from: image2d.read, %o: ptr.global f32) {\n" PIXEL "    %p = image_read f32x4 %from, %at\n"
    "    %r = extract f32x4 %p, 0\n"
    "    %k = global_linear_id\n"
    "    store f32 %o[%k], %r\n"
    "}\n"
    "kernel @twice(%a: ptr.global f32, %o: ptr.global f32) {\n"
    "    %k = global_linear_id\n"
    "    %v = load f32 %a[%k]\n"
    "    %w = fadd f32 %v, %v\n"
    "    store f32 %o[%k], %w\n"
    "}\n";

static struct test_graph *g;

static int set_up(void **state)
{
    (void)state;
    g = test_graph_new(text);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    test_graph_free(g);
    return 0;
}

static uint32_t image(const char *name, struct fuser_props props)
{
    uint32_t i = test_buffer(g, name, IR_VOID, 0, props);
    g->graph.buffers[i].bytes = SIDE * SIDE * 16;
    g->graph.buffers[i].image = true;
    g->graph.buffers[i].extent[0] = g->graph.buffers[i].extent[1] = SIDE;
    return i;
}

static uint32_t floats(const char *name, struct fuser_props props)
{
    return test_buffer(g, name, IR_F32, SIDE * SIDE, props);
}

static void add(const char *name, const char *kernel, uint32_t a, uint32_t b)
{
    struct fuser_arg args[] = {test_arg_buffer(a), test_arg_buffer(b)};
    test_kernel(g, name, kernel, test_range_2d(SIDE, SIDE), args, 2);
}

static const struct fuser_props none, internal = {FUSER_SCOPE_WORK_ITEM, true, true};

/* Each work-item reads the pixel that it wrote; the image stays. */
static void own_pixels(void **state)
{
    (void)state;
    uint32_t in = image("in", none), mid = image("mid", internal), out = image("out", none);
    add("first", "copy", in, mid);
    add("second", "edge", mid, out);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "first second");
    check_internalized(g, plan, "");
    assert_int_equal(plan->launches[0].n_params, 3); /* mid is one, which is read and written */
    assert_int_equal(plan->bytes_fused, plan->bytes_unfused);
    fuser_plan_free(plan);
}

/* Pixels of others, or not known to be one's own. */
static void other_pixels(void **state)
{
    static const char *const readers[] = {"near", "turned", "between", "column"};
    (void)state;
    uint32_t in = image("in", none), mid = image("mid", none), out = image("out", none);
    uint32_t reader = 0;
    add("first", "copy", in, mid);
    add("second", "copy", mid, out);
    for (; reader < sizeof readers / sizeof *readers; reader++) {
        g->graph.nodes[1].kernel = ir_module_find(g->module, readers[reader]);
        g->options.mode = FUSER_MODE_ENABLE;
        struct fuser_plan *plan = check_planned(g);
        check_launches(g, plan, "first|second");
        check_remark(plan, "not_fused_image", "second", "mid", "both use image mid and one writes it");
        fuser_plan_free(plan);
        g->options.mode = FUSER_MODE_REQUIRE;
        check_fails(g, FUSER_KERNEL_NOT_SUPPORTED, "second", "image mid");
    }
}

/* Outside of the image a sampler that clamps leads to pixels of others; none is read without one. */
static void outside(void **state)
{
    (void)state;
    uint32_t in = image("in", none), mid = image("mid", none), out = image("out", none);
    g->graph.buffers[mid].extent[0] = SIDE - 1;
    add("first", "copy", in, mid);
    add("second", "edge", mid, out);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "first|second");
    fuser_plan_free(plan);
    g->graph.nodes[1].kernel = ir_module_find(g->module, "copy");
    plan = check_planned(g);
    check_launches(g, plan, "first second");
    fuser_plan_free(plan);
}

static void read_and_written(void **state)
{
    (void)state;
    uint32_t in = image("in", none), out = image("out", none), o = floats("o", none);
    add("look", "red", in, o);
    add("change", "copy", out, in);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "look change");
    fuser_plan_free(plan);
    g->graph.nodes[1].kernel = ir_module_find(g->module, "column");
    plan = check_planned(g);
    check_launches(g, plan, "look|change");
    fuser_plan_free(plan);
}

static void written_twice(void **state)
{
    (void)state;
    uint32_t in = image("in", none), other = image("other", none), out = image("out", none);
    add("first", "copy", in, out);
    add("second", "copy", other, out);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "first second");
    fuser_plan_free(plan);
}

/* Readers of one image are fused, with each other and with those on buffers, which lose their memory. */
static void only_read(void **state)
{
    (void)state;
    uint32_t in = image("in", none), out = image("out", none), t = floats("t", internal), o = floats("o", none);
    add("red", "red", in, t);
    add("twice", "twice", t, o);
    add("copy", "copy", in, out);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "copy red twice");
    check_internalized(g, plan, "t");
    check_no_remark(plan, "not_fused_image");
    assert_int_equal(plan->launches[0].n_params, 3); /* in is one parameter */
    fuser_plan_free(plan);
}

/* A cut in the middle: what comes after it begins a new group. */
static void cut_in_the_middle(void **state)
{
    (void)state;
    uint32_t in = image("in", none), mid = image("mid", none), t = floats("t", internal), o = floats("o", none);
    add("make", "column", in, mid);
    add("red", "red", mid, t);
    add("twice", "twice", t, o);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "make|red twice");
    check_internalized(g, plan, "t");
    check_remark(plan, "not_fused_image", "red", "mid", "make");
    fuser_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(own_pixels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_pixels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(outside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(read_and_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(written_twice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cut_in_the_middle, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("plan_images", tests, NULL, NULL);
}
