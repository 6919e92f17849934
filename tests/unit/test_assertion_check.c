/* Watching kernels that are to run as one: what counts as broken, and what does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "fuser/assertions/assertion_check.h"
#include "ir/text/parse/parse.h"

static const char kernels[] = "kernel @write(%t: ptr.global i32) {\n"
                              "    %i = global_linear_id\n"
                              "    store i32 %t[%i], 1\n" /* line 3 */
                              "}\n"
                              "kernel @read(%t: ptr.global i32) {\n"
                              "    %i = global_linear_id\n"
                              "    %x = load i32 %t[%i]\n" /* line 7 */
                              "}\n"
                              "kernel @write_next(%t: ptr.global i32) {\n"
                              "    %i = global_linear_id\n"
                              "    %j = add i64 %i, 1\n"
                              "    store i32 %t[%j], 1\n" /* line 12 */
                              "}\n"
                              "kernel @read_first(%t: ptr.global i32) {\n"
                              "    %x = load i32 %t\n" /* line 15 */
                              "}\n"
                              "kernel @count(%t: ptr.global i32) {\n"
                              "    %x = atomic_add i32 %t, 1, device, relaxed\n"
                              "}\n"
                              "kernel @count_max(%t: ptr.global i32) {\n"
                              "    %x = atomic_smax i32 %t, 1, device, relaxed\n"
                              "}\n"
                              "kernel @meet_and_write_next(%t: ptr.global i32) {\n"
                              "    barrier global\n"
                              "    %i = global_linear_id\n"
                              "    %l = local_id x\n"
                              "    %k = add i64 %l, 1\n"
                              "    %m = and i64 %k, 7\n"
                              "    %n = sub i64 %m, %l\n"
                              "    %j = add i64 %i, %n\n"
                              "    store i32 %t[%j], 1\n"
                              "}\n"
                              "kernel @write_one(%t: ptr.global i32, %n: i64) {\n"
                              "    %i = global_linear_id\n"
                              "    %c = ieq i64 %i, %n\n"
                              "    if %c {\n"
                              "        store i32 %t, 1\n"
                              "    }\n"
                              "}\n"
                              "kernel @read_some(%t: ptr.global i32, %n: i64) {\n"
                              "    %i = global_linear_id\n"
                              "    %c = ult i64 %i, %n\n"
                              "    if %c {\n"
                              "        %x = load i32 %t\n"
                              "    }\n"
                              "}\n";

enum { ITEMS = 32, GROUP = 8, ELEMENTS = 64 };

struct scene {
    struct ir_module *module;
    struct assertion_check *watch;
    int32_t t[ELEMENTS];
    struct nd_range line; /* 32 work-items in groups of 8 */
    struct assertion_arg arg;
    bool barrier;
};

static int start(void **state)
{
    static struct scene s;
    struct diag_list list = {0};
    const struct assertion_buffer t = {"t", sizeof s.t, 4};
    s = (struct scene){.line = {1, {ITEMS, 1, 1}, {0}, {GROUP, 1, 1}}, .arg = {.is_checked = true}};
    s.module = ir_parse(kernels, strlen(kernels), "watch.fk", &list);
    if (!s.module) print_message("%s\n", diag_format(&list));
    assert_non_null(s.module);
    s.watch = assertion_check_new(&t, 1);
    *state = &s;
    return 0;
}

static int stop(void **state)
{
    struct scene *s = *state;
    assertion_check_free(s->watch);
    ir_module_free(s->module);
    return 0;
}

/* The kernel over a range as part of a launch over 32 work-items; number: its second argument. */
static bool runs_in(struct scene *s, uint32_t launch, const char *name, const struct nd_range *range, bool linear,
                    int64_t number)
{
    const struct ir_function *f = ir_module_find(s->module, name);
    const struct assertion_arg args[2] = {s->arg};
    const struct assertion_kernel kernel = {name, launch, s->line, linear, s->barrier, args};
    const struct interp_arg values[2] = {{.kind = INTERP_ARG_BUFFER, .data = s->t, .size = sizeof s->t},
                                         {.kind = INTERP_ARG_BYTES, .data = &number, .size = 8}};
    struct interp_result result;
    assert_non_null(f);
    assert_int_equal(assertion_check_run(s->watch, &kernel, f, range, values, NULL, &result), 0);
    assert_int_equal(result.completed, assertion_check_broken(s->watch) == NULL);
    assert_int_equal(result.n_findings, 0);
    interp_result_clear(&result);
    return !assertion_check_broken(s->watch);
}

static bool runs(struct scene *s, const char *name)
{
    return runs_in(s, 0, name, &s->line, false, 0);
}

static void expect_broken(struct scene *s, const char *says)
{
    const char *broken = assertion_check_broken(s->watch);
    assert_non_null(broken);
    if (!strstr(broken, says)) fail_msg("%s", broken);
}

static void what_stays_in_the_work_item_is_fine(void **state)
{
    struct scene *s = *state;
    assert_true(runs(s, "write"));
    assert_true(runs(s, "read"));
    assert_true(runs(s, "write"));
    assert_true(runs(s, "read"));
}

static void a_neighbours_element_is_not(void **state)
{
    struct scene *s = *state;
    assert_true(runs(s, "write"));
    assert_false(runs(s, "write_next"));
    expect_broken(s, "write and write_next race as one kernel: work-item 0 of write_next (line 12) writes element 1 "
                     "(byte 4) of buffer t, which work-item 1 of write (line 3) writes before");
    assert_string_equal(assertion_check_broken_kernel(s->watch), "write_next");
}

static void it_is_in_another_launch(void **state)
{
    struct scene *s = *state;
    assert_true(runs_in(s, 0, "write", &s->line, false, 0));
    assert_true(runs_in(s, 1, "write_next", &s->line, false, 0));
    assert_true(runs_in(s, 2, "read_first", &s->line, false, 0));
}

static void readers_may_share(void **state)
{
    struct scene *s = *state;
    assert_true(runs(s, "read_first"));
    assert_true(runs(s, "read"));
    assert_false(runs(s, "write"));
    expect_broken(s, "work-item 0 of write (line 3) writes element 0 (byte 0) of buffer t, which work-item 8 of "
                     "read_first (line 15) reads before");
}

static void unless_a_scope_says_otherwise(void **state)
{
    struct scene *s = *state;
    s->arg.scope = ASSERTION_SCOPE_WORK_ITEM;
    assert_false(runs(s, "read_first"));
    expect_broken(s, "access_scope_work_item on buffer t does not hold: work-item 1 of read_first (line 15) reads "
                     "element 0 (byte 0), which is for work-item 0 of read_first (line 15), too: it reads it");
    assertion_check_restart(s->watch);
    s->arg.scope = ASSERTION_SCOPE_WORK_GROUP;
    assert_false(runs(s, "read_first"));
    expect_broken(s, "access_scope_work_group on buffer t does not hold: work-item 8 of");
}

/* Arguments of other kernels without the property say nothing. */
static void scopes_are_of_arguments(void **state)
{
    struct scene *s = *state;
    s->arg.scope = ASSERTION_SCOPE_WORK_ITEM;
    assert_true(runs(s, "read"));
    s->arg.scope = ASSERTION_SCOPE_ANY;
    assert_true(runs(s, "read_first"));
}

static void barriers_order_work_groups(void **state)
{
    struct scene *s = *state;
    s->barrier = true;
    assert_true(runs_in(s, 0, "read_some", &s->line, false, GROUP));
    assert_true(runs_in(s, 0, "write_one", &s->line, false, 3));
    assertion_check_restart(s->watch);
    /* The reader of another group comes last of many. */
    assert_true(runs_in(s, 0, "read_some", &s->line, false, GROUP + 1));
    assert_false(runs_in(s, 0, "write_one", &s->line, false, 3));
    expect_broken(s, "which work-item 8 of read_some");
}

static void a_barrier_of_the_kernels_own(void **state)
{
    struct scene *s = *state;
    assert_true(runs(s, "write"));
    assert_true(runs(s, "meet_and_write_next"));
}

static void atomics_of_one_kind_may_meet(void **state)
{
    struct scene *s = *state;
    assert_true(runs(s, "count"));
    assert_true(runs(s, "count"));
    assert_false(runs(s, "count_max"));
    expect_broken(s, "count and count_max race as one kernel");
}

/* A plane's work-item is that of the launch with its linear id; a line's, that with its global id. */
static void work_items_by_linear_id(void **state)
{
    struct scene *s = *state;
    const struct nd_range plane = {2, {4, 4, 1}, {7, 5, 0}, {4, 4, 1}}, part = {1, {10, 1, 1}, {0}, {10, 1, 1}};
    assert_true(runs(s, "write"));
    assert_true(runs_in(s, 0, "read", &plane, true, 0));
    assert_true(runs_in(s, 0, "read", &part, false, 0));
    assert_false(runs_in(s, 0, "write_next", &plane, true, 0));
    expect_broken(s,
                  "work-item (7, 5) of write_next (line 12) writes element 1 (byte 4) of buffer t, which work-item 1 "
                  "of write");
}

static void what_nobody_wrote(void **state)
{
    struct scene *s = *state;
    s->arg.no_init = true;
    assert_false(runs(s, "read"));
    expect_broken(s, "no_init on buffer t does not hold: work-item 0 of read (line 7) reads element 0 (byte 0), which "
                     "nothing has written before");
    assertion_check_restart(s->watch);
    assertion_check_written(s->watch, 0, 0, 4 * 20);
    assert_false(runs(s, "read"));
    expect_broken(s, "work-item 20 of read");
    assertion_check_restart(s->watch);
    assert_true(runs_in(s, 0, "write", &s->line, false, 0));
    assert_true(runs_in(s, 1, "read", &s->line, false, 0)); /* written is written, whichever launch it was */
}

/* A buffer that is to lose its memory: nothing was asserted, but the plan counts on the same. */
static void what_is_to_be_kept_without_memory(void **state)
{
    struct scene *s = *state;
    s->arg.kept = ASSERTION_SCOPE_WORK_ITEM;
    assert_true(runs(s, "write"));
    assert_true(runs(s, "read"));
    assert_false(runs(s, "read_first"));
    expect_broken(s, "fusion_internal_memory on buffer t does not hold: work-item 1 of read_first (line 15) reads "
                     "element 0 (byte 0), which is for work-item 0 of write (line 3), too: it writes it");
    assertion_check_restart(s->watch);
    assert_false(runs(s, "read"));
    expect_broken(s, "fusion_internal_memory on buffer t does not hold: work-item 0 of read (line 7) reads element 0");
    assertion_check_restart(s->watch);
    s->arg.kept = ASSERTION_SCOPE_WORK_GROUP;
    assertion_check_written(s->watch, 0, 0, sizeof s->t);
    assert_false(runs(s, "read_first"));
    expect_broken(s, "fusion_internal_memory on buffer t does not hold: work-item 8 of");
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, start, stop)
    const struct CMUnitTest tests[] = {
        CASE(what_stays_in_the_work_item_is_fine),
        CASE(a_neighbours_element_is_not),
        CASE(it_is_in_another_launch),
        CASE(readers_may_share),
        CASE(unless_a_scope_says_otherwise),
        CASE(scopes_are_of_arguments),
        CASE(barriers_order_work_groups),
        CASE(a_barrier_of_the_kernels_own),
        CASE(atomics_of_one_kind_may_meet),
        CASE(work_items_by_linear_id),
        CASE(what_nobody_wrote),
        CASE(what_is_to_be_kept_without_memory),
    };
    return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
