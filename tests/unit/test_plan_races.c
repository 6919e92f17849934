/* Proved races, shape by shape: under require_fusion the error names both kernels, both lines, the element and a pair
   of work-items; under enable_fusion the same sentence is the remark of a cut. Watched, the two are found to meet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tests/support/plan_check.h"
#include "tests/support/plan_run.h"

/* Each takes %o, which it writes, and %a, which it reads; lines are asserted. */
static const char kernels[] = "kernel @copy(%o: ptr.global i32, %a: ptr.global i32) {\n"
                              "    %i = global_id x\n"
                              "    %x = load i32 %a[%i]\n" /* line 3 */
                              "    store i32 %o[%i], %x\n" /* line 4 */
                              "}\n"
                              "kernel @next(%o: ptr.global i32, %a: ptr.global i32) {\n"
                              "    %i = global_id x\n"
                              "    %j = add i64 %i, 1\n"
                              "    %x = load i32 %a[%j]\n" /* line 9 */
                              "    store i32 %o[%i], %x\n"
                              "}\n"
                              "kernel @reverse(%o: ptr.global i32, %a: ptr.global i32) {\n"
                              "    %i = global_id x\n"
                              "    %n = global_size x\n"
                              "    %m = sub i64 %n, 1\n"
                              "    %j = sub i64 %m, %i\n"
                              "    %x = load i32 %a[%j]\n" /* line 17 */
                              "    store i32 %o[%i], %x\n"
                              "}\n"
                              "kernel @even(%o: ptr.global i32, %a: ptr.global i32) {\n"
                              "    %i = global_id x\n"
                              "    %j = shl i64 %i, 1\n"
                              "    %x = load i32 %a[%i]\n"
                              "    store i32 %o[%j], %x\n" /* line 24 */
                              "}\n"
                              "kernel @thirds(%o: ptr.global i32, %a: ptr.global i32) {\n"
                              "    %i = global_id x\n"
                              "    %j = mul i64 %i, 3\n"
                              "    %x = load i32 %a[%j]\n" /* line 29 */
                              "    store i32 %o[%i], %x\n"
                              "}\n"
                              "kernel @plane(%o: ptr.global i32, %a: ptr.global i32) {\n"
                              "    %x = global_id x\n"
                              "    %y = global_id y\n"
                              "    %w = global_size x\n"
                              "    %r = mul i64 %y, %w\n"
                              "    %i = add i64 %r, %x\n"
                              "    %v = load i32 %a[%i]\n" /* line 38 */
                              "    store i32 %o[%i], %v\n" /* line 39 */
                              "}\n"
                              "kernel @below(%o: ptr.global i32, %a: ptr.global i32) {\n"
                              "    %x = global_id x\n"
                              "    %y = global_id y\n"
                              "    %w = global_size x\n"
                              "    %r = mul i64 %y, %w\n"
                              "    %i = add i64 %r, %x\n"
                              "    %j = add i64 %i, %w\n"
                              "    %v = load i32 %a[%j]\n" /* line 48 */
                              "    store i32 %o[%i], %v\n"
                              "}\n"
                              "kernel @first(%o: ptr.global i32, %a: ptr.global i32) {\n"
                              "    %i = global_id x\n"
                              "    %x = load i32 %a\n" /* line 53 */
                              "    store i32 %o[%i], %x\n"
                              "}\n";

enum { ELEMENTS = 512 };
enum role { WRITES_T, READS_T }; /* what a kernel of the pair does with the buffer they share */

struct side {
    const char *kernel;
    enum role role;
    struct nd_range range;
    uint64_t offset; /* of its accessor on t */
};

static const struct {
    const char *shape;
    struct side sides[2];
    const char *says;
} races[] = {
    {"offset neighbour",
     {{"copy", WRITES_T, {1, {64, 1, 1}, {0}, {0}}, 0}, {"next", READS_T, {1, {64, 1, 1}, {0}, {0}}, 0}},
     "work-item 1 of earlier (line 4) writes what is then read of buffer t by work-item 0 of later (line 9), element 1 "
     "(byte 4)"},
    {"read before it is written",
     {{"next", READS_T, {1, {64, 1, 1}, {0}, {0}}, 0}, {"copy", WRITES_T, {1, {64, 1, 1}, {0}, {0}}, 0}},
     "work-item 0 of earlier (line 9) reads what is then written of buffer t by work-item 1 of later (line 4), element "
     "1 (byte 4)"},
    {"reversed",
     {{"copy", WRITES_T, {1, {64, 1, 1}, {0}, {0}}, 0}, {"reverse", READS_T, {1, {64, 1, 1}, {0}, {0}}, 0}},
     "of later (line 17), element "},
    {"written twice",
     {{"copy", WRITES_T, {1, {64, 1, 1}, {0}, {0}}, 0}, {"even", WRITES_T, {1, {64, 1, 1}, {0}, {0}}, 0}},
     "writes what is then written again of buffer t by work-item "},
    {"strides that overlap",
     {{"even", WRITES_T, {1, {64, 1, 1}, {0}, {0}}, 0}, {"thirds", READS_T, {1, {64, 1, 1}, {0}, {0}}, 0}},
     "of earlier (line 24) writes what is then read of buffer t by work-item "},
    {"ranges of different sizes",
     {{"copy", WRITES_T, {1, {64, 1, 1}, {0}, {0}}, 0}, {"next", READS_T, {1, {40, 1, 1}, {0}, {0}}, 0}},
     "work-item 1 of earlier (line 4) writes what is then read of buffer t by work-item 0 of later (line 9), element 1 "
     "(byte 4)"},
    {"sub-ranges",
     {{"copy", WRITES_T, {1, {64, 1, 1}, {0}, {0}}, 64}, {"copy", READS_T, {1, {64, 1, 1}, {0}, {0}}, 128}},
     "work-item 16 of earlier (line 4) writes what is then read of buffer t by work-item 0 of later (line 3), element "
     "32 (byte 128)"},
    {"rows of a plane",
     {{"plane", WRITES_T, {2, {8, 8, 1}, {0}, {0}}, 0}, {"below", READS_T, {2, {8, 8, 1}, {0}, {0}}, 0}},
     "work-item (0, 1) of earlier (line 39) writes what is then read of buffer t by work-item (0, 0) of later (line "
     "48), element 8 (byte 32)"},
    {"different dimensions",
     {{"copy", WRITES_T, {1, {64, 1, 1}, {0}, {0}}, 4}, {"plane", READS_T, {2, {8, 8, 1}, {0}, {0}}, 0}},
     "of later (line 38), element "},
    {"one element for all",
     {{"copy", WRITES_T, {1, {64, 1, 1}, {0}, {0}}, 0}, {"first", READS_T, {1, {64, 1, 1}, {0}, {0}}, 0}},
     "of later (line 53), element 0 (byte 0)"},
    {"offsets of the range",
     {{"copy", WRITES_T, {1, {64, 1, 1}, {10, 0, 0}, {0}}, 0}, {"next", READS_T, {1, {64, 1, 1}, {10, 0, 0}, {0}}, 0}},
     "work-item 11 of earlier (line 4) writes what is then read of buffer t by work-item 10 of later (line 9), element "
     "11 (byte 44)"},
};

static struct test_graph *make(const struct side sides[2], struct fuser_props props)
{
    struct test_graph *g = test_graph_new(kernels);
    const struct fuser_props none = {0};
    uint32_t t = test_buffer(g, "t", IR_I32, ELEMENTS, props);
    for (int i = 0; i < 2; i++) {
        uint32_t other = test_buffer(g, i ? "out" : "in", IR_I32, ELEMENTS, none);
        struct fuser_arg args[2] = {test_arg_buffer(other), test_arg_buffer(other)};
        args[sides[i].role] = test_arg_buffer(t);
        args[sides[i].role].offset = sides[i].offset;
        test_kernel(g, i ? "later" : "earlier", sides[i].kernel, sides[i].range, args, 2);
    }
    return g;
}

/* Both in one launch, whatever the planner thinks: the watched run must find the race. */
static void check_watched(const struct test_graph *g)
{
    uint32_t nodes[2] = {0, 1};
    bool barriers[2] = {false, false};
    struct nd_range range = g->graph.nodes[0].range;
    for (unsigned d = 0; d < 3; d++) range.local[d] = 1;
    struct fuser_launch launch = {.range = range, .n_nodes = 2, .nodes = nodes, .barriers = barriers};
    struct fuser_step step = {.kind = FUSER_STEP_LAUNCH};
    enum fuser_storage homes[3] = {FUSER_STORAGE_MEMORY, FUSER_STORAGE_MEMORY, FUSER_STORAGE_MEMORY};
    struct fuser_plan plan = {.n_launches = 1, .launches = &launch, .n_steps = 1, .steps = &step, .storage = homes};
    struct graph_memory m = graph_memory_new(&g->graph, 1);
    char why[1500] = "";
    assert_false(run_watched(&g->graph, &plan, &m, why, sizeof why));
    if (!strstr(why, "earlier and later race as one kernel")) fail_msg("watched: %s", why);
    graph_memory_free(&m);
}

static void each_shape_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof races / sizeof *races; i++)
        for (int word = 0; word < 2; word++) { /* the user's word does not help against a proof */
            struct fuser_props props = {.access_scope = word ? FUSER_SCOPE_WORK_ITEM : FUSER_SCOPE_NONE};
            struct test_graph *g = make(races[i].sides, props);
            print_message("# %s\n", races[i].shape);
            struct fuser_plan *plan = check_planned(g);
            check_launches(g, plan, "earlier|later");
            check_remark(plan, "not_fused_race", "later", "t", races[i].says);
            check_same(g, plan);
            fuser_plan_free(plan);
            g->options.mode = FUSER_MODE_REQUIRE;
            check_fails(g, FUSER_KERNEL_NOT_SUPPORTED, "node later", races[i].says);
            check_fails(g, FUSER_KERNEL_NOT_SUPPORTED, "node later", "earlier and later cannot run as one kernel: ");
            if (!word) check_watched(g);
            test_graph_free(g);
        }
}

/* A scalar argument takes part in both addresses: the pair is known, the element is not. */
static void an_element_that_depends_on_arguments(void **state)
{
    (void)state;
    struct test_graph *g = test_graph_new("kernel @behind(%o: ptr.global i32, %n: i64) {\n"
                                          "    %i = global_id x\n"
                                          "    %j = add i64 %i, %n\n"
                                          "    store i32 %o[%j], 1\n"
                                          "}\n"
                                          "kernel @further(%o: ptr.global i32, %n: i64) {\n"
                                          "    %i = global_id x\n"
                                          "    %j = add i64 %i, %n\n"
                                          "    %k = add i64 %j, 1\n"
                                          "    store i32 %o[%k], 2\n"
                                          "}\n");
    uint32_t t = test_buffer(g, "t", IR_I32, ELEMENTS, (struct fuser_props){0}), n = test_value(g, 8);
    struct fuser_arg args[2] = {test_arg_buffer(t), test_arg_value(n)};
    test_kernel(g, "earlier", "behind", test_range(64, 0), args, 2);
    test_kernel(g, "later", "further", test_range(64, 0), args, 2);
    struct fuser_plan *plan = check_planned(g);
    check_remark(plan, "not_fused_race", "later", "t", "by work-item 0 of later (line 10)");
    for (uint32_t i = 0; i < plan->n_remarks; i++) assert_null(strstr(plan->remarks[i].text, "element"));
    fuser_plan_free(plan);
    test_graph_free(g);
}

/* Rows as long as an argument says, and neighbours clamped by it: no sums, but as it was recorded two meet. The user's
   word that they do not is refused, too. Where the number is not known nothing is proved. */
static void arguments_as_they_were_recorded(void **state)
{
    (void)state;
    static const char text[] = "kernel @row(%o: ptr.global i32, %w: i64) {\n"
                               "    %x = global_id x\n    %y = global_id y\n"
                               "    %r = mul i64 %y, %w\n    %i = add i64 %r, %x\n"
                               "    store i32 %o[%i], 1\n" /* line 6 */
                               "}\n"
                               "kernel @beside(%a: ptr.global i32, %w: i64, %o: ptr.global i32) {\n"
                               "    %x = global_id x\n    %y = global_id y\n"
                               "    %e = sub i64 %w, 1\n    %n = add i64 %x, 1\n    %c = smin i64 %n, %e\n"
                               "    %r = mul i64 %y, %w\n    %i = add i64 %r, %x\n    %j = add i64 %r, %c\n"
                               "    %v = load i32 %a[%j]\n" /* line 17 */
                               "    store i32 %o[%i], %v\n"
                               "}\n";
    const struct nd_range range = {2, {16, 4, 1}, {0}, {0}};
    static const char says[] = "work-item (8, 2) of earlier (line 6) writes what is then read of buffer t by work-item "
                               "(7, 2) of later (line 17), element 40 (byte 160)";
    for (int known = 0; known < 2; known++)
        for (int word = 0; word < 2; word++) {
            struct fuser_props props = {.access_scope = word ? FUSER_SCOPE_WORK_ITEM : FUSER_SCOPE_NONE};
            struct test_graph *g = test_graph_new(text);
            uint32_t t = test_buffer(g, "t", IR_I32, 64, props);
            uint32_t out = test_buffer(g, "out", IR_I32, 64, (struct fuser_props){0}), w = test_value(g, 8);
            g->graph.values[w].number = known ? 16 : 0;
            struct fuser_arg first[2] = {test_arg_buffer(t), test_arg_value(w)};
            struct fuser_arg second[3] = {test_arg_buffer(t), test_arg_value(w), test_arg_buffer(out)};
            test_kernel(g, "earlier", "row", range, first, 2);
            test_kernel(g, "later", "beside", range, second, 3);
            struct fuser_plan *plan = check_planned(g);
            if (known || !word) check_launches(g, plan, "earlier|later");
            if (known) check_remark(plan, "not_fused_race", "later", "t", says);
            if (!known && !word) check_remark(plan, "not_fused_dependence", "later", "t", "perhaps by another");
            if (!known && word) check_remark(plan, "vouched_by_scope", "later", "t", "not proved");
            fuser_plan_free(plan);
            g->options.mode = FUSER_MODE_REQUIRE;
            if (known) check_fails(g, FUSER_KERNEL_NOT_SUPPORTED, "node later", says);
            test_graph_free(g);
        }
}

/* Names as long as they may be leave room for lines and work-items. */
static void long_names_leave_room(void **state)
{
    (void)state;
    char long_name[2][256];
    struct test_graph *g = make(races[0].sides, (struct fuser_props){0});
    for (int i = 0; i < 2; i++) {
        memset(long_name[i], 'a' + i, 255);
        long_name[i][255] = 0;
        g->graph.nodes[i].name = long_name[i];
    }
    g->options.mode = FUSER_MODE_REQUIRE;
    for (int i = 0; i < 4; i++)
        check_fails(g, FUSER_KERNEL_NOT_SUPPORTED, "node bbb",
                    (const char *const[]){"work-item 1 of aaa", "(line 4)", "work-item 0 of bbb", "(line 9)"}[i]);
    check_fails(g, FUSER_KERNEL_NOT_SUPPORTED, "node bbb", "element 1 (byte 4)");
    test_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_shape_is_named),
        cmocka_unit_test(an_element_that_depends_on_arguments),
        cmocka_unit_test(arguments_as_they_were_recorded),
        cmocka_unit_test(long_names_leave_room),
    };
    return cmocka_run_group_tests_name("plan_races", tests, NULL, NULL);
}
