/* What a plan says of buffers that stay in memory and of cuts, and that it is true: with what is named it is otherwise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "tests/support/plan_check.h"

enum { N = 64 };

static const char kernels[] =
    "kernel @scale(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n"
    "    %x = load i32 %a[%i]\n"
    "    %y = mul i32 %x, 3\n"
    "    store i32 %o[%i], %y\n" /* line 5 */
    "}\n"
    "kernel @some(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n"
    "    %x = load i32 %a[%i]\n"
    "    %c = slt i32 %x, 7\n"
    "    if %c {\n"
    "        store i32 %o[%i], %x\n"
    "    }\n"
    "}\n"
    "kernel @row(%a: ptr.global i32, %o: ptr.global i32, %n: i64) {\n"
    "    %i = global_id x\n"
    "    %j = mul i64 %i, %n\n"
    "    %x = load i32 %a[%j]\n"
    "    store i32 %o[%j], %x\n"
    "}\n"
    "kernel @swap(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %l = local_id x\n"
    "    %s = local_size x\n"
    "    %g = group_id x\n"
    "    %b = mul i64 %g, %s\n"
    "    %m = sub i64 %s, 1\n"
    "    %r = sub i64 %m, %l\n"
    "    %j = add i64 %b, %r\n"
    "    %i = global_id x\n"
    "    %x = load i32 %a[%j]\n" /* line 30 */
    "    store i32 %o[%i], %x\n"
    "}\n"
    "kernel @spread(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n"
    "    %b = mul i64 %i, 400\n"
    "    %x = load i32 %a[%i]\n"
    "    loop (%n: i64 = 0) {\n"
    "        %c = ult i64 %n, 400\n"
    "        if %c { %k = add i64 %b, %n store i32 %o[%k], %x } else { break }\n"
    "        %m = add i64 %n, 1\n"
    "        continue %m\n"
    "    }\n"
    "}\n"
    "kernel @gather(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    %i = global_id x\n"
    "    %b = mul i64 %i, 400\n"
    "    loop (%n: i64 = 0) {\n"
    "        %c = ult i64 %n, 400\n"
    "        if %c { %k = add i64 %b, %n %x = load i32 %a[%k] store i32 %o[%k], %x } else { break }\n"
    "        %m = add i64 %n, 1\n"
    "        continue %m\n"
    "    }\n"
    "}\n"
    "kernel @stuck(%a: ptr.global i32, %o: ptr.global i32) {\n"
    "    loop (%n: i32 = 0) {\n"
    "        loop (%k: i32 = 0) { break }\n"
    "        %m = add i32 %n, 1\n"
    "        continue %m\n"
    "    }\n"
    "}\n";

/* a -> t -> o. */
static struct test_graph *two(const char *first, const char *second, uint64_t local, struct fuser_props props)
{
    struct test_graph *g = test_graph_new(kernels);
    const char *const names[] = {first, second};
    test_buffer(g, "a", IR_I32, N, (struct fuser_props){0});
    test_buffer(g, "t", IR_I32, N, props);
    test_buffer(g, "o", IR_I32, N, (struct fuser_props){0});
    uint32_t value = test_value(g, 8);
    for (uint32_t i = 0; i < 2; i++) {
        struct fuser_arg args[] = {test_arg_buffer(i), test_arg_buffer(i + 1), test_arg_value(value)};
        test_kernel(g, i ? "later" : "earlier", names[i], test_range(N, local), args,
                    strcmp(names[i], "row") == 0 ? 3 : 2);
    }
    return g;
}

static void finish(struct test_graph *g, struct fuser_plan *plan)
{
    fuser_plan_free(plan);
    test_graph_free(g);
}

static void each_buffer_is_explained(void **state)
{
    (void)state;
    struct test_graph *g = two("scale", "scale", 0, (struct fuser_props){0});
    struct fuser_plan *plan = check_planned(g);
    check_no_remark(plan, "not_internalized_init"); /* nobody asked */
    check_no_remark(plan, "not_internalized_result");
    check_remark(plan, "internalization_possible", "earlier", "t", "");
    fuser_plan_free(plan);
    g->options.explain = true;
    plan = check_planned(g);
    check_remark(plan, "not_internalized_init", "earlier", "a", "no kernel writes it");
    check_remark(
        plan, "internalization_possible", "earlier", "t",
        "buffer t would be kept in registers with fusion_internal_memory, which says that nobody else reads it");
    check_remark(plan, "not_internalized_result", "later", "o",
                 "no kernel reads it: what is written there is a result");
    finish(g, plan);
}

/* 1600 bytes for each work-item: too many for registers, not for work-group memory. */
static struct test_graph *many_elements(uint64_t local, struct fuser_props props)
{
    struct test_graph *g = test_graph_new(kernels);
    test_buffer(g, "a", IR_I32, N, (struct fuser_props){0});
    test_buffer(g, "t", IR_I32, 400 * N, props);
    test_buffer(g, "o", IR_I32, 400 * N, (struct fuser_props){0});
    struct fuser_arg first[] = {test_arg_buffer(0), test_arg_buffer(1)},
                     second[] = {test_arg_buffer(1), test_arg_buffer(2)};
    test_kernel(g, "earlier", "spread", test_range(N, local), first, 2);
    test_kernel(g, "later", "gather", test_range(N, local), second, 2);
    return g;
}

/* The reason that is told and the property that is offered are of one home. */
static void the_reason_is_that_of_the_home_it_could_have(void **state)
{
    (void)state;
    struct fuser_props asked = {.internal_memory = true};
    struct test_graph *g = many_elements(8, asked);
    struct fuser_plan *plan = check_planned(g);
    check_no_remark(plan, "not_internalized_size");
    check_remark(plan, "not_internalized_init", "earlier", "t", "no_init would say so");
    check_remark(plan, "internalization_possible", "earlier", "t", "work-group memory with no_init");
    finish(g, plan);
    g = many_elements(0, asked); /* without a local size there is no such home, and nothing helps */
    plan = check_planned(g);
    check_remark(plan, "not_internalized_size", "earlier", "t", "more than 1024 bytes");
    check_no_remark(plan, "internalization_possible");
    finish(g, plan);
    g = many_elements(8, (struct fuser_props){0}); /* a result is one, however large */
    g->options.explain = true;
    plan = check_planned(g);
    check_remark(plan, "not_internalized_result", "later", "o", "no kernel reads it");
    finish(g, plan);
}

static void endless_loops_are_noticed(void **state)
{
    (void)state;
    struct test_graph *g = two("scale", "scale", 0, (struct fuser_props){0});
    struct fuser_plan *plan = check_planned(g);
    check_no_remark(plan, "endless_loop");
    finish(g, plan);
    g = two("scale", "stuck", 0, (struct fuser_props){0});
    plan = check_planned(g);
    check_remark(plan, "endless_loop", "later", "", "kernel stuck: nothing leaves the loop of line 55");
    finish(g, plan);
    g = many_elements(0, (struct fuser_props){0});
    plan = check_planned(g);
    check_no_remark(plan, "endless_loop");
    finish(g, plan);
}

/* What would keep the buffer in registers or work-group memory is named, whole, and does. */
static void the_properties_named_do_it(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second;
        uint64_t local;
        bool barriers;
        struct fuser_props given, missing;
        const char *reason, *text;
    } cases[] = {
        {"some",
         "scale",
         0,
         false,
         {0},
         {.no_init = true, .internal_memory = true},
         "not_internalized_init",
         "in registers with no_init and fusion_internal_memory"},
        {"some",
         "scale",
         0,
         false,
         {.internal_memory = true},
         {.no_init = true},
         "not_internalized_init",
         "in registers with no_init"},
        {"some",
         "swap",
         16,
         true,
         {.internal_memory = true},
         {.no_init = true},
         "not_internalized_init",
         "in work-group memory with no_init"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct test_graph *g = two(cases[i].first, cases[i].second, cases[i].local, cases[i].given);
        g->options.explain = true;
        g->options.insert_barriers = cases[i].barriers;
        struct fuser_plan *plan = check_planned(g);
        check_internalized(g, plan, "");
        check_remark(plan, cases[i].reason, "earlier", "t", "");
        check_remark(plan, "internalization_possible", "earlier", "t", cases[i].text);
        fuser_plan_free(plan);
        g->graph.buffers[1].props.no_init |= cases[i].missing.no_init;
        g->graph.buffers[1].props.internal_memory |= cases[i].missing.internal_memory;
        plan = check_planned(g);
        check_internalized(g, plan, "t");
        finish(g, plan);
    }
}

/* Each element belongs to one work-item unless the factor is 0, which nobody knows. */
static void a_scope_is_named_where_it_helps(void **state)
{
    (void)state;
    struct test_graph *g = two("row", "row", 0, (struct fuser_props){.internal_memory = true});
    g->options.mode = FUSER_MODE_REQUIRE; /* which vouches for the dependence, not for the home */
    struct fuser_plan *plan = check_planned(g);
    check_remark(plan, "not_internalized_scope", "earlier", "t", "access_scope_work_item would say so");
    check_remark(plan, "internalization_possible", "earlier", "t", "in registers with access_scope_work_item");
    fuser_plan_free(plan);
    g->graph.buffers[1].props.access_scope = FUSER_SCOPE_WORK_ITEM;
    plan = check_planned(g);
    check_internalized(g, plan, "t");
    check_no_remark(plan, "internalization_possible");
    finish(g, plan);
}

static void barriers_are_named_where_they_help(void **state)
{
    (void)state;
    struct test_graph *g = two("scale", "swap", 16, (struct fuser_props){0});
    g->options.barriers = FUSER_BARRIERS_NONE;
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "earlier|later");
    check_remark(plan, "not_fused_race", "later", "t",
                 "of earlier (line 5) writes what is then read of buffer t by work-item");
    check_remark(plan, "not_fused_race", "later", "t", "element 0 (byte 0); insert_barriers would order it");
    fuser_plan_free(plan);
    g->options.insert_barriers = true;
    plan = check_planned(g);
    check_launches(g, plan, "earlier later");
    finish(g, plan);
}

/* Behind a condition a race is not proved, nor that there is none: barriers do it here, too. */
static void barriers_are_named_where_little_is_proved(void **state)
{
    (void)state;
    struct test_graph *g = two("some", "swap", 16, (struct fuser_props){0});
    g->options.barriers = FUSER_BARRIERS_NONE;
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "earlier|later");
    check_remark(plan, "not_fused_dependence", "later", "t", "; insert_barriers would order it");
    fuser_plan_free(plan);
    g->options.insert_barriers = true;
    plan = check_planned(g);
    check_launches(g, plan, "earlier later");
    finish(g, plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_buffer_is_explained),
        cmocka_unit_test(the_reason_is_that_of_the_home_it_could_have),
        cmocka_unit_test(endless_loops_are_noticed),
        cmocka_unit_test(the_properties_named_do_it),
        cmocka_unit_test(a_scope_is_named_where_it_helps),
        cmocka_unit_test(barriers_are_named_where_they_help),
        cmocka_unit_test(barriers_are_named_where_little_is_proved),
    };
    return cmocka_run_group_tests_name("plan_explain", tests, NULL, NULL);
}
