/* Many runs of a handle with one call: contents are those of as many submissions, whatever else the call says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <fusiond/profile.h>

#include "tests/support/service.h"

enum { SIZE = 300, MOST = 9, HOUR_MS = 3600000, LIMIT_MS = 100 };

static const char kernels[] =
    "constant @format: [4 x i8] = hex\"25642000\"\n" /* "%d " */
    "kernel @step(%a: ptr.global i32 read, %o: ptr.global i32 read_write, %k: i32) {\n  %i = global_id x\n"
    "  %x = load i32 %a[%i]\n  %y = load i32 %o[%i]\n  %z = mul i32 %y, 3\n  %s = add i32 %z, %x\n"
    "  %r = add i32 %s, %k\n  store i32 %o[%i], %r\n  return\n}\n"
    "kernel @walk(%at: ptr.global i32 read_write, %o: ptr.global i32 write) {\n  %c = load i32 %at[0]\n"
    "  %n = add i32 %c, 1\n  store i32 %at[0], %n\n  store i32 %o[%c], 7\n  return\n}\n"
    "kernel @say(%at: ptr.global i32 read_write) {\n  %c = load i32 %at[0]\n  %n = add i32 %c, 1\n"
    "  store i32 %at[0], %n\n  %args = var [3 x i64]\n  %f = global @format\n  %at1 = elem i64 %args, 1\n"
    "  %at2 = elem i64 %args, 2\n  store i64 %args, 0x10400\n  store i32 %at1, %c\n  store i64 %at2, 0\n"
    "  %i = global_linear_id\n  %r = printf [3 x i64] %i, %f, %args\n  return\n}\n";

static struct service service;
static fusion_session *session;
static fusion_module *module;

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    const fusion_connect_options options = {FUSION_SIZED(fusion_connect_options), .time_limit_ms = HOUR_MS};
    expect_ok(fusion_connect(service.socket, &options, &session));
    expect_ok(fusion_module_load(session, "kernels.fk", kernels, sizeof kernels - 1, &module));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    return 0;
}

static fusion_exec *finalize(fusion_graph *graph, const fusion_finalize_options *options)
{
    fusion_exec *exec;
    expect_ok(fusion_graph_finalize(graph, options, &exec));
    fusion_graph_destroy(graph);
    return exec;
}

static fusion_graph *graph_of(const char *kernel, uint64_t count, const fusion_arg *args, uint32_t n_args)
{
    fusion_graph *graph;
    expect_ok(fusion_graph_create(session, &graph));
    add_node(graph, module, kernel, count, args, n_args);
    return graph;
}

static fusion_event submit(fusion_exec *exec, uint32_t count, const fusion_rebind *rebind, uint32_t n)
{
    fusion_event event;
    expect_ok(fusion_exec_submit_times(exec, count, rebind, n, NULL, &event));
    return event;
}

static void run(fusion_exec *exec, uint32_t count)
{
    expect_ok(fusion_event_wait(session, submit(exec, count, NULL, 0), -1, NULL));
}

static int *map(fusion_buffer *buffer)
{
    void *memory;
    expect_ok(fusion_buffer_map(buffer, &memory));
    return memory;
}

static unsigned stepped(unsigned o, unsigned a, unsigned k, uint32_t rounds)
{
    while (rounds--) o = o * 3 + a + k;
    return o;
}

static void expect_steps(fusion_buffer *o, unsigned first, unsigned k, uint32_t rounds)
{
    const int *memory = map(o);
    for (unsigned i = 0; i < SIZE; i++) assert_int_equal(memory[i], (int)stepped(first * i, 2 * i, k, rounds));
}

static fusion_exec *stepper(const char *device, fusion_buffer *a, fusion_buffer *o, fusion_tier tier)
{
    const fusion_arg args[] = {fusion_arg_read(a), fusion_arg_read_write(o), fusion_arg_i32(5)};
    return finalize(graph_of("step", SIZE, args, 3),
                    &(fusion_finalize_options){FUSION_SIZED(fusion_finalize_options), .mode = FUSION_ENABLE,
                                               .device = device, .tier = tier});
}

/* ---- contents ---- */

static void are_as_many_submissions(void **state)
{
    (void)state;
    static const char *const devices[] = {"cpu", "cpu", "reference"};
    for (unsigned d = 0; d < 3; d++)
        for (uint32_t count = 1; count <= MOST; count++) {
            fusion_buffer *a = index_buffer(session, "a", SIZE, 2, 0), *o = index_buffer(session, "o", SIZE, 4, 0);
            fusion_exec *exec = stepper(devices[d], a, o, d ? FUSION_TIER_COMPILED : FUSION_TIER_QUICK);
            run(exec, count);
            expect_steps(o, 4, 5, count);
            fusion_exec_destroy(exec);
            fusion_buffer_destroy(a);
            fusion_buffer_destroy(o);
        }
}

/* Other memory and another value, for all rounds and no later ones. */
static void take_rebindings(void **state)
{
    (void)state;
    fusion_buffer *a = index_buffer(session, "a", SIZE, 2, 0), *o = index_buffer(session, "o", SIZE, 4, 0);
    fusion_buffer *other = index_buffer(session, "other", SIZE, 6, 0);
    fusion_exec *exec = stepper("cpu", a, o, FUSION_TIER_COMPILED);
    const int k = 11;
    const fusion_rebind rebind[] = {
        {.from = o, .to = other},
        {.arg = 2, .value = &k, .value_bytes = sizeof k, .type = FUSION_I32},
    };
    expect_ok(fusion_event_wait(session, submit(exec, 7, rebind, 2), -1, NULL));
    run(exec, 3);
    expect_steps(other, 6, 11, 7);
    expect_steps(o, 4, 5, 3);
}

/* ---- one submission ---- */

static void have_one_event(void **state)
{
    (void)state;
    fusion_buffer *a = index_buffer(session, "a", SIZE, 2, 0), *o = index_buffer(session, "o", SIZE, 4, 0);
    fusion_exec *exec = stepper("cpu", a, o, FUSION_TIER_COMPILED);
    fusion_event first = submit(exec, 1000, NULL, 0), second = submit(exec, 1, NULL, 0);
    assert_int_equal(second, first + 1);
    expect_ok(fusion_event_wait(session, second, -1, NULL));
    expect_steps(o, 4, 5, 1001);
    expect_error(fusion_exec_submit_times(exec, 0, NULL, 0, NULL, NULL), FUSION_INVALID);
    expect_in_reason("0 times");
}

static void steps_of_each_round_are_timed(void **state)
{
    (void)state;
    fusion_step_time times[2 * MOST];
    fusion_buffer *a = index_buffer(session, "a", SIZE, 2, 0), *o = index_buffer(session, "o", SIZE, 4, 0);
    fusion_exec *exec = stepper("cpu", a, o, FUSION_TIER_COMPILED);
    expect_ok(fusion_session_set_profiling(session, true));
    fusion_event event = submit(exec, MOST, NULL, 0);
    expect_ok(fusion_event_wait(session, event, -1, NULL));
    expect_ok(fusion_session_set_profiling(session, false));
    assert_int_equal(fusion_session_take_times(session, times, 2 * MOST), MOST);
    for (int i = 0; i < MOST; i++) {
        assert_int_equal(times[i].event, event);
        assert_int_equal(times[i].step, 0);
        if (i) assert_true(times[i].began_ns >= times[i - 1].ended_ns);
    }
}

static void print(void *data, const char *text, size_t bytes)
{
    strncat(data, text, bytes);
}

static void print_in_order(void **state)
{
    (void)state;
    char printed[64] = "";
    fusion_buffer *at = index_buffer(session, "at", 1, 0, 0);
    fusion_exec *exec = finalize(graph_of("say", 1, (fusion_arg[]){fusion_arg_read_write(at)}, 1), NULL);
    expect_ok(fusion_session_set_print(session, print, printed));
    run(exec, MOST);
    expect_ok(fusion_session_set_print(session, NULL, NULL));
    assert_string_equal(printed, "0 1 2 3 4 5 6 7 8 ");
}

/* ---- ends before the last round ---- */

/* The fifth accesses what its buffer does not have, and is the last that runs. */
static void end_with_the_one_that_fails(void **state)
{
    (void)state;
    fusion_buffer *at = index_buffer(session, "at", 1, 0, 0), *o = index_buffer(session, "o", 4, 0, 0);
    const fusion_arg args[] = {fusion_arg_read_write(at), fusion_arg_write(o)};
    fusion_exec *exec = finalize(graph_of("walk", 1, args, 2),
                                 &(fusion_finalize_options){FUSION_SIZED(fusion_finalize_options), .bounds = true});
    fusion_event event = submit(exec, MOST, NULL, 0);
    expect_error(fusion_event_wait(session, event, -1, NULL), FUSION_KERNEL_FAULT);
    assert_int_equal(map(at)[0], 5);
    assert_int_equal(map(o)[3], 7);
}

static void can_be_cancelled(void **state)
{
    (void)state;
    fusion_buffer *a = index_buffer(session, "a", SIZE, 2, 0), *o = index_buffer(session, "o", SIZE, 4, 0);
    fusion_exec *exec = stepper("cpu", a, o, FUSION_TIER_COMPILED);
    const volatile int *memory = map(o);
    const int before = memory[1];
    fusion_event event = submit(exec, UINT32_MAX, NULL, 0);
    while (memory[1] == before) usleep(1000);
    expect_ok(fusion_event_cancel(session, event));
    expect_error(fusion_event_wait(session, event, -1, NULL), FUSION_CANCELLED);
    run(exec, 1);
}

static void have_one_time_limit(void **state)
{
    (void)state;
    fusion_event event;
    fusion_buffer *a = index_buffer(session, "a", SIZE, 2, 0), *o = index_buffer(session, "o", SIZE, 4, 0);
    fusion_exec *exec = stepper("cpu", a, o, FUSION_TIER_COMPILED);
    const fusion_submit_options options = {FUSION_SIZED(fusion_submit_options), .time_limit_ms = LIMIT_MS};
    expect_ok(fusion_exec_submit_times(exec, UINT32_MAX, NULL, 0, &options, &event));
    expect_error(fusion_event_wait(session, event, -1, NULL), FUSION_TIMEOUT);
    expect_in_reason("time limit of 100 ms");
    run(exec, 1);
}

/* ---- in parts ---- */

struct task {
    const volatile int *memory;
    int seen[MOST], n;
};

static void look(void *data)
{
    struct task *t = data;
    if (t->n < MOST) t->seen[t->n++] = t->memory[1];
}

static void run_host_tasks_each_time(void **state)
{
    (void)state;
    fusion_buffer *a = index_buffer(session, "a", SIZE, 2, 0), *o = index_buffer(session, "o", SIZE, 4, 0);
    struct task task = {.memory = map(o)};
    const fusion_arg args[] = {fusion_arg_read(a), fusion_arg_read_write(o), fusion_arg_i32(5)};
    const fusion_arg read = fusion_arg_read(o);
    fusion_graph *graph = graph_of("step", SIZE, args, 3);
    expect_ok(fusion_graph_add_host_task(graph, "look", &read, 1, look, &task, NULL, 0, NULL));
    run(finalize(graph, NULL), MOST);
    assert_int_equal(task.n, MOST);
    for (uint32_t i = 0; i < MOST; i++) assert_int_equal(task.seen[i], (int)stepped(4, 2, 5, i + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(are_as_many_submissions),  cmocka_unit_test(take_rebindings),
        cmocka_unit_test(have_one_event),           cmocka_unit_test(steps_of_each_round_are_timed),
        cmocka_unit_test(print_in_order),           cmocka_unit_test(end_with_the_one_that_fails),
        cmocka_unit_test(can_be_cancelled),         cmocka_unit_test(have_one_time_limit),
        cmocka_unit_test(run_host_tasks_each_time),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
