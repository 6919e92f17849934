/* Windows: what a queue is given comes out as without them, whatever is gathered and fused. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <fusiond/window.h>

#include "tests/support/rng.h"
#include "tests/support/service.h"

enum { SIZE = 64, BUFFERS = 5 };

static struct service service;

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    service_clear(&service);
    return 0;
}

struct world {
    fusion_session *session;
    fusion_module *module;
    fusion_queue *queue;
    fusion_buffer *buffers[BUFFERS];
};

/* commands 0: nothing is gathered. Windows end by number or by who waits, unless a test says otherwise. */
static void open_world(struct world *w, uint32_t commands)
{
    w->session = service_connect(&service);
    w->module = load_test_kernels(w->session);
    expect_ok(fusion_queue_create(w->session, &w->queue));
    for (int i = 0; i < BUFFERS; i++) {
        char name[8];
        snprintf(name, sizeof name, "b%d", i);
        w->buffers[i] = index_buffer(w->session, name, SIZE, i + 1, 0);
    }
    fusion_window_options options = {.commands = commands, .microseconds = 10000000};
    expect_ok(fusion_queue_set_window(w->queue, &options));
}

static void close_world(struct world *w)
{
    fusion_queue_destroy(w->queue);
    fusion_disconnect(w->session);
}

static fusion_event scale(struct world *w, int from, int to, int by)
{
    fusion_arg args[] = {fusion_arg_read(w->buffers[from]), fusion_arg_write(w->buffers[to]), fusion_arg_i32(by)};
    fusion_kernel_node node = {
        .module = w->module, .kernel = "scale", .dims = 1, .global = {SIZE}, .args = args, .n_args = 3};
    fusion_event event;
    expect_ok(fusion_queue_submit(w->queue, &node, &event));
    return event;
}

static fusion_event add(struct world *w, int a, int b, int to)
{
    fusion_arg args[] = {fusion_arg_read(w->buffers[a]), fusion_arg_read(w->buffers[b]),
                         fusion_arg_write(w->buffers[to])};
    fusion_kernel_node node = {
        .module = w->module, .kernel = "add", .dims = 1, .global = {SIZE}, .args = args, .n_args = 3};
    fusion_event event;
    expect_ok(fusion_queue_submit(w->queue, &node, &event));
    return event;
}

static int at(struct world *w, int buffer, int i)
{
    const void *memory;
    expect_ok(fusion_buffer_map_read(w->buffers[buffer], &memory));
    int value = ((const int *)memory)[i];
    fusion_buffer_unmap(w->buffers[buffer]);
    return value;
}

static fusion_window_counters counters(struct world *w)
{
    fusion_window_counters c = {FUSION_SIZED(fusion_window_counters)};
    fusion_session_windows(w->session, &c);
    return c;
}

/* ---- what becomes of windows ---- */

static void fused_when_it_comes_again(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 16);
    for (int round = 0; round < 5; round++) {
        scale(&w, 0, 1, round + 2);
        scale(&w, 1, 2, 3);
        add(&w, 1, 2, 3);
        expect_ok(fusion_queue_wait(w.queue));
        assert_int_equal(at(&w, 3, 5), 5 * (round + 2) * 4);
    }
    fusion_window_counters c = counters(&w);
    assert_int_equal(c.commands, 15);
    assert_int_equal(c.windows, 5);
    assert_int_equal(c.fused, 4);
    assert_int_equal(c.shapes, 1);
    assert_int_equal(service_counter(w.session, "fused"), 4);
    close_world(&w);
}

/* Other buffers in the same places are the same shape, the same buffer in two places is another. */
static void other_buffers(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 16);
    for (int round = 0; round < 4; round++) {
        int to = 2 + round % 2;
        scale(&w, 0, 1, 2);
        add(&w, 0, 1, to);
        expect_ok(fusion_queue_wait(w.queue));
        assert_int_equal(at(&w, to, 7), 21);
    }
    assert_int_equal(counters(&w).fused, 3);
    for (int round = 0; round < 3; round++) {
        scale(&w, 0, 1, 2);
        add(&w, 0, 1, 1);
        expect_ok(fusion_queue_wait(w.queue));
        assert_int_equal(at(&w, 1, 7), 21);
    }
    assert_int_equal(counters(&w).fused, 5);
    assert_int_equal(counters(&w).shapes, 2);
    close_world(&w);
}

/* Each event can be waited for by itself, also one whose command is still held back. */
static void events(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 16);
    fusion_event last = 0;
    for (int round = 0; round < 3; round++) {
        fusion_event a = scale(&w, 0, 1, 2), b = scale(&w, 1, 2, 2), c = scale(&w, 2, 3, 2);
        assert_true(last < a && a < b && b < c);
        expect_ok(fusion_event_wait(w.session, a, -1, NULL));
        expect_ok(fusion_event_wait(w.session, c, -1, NULL));
        expect_ok(fusion_event_wait(w.session, b, 0, NULL));
        expect_ok(fusion_event_poll(w.session, a));
        expect_error(fusion_event_poll(w.session, c + 1), FUSION_INVALID);
        last = c;
    }
    assert_int_equal(at(&w, 3, 1), 8);
    close_world(&w);
}

/* By number, by time, by a flush. */
static void ends_of_windows(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 3);
    for (int i = 0; i < 6; i++) scale(&w, 0, 1, 2);
    assert_int_equal(counters(&w).windows, 2);
    scale(&w, 0, 1, 5);
    expect_ok(fusion_queue_flush(w.queue));
    assert_int_equal(counters(&w).windows, 3);
    expect_ok(fusion_queue_set_window(w.queue, &(fusion_window_options){.commands = 100, .microseconds = 2000}));
    fusion_event event = scale(&w, 0, 1, 7);
    for (int i = 0; i < 5000 && counters(&w).windows < 4; i++) usleep(1000);
    assert_int_equal(counters(&w).windows, 4);
    expect_ok(fusion_event_wait(w.session, event, -1, NULL));
    assert_int_equal(at(&w, 1, 1), 7);
    expect_error(fusion_queue_set_window(w.queue, &(fusion_window_options){.commands = 1}), FUSION_INVALID);
    expect_ok(fusion_queue_set_window(w.queue, &(fusion_window_options){0}));
    scale(&w, 0, 1, 9);
    assert_int_equal(counters(&w).commands, 8);
    close_world(&w);
}

/* ---- order ---- */

static void note(void *data)
{
    struct world *w = data;
    const void *memory;
    expect_ok(fusion_buffer_map_read(w->buffers[1], &memory));
    assert_int_equal(((const int *)memory)[3], 6);
}

/* What is held back comes before all that is given to be run later: host tasks, copies to this process, other queues,
   executables. */
static void order_with_others(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 16);
    fusion_queue *other;
    fusion_graph *graph;
    fusion_exec *exec;
    int here[SIZE];
    expect_ok(fusion_queue_create(w.session, &other));
    expect_ok(fusion_graph_create(w.session, &graph));
    fusion_arg args[] = {fusion_arg_read(w.buffers[1]), fusion_arg_write(w.buffers[2]), fusion_arg_i32(10)};
    add_node(graph, w.module, "scale", SIZE, args, 3);
    expect_ok(fusion_graph_finalize(graph, NULL, &exec));
    for (int round = 0; round < 3; round++) {
        scale(&w, 0, 1, 2);
        expect_ok(fusion_queue_host_task(w.queue, NULL, 0, note, &w, NULL));
        scale(&w, 0, 1, 3);
        expect_ok(fusion_queue_copy(w.queue, (fusion_memory){.buffer = w.buffers[1]}, (fusion_memory){.host = here},
                                    sizeof here, NULL));
        expect_ok(fusion_queue_wait(w.queue));
        assert_int_equal(here[3], 9);
        scale(&w, 0, 1, 4);
        expect_ok(fusion_exec_submit(exec, NULL, 0, NULL));
        scale(&w, 0, 1, 5);
        expect_ok(fusion_queue_fill(other, (fusion_memory){.buffer = w.buffers[1]}, 4, "\1\1\1\1", 4, NULL));
        expect_ok(fusion_queue_wait(other));
        assert_int_equal(at(&w, 2, 3), 120);
        assert_int_equal(at(&w, 1, 0), 0x1010101);
        assert_int_equal(at(&w, 1, 3), 15);
    }
    fusion_queue_destroy(other);
    fusion_exec_destroy(exec);
    close_world(&w);
}

/* What is destroyed was used before. */
static void destroyed(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 16);
    for (int round = 0; round < 3; round++) {
        fusion_buffer *given = w.buffers[4], *t = w.buffers[4] = index_buffer(w.session, NULL, SIZE, 0, 0);
        scale(&w, 0, 4, 2);
        scale(&w, 4, 1, 2);
        fusion_buffer_destroy(t);
        w.buffers[4] = given;
        assert_int_equal(at(&w, 1, 3), 12);
    }
    scale(&w, 0, 1, 7);
    fusion_module_destroy(w.module);
    assert_int_equal(at(&w, 1, 3), 21);
    w.module = load_test_kernels(w.session);
    scale(&w, 0, 1, 8);
    fusion_queue_destroy(w.queue);
    assert_int_equal(at(&w, 1, 3), 24);
    fusion_disconnect(w.session);
}

/* ---- errors ---- */

static fusion_status beyond(struct world *w, int64_t by, fusion_event *event)
{
    fusion_arg args[] = {fusion_arg_write(w->buffers[2]), fusion_arg_i64(by)};
    fusion_kernel_node node = {
        .module = w->module, .kernel = "write_beyond", .dims = 1, .global = {SIZE}, .args = args, .n_args = 2};
    return fusion_queue_submit(w->queue, &node, event);
}

/* Of calls: whoever gives the command learns it, and the others run. */
static void errors_of_calls(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 16);
    for (int round = 0; round < 3; round++) {
        scale(&w, 0, 1, 2);
        fusion_kernel_node none = {.module = w.module, .kernel = "nothing", .dims = 1, .global = {SIZE}};
        expect_error(fusion_queue_submit(w.queue, &none, NULL), FUSION_NOT_FOUND);
        fusion_arg args[] = {fusion_arg_read(w.buffers[0])};
        fusion_kernel_node few = {
            .module = w.module, .kernel = "scale", .dims = 1, .global = {SIZE}, .args = args, .n_args = 1};
        expect_error(fusion_queue_submit(w.queue, &few, NULL), FUSION_INVALID);
        scale(&w, 1, 3, 2);
        expect_ok(fusion_queue_wait(w.queue));
        assert_int_equal(at(&w, 3, 2), 8);
    }
    assert_int_equal(counters(&w).fused, 2);
    close_world(&w);
}

/* While commands run: the faulting one's event says so, and what comes later runs. */
static void errors_in_the_middle(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, 16);
    for (int round = 0; round < 4; round++) {
        fusion_event wrong, first = scale(&w, 0, 1, 2);
        expect_ok(beyond(&w, round < 3 ? 0 : INT64_C(1) << 40, &wrong));
        fusion_event last = scale(&w, 0, 3, round + 3);
        fusion_status status = fusion_event_wait(w.session, wrong, -1, NULL);
        assert_true((status == FUSION_SUCCESS) == (round < 3));
        if (round == 3) { /* the window was fused: all of it failed */
            assert_int_equal(fusion_event_wait(w.session, first, -1, NULL), status);
            assert_int_equal(fusion_event_wait(w.session, last, -1, NULL), status);
        }
        expect_ok(fusion_event_wait(w.session, scale(&w, 0, 3, round + 3), -1, NULL));
        assert_int_equal(at(&w, 3, 2), 2 * (round + 3));
    }
    close_world(&w);
}

/* ---- threads ---- */

struct worker {
    struct world *world;
    fusion_queue *queue;
    int buffer;
};

static void *work(void *data)
{
    struct worker *t = data;
    struct world own = *t->world;
    own.queue = t->queue;
    for (int round = 0; round < 40; round++) {
        scale(&own, 0, t->buffer, 2);
        scale(&own, t->buffer, t->buffer + 1, 3);
        fusion_event event = add(&own, t->buffer, t->buffer + 1, t->buffer);
        expect_ok(fusion_event_wait(own.session, event, -1, NULL));
        assert_int_equal(at(&own, t->buffer, 3), 24);
    }
    return NULL;
}

static void two_threads(void **state)
{
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        struct world w;
        open_world(&w, 16);
        fusion_queue *other;
        expect_ok(fusion_queue_create(w.session, &other));
        expect_ok(fusion_queue_set_window(other, &(fusion_window_options){.commands = 8, .microseconds = 100}));
        struct worker workers[2] = {{&w, w.queue, 1}, {&w, shared ? w.queue : other, 3}};
        pthread_t threads[2];
        for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, &workers[i]);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
        fusion_queue_destroy(other);
        close_world(&w);
    }
}

/* ---- random programs ---- */

/* Some commands, the same for the same seed, waited for now and then; rounds differ in scalars and, rarely, buffers. */
static uint64_t run_program(uint64_t seed, uint32_t window, int results[BUFFERS][SIZE])
{
    struct world w;
    struct rng rng = {seed};
    open_world(&w, window);
    uint32_t n = 2 + rng_below(&rng, 6), kinds[8], buffers[8][3];
    for (uint32_t i = 0; i < n; i++) {
        kinds[i] = rng_below(&rng, 4);
        for (int k = 0; k < 3; k++) buffers[i][k] = rng_below(&rng, BUFFERS);
    }
    for (int round = 0; round < 6; round++) {
        uint32_t turn = rng_chance(&rng, 30) ? 1 : 0;
        for (uint32_t i = 0; i < n; i++) {
            int a = (buffers[i][0] + turn) % BUFFERS, b = (buffers[i][1] + turn) % BUFFERS;
            fusion_memory from = {.buffer = w.buffers[a]}, to = {.buffer = w.buffers[b]};
            uint32_t number = rng_below(&rng, 100);
            if (kinds[i] == 0) scale(&w, a, b, (int)number);
            if (kinds[i] == 1) add(&w, a, (int)buffers[i][2], b);
            if (kinds[i] == 2 && a != b) expect_ok(fusion_queue_copy(w.queue, from, to, SIZE * 4, NULL));
            if (kinds[i] == 3) expect_ok(fusion_queue_fill(w.queue, to, SIZE * 4, &number, 4, NULL));
        }
        if (rng_chance(&rng, 70)) expect_ok(fusion_queue_wait(w.queue));
    }
    for (int i = 0; i < BUFFERS; i++)
        for (int k = 0; k < SIZE; k++) results[i][k] = at(&w, i, k);
    uint64_t fused = counters(&w).fused;
    close_world(&w);
    return fused;
}

static void random_programs(void **state)
{
    (void)state;
    uint64_t fused = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        int with[BUFFERS][SIZE], without[BUFFERS][SIZE];
        run_program(seed, 0, without);
        fused += run_program(seed, 2 + (uint32_t)(seed * 3 % 14), with);
        if (memcmp(with, without, sizeof with) != 0) fail_msg("seed %d", (int)seed);
    }
    assert_true(fused > 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fused_when_it_comes_again),
        cmocka_unit_test(other_buffers),
        cmocka_unit_test(events),
        cmocka_unit_test(ends_of_windows),
        cmocka_unit_test(order_with_others),
        cmocka_unit_test(destroyed),
        cmocka_unit_test(errors_of_calls),
        cmocka_unit_test(errors_in_the_middle),
        cmocka_unit_test(two_threads),
        cmocka_unit_test(random_programs),
    };
    return cmocka_run_group_tests_name("windows", tests, start, stop);
}
