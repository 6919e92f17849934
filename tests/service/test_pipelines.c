/* Kernels that wait for each other by pipes run at the same time, compute what they would alone, and are told where
 * they wait for each other for good. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fusiond/pipe.h>
#include <pthread.h>
#include <unistd.h>

#include "tests/support/service.h"

/* A loop over n packets of a pipe into another; the body makes %y of %x. */
#define STAGE(name, from, to, body)                                                                                    \
    "kernel @" name "(%n: i32) {\n"                                                                                    \
    "  %in = global @" from "\n  %out = global @" to "\n  %w = var i32\n"                                              \
    "  loop (%i: i32 = 0) {\n    %end = sge i32 %i, %n\n    if %end { break }\n"                                       \
    "    pipe_read_wait i32 %in, %w\n    %x = load i32 %w\n" body "    store i32 %w, %y\n"                             \
    "    pipe_write_wait i32 %out, %w\n    %next = add i32 %i, 1\n    continue %next\n  }\n}\n"

static const char format[] = "pipe @in: packet i32 capacity %d host_access \"in\"\n"
                             "pipe @middle: packet i32 capacity %d\n"
                             "pipe @far: packet i32 capacity %d\n"
                             "pipe @out: packet i32 capacity %d host_access \"out\"\n"
                             "pipe @a: packet i32 capacity 2\n"
                             "pipe @b: packet i32 capacity 2\n"
                             "pipe @sink: packet i32 capacity %d\n";
static const char kernels[] = STAGE("first", "in", "middle", "    %y = mul i32 %x, 3\n") STAGE(
    "second", "middle", "far", "    %y = add i32 %x, 1\n") STAGE("third", "far", "out", "    %y = xor i32 %x, 85\n")
    STAGE("short", "middle", "out", "    %y = xor i32 %x, 85\n") STAGE("ping", "a", "b", "    %y = add i32 %x, 1\n")
        STAGE("lose", "middle", "sink", "    %y = add i32 %x, 1\n") STAGE(
            "pong", "b", "a",
            "    %y = add i32 %x, 1\n") "kernel @fill(%n: i32) {\n"
                                        "  %p = global @middle\n  %w = var i32\n"
                                        "  loop (%i: i32 = 0) {\n    %end = sge i32 %i, %n\n    if %end { break }\n"
                                        "    store i32 %w, %i\n    pipe_write_wait i32 %p, %w\n"
                                        "    %next = add i32 %i, 1\n    continue %next\n  }\n}\n"
                                        "kernel @sum(%n: i32, %o: ptr.global i32) {\n"
                                        "  %p = global @middle\n  %w = var i32\n"
                                        "  %all = loop (%i: i32 = 0, %s: i32 = 0) -> i32 {\n"
                                        "    %end = sge i32 %i, %n\n    if %end { break %s }\n"
                                        "    pipe_read_wait i32 %p, %w\n    %v = load i32 %w\n    %t = add i32 %s, %v\n"
                                        "    %next = add i32 %i, 1\n    continue %next, %t\n  }\n"
                                        "  store i32 %o[0], %all\n}\n"
                                        "kernel @items(%x: ptr.global i32) {\n"
                                        "  %p = global @middle\n  %i = global_id x\n  %at = elem i32 %x, %i\n"
                                        "  pipe_write_wait i32 %p, %at\n}\n"
                                        "kernel @take_items(%x: ptr.global i32) {\n"
                                        "  %p = global @middle\n  %i = global_id x\n  %at = elem i32 %x, %i\n"
                                        "  pipe_read_wait i32 %p, %at\n}\n";

enum { HOUR_MS = 3600000 }; /* for very many packets */

static struct service service;
static fusion_session *session;

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    expect_ok(fusion_connect(service.socket, &(fusion_connect_options){.time_limit_ms = HOUR_MS}, &session));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    return 0;
}

static fusion_module *load(int capacity)
{
    char text[sizeof format + sizeof kernels + 64];
    fusion_module *m;
    int n = snprintf(text, sizeof text, format, capacity, capacity, capacity, capacity, capacity);
    memcpy(text + n, kernels, sizeof kernels);
    n += (int)sizeof kernels - 1;
    expect_ok(fusion_module_load(session, "stages.fk", text, (size_t)n, &m));
    return m;
}

static fusion_graph *begin(void)
{
    fusion_graph *g;
    expect_ok(fusion_graph_create(session, &g));
    return g;
}

static void stage(fusion_graph *g, fusion_module *m, const char *kernel, int n)
{
    add_node(g, m, kernel, 1, (fusion_arg[]){fusion_arg_i32(n)}, 1);
}

static fusion_event submit(fusion_graph *g)
{
    fusion_exec *e;
    fusion_event event;
    expect_ok(fusion_graph_finalize(g, NULL, &e));
    expect_ok(fusion_exec_submit(e, NULL, 0, &event));
    return event;
}

struct feeder {
    pthread_t thread;
    fusion_pipe *pipe;
    int n, chunk;
    fusion_status status;
};

static void *feed(void *data)
{
    struct feeder *f = data;
    int *numbers = malloc((size_t)f->chunk * sizeof *numbers);
    for (int i = 0; i < f->n && f->status == FUSION_SUCCESS; i += f->chunk) {
        int n = f->chunk < f->n - i ? f->chunk : f->n - i;
        for (int k = 0; k < n; k++) numbers[k] = i + k;
        f->status = fusion_pipe_write(f->pipe, numbers, (uint64_t)n, 60000, NULL);
    }
    free(numbers);
    return NULL;
}

/* Host, kernels, host: each number comes out as it should, in order. */
static void stream(int capacity, int n, int chunk, const char *const *stages, int (*expected)(int))
{
    fusion_module *m = load(capacity);
    struct feeder f = {.n = n, .chunk = chunk};
    fusion_pipe *out;
    fusion_graph *g = begin();
    int *numbers = malloc((size_t)chunk * sizeof *numbers);
    for (; *stages; stages++) stage(g, m, *stages, n);
    expect_ok(fusion_pipe_open(m, "in", NULL, &f.pipe));
    expect_ok(fusion_pipe_open(m, "out", NULL, &out));
    fusion_event event = submit(g);
    assert_int_equal(pthread_create(&f.thread, NULL, feed, &f), 0);
    for (int i = 0; i < n; i += chunk) {
        int now = chunk < n - i ? chunk : n - i;
        expect_ok(fusion_pipe_read(out, numbers, (uint64_t)now, 60000, NULL));
        for (int k = 0; k < now; k++)
            if (numbers[k] != expected(i + k)) fail_msg("packet %d is %d", i + k, numbers[k]);
    }
    pthread_join(f.thread, NULL);
    assert_int_equal(f.status, FUSION_SUCCESS);
    expect_ok(fusion_event_wait(session, event, 20000, NULL));
    free(numbers);
    fusion_graph_destroy(g);
    fusion_module_destroy(m);
}

static int of_three(int x)
{
    return (3 * x + 1) ^ 85;
}

static int of_two(int x)
{
    return (3 * x) ^ 85;
}

static void test_capacities(void **state)
{
    (void)state;
    static const int capacities[] = {1, 2, 3, 7, 64, 1000};
    const char *packets = getenv("FUSIOND_TEST_PACKETS");
    int n = packets ? atoi(packets) : 1000;
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        stream(capacities[i], n, 1 + (int)i * 50, (const char *const[]){"first", "short", NULL}, of_two);
        stream(capacities[i], n / 4, 100, (const char *const[]){"first", "second", "third", NULL}, of_three);
    }
}

/* In whatever order they were recorded. */
static void test_consumer_first(void **state)
{
    (void)state;
    stream(3, 1000, 10, (const char *const[]){"third", "second", "first", NULL}, of_three);
}

/* The consumer's memory is its own; what comes after in the graph sees it. */
static void test_results(void **state)
{
    (void)state;
    void *memory;
    fusion_module *m = load(4);
    fusion_graph *g = begin();
    fusion_buffer *o = index_buffer(session, "o", 1, 0, 0), *copy = index_buffer(session, "copy", 1, 0, 0);
    stage(g, m, "fill", 1000);
    add_node(g, m, "sum", 1, (fusion_arg[]){fusion_arg_i32(1000), fusion_arg_write(o)}, 2);
    expect_ok(fusion_graph_add_copy(g, NULL, (fusion_memory){.buffer = o}, (fusion_memory){.buffer = copy}, 4, NULL, 0,
                                    NULL));
    for (int round = 0; round < 3; round++) {
        expect_ok(fusion_event_wait(session, submit(g), 20000, NULL));
        expect_ok(fusion_buffer_map(copy, &memory));
        assert_int_equal(*(int *)memory, 499500);
    }
}

/* Work-items, too, one after another: more of them than fit into the pipe. */
static void test_work_items(void **state)
{
    (void)state;
    enum { ITEMS = 1000 };
    void *memory;
    fusion_module *m = load(5);
    fusion_graph *g = begin();
    fusion_buffer *x = index_buffer(session, "x", ITEMS, 7, 0), *o = index_buffer(session, "o", ITEMS, 0, 0);
    add_node(g, m, "items", ITEMS, (fusion_arg[]){fusion_arg_read(x)}, 1);
    add_node(g, m, "take_items", ITEMS, (fusion_arg[]){fusion_arg_write(o)}, 1);
    expect_ok(fusion_event_wait(session, submit(g), 20000, NULL));
    expect_ok(fusion_buffer_map(o, &memory));
    for (int i = 0; i < ITEMS; i++) assert_int_equal(((int *)memory)[i], 7 * i);
}

/* ---- who waits for good ---- */

static void expect_deadlock(fusion_graph *g, const char *const *parts)
{
    expect_error(fusion_event_wait(session, submit(g), 20000, NULL), FUSION_INVALID);
    for (; *parts; parts++) expect_in_reason(*parts);
}

/* A circle of empty pipes; and of full ones behind them, as nobody reads. */
static void test_circle(void **state)
{
    (void)state;
    fusion_module *m = load(4);
    fusion_graph *g = begin();
    stage(g, m, "ping", 3);
    stage(g, m, "pong", 3);
    expect_deadlock(g, (const char *const[]){"kernel ping, line ", "waits for a packet of pipe @a, which is empty",
                                             "kernel pong, line ", "pipe @b, which is empty", NULL});
}

/* No kernel of the module does. */
static void test_nobody_reads(void **state)
{
    (void)state;
    fusion_module *m = load(4);
    fusion_graph *g = begin();
    stage(g, m, "fill", 5);
    stage(g, m, "lose", 5);
    expect_deadlock(g,
                    (const char *const[]){"kernel lose, line ", "waits for room in pipe @sink, which is full", NULL});
    g = begin();
    stage(g, m, "fill", 4);
    stage(g, m, "lose", 4);
    expect_ok(fusion_event_wait(session, submit(g), 20000, NULL));
}

/* One that has ended leaves those of its submission that wait for it behind: they are told then. */
static void test_ended_too_soon(void **state)
{
    (void)state;
    fusion_module *m = load(4);
    fusion_graph *g = begin();
    fusion_buffer *o = index_buffer(session, "o", 1, 0, 0);
    stage(g, m, "fill", 1000);
    add_node(g, m, "sum", 1, (fusion_arg[]){fusion_arg_i32(1001), fusion_arg_write(o)}, 2);
    expect_deadlock(g, (const char *const[]){"kernel sum, line ", "waits for a packet of pipe @middle", NULL});
}

/* One that waits for the host may go on: nobody is told anything before the time limit. */
static void test_host_may_come(void **state)
{
    (void)state;
    fusion_module *m = load(4);
    fusion_pipe *in, *out;
    int x = 5, y;
    expect_ok(fusion_pipe_open(m, "in", NULL, &in));
    expect_ok(fusion_pipe_open(m, "out", NULL, &out));
    fusion_graph *g = begin();
    stage(g, m, "first", 1);
    stage(g, m, "short", 1);
    fusion_event event = submit(g);
    usleep(300000);
    assert_int_equal(fusion_event_poll(session, event), FUSION_BUSY);
    expect_ok(fusion_pipe_write(in, &x, 1, 1000, NULL));
    expect_ok(fusion_pipe_read(out, &y, 1, 5000, NULL));
    assert_int_equal(y, of_two(5));
    expect_ok(fusion_event_wait(session, event, 20000, NULL));
}

/* The time limit of the submission holds for those that wait for the host as well. */
static void test_time_limit(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    service_start(&service, (const char *const[]){"--time-limit", "300", NULL});
    session = service_connect(&service);
    fusion_module *m = load(4);
    fusion_graph *g = begin();
    stage(g, m, "first", 1);
    stage(g, m, "short", 1);
    expect_error(fusion_event_wait(session, submit(g), 20000, NULL), FUSION_TIMEOUT);
    expect_in_reason("time limit of 300 ms");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_capacities, start, stop),
        cmocka_unit_test_setup_teardown(test_consumer_first, start, stop),
        cmocka_unit_test_setup_teardown(test_results, start, stop),
        cmocka_unit_test_setup_teardown(test_work_items, start, stop),
        cmocka_unit_test_setup_teardown(test_circle, start, stop),
        cmocka_unit_test_setup_teardown(test_nobody_reads, start, stop),
        cmocka_unit_test_setup_teardown(test_ended_too_soon, start, stop),
        cmocka_unit_test_setup_teardown(test_host_may_come, start, stop),
        cmocka_unit_test_setup_teardown(test_time_limit, start, stop),
    };
    return cmocka_run_group_tests_name("pipelines", tests, NULL, NULL);
}
