/* Plans: which kernels become one launch, which buffers lose their memory, and what is said about it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/graph/props.h"
#include "ir/text/print/print.h"
#include "tests/support/cases.h"
#include "tests/support/plan_check.h"
#include "tests/support/plan_run.h"
#include "tests/support/random_graph.h"
#include "tests/support/rng.h"

/* Line numbers matter: they are asserted. */
static const char kernels[] = "kernel @add(%a: ptr.global f32, %b: ptr.global f32, %o: ptr.global f32) {\n"
                              "    %i = global_id x\n"
                              "    %x = load f32 %a[%i]\n"
                              "    %y = load f32 %b[%i]\n"
                              "    %s = fadd f32 %x, %y\n"
                              "    store f32 %o[%i], %s\n" /* line 6 */
                              "}\n"
                              "kernel @mul(%a: ptr.global f32, %b: ptr.global f32, %o: ptr.global f32) {\n"
                              "    %i = global_id x\n"
                              "    %x = load f32 %a[%i]\n"
                              "    %y = load f32 %b[%i]\n"
                              "    %s = fmul f32 %x, %y\n"
                              "    store f32 %o[%i], %s\n"
                              "}\n"
                              "kernel @scale(%a: ptr.global f32, %o: ptr.global f32, %k: f32) {\n"
                              "    %i = global_id x\n"
                              "    %x = load f32 %a[%i]\n" /* line 17 */
                              "    %s = fmul f32 %x, %k\n"
                              "    store f32 %o[%i], %s\n"
                              "}\n"
                              "kernel @next(%a: ptr.global f32, %o: ptr.global f32) {\n"
                              "    %i = global_id x\n"
                              "    %j = add i64 %i, 1\n"
                              "    %x = load f32 %a[%j]\n" /* line 24 */
                              "    store f32 %o[%i], %x\n" /* line 25 */
                              "}\n"
                              "kernel @clamped(%a: ptr.global f32, %o: ptr.global f32) {\n"
                              "    %i = global_id x\n"
                              "    %k = sub i64 %i, 1\n"
                              "    %j = smax i64 %k, 0\n"
                              "    %x = load f32 %a[%j]\n"
                              "    store f32 %o[%i], %x\n"
                              "}\n"
                              "kernel @behind(%a: ptr.global f32, %o: ptr.global f32, %n: i64) {\n"
                              "    %i = global_id x\n"
                              "    %c = uge i64 %i, %n\n"
                              "    if %c {\n"
                              "        return\n"
                              "    }\n"
                              "    %k = sub i64 %i, 1\n"
                              "    %j = smax i64 %k, 0\n"
                              "    %x = load f32 %a[%j]\n"
                              "    store f32 %o[%i], %x\n"
                              "}\n"
                              "kernel @gather(%a: ptr.global f32, %w: ptr.global i32, %o: ptr.global f32) {\n"
                              "    %i = global_id x\n"
                              "    %v = load i32 %w[%i]\n"
                              "    %j = and i32 %v, 15\n"
                              "    %x = load f32 %a[%j]\n" /* line 49 */
                              "    store f32 %o[%i], %x\n"
                              "}\n"
                              "kernel @guarded(%a: ptr.global f32, %o: ptr.global f32, %n: i64) {\n"
                              "    %i = global_id x\n"
                              "    %c = uge i64 %i, %n\n"
                              "    if %c {\n"
                              "        return\n"
                              "    }\n"
                              "    %x = load f32 %a[%i]\n"
                              "    %y = fadd f32 %x, 1.0\n"
                              "    store f32 %o[%i], %y\n"
                              "}\n"
                              "kernel @swap(%a: ptr.global f32, %o: ptr.global f32) {\n"
                              "    %l = local_id x\n"
                              "    %s = local_size x\n"
                              "    %g = group_id x\n"
                              "    %b = mul i64 %g, %s\n"
                              "    %m = sub i64 %s, 1\n"
                              "    %r = sub i64 %m, %l\n"
                              "    %j = add i64 %b, %r\n"
                              "    %i = global_id x\n"
                              "    %x = load f32 %a[%j]\n"
                              "    store f32 %o[%i], %x\n"
                              "}\n"
                              "kernel @shared(%a: ptr.global f32, %t: ptr.local f32, %o: ptr.global f32) {\n"
                              "    %i = global_id x\n"
                              "    %l = local_id x\n"
                              "    %x = load f32 %a[%i]\n"
                              "    store f32 %t[%l], %x\n"
                              "    barrier local\n"
                              "    %y = load f32 %t\n"
                              "    store f32 %o[%i], %y\n"
                              "}\n"
                              "kernel @plane(%a: ptr.global f32, %o: ptr.global f32, %w: i64) {\n"
                              "    %x = global_id x\n"
                              "    %y = global_id y\n"
                              "    %r = mul i64 %y, %w\n"
                              "    %i = add i64 %r, %x\n"
                              "    %v = load f32 %a[%i]\n"
                              "    %s = fmul f32 %v, 2.0\n"
                              "    store f32 %o[%i], %s\n"
                              "}\n"
                              "kernel @wide(%a: ptr.global f32) aspects(fp64) {\n"
                              "}\n"
                              "kernel @squads(%a: ptr.global f32) sub_group_size(8) {\n"
                              "}\n"
                              "kernel @teams(%a: ptr.global f32) work_group_size(32, 1, 1) {\n"
                              "    %i = global_id x\n"
                              "    store f32 %a[%i], 1.0\n"
                              "}\n"
                              "kernel @table(%a: ptr.constant f32, %o: ptr.global f32) {\n"
                              "    %i = global_id x\n"
                              "    %x = load f32 %a[%i]\n"
                              "    store f32 %o[%i], %x\n"
                              "}\n";

enum { N = 512 };

static const struct fuser_props none = {0};
static const struct fuser_props internal = {FUSER_SCOPE_NONE, true, false};
static const struct fuser_props all = {FUSER_SCOPE_WORK_ITEM, true, true};

#define BUFFER(g, name, props) test_buffer(g, name, IR_F32, N, props)
#define ARGS(...)                                                                                                      \
    (const struct fuser_arg[]){__VA_ARGS__}, sizeof((const struct fuser_arg[]){__VA_ARGS__}) / sizeof(struct fuser_arg)
#define B(index) test_arg_buffer(index)
#define V(index) test_arg_value(index)

static struct nd_range range(void)
{
    return test_range(N / 2, 0); /* so that next stays inside */
}

static void finish(struct test_graph *g, struct fuser_plan *plan)
{
    fuser_plan_free(plan);
    test_graph_free(g);
}

/* ---- the example of the specification ---- */

static struct test_graph *diamond(struct fuser_props props)
{
    struct test_graph *g = test_graph_new(kernels);
    uint32_t in1 = BUFFER(g, "in1", none), in2 = BUFFER(g, "in2", none), in3 = BUFFER(g, "in3", none);
    uint32_t t1 = BUFFER(g, "t1", props), t2 = BUFFER(g, "t2", props), t3 = BUFFER(g, "t3", props),
             out = BUFFER(g, "out", none);
    uint32_t k = test_value(g, 4);
    test_kernel(g, "first", "add", test_range(N, 0), ARGS(B(in1), B(in2), B(t1)));
    test_kernel(g, "left", "mul", test_range(N, 0), ARGS(B(t1), B(in3), B(t2)));
    test_kernel(g, "right", "scale", test_range(N, 0), ARGS(B(t1), B(t3), V(k)));
    test_kernel(g, "last", "add", test_range(N, 0), ARGS(B(t2), B(t3), B(out)));
    return g;
}

static void diamond_is_one_launch(void **state)
{
    (void)state;
    struct test_graph *g = diamond(all);
    g->options.mode = FUSER_MODE_REQUIRE;
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "first left right last");
    check_internalized(g, plan, "t1 t2 t3");
    check_same(g, plan);
    assert_int_equal(plan->bytes_unfused, 11 * N * 4);
    assert_int_equal(plan->bytes_fused, 4 * N * 4);
    assert_int_equal(plan->launches[0].n_params, 5);
    check_remark(plan, "fused", "first", "", "4 kernels are one launch: first, left, right, last");
    check_remark(plan, "internalized_private", "first", "t1",
                 "buffer t1 is kept in registers of first, left, right, last: saves 2048 bytes of memory and 6144 "
                 "bytes of traffic");
    check_remark(plan, "internalized_private", "", "t2", "saves 2048 bytes of memory and 4096 bytes of traffic");
    check_no_remark(plan, "vouched_by_scope"); /* all of it is proved */
    finish(g, plan);
}

static void diamond_needs_one_property_only(void **state)
{
    (void)state;
    struct test_graph *g = diamond(internal);
    struct fuser_plan *plan = check_planned(g);
    check_internalized(g, plan, "t1 t2 t3");
    check_same(g, plan);
    finish(g, plan);
    g = diamond(none);
    plan = check_planned(g);
    check_launches(g, plan, "first left right last");
    check_internalized(g, plan, "");
    check_remark(plan, "internalization_possible", "first", "t1", "fusion_internal_memory");
    assert_int_equal(plan->bytes_fused, 7 * N * 4); /* forwarded, but written */
    check_same(g, plan);
    finish(g, plan);
}

static void without_fusion_each_kernel_is_a_launch(void **state)
{
    (void)state;
    struct test_graph *g = diamond(all);
    g->options.mode = FUSER_MODE_NONE;
    g->options.insert_barriers = true;
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "first|left|right|last");
    check_internalized(g, plan, "");
    assert_int_equal(plan->bytes_fused, plan->bytes_unfused);
    check_remark(plan, "property_without_effect", "", "", "insert_barriers");
    check_same(g, plan);
    finish(g, plan);
}

static void a_device_that_cannot_fuse(void **state)
{
    (void)state;
    struct test_graph *g = diamond(all);
    g->options.device.can_fuse = false;
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "first|left|right|last");
    check_remark(plan, "not_fused_device", "", "", "ext_oneapi_graph_fusion");
    fuser_plan_free(plan);
    g->options.mode = FUSER_MODE_REQUIRE;
    check_fails(g, FUSER_FEATURE_NOT_SUPPORTED, "device cpu", "ext_oneapi_graph_fusion");
    test_graph_free(g);
}

static void one_kernel_meets_require_fusion(void **state)
{
    (void)state;
    struct test_graph *g = test_graph_new(kernels);
    uint32_t a = BUFFER(g, "a", none);
    test_kernel(g, "only", "scale", range(), ARGS(B(a), B(a), V(test_value(g, 4))));
    g->options.mode = FUSER_MODE_REQUIRE;
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "only");
    assert_int_equal(plan->launches[0].n_params, 2);
    check_no_remark(plan, "fused");
    check_same(g, plan);
    finish(g, plan);
}

static void an_empty_graph(void **state)
{
    (void)state;
    struct test_graph *g = test_graph_new(kernels);
    g->options.mode = FUSER_MODE_REQUIRE;
    struct fuser_plan *plan = check_planned(g);
    assert_int_equal(plan->n_steps, 0);
    finish(g, plan);
}

/* ---- dependences ---- */

/* Two kernels through buffer t with these properties. */
static struct test_graph *pair(const char *first, const char *second, struct nd_range r, struct fuser_props props)
{
    struct test_graph *g = test_graph_new(kernels);
    uint32_t a = BUFFER(g, "a", none), t = BUFFER(g, "t", props), o = BUFFER(g, "o", none);
    uint32_t w = test_buffer(g, "w", IR_I32, N, none), k = test_value(g, 4), n = test_value(g, 8);
    const char *names[2] = {first, second};
    for (int i = 0; i < 2; i++) {
        uint32_t from = i ? t : a, to = i ? o : t;
        const char *node = i ? "later" : "earlier";
        if (strcmp(names[i], "scale") == 0) test_kernel(g, node, "scale", r, ARGS(B(from), B(to), V(k)));
        if (strcmp(names[i], "gather") == 0) test_kernel(g, node, "gather", r, ARGS(B(from), B(w), B(to)));
        if (strcmp(names[i], "guarded") == 0) test_kernel(g, node, "guarded", r, ARGS(B(from), B(to), V(n)));
        if (strcmp(names[i], "behind") == 0) test_kernel(g, node, "behind", r, ARGS(B(from), B(to), V(n)));
        if (strcmp(names[i], "plane") == 0) test_kernel(g, node, "plane", r, ARGS(B(from), B(to), V(n)));
        if (strcmp(names[i], "next") == 0 || strcmp(names[i], "clamped") == 0 || strcmp(names[i], "swap") == 0)
            test_kernel(g, node, names[i], r, ARGS(B(from), B(to)));
    }
    return g;
}

static void a_stencil_is_cut(void **state)
{
    (void)state;
    struct test_graph *g = pair("scale", "next", range(), internal);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "earlier|later");
    check_remark(plan, "not_fused_race", "later", "t",
                 "earlier and later cannot run as one kernel: work-item 1 of earlier (line 19) writes what is then "
                 "read of buffer t by "
                 "work-item 0 of later (line 24)");
    check_remark(plan, "not_internalized_groups", "later", "t", "earlier and later use it, which are not fused");
    check_same(g, plan);
    fuser_plan_free(plan);
    g->options.mode = FUSER_MODE_REQUIRE;
    check_fails(g, FUSER_KERNEL_NOT_SUPPORTED, "node later", "work-item 1 of earlier (line 19)");
    check_fails(g, FUSER_KERNEL_NOT_SUPPORTED, "node later", "work-item 0 of later (line 24)");
    test_graph_free(g);
}

/* max(i - 1, 0) is no sum, but an example is a proof too. Behind a scalar's guard there is none. */
static void a_clamped_stencil_is_cut(void **state)
{
    (void)state;
    struct test_graph *g = pair("scale", "clamped", range(), all);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "earlier|later");
    check_remark(
        plan, "not_fused_race", "later", "t",
        "work-item 0 of earlier (line 19) writes what is then read of buffer t by work-item 1 of later (line 31)");
    fuser_plan_free(plan);
    g->options.mode = FUSER_MODE_REQUIRE;
    check_fails(g, FUSER_KERNEL_NOT_SUPPORTED, "node later", "cannot run as one kernel");
    test_graph_free(g);

    g = pair("scale", "clamped", test_range(256, 16), none);
    g->options.insert_barriers = true;
    plan = check_planned(g);
    check_launches(g, plan, "earlier|later");
    check_remark(plan, "not_fused_race", "later", "t", "by work-item 16 of later");
    finish(g, plan);

    g = pair("scale", "behind", range(), none);
    plan = check_planned(g);
    check_launches(g, plan, "earlier|later");
    check_remark(plan, "not_fused_dependence", "later", "t", "perhaps by another work-item");
    finish(g, plan);
}

/* Nor does the user's word help against a proof. */
static void a_proved_race_beats_a_property(void **state)
{
    (void)state;
    struct test_graph *g = pair("scale", "next", range(), all);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "earlier|later");
    fuser_plan_free(plan);
    g->options.mode = FUSER_MODE_REQUIRE;
    check_fails(g, FUSER_KERNEL_NOT_SUPPORTED, "node later", "cannot run as one kernel");
    test_graph_free(g);
}

/* The later kernel overwrites what the earlier one still has to read, or has to have written. */
static void write_after_read_and_after_write(void **state)
{
    (void)state;
    struct test_graph *g = test_graph_new(kernels);
    uint32_t a = BUFFER(g, "a", none), b = BUFFER(g, "b", none), c = BUFFER(g, "c", none), k = test_value(g, 4);
    test_kernel(g, "reads", "next", range(), ARGS(B(a), B(b)));
    test_kernel(g, "writes", "scale", range(), ARGS(B(c), B(a), V(k)));
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "reads|writes");
    check_remark(plan, "not_fused_race", "writes", "a",
                 "work-item 0 of reads (line 24) reads what is then written of buffer a by work-item 1");
    check_same(g, plan);
    finish(g, plan);

    g = test_graph_new(kernels);
    struct fuser_arg shifted = B(BUFFER(g, "a", none));
    test_kernel(g, "writes", "scale", range(), ARGS(B(BUFFER(g, "b", none)), shifted, V(test_value(g, 4))));
    shifted.offset = 4;
    test_kernel(g, "again", "scale", range(), ARGS(B(1), shifted, V(0)));
    plan = check_planned(g);
    check_launches(g, plan, "writes|again");
    check_remark(plan, "not_fused_race", "again", "a", "writes what is then written again");
    check_same(g, plan);
    finish(g, plan);
}

static void unproved_dependences(void **state)
{
    (void)state;
    struct test_graph *g = pair("scale", "gather", range(), none);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "earlier|later");
    check_remark(plan, "not_fused_dependence", "later", "t", "access_scope_work_item on the buffer would say");
    check_remark(plan, "not_fused_dependence", "later", "t", "later (line 49)");
    check_same(g, plan);
    fuser_plan_free(plan);

    g->options.mode = FUSER_MODE_REQUIRE; /* on the user's word */
    plan = check_planned(g);
    check_launches(g, plan, "earlier later");
    check_remark(plan, "vouched_by_require", "later", "t", "is not proved, but asserted by require_fusion");
    finish(g, plan);

    g = pair("scale", "gather", range(), (struct fuser_props){FUSER_SCOPE_WORK_ITEM, false, false});
    plan = check_planned(g);
    check_launches(g, plan, "earlier later");
    check_remark(plan, "vouched_by_scope", "later", "t", "access_scope_work_item");
    finish(g, plan);

    g = pair("scale", "gather", range(), (struct fuser_props){FUSER_SCOPE_WORK_GROUP, false, false});
    plan = check_planned(g); /* no barrier: not enough */
    check_launches(g, plan, "earlier|later");
    finish(g, plan);
}

static void barriers_order_work_groups(void **state)
{
    (void)state;
    struct test_graph *g = pair("scale", "swap", test_range(256, 16), internal);
    g->options.barriers = FUSER_BARRIERS_NONE;
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "earlier|later"); /* a race inside the work-group */
    check_remark(plan, "not_fused_race", "later", "t", "work-item");
    fuser_plan_free(plan);
    g->options.insert_barriers = true;
    plan = check_planned(g);
    check_launches(g, plan, "earlier later");
    check_remark(plan, "barrier_orders", "later", "t", "inside work-groups");
    check_internalized(g, plan, "t");
    assert_int_equal(plan->storage[1], FUSER_STORAGE_LOCAL);
    check_remark(plan, "internalized_local", "earlier", "t",
                 "buffer t is kept in work-group memory, 64 bytes for each work-group, of earlier, later: saves 2048 "
                 "bytes of memory and 2048 bytes of traffic");
    check_same(g, plan);
    finish(g, plan);

    g = pair("scale", "swap", range(), none); /* without a local size nobody knows the groups */
    g->options.insert_barriers = true;
    plan = check_planned(g);
    check_launches(g, plan, "earlier|later");
    finish(g, plan);

    g = pair("scale", "next", test_range(256, 16), none); /* crosses groups */
    g->options.insert_barriers = true;
    plan = check_planned(g);
    check_launches(g, plan, "earlier|later");
    check_remark(plan, "not_fused_race", "later", "t", "work-item 16 of earlier");
    finish(g, plan);

    g = pair("scale", "gather", test_range(256, 16), (struct fuser_props){FUSER_SCOPE_WORK_GROUP, false, false});
    g->options.insert_barriers = true;
    plan = check_planned(g);
    check_launches(g, plan, "earlier later");
    check_remark(plan, "vouched_by_scope", "later", "t", "access_scope_work_group");
    finish(g, plan);
}

static void guarded_kernels_are_proved(void **state)
{
    (void)state;
    struct test_graph *g = pair("guarded", "guarded", range(), none);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "earlier later");
    check_no_remark(plan, "vouched_by_require");
    check_same(g, plan);
    finish(g, plan);

    g = pair("guarded", "scale", range(), internal); /* perhaps not written: no_init would say so */
    plan = check_planned(g);
    check_internalized(g, plan, "");
    check_remark(plan, "not_internalized_init", "earlier", "t", "no_init");
    check_same(g, plan);
    finish(g, plan);

    g = pair("guarded", "guarded", range(), (struct fuser_props){FUSER_SCOPE_NONE, true, true});
    plan = check_planned(g);
    check_internalized(g, plan, "t");
    check_same(g, plan);
    finish(g, plan);
}

/* An index by the global size is another one in a kernel with another range. */
static void the_same_expression_over_another_range(void **state)
{
    (void)state;
    struct test_graph *g = test_graph_new("kernel @by_size(%a: ptr.global f32, %o: ptr.global f32, %n: i64) {\n"
                                          "    %i = global_id x\n"
                                          "    %s = global_size x\n"
                                          "    %p = mul i64 %s, %n\n"
                                          "    %j = add i64 %i, %p\n"
                                          "    %x = load f32 %a[%j]\n"
                                          "    store f32 %o[%j], %x\n"
                                          "}\n");
    uint32_t a = BUFFER(g, "a", none), t = BUFFER(g, "t", all), o = BUFFER(g, "o", none), n = test_value(g, 8);
    test_kernel(g, "one", "by_size", test_range(32, 0), ARGS(B(a), B(t), V(n)));
    test_kernel(g, "two", "by_size", test_range(32, 0), ARGS(B(t), B(o), V(n)));
    struct fuser_plan *plan = check_planned(g);
    check_internalized(g, plan, "t");
    check_same(g, plan);
    fuser_plan_free(plan);
    g->graph.nodes[1].range = test_range(16, 0);
    plan = check_planned(g);
    check_launches(g, plan, "one two");
    check_internalized(g, plan, "");
    check_remark(plan, "not_internalized_elements", "two", "t", "not proved");
    finish(g, plan);
}

/* y * w + x with w a scalar: whose element it is cannot be proved, that it is the same one can. */
static void an_index_with_an_unknown_width(void **state)
{
    (void)state;
    struct test_graph *g = pair("plane", "plane", test_range_2d(8, 4), internal);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "earlier|later");
    finish(g, plan);
    g = pair("plane", "plane", test_range_2d(8, 4), (struct fuser_props){FUSER_SCOPE_WORK_ITEM, true, false});
    plan = check_planned(g);
    check_launches(g, plan, "earlier later");
    check_internalized(g, plan, "t");
    fuser_plan_free(plan);
    g->graph.values[1].size = 8;
    uint32_t other = test_value(g, 8);
    g->graph.nodes[1].args[2].index = other; /* another width: another element */
    plan = check_planned(g);
    check_launches(g, plan, "earlier later");
    check_internalized(g, plan, "");
    check_remark(plan, "not_internalized_elements", "later", "t", "not proved");
    finish(g, plan);
}

/* ---- ranges ---- */

static void expect_ranges(struct nd_range first, struct nd_range second, const char *launches, const char *code,
                          const char *text)
{
    struct test_graph *g = pair("scale", "scale", first, none);
    g->graph.nodes[1].range = second;
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, launches);
    if (code) check_remark(plan, code, "later", "", text);
    if (first.dims == 1) check_same(g, plan); /* in a plane the kernels race by themselves */
    finish(g, plan);
}

static void ranges(void **state)
{
    (void)state;
    struct nd_range moved = test_range(64, 0);
    moved.offset[0] = 8;
    expect_ranges(test_range(64, 0), test_range(64, 16), "earlier later", NULL, NULL);
    expect_ranges(test_range(64, 16), test_range(64, 32), "earlier later", NULL, NULL); /* they cannot tell */
    expect_ranges(test_range(64, 0), test_range(50, 0), "earlier later", NULL, NULL);
    expect_ranges(test_range(50, 0), test_range(64, 0), "earlier later", NULL, NULL);
    expect_ranges(test_range(64, 0), moved, "earlier later", NULL, NULL);
    expect_ranges(moved, moved, "earlier later", NULL, NULL);
    expect_ranges(test_range_2d(8, 8), test_range(64, 0), "earlier|later", "not_fused_dependence",
                  "perhaps by another work-item"); /* the rows of the plane share elements */
    expect_ranges(test_range(60, 16), test_range(60, 16), "earlier|later", "not_fused_uneven", "does not divide");
    expect_ranges(test_range(64, 16), test_range(40, 0), "earlier later", NULL, NULL);
    expect_ranges(test_range(40, 0), test_range(60, 16), "earlier|later", "not_fused_uneven",
                  "local size 16 does not divide global size 60");
}

static void local_sizes_are_filled_in(void **state)
{
    (void)state;
    struct test_graph *g = test_graph_new(kernels);
    uint32_t a = test_buffer(g, "a", IR_F32, 100000, none);
    test_kernel(g, "teams", "teams", test_range(64, 0), ARGS(B(a)));
    struct fuser_plan *plan = check_planned(g);
    assert_int_equal(plan->launches[0].range.local[0], 32);
    fuser_plan_free(plan);
    g->graph.nodes[0].kernel = ir_module_find(g->module, "wide");
    static const struct {
        uint64_t global[3], local[3];
    } cases[] = {{{100, 1, 1}, {100, 1, 1}},   {{4096, 1, 1}, {1024, 1, 1}}, {{1000, 1, 1}, {1000, 1, 1}},
                 {{3000, 1, 1}, {1000, 1, 1}}, {{2000, 3, 1}, {1000, 1, 1}}, {{64, 64, 1}, {64, 16, 1}},
                 {{4099, 1, 1}, {1024, 1, 1}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nd_range r = {.dims = 3};
        memcpy(r.global, cases[i].global, sizeof r.global);
        g->graph.nodes[0].range = r;
        plan = check_planned(g);
        assert_memory_equal(plan->launches[0].range.local, cases[i].local, sizeof r.local);
        assert_int_equal(plan->launches[0].module->functions[0]->work_group_size[0], 0); /* code for all of them */
        fuser_plan_free(plan);
    }
    test_graph_free(g);
}

static const char planes[] =
    "kernel @rows(%a: ptr.global f32, %o: ptr.global f32, %n: i64) {\n  %x = global_id x\n  %y = global_id y\n"
    "  %r = mul i64 %y, %n\n  %i = add i64 %r, %x\n  %v = load f32 %a[%i]\n  store f32 %o[%i], %v\n}\n"
    "kernel @columns(%a: ptr.global f32, %o: ptr.global f32, %n: i64) {\n  %x = global_id x\n  %y = global_id y\n"
    "  %r = mul i64 %x, %n\n  %i = add i64 %r, %y\n  %v = load f32 %a[%i]\n  store f32 %o[%i], %v\n}\n"
    "kernel @square(%a: ptr.global f32, %o: ptr.global f32, %n: i64) {\n  %x = global_id x\n  %y = global_id y\n"
    "  %r = mul i64 %x, %n\n  %i = add i64 %r, %y\n  %v = load f32 %a[%i]\n  %w = fmul f32 %v, %v\n"
    "  store f32 %o[%i], %w\n}\n"
    "kernel @looks(%a: ptr.global f32, %o: ptr.global f32, %n: i64) {\n  %x = global_id x\n  %y = global_id y\n"
    "  %r = mul i64 %x, %n\n  %i = add i64 %r, %y\n  %v = load f32 %a[%i]\n  %l = local_id x\n"
    "  %f = utof f32 %l\n  %w = fadd f32 %v, %f\n  store f32 %o[%i], %w\n}\n";

/* Where memory runs along y, `a[x * n + y]`, so do work-groups, alone and fused; on a GPU, and where a kernel looks at
   its group, along x. */
static void work_groups_run_along_memory(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second;
        bool gpu;
        uint64_t local[2];
    } cases[] = {{"rows", NULL, false, {600, 1}},
                 {"columns", NULL, false, {1, 300}},
                 {"columns", "square", false, {1, 300}},
                 {"columns", NULL, true, {200, 1}},
                 {"looks", NULL, false, {600, 1}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct test_graph *g = test_graph_new(planes);
        const struct nd_range range = test_range_2d(600, 300);
        uint32_t a = test_buffer(g, "a", IR_F32, 180000, none), t = test_buffer(g, "t", IR_F32, 180000, all),
                 o = test_buffer(g, "o", IR_F32, 180000, none), n = test_value(g, 8);
        g->options.device.is_gpu = cases[i].gpu;
        g->options.device.machine.cache_bytes = 1 << 20;
        test_kernel(g, "first", cases[i].first, range, ARGS(B(a), B(cases[i].second ? t : o), V(n)));
        if (cases[i].second) test_kernel(g, "second", cases[i].second, range, ARGS(B(t), B(o), V(n)));
        struct fuser_plan *plan = check_planned(g);
        check_launches(g, plan, cases[i].second ? "first second" : "first");
        const uint64_t *local = plan->launches[0].range.local;
        if (memcmp(local, cases[i].local, sizeof cases[i].local) != 0)
            fail_msg("case %zu: %ju x %ju", i, (uintmax_t)local[0], (uintmax_t)local[1]);
        fuser_plan_free(plan);
        test_graph_free(g);
    }
}

/* ---- commands ---- */

static void commands_go_before_and_after(void **state)
{
    (void)state;
    struct test_graph *g = pair("scale", "scale", range(), all);
    uint32_t host = BUFFER(g, "host", none), back = BUFFER(g, "back", none), more = BUFFER(g, "more", none);
    test_copy(g, "out", 2, back, 64);
    test_fill(g, "zero", more, 32, 0);
    uint32_t in = test_copy(g, "in", host, 0, 64);
    test_depends(g, 0, in); /* the accesses say the opposite */
    check_fails(g, FUSER_INVALID, "graph", "a cycle of 2 nodes: earlier -> in -> earlier");
    test_graph_free(g);

    g = test_graph_new(kernels);
    uint32_t a = BUFFER(g, "a", none), t = BUFFER(g, "t", all), o = BUFFER(g, "o", none), k = test_value(g, 4);
    host = BUFFER(g, "host", none);
    test_copy(g, "in", host, a, 64);
    test_kernel(g, "one", "scale", range(), ARGS(B(a), B(t), V(k)));
    test_host(g, "aside", ARGS(B(host)));
    test_kernel(g, "two", "scale", range(), ARGS(B(t), B(o), V(k)));
    test_copy(g, "out", o, host, 64);
    g->options.mode = FUSER_MODE_REQUIRE;
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "one two");
    check_internalized(g, plan, "t");
    assert_int_equal(plan->n_steps, 4);
    assert_int_equal(plan->steps[0].kind, FUSER_STEP_NODE);
    assert_string_equal(g->graph.nodes[plan->steps[0].index].name, "in");
    assert_string_equal(g->graph.nodes[plan->steps[1].index].name, "aside");
    assert_int_equal(plan->steps[2].kind, FUSER_STEP_LAUNCH);
    assert_string_equal(g->graph.nodes[plan->steps[3].index].name, "out");
    assert_int_equal(plan->bytes_unfused, 2 * 64 * 2 + 4 * N / 2 * 4);
    assert_int_equal(plan->bytes_fused, 2 * 64 * 2 + 2 * N / 2 * 4);
    check_same(g, plan);
    finish(g, plan);
}

static void a_command_between_kernels_cuts(void **state)
{
    (void)state;
    struct test_graph *g = test_graph_new(kernels);
    uint32_t a = BUFFER(g, "a", none), t = BUFFER(g, "t", all), o = BUFFER(g, "o", none), k = test_value(g, 4);
    test_kernel(g, "one", "scale", range(), ARGS(B(a), B(t), V(k)));
    test_host(g, "between", ARGS(B(t)));
    test_kernel(g, "two", "scale", range(), ARGS(B(t), B(o), V(k)));
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "one|two");
    check_internalized(g, plan, "");
    check_remark(plan, "not_fused_command", "between", "", "neither before nor after all kernels");
    check_remark(plan, "not_internalized_command", "between", "t", "which is no kernel");
    check_same(g, plan);
    fuser_plan_free(plan);
    g->options.mode = FUSER_MODE_REQUIRE;
    check_fails(g, FUSER_KERNEL_NOT_SUPPORTED, "node between", "neither before nor after all kernels");
    test_graph_free(g);
}

/* ---- homes ---- */

static void why_a_buffer_stays(void **state)
{
    (void)state;
    struct test_graph *g = pair("gather", "scale", range(), internal); /* w is read, t written: fine; a is shared */
    g->graph.buffers[0].props = all;
    struct fuser_plan *plan = check_planned(g);
    check_internalized(g, plan, "t");
    check_remark(plan, "not_internalized_init", "earlier", "a", "no kernel writes it");
    finish(g, plan);

    g = pair("scale", "scale", range(), none); /* the property on one accessor only */
    g->graph.nodes[0].args[1].props = all;
    plan = check_planned(g);
    check_internalized(g, plan, "");
    check_remark(plan, "not_internalized_accessor", "later", "t", "the accessor of later lacks fusion_internal_memory");
    fuser_plan_free(plan);
    g->graph.nodes[1].args[0].props = all; /* on both */
    plan = check_planned(g);
    check_internalized(g, plan, "t");
    check_same(g, plan);
    fuser_plan_free(plan);
    g->graph.nodes[1].args[0].offset = 4; /* apart */
    g->graph.nodes[1].range = g->graph.nodes[0].range = test_range(64, 0);
    g->graph.nodes[0].args[1].props.access_scope = FUSER_SCOPE_NONE;
    plan = check_planned(g);
    check_launches(g, plan, "earlier|later");
    finish(g, plan);
}

/* Accessors that overlap at different offsets are one parameter, so that nothing is thought not to alias. */
static void overlapping_accessors_share_a_parameter(void **state)
{
    (void)state;
    struct test_graph *g = test_graph_new(kernels);
    uint32_t a = BUFFER(g, "a", internal), o = BUFFER(g, "o", none), k = test_value(g, 4);
    struct fuser_arg high = B(a);
    high.offset = 128;
    test_kernel(g, "one", "scale", test_range(32, 0), ARGS(B(a), high, V(k)));
    struct fuser_arg whole = B(a);
    whole.bytes = 1024;
    test_kernel(g, "two", "add", test_range(32, 0), ARGS(high, high, B(o)));
    test_kernel(g, "three", "scale", test_range(32, 0), ARGS(B(o), whole, V(k)));
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "one two three");
    check_remark(plan, "not_internalized_mismatch", "", "a", "bytes 0 to 2048");
    assert_int_equal(plan->launches[0].n_params, 3);
    check_same(g, plan);
    finish(g, plan);
}

static void constant_memory_that_is_written(void **state)
{
    (void)state;
    struct test_graph *g = test_graph_new(kernels);
    uint32_t a = BUFFER(g, "a", none), o = BUFFER(g, "o", none), k = test_value(g, 4);
    test_kernel(g, "fill", "scale", range(), ARGS(B(o), B(a), V(k)));
    test_kernel(g, "look", "table", range(), ARGS(B(a), B(o)));
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "fill|look");
    check_remark(plan, "not_fused_kernel", "look", "", "constant memory for one kernel and is written by another");
    check_same(g, plan);
    fuser_plan_free(plan);
    g->options.mode = FUSER_MODE_REQUIRE;
    check_fails(g, FUSER_KERNEL_NOT_SUPPORTED, "node fill", "constant memory");
    test_graph_free(g);
}

/* What its user says of constant memory does not make it written: all readers of it fuse. */
static void constant_memory_is_read(void **state)
{
    (void)state;
    static const enum ir_access said[] = {IR_ACCESS_WRITE, IR_ACCESS_READ_WRITE};
    for (int i = 0; i < 2; i++) {
        struct test_graph *g = test_graph_new(kernels);
        uint32_t a = BUFFER(g, "a", none), o = BUFFER(g, "o", none), q = BUFFER(g, "q", none);
        struct fuser_arg table = B(a);
        table.access = said[i];
        test_kernel(g, "one", "table", range(), ARGS(table, B(o)));
        test_kernel(g, "two", "table", range(), ARGS(table, B(q)));
        struct fuser_plan *plan = check_planned(g);
        check_launches(g, plan, "one two");
        check_remark(plan, "access_only_read", "one", "a",
                     i ? "argument 0 was declared to be read and written, but is constant memory of kernel table"
                       : "argument 0 was declared to be written, but is constant memory of kernel table");
        check_same(g, plan);
        finish(g, plan);
    }
}

static void work_group_memory(void **state)
{
    (void)state;
    struct test_graph *g = test_graph_new(kernels);
    uint32_t a = BUFFER(g, "a", none), o = BUFFER(g, "o", none);
    test_kernel(g, "one", "shared", test_range(64, 16), ARGS(B(a), test_arg_local(64), B(o)));
    test_kernel(g, "two", "shared", test_range(64, 16), ARGS(B(o), test_arg_local(64), B(o)));
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "one two");
    check_same(g, plan);
    assert_int_equal(plan->launches[0].module->functions[0]->work_group_size[0], 16); /* code for these groups */
    fuser_plan_free(plan);
    g->options.device.max_local_bytes = 100;
    plan = check_planned(g);
    check_launches(g, plan, "one|two");
    check_remark(plan, "not_fused_local_memory", "two", "",
                 "64 bytes of work-group memory, they take 64, device cpu has 100");
    fuser_plan_free(plan);
    g->options.device.max_local_bytes = 60;
    check_fails(g, FUSER_KERNEL_NOT_SUPPORTED, "node one", "64 bytes of work-group memory; device cpu has 60");
    test_graph_free(g);
}

static void property_tables(void **state)
{
    (void)state;
    enum fuser_scope n = FUSER_SCOPE_NONE, g = FUSER_SCOPE_WORK_GROUP, i = FUSER_SCOPE_WORK_ITEM;
    const struct {
        enum fuser_scope accessor, buffer, result;
        bool valid;
    } inherit[] = {{n, n, n, true},  {n, g, g, true}, {n, i, i, true},  {g, n, g, true}, {g, g, g, true},
                   {g, i, n, false}, {i, n, i, true}, {i, g, n, false}, {i, i, i, true}};
    for (size_t k = 0; k < sizeof inherit / sizeof *inherit; k++) {
        struct fuser_props b = {.access_scope = inherit[k].buffer}, a = {.access_scope = inherit[k].accessor}, out;
        assert_int_equal(fuser_props_inherit(&b, &a, &out), inherit[k].valid);
        if (inherit[k].valid) assert_int_equal(out.access_scope, inherit[k].result);
    }
    const enum fuser_scope merge[][3] = {{n, n, n}, {n, g, n}, {n, i, n}, {g, g, g}, {g, i, n}, {i, i, i}};
    for (size_t k = 0; k < sizeof merge / sizeof *merge; k++) {
        assert_int_equal(fuser_scope_merge(merge[k][0], merge[k][1]), merge[k][2]);
        assert_int_equal(fuser_scope_merge(merge[k][1], merge[k][0]), merge[k][2]);
    }
    struct fuser_props out;
    assert_true(fuser_props_inherit(&all, &none, &out));
    assert_true(out.internal_memory && out.no_init);
    assert_true(fuser_props_inherit(&none, &all, &out));
    assert_true(out.internal_memory && out.no_init);
}

static void contradicting_scopes_are_invalid(void **state)
{
    (void)state;
    struct test_graph *g = pair("scale", "scale", range(), all);
    g->graph.nodes[1].args[0].props.access_scope = FUSER_SCOPE_WORK_GROUP;
    check_fails(g, FUSER_INVALID, "node later",
                "argument 0 has access_scope_work_group, but buffer t has access_scope_work_item");
    test_graph_free(g);
}

/* ---- what is wrong with a graph ---- */

typedef void breaker(struct test_graph *g);

/* clang-format off */
static void no_name(struct test_graph *g) { g->graph.nodes[1].name = ""; }
static void same_node_name(struct test_graph *g) { g->graph.nodes[1].name = "earlier"; }
static void same_buffer_name(struct test_graph *g) { g->graph.buffers[1].name = "a"; }
static void empty_buffer(struct test_graph *g) { g->graph.buffers[1].bytes = 0; }
static void bad_buffer(struct test_graph *g) { g->graph.nodes[0].args[0].index = 77; }
static void bad_value(struct test_graph *g) { g->graph.nodes[0].args[2].index = 77; }
static void bad_dep(struct test_graph *g) { test_depends(g, 0, 77); }
static void few_args(struct test_graph *g) { g->graph.nodes[0].n_args = 2; }
static void scalar_for_pointer(struct test_graph *g) { g->graph.nodes[0].args[0] = V(0); }
static void pointer_for_scalar(struct test_graph *g) { g->graph.nodes[0].args[2] = B(0); }
static void scalar_size(struct test_graph *g) { g->graph.values[0].size = 8; }
static void accessor_range(struct test_graph *g) { g->graph.nodes[0].args[0].offset = 2000; g->graph.nodes[0].args[0].bytes = 100; }
static void accessor_offset(struct test_graph *g) { g->graph.nodes[0].args[0].offset = 2048; }
static void accessor_wraps(struct test_graph *g) { g->graph.nodes[0].args[0].offset = 16; g->graph.nodes[0].args[0].bytes = UINT64_MAX; }
static void unaligned(struct test_graph *g) { g->graph.nodes[0].args[0].offset = 2; }
static void no_dimensions(struct test_graph *g) { g->graph.nodes[0].range.dims = 0; }
static void third_dimension(struct test_graph *g) { g->graph.nodes[0].range.global[2] = 2; }
static void overflow(struct test_graph *g) { g->graph.nodes[0].range.dims = 3; for (int d = 0; d < 3; d++) g->graph.nodes[0].range.global[d] = 1 << 20; }
static void partly_local(struct test_graph *g) { g->graph.nodes[0].range.local[0] = 8; }
static void too_large_group(struct test_graph *g) { g->graph.nodes[0].range = test_range(4096, 2048); }
static void wrong_group(struct test_graph *g) { g->graph.nodes[0].kernel = ir_module_find(g->module, "teams"); g->graph.nodes[0].n_args = 1; g->graph.nodes[0].range = test_range(64, 16); }
static void large_group(struct test_graph *g) { wrong_group(g); g->graph.nodes[0].range = test_range(64, 0); g->options.device.max_work_group_size = 16; }
static void sub_group(struct test_graph *g) { g->graph.nodes[0].kernel = ir_module_find(g->module, "squads"); g->graph.nodes[0].n_args = 1; g->options.device.n_sub_group_sizes = 0; }
static void aspect(struct test_graph *g) { g->graph.nodes[0].kernel = ir_module_find(g->module, "wide"); g->graph.nodes[0].n_args = 1; g->options.device.aspects = 0; }
static void read_only(struct test_graph *g) { g->graph.nodes[0].args[1].access = IR_ACCESS_READ; }
static void no_kernel(struct test_graph *g) { g->graph.nodes[0].kernel = NULL; }
static void copy_range(struct test_graph *g) { test_copy(g, "c", 0, 1, 4096); }
static void copy_overlap(struct test_graph *g) { uint32_t n = test_copy(g, "c", 0, 0, 64); g->graph.nodes[n].to.offset = 32; }
static void fill_pattern(struct test_graph *g) { uint32_t n = test_fill(g, "f", 0, 64, 1); g->graph.nodes[n].pattern_size = 3; }
static void fill_multiple(struct test_graph *g) { uint32_t n = test_fill(g, "f", 0, 62, 1); g->graph.nodes[n].pattern_size = 4; }
static void host_value(struct test_graph *g) { test_host(g, "h", ARGS(V(0))); }
static void local_missing(struct test_graph *g) { test_kernel(g, "s", "shared", test_range(64, 16), ARGS(B(0), B(1), B(2))); }
static void local_empty(struct test_graph *g) { test_kernel(g, "s", "shared", test_range(64, 16), ARGS(B(0), test_arg_local(0), B(2))); }
static void other_elements(struct test_graph *g) { g->graph.buffers[0].elem = IR_I32; g->graph.nodes[0].kernel->params[0].elem = IR_F32; }
static void bad_kind(struct test_graph *g) { g->graph.nodes[0].kind = 9; }
/* clang-format on */

static const struct {
    breaker *broken;
    enum fuser_status status;
    const char *object, *reason;
} broken[] = {
    {no_name, FUSER_INVALID, "node", "node number 1 has no name"},
    {same_node_name, FUSER_INVALID, "node earlier", "two of the graph have this name"},
    {same_buffer_name, FUSER_INVALID, "buffer a", "two of the graph have this name"},
    {empty_buffer, FUSER_INVALID, "buffer t", "0 bytes"},
    {bad_buffer, FUSER_INVALID, "node earlier", "buffer number 77, but the graph has 4"},
    {bad_value, FUSER_INVALID, "node earlier", "argument 2 is value number 77, but the graph has 2"},
    {bad_dep, FUSER_INVALID, "node earlier", "depends on node number 77, but the graph has 2"},
    {few_args, FUSER_INVALID, "node earlier", "2 arguments, but kernel scale has 3 parameters"},
    {scalar_for_pointer, FUSER_INVALID, "node earlier",
     "argument 0 (a) of kernel scale is a pointer, but no buffer was given"},
    {pointer_for_scalar, FUSER_INVALID, "node earlier",
     "argument 2 (k) of kernel scale is a value, but none was given"},
    {scalar_size, FUSER_INVALID, "node earlier",
     "argument 2 (k) of kernel scale has 4 bytes, but the value given has 8"},
    {accessor_range, FUSER_INVALID, "node earlier", "bytes 2000 to 2100 of buffer a, which has 2048"},
    {accessor_offset, FUSER_INVALID, "node earlier", "argument 0 starts at the end of buffer a (2048 bytes)"},
    {accessor_wraps, FUSER_INVALID, "node earlier", "of buffer a, which has 2048"},
    {unaligned, FUSER_INVALID, "node earlier", "starts at byte 2 of buffer a, which is no multiple of 4"},
    {no_dimensions, FUSER_INVALID, "node earlier", "an ND-range of 0 dimensions"},
    {third_dimension, FUSER_INVALID, "node earlier", "1 dimensions, but dimension 2 has size 2"},
    {overflow, FUSER_INVALID, "node earlier", "exceeds 140737488355328 work-items"},
    {partly_local, FUSER_INVALID, "node earlier", "the local size is 0 in dimension 1 alone"},
    {too_large_group, FUSER_INVALID, "node earlier", "work-groups of 2048 work-items; device cpu allows 1024"},
    {wrong_group, FUSER_INVALID, "node earlier", "local size 16 in dimension 0, but kernel teams requires 32"},
    {large_group, FUSER_KERNEL_NOT_SUPPORTED, "node earlier",
     "Kernel has a required work-group size of '32, 1, 1' but device does not support this work-group size."},
    {sub_group, FUSER_FEATURE_NOT_SUPPORTED, "node earlier",
     "kernel squads requires sub-groups of 8, which device cpu lacks"},
    {aspect, FUSER_KERNEL_NOT_SUPPORTED, "node earlier",
     "Kernel uses optional feature corresponding to 'aspect::fp64' but device does not support this aspect."},
    {read_only, FUSER_INVALID, "node earlier",
     "argument 1 (buffer t) was declared to be read only, but kernel scale writes it in line 19"},
    {no_kernel, FUSER_INVALID, "node earlier", "without a kernel"},
    {copy_range, FUSER_INVALID, "node c", "bytes 0 to 4096 of buffer a, which has 2048"},
    {copy_overlap, FUSER_INVALID, "node c", "a copy of 64 bytes inside buffer a from 0 to 32 overlaps itself"},
    {fill_pattern, FUSER_INVALID, "node f", "a pattern of 3 bytes"},
    {fill_multiple, FUSER_INVALID, "node f", "62 bytes to fill are no multiple of the pattern's 4"},
    {host_value, FUSER_INVALID, "node h", "argument 0 of a host task is no buffer"},
    {local_missing, FUSER_INVALID, "node s",
     "argument 1 (t) of kernel shared is work-group memory, but no size was given"},
    {local_empty, FUSER_INVALID, "node s", "is work-group memory of 0 bytes"},
    {other_elements, FUSER_INVALID, "node earlier", "buffer a has another element type"},
    {bad_kind, FUSER_INVALID, "node earlier", "kind 9 is none"},
};

static void wrong_graphs_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct test_graph *g = pair("scale", "scale", test_range(64, 0), none);
        g->graph.nodes[0].range.local[0] = 0;
        broken[i].broken(g);
        if (broken[i].broken == partly_local) g->graph.nodes[0].range.local[1] = 0;
        check_fails(g, broken[i].status, broken[i].object, broken[i].reason);
        test_graph_free(g);
    }
}

/* ---- the whole, at random ---- */

static char *plan_text(const struct fuser_plan *plan)
{
    char *text = strdup("");
    for (uint32_t i = 0; i < plan->n_launches; i++) {
        char *kernel = ir_print_function(plan->launches[i].kernel), *more;
        assert_true(asprintf(&more, "%s%s", text, kernel) >= 0);
        free(kernel);
        free(text);
        text = more;
    }
    return text;
}

/* What tuning may choose, which no result depends on. */
static struct fuser_choices random_choices(const struct test_graph *g, unsigned seed)
{
    struct rng rng = {seed};
    struct fuser_choices c = {.no_recomputing = rng_below(&rng, 2), .no_bands = rng_below(&rng, 3) == 0};
    c.more_bands = 1u << rng_below(&rng, 4);
    c.group_items = rng_below(&rng, 2) ? 1 + rng_below(&rng, 300) : 0;
    for (unsigned n = rng_below(&rng, 4); c.n_cuts < n;) c.cuts[c.n_cuts++] = rng_below(&rng, g->graph.n_nodes + 1);
    return c;
}

static void random_graphs(void **state)
{
    (void)state;
    uint32_t fused = 0, private = 0, several = 0, local = 0, barriers = 0, put = 0, cut = 0, last = 0, tuned = 0;
    for (unsigned seed = 0; seed < test_graphs(500); seed++) {
        struct random_graph_knobs knobs = random_graph_knobs(seed);
        struct test_graph *g = random_graph_new(seed, &knobs);
        if (seed % 4 == 0) g->options.device.register_bytes = 1; /* groups are cut where they were not formed to end */
        if (seed % 3 == 0) g->options.choices = random_choices(g, seed);
        struct fuser_plan *plan = check_planned(g), *again = check_planned(g);
        struct graph_memory a = graph_memory_new(&g->graph, seed), b = graph_memory_new(&g->graph, seed);
        char why[600];
        if (!run_graph(&g->graph, &a, why, sizeof why) || !run_plan(&g->graph, plan, &b, why, sizeof why) ||
            !same_memory(plan, &a, &b, why, sizeof why)) {
            char *text = random_graph_text(g);
            fail_msg("seed %u: %s\n%s", seed, why, text);
        }
        char *first = plan_text(plan), *second = plan_text(again);
        assert_string_equal(first, second);
        for (uint32_t i = 0; i < plan->n_launches; i++) {
            fused += plan->launches[i].n_nodes > 1;
            last += plan->launches[i].last;
        }
        for (uint32_t i = 0; i < g->graph.n_buffers; i++) {
            private += plan->storage[i] == FUSER_STORAGE_PRIVATE;
            local += plan->storage[i] == FUSER_STORAGE_LOCAL;
        }
        for (uint32_t i = 0; i < plan->n_remarks; i++) {
            barriers += strcmp(plan->remarks[i].code, "barrier_orders") == 0;
            put += strcmp(plan->remarks[i].code, "barrier_inserted") == 0;
            cut += strcmp(plan->remarks[i].code, "not_fused_pressure") == 0;
            tuned += strcmp(plan->remarks[i].code, "not_fused_tuned") == 0;
            several += strstr(plan->remarks[i].text, "elements for each work-item") != NULL;
        }
        assert_true(plan->bytes_fused <= plan->bytes_unfused);
        free(first);
        free(second);
        graph_memory_free(&a);
        graph_memory_free(&b);
        fuser_plan_free(again);
        finish(g, plan);
    }
    print_message(
        "# %u fused launches, %u buffers in registers, %u of them with several elements, %u in work-group "
        "memory, %u barriers that order, %u that nobody asked for, %u groups cut, %u with a last work-group\n",
        fused, private, several, local, barriers, put, cut, last);
    assert_true(fused > 0 && private > several && several > 0 && local > 0 && barriers > 0 && put > 0 && cut > 0);
    assert_true(last > 0 && tuned > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(diamond_is_one_launch),
        cmocka_unit_test(diamond_needs_one_property_only),
        cmocka_unit_test(without_fusion_each_kernel_is_a_launch),
        cmocka_unit_test(a_device_that_cannot_fuse),
        cmocka_unit_test(one_kernel_meets_require_fusion),
        cmocka_unit_test(an_empty_graph),
        cmocka_unit_test(a_stencil_is_cut),
        cmocka_unit_test(a_clamped_stencil_is_cut),
        cmocka_unit_test(a_proved_race_beats_a_property),
        cmocka_unit_test(write_after_read_and_after_write),
        cmocka_unit_test(unproved_dependences),
        cmocka_unit_test(barriers_order_work_groups),
        cmocka_unit_test(guarded_kernels_are_proved),
        cmocka_unit_test(an_index_with_an_unknown_width),
        cmocka_unit_test(the_same_expression_over_another_range),
        cmocka_unit_test(ranges),
        cmocka_unit_test(local_sizes_are_filled_in),
        cmocka_unit_test(work_groups_run_along_memory),
        cmocka_unit_test(commands_go_before_and_after),
        cmocka_unit_test(a_command_between_kernels_cuts),
        cmocka_unit_test(why_a_buffer_stays),
        cmocka_unit_test(overlapping_accessors_share_a_parameter),
        cmocka_unit_test(constant_memory_that_is_written),
        cmocka_unit_test(constant_memory_is_read),
        cmocka_unit_test(work_group_memory),
        cmocka_unit_test(property_tables),
        cmocka_unit_test(contradicting_scopes_are_invalid),
        cmocka_unit_test(wrong_graphs_are_refused),
        cmocka_unit_test(random_graphs),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
