/* Kernels of different submissions that wait for each other by pipes run at the same time, in whatever order they were
 * submitted; everything else of submissions stays in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fusiond/pipe.h>
#include <fusiond/window.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "tests/support/service.h"

/* A loop of n rounds; the body has %i. */
#define LOOP(body)                                                                                                     \
    "  loop (%i: i32 = 0) {\n    %end = sge i32 %i, %n\n    if %end { break }\n" body                                  \
    "    %next = add i32 %i, 1\n    continue %next\n  }\n}\n"
#define TAKES(name, pipe)                                                                                              \
    "kernel @" name "(%n: i32, %o: ptr.global i32) {\n  %p = global @" pipe                                            \
    "\n" LOOP("    %at = elem i32 %o, %i\n    pipe_read_wait i32 %p, %at\n")

static const char format[] = "pipe @a: packet i32 capacity %d\npipe @b: packet i32 capacity %d\n"
                             "pipe @c: packet i32 capacity 2\n"
                             "pipe @in: packet i32 capacity 4 host_access \"in\"\n";
static const char kernels[] = "kernel @put(%n: i32, %first: i32) {\n  %p = global @a\n  %w = var i32\n" LOOP(
    "    %x = add i32 %first, %i\n  "
    "  store i32 %w, %x\n    "
    "pipe_write_wait i32 %p, %w\n") "kernel @put_of(%n: i32, %x: ptr.global i32) {\n  %p = global @a\n" LOOP("    %at "
                                                                                                             "= elem "
                                                                                                             "i32 %x, "
                                                                                                             "%i\n    "
                                                                                                             "pipe_"
                                                                                                             "write_"
                                                                                                             "wait i32 "
                                                                                                             "%p, "
                                                                                                             "%at\n") "kernel @plus(%n: i32) {\n  %p = global @a\n  %q = global @b\n  %w = var i32\n" LOOP("    pipe_read_wait i32 %p, %w\n    %x = load i32 %w\n    %y = add i32 %x, 1000\n    store i32 %w, %y\n"
                                                                                                                                                                                                           "    pipe_write_wait i32 %q, %w\n")
    TAKES("take", "a") TAKES("take_b", "b") TAKES(
        "take_in",
        "in") "kernel @poll(%n: i32, %o: ptr.global i32) {\n  %p = global @a\n  %w = "
              "var i32\n" LOOP(
                  "    %some = pipe_read i32 %p, %w\n    %was = load "
                  "i32 %o[0]\n    %one = zext i32 %some\n"
                  "    %now = add i32 %was, %one\n    store i32 %o[0], "
                  "%now\n") "kernel @drain(%n: i32) {\n  %p = global @a\n  %q = global @in\n  %w = var "
                            "i32\n" LOOP("    pipe_read_wait i32 %q, %w\n    pipe_read_wait i32 %p, "
                                         "%w\n") "kernel @ping(%n: i32) {\n  %p = global "
                                                 "@b\n  %q = global @c\n  %w = var "
                                                 "i32\n" LOOP("    pipe_read_wait i32 %p, "
                                                              "%w\n    pipe_write_wait i32 "
                                                              "%q, %w\n") "kernel @pong(%n: "
                                                                          "i32) {\n  %p = "
                                                                          "global @c\n  %q = "
                                                                          "global @b\n  %w = "
                                                                          "var i32\n" LOOP(
                                                                              " "
                                                                              " "
                                                                              " "
                                                                              " "
                                                                              "p"
                                                                              "i"
                                                                              "p"
                                                                              "e"
                                                                              "_"
                                                                              "r"
                                                                              "e"
                                                                              "a"
                                                                              "d"
                                                                              "_"
                                                                              "w"
                                                                              "a"
                                                                              "i"
                                                                              "t"
                                                                              " "
                                                                              "i"
                                                                              "3"
                                                                              "2"
                                                                              " "
                                                                              "%"
                                                                              "p"
                                                                              ","
                                                                              " "
                                                                              "%"
                                                                              "w"
                                                                              "\n    pipe_write_wait i32 %q, "
                                                                              "%w\n") "kernel @crash(%n: i32, "
                                                                                      "%o: "
                                                                                      "ptr.global i32) {\n  %p = "
                                                                                      "global @a\n" LOOP("    %at = "
                                                                                                         "elem i32 %o, "
                                                                                                         "%i\n    "
                                                                                                         "pipe_read_"
                                                                                                         "wait i32 %p, "
                                                                                                         "%at\n    "
                                                                                                         "%far = add "
                                                                                                         "i32 %i, "
                                                                                                         "1000000\n"
                                                                                                         "    %beyond "
                                                                                                         "= elem i32 "
                                                                                                         "%o, %far\n   "
                                                                                                         " store i32 "
                                                                                                         "%beyond, "
                                                                                                         "%i\n") "kerne"
                                                                                                                 "l "
                                                                                                                 "@add("
                                                                                                                 "%o: "
                                                                                                                 "ptr."
                                                                                                                 "globa"
                                                                                                                 "l "
                                                                                                                 "i32, "
                                                                                                                 "%k: "
                                                                                                                 "i32) "
                                                                                                                 "{\n  "
                                                                                                                 "%i = "
                                                                                                                 "globa"
                                                                                                                 "l_id "
                                                                                                                 "x\n  "
                                                                                                                 "%x = "
                                                                                                                 "load "
                                                                                                                 "i32 "
                                                                                                                 "%o[%"
                                                                                                                 "i]\n"
                                                                                                                 "  %y "
                                                                                                                 "= "
                                                                                                                 "add "
                                                                                                                 "i32 "
                                                                                                                 "%x, "
                                                                                                                 "%k\n "
                                                                                                                 " stor"
                                                                                                                 "e "
                                                                                                                 "i32 "
                                                                                                                 "%o[%"
                                                                                                                 "i], "
                                                                                                                 "%y\n}"
                                                                                                                 "\n";

static struct service service;
static fusion_session *session;

static int start_with(const char *const *options)
{
    service_start(&service, options);
    session = service_connect(&service);
    return 0;
}

static int start(void **state)
{
    (void)state;
    return start_with((const char *const[]){"--time-limit", "60000", NULL}); /* where a machine is busy */
}

static int start_short(void **state)
{
    (void)state;
    return start_with((const char *const[]){"--time-limit", "1000", NULL});
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
    int n = snprintf(text, sizeof text, format, capacity, capacity);
    memcpy(text + n, kernels, sizeof kernels);
    expect_ok(fusion_module_load(session, "parts.fk", text, (size_t)n + sizeof kernels - 1, &m));
    return m;
}

static fusion_exec *exec_over(fusion_module *m, const char *kernel, int items, const fusion_arg *args, uint32_t n_args)
{
    fusion_graph *g;
    fusion_exec *e;
    expect_ok(fusion_graph_create(session, &g));
    add_node(g, m, kernel, (uint64_t)items, args, n_args);
    expect_ok(fusion_graph_finalize(g, NULL, &e));
    fusion_graph_destroy(g);
    return e;
}

static fusion_exec *exec_of(fusion_module *m, const char *kernel, const fusion_arg *args, uint32_t n_args)
{
    return exec_over(m, kernel, 1, args, n_args);
}

static fusion_event submit(fusion_exec *e)
{
    fusion_event event;
    expect_ok(fusion_exec_submit(e, NULL, 0, &event));
    return event;
}

static fusion_event put(fusion_module *m, int n, int first)
{
    return submit(exec_of(m, "put", (fusion_arg[]){fusion_arg_i32(n), fusion_arg_i32(first)}, 2));
}

static fusion_event plus(fusion_module *m, int n)
{
    return submit(exec_of(m, "plus", (fusion_arg[]){fusion_arg_i32(n)}, 1));
}

static fusion_event take(fusion_module *m, const char *kernel, int n, fusion_buffer *o)
{
    return submit(exec_of(m, kernel, (fusion_arg[]){fusion_arg_i32(n), fusion_arg_write(o)}, 2));
}

static fusion_buffer *buffer(int n)
{
    return index_buffer(session, "o", n, 0, 0);
}

static void wait_for(fusion_event event)
{
    expect_ok(fusion_event_wait(session, event, 20000, NULL));
}

static void expect_numbers(fusion_buffer *o, int n, int first)
{
    void *memory;
    expect_ok(fusion_buffer_map(o, &memory));
    for (int i = 0; i < n; i++)
        if (((int *)memory)[i] != first + i) fail_msg("number %d is %d, not %d", i, ((int *)memory)[i], first + i);
}

/* ---- they meet ---- */

enum { N = 1000 };

static const int capacities[] = {1, 7, 2 * N};

static void test_producer_first(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        fusion_module *m = load(capacities[i]);
        fusion_buffer *o = buffer(N);
        fusion_event first = put(m, N, 5), second = take(m, "take", N, o);
        wait_for(second);
        wait_for(first);
        expect_numbers(o, N, 5);
    }
}

static void test_consumer_first(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        fusion_module *m = load(capacities[i]);
        fusion_buffer *o = buffer(N);
        fusion_event first = take(m, "take", N, o), second = put(m, N, 5);
        wait_for(second);
        wait_for(first);
        expect_numbers(o, N, 5);
    }
}

/* The same handles again and again: each pair comes after the one before. */
static void test_again(void **state)
{
    (void)state;
    fusion_module *m = load(3);
    fusion_buffer *o = buffer(N);
    fusion_exec *p = exec_of(m, "put", (fusion_arg[]){fusion_arg_i32(N), fusion_arg_i32(0)}, 2);
    fusion_exec *c = exec_of(m, "take", (fusion_arg[]){fusion_arg_i32(N), fusion_arg_write(o)}, 2);
    fusion_event last = 0;
    for (int i = 0; i < 40; i++) {
        submit(i % 3 ? p : c);
        last = submit(i % 3 ? c : p);
    }
    wait_for(last);
    expect_numbers(o, N, 0);
}

/* Two producers, and then two consumers: each pipe's end is for one after the other. */
static void test_two_and_two(void **state)
{
    (void)state;
    fusion_module *m = load(2);
    fusion_buffer *x = buffer(N), *y = buffer(N);
    put(m, N, 0);
    put(m, N, N);
    take(m, "take", N, x);
    wait_for(take(m, "take", N, y));
    expect_numbers(x, N, 0);
    expect_numbers(y, N, N);
}

/* All producers come before all consumers: so many are held back. */
static void test_many(void **state)
{
    (void)state;
    enum { MANY = 400 };
    fusion_module *m = load(1);
    fusion_buffer *o = buffer(4);
    fusion_exec *p = exec_of(m, "put", (fusion_arg[]){fusion_arg_i32(4), fusion_arg_i32(0)}, 2);
    fusion_exec *c = exec_of(m, "take", (fusion_arg[]){fusion_arg_i32(4), fusion_arg_write(o)}, 2);
    fusion_event last = 0;
    for (int i = 0; i < MANY; i++) submit(p);
    for (int i = 0; i < MANY; i++) last = submit(c);
    wait_for(last);
    expect_numbers(o, 4, 0);
}

static void test_chain(void **state)
{
    (void)state;
    static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {0, 2, 1}};
    for (unsigned i = 0; i < sizeof orders / sizeof *orders; i++) {
        fusion_module *m = load(1 + (int)i);
        fusion_buffer *o = buffer(N);
        fusion_event last = 0;
        for (int k = 0; k < 3; k++)
            last = orders[i][k] == 0 ? put(m, N, 0) : orders[i][k] == 1 ? plus(m, N) : take(m, "take_b", N, o);
        wait_for(last);
        expect_numbers(o, N, 1000);
    }
}

static fusion_event command(fusion_queue *q, fusion_module *m, const char *kernel, const fusion_arg *args)
{
    fusion_event event;
    const fusion_kernel_node node = {
        .module = m, .kernel = kernel, .dims = 1, .global = {1}, .n_args = 2, .args = args};
    expect_ok(fusion_queue_submit(q, &node, &event));
    return event;
}

/* Two queues, and one; also where commands are gathered. */
static void test_queues(void **state)
{
    (void)state;
    fusion_queue *q, *r;
    expect_ok(fusion_queue_create(session, &q));
    expect_ok(fusion_queue_create(session, &r));
    for (int i = 0; i < 4; i++) {
        fusion_module *m = load(3);
        fusion_buffer *o = buffer(N);
        if (i == 2) expect_ok(fusion_queue_set_window(q, &(fusion_window_options){.commands = 16}));
        command(q, m, "put", (fusion_arg[]){fusion_arg_i32(N), fusion_arg_i32(3)});
        usleep(10000);
        command(i % 2 ? q : r, m, "take", (fusion_arg[]){fusion_arg_i32(N), fusion_arg_write(o)});
        expect_ok(fusion_queue_wait(i % 2 ? q : r));
        expect_ok(fusion_queue_wait(q));
        expect_numbers(o, N, 3);
    }
}

/* ---- what has nothing to do with pipes stays in order ---- */

static fusion_exec *adder(fusion_module *m, fusion_buffer *o, int items, int k)
{
    return exec_over(m, "add", items, (fusion_arg[]){fusion_arg_read_write(o), fusion_arg_i32(k)}, 2);
}

static fusion_event add(fusion_module *m, fusion_buffer *o, int items, int k)
{
    return submit(adder(m, o, items, k));
}

/* Before the producer has read what it puts, what writes there does not run, nor what reads what the consumer writes
 * before that has. */
static void test_shared_memory(void **state)
{
    (void)state;
    fusion_module *m = load(1);
    fusion_buffer *x = index_buffer(session, "x", N, 1, 0), *o = buffer(N);
    for (int round = 0; round < 5; round++) {
        add(m, x, N, 1);
        submit(exec_of(m, "put_of", (fusion_arg[]){fusion_arg_i32(N), fusion_arg_read(x)}, 2));
        add(m, x, N, 1);
        take(m, "take", N, o);
        wait_for(add(m, o, N, 100));
        void *memory;
        expect_ok(fusion_buffer_map(o, &memory));
        for (int i = 0; i < N; i++) assert_int_equal(((int *)memory)[i], i + 2 * round + 1 + 100);
    }
}

/* What is between two that meet runs meanwhile, and its event is as in order. */
static void test_between(void **state)
{
    (void)state;
    fusion_module *m = load(1);
    fusion_buffer *x = index_buffer(session, "x", 16, 1, 0), *o = buffer(N);
    fusion_exec *more = adder(m, x, 16, 1);
    put(m, N, 0);
    for (int i = 0; i < 100; i++) submit(more);
    wait_for(take(m, "take", N, o));
    expect_numbers(o, N, 0);
    expect_numbers(x, 1, 100);
}

/* Who looks without waiting how far others are comes after those before, but where these wait for him. */
static void test_polls(void **state)
{
    (void)state;
    void *memory;
    for (int i = 0; i < 20; i++) {
        fusion_module *m = load(N);
        fusion_buffer *o = buffer(1);
        put(m, N, 0);
        wait_for(take(m, "poll", N, o));
        expect_ok(fusion_buffer_map(o, &memory));
        assert_int_equal(*(int *)memory, N);
        fusion_module_destroy(m);
    }
    fusion_module *m = load(10);
    fusion_buffer *o = buffer(1);
    fusion_event first = put(m, 11, 0);
    wait_for(take(m, "poll", 10, o));
    wait_for(first);
    expect_ok(fusion_buffer_map(o, &memory));
    assert_int_equal(*(int *)memory, 10);
}

/* ---- events ---- */

static fusion_pipe *host_end(fusion_module *m)
{
    fusion_pipe *in;
    expect_ok(fusion_pipe_open(m, "in", NULL, &in));
    return in;
}

/* What comes later is complete, and its memory is the program's, while an earlier one waits for the program. */
static void test_events(void **state)
{
    (void)state;
    int packet = 77;
    fusion_queue *q, *r;
    fusion_module *m = load(4);
    fusion_buffer *x = index_buffer(session, "x", 16, 1, 0), *o = buffer(1), *y = buffer(N);
    fusion_pipe *in = host_end(m);
    expect_ok(fusion_queue_create(session, &q));
    expect_ok(fusion_queue_create(session, &r));
    fusion_event first = command(q, m, "take_in", (fusion_arg[]){fusion_arg_i32(1), fusion_arg_write(o)});
    fusion_exec *more = adder(m, x, 16, 1);
    for (int i = 0; i < 50; i++) wait_for(submit(more));
    expect_numbers(x, 16, 50);
    put(m, N, 0);
    command(r, m, "take", (fusion_arg[]){fusion_arg_i32(N), fusion_arg_write(y)});
    expect_ok(fusion_queue_wait(r));
    expect_numbers(y, N, 0);
    fusion_event last = command(q, m, "add", (fusion_arg[]){fusion_arg_read_write(x), fusion_arg_i32(1)});
    wait_for(last);
    assert_int_equal(fusion_event_poll(session, last), FUSION_SUCCESS);
    assert_int_equal(fusion_event_poll(session, first), FUSION_BUSY);
    fusion_buffer_destroy(x);
    expect_ok(fusion_pipe_write(in, &packet, 1, 1000, NULL));
    expect_ok(fusion_queue_wait(q)); /* for all of it */
    assert_int_equal(fusion_event_poll(session, first), FUSION_SUCCESS);
    expect_numbers(o, 1, 77);
}

static void *feed_later(void *in)
{
    int packets[N] = {0};
    usleep(100000);
    expect_ok(fusion_pipe_write(in, packets, N, 10000, NULL));
    return NULL;
}

/* Memory that several read is free when all of them have: the one that is submitted last ends first. */
static void test_readers(void **state)
{
    (void)state;
    void *memory;
    pthread_t thread;
    fusion_module *m = load(1);
    fusion_buffer *x = index_buffer(session, "x", N, 1, 0), *copy = buffer(N);
    fusion_graph *g;
    fusion_exec *e;
    expect_ok(fusion_graph_create(session, &g));
    expect_ok(fusion_graph_add_copy(g, NULL, (fusion_memory){.buffer = x}, (fusion_memory){.buffer = copy}, 4 * N, NULL,
                                    0, NULL));
    expect_ok(fusion_graph_finalize(g, NULL, &e));
    fusion_event first = submit(exec_of(m, "put_of", (fusion_arg[]){fusion_arg_i32(N), fusion_arg_read(x)}, 2));
    for (int i = 0; i < 12; i++) wait_for(submit(e));
    assert_int_equal(fusion_event_poll(session, first), FUSION_BUSY);
    assert_int_equal(pthread_create(&thread, NULL, feed_later, host_end(m)), 0);
    submit(exec_of(m, "drain", (fusion_arg[]){fusion_arg_i32(N)}, 1));
    expect_ok(fusion_buffer_map(x, &memory));
    assert_int_equal(fusion_event_poll(session, first), FUSION_SUCCESS);
    pthread_join(thread, NULL);
}

/* A command that moves packets waits for what it depends on, not for kernels that wait for it. */
static void test_pipe_depends(void **state)
{
    (void)state;
    int packet = 9;
    fusion_queue *q;
    fusion_module *m = load(4);
    fusion_buffer *x = index_buffer(session, "x", 16, 1, 0), *o = buffer(1);
    expect_ok(fusion_queue_create(session, &q));
    fusion_event first = take(m, "take_in", 1, o), before = add(m, x, 16, 1);
    expect_ok(fusion_queue_depends_on(q, &before, 1));
    expect_ok(fusion_queue_pipe(q, host_end(m), &packet, 1, 5000, NULL));
    assert_int_equal(fusion_event_poll(session, before), FUSION_SUCCESS);
    wait_for(first);
    expect_numbers(o, 1, 9);
}

struct moving {
    fusion_queue *queue;
    fusion_pipe *pipe;
    fusion_status status;
};

static void *move(void *data)
{
    struct moving *m = data;
    int packets[100] = {0};
    m->status = fusion_queue_pipe(m->queue, m->pipe, packets, 100, 20000, NULL);
    return NULL;
}

/* While a command moves packets another thread submits the kernel that takes them. */
static void test_pipe_thread(void **state)
{
    (void)state;
    pthread_t thread;
    fusion_module *m = load(4);
    fusion_buffer *o = buffer(100);
    fusion_exec *taker = exec_of(m, "take_in", (fusion_arg[]){fusion_arg_i32(100), fusion_arg_write(o)}, 2);
    struct moving moving = {.pipe = host_end(m)};
    expect_ok(fusion_queue_create(session, &moving.queue));
    assert_int_equal(pthread_create(&thread, NULL, move, &moving), 0);
    usleep(200000);
    wait_for(submit(taker));
    pthread_join(thread, NULL);
    assert_int_equal(moving.status, FUSION_SUCCESS);
}

/* Who is told to come after another one does, though nothing else says so. */
static void test_dependencies(void **state)
{
    (void)state;
    int packet = 5;
    fusion_queue *q;
    fusion_module *m = load(4);
    fusion_buffer *x = index_buffer(session, "x", 16, 1, 0), *o = buffer(1);
    fusion_pipe *in = host_end(m);
    expect_ok(fusion_queue_create(session, &q));
    fusion_event first = take(m, "take_in", 1, o);
    expect_ok(fusion_queue_depends_on(q, &first, 1));
    fusion_event second = command(q, m, "add", (fusion_arg[]){fusion_arg_read_write(x), fusion_arg_i32(1)});
    fusion_event third = command(q, m, "put", (fusion_arg[]){fusion_arg_i32(1), fusion_arg_i32(1)});
    wait_for(third);
    usleep(50000);
    assert_int_equal(fusion_event_poll(session, second), FUSION_BUSY);
    expect_ok(fusion_pipe_write(in, &packet, 1, 1000, NULL));
    wait_for(second);
    wait_for(first);
    expect_numbers(o, 1, 5);
}

/* ---- who waits for good ---- */

static void test_circle(void **state)
{
    (void)state;
    fusion_module *m = load(4);
    fusion_event first = submit(exec_of(m, "ping", (fusion_arg[]){fusion_arg_i32(3)}, 1));
    fusion_event second = submit(exec_of(m, "pong", (fusion_arg[]){fusion_arg_i32(3)}, 1));
    fusion_event events[] = {first, second};
    for (int i = 0; i < 2; i++) {
        expect_error(fusion_event_wait(session, events[i], 20000, NULL), FUSION_INVALID);
        expect_in_reason("kernel ping, line ");
        expect_in_reason("waits for a packet of pipe @b, which is empty");
        expect_in_reason("kernel pong, line ");
        expect_in_reason("pipe @c, which is empty");
    }
}

/* Nobody came: the time limit says what was waited for. */
static void test_nobody_came(void **state)
{
    (void)state;
    fusion_module *m = load(4);
    fusion_buffer *o = buffer(2);
    fusion_event done = add(m, o, 2, 7);
    wait_for(done);
    expect_error(fusion_event_wait(session, put(m, 5, 0), 20000, NULL), FUSION_TIMEOUT);
    expect_in_reason("time limit of 1000 ms");
    expect_in_reason("kernel put, line ");
    expect_in_reason("waits for room in pipe @a, which is full");
    expect_ok(fusion_event_wait(session, done, 0, NULL));
}

/* One runs into its limit: another one that was told to be complete stays so, and the one that has not ended is told
 * why. */
static void test_limit_of_one(void **state)
{
    (void)state;
    fusion_module *m = load(4);
    fusion_buffer *o = buffer(N), *p = buffer(1);
    fusion_event first = put(m, 2, 0), second = take(m, "take", 2, o);
    wait_for(second);
    fusion_exec *none = exec_of(m, "take_b", (fusion_arg[]){fusion_arg_i32(1), fusion_arg_write(p)}, 2);
    fusion_exec *host = exec_of(m, "take_in", (fusion_arg[]){fusion_arg_i32(4), fusion_arg_write(o)}, 2);
    fusion_event third = submit(none), fourth = submit(host);
    expect_error(fusion_event_wait(session, third, 20000, NULL), FUSION_TIMEOUT);
    expect_in_reason("kernel take_b");
    expect_error(fusion_event_wait(session, fourth, 20000, NULL), FUSION_EXECUTOR);
    wait_for(first);
    wait_for(second);
    wait_for(add(m, o, N, 1));
}

/* ---- the executor ends ---- */

static void test_fault(void **state)
{
    (void)state;
    fusion_module *m = load(1);
    fusion_buffer *o = buffer(16);
    fusion_event first = put(m, N, 0);
    fusion_event second = submit(exec_of(m, "crash", (fusion_arg[]){fusion_arg_i32(8), fusion_arg_read_write(o)}, 2));
    expect_error(fusion_event_wait(session, second, 20000, NULL), FUSION_KERNEL_FAULT);
    assert_non_null(strstr(fusion_last_error()->object, "kernel crash"));
    expect_error(fusion_event_wait(session, first, 20000, NULL), FUSION_EXECUTOR);
    fusion_event again = put(m, 3, 9);
    wait_for(take(m, "take", 3, o));
    wait_for(again);
    expect_numbers(o, 3, 9);
}

static void test_killed(void **state)
{
    (void)state;
    fusion_module *m = load(1);
    fusion_buffer *o = buffer(N);
    wait_for(add(m, o, N, 0));
    fusion_event first = put(m, N, 0), second = take(m, "take_in", 4, o);
    usleep(100000);
    pid_t executors[4];
    int n = service_executors(&service, false, executors, 4);
    kill(executors[n - 1], SIGKILL);
    expect_error(fusion_event_wait(session, first, 20000, NULL), FUSION_EXECUTOR);
    expect_error(fusion_event_wait(session, second, 20000, NULL), FUSION_EXECUTOR);
    first = put(m, N, 1);
    second = take(m, "take", N, o);
    wait_for(second);
    wait_for(first);
    expect_numbers(o, N, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_producer_first, start, stop),
        cmocka_unit_test_setup_teardown(test_consumer_first, start, stop),
        cmocka_unit_test_setup_teardown(test_again, start, stop),
        cmocka_unit_test_setup_teardown(test_two_and_two, start, stop),
        cmocka_unit_test_setup_teardown(test_many, start, stop),
        cmocka_unit_test_setup_teardown(test_chain, start, stop),
        cmocka_unit_test_setup_teardown(test_queues, start, stop),
        cmocka_unit_test_setup_teardown(test_shared_memory, start, stop),
        cmocka_unit_test_setup_teardown(test_between, start, stop),
        cmocka_unit_test_setup_teardown(test_polls, start, stop),
        cmocka_unit_test_setup_teardown(test_events, start, stop),
        cmocka_unit_test_setup_teardown(test_readers, start, stop),
        cmocka_unit_test_setup_teardown(test_pipe_depends, start, stop),
        cmocka_unit_test_setup_teardown(test_pipe_thread, start, stop),
        cmocka_unit_test_setup_teardown(test_dependencies, start, stop),
        cmocka_unit_test_setup_teardown(test_circle, start, stop),
        cmocka_unit_test_setup_teardown(test_nobody_came, start_short, stop),
        cmocka_unit_test_setup_teardown(test_limit_of_one, start_short, stop),
        cmocka_unit_test_setup_teardown(test_fault, start, stop),
        cmocka_unit_test_setup_teardown(test_killed, start, stop),
    };
    return cmocka_run_group_tests_name("pipe_submissions", tests, NULL, NULL);
}
