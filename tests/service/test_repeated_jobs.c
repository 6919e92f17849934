/* A compiler that does not get through a kernel is given it again, then makes it with care, then makes no code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { SIZE = 100 };

static struct service service;

static int start(void **state)
{
    (void)state;
    static const char *const options[] = {"--compilers", "1", "--compile-limit", "2000", NULL};
    service_start(&service, options);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    service_clear(&service);
    return 0;
}

struct outcome {
    fusion_status status;
    char effort[32];
    uint32_t lanes;
    long long repeated, lost; /* jobs and compilers since before */
};

/* Finalizes and, where that succeeds, runs a kernel that adds the constant. */
static struct outcome finalize(int constant)
{
    char text[300];
    struct outcome outcome = {0};
    fusion_session *session = service_connect(&service);
    fusion_module *module;
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_event done;
    void *memory;
    int n = snprintf(text, sizeof text,
                     "kernel @k(%%a: ptr.global i32 read, %%o: ptr.global i32 write) {\n  %%i = global_id x\n"
                     "  %%x = load i32 %%a[%%i]\n  %%y = add i32 %%x, %d\n  store i32 %%o[%%i], %%y\n}\n",
                     constant);
    expect_ok(fusion_module_load(session, "k.fk", text, (size_t)n, &module));
    fusion_buffer *in = index_buffer(session, "in", SIZE, 3, 0), *out = index_buffer(session, "out", SIZE, 0, 0);
    expect_ok(fusion_graph_create(session, &graph));
    fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(out)};
    add_node(graph, module, "k", SIZE, args, 2);
    outcome.repeated = -service_counter(session, "jobs_repeated");
    outcome.lost = -service_counter(session, "compilers_lost");
    outcome.status = fusion_graph_finalize(graph, NULL, &exec);
    outcome.repeated += service_counter(session, "jobs_repeated");
    outcome.lost += service_counter(session, "compilers_lost");
    if (outcome.status == FUSION_SUCCESS) {
        const fusion_group *group = &fusion_exec_report(exec)->groups[0];
        snprintf(outcome.effort, sizeof outcome.effort, "%s", group->effort);
        outcome.lanes = group->lanes;
        expect_ok(fusion_exec_submit(exec, NULL, 0, &done));
        expect_ok(fusion_event_wait(session, done, 20000, NULL));
        expect_ok(fusion_buffer_map(out, &memory));
        for (int i = 0; i < SIZE; i++) assert_int_equal(((int *)memory)[i], 3 * i + constant);
    }
    fusion_disconnect(session);
    return outcome;
}

static void expect_made(struct outcome o, const char *effort, long long repeated, long long lost)
{
    assert_int_equal(o.status, FUSION_SUCCESS);
    assert_string_equal(o.effort, effort);
    assert_int_equal(o.lanes, 1);
    assert_int_equal(o.repeated, repeated);
    assert_int_equal(o.lost, lost);
}

static void what_kills_the_compiler_is_made_with_care(void **state)
{
    (void)state;
    expect_made(finalize(900002), "scalar", 2, 2); /* once more as it was, then with care */
}

static void what_takes_too_long_is_made_with_care(void **state)
{
    (void)state;
    expect_made(finalize(900003), "scalar", 1, 1); /* and at once: it would take as long again */
}

static void what_the_compiler_fails_at_is_made_with_care(void **state)
{
    (void)state;
    expect_made(finalize(900004), "scalar", 1, 0);
}

static void what_no_code_is_made_of_is_interpreted(void **state)
{
    (void)state;
    expect_made(finalize(900005), "interpreted", 3, 3);
}

static void what_never_works_is_told(void **state)
{
    (void)state;
    struct outcome o = finalize(900001);
    assert_int_equal(o.status, FUSION_COMPILER);
    assert_int_equal(o.lost, 4);
    assert_int_equal(o.repeated, 3);
    o = finalize(7); /* and harms nothing else */
    assert_int_equal(o.status, FUSION_SUCCESS);
    assert_string_equal(o.effort, "full");
    assert_int_equal(o.repeated, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_kills_the_compiler_is_made_with_care),
        cmocka_unit_test(what_takes_too_long_is_made_with_care),
        cmocka_unit_test(what_the_compiler_fails_at_is_made_with_care),
        cmocka_unit_test(what_no_code_is_made_of_is_interpreted),
        cmocka_unit_test(what_never_works_is_told),
    };
    return cmocka_run_group_tests_name("repeated_jobs", tests, start, stop);
}
