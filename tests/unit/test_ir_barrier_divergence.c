/* The verifier on work-items that miss each other: what is proved is told with its lines, all else passes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/analysis/barrier_divergence.h"
#include "ir/text/parse/parse.h"

/* Parses a kernel for work-groups of 8 in sub-groups of 4; body starts in line 2. */
static struct ir_module *read_kernel(const char *attributes, const char *body, struct diag_list *list)
{
    char text[2048];
    snprintf(text, sizeof text, "kernel @k(%%p: ptr.global i32, %%n: i64)%s {\n%s}\nfunc @wait() {\n    barrier\n}\n",
             attributes, body);
    return ir_parse(text, strlen(text), "test", list);
}

static void expect_refused(const char *body, uint32_t line, const char *part)
{
    struct diag_list list = {0};
    struct ir_module *m = read_kernel(" work_group_size(8) sub_group_size(4)", body, &list);
    if (m || list.n != 1 || list.items[0].line != line || !strstr(list.items[0].text, part)) {
        char *findings = diag_format(&list);
        fail_msg("wanted line %u: %s\ngot: %s\nfor\n%s", line, part, m ? "nothing" : findings, body);
    }
    assert_string_equal(list.items[0].function, "k");
    diag_clear(&list);
}

static void expect_passed(const char *attributes, const char *body)
{
    struct diag_list list = {0};
    struct ir_module *m = read_kernel(attributes, body, &list);
    if (!m) fail_msg("%s\nfor\n%s", diag_format(&list), body);
    ir_module_free(m);
}

static const char *const in_branch =
    "    %l = local_id x\n    %c = slt i64 %l, 2\n    if %c {\n        barrier\n    }\n";

static void test_branches(void **state)
{
    (void)state;
    expect_refused(in_branch, 5,
                   "barrier: in divergent control flow: by the condition of line 4, "
                   "local work-item (0,0,0) reaches it and (2,0,0) does not");
    /* A barrier is not another one, though equal. */
    expect_refused("    %l = local_id x\n    %c = slt i64 %l, 2\n"
                   "    if %c {\n        barrier\n    } else {\n        barrier\n    }\n",
                   5, "reaches it and (2,0,0) does not");
    expect_refused("    %l = local_id x\n    %c = ieq i64 %l, 7\n    if %c {\n        call @wait()\n    }\n", 5,
                   "call: leads to barrier in line 9, in divergent control flow: by the condition of line 4, local "
                   "work-item (7,0,0)");
    /* Conditions over several steps, one in another. */
    expect_refused("    %l = local_linear_id\n    %s = local_size x\n    %m = sub i64 %s, 1\n    %c = ieq i64 %l, %m\n"
                   "    %t = ine i64 %l, 3\n    if %t {\n        if %c {\n            %r = group_reduce i64 %l, add\n"
                   "        }\n    }\n",
                   9,
                   "group_reduce: in divergent control flow: by the condition of line 8, "
                   "local work-item (7,0,0) reaches it and (0,0,0) does not");
    /* A choice of two. */
    expect_refused("    %l = local_id x\n    %a = slt i64 %l, 6\n    %b = if %a -> bool {\n"
                   "        %x = sgt i64 %l, 2\n        yield %x\n    } else {\n        yield false\n    }\n"
                   "    if %b {\n        barrier\n    }\n",
                   11, "line 10, local work-item (3,0,0) reaches it and (0,0,0) does not");
}

static void test_leaving(void **state)
{
    (void)state;
    expect_refused("    %l = local_id x\n    %c = sgt i64 %l, 5\n    if %c {\n        return\n    }\n    barrier\n", 7,
                   "line 4, local work-item (0,0,0) reaches it and (6,0,0) does not");
    expect_refused("    %l = local_id x\n    loop (%i: i64 = 0) {\n        %c = sge i64 %i, %l\n"
                   "        if %c {\n            break\n        }\n        barrier\n        %j = add i64 %i, 1\n"
                   "        continue %j\n    }\n",
                   8, "line 5, local work-item (1,0,0) reaches it and (0,0,0) does not");
}

static void test_sub_groups(void **state)
{
    (void)state;
    expect_refused("    %l = local_id x\n    %c = slt i64 %l, 2\n    if %c {\n        barrier sub_group\n    }\n", 5,
                   "line 4, local work-item (0,0,0) reaches it and (2,0,0) does not");
    expect_refused("    %l = sub_group_local_id\n    %c = ieq i32 %l, 1\n    if %c {\n        %x = block_read i32 %p\n"
                   "    }\n",
                   5,
                   "block_read: in divergent control flow: by the condition of line 4, "
                   "local work-item (1,0,0)");
    /* A whole sub-group does not come there; shuffles take who is there. */
    expect_passed(" work_group_size(8) sub_group_size(4)",
                  "    %l = local_id x\n    %c = slt i64 %l, 4\n    if %c {\n        barrier sub_group\n    }\n");
    expect_passed(" work_group_size(8) sub_group_size(4)", "    %l = local_id x\n    %c = slt i64 %l, 3\n    if %c {\n"
                                                           "        %x = sub_group_shuffle_xor i64 %l, 1\n    }\n");
    expect_passed(" work_group_size(8)",
                  "    %l = local_id x\n    %c = slt i64 %l, 2\n    if %c {\n        barrier sub_group\n    }\n");
}

static void test_operands(void **state)
{
    (void)state;
    expect_refused("    %l = local_id x\n    %x = group_broadcast i64 %l, %l\n", 3,
                   "group_broadcast: its source differs between local work-items (0,0,0) and (1,0,0)");
    expect_refused("    %l = local_id x\n    %q = elem i32 %p, %l\n    block_write i32 %q, 1\n", 4,
                   "block_write: its pointer differs between local work-items (0,0,0) and (1,0,0)");
    expect_passed(" work_group_size(8) sub_group_size(4)",
                  "    %l = sub_group_id\n    %q = elem i32 %p, %l\n    block_write i32 %q, 1\n");
}

/* Not proved: sizes that are not known, arguments, memory, what may not be reached. */
static void test_left_to_the_debug_run(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "    %l = local_id x\n    %c = slt i64 %l, %n\n    if %c {\n        barrier\n    }\n",
        "    %l = local_id x\n    %c = slt i64 %l, 8\n    if %c {\n        barrier\n    }\n",
        "    %g = global_id x\n    %c = slt i64 %g, 2\n    if %c {\n        barrier\n    }\n",
        "    %v = load i32 %p\n    %c = ieq i32 %v, 0\n    if %c {\n        return\n    }\n"
        "    %l = local_id x\n    %d = ieq i64 %l, 0\n    if %d {\n        barrier\n    }\n",
        "    %z = ieq i64 %n, 0\n    %l = local_id x\n    %c = slt i64 %l, 2\n    %d = and bool %c, %z\n"
        "    if %d {\n        barrier\n    }\n",
        "    %l = local_id x\n    %c = slt i64 %l, 2\n    if %c {\n        store i32 %p, 1\n    }\n    barrier\n",
    };
    expect_passed("", in_branch);
    expect_passed(" work_group_size(1)", in_branch);
    expect_passed(" work_group_size(2)", in_branch);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) expect_passed(" work_group_size(8)", bodies[i]);
}

/* With the ND-range, as the planner has it, conditions on global ids count too. */
static void test_placed(void **state)
{
    (void)state;
    struct diag_list list = {0};
    struct ir_module *m =
        read_kernel("", "    %g = global_id x\n    %c = slt i64 %g, 99\n    if %c {\n        barrier\n    }\n", &list);
    assert_non_null(m);
    struct ir_barrier_group group = {
        .size = {8, 1, 1}, .placed = true, .dims = 1, .local = {8, 1, 1}, .global = {200, 1, 1}};
    struct ir_barrier_divergence finding;
    for (uint64_t id = 0; id < 25; id++) {
        group.id[0] = id;
        assert_int_equal(ir_find_barrier_divergence(ir_module_find(m, "k"), &group, &finding), id == 12);
    }
    assert_int_equal(finding.at->loc.line, 5);
    ir_module_free(m);
}

/* Chains of calls that double at each step are not followed for ever. */
static void test_many_calls(void **state)
{
    (void)state;
    char text[16384], *at = text;
    at += sprintf(at, "kernel @k() work_group_size(8) {\n    call @f0()\n}\nfunc @f100() {\n}\n");
    for (int i = 0; i < 100; i++)
        at += sprintf(at, "func @f%d() {\n    call @f%d()\n    call @f%d()\n}\n", i, i + 1, i + 1);
    struct ir_module *m = ir_parse(text, strlen(text), "test", NULL);
    assert_non_null(m);
    ir_module_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_leaving),
        cmocka_unit_test(test_sub_groups),
        cmocka_unit_test(test_operands),
        cmocka_unit_test(test_left_to_the_debug_run),
        cmocka_unit_test(test_placed),
        cmocka_unit_test(test_many_calls),
    };
    return cmocka_run_group_tests_name("ir_barrier_divergence", tests, NULL, NULL);
}
