/* Barriers and group operations where the specification forbids them: a message that names kernel, line, work-items. */
#include "tests/conformance/kit.h"

/* Runs it on the interpreter, which must fail with a message that has all these. */
static void expect_run_error(struct kit *k, fusion_status status, const char *const parts[4])
{
    fusion_event event;
    kit_finalize(k, FUSION_ENABLE);
    expect_ok(fusion_exec_submit(k->exec, NULL, 0, &event));
    expect_error(fusion_event_wait(k->session, event, 20000, NULL), status);
    for (int i = 0; i < 4 && parts[i]; i++) expect_in_reason(parts[i]);
}

static void proved_at_finalize(struct kit *k)
{
    fusion_buffer *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, "two_meet", SIZE, 8, fusion_arg_write(out));
    kit_expect_finalize_error(k, FUSION_NONE, FUSION_INVALID, "kernel two_meet, line ");
    expect_in_reason("barrier in divergent control flow: by the condition of line ");
    expect_in_reason("local work-item (0,0,0) reaches it and (2,0,0) does not");
    /* In groups of two all come to it; the CPU's code does not know that. */
    if (strcmp(k->device, "reference") != 0) return;
    kit_new_graph(k);
    kit_add(k, "two_meet", SIZE, 2, fusion_arg_write(out));
    kit_run(k, FUSION_NONE);
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 1);
}

static void proved_when_read(struct kit *k)
{
    static const char text[] = "module \"m\"\n"
                               "kernel @k(%o: ptr.global i32) work_group_size(8) {\n"
                               "    %l = local_id x\n"
                               "    %c = sgt i64 %l, 3\n"
                               "    if %c {\n"
                               "        return\n"
                               "    }\n"
                               "    barrier\n"
                               "}\n";
    fusion_module *module = NULL;
    expect_error(fusion_module_load(k->session, "m.fk", text, strlen(text), &module), FUSION_INVALID);
    expect_in_reason(":8");
    expect_in_reason("barrier: in divergent control flow: by the condition of line 5, "
                     "local work-item (0,0,0) reaches it and (4,0,0) does not");
}

static void found_by_the_run(struct kit *k)
{
    fusion_buffer *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, "some_meet", SIZE, 8, fusion_arg_write(out), fusion_arg_i64(3));
    expect_run_error(k, FUSION_KERNEL_FAULT,
                     (const char *const[4]){"some_meet", "line ", "(0,0,0) waits at barrier", "(3,0,0) has returned"});
    kit_new_graph(k);
    kit_add(k, "some_meet", SIZE, 8, fusion_arg_write(out), fusion_arg_i64(8));
    kit_run(k, FUSION_NONE);
    kit_new_graph(k);
    kit_add(k, "broadcast_own", SIZE, 8, fusion_arg_write(out), fusion_arg_i64(4));
    expect_run_error(k, FUSION_INVALID,
                     (const char *const[4]){"broadcast_own", "line ", "not the same for all", "(0,0,0) and (1,0,0)"});
    kit_new_graph(k);
    kit_add(k, "shuffle_far", SIZE, 8, fusion_arg_write(out), fusion_arg_i32(99));
    expect_run_error(k, FUSION_INVALID,
                     (const char *const[4]){"shuffle_far", "line ", "(0,0,0) takes the value of id 99", NULL});
}

/* A false assertion is taken, and found out when the graph runs on the interpreter. */
static void false_assertion(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, 0),
                  *index = kit_ramp(k, "index", SIZE, -1, SIZE - 1), *out = kit_buffer(k, "out", SIZE, 0);
    for (int scope = 0; scope < 2; scope++) {
        unsigned properties = scope ? FUSION_ACCESS_SCOPE_WORK_ITEM : 0;
        kit_new_graph(k);
        kit_add(k, "scatter", SIZE, 0, fusion_arg_read(in), fusion_arg_read(index),
                kit_with(fusion_arg_write(tmp), properties));
        kit_add(k, "scale", SIZE, 0, kit_with(fusion_arg_read(tmp), properties), fusion_arg_write(out),
                fusion_arg_i32(2));
        if (!scope) {
            kit_run(k, FUSION_ENABLE);
            kit_expect_launches(k, 2);
            for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 2 * (SIZE - 1 - i));
            continue;
        }
        expect_run_error(k, FUSION_KERNEL_FAULT, (const char *const[4]){"scatter", "line ", "races with", "`tmp`"});
        kit_expect_launches(k, 1);
        kit_expect_remark(k, "vouched_by_scope", NULL, "tmp");
    }
}

static void test_false_assertion(void **state)
{
    (void)state;
    kit_on("reference", false_assertion);
}

static void test_found_by_the_run(void **state)
{
    (void)state;
    kit_on("reference", found_by_the_run);
}

ON_DEVICES(proved_at_finalize)
ON_CPU(proved_when_read)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_proved_at_finalize),
        cmocka_unit_test(test_proved_when_read),
        cmocka_unit_test(test_found_by_the_run),
        cmocka_unit_test(test_false_assertion),
    };
    return cmocka_run_group_tests_name("conformance_misplaced", tests, kit_start, kit_stop);
}
