/*
 * test_binaries DEVICE: binaries of drivers that are kept: made once, found by other sessions and daemons, and of no
 * harm where they are not what they should be. That is tried on device level_zero, whose test driver does as it is
 * told. Other drivers may give none.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { SIZE = 512, WAIT_MS = 20000, STEP_US = 10000, STEPS = 3000, FIRST_STEPS = 500 };

static struct service service;
static const char *device;
static bool absent;

static long long counter(const char *name)
{
    fusion_session *session = service_connect(&service);
    long long n = service_counter(session, name);
    fusion_disconnect(session);
    return n;
}

static void await(const char *name, long long wanted)
{
    for (int i = 0; i < STEPS && counter(name) != wanted; i++) usleep(STEP_US);
    assert_int_equal(counter(name), wanted);
}

/* b = 3 * a, in a session of its own. */
static void run(void)
{
    fusion_session *session = service_connect(&service);
    fusion_module *module = load_test_kernels(session);
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_event event;
    void *memory;
    expect_ok(fusion_graph_create(session, &graph));
    fusion_buffer *a = index_buffer(session, "a", SIZE, 1, 0), *b = index_buffer(session, "b", SIZE, 0, 0);
    fusion_arg scale[] = {fusion_arg_read(a), fusion_arg_write(b), fusion_arg_i32(3)};
    add_node(graph, module, "scale", SIZE, scale, 3);
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.device = device}, &exec));
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(session, event, WAIT_MS, NULL));
    expect_ok(fusion_buffer_map(b, &memory));
    for (int i = 0; i < SIZE; i++) assert_int_equal(((int *)memory)[i], 3 * i);
    fusion_disconnect(session);
}

/* A daemon whose driver has this in its environment; NULL: nothing. */
static void restart(const char *variable, const char *value)
{
    unsetenv("FUSIOND_TEST_ZE_BUILD");
    unsetenv("FUSIOND_TEST_ZE_UUID");
    unsetenv("FUSIOND_TEST_ZE_NATIVE");
    if (variable) setenv(variable, value, 1);
    service_stop(&service);
    service_restart(&service, NULL);
}

/* As above, with nothing in its cache. */
static void start_anew(const char *variable, const char *value)
{
    service_clear(&service);
    service_start(&service, NULL);
    restart(variable, value);
}

static bool skips(bool needs_test_driver)
{
    if (absent) printf("# skipped: no device %s\n", device);
    return absent || (needs_test_driver && strcmp(device, "level_zero") != 0);
}

/* Nothing is asked for where the driver gives none. */
static bool is_given_none(void)
{
    for (int i = 0; i < FIRST_STEPS && !counter("binaries_made"); i++) usleep(STEP_US);
    if (counter("binaries_made")) return false;
    printf("# skipped: the driver of device %s gives no binaries\n", device);
    assert_int_equal(counter("binaries_failed"), 0);
    assert_int_equal(service_executor_with(&service, "--binary"), 0);
    return true;
}

static void test_other_sessions(void **state)
{
    (void)state;
    if (skips(false)) return;
    run();
    if (is_given_none()) return;
    await("binaries_made", 1);
    assert_int_equal(counter("binaries_found"), 0);
    for (int i = 1; i <= 3; i++) {
        run();
        assert_int_equal(counter("binaries_found"), i);
    }
    restart(NULL, NULL);
    run();
    assert_int_equal(counter("binaries_found"), 1);
    assert_int_equal(counter("binaries_made"), 0);
}

/* What the driver does not take is made again, once. */
static void test_refused(void **state)
{
    (void)state;
    if (skips(true)) return;
    start_anew(NULL, NULL);
    run();
    await("binaries_made", 1);
    restart("FUSIOND_TEST_ZE_BUILD", "2");
    run();
    await("binaries_made", 1);
    assert_int_equal(counter("binaries_found"), 0);
    run();
    assert_int_equal(counter("binaries_found"), 1);
}

static void test_other_driver(void **state)
{
    (void)state;
    if (skips(true)) return;
    start_anew(NULL, NULL);
    run();
    await("binaries_made", 1);
    restart("FUSIOND_TEST_ZE_UUID", "x");
    run();
    await("binaries_made", 1);
    assert_int_equal(counter("binaries_found"), 0);
    restart(NULL, NULL);
    run();
    assert_int_equal(counter("binaries_found"), 1);
}

/* Sessions go on without, and it is not tried again. */
static void expect_failure(void)
{
    await("binaries_failed", 1);
    run();
    usleep(20 * STEP_US);
    assert_int_equal(service_executor_with(&service, "--binary"), 0);
    assert_int_equal(counter("binaries_failed"), 1);
    assert_int_equal(counter("binaries_made"), 0);
    assert_int_equal(counter("executors_lost"), 0);
}

static void test_killed(void **state)
{
    (void)state;
    pid_t pid = 0;
    if (skips(true)) return;
    start_anew("FUSIOND_TEST_ZE_NATIVE", "hangs");
    run();
    for (int i = 0; i < STEPS && !pid; i++, usleep(STEP_US)) pid = service_executor_with(&service, "--binary");
    assert_true(pid > 0);
    kill(pid, SIGKILL);
    expect_failure();
}

static void test_crash(void **state)
{
    (void)state;
    if (skips(true)) return;
    start_anew("FUSIOND_TEST_ZE_NATIVE", "crashes");
    run();
    expect_failure();
}

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    fusion_session *session = service_connect(&service);
    absent = !service_has_device(session, device);
    fusion_disconnect(session);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    service_clear(&service);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    device = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_sessions), cmocka_unit_test(test_refused), cmocka_unit_test(test_other_driver),
        cmocka_unit_test(test_killed),         cmocka_unit_test(test_crash),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
