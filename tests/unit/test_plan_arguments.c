/* What kernels do with arguments besides reading and writing their bytes: indices that are made of images' sizes and of
   addresses, and addresses that are only looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "tests/support/plan_check.h"
#include "tests/support/plan_run.h"

enum { N = 64, SIDE = 8 };

/* Writes an element of t, or takes it from there to o: at 2 * i, or next to it, as `index` says. */
#define MAKER(name, params, index)                                                                                     \
    "kernel @" name "_put(" params ", %t: ptr.global i32, %o: ptr.global i32) {\n" index                               \
    "    %x = load i32 %o[%i]\n    store i32 %t[%e], %x\n}\n"                                                          \
    "kernel @" name "_get(" params ", %t: ptr.global i32, %o: ptr.global i32) {\n" index                               \
    "    %x = load i32 %t[%e]\n    store i32 %o[%i], %x\n}\n"

#define INDEX "    %e = xor i64 %r, %z\n"
#define BEGIN "    %i = global_id x\n    %r = shl i64 %i, 1\n"

/* What looks at the address of t, or does not even. */
static const char kernels[] =
    "kernel @put(%a: ptr.global i32, %t: ptr.global i32) {\n"
    "    %i = global_id x\n    %x = load i32 %a[%i]\n    store i32 %t[%i], %x\n}\n"
    "kernel @get(%t: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n    %x = load i32 %t[%i]\n    store i32 %o[%i], %x\n}\n"
    "kernel @four(%a: ptr.global i32, %t: ptr.global i32) {\n"
    "    %i = global_id x\n    %x = load i32 %a[%i]\n    %r = shl i64 %i, 1\n    store i32 %t[%r], %x\n"
    "    %s = or i64 %r, 1\n    store i32 %t[%s], %x\n}\n"
    "kernel @take(%t: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n    %r = shl i64 %i, 1\n    %s = or i64 %r, 1\n"
    "    %x = load i32 %t[%s]\n    store i32 %o[%i], %x\n}\n"
    "kernel @fetch(%t: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n    %p = elem i32 %t, %i\n    prefetch i32 %p, 1\n    store i32 %o[%i], 7\n}\n"
    "kernel @there(%t: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n    %c = ine ptr.global %t, null\n    %x = zext i32 %c\n    store i32 %o[%i], %x\n}\n"
    "kernel @never(%t: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n"
    "    loop (%k: i32 = 0) {\n        %c = ult i32 %k, 0\n"
    "        if %c {\n            %j = add i32 %k, 1\n            %x = load i32 %t[%k]\n            store i32 %o[%i], "
    "%x\n"
    "            continue %j\n        }\n        break\n    }\n    store i32 %o[%i], 9\n}\n"
    "kernel @unreached(%t: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n    %c = ult i64 %i, 0\n    if %c {\n        store i32 %t[%i], 5\n    }\n"
    "    store i32 %o[%i], 11\n}\n"
    "kernel @constants(%t: ptr.constant i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n    %p = elem i32 %t, %i\n    prefetch i32 %p, 1\n    store i32 %o[%i], 7\n}\n"
    "kernel @ignores(%t: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n    store i32 %o[%i], 13\n}\n"
    "struct big { a: [5000 x i32] }\n"
    "struct whole { a: [16384 x i32] }\n"
    "kernel @much(%s: ptr.private struct big by_value, %o: ptr.global i32) {\n"
    "    %i = global_id x\n    %p = elem i32 %s, %i\n    %x = load i32 %p\n    %y = load i32 %o[%i]\n"
    "    %z = add i32 %x, %y\n    store i32 %o[%i], %z\n}\n"
    "kernel @most(%s: ptr.private struct whole by_value, %o: ptr.global i32) {\n"
    "    %i = global_id x\n    %p = elem i32 %s, %i\n    %x = load i32 %p\n    store i32 %o[%i], %x\n}\n";

/* An index that is made of other arguments. */
static const char makers[] = "constant @lut: [4 x i32] = { 1, 2, 3, 4 }\n" MAKER(
    "equal", "%p: ptr.global i32, %q: ptr.global i32",
    BEGIN "    %c = ieq ptr.global %p, %q\n    %z = zext i64 %c\n" INDEX)
    MAKER("wide", "%p: image2d.read, %q: image2d.read", BEGIN "    %c = image_width %p\n    %z = zext i64 %c\n" INDEX)
        MAKER("address", "%p: ptr.global i32, %q: ptr.global i32",
              BEGIN "    %c = ptrtoint i64 %p\n    %z = and i64 %c, 1\n" INDEX)
            MAKER("room", "%p: ptr.local i32, %q: ptr.global i32",
                  BEGIN "    %c = ptrtoint i64 %p\n    %z = and i64 %c, 1\n" INDEX)
                MAKER("table", "%p: ptr.global i32, %q: ptr.global i32",
                      BEGIN "    %g = global @lut\n    %c = ptrtoint i64 %g\n    %z = and i64 %c, 1\n" INDEX);

static const struct fuser_props none = {0}, internal = {FUSER_SCOPE_NONE, true, false},
                                word = {FUSER_SCOPE_WORK_ITEM, true, false};

static struct test_graph *g;

static int set_up(void **state)
{
    static char all[sizeof kernels + sizeof makers];
    (void)state;
    snprintf(all, sizeof all, "%s%s", makers, kernels);
    g = test_graph_new(all);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    test_graph_free(g);
    return 0;
}

static uint32_t ints(const char *name, uint64_t count, struct fuser_props props)
{
    return test_buffer(g, name, IR_I32, count, props);
}

/* ---- the same expression of other arguments ---- */

static uint32_t image(const char *name)
{
    uint32_t i = test_buffer(g, name, IR_VOID, 0, none);
    g->graph.buffers[i].bytes = SIDE * SIDE * 16;
    g->graph.buffers[i].image = true;
    return i;
}

/* One kernel writes t, the next one reads it, with these first arguments. */
static struct fuser_plan *put_and_get(const char *put, const char *get, const struct fuser_arg first[2],
                                      const struct fuser_arg second[2])
{
    uint32_t t = ints("t", 2 * N, word), o = ints("o", N, none), u = ints("u", N, none);
    struct fuser_arg args[2][4] = {{first[0], first[1], test_arg_buffer(t), test_arg_buffer(o)},
                                   {second[0], second[1], test_arg_buffer(t), test_arg_buffer(u)}};
    test_kernel(g, "put", put, test_range(N, 8), args[0], 4);
    test_kernel(g, "get", get, test_range(N, 8), args[1], 4);
    return check_planned(g);
}

static void check_watched(const struct fuser_plan *plan)
{
    struct graph_memory m = graph_memory_new(&g->graph, 1);
    char why[1500];
    if (!run_watched(&g->graph, plan, &m, why, sizeof why)) fail_msg("%s", why);
    graph_memory_free(&m);
}

/* Where two pointers are compared, an element is where it was written only if they are the same two. */
static void compared_addresses(void **state)
{
    (void)state;
    for (int same = 0; same < 2; same++) {
        tear_down(NULL);
        set_up(NULL);
        uint32_t a = ints("a", N, none), b = ints("b", N, none);
        struct fuser_arg first[] = {test_arg_buffer(a), test_arg_buffer(b)};
        struct fuser_arg second[] = {test_arg_buffer(a), test_arg_buffer(same ? b : a)};
        struct fuser_plan *plan = put_and_get("equal_put", "equal_get", first, second);
        check_launches(g, plan, "put get");
        check_internalized(g, plan, same ? "t" : "");
        if (!same) check_remark(plan, "not_internalized_elements", "get", "t", "same element of its work-item");
        check_same(g, plan);
        check_watched(plan);
        fuser_plan_free(plan);
    }
}

/* Two accessors on other parts of one buffer have other addresses. */
static void compared_parts(void **state)
{
    (void)state;
    uint32_t a = ints("a", N, none);
    struct fuser_arg whole = test_arg_buffer(a), rest = whole;
    rest.offset = 64;
    struct fuser_plan *plan = put_and_get("equal_put", "equal_get", (const struct fuser_arg[]){whole, whole},
                                          (const struct fuser_arg[]){whole, rest});
    check_launches(g, plan, "put get");
    check_internalized(g, plan, "");
    check_same(g, plan);
    fuser_plan_free(plan);
}

static void sizes_of_images(void **state)
{
    (void)state;
    for (int same = 0; same < 2; same++) {
        tear_down(NULL);
        set_up(NULL);
        uint32_t a = image("a"), b = image("b");
        struct fuser_arg first[] = {test_arg_buffer(a), test_arg_buffer(b)};
        struct fuser_arg second[] = {test_arg_buffer(same ? a : b), test_arg_buffer(a)};
        struct fuser_plan *plan = put_and_get("wide_put", "wide_get", first, second);
        check_launches(g, plan, "put get");
        check_internalized(g, plan, same ? "t" : "");
        fuser_plan_free(plan);
    }
}

static struct fuser_arg only_read(uint32_t buffer)
{
    struct fuser_arg arg = test_arg_buffer(buffer);
    arg.access = IR_ACCESS_READ;
    return arg;
}

static void addresses_as_numbers(void **state)
{
    (void)state;
    for (int same = 0; same < 2; same++) {
        tear_down(NULL);
        set_up(NULL);
        uint32_t a = ints("a", N, none), b = ints("b", N, none);
        struct fuser_arg first[] = {only_read(a), only_read(b)}, second[] = {only_read(same ? a : b), only_read(a)};
        struct fuser_plan *plan = put_and_get("address_put", "address_get", first, second);
        check_launches(g, plan, "put get");
        check_internalized(g, plan, same ? "t" : "");
        fuser_plan_free(plan);
    }
}

/* Each kernel has work-group memory of its own, wherever it is; constants of their module become one. */
static void addresses_of_the_kernels_own(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"room_put", "room_get"}, {"table_put", "table_get"}};
    for (int i = 0; i < 2; i++) {
        tear_down(NULL);
        set_up(NULL);
        uint32_t a = ints("a", N, none);
        struct fuser_arg args[] = {i ? test_arg_buffer(a) : test_arg_local(64), test_arg_buffer(a)};
        struct fuser_plan *plan = put_and_get(names[i][0], names[i][1], args, args);
        check_launches(g, plan, "put get");
        check_internalized(g, plan, i ? "t" : "");
        fuser_plan_free(plan);
    }
}

/* ---- addresses alone ---- */

static void add(const char *name, const char *kernel, uint64_t items, uint32_t a, uint32_t b)
{
    struct fuser_arg args[] = {test_arg_buffer(a), test_arg_buffer(b)};
    test_kernel(g, name, kernel, test_range(items, 0), args, 2);
}

struct looker {
    const char *kernel;
    bool fused;       /* in one launch with the others: it is, and t is kept all the same */
    bool internal[2]; /* in one register, in several */
};

static const struct looker lookers[] = {{"fetch", true, {true, true}},        {"there", true, {false, false}},
                                        {"never", true, {true, true}},        {"unreached", true, {true, true}},
                                        {"constants", false, {false, false}}, {"ignores", true, {true, true}}};

/* Whoever needs the address in another launch needs memory behind it: t has some, and the plan can be run. Not so who
   only writes it where nobody comes: nothing of t flows to that launch. */
static void looked_at_in_another_launch(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof lookers / sizeof *lookers; i++) {
        tear_down(NULL);
        set_up(NULL);
        uint32_t a = ints("a", N, none), t = ints("t", N, internal), o = ints("o", N, none), u = ints("u", 4 * N, none),
                 v = ints("v", N, none);
        add("put", "put", N, a, t);
        add("get", "get", N, t, o);
        add("look", lookers[i].kernel, 4 * N, t, u);
        test_depends(g, 2, test_fill(g, "between", v, 4, 1));
        test_depends(g, 3, 1); /* the fill comes behind the first two */
        struct fuser_plan *plan = check_planned(g);
        check_launches(g, plan, "put get|look");
        check_same(g, plan);
        bool writes = strcmp(lookers[i].kernel, "unreached") == 0;
        check_internalized(g, plan, writes ? "t" : "");
        if (!writes)
            check_remark(plan, "not_internalized_groups", "look", "t", "put and look use it, which are not fused");
        fuser_plan_free(plan);
    }
}

/* homes: one register, several. */
static void looked_at_in_the_same_launch(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2 * sizeof lookers / sizeof *lookers; i++) {
        const struct looker *looker = &lookers[i / 2];
        tear_down(NULL);
        set_up(NULL);
        uint32_t a = ints("a", N, none), t = ints("t", 2 * N, internal), o = ints("o", N, none), u = ints("u", N, none);
        add("1", i % 2 ? "four" : "put", N, a, t);
        add("2", looker->kernel, N, t, u);
        add("3", i % 2 ? "take" : "get", N, t, o);
        struct fuser_plan *plan = check_planned(g);
        check_same(g, plan);
        if (looker->fused) check_launches(g, plan, "1 2 3");
        check_internalized(g, plan, looker->internal[i % 2] ? "t" : "");
        fuser_plan_free(plan);
    }
}

/* A part of it that no other kernel names, in the same launch. */
static void another_part_is_looked_at(void **state)
{
    (void)state;
    uint32_t a = ints("a", N, none), t = ints("t", 2 * N, internal), o = ints("o", N, none), u = ints("u", N, none);
    struct fuser_arg half = test_arg_buffer(t), rest = half;
    half.bytes = rest.offset = 4 * N;
    test_kernel(g, "1", "put", test_range(N, 0), (const struct fuser_arg[]){test_arg_buffer(a), half}, 2);
    test_kernel(g, "2", "there", test_range(N, 0), (const struct fuser_arg[]){rest, test_arg_buffer(u)}, 2);
    test_kernel(g, "3", "get", test_range(N, 0), (const struct fuser_arg[]){half, test_arg_buffer(o)}, 2);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "1 2 3");
    check_same(g, plan);
    check_internalized(g, plan, "");
    check_remark(plan, "not_internalized_mismatch", "2", "t", "accesses its bytes");
    fuser_plan_free(plan);
}

/* An address is no access: it orders nothing. */
static void looking_makes_no_edge(void **state)
{
    (void)state;
    uint32_t a = ints("a", N, none), t = ints("t", N, none), u = ints("u", N, none);
    add("z", "put", N, a, t);
    add("b", "there", N, t, u);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "b z"); /* by name: neither waits for the other */
    check_same(g, plan);
    fuser_plan_free(plan);
}

/* ---- how much there may be ---- */

static void add_large(const char *name, const char *kernel, uint32_t bytes, uint32_t o)
{
    struct fuser_arg args[] = {test_arg_value(test_value(g, bytes)), test_arg_buffer(o)};
    test_kernel(g, name, kernel, test_range(N, 0), args, 2);
}

/* Three structs of 20000 bytes fit into the arguments of a launch. */
static void as_many_as_a_launch_takes(void **state)
{
    (void)state;
    uint32_t o = ints("o", N, none);
    add_large("1", "much", 20000, o);
    add_large("2", "much", 20000, o);
    add_large("3", "much", 20000, o);
    add_large("4", "much", 20000, o);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "1 2 3|4");
    check_remark(plan, "not_fused_kernel", "4", "", "takes 80008 bytes of arguments, at most 65536 are possible");
    check_same(g, plan);
    fuser_plan_free(plan);
    g->options.mode = FUSER_MODE_REQUIRE;
    check_fails(g, FUSER_KERNEL_NOT_SUPPORTED, "1", "bytes of arguments");
}

static void more_than_a_launch_takes(void **state)
{
    (void)state;
    uint32_t o = ints("o", N, none);
    add_large("1", "most", 65536, o);
    check_fails(g, FUSER_KERNEL_NOT_SUPPORTED, "1", "takes 65544 bytes of arguments, at most 65536 are possible");
    tear_down(NULL);
    set_up(NULL);
    uint32_t a = ints("a", 1, none);
    g->graph.buffers[a].bytes = ((uint64_t)1 << 46) + 1;
    check_fails(g, FUSER_INVALID, "a", "70368744177664");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(compared_addresses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(compared_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sizes_of_images, set_up, tear_down),
        cmocka_unit_test_setup_teardown(addresses_as_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(addresses_of_the_kernels_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(looked_at_in_another_launch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(looked_at_in_the_same_launch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_part_is_looked_at, set_up, tear_down),
        cmocka_unit_test_setup_teardown(looking_makes_no_edge, set_up, tear_down),
        cmocka_unit_test_setup_teardown(as_many_as_a_launch_takes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(more_than_a_launch_takes, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("plan_arguments", tests, NULL, NULL);
}
