/* Priorities and time limits of submissions. They wait at a gate that the test opens, so nothing here depends on how
   long anything takes; the time limits of sessions are such that only what is under test ends anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <fusiond/profile.h>
#include <fusiond/window.h>

#include "tests/support/service.h"

enum { SIZE = 64, HOUR_MS = 3600000, LIMIT_MS = 100, BUFFERS = 5, RANDOM = 400 };

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

static const char kernels[] =
    "kernel @gate(%g: ptr.global i32 read, %o: ptr.global i32 write) {\n  %i = global_id x\n"
    "  store i32 %o[%i], 1, volatile\n  loop (%n: i32 = 0) {\n    %v = load i32 %g[0], volatile\n"
    "    %c = ine i32 %v, 0\n    if %c { break }\n    %m = add i32 %n, 1\n    continue %m\n  }\n  return\n}\n"
    "kernel @mark(%o: ptr.global i32 write, %by: i32) {\n  %i = global_id x\n  store i32 %o[%i], %by\n  return\n}\n"
    "kernel @mix(%a: ptr.global i32 read, %o: ptr.global i32 read_write) {\n  %i = global_id x\n  %x = load i32 "
    "%a[%i]\n"
    "  %y = load i32 %o[%i]\n  %z = mul i32 %y, 3\n  %r = add i32 %z, %x\n  store i32 %o[%i], %r\n  return\n}\n";

struct client {
    fusion_session *session;
    fusion_module *module;
    fusion_buffer *gate, *begun;
    volatile int *open, *seen;
    fusion_exec *gated;
};

static fusion_exec *finalize(const struct client *c, const char *kernel, const fusion_arg *args, uint64_t time_limit_ms)
{
    fusion_graph *graph;
    fusion_exec *exec;
    const fusion_finalize_options options = {FUSION_SIZED(fusion_finalize_options), .tier = FUSION_TIER_COMPILED,
                                             .time_limit_ms = time_limit_ms};
    expect_ok(fusion_graph_create(c->session, &graph));
    add_node(graph, c->module, kernel, SIZE, args, 2);
    expect_ok(fusion_graph_finalize(graph, &options, &exec));
    fusion_graph_destroy(graph);
    return exec;
}

static fusion_exec *marker(const struct client *c, fusion_buffer *b, int mark)
{
    return finalize(c, "mark", (fusion_arg[]){fusion_arg_write(b), fusion_arg_i32(mark)}, 0);
}

static fusion_exec *mixer(const struct client *c, fusion_buffer *a, fusion_buffer *o)
{
    return finalize(c, "mix", (fusion_arg[]){fusion_arg_read(a), fusion_arg_read_write(o)}, 0);
}

static fusion_exec *gated(const struct client *c, uint64_t time_limit_ms)
{
    return finalize(c, "gate", (fusion_arg[]){fusion_arg_read(c->gate), fusion_arg_write(c->begun)}, time_limit_ms);
}

static struct client open_client(uint32_t time_limit_ms)
{
    struct client c;
    const fusion_connect_options options = {FUSION_SIZED(fusion_connect_options), .time_limit_ms = time_limit_ms};
    expect_ok(fusion_connect(service.socket, &options, &c.session));
    expect_ok(fusion_session_set_profiling(c.session, true));
    expect_ok(fusion_module_load(c.session, "kernels.fk", kernels, sizeof kernels - 1, &c.module));
    c.gate = index_buffer(c.session, "gate", 1, 0, 0);
    c.begun = index_buffer(c.session, "begun", SIZE, 0, 0);
    expect_ok(fusion_buffer_map(c.gate, (void **)&c.open));
    expect_ok(fusion_buffer_map(c.begun, (void **)&c.seen));
    c.gated = gated(&c, 0);
    return c;
}

static fusion_event submit(fusion_exec *exec, int64_t priority)
{
    fusion_event event;
    const fusion_submit_options options = {FUSION_SIZED(fusion_submit_options), .priority = priority};
    expect_ok(fusion_exec_submit_with(exec, NULL, 0, &options, &event));
    return event;
}

/* What comes behind it waits, and nothing of that has begun. */
static fusion_event shut_gate(const struct client *c)
{
    *c->open = *c->seen = 0;
    fusion_event event = submit(c->gated, 0);
    while (!*c->seen) usleep(1000);
    return event;
}

/* They ran in the order in which they are here. */
static void expect_order(const struct client *c, const fusion_event *events, int n)
{
    uint64_t before = 0;
    for (int i = 0; i < n; i++) {
        fusion_event_times t = {FUSION_SIZED(fusion_event_times)};
        expect_ok(fusion_event_wait(c->session, events[i], -1, NULL));
        expect_ok(fusion_event_times_get(c->session, events[i], &t));
        assert_true(t.started_ns > before);
        before = t.started_ns;
    }
}

static int value_of(fusion_buffer *b)
{
    const void *memory;
    expect_ok(fusion_buffer_map_read(b, &memory));
    int value = ((const int *)memory)[SIZE - 1];
    fusion_buffer_unmap(b);
    return value;
}

/* ---- priorities ---- */

static void highest_is_first(void **state)
{
    (void)state;
    struct client c = open_client(HOUR_MS);
    static const int64_t priorities[] = {0, 5, INT32_MIN, 5, INT32_MAX, -3};
    fusion_buffer *b[6];
    fusion_exec *exec[6];
    fusion_event e[6], gate;
    for (int i = 0; i < 6; i++) {
        b[i] = index_buffer(c.session, NULL, SIZE, 0, 0);
        exec[i] = marker(&c, b[i], i + 10);
    }
    gate = shut_gate(&c);
    for (int i = 0; i < 6; i++) e[i] = submit(exec[i], priorities[i]);
    *c.open = 1;
    expect_order(&c, (fusion_event[]){gate, e[4], e[1], e[3], e[0], e[5], e[2]}, 7);
    for (int i = 0; i < 6; i++) assert_int_equal(value_of(b[i]), i + 10);
    fusion_disconnect(c.session);
}

/* What a submission waits for is as urgent as it is. */
static void what_it_waits_for_comes_before_it(void **state)
{
    (void)state;
    struct client c = open_client(HOUR_MS);
    fusion_buffer *x = index_buffer(c.session, "x", SIZE, 0, 0), *y = index_buffer(c.session, "y", SIZE, 0, 0);
    fusion_buffer *other = index_buffer(c.session, "other", SIZE, 0, 0);
    fusion_exec *write_x = marker(&c, x, 7), *read_x = mixer(&c, x, y), *write_other = marker(&c, other, 8);
    fusion_event gate = shut_gate(&c), low = submit(write_x, -5), mid = submit(write_other, 3);
    fusion_event high = submit(read_x, 5), again = submit(write_x, 100); /* behind who reads it */
    *c.open = 1;
    expect_order(&c, (fusion_event[]){gate, low, high, again, mid}, 5);
    assert_int_equal(value_of(y), 7);
    fusion_disconnect(c.session);
}

static void runs_of_a_handle_stay_in_order(void **state)
{
    (void)state;
    struct client c = open_client(HOUR_MS);
    fusion_buffer *x = index_buffer(c.session, "x", SIZE, 0, 0);
    fusion_exec *mark = marker(&c, x, 1);
    const int value = 2;
    const fusion_rebind second = {.arg = 1, .value = &value, .value_bytes = sizeof value, .type = FUSION_I32};
    const fusion_submit_options urgent = {FUSION_SIZED(fusion_submit_options), .priority = 9};
    fusion_event gate = shut_gate(&c), first = submit(mark, 0), last;
    expect_ok(fusion_exec_submit_with(mark, &second, 1, &urgent, &last));
    *c.open = 1;
    expect_order(&c, (fusion_event[]){gate, first, last}, 3);
    assert_int_equal(value_of(x), 2);
    fusion_disconnect(c.session);
}

static fusion_event give(const struct client *c, fusion_queue *q, fusion_buffer *b)
{
    fusion_arg args[] = {fusion_arg_write(b), fusion_arg_i32(5)};
    const fusion_kernel_node node = {FUSION_SIZED(fusion_kernel_node),
                                     .module = c->module,
                                     .kernel = "mark",
                                     .dims = 1,
                                     .global = {SIZE},
                                     .n_args = 2,
                                     .args = args};
    fusion_event event;
    expect_ok(fusion_queue_submit(q, &node, &event));
    return event;
}

/* The commands of a queue, also those that a window gathers. */
static void queues_have_them(void **state)
{
    (void)state;
    struct client c = open_client(HOUR_MS);
    fusion_queue *slow, *fast;
    fusion_buffer *b[4];
    fusion_event warm;
    static const char *const names[] = {"warm", "first", "second", "third"}; /* so that each has a handle of its own */
    for (int i = 0; i < 4; i++) b[i] = index_buffer(c.session, names[i], SIZE, 0, 0);
    expect_ok(fusion_queue_create(c.session, &slow));
    expect_ok(fusion_queue_create(c.session, &fast));
    warm = give(&c, slow, b[0]); /* compiles */
    expect_ok(fusion_event_wait(c.session, warm, -1, NULL));
    warm = give(&c, fast, b[0]);
    expect_ok(fusion_event_wait(c.session, warm, -1, NULL));
    const fusion_submit_options urgent = {FUSION_SIZED(fusion_submit_options), .priority = 4};
    expect_ok(fusion_queue_set_options(fast, &urgent));
    fusion_event gate = shut_gate(&c), first = give(&c, slow, b[1]), second = give(&c, fast, b[2]);
    expect_ok(fusion_queue_set_options(fast, NULL));
    fusion_event third = give(&c, fast, b[3]);
    *c.open = 1;
    expect_order(&c, (fusion_event[]){gate, second, first, third}, 4);
    const fusion_window_options window = {FUSION_SIZED(fusion_window_options), .commands = 2, .microseconds = 60000000};
    expect_ok(fusion_queue_set_window(fast, &window));
    gate = shut_gate(&c);
    first = give(&c, slow, b[1]);
    second = give(&c, fast, b[2]);
    expect_ok(fusion_queue_set_options(fast, &urgent)); /* what was gathered goes as it is */
    third = give(&c, fast, b[3]);
    expect_ok(fusion_queue_flush(fast));
    *c.open = 1;
    expect_order(&c, (fusion_event[]){gate, third, first, second}, 4);
    fusion_disconnect(c.session);
}

/* Whatever the priorities, memory is as if all ran in their order. */
static void memory_is_as_without(void **state)
{
    (void)state;
    struct client c = open_client(HOUR_MS);
    fusion_buffer *b[BUFFERS];
    fusion_exec *exec[BUFFERS][BUFFERS] = {{0}};
    uint32_t expected[BUFFERS];
    for (int i = 0; i < BUFFERS; i++) {
        b[i] = index_buffer(c.session, NULL, SIZE, i + 1, 0);
        expected[i] = (uint32_t)((SIZE - 1) * (i + 1));
    }
    for (int i = 0; i < BUFFERS; i++)
        for (int k = 0; k < BUFFERS; k++)
            if (i != k) exec[i][k] = mixer(&c, b[i], b[k]);
    srand(17);
    shut_gate(&c);
    for (int i = 0; i < RANDOM; i++) {
        int from = rand() % BUFFERS, to = (from + 1 + rand() % (BUFFERS - 1)) % BUFFERS;
        submit(exec[from][to], rand() % 7 - 3);
        expected[to] = expected[to] * 3 + expected[from];
        if (i == RANDOM / 2) *c.open = 1;
    }
    for (int i = 0; i < BUFFERS; i++) assert_int_equal((uint32_t)value_of(b[i]), expected[i]);
    fusion_disconnect(c.session);
}

/* One that waits is cancelled when its turn comes, and one in its place is not. */
static void cancelled_ones_have_their_turn(void **state)
{
    (void)state;
    struct client c = open_client(HOUR_MS);
    fusion_buffer *x = index_buffer(c.session, "x", SIZE, 0, 0), *y = index_buffer(c.session, "y", SIZE, 0, 0);
    fusion_exec *mark_x = marker(&c, x, 1), *mark_y = marker(&c, y, 1);
    fusion_event gate = shut_gate(&c), one = submit(mark_x, 1), two = submit(mark_y, 2);
    expect_ok(fusion_event_cancel(c.session, two));
    *c.open = 1;
    expect_ok(fusion_event_wait(c.session, gate, -1, NULL));
    expect_ok(fusion_event_wait(c.session, one, -1, NULL));
    expect_error(fusion_event_wait(c.session, two, -1, NULL), FUSION_CANCELLED);
    assert_int_equal(value_of(x), 1);
    assert_int_equal(value_of(y), 0);
    fusion_disconnect(c.session);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    struct client c = open_client(HOUR_MS);
    fusion_queue *q;
    fusion_submit_options options = {FUSION_SIZED(fusion_submit_options), .priority = (int64_t)INT32_MAX + 1};
    expect_error(fusion_exec_submit_with(c.gated, NULL, 0, &options, NULL), FUSION_INVALID);
    expect_in_reason("a priority of 2147483648");
    expect_ok(fusion_queue_create(c.session, &q));
    expect_error(fusion_queue_set_options(q, &options), FUSION_INVALID);
    struct {
        fusion_submit_options known;
        uint64_t more;
    } newer = {{sizeof newer, 0, 0}, 1};
    expect_error(fusion_exec_submit_with(c.gated, NULL, 0, &newer.known, NULL), FUSION_INVALID);
    expect_in_reason("does not know");
    fusion_disconnect(c.session);
}

/* ---- time limits ---- */

static void expect_limit(const struct client *c, fusion_exec *exec, uint64_t limit_ms, const char *reason)
{
    const fusion_submit_options options = {FUSION_SIZED(fusion_submit_options), .time_limit_ms = limit_ms};
    fusion_event event;
    expect_ok(fusion_exec_submit_with(exec, NULL, 0, &options, &event));
    expect_error(fusion_event_wait(c->session, event, -1, NULL), FUSION_TIMEOUT);
    expect_in_reason(reason);
}

/* The limits of others are an hour, and the one who watches sleeps until one of those ends. */
static void a_submission_has_its_own(void **state)
{
    (void)state;
    struct client c = open_client(HOUR_MS);
    fusion_buffer *x = index_buffer(c.session, "x", SIZE, 0, 0);
    fusion_exec *mark = marker(&c, x, 3);
    fusion_event event = submit(mark, 0);
    expect_ok(fusion_event_wait(c.session, event, -1, NULL));
    expect_limit(&c, c.gated, LIMIT_MS, "time limit of 100 ms");
    expect_limit(&c, c.gated, LIMIT_MS + 20, "time limit of 120 ms");
    event = submit(mark, 0);
    expect_ok(fusion_event_wait(c.session, event, -1, NULL)); /* the session goes on */
    assert_int_equal(value_of(x), 3);
    fusion_disconnect(c.session);
}

static void a_handle_has_one(void **state)
{
    (void)state;
    struct client c = open_client(HOUR_MS);
    fusion_exec *exec = gated(&c, LIMIT_MS);
    expect_limit(&c, exec, 0, "time limit of 100 ms");
    expect_limit(&c, exec, LIMIT_MS / 2, "time limit of 50 ms");
    exec = gated(&c, HOUR_MS / 2);
    expect_limit(&c, exec, LIMIT_MS, "time limit of 100 ms");
    fusion_disconnect(c.session);
}

static void none_is_longer_than_the_sessions(void **state)
{
    (void)state;
    struct client c = open_client(2 * LIMIT_MS);
    expect_limit(&c, c.gated, HOUR_MS, "time limit of 200 ms");
    expect_limit(&c, c.gated, UINT64_MAX, "time limit of 200 ms");
    expect_limit(&c, gated(&c, HOUR_MS), 0, "time limit of 200 ms");
    fusion_disconnect(c.session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(highest_is_first),
        cmocka_unit_test(what_it_waits_for_comes_before_it),
        cmocka_unit_test(runs_of_a_handle_stay_in_order),
        cmocka_unit_test(queues_have_them),
        cmocka_unit_test(memory_is_as_without),
        cmocka_unit_test(cancelled_ones_have_their_turn),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(a_submission_has_its_own),
        cmocka_unit_test(a_handle_has_one),
        cmocka_unit_test(none_is_longer_than_the_sessions),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
