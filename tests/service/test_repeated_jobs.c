/* A compiler that does not get through a kernel is given it again, then makes it with care, then makes no code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

struct client {
    fusion_session *session;
    fusion_graph *graph;
    fusion_buffer *out;
    fusion_exec *exec;
    int constant;
};

/* With a kernel that adds the constant. */
static void open_client(struct client *c, int constant)
{
    char text[300];
    fusion_module *module;
    int n = snprintf(text, sizeof text,
                     "kernel @k(%%a: ptr.global i32 read, %%o: ptr.global i32 write) {\n  %%i = global_id x\n"
                     "  %%x = load i32 %%a[%%i]\n  %%y = add i32 %%x, %d\n  store i32 %%o[%%i], %%y\n}\n",
                     constant);
    *c = (struct client){.session = service_connect(&service), .constant = constant};
    expect_ok(fusion_module_load(c->session, "k.fk", text, (size_t)n, &module));
    fusion_buffer *in = index_buffer(c->session, "in", SIZE, 3, 0);
    c->out = index_buffer(c->session, "out", SIZE, 0, 0);
    expect_ok(fusion_graph_create(c->session, &c->graph));
    fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(c->out)};
    add_node(c->graph, module, "k", SIZE, args, 2);
}

static void run(struct client *c)
{
    fusion_event done;
    void *memory;
    expect_ok(fusion_exec_submit(c->exec, NULL, 0, &done));
    expect_ok(fusion_event_wait(c->session, done, 20000, NULL));
    expect_ok(fusion_buffer_map(c->out, &memory));
    for (int i = 0; i < SIZE; i++) assert_int_equal(((int *)memory)[i], 3 * i + c->constant);
}

/* Finalizes and, where that succeeds, runs. */
static struct outcome finalize(int constant)
{
    struct client c;
    struct outcome outcome = {0};
    open_client(&c, constant);
    outcome.repeated = -service_counter(c.session, "jobs_repeated");
    outcome.lost = -service_counter(c.session, "compilers_lost");
    outcome.status = fusion_graph_finalize(c.graph, NULL, &c.exec);
    outcome.repeated += service_counter(c.session, "jobs_repeated");
    outcome.lost += service_counter(c.session, "compilers_lost");
    if (outcome.status == FUSION_SUCCESS) {
        const fusion_group *group = &fusion_exec_report(c.exec)->groups[0];
        snprintf(outcome.effort, sizeof outcome.effort, "%s", group->effort);
        outcome.lanes = group->lanes;
        run(&c);
    }
    fusion_disconnect(c.session);
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

/* The kernel runs all the same where nobody waited for its code, and stays as it is. */
static void what_never_works_stays_interpreted(void **state)
{
    (void)state;
    static const struct {
        int constant;
        const char *reason;
    } cases[] = {{900001, "compiler"}, {900005, "no code"}};
    setenv("FUSIOND_TIER", "quick", 1);
    service_clear(&service);
    start(NULL);
    for (int i = 0; i < 2; i++) {
        struct client c;
        open_client(&c, cases[i].constant);
        expect_ok(fusion_graph_finalize(c.graph, NULL, &c.exec));
        const fusion_group *group = &fusion_exec_report(c.exec)->groups[0];
        assert_string_equal(group->tier, "quick");
        run(&c);
        for (int ms = 0; ms < 20000 && strcmp(group->tier, "final") != 0; ms += 10) {
            usleep(10000);
            expect_ok(fusion_exec_update_report(c.exec));
        }
        assert_string_equal(group->tier, "final");
        assert_string_equal(group->effort, "interpreted");
        assert_non_null(strstr(group->reason, cases[i].reason));
        assert_int_equal(service_counter(c.session, "launches_kept"), i + 1);
        run(&c);
        fusion_disconnect(c.session);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_kills_the_compiler_is_made_with_care),
        cmocka_unit_test(what_takes_too_long_is_made_with_care),
        cmocka_unit_test(what_the_compiler_fails_at_is_made_with_care),
        cmocka_unit_test(what_no_code_is_made_of_is_interpreted),
        cmocka_unit_test(what_never_works_is_told),
        cmocka_unit_test(what_never_works_stays_interpreted),
    };
    return cmocka_run_group_tests_name("repeated_jobs", tests, start, stop);
}
