/*
 * test_residency DEVICE: contents stay with a device from one submission to the next, and are copied where somebody
 * else has written or is to read. Bytes that are moved are counted; a device that uses the session's memory itself
 * moves none.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { SIZE = 3000, BYTES = SIZE * 4, WAIT_MS = 20000 };

static struct service service;
static const char *gpu; /* the device's name */
static bool absent, copies;

/* ---- a kernel: to = from * factor ---- */

struct scaling {
    fusion_session *session;
    fusion_module *module;
    fusion_buffer *from, *to;
    fusion_transfers moved;
};

static struct scaling open_scaling(void)
{
    struct scaling s = {.session = service_connect(&service)};
    s.module = load_test_kernels(s.session);
    s.from = index_buffer(s.session, "from", SIZE, 1, 0);
    expect_ok(fusion_buffer_create(s.session, "to", FUSION_I32, SIZE, 0, &s.to));
    return s;
}

static fusion_exec *scale(const struct scaling *s, fusion_buffer *from, fusion_buffer *to, int factor,
                          const char *device)
{
    fusion_graph *graph;
    fusion_exec *exec = NULL;
    fusion_arg args[] = {fusion_arg_read(from), fusion_arg_write(to), fusion_arg_i32(factor)};
    expect_ok(fusion_graph_create(s->session, &graph));
    add_node(graph, s->module, "scale", SIZE, args, 3);
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.device = device}, &exec));
    return exec;
}

static void submit(const struct scaling *s, fusion_exec *exec, const fusion_rebind *rebind, uint32_t n)
{
    fusion_event event;
    expect_ok(fusion_exec_submit(exec, rebind, n, &event));
    expect_ok(fusion_event_wait(s->session, event, WAIT_MS, NULL));
}

static int *map(fusion_buffer *buffer)
{
    void *memory;
    expect_ok(fusion_buffer_map(buffer, &memory));
    return memory;
}

static const int *map_read(fusion_buffer *buffer)
{
    const void *memory;
    expect_ok(fusion_buffer_map_read(buffer, &memory));
    return memory;
}

static void expect_values(const int *values, uint32_t factor)
{
    for (uint32_t i = 0; i < SIZE; i++) assert_int_equal((uint32_t)values[i], factor * i);
}

/* Since the last call, of a device that copies. */
static void expect_moved(struct scaling *s, uint64_t to_device, uint64_t from_device)
{
    const fusion_transfers before = s->moved;
    fusion_session_transfers(s->session, &s->moved);
    assert_int_equal(s->moved.to_device - before.to_device, copies ? to_device : 0);
    assert_int_equal(s->moved.from_device - before.from_device, copies ? from_device : 0);
}

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    fusion_session *session = service_connect(&service);
    absent = !service_has_device(session, gpu);
    fusion_disconnect(session);
    if (absent) {
        printf("# skipped: no device %s\n", gpu);
        return 0;
    }
    struct scaling s = open_scaling();
    fusion_transfers moved = {FUSION_SIZED(fusion_transfers)};
    submit(&s, scale(&s, s.from, s.to, 3, gpu), NULL, 0);
    fusion_session_transfers(s.session, &moved);
    copies = moved.to_device;
    fusion_disconnect(s.session);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    service_clear(&service);
    return 0;
}

/* ---- tests ---- */

static void test_stays(void **state)
{
    (void)state;
    struct scaling s = open_scaling();
    fusion_exec *exec = scale(&s, s.from, s.to, 3, gpu), *again = scale(&s, s.to, s.from, 5, gpu);
    fusion_buffer_unmap(s.from);
    submit(&s, exec, NULL, 0);
    expect_moved(&s, 2 * BYTES, 0); /* zeros are contents too */
    for (int i = 0; i < 5; i++) submit(&s, exec, NULL, 0);
    submit(&s, again, NULL, 0);
    submit(&s, exec, NULL, 0);
    expect_moved(&s, 0, 0);
    expect_values(map(s.to), 45);
    expect_moved(&s, 0, BYTES);
    expect_values(map(s.to), 45);
    expect_moved(&s, 0, 0);
    expect_values(map(s.from), 15);
    expect_moved(&s, 0, BYTES);
    fusion_disconnect(s.session);
}

/* What the host may have written goes there before each submission, and what it reads comes back. */
static void test_mapped(void **state)
{
    (void)state;
    struct scaling s = open_scaling();
    fusion_exec *exec = scale(&s, s.from, s.to, 3, gpu);
    int *from = map(s.from), *to = map(s.to);
    for (int n = 1; n < 4; n++) {
        for (int i = 0; i < SIZE; i++) from[i] = n * i;
        submit(&s, exec, NULL, 0);
        expect_values(to, 3 * (uint32_t)n);
        expect_moved(&s, 2 * BYTES, BYTES);
    }
    fusion_buffer_unmap(s.from);
    fusion_buffer_unmap(s.to);
    submit(&s, exec, NULL, 0);
    expect_moved(&s, 2 * BYTES, 0);
    from = map(s.from); /* written after it was there */
    for (int i = 0; i < SIZE; i++) from[i] = 7 * i;
    fusion_buffer_unmap(s.from);
    submit(&s, exec, NULL, 0);
    expect_moved(&s, BYTES, 0);
    expect_values(map(s.to), 21);
    fusion_disconnect(s.session);
}

static void test_mapped_to_read(void **state)
{
    (void)state;
    struct scaling s = open_scaling();
    fusion_exec *there = scale(&s, s.from, s.to, 3, gpu), *back = scale(&s, s.to, s.from, 1, gpu);
    uint32_t factor = 1;
    fusion_buffer_unmap(s.from);
    submit(&s, there, NULL, 0);
    expect_moved(&s, 2 * BYTES, 0);
    for (int i = 0; i < 3; i++) {
        submit(&s, back, NULL, 0);
        submit(&s, there, NULL, 0);
        factor *= 3;
        expect_moved(&s, 0, 0);
        expect_values(map_read(s.to), factor * 3);
        expect_moved(&s, 0, BYTES);
        if (i == 0) fusion_buffer_unmap(s.to);
        if (i == 1) { /* as long as it is mapped it is kept up to date */
            const int *to = map_read(s.to);
            submit(&s, there, NULL, 0);
            expect_values(to, factor * 3);
            expect_moved(&s, 0, BYTES);
            fusion_buffer_unmap(s.to);
        }
    }
    fusion_disconnect(s.session);
}

static void test_rebound(void **state)
{
    (void)state;
    struct scaling s = open_scaling();
    fusion_buffer *other;
    int32_t factor = -9;
    fusion_exec *exec = scale(&s, s.from, s.to, 3, gpu);
    expect_ok(fusion_buffer_create(s.session, "other", FUSION_I32, SIZE, 0, &other));
    const fusion_rebind rebind[] = {{.arg = 2, .value = &factor, .value_bytes = 4}, {.from = s.to, .to = other}};
    fusion_buffer_unmap(s.from);
    for (int i = 0; i < 4; i++) {
        submit(&s, exec, i & 1 ? rebind : NULL, i & 1 ? 2 : 0);
        expect_moved(&s, (uint64_t)(i == 0 ? 2 : i == 1) * BYTES, 0);
    }
    expect_values(map(other), (uint32_t)factor);
    expect_values(map(s.to), 3);
    expect_moved(&s, 0, 2 * BYTES);
    fusion_disconnect(s.session);
}

/* Nobody waits in between: each finds what the one before has left, wherever that was. */
static void test_both_devices(void **state)
{
    (void)state;
    struct scaling s = open_scaling();
    fusion_exec *there = scale(&s, s.from, s.to, 3, gpu), *back = scale(&s, s.to, s.from, 5, "cpu");
    fusion_event event = 0;
    uint32_t factor = 1;
    fusion_buffer_unmap(s.from);
    for (int i = 0; i < 20; i++, factor *= 15) {
        expect_ok(fusion_exec_submit(there, NULL, 0, NULL));
        expect_ok(fusion_exec_submit(back, NULL, 0, &event));
    }
    expect_ok(fusion_event_wait(s.session, event, WAIT_MS, NULL));
    expect_values(map(s.from), factor);
    expect_values(map(s.to), factor / 5);
    fusion_disconnect(s.session);
}

/* Nodes that copy and fill, for the device and for this process. */
static void test_copies(void **state)
{
    (void)state;
    struct scaling s = open_scaling();
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_buffer *copied;
    fusion_node first, second, third;
    int own[SIZE], value = 0;
    expect_ok(fusion_buffer_create(s.session, "copied", FUSION_I32, SIZE, 0, &copied));
    expect_ok(fusion_graph_create(s.session, &graph));
    fusion_arg args[] = {fusion_arg_read(s.from), fusion_arg_write(s.to), fusion_arg_i32(3)};
    fusion_arg more[] = {fusion_arg_read(copied), fusion_arg_write(s.to), fusion_arg_i32(2)};
    first = add_node(graph, s.module, "scale", SIZE, args, 3);
    expect_ok(fusion_graph_add_copy(graph, "copy", (fusion_memory){.buffer = s.to}, (fusion_memory){.buffer = copied},
                                    BYTES, &first, 1, &second));
    expect_ok(
        fusion_graph_add_fill(graph, "fill", (fusion_memory){.buffer = copied}, 4, &value, 4, &second, 1, &third));
    add_node(graph, s.module, "scale", SIZE, more, 3);
    expect_ok(fusion_graph_add_copy(graph, "read", (fusion_memory){.buffer = s.to}, (fusion_memory){.host = own}, BYTES,
                                    NULL, 0, NULL));
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.device = gpu}, &exec));
    fusion_buffer_unmap(s.from);
    for (int i = 0; i < 2; i++) {
        memset(own, 0, sizeof own);
        submit(&s, exec, NULL, 0);
        expect_values(own, 6);
        /* The device copies and fills itself; what comes back is what this process reads. */
        expect_moved(&s, i ? 0 : 2 * BYTES, BYTES);
    }
    expect_values(map(copied), 3);
    expect_moved(&s, 0, BYTES);
    fusion_disconnect(s.session);
}

/* What only the device had is lost with its executor, which is told once; what it only read is not. */
static void test_killed(void **state)
{
    (void)state;
    struct scaling s = open_scaling();
    void *memory;
    fusion_event event;
    fusion_exec *exec = scale(&s, s.from, s.to, 3, gpu), *back = scale(&s, s.to, s.from, 5, "cpu");
    fusion_buffer_unmap(s.from);
    submit(&s, exec, NULL, 0);
    kill(service_gpu_executor(&service), SIGKILL);
    if (copies) {
        expect_error(fusion_buffer_map(s.to, &memory), FUSION_LOST);
        expect_in_reason("to");
    }
    expect_values(map(s.to), copies ? 0 : 3);
    fusion_buffer_unmap(s.to);
    expect_values(map(s.from), 1);
    fusion_buffer_unmap(s.from);
    while (fusion_exec_submit(exec, NULL, 0, &event) != FUSION_SUCCESS ||
           fusion_event_wait(s.session, event, WAIT_MS, NULL) != FUSION_SUCCESS)
        assert_int_equal(fusion_last_error()->status, FUSION_EXECUTOR);
    expect_values(map_read(s.to), 3);

    /* The next submission, of whatever device, is told. */
    fusion_buffer_unmap(s.to);
    submit(&s, exec, NULL, 0);
    kill(service_gpu_executor(&service), SIGKILL);
    expect_ok(fusion_exec_submit(back, NULL, 0, &event));
    fusion_status status = fusion_event_wait(s.session, event, WAIT_MS, NULL);
    assert_int_equal(status, copies ? FUSION_LOST : FUSION_SUCCESS);
    fusion_disconnect(s.session);
}

/* The executor that only passes submissions on may die: the contents are with the other one. */
static void test_passer_killed(void **state)
{
    (void)state;
    struct scaling s = open_scaling();
    pid_t pids[16], other = 0, on_gpu;
    fusion_exec *exec = scale(&s, s.from, s.to, 3, gpu);
    fusion_event event;
    fusion_buffer_unmap(s.from);
    submit(&s, exec, NULL, 0);
    on_gpu = service_gpu_executor(&service);
    int n = service_executors(&service, false, pids, 16);
    for (int i = 0; i < n; i++)
        if (pids[i] != on_gpu) other = pids[i];
    assert_true(other);
    kill(other, SIGKILL);
    while (fusion_exec_submit(exec, NULL, 0, &event) != FUSION_SUCCESS ||
           fusion_event_wait(s.session, event, WAIT_MS, NULL) != FUSION_SUCCESS)
        assert_int_equal(fusion_last_error()->status, FUSION_EXECUTOR);
    expect_values(map(s.to), 3);
    fusion_disconnect(s.session);
}

/* A test's own setup cannot skip it. */
#define ON_DEVICE(name)                                                                                                \
    static void on_device_##name(void **state)                                                                         \
    {                                                                                                                  \
        if (absent) skip();                                                                                            \
        name(state);                                                                                                   \
    }
ON_DEVICE(test_stays)
ON_DEVICE(test_mapped)
ON_DEVICE(test_mapped_to_read)
ON_DEVICE(test_rebound)
ON_DEVICE(test_both_devices)
ON_DEVICE(test_copies)
ON_DEVICE(test_killed)
ON_DEVICE(test_passer_killed)

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    gpu = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_device_test_stays),          cmocka_unit_test(on_device_test_mapped),
        cmocka_unit_test(on_device_test_mapped_to_read), cmocka_unit_test(on_device_test_rebound),
        cmocka_unit_test(on_device_test_both_devices),   cmocka_unit_test(on_device_test_copies),
        cmocka_unit_test(on_device_test_killed),         cmocka_unit_test(on_device_test_passer_killed),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
