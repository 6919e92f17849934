/* Host pipes: packets between the program and kernels that run, on both devices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fusiond/pipe.h>

#include "tests/support/service.h"

/* Not a power of two: packets go round at odd places. */
static const char text[] = "pipe @in: packet i32 capacity 7 host_access \"numbers in\"\n"
                           "pipe @out: packet i32 capacity 7 host_access \"numbers out\"\n"
                           "pipe @both: packet i32 capacity 4 host_access \"both ends\"\n"
                           "pipe @idle: packet i32 capacity 4 host_access \"no end\"\n"
                           "pipe @inner: packet f32x4 capacity 4\n"
                           "func @put(%p: pipe.read_write, %w: ptr.private i32) { pipe_write_wait i32 %p, %w }\n"
                           "kernel @triple(%n: i32) {\n"
                           "  %in = global @in\n"
                           "  %out = global @out\n"
                           "  %w = var i32\n"
                           "  loop (%i: i32 = 0) {\n"
                           "    %end = sge i32 %i, %n\n"
                           "    if %end { break }\n"
                           "    pipe_read_wait i32 %in, %w\n"
                           "    %v = load i32 %w\n"
                           "    %t = mul i32 %v, 3\n"
                           "    store i32 %w, %t\n"
                           "    call @put(%out, %w)\n"
                           "    %next = add i32 %i, 1\n"
                           "    continue %next\n"
                           "  }\n"
                           "}\n"
                           "kernel @ask(%o: ptr.global i32) {\n"
                           "  %in = global @in\n"
                           "  %n = pipe_num_packets %in\n"
                           "  %m = pipe_max_packets %in\n"
                           "  store i32 %o[0], %n\n"
                           "  store i32 %o[1], %m\n"
                           "}\n"
                           "kernel @fault(%o: ptr.global i32) {\n"
                           "  %in = global @in\n"
                           "  %w = var i32\n"
                           "  pipe_read_wait i32 %in, %w\n"
                           "  %v = load i32 %w\n"
                           "  %n = or i32 %v, 1000000\n"
                           "  %i = sext i64 %n\n"
                           "  store i32 %o[%i], %v\n"
                           "}\n"
                           "kernel @own() {\n"
                           "  %b = global @both\n"
                           "  %w = var i32\n"
                           "  %a = pipe_write i32 %b, %w\n"
                           "  %c = pipe_read i32 %b, %w\n"
                           "}\n"
                           "kernel @floats() {\n"
                           "  %b = global @inner\n"
                           "  %w = var f32x4\n"
                           "  %c = pipe_read f32x4 %b, %w\n"
                           "}\n";

static const char *const devices[] = {"cpu", "reference"};

static struct service service;
static fusion_session *session;

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    session = service_connect(&service);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    return 0;
}

static fusion_module *load(void)
{
    fusion_module *m;
    expect_ok(fusion_module_load(session, "pipes", text, sizeof text - 1, &m));
    return m;
}

static fusion_exec *make_triple(fusion_module *m, int n, const char *device)
{
    fusion_graph *g;
    fusion_exec *e;
    expect_ok(fusion_graph_create(session, &g));
    add_node(g, m, "triple", 1, (fusion_arg[]){fusion_arg_i32(n)}, 1);
    expect_ok(fusion_graph_finalize(g, &(fusion_finalize_options){.device = device}, &e));
    fusion_graph_destroy(g);
    return e;
}

static fusion_pipe *open_pipe(fusion_module *m, const char *id, const char *device)
{
    fusion_pipe *p;
    expect_ok(fusion_pipe_open(m, id, device, &p));
    return p;
}

/* ---- what there is ---- */

static void test_list(void **state)
{
    (void)state;
    fusion_module *m = load();
    fusion_pipe *p, *again;
    assert_int_equal(fusion_module_pipe_count(m), 5);
    const fusion_pipe_info *in = fusion_module_pipe(m, 0), *inner = fusion_module_pipe(m, 4);
    assert_string_equal(in->name, "in");
    assert_string_equal(in->id, "numbers in");
    assert_string_equal(in->type, "i32");
    assert_int_equal(in->packet_bytes, 4);
    assert_int_equal(in->capacity, 7);
    assert_true(in->kernels_read && !in->kernels_write);
    assert_true(fusion_module_pipe(m, 1)->kernels_write && !fusion_module_pipe(m, 1)->kernels_read);
    assert_string_equal(inner->id, "");
    assert_string_equal(inner->type, "f32x4");
    assert_int_equal(inner->packet_bytes, 16);
    assert_null(fusion_module_pipe(m, 5));
    expect_error(fusion_pipe_open(m, "numbers", NULL, &p), FUSION_NOT_FOUND);
    expect_in_reason("no pipe with the id numbers");
    expect_error(fusion_pipe_open(m, "both ends", NULL, &p), FUSION_INVALID);
    expect_in_reason("read it and write it");
    expect_error(fusion_pipe_open(m, "no end", NULL, &p), FUSION_INVALID);
    expect_in_reason("neither read nor write it");
    expect_ok(fusion_pipe_open(m, "numbers in", NULL, &p));
    expect_ok(fusion_pipe_open(m, "numbers in", "cpu", &again));
    assert_ptr_equal(p, again);
    expect_ok(fusion_pipe_open(m, "numbers in", "reference", &again));
    assert_ptr_not_equal(p, again);
    assert_ptr_equal(fusion_pipe_describe(p), in);
    fusion_module_destroy(m);
}

/* ---- packets ---- */

/* Written before the kernel runs, read when it is over: as much as fits. */
static void test_there_and_back(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        fusion_module *m = load();
        fusion_pipe *in = open_pipe(m, "numbers in", devices[d]), *out = open_pipe(m, "numbers out", devices[d]);
        fusion_exec *e = make_triple(m, 5, devices[d]);
        for (int round = 0; round < 4; round++) {
            int numbers[5], back[7] = {0};
            uint64_t done;
            fusion_event event;
            for (int i = 0; i < 5; i++) numbers[i] = 100 * round + i;
            expect_ok(fusion_pipe_write(in, numbers, 5, 0, &done));
            assert_int_equal(done, 5);
            expect_ok(fusion_exec_submit(e, NULL, 0, &event));
            expect_ok(fusion_event_wait(session, event, 20000, NULL));
            expect_error(fusion_pipe_read(out, back, 7, 0, &done), FUSION_BUSY);
            assert_int_equal(done, 5);
            for (int i = 0; i < 5; i++) assert_int_equal(back[i], 3 * numbers[i]);
        }
        fusion_exec_destroy(e);
        fusion_module_destroy(m);
    }
}

struct feeder {
    pthread_t thread;
    fusion_pipe *pipe;
    int n;
    fusion_status status;
};

static void *feed(void *data)
{
    struct feeder *f = data;
    for (int i = 0; i < f->n && f->status == FUSION_SUCCESS;) {
        int numbers[13], n = i % 13 + 1;
        if (n > f->n - i) n = f->n - i;
        for (int k = 0; k < n; k++) numbers[k] = i + k;
        f->status = fusion_pipe_write(f->pipe, numbers, (uint64_t)n, 20000, NULL);
        i += n;
    }
    return NULL;
}

/* The kernel waits for us at either end, and we for it. */
static void test_while_it_runs(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        int n = d ? 1000 : 50000;
        fusion_module *m = load();
        struct feeder f = {.pipe = open_pipe(m, "numbers in", devices[d]), .n = n};
        fusion_pipe *out = open_pipe(m, "numbers out", devices[d]);
        fusion_exec *e = make_triple(m, n, devices[d]);
        fusion_event event;
        expect_ok(fusion_exec_submit(e, NULL, 0, &event));
        assert_int_equal(pthread_create(&f.thread, NULL, feed, &f), 0);
        for (int i = 0; i < n; i++) {
            int v;
            expect_ok(fusion_pipe_read(out, &v, 1, 20000, NULL));
            if (v != 3 * i) fail_msg("packet %d is %d", i, v);
        }
        pthread_join(f.thread, NULL);
        assert_int_equal(f.status, FUSION_SUCCESS);
        expect_ok(fusion_event_wait(session, event, 20000, NULL));
        fusion_exec_destroy(e);
        fusion_module_destroy(m);
    }
}

/* Spans end at the ring's end; what is unmapped is moved. */
static void test_spans(void **state)
{
    (void)state;
    fusion_module *m = load();
    fusion_pipe *in = open_pipe(m, "numbers in", NULL), *out = open_pipe(m, "numbers out", NULL);
    fusion_exec *e = make_triple(m, 5, "cpu");
    int at = 0, seen = 0;
    for (int round = 0; round < 9; round++) {
        fusion_event event;
        void *packets;
        uint64_t n, ready;
        for (int left = 5; left; left -= (int)n) {
            expect_ok(fusion_pipe_map(in, (uint64_t)left, 0, &packets, &n));
            assert_in_range(n, 1, (uint64_t)left);
            for (uint64_t i = 0; i < n; i++) ((int *)packets)[i] = at++;
            expect_error(fusion_pipe_unmap(in, 8), FUSION_INVALID);
            expect_ok(fusion_pipe_unmap(in, n));
        }
        expect_ok(fusion_exec_submit(e, NULL, 0, &event));
        expect_ok(fusion_event_wait(session, event, 20000, NULL));
        expect_ok(fusion_pipe_ready(out, &ready));
        assert_int_equal(ready, 5);
        while (fusion_pipe_map(out, 0, 0, &packets, &n) == FUSION_SUCCESS) {
            for (uint64_t i = 0; i < n; i++) assert_int_equal(((int *)packets)[i], 3 * seen++);
            expect_ok(fusion_pipe_unmap(out, n));
        }
        assert_int_equal(seen, at);
    }
    fusion_module_destroy(m);
}

/* ---- limits ---- */

static void test_calls_that_cannot_be(void **state)
{
    (void)state;
    fusion_module *m = load();
    fusion_pipe *in = open_pipe(m, "numbers in", NULL), *out = open_pipe(m, "numbers out", NULL);
    int numbers[10] = {0};
    uint64_t done = 99, n;
    void *packets;
    expect_error(fusion_pipe_read(in, numbers, 1, 0, &done), FUSION_INVALID);
    expect_in_reason("the program writes it");
    assert_int_equal(done, 0);
    expect_error(fusion_pipe_write(out, numbers, 1, 0, NULL), FUSION_INVALID);
    expect_error(fusion_pipe_write(in, numbers, 10, 0, &done), FUSION_BUSY);
    assert_int_equal(done, 7);
    expect_in_reason("the pipe is full");
    expect_error(fusion_pipe_write(in, numbers, 1, 30, &done), FUSION_TIMEOUT);
    assert_int_equal(done, 0);
    expect_in_reason("still full after 30 ms");
    expect_error(fusion_pipe_read(out, numbers, 1, 0, NULL), FUSION_BUSY);
    expect_error(fusion_pipe_map(out, 0, 20, &packets, &n), FUSION_TIMEOUT);
    fusion_module_destroy(m);
}

/* Who waits sleeps: the processor time of both sides together. */
static void test_waiting_takes_no_time(void **state)
{
    (void)state;
    struct timespec before, after;
    fusion_module *m = load();
    fusion_pipe *out = open_pipe(m, "numbers out", NULL);
    fusion_exec *e = make_triple(m, 1, "cpu");
    fusion_event event;
    pid_t executors[4];
    int v = 1, n = service_executors(&service, false, executors, 4);
    clockid_t its_clock;
    assert_int_equal(clock_getcpuclockid(executors[n - 1], &its_clock), 0);
    expect_ok(fusion_exec_submit(e, NULL, 0, &event));
    usleep(100000);
    clock_t own = clock();
    clock_gettime(its_clock, &before);
    expect_error(fusion_pipe_read(out, &v, 1, 1000, NULL), FUSION_TIMEOUT);
    clock_gettime(its_clock, &after);
    assert_in_range(clock() - own, 0, CLOCKS_PER_SEC / 5);
    int64_t ns = (after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec - before.tv_nsec;
    assert_in_range(ns, 0, 200000000);
    expect_ok(fusion_pipe_write(open_pipe(m, "numbers in", NULL), &v, 1, -1, NULL));
    expect_ok(fusion_pipe_read(out, &v, 1, 20000, NULL));
    assert_int_equal(v, 3);
    expect_ok(fusion_event_wait(session, event, 20000, NULL));
    fusion_module_destroy(m);
}

/* ---- the other side goes ---- */

static void fill_and_run(fusion_module *m, const char *kernel, fusion_event *event)
{
    fusion_graph *g;
    fusion_exec *e;
    fusion_buffer *o = index_buffer(session, NULL, 2, 0, 0);
    expect_ok(fusion_graph_create(session, &g));
    add_node(g, m, kernel, 1, (fusion_arg[]){fusion_arg_write(o)}, 1);
    expect_ok(fusion_graph_finalize(g, NULL, &e));
    expect_ok(fusion_exec_submit(e, NULL, 0, event));
}

struct kill_soon {
    pthread_t thread;
    pid_t pid;
};

static void *kill_later(void *data)
{
    usleep(50000);
    kill(((struct kill_soon *)data)->pid, SIGKILL);
    return NULL;
}

/* The program waits for packets of a kernel whose executor is killed: it is told, and so is the submission. What was in
   the pipes is still there, in order, and a kernel of the new executor goes on with it. */
static void test_executor_killed(void **state)
{
    (void)state;
    fusion_module *m = load();
    fusion_pipe *in = open_pipe(m, "numbers in", NULL), *out = open_pipe(m, "numbers out", NULL);
    fusion_exec *e = make_triple(m, 5, "cpu");
    fusion_event event;
    struct kill_soon k;
    pid_t executors[4];
    int numbers[3] = {1, 2, 3}, more[4] = {7, 8, 9, 10}, back[8];
    uint64_t done, n;
    expect_ok(fusion_exec_submit(e, NULL, 0, &event));
    expect_ok(fusion_pipe_write(in, numbers, 3, 5000, NULL));
    do expect_ok(fusion_pipe_ready(out, &n));
    while (n < 3);
    expect_ok(fusion_pipe_read(out, back, 1, 5000, NULL));
    int count = service_executors(&service, false, executors, 4);
    k.pid = executors[count - 1];
    assert_int_equal(pthread_create(&k.thread, NULL, kill_later, &k), 0);
    expect_error(fusion_pipe_read(out, back + 1, 5, 20000, &done), FUSION_EXECUTOR);
    expect_in_reason("executor was lost");
    pthread_join(k.thread, NULL);
    assert_int_equal(done, 2);
    for (int i = 0; i < 3; i++) assert_int_equal(back[i], 3 * (i + 1));
    expect_error(fusion_event_wait(session, event, 20000, NULL), FUSION_EXECUTOR);

    expect_ok(fusion_pipe_write(in, more, 4, 5000, NULL));
    assert_int_not_equal(fusion_pipe_ready(in, &n), FUSION_BUSY);
    assert_int_equal(n, 3);
    expect_ok(fusion_exec_submit(e, NULL, 0, &event));
    expect_ok(fusion_pipe_write(in, numbers, 1, 5000, NULL));
    expect_ok(fusion_pipe_read(out, back, 5, 20000, NULL));
    for (int i = 0; i < 4; i++) assert_int_equal(back[i], 3 * more[i]);
    assert_int_equal(back[4], 3);
    expect_ok(fusion_event_wait(session, event, 20000, NULL));
    fusion_module_destroy(m);
}

/* A kernel that faults takes what it has read with it, and nothing else. */
static void test_kernel_faults(void **state)
{
    (void)state;
    fusion_module *m = load();
    fusion_pipe *in = open_pipe(m, "numbers in", NULL), *out = open_pipe(m, "numbers out", NULL);
    int numbers[6] = {1, 2, 3, 4, 5, 6}, back[5];
    fusion_event event;
    expect_ok(fusion_pipe_write(in, numbers, 6, 0, NULL));
    fill_and_run(m, "fault", &event);
    expect_error(fusion_event_wait(session, event, 20000, NULL), FUSION_KERNEL_FAULT);
    fusion_exec *e = make_triple(m, 5, "cpu");
    expect_ok(fusion_exec_submit(e, NULL, 0, &event));
    expect_ok(fusion_pipe_read(out, back, 5, 20000, NULL));
    for (int i = 0; i < 5; i++) assert_int_equal(back[i], 3 * (i + 2));
    fusion_module_destroy(m);
}

/* The service is killed while the program waits, and its executors with it: it is told, whichever way it waits. What is
   in the pipes can still be read. */
static void test_service_killed(void **state)
{
    (void)state;
    fusion_module *m = load();
    fusion_pipe *in = open_pipe(m, "numbers in", NULL), *out = open_pipe(m, "numbers out", NULL);
    fusion_exec *e = make_triple(m, 20, "cpu");
    fusion_event event;
    struct kill_soon k = {.pid = service.pid};
    int numbers[7] = {1, 2, 3, 4, 5, 6, 7}, back[8];
    uint64_t done, n;
    expect_ok(fusion_exec_submit(e, NULL, 0, &event));
    expect_ok(fusion_pipe_write(in, numbers, 7, 5000, NULL));
    do expect_ok(fusion_pipe_ready(out, &n));
    while (n < 7);
    assert_int_equal(pthread_create(&k.thread, NULL, kill_later, &k), 0);
    expect_ok(fusion_pipe_read(out, back, 2, 5000, NULL));
    expect_error(fusion_pipe_read(out, back + 2, 6, 20000, &done), FUSION_CONNECTION);
    pthread_join(k.thread, NULL);
    assert_int_equal(done, 5);
    for (int i = 0; i < 7; i++) assert_int_equal(back[i], 3 * numbers[i]);
    do n = 0;
    while (fusion_pipe_write(in, numbers, 7, 20000, &n) == FUSION_SUCCESS);
    expect_error(fusion_pipe_write(in, numbers, 1, 20000, NULL), FUSION_CONNECTION);
    expect_error(fusion_pipe_read(out, back, 1, 20000, NULL), FUSION_CONNECTION);
    expect_error(fusion_event_wait(session, event, 20000, NULL), FUSION_CONNECTION);
    fusion_disconnect(session);
    assert_int_equal(waitpid(service.pid, NULL, 0), service.pid);
    service_restart(&service, NULL);
    session = service_connect(&service);
}

/* A program of its own, which is killed while its kernel waits for it. */
static void run_until_killed(int ready)
{
    fusion_event event;
    session = service_connect(&service);
    fusion_exec *e = make_triple(load(), 5, "cpu");
    expect_ok(fusion_exec_submit(e, NULL, 0, &event));
    if (write(ready, "", 1) != 1) _exit(1);
    expect_ok(fusion_event_wait(session, event, -1, NULL));
    _exit(0);
}

static void test_program_killed(void **state)
{
    (void)state;
    int ready[2], status;
    char byte;
    pid_t executors[4];
    int before = service_executors(&service, false, executors, 4);
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork_or_fail();
    if (child == 0) run_until_killed(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    usleep(50000);
    int with_it = service_executors(&service, false, executors, 4);
    assert_in_range(with_it, before + 1, 4);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    for (int i = 0; i < 1000 && service_executors(&service, false, executors, 4) >= with_it; i++) usleep(10000);
    assert_int_equal(service_executors(&service, false, executors, 4), with_it - 1);
    close(ready[0]);
    close(ready[1]);
}

/* ---- commands ---- */

/* As nodes of a graph and commands of a queue: those that depend on nothing do not wait for the kernel that waits for
   them. */
static void test_commands(void **state)
{
    (void)state;
    fusion_module *m = load();
    fusion_pipe *in = open_pipe(m, "numbers in", NULL), *out = open_pipe(m, "numbers out", NULL);
    fusion_queue *q;
    fusion_graph *g;
    fusion_exec *e;
    fusion_event event;
    int numbers[20], back[20] = {0};
    for (int i = 0; i < 20; i++) numbers[i] = i - 4;
    expect_ok(fusion_queue_create(session, &q));
    fusion_arg n = fusion_arg_i32(20);
    fusion_kernel_node node = {.module = m, .kernel = "triple", .dims = 1, .global = {1}, .n_args = 1, .args = &n};
    expect_ok(fusion_queue_submit(q, &node, NULL));
    for (int i = 0; i < 20; i += 5) {
        expect_ok(fusion_queue_pipe(q, in, numbers + i, 5, 20000, NULL));
        expect_ok(fusion_queue_pipe(q, out, back + i, 5, 20000, &event));
    }
    expect_ok(fusion_event_wait(session, event, 20000, NULL));
    for (int i = 0; i < 20; i++) assert_int_equal(back[i], 3 * numbers[i]);

    fusion_node kernel;
    expect_ok(fusion_graph_create(session, &g));
    n = fusion_arg_i32(7);
    expect_ok(fusion_graph_add_pipe(g, "feed", in, numbers, 7, 0, NULL, 0, NULL));
    expect_ok(fusion_graph_add_kernel(g, &node, &kernel));
    expect_ok(fusion_graph_add_pipe(g, "drain", out, back, 7, 0, &kernel, 1, NULL));
    expect_ok(fusion_graph_finalize(g, NULL, &e));
    for (int round = 0; round < 3; round++) {
        numbers[3] = round;
        expect_ok(fusion_exec_submit(e, NULL, 0, &event));
        expect_ok(fusion_event_wait(session, event, 20000, NULL));
        for (int i = 0; i < 7; i++) assert_int_equal(back[i], 3 * numbers[i]);
    }
    fusion_queue_destroy(q);
    fusion_module_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_list, start, stop),
        cmocka_unit_test_setup_teardown(test_there_and_back, start, stop),
        cmocka_unit_test_setup_teardown(test_while_it_runs, start, stop),
        cmocka_unit_test_setup_teardown(test_spans, start, stop),
        cmocka_unit_test_setup_teardown(test_calls_that_cannot_be, start, stop),
        cmocka_unit_test_setup_teardown(test_waiting_takes_no_time, start, stop),
        cmocka_unit_test_setup_teardown(test_executor_killed, start, stop),
        cmocka_unit_test_setup_teardown(test_kernel_faults, start, stop),
        cmocka_unit_test_setup_teardown(test_service_killed, start, stop),
        cmocka_unit_test_setup_teardown(test_program_killed, start, stop),
        cmocka_unit_test_setup_teardown(test_commands, start, stop),
    };
    return cmocka_run_group_tests_name("host_pipes", tests, NULL, NULL);
}
