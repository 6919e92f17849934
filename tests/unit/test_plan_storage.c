/* Buffers that lose their memory to several registers of a work-item, or to work-group memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "tests/support/plan_check.h"

/* Makers write %t, takers read it; what is written is made of %a, what is read goes to %o. */
static const char kernels[] =
    "struct pair { x: f32, n: i32, v: f32x2 }\n"
    "struct inner { k: [2 x i32], v: i32x2 }\n"
    "struct outer { n: i32, in: [2 x struct inner] }\n"
    "kernel @four(%a: ptr.global i32, %t: ptr.global i32) {\n"
    "    %i = global_id x\n %r = shl i64 %i, 2\n"
    "    %x = load i32 %a[%i]\n store i32 %t[%r], %x\n"
    "    %r1 = add i64 %r, 1\n %x1 = add i32 %x, 10\n store i32 %t[%r1], %x1\n"
    "    %r2 = add i64 %r, 2\n %x2 = add i32 %x, 20\n store i32 %t[%r2], %x2\n"
    "    %r3 = add i64 %r, 3\n %x3 = add i32 %x, 30\n store i32 %t[%r3], %x3\n}\n"
    "kernel @sum_four(%t: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %r = shl i64 %i, 2\n"
    "    %s = loop (%k: i64 = 0, %u: i32 = 0) -> i32 {\n %c = ult i64 %k, 4\n"
    "        if %c {\n %j = add i64 %r, %k\n %x = load i32 %t[%j]\n %y = mul i32 %u, 3\n %z = add i32 %y, %x\n"
    "            %n = add i64 %k, 1\n continue %n, %z\n } else {\n break %u\n }\n unreachable\n }\n"
    "    store i32 %o[%i], %s\n}\n"
    "kernel @last_of_four(%t: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %r = shl i64 %i, 2\n %j = or i64 %r, 3\n %x = load i32 %t[%j]\n store i32 %o[%i], %x\n}\n"
    "kernel @loop_four(%a: ptr.global i32, %t: ptr.global i32) {\n"
    "    %i = global_id x\n %r = shl i64 %i, 2\n %x = load i32 %a[%i]\n"
    "    loop (%k: i32 = 0) {\n %c = ult i32 %k, 4\n"
    "        if %c {\n %w = zext i64 %k\n %j = add i64 %r, %w\n %y = add i32 %x, %k\n store i32 %t[%j], %y\n"
    "            %n = add i32 %k, 1\n continue %n\n } else {\n break\n }\n unreachable\n }\n}\n"
    "kernel @spread(%a: ptr.global i32, %t: ptr.global i32) {\n"
    "    %i = global_id x\n %x = load i32 %a[%i]\n %n = global_size x\n %j = add i64 %i, %n\n"
    "    store i32 %t[%i], %x\n %y = neg i32 %x\n store i32 %t[%j], %y\n}\n"
    "kernel @spread_loop(%t: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %n = global_size x\n"
    "    %s = loop (%k: i64 = 0, %u: i32 = 0) -> i32 {\n %c = ult i64 %k, 2\n"
    "        if %c {\n %m = mul i64 %k, %n\n %j = add i64 %i, %m\n %x = load i32 %t[%j]\n %y = mul i32 %u, 3\n"
    "            %z = add i32 %y, %x\n %q = add i64 %k, 1\n continue %q, %z\n } else {\n break %u\n }\n unreachable\n"
    "    }\n    store i32 %o[%i], %s\n}\n"
    "kernel @pairs(%a: ptr.global i32, %t: ptr.global i32) {\n"
    "    %i = global_id x\n %x = load i32 %a[%i]\n %p = elem struct pair %t, %i\n"
    "    %p0 = field struct pair %p, x\n %f = stof f32 %x\n store f32 %p0, %f\n"
    "    %p1 = field struct pair %p, n\n store i32 %p1, %x\n"
    "    %p2 = field struct pair %p, v\n %w = vec f32x2 %f, 2.0\n store f32x2 %p2, %w\n}\n"
    "kernel @unpair(%t: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %p = elem struct pair %t, %i\n"
    "    %p0 = field struct pair %p, x\n %f = load f32 %p0\n %p1 = field struct pair %p, n\n %n = load i32 %p1\n"
    "    %p2 = field struct pair %p, v\n %e = elem f32 %p2, 1\n %l = load f32 %e\n %s = fadd f32 %f, %l\n"
    "    %q = ftos i32 %s\n %z = add i32 %q, %n\n store i32 %o[%i], %z\n}\n"
    "kernel @chosen(%t: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %r = shl i64 %i, 2\n %b = elem i32 %t, %r\n %e = elem i32 %b, 2\n"
    "    %x = load i32 %o[%i]\n %c = slt i32 %x, 50\n %p = select ptr.global %c, %b, %e\n %v = load i32 %p\n"
    "    store i32 %o[%i], %v\n}\n"
    "func @pick(%p: ptr.global i32, %k: i64) -> i32 {\n    %x = load i32 %p[%k]\n    return %x\n}\n"
    "kernel @called(%t: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %r = shl i64 %i, 2\n %b = elem i32 %t, %r\n %x = call @pick(%b, 1)\n"
    "    %y = call @pick(%b, 3)\n %s = sub i32 %x, %y\n store i32 %o[%i], %s\n}\n"
    "kernel @branch(%t: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %r = shl i64 %i, 2\n %b = elem i32 %t, %r\n %x = load i32 %o[%i]\n %c = slt i32 %x, 50\n"
    "    %p = if %c -> ptr.global {\n %e = elem i32 %b, 1\n yield %e\n } else {\n %f = elem i32 %b, 3\n yield %f\n }\n"
    "    %v = load i32 %p\n store i32 %o[%i], %v\n}\n"
    "kernel @walk(%t: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %r = shl i64 %i, 2\n %b = elem i32 %t, %r\n"
    "    %s = loop (%k: i64 = 0, %p: ptr.global = %b, %u: i32 = 0) -> i32 {\n %c = ult i64 %k, 4\n"
    "        if %c {\n %x = load i32 %p\n %z = add i32 %u, %x\n %q = elem i32 %p, 1\n %n = add i64 %k, 1\n"
    "            continue %n, %q, %z\n } else {\n break %u\n }\n unreachable\n }\n"
    "    store i32 %o[%i], %s\n}\n"
    "kernel @walk_some(%t: ptr.global i32, %w: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %r = shl i64 %i, 2\n %b = elem i32 %t, %r\n %v = load i32 %w[%i]\n %m = and i32 %v, 3\n"
    "    %s = loop (%k: i32 = 0, %p: ptr.global = %b, %u: i32 = 0) -> i32 {\n %c = ult i32 %k, %m\n"
    "        if %c {\n %x = load i32 %p\n %z = add i32 %u, %x\n %q = elem i32 %p, 1\n %n = add i32 %k, 1\n"
    "            continue %n, %q, %z\n } else {\n break %u\n }\n unreachable\n }\n"
    "    store i32 %o[%i], %s\n}\n"
    "kernel @maybe_four(%a: ptr.global i32, %t: ptr.global i32) {\n"
    "    %i = global_id x\n %r = shl i64 %i, 2\n %x = load i32 %a[%i]\n"
    "    loop (%k: i32 = 0) {\n %c = ult i32 %k, 4\n"
    "        if %c {\n %w = zext i64 %k\n %j = add i64 %r, %w\n %d = ult i32 %k, %x\n"
    "            if %d {\n store i32 %t[%j], %x\n }\n %n = add i32 %k, 1\n continue %n\n"
    "        } else {\n break\n }\n unreachable\n }\n}\n"
    "kernel @early_four(%a: ptr.global i32, %t: ptr.global i32) {\n"
    "    %i = global_id x\n %r = shl i64 %i, 2\n %x = load i32 %a[%i]\n"
    "    loop (%k: i64 = 0) {\n %c = ult i64 %k, 4\n"
    "        if %c {\n %j = add i64 %r, %k\n %e = add i64 %k, 1\n %m = and i64 %e, 3\n %f = add i64 %r, %m\n %y = load "
    "i32 %t[%f]\n %z = add i32 %x, %y\n"
    "            store i32 %t[%j], %z\n %n = add i64 %k, 1\n continue %n\n"
    "        } else {\n break\n }\n unreachable\n }\n}\n"
    "kernel @deep(%a: ptr.global i32, %t: ptr.global i32) {\n"
    "    %i = global_id x\n %x = load i32 %a[%i]\n %p = elem struct outer %t, %i\n %f = field struct outer %p, in\n"
    "    %e = elem struct inner %f, 1\n %v = field struct inner %e, v\n %w = splat i32x2 %x\n store i32x2 %v, %w\n"
    "    %k0 = field struct inner %f, k\n store i32 %k0, %x\n %k1 = field struct inner %e, k\n"
    "    %k2 = elem i32 %k1, 1\n %y = neg i32 %x\n store i32 %k2, %y\n}\n"
    "kernel @deeper(%t: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %p = elem struct outer %t, %i\n %f = field struct outer %p, in\n"
    "    %e = elem struct inner %f, 1\n %v = field struct inner %e, v\n %l = elem i32 %v, 1\n %x = load i32 %l\n"
    "    %k0 = field struct inner %f, k\n %y = load i32 %k0\n %k1 = field struct inner %e, k\n"
    "    %k2 = elem i32 %k1, 1\n %z = load i32 %k2\n %s = mul i32 %x, %y\n %u = sub i32 %s, %z\n store i32 %o[%i], "
    "%u\n}\n"
    "kernel @pick_two(%w: ptr.global i32, %t: ptr.global i32) {\n"
    "    %i = global_id x\n %v = load i32 %w[%i]\n %m = lshr i32 %v, 30\n"
    "     %k = zext i64 %m\n %r = shl i64 %i, 1\n %j = add i64 %r, %k\n store i32 %t[%j], %v\n}\n"
    "kernel @look_two(%t: ptr.global i32, %w: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %v = load i32 %w[%i]\n %m = lshr i32 %v, 30\n"
    "     %k = zext i64 %m\n %r = shl i64 %i, 1\n %j = add i64 %r, %k\n %x = load i32 %t[%j]\n"
    "    store i32 %o[%i], %x\n}\n"
    "kernel @put(%a: ptr.global i32, %t: ptr.global i32) {\n"
    "    %i = global_id x\n %x = load i32 %a[%i]\n store i32 %t[%i], %x\n}\n"
    "kernel @swap(%t: ptr.global i32, %o: ptr.global i32) {\n"
    "    %l = local_id x\n %s = local_size x\n %g = group_id x\n %b = mul i64 %g, %s\n %m = sub i64 %s, 1\n"
    "    %r = sub i64 %m, %l\n %j = add i64 %b, %r\n %i = global_id x\n %x = load i32 %t[%j]\n"
    "    store i32 %o[%i], %x\n}\n"
    "kernel @sum_group(%t: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %g = group_id x\n %b = shl i64 %g, 4\n"
    "    %s = loop (%k: i64 = 0, %u: i32 = 0) -> i32 {\n %c = ult i64 %k, 16\n"
    "        if %c {\n %j = add i64 %b, %k\n %x = load i32 %t[%j]\n %z = add i32 %u, %x\n"
    "            %n = add i64 %k, 1\n continue %n, %z\n } else {\n break %u\n }\n unreachable\n }\n"
    "    store i32 %o[%i], %s\n}\n"
    "kernel @shared(%t: ptr.global i32, %m: ptr.local i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %l = local_id x\n %x = load i32 %t[%i]\n store i32 %m[%l], %x\n    barrier local\n"
    "    %y = load i32 %m\n store i32 %o[%i], %y\n}\n"
    "kernel @look_up(%t: ptr.global i32, %w: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %v = load i32 %w[%i]\n %u = and i32 %v, 3\n %r = shl i64 %i, 2\n %k = zext i64 %u\n"
    "    %j = add i64 %r, %k\n %x = load i32 %t[%j]\n store i32 %o[%i], %x\n}\n"
    "kernel @anywhere(%t: ptr.global i32, %w: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %v = load i32 %w[%i]\n %x = load i32 %t[%v]\n store i32 %o[%i], %x\n}\n"
    "kernel @near(%t: ptr.global i32, %w: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n %v = load i32 %w[%i]\n %u = and i32 %v, 15\n %g = group_id x\n %b = shl i64 %g, 4\n"
    "    %k = zext i64 %u\n %j = add i64 %b, %k\n %x = load i32 %t[%j]\n store i32 %o[%i], %x\n}\n";

enum { ITEMS = 64 };

static const struct fuser_props none = {0};
static const struct fuser_props internal = {FUSER_SCOPE_NONE, true, false};
static const struct fuser_props empty = {FUSER_SCOPE_NONE, true, true};

/* Maker and taker over a range, through buffer t of 8 elements for each work-item. */
static struct test_graph *through(const char *maker, const char *taker, struct nd_range r, struct fuser_props props)
{
    struct test_graph *g = test_graph_new(kernels);
    uint32_t a = test_buffer(g, "a", IR_I32, ITEMS, none), t = test_buffer(g, "t", IR_I32, 8 * ITEMS, props);
    uint32_t o = test_buffer(g, "o", IR_I32, ITEMS, none), w = test_buffer(g, "w", IR_I32, ITEMS, none);
    struct fuser_arg make[] = {test_arg_buffer(a), test_arg_buffer(t)};
    struct fuser_arg take[] = {test_arg_buffer(t), test_arg_buffer(w), test_arg_buffer(o)};
    uint32_t n = ir_module_find(g->module, taker)->n_params;
    if (n == 2) take[1] = take[2];
    if (strcmp(taker, "shared") == 0) take[1] = test_arg_local(64);
    test_kernel(g, "maker", maker, r, make, 2);
    test_kernel(g, "taker", taker, r, take, n);
    return g;
}

static void finish(struct test_graph *g, struct fuser_plan *plan)
{
    fuser_plan_free(plan);
    test_graph_free(g);
}

static void expect_home(struct test_graph *g, enum fuser_storage home, const char *code, const char *text)
{
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "maker taker");
    check_internalized(g, plan, home == FUSER_STORAGE_MEMORY ? "" : "t");
    assert_int_equal(plan->storage[1], home);
    if (code) check_remark(plan, code, "", "t", text);
    check_same(g, plan);
    finish(g, plan);
}

/* ---- registers ---- */

static void several_elements_for_each_work_item(void **state)
{
    (void)state;
    static const char *const takers[] = {"sum_four", "last_of_four", "chosen", "called", "look_up", "branch"};
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++)
        expect_home(through("four", takers[i], test_range(ITEMS, 0), internal), FUSER_STORAGE_PRIVATE,
                    "internalized_private", "4 elements for each work-item");
    expect_home(through("loop_four", "sum_four", test_range(ITEMS, 0), empty), FUSER_STORAGE_PRIVATE,
                "internalized_private", "4 elements for each work-item");
    expect_home(through("loop_four", "sum_four", test_range(ITEMS, 0), internal), FUSER_STORAGE_PRIVATE,
                "internalized_private", "4 elements for each work-item");
}

/* Written first in each round, and on every way, or not. */
static void written_in_loops(void **state)
{
    (void)state;
    static const char *const takers[] = {"sum_four", "last_of_four", "look_up", "walk"};
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++)
        expect_home(through("loop_four", takers[i], test_range(ITEMS, 0), internal), FUSER_STORAGE_PRIVATE,
                    "internalized_private", "4 elements for each work-item");
    static const char *const makers[] = {"maybe_four", "early_four"};
    for (size_t i = 0; i < 2; i++)
        expect_home(through(makers[i], "sum_four", test_range(ITEMS, 0), internal), FUSER_STORAGE_MEMORY,
                    "not_internalized_init", "no_init would say so");
}

static void elements_far_apart(void **state)
{
    (void)state;
    expect_home(through("spread", "spread_loop", test_range(ITEMS, 0), internal), FUSER_STORAGE_PRIVATE,
                "internalized_private", "2 elements for each work-item");
}

static void structs_and_vectors(void **state)
{
    (void)state;
    struct test_graph *g = through("pairs", "unpair", test_range(ITEMS, 0), internal);
    struct fuser_plan *plan = check_planned(g);
    check_internalized(g, plan, "t");
    check_remark(plan, "internalized_private", "", "t", "3 elements for each work-item");
    check_same(g, plan);
    finish(g, plan);
}

static void nested_structs_and_arrays(void **state)
{
    (void)state;
    expect_home(through("deep", "deeper", test_range(ITEMS / 2, 0), internal), FUSER_STORAGE_PRIVATE,
                "internalized_private", "3 elements for each work-item");
}

/* Where a pointer is that a loop moves is not known. */
static void a_pointer_that_walks(void **state)
{
    (void)state;
    struct fuser_props asserted = {FUSER_SCOPE_WORK_ITEM, true, true};
    expect_home(through("four", "walk", test_range(ITEMS, 0), internal), FUSER_STORAGE_PRIVATE, "internalized_private",
                "4 elements for each work-item");
    expect_home(through("four", "walk_some", test_range(ITEMS, 0), asserted), FUSER_STORAGE_MEMORY,
                "not_internalized_elements", "that taker");
}

/* A buffer that somebody else reads is written, but the kernels fused with its maker do not read it. */
static void some_kernels_only(void **state)
{
    (void)state;
    struct test_graph *g = through("put", "last_of_four", test_range(ITEMS, 0), internal);
    struct fuser_arg make[] = {test_arg_buffer(1), test_arg_buffer(2)}, host = test_arg_buffer(1);
    test_kernel(g, "reader", "put", test_range(ITEMS, 0), make, 2);
    g->graph.nodes[1] = g->graph.nodes[2];
    g->graph.n_nodes = 2;
    host.access = IR_ACCESS_READ;
    test_host(g, "host", &host, 1);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "maker reader");
    check_internalized(g, plan, "");
    check_remark(plan, "not_internalized_command", "host", "t", "uses it");
    assert_int_equal(plan->bytes_unfused - plan->bytes_fused, ITEMS * 4);
    check_same(g, plan);
    finish(g, plan);
}

/* What the user says of an index that is not known beyond its bounds is taken, and said. */
static void bounded_indices_on_the_users_word(void **state)
{
    (void)state;
    struct fuser_props asserted = {FUSER_SCOPE_WORK_ITEM, true, true};
    struct test_graph *g = through("four", "anywhere", test_range(ITEMS, 0), asserted);
    struct fuser_plan *plan = check_planned(g); /* fused on the same word, but where an element is nobody knows */
    check_launches(g, plan, "maker taker");
    check_internalized(g, plan, "");
    check_remark(plan, "not_internalized_elements", "taker", "t", "is not proved");
    finish(g, plan);
}

/* Two elements each, of which an index from memory may leave: whose they are then only the user knows. */
static void whose_elements_on_the_users_word(void **state)
{
    (void)state;
    struct fuser_props asserted = {FUSER_SCOPE_WORK_ITEM, true, true};
    struct test_graph *g = through("pick_two", "look_two", test_range(ITEMS, 0), asserted);
    g->graph.nodes[0].args[0].index = 3; /* both from w: each looks where it wrote */
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "maker taker");
    check_internalized(g, plan, "t");
    check_remark(plan, "vouched_by_scope", "taker", "t", "access_scope_work_item");
    check_remark(plan, "internalized_private", "maker", "t",
                 "4 elements for each work-item, of maker, taker: saves 2048 bytes of memory");
    check_remark(plan, "internalized_private", "maker", "t",
                 "that no element belongs to two work-items is not proved, but asserted by "
                 "access_scope_work_item");
    check_same(g, plan);
    fuser_plan_free(plan);
    g->graph.buffers[1].props = empty; /* nobody said so */
    plan = check_planned(g);
    check_launches(g, plan, "maker|taker");
    check_internalized(g, plan, "");
    finish(g, plan);
}

static void neighbours_share(void **state)
{
    (void)state;
    /* Four elements are written by each, two of them at the neighbour's distance: a race, so nothing is fused. */
    struct test_graph *g = through("four", "spread_loop", test_range(ITEMS, 0), empty);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "maker|taker");
    check_internalized(g, plan, "");
    finish(g, plan);
}

/* ---- work-group memory ---- */

static struct test_graph *in_groups(const char *maker, const char *taker, struct fuser_props props)
{
    struct test_graph *g = through(maker, taker, test_range(ITEMS, 16), props);
    g->options.insert_barriers = true;
    return g;
}

static void a_block_for_each_work_group(void **state)
{
    (void)state;
    expect_home(in_groups("put", "swap", internal), FUSER_STORAGE_LOCAL, "internalized_local",
                "work-group memory, 64 bytes for each work-group");
    expect_home(in_groups("put", "sum_group", internal), FUSER_STORAGE_LOCAL, "internalized_local", "64 bytes");
    expect_home(in_groups("put", "near", internal), FUSER_STORAGE_LOCAL, "internalized_local", "64 bytes");
    expect_home(in_groups("four", "sum_four", internal), FUSER_STORAGE_PRIVATE, NULL, NULL); /* registers come first */
}

static void beside_existing_work_group_memory(void **state)
{
    (void)state;
    struct test_graph *g = in_groups("put", "swap", internal);
    struct fuser_arg more[] = {test_arg_buffer(2), test_arg_local(64), test_arg_buffer(3)};
    test_kernel(g, "more", "shared", test_range(ITEMS, 16), more, 3);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "maker taker more");
    assert_int_equal(plan->storage[1], FUSER_STORAGE_LOCAL);
    check_same(g, plan);
    fuser_plan_free(plan);
    g->options.device.max_local_bytes = 120; /* 64 are taken */
    plan = check_planned(g);
    check_launches(g, plan, "maker taker more");
    check_internalized(g, plan, "");
    check_remark(plan, "not_internalized_local_memory", "maker", "t",
                 "64 bytes of work-group memory for each work-group, of which device cpu has 56 left");
    check_same(g, plan);
    finish(g, plan);
}

static void work_group_memory_without_a_local_size(void **state)
{
    (void)state;
    struct test_graph *g =
        through("put", "near", test_range(ITEMS, 0), (struct fuser_props){FUSER_SCOPE_WORK_GROUP, true, true});
    g->options.mode = FUSER_MODE_REQUIRE; /* fused on the user's word */
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "maker taker");
    check_internalized(g, plan, "");
    check_remark(plan, "not_internalized_local", "maker", "t", "no local size was given");
    finish(g, plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_elements_for_each_work_item),
        cmocka_unit_test(elements_far_apart),
        cmocka_unit_test(structs_and_vectors),
        cmocka_unit_test(nested_structs_and_arrays),
        cmocka_unit_test(written_in_loops),
        cmocka_unit_test(a_pointer_that_walks),
        cmocka_unit_test(some_kernels_only),
        cmocka_unit_test(bounded_indices_on_the_users_word),
        cmocka_unit_test(whose_elements_on_the_users_word),
        cmocka_unit_test(neighbours_share),
        cmocka_unit_test(a_block_for_each_work_group),
        cmocka_unit_test(beside_existing_work_group_memory),
        cmocka_unit_test(work_group_memory_without_a_local_size),
    };
    return cmocka_run_group_tests_name("plan_storage", tests, NULL, NULL);
}
