/* When steps of submissions ran: each step once, in order, within the submission; only where it was asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <fusiond/profile.h>

#include "tests/support/service.h"

enum { COUNT = 4096, KEPT = 1024 };

static struct service service;
static fusion_session *session;
static fusion_module *module;
static fusion_buffer *a, *b, *c;

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    session = service_connect(&service);
    module = load_test_kernels(session);
    a = index_buffer(session, "a", COUNT, 1, 0);
    b = index_buffer(session, "b", COUNT, 2, 0);
    c = index_buffer(session, "c", COUNT, 3, 0);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    return 0;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void nothing(void *data)
{
    (void)data;
}

/* c = a + b, copied to b; with a part in this process between them, if asked. */
static fusion_exec *add_and_copy(const char *device, bool host)
{
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_finalize_options options = {.device = device, .tier = FUSION_TIER_COMPILED};
    const fusion_arg args[] = {fusion_arg_read(a), fusion_arg_read(b), fusion_arg_write(c)},
                     seen = fusion_arg_read_write(c);
    expect_ok(fusion_graph_create(session, &graph));
    add_node(graph, module, "add", COUNT, args, 3);
    if (host) expect_ok(fusion_graph_add_host_task(graph, "look", &seen, 1, nothing, NULL, NULL, 0, NULL));
    expect_ok(fusion_graph_add_copy(graph, "back", (fusion_memory){.buffer = c}, (fusion_memory){.buffer = b},
                                    fusion_buffer_bytes(b), NULL, 0, NULL));
    expect_ok(fusion_graph_finalize(graph, &options, &exec));
    fusion_graph_destroy(graph);
    return exec;
}

static void run(fusion_exec *exec)
{
    fusion_event event;
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(session, event, -1, NULL));
}

/* Each step of the executable in `steps` was timed once, in order. Gives how many of them are launches. */
static uint32_t check_times(fusion_exec *exec, const uint32_t *steps, uint32_t n)
{
    fusion_step_time times[KEPT];
    const fusion_report *report = fusion_exec_report(exec);
    uint64_t before = now_ns();
    uint32_t launches = 0;
    run(exec);
    uint64_t after = now_ns();
    uint32_t told = fusion_session_take_times(session, times, KEPT), at = 0;
    for (uint32_t i = 0; i < told; i++) {
        assert_int_equal(times[i].step, steps[at]);
        assert_true(times[i].n_steps >= 1);
        assert_true(before <= times[i].began_ns && times[i].began_ns <= times[i].ended_ns &&
                    times[i].ended_ns <= after);
        for (uint32_t k = 0; k < times[i].n_steps; k++) launches += report->steps[steps[at + k]].is_group;
        at += times[i].n_steps;
        before = times[i].ended_ns;
    }
    assert_int_equal(at, n);
    assert_int_equal(fusion_session_take_times(session, times, KEPT), 0);
    return launches;
}

static void check_device(const char *device)
{
    const uint32_t both[] = {0, 1}, outer[] = {0, 2};
    fusion_exec *exec = add_and_copy(device, false), *parts = add_and_copy(device, true);
    const fusion_report *report = fusion_exec_report(exec);
    assert_int_equal(report->n_steps, 2);
    assert_true(report->steps[0].is_group && !report->steps[1].is_group);
    assert_string_equal(fusion_exec_node_name(exec, report->steps[1].index), "back");
    assert_int_equal(report->groups[0].bytes, 3 * 4 * COUNT);
    assert_int_equal(fusion_exec_report(parts)->n_steps, 3);
    expect_ok(fusion_session_set_profiling(session, true));
    assert_int_equal(check_times(exec, both, 2), 1);
    assert_int_equal(check_times(parts, outer, 2), 1); /* the part in this process is no executor's */
    expect_ok(fusion_session_set_profiling(session, false));
    fusion_step_time time;
    run(exec);
    assert_int_equal(fusion_session_take_times(session, &time, 1), 0);
    fusion_exec_destroy(exec);
    fusion_exec_destroy(parts);
}

static void test_steps(void **state)
{
    static const char *const devices[] = {"cpu", "reference", "vulkan"};
    (void)state;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (service_has_device(session, devices[i])) check_device(devices[i]);
}

/* Whoever does not take them has the last ones. */
static void test_not_taken(void **state)
{
    (void)state;
    fusion_exec *exec = add_and_copy("cpu", false);
    fusion_step_time times[KEPT + 1];
    fusion_event event = 0;
    expect_ok(fusion_session_set_profiling(session, true));
    for (int i = 0; i < KEPT; i++) expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(session, event, -1, NULL));
    expect_ok(fusion_session_set_profiling(session, false));
    uint32_t n = fusion_session_take_times(session, times, KEPT + 1);
    assert_true(n >= KEPT - 1 && n <= KEPT);
    assert_int_equal(times[n - 1].event, event);
    for (uint32_t i = 1; i < n; i++) assert_true(times[i - 1].ended_ns <= times[i].began_ns);
    fusion_exec_destroy(exec);
}

static void test_no_session(void **state)
{
    fusion_step_time time;
    (void)state;
    expect_error(fusion_session_set_profiling(NULL, true), FUSION_INVALID);
    assert_int_equal(fusion_session_take_times(NULL, &time, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_not_taken),
        cmocka_unit_test(test_no_session),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
