/* Launches over ranges of several sizes: what shares one, and that the finest level of a pyramid waits for the others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "tests/support/plan_check.h"

enum { SIDE = 64, CENTERS = 4, LEVELS = 3, DEAR = 100000000, CHEAP = 1 };

#define IDS                                                                                                            \
    "  %x = global_id x\n  %y = global_id y\n  %w = global_size x\n  %row = mul i64 %y, %w\n  %i = add i64 %row, %x\n"
/* Of a picture of half the size. */
#define NEXT                                                                                                           \
    "  %x2 = lshr i64 %x, 1\n  %y2 = lshr i64 %y, 1\n  %w2 = lshr i64 %w, 1\n  %row2 = mul i64 %y2, %w2\n"             \
    "  %j = add i64 %row2, %x2\n  %n = load i32 %next[%j]\n"

static const char kernels[] =
    "kernel @shrink(%in: ptr.global i32, %out: ptr.global i32) {\n" IDS
    "  %row4 = mul i64 %row, 4\n  %x2 = mul i64 %x, 2\n  %j = add i64 %row4, %x2\n  %k = add i64 %j, 1\n"
    "  %a = load i32 %in[%j]\n  %b = load i32 %in[%k]\n  %s = add i32 %a, %b\n  store i32 %out[%i], %s\n}\n"
    "kernel @add(%level: ptr.global i32, %next: ptr.global i32, %out: ptr.global i32) {\n" IDS NEXT
    "  %l = load i32 %level[%i]\n  %o = load i32 %out[%i]\n  %d = sub i32 %l, %n\n  %s = add i32 %o, %d\n"
    "  store i32 %out[%i], %s\n}\n"
    "kernel @collapse(%detail: ptr.global i32, %next: ptr.global i32, %out: ptr.global i32) {\n" IDS NEXT
    "  %d = load i32 %detail[%i]\n  %s = add i32 %d, %n\n  store i32 %out[%i], %s\n}\n"
    "kernel @clear(%out: ptr.global i32) {\n" IDS "  store i32 %out[%i], 0\n}\n"
    "kernel @copy(%in: ptr.global i32, %out: ptr.global i32) {\n"
    "  %i = global_id x\n  %a = load i32 %in[%i]\n  store i32 %out[%i], %a\n}\n";

static struct test_graph *new_graph(uint64_t launch_ns)
{
    struct test_graph *g = test_graph_new(kernels);
    g->options.device.machine.cache_bytes = 1 << 20;
    g->options.device.machine.cores = 1;
    g->options.device.machine.launch_ns = launch_ns;
    return g;
}

static uint64_t side(unsigned level)
{
    return SIDE >> level;
}

static void node(struct test_graph *g, const char *name, const char *kernel, unsigned level, const uint32_t *buffers,
                 uint32_t n)
{
    struct fuser_arg args[3];
    for (uint32_t i = 0; i < n; i++) args[i] = test_arg_buffer(buffers[i]);
    test_kernel(g, name, kernel, test_range_2d(side(level), side(level)), args, n);
}

static uint32_t picture(struct test_graph *g, char letter, unsigned level, struct fuser_props props)
{
    char name[] = {letter, (char)('0' + level), 0};
    return test_buffer(g, name, IR_I32, side(level) * side(level), props);
}

/* Pyramids of several pictures; what each level has over the next one is added up, and the sums' pyramid collapses. */
static void pyramids(struct test_graph *g, bool cleared)
{
    uint32_t around[CENTERS][LEVELS], detail[LEVELS - 1], result[LEVELS - 1];
    const struct fuser_props none = {0}, internal = {.internal_memory = true};
    for (unsigned l = 0; l + 1 < LEVELS; l++) {
        char name[] = {'c', (char)('0' + l), 0};
        detail[l] = picture(g, 'x', l, cleared ? internal : none);
        result[l] = picture(g, 'r', l, l ? internal : none);
        if (cleared) node(g, name, "clear", l, &detail[l], 1);
    }
    for (unsigned c = 0; c < CENTERS; c++) {
        char name[] = {0, 0, (char)('a' + c), 0};
        for (unsigned l = 0; l < LEVELS; l++) around[c][l] = picture(g, (char)('a' + c), l, l ? internal : none);
        for (unsigned l = 0; l + 1 < LEVELS; l++) {
            name[0] = 's';
            name[1] = (char)('1' + l);
            node(g, name, "shrink", l + 1, (uint32_t[]){around[c][l], around[c][l + 1]}, 2);
        }
        for (unsigned l = 0; l + 1 < LEVELS; l++) {
            name[0] = 'd';
            name[1] = (char)('0' + l);
            node(g, name, "add", l, (uint32_t[]){around[c][l], around[c][l + 1], detail[l]}, 3);
        }
    }
    node(g, "u1", "collapse", 1, (uint32_t[]){detail[1], around[0][2], result[1]}, 3);
    node(g, "u0", "collapse", 0, (uint32_t[]){detail[0], result[1], result[0]}, 3);
}

static void each_launch_has_one_level(void **state)
{
    (void)state;
    struct test_graph *g = new_graph(CHEAP);
    pyramids(g, false);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "s1a s1b s1c s1d|s2a s2b s2c s2d|d1a d1b d1c d1d u1|d0a d0b d0c d0d u0");
    check_same(g, plan);
    fuser_plan_free(plan);
    test_graph_free(g);
}

/* What is cleared is ready first, but is only added to much later: there it is never in memory. */
static void sums_are_cleared_where_they_are(void **state)
{
    (void)state;
    struct test_graph *g = new_graph(CHEAP);
    pyramids(g, true);
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "s1a s1b s1c s1d|s2a s2b s2c s2d|c1 d1a d1b d1c d1d u1|c0 d0a d0b d0c d0d u0");
    check_internalized(g, plan, "x0 x1");
    check_same(g, plan);
    fuser_plan_free(plan);
    test_graph_free(g);
}

/* `small` has a sixteenth of the work-items of `large`, and touches what that does, or something else. */
static struct fuser_plan *plan_two(uint64_t launch_ns, bool flows, bool small_first, const char *launches)
{
    struct test_graph *g = new_graph(launch_ns);
    uint32_t a = test_buffer(g, "a", IR_I32, 1024, (struct fuser_props){0});
    uint32_t b = test_buffer(g, "b", IR_I32, 1024, (struct fuser_props){0});
    uint32_t c = test_buffer(g, "c", IR_I32, 1024, (struct fuser_props){0});
    uint32_t d = test_buffer(g, "d", IR_I32, 1024, (struct fuser_props){0});
    for (int i = 0; i < 2; i++) {
        bool small = (i == 0) == small_first;
        struct fuser_arg args[] = {test_arg_buffer(small ? (flows ? b : c) : a), test_arg_buffer(small ? d : b)};
        test_kernel(g, i ? "second" : "first", "copy", test_range(small ? 64 : 1024, 0), args, 2);
    }
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, launches);
    check_same(g, plan);
    test_graph_free(g);
    return plan;
}

static void few_work_items_share_where_it_pays(void **state)
{
    (void)state;
    fuser_plan_free(plan_two(DEAR, false, false, "first second"));
    fuser_plan_free(plan_two(CHEAP, true, false, "first second"));
    for (int small_first = 0; small_first < 2; small_first++) {
        struct fuser_plan *plan = plan_two(CHEAP, false, small_first, "first|second");
        check_remark(plan, "not_fused_range", "second", "", "nothing flows between them");
        fuser_plan_free(plan);
    }
}

/* A kernel over `large` elements, and `n` over 64 of them which have nothing to do with it nor with each other. */
static void plan_some(uint64_t launch_ns, uint32_t large, unsigned n, const char *launches)
{
    struct test_graph *g = new_graph(launch_ns);
    const struct fuser_props none = {0};
    struct fuser_arg all[] = {test_arg_buffer(test_buffer(g, "a", IR_I32, large, none)),
                              test_arg_buffer(test_buffer(g, "b", IR_I32, large, none))};
    test_kernel(g, "all", "copy", test_range(large, 0), all, 2);
    for (unsigned i = 0; i < n; i++) {
        char name[] = {'s', (char)('1' + i), 0}, in[] = {'c', (char)('1' + i), 0}, out[] = {'d', (char)('1' + i), 0};
        struct fuser_arg some[] = {test_arg_buffer(test_buffer(g, in, IR_I32, 1024, none)),
                                   test_arg_buffer(test_buffer(g, out, IR_I32, 1024, none))};
        test_kernel(g, name, "copy", test_range(64, 0), some, 2);
    }
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, launches);
    check_same(g, plan);
    fuser_plan_free(plan);
    test_graph_free(g);
}

/* What counts is the launch that small kernels would be together; and beside a long one a launch more is nothing. A
   copy of 1024 elements takes 819 ns. */
static void weighed_together(void **state)
{
    (void)state;
    plan_some(300, 1024, 1, "all s1");
    plan_some(300, 1024, 2, "all|s1 s2");
    plan_some(500, 1024, 2, "all s1 s2");
    plan_some(300, 16384, 1, "all|s1");
    plan_some(1000, 16384, 1, "all s1");
}

/* Where the user says that all are one launch, they are. */
static void required(void **state)
{
    (void)state;
    struct test_graph *g = new_graph(CHEAP);
    uint32_t a = test_buffer(g, "a", IR_I32, 1024, (struct fuser_props){0});
    uint32_t b = test_buffer(g, "b", IR_I32, 1024, (struct fuser_props){0});
    uint32_t c = test_buffer(g, "c", IR_I32, 64, (struct fuser_props){0});
    struct fuser_arg large[] = {test_arg_buffer(a), test_arg_buffer(b)},
                     small[] = {test_arg_buffer(a), test_arg_buffer(c)};
    test_kernel(g, "first", "copy", test_range(1024, 0), large, 2);
    test_kernel(g, "second", "copy", test_range(64, 0), small, 2);
    g->options.mode = FUSER_MODE_REQUIRE;
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "first second");
    fuser_plan_free(plan);
    test_graph_free(g);
}

/* Rows of work-groups are rows of the picture, so that bands are of few; where a kernel looks at its group they stay.
 */
static void work_groups_of_one_row(void **state)
{
    (void)state;
    for (int bands = 0; bands < 2; bands++) {
        struct test_graph *g = new_graph(DEAR);
        if (!bands) g->options.device.machine.cache_bytes = 0;
        uint32_t a = picture(g, 'a', 0, (struct fuser_props){0}),
                 b = test_buffer(g, "b", IR_I32, 4 * SIDE * SIDE, (struct fuser_props){0});
        node(g, "k", "shrink", 0, (uint32_t[]){b, a}, 2);
        struct fuser_plan *plan = check_planned(g);
        assert_int_equal(plan->launches[0].range.local[0], SIDE);
        assert_int_equal(plan->launches[0].range.local[1], bands ? 1 : 1024 / SIDE);
        fuser_plan_free(plan);
        test_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_launch_has_one_level),
                                       cmocka_unit_test(sums_are_cleared_where_they_are),
                                       cmocka_unit_test(few_work_items_share_where_it_pays),
                                       cmocka_unit_test(weighed_together),
                                       cmocka_unit_test(required),
                                       cmocka_unit_test(work_groups_of_one_row)};
    return cmocka_run_group_tests_name("plan_pyramid", tests, NULL, NULL);
}
