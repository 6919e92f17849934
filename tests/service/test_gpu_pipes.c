/*
 * test_gpu_pipes DEVICE: host pipes of a device that a driver gives. Its kernels do not reach the ring: packets are
 * moved for them, before a launch and behind it.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fusiond/pipe.h>

#include "tests/support/service.h"

enum { WAIT_MS = 20000, CAPACITY = 7 }; /* not a power of two: packets go round at odd places */

static const char kernels[] =
    "pipe @in: packet i32 capacity 7 host_access \"in\"\n"
    "pipe @out: packet i32 capacity 7 host_access \"out\"\n"
    "kernel @take(%o: ptr.global i32 write) {\n"
    "  %i = global_id x\n  %p = global @in\n  %w = var i32\n  store i32 %w, -1\n"
    "  %ok = pipe_read i32 %p, %w\n  %v = load i32 %w\n  store i32 %o[%i], %v\n}\n"
    "kernel @give(%o: ptr.global i32 write) {\n"
    "  %i = global_id x\n  %n = trunc i32 %i\n  %p = global @out\n  %w = var i32\n  store i32 %w, %n\n"
    "  %ok = pipe_write i32 %p, %w\n  %v = select i32 %ok, 1, 0\n  store i32 %o[%i], %v\n}\n"
    "kernel @triple() {\n" /* of one work-item: as many as there are, as far as there is room */
    "  %in = global @in\n  %out = global @out\n  %w = var i32\n"
    "  %room = pipe_max_packets %out\n  %used = pipe_num_packets %out\n  %n = sub i32 %room, %used\n"
    "  loop (%k: i32 = 0) {\n"
    "    %full = sge i32 %k, %n\n    if %full { break }\n"
    "    %some = pipe_read i32 %in, %w\n    %none = not bool %some\n    if %none { break }\n"
    "    %v = load i32 %w\n    %t = mul i32 %v, 3\n    store i32 %w, %t\n"
    "    %put = pipe_write i32 %out, %w\n    %next = add i32 %k, 1\n    continue %next\n  }\n}\n"
    "kernel @wait() {\n  %p = global @in\n  %w = var i32\n  pipe_read_wait i32 %p, %w\n}\n";

static const char *gpu; /* the device's name */
static bool absent;
static struct service service;
static fusion_session *session;
static fusion_module *module;
static fusion_pipe *in, *out;
static fusion_buffer *buffer;

static bool is_absent(void)
{
    char name[64], reason[256];
    for (uint32_t i = 0; fusion_device_absent(session, i, name, reason) == FUSION_SUCCESS; i++) {
        if (strcmp(name, gpu) != 0) continue;
        printf("# skipped: no device %s: %s\n", gpu, reason);
        return true;
    }
    return false;
}

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    session = service_connect(&service);
    absent = is_absent();
    if (absent) return 0;
    expect_ok(fusion_module_load(session, "pipes.fk", kernels, sizeof kernels - 1, &module));
    expect_ok(fusion_pipe_open(module, "in", gpu, &in));
    expect_ok(fusion_pipe_open(module, "out", gpu, &out));
    expect_ok(fusion_buffer_create(session, "o", FUSION_I32, 64, 0, &buffer));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    return 0;
}

/* ---- graphs ---- */

static fusion_graph *new_graph(void)
{
    fusion_graph *g;
    expect_ok(fusion_graph_create(session, &g));
    return g;
}

static fusion_exec *finalize(fusion_graph *g)
{
    fusion_exec *e;
    expect_ok(fusion_graph_finalize(g, &(fusion_finalize_options){.mode = FUSION_ENABLE, .device = gpu}, &e));
    fusion_graph_destroy(g);
    return e;
}

static fusion_exec *make(const char *kernel, uint64_t items)
{
    fusion_graph *g = new_graph();
    fusion_arg args[] = {fusion_arg_write(buffer)};
    add_node(g, module, kernel, items, args, strcmp(kernel, "triple") != 0);
    return finalize(g);
}

static void run(fusion_exec *e)
{
    fusion_event event;
    expect_ok(fusion_exec_submit(e, NULL, 0, &event));
    expect_ok(fusion_event_wait(session, event, WAIT_MS, NULL));
}

static const int *values(void)
{
    void *memory;
    expect_ok(fusion_buffer_map(buffer, &memory));
    return memory;
}

/* Bits of what is in a list: each number once, in any order. */
static unsigned set_of(const int *list, uint64_t n)
{
    unsigned set = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (list[i] < 0) continue;
        assert_in_range(list[i], 0, 31);
        assert_false(set >> list[i] & 1);
        set |= 1u << list[i];
    }
    return set;
}

static uint64_t ready(fusion_pipe *p)
{
    uint64_t n;
    expect_ok(fusion_pipe_ready(p, &n));
    return n;
}

/* ---- tests ---- */

/* What a launch does not take stays for the next, and its room comes back with those that were taken. */
static void test_taken(void **state)
{
    (void)state;
    const int numbers[] = {0, 1, 2, 3, 4, 5, 6};
    fusion_exec *three = make("take", 3), *eight = make("take", 8);
    for (int round = 0; round < 3; round++) {
        expect_ok(fusion_pipe_write(in, numbers, CAPACITY, 0, NULL));
        assert_int_equal(ready(in), 0);
        run(three);
        assert_int_equal(ready(in), 3);
        unsigned first = set_of(values(), 3);
        assert_int_equal(first, 0x7);
        run(eight);
        assert_int_equal(ready(in), CAPACITY);
        assert_int_equal(set_of(values(), 8), 0x78);
    }
    fusion_exec_destroy(three);
    fusion_exec_destroy(eight);
}

/* What finds no room is not put. */
static void test_given(void **state)
{
    (void)state;
    fusion_exec *five = make("give", 5);
    for (int round = 0; round < 5; round++) {
        int back[CAPACITY], put = 0;
        uint64_t done = 0;
        run(five);
        assert_int_equal(ready(out), 5);
        assert_int_equal(set_of(values(), 0), 0);
        run(five);
        for (int i = 0; i < 5; i++) put += values()[i];
        assert_int_equal(put, 2);
        expect_ok(fusion_pipe_read(out, back, CAPACITY, 0, &done));
        assert_int_equal(set_of(back, 5), 0x1f);
        expect_error(fusion_pipe_read(out, back, 1, 0, &done), FUSION_BUSY);
    }
    fusion_exec_destroy(five);
}

/* A kernel of one work-item keeps the order, over many submissions; a program writes and reads as much as fits. */
static void test_streamed(void **state)
{
    (void)state;
    enum { PACKETS = 1000 };
    fusion_exec *e = make("triple", 1);
    int written = 0, seen = 0;
    while (seen < PACKETS) {
        int numbers[CAPACITY], back[CAPACITY];
        uint64_t done;
        for (int i = 0; i < CAPACITY; i++) numbers[i] = written + i;
        (void)fusion_pipe_write(in, numbers, CAPACITY, 0, &done);
        written += (int)done;
        run(e);
        (void)fusion_pipe_read(out, back, (uint64_t)(seen % CAPACITY) + 1, 0, &done);
        assert_true(done > 0);
        for (uint64_t i = 0; i < done; i++) assert_int_equal(back[i], 3 * seen++);
    }
    while (ready(in) < CAPACITY) { /* leaves nothing behind */
        int back[CAPACITY];
        run(e);
        (void)fusion_pipe_read(out, back, CAPACITY, 0, NULL);
    }
    fusion_exec_destroy(e);
}

/* Launches of one graph see each other's packets. */
static void test_one_graph(void **state)
{
    (void)state;
    const int numbers[] = {10, 11, 12, 13};
    int back[CAPACITY];
    uint64_t done;
    fusion_graph *g = new_graph();
    fusion_arg args[] = {fusion_arg_write(buffer)};
    add_node(g, module, "take", 1, args, 1);
    add_node(g, module, "triple", 1, NULL, 0);
    fusion_exec *e = finalize(g);
    expect_ok(fusion_pipe_write(in, numbers, 4, 0, NULL));
    run(e);
    expect_error(fusion_pipe_read(out, back, CAPACITY, 0, &done), FUSION_BUSY);
    assert_int_equal(done, 3);
    assert_int_equal(values()[0] + back[0] / 3 + back[1] / 3 + back[2] / 3, 10 + 11 + 12 + 13);
    fusion_exec_destroy(e);
}

/* Packets that no kernel had taken are there for the executor that comes next. */
static void test_executor_killed(void **state)
{
    (void)state;
    const int numbers[] = {1, 2, 3, 4, 5};
    int back[CAPACITY];
    uint64_t done;
    fusion_exec *take = make("take", 2), *triple = make("triple", 1);
    fusion_event event;
    expect_ok(fusion_pipe_write(in, numbers, 5, 0, NULL));
    run(take);
    pid_t pid = service_gpu_executor(&service);
    assert_true(pid > 0);
    kill(pid, SIGKILL);
    for (int i = 0; i < 3 && ready(out) == CAPACITY - CAPACITY; i++) { /* the first may come too early */
        expect_ok(fusion_exec_submit(triple, NULL, 0, &event));
        (void)fusion_event_wait(session, event, WAIT_MS, NULL);
    }
    expect_error(fusion_pipe_read(out, back, CAPACITY, 0, &done), FUSION_BUSY);
    assert_int_equal(done, 3);
    for (int i = 0; i < 3; i++) assert_int_equal(back[i], 3 * (i + 3));
    fusion_exec_destroy(take);
    fusion_exec_destroy(triple);
}

/* Work-items of GPUs do not wait for the program. */
static void test_waiting_is_refused(void **state)
{
    (void)state;
    fusion_exec *e;
    fusion_graph *g = new_graph();
    add_node(g, module, "wait", 1, NULL, 0);
    expect_error(fusion_graph_finalize(g, &(fusion_finalize_options){.device = gpu}, &e), FUSION_FEATURE_NOT_SUPPORTED);
    expect_in_reason("pipe_read_wait waits, which work-items of this device cannot");
    fusion_graph_destroy(g);
}

#define ON_DEVICE(name)                                                                                                \
    static void on_device_##name(void **state)                                                                         \
    {                                                                                                                  \
        if (absent) skip();                                                                                            \
        name(state);                                                                                                   \
    }
ON_DEVICE(test_taken)
ON_DEVICE(test_given)
ON_DEVICE(test_streamed)
ON_DEVICE(test_one_graph)
ON_DEVICE(test_executor_killed)
ON_DEVICE(test_waiting_is_refused)

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    gpu = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_device_test_taken),           cmocka_unit_test(on_device_test_given),
        cmocka_unit_test(on_device_test_streamed),        cmocka_unit_test(on_device_test_one_graph),
        cmocka_unit_test(on_device_test_executor_killed), cmocka_unit_test(on_device_test_waiting_is_refused),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
