/* Events: functions that are called, cancelling, times; and the other side going away. Submissions wait at a gate that
   the test opens, so nothing here depends on how long anything takes. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <fusiond/profile.h>

#include "tests/support/service.h"

enum { SIZE = 64, PATIENCE_MS = 60000, MOST = 32 };

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

/* ---- a client with a gate ---- */

static const char gate_kernels[] =
    "kernel @gate(%g: ptr.global i32 read, %o: ptr.global i32 write) {\n  %i = global_id x\n"
    "  store i32 %o[%i], 1, volatile\n  loop (%n: i32 = 0) {\n    %v = load i32 %g[0], volatile\n"
    "    %c = ine i32 %v, 0\n    if %c { break }\n    %m = add i32 %n, 1\n    continue %m\n  }\n  return\n}\n"
    "kernel @mark(%o: ptr.global i32 write, %by: i32) {\n  %i = global_id x\n  store i32 %o[%i], %by\n  return\n}\n";

struct client {
    fusion_session *session;
    fusion_module *module;
    fusion_buffer *gate, *begun, *after;
    volatile int *open, *seen, *marked;
    fusion_exec *gated; /* the gate, then a launch that marks `after` with 1 */
};

static fusion_exec *finalize(fusion_graph *graph)
{
    fusion_exec *exec;
    const fusion_finalize_options options = {FUSION_SIZED(fusion_finalize_options), .tier = FUSION_TIER_COMPILED};
    expect_ok(fusion_graph_finalize(graph, &options, &exec));
    fusion_graph_destroy(graph);
    return exec;
}

/* One that marks the buffer. */
static fusion_exec *marker(const struct client *c, fusion_buffer *b, int mark)
{
    fusion_graph *graph;
    fusion_arg args[] = {fusion_arg_write(b), fusion_arg_i32(mark)};
    expect_ok(fusion_graph_create(c->session, &graph));
    add_node(graph, c->module, "mark", SIZE, args, 2);
    return finalize(graph);
}

static struct client open_client(void)
{
    struct client c = {.session = service_connect(&service)};
    fusion_graph *graph;
    expect_ok(fusion_module_load(c.session, "gate.fk", gate_kernels, sizeof gate_kernels - 1, &c.module));
    c.gate = index_buffer(c.session, "gate", 1, 0, 0);
    c.begun = index_buffer(c.session, "begun", SIZE, 0, 0);
    c.after = index_buffer(c.session, "after", SIZE, 0, 0);
    expect_ok(fusion_buffer_map(c.gate, (void **)&c.open));
    expect_ok(fusion_buffer_map(c.begun, (void **)&c.seen));
    expect_ok(fusion_buffer_map(c.after, (void **)&c.marked));
    fusion_arg gate[] = {fusion_arg_read(c.gate), fusion_arg_write(c.begun)};
    fusion_arg mark[] = {fusion_arg_write(c.after), fusion_arg_i32(1)};
    expect_ok(fusion_graph_create(c.session, &graph));
    add_node(graph, c.module, "gate", SIZE, gate, 2);
    add_node(graph, c.module, "mark", SIZE, mark, 2);
    c.gated = finalize(graph);
    return c;
}

static fusion_event submit(fusion_exec *exec)
{
    fusion_event event;
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    return event;
}

static bool has_begun(const struct client *c)
{
    for (int i = 0; i < SIZE; i++)
        if (c->seen[i]) return true;
    return false;
}

/* ---- functions that are called ---- */

static struct {
    _Atomic int n;
    fusion_event events[MOST];
    fusion_status status[MOST];
    char reason[MOST][200];
} told;

static void tell(void *data, fusion_session *s, fusion_event event, fusion_status status)
{
    int at = atomic_load(&told.n);
    (void)data;
    told.events[at] = event;
    told.status[at] = status;
    snprintf(told.reason[at], sizeof told.reason[at], "%.*s", (int)sizeof told.reason[at] - 1,
             status == FUSION_SUCCESS ? "" : fusion_last_error()->reason);
    if (status != FUSION_CONNECTION) assert_int_equal(fusion_event_wait(s, event, -1, NULL), status); /* its own */
    atomic_store(&told.n, at + 1);
}

static void wait_for_told(int n)
{
    for (int ms = 0; atomic_load(&told.n) < n && ms < PATIENCE_MS; ms++) usleep(1000);
    assert_int_equal(atomic_load(&told.n), n);
}

static void functions_are_called(void **state)
{
    (void)state;
    struct client c = open_client();
    fusion_exec *mark = marker(&c, c.after, 7);
    fusion_event events[4];
    atomic_store(&told.n, 0);
    events[0] = submit(c.gated);
    for (int i = 1; i < 4; i++) events[i] = submit(mark);
    for (int i = 3; i >= 0; i--) expect_ok(fusion_event_on_complete(c.session, events[i], tell, NULL));
    assert_int_equal(atomic_load(&told.n), 0);
    *c.open = 1;
    wait_for_told(4);
    for (int i = 0; i < 4; i++) assert_int_equal(told.events[i], events[i]);
    for (int i = 0; i < 4; i++) assert_int_equal(told.status[i], FUSION_SUCCESS);
    expect_ok(fusion_event_on_complete(c.session, events[2], tell, NULL)); /* complete already */
    wait_for_told(5);
    expect_error(fusion_event_on_complete(c.session, 1000, tell, NULL), FUSION_INVALID);
    expect_error(fusion_event_on_complete(c.session, events[0], NULL, NULL), FUSION_INVALID);
    fusion_disconnect(c.session);
    assert_int_equal(atomic_load(&told.n), 5);
}

/* From one function another is registered, and work submitted. */
static void submit_more(void *data, fusion_session *s, fusion_event event, fusion_status status)
{
    fusion_event next;
    (void)event;
    if (status != FUSION_SUCCESS || fusion_exec_submit(data, NULL, 0, &next) != FUSION_SUCCESS) return;
    fusion_event_on_complete(s, next, tell, NULL);
}

static void functions_go_on(void **state)
{
    (void)state;
    struct client c = open_client();
    fusion_exec *mark = marker(&c, c.after, 7);
    atomic_store(&told.n, 0);
    expect_ok(fusion_event_on_complete(c.session, submit(mark), submit_more, mark));
    wait_for_told(1);
    assert_int_equal(told.events[0], 2);
    fusion_disconnect(c.session);
}

static void disconnect(void *data, fusion_session *s, fusion_event event, fusion_status status)
{
    (void)data, (void)event, (void)status;
    fusion_disconnect(s);
    atomic_fetch_add(&told.n, 100);
}

static void disconnected_in_its_function(void **state)
{
    (void)state;
    struct client c = open_client();
    fusion_exec *mark = marker(&c, c.after, 7);
    atomic_store(&told.n, 0);
    fusion_event first = submit(mark), second = submit(c.gated);
    expect_ok(fusion_event_on_complete(c.session, second, tell, NULL));
    expect_ok(fusion_event_on_complete(c.session, first, disconnect, NULL));
    for (int ms = 0; atomic_load(&told.n) < 100 && ms < PATIENCE_MS; ms++) usleep(1000);
    assert_int_equal(atomic_load(&told.n), 101);
    assert_int_equal(told.status[0], FUSION_CONNECTION);
}

static void disconnected_while_pending(void **state)
{
    (void)state;
    struct client c = open_client();
    atomic_store(&told.n, 0);
    for (int i = 0; i < 3; i++) expect_ok(fusion_event_on_complete(c.session, submit(c.gated), tell, NULL));
    fusion_disconnect(c.session);
    assert_int_equal(atomic_load(&told.n), 3);
    for (int i = 0; i < 3; i++) assert_int_equal(told.status[i], FUSION_CONNECTION);
}

/* ---- cancelling ---- */

static void cancelled_before_it_begins(void **state)
{
    (void)state;
    struct client c = open_client();
    fusion_buffer *other = index_buffer(c.session, "other", SIZE, 0, 0);
    fusion_exec *first = marker(&c, c.after, 7), *second = marker(&c, other, 8);
    int *others;
    atomic_store(&told.n, 0);
    fusion_event gated = submit(c.gated), cancelled = submit(first), goes_on = submit(second);
    expect_ok(fusion_event_on_complete(c.session, cancelled, tell, NULL));
    expect_ok(fusion_event_cancel(c.session, cancelled));
    expect_ok(fusion_event_cancel(c.session, cancelled)); /* again: no matter */
    *c.open = 1;
    expect_ok(fusion_event_wait(c.session, gated, PATIENCE_MS, NULL));
    expect_error(fusion_event_wait(c.session, cancelled, PATIENCE_MS, NULL), FUSION_CANCELLED);
    expect_in_reason("before it began");
    expect_ok(fusion_event_wait(c.session, goes_on, PATIENCE_MS, NULL));
    assert_int_equal(c.marked[0], 1); /* the first one's */
    expect_ok(fusion_buffer_map(other, (void **)&others));
    assert_int_equal(others[SIZE - 1], 8);
    wait_for_told(1);
    assert_int_equal(told.status[0], FUSION_CANCELLED);
    assert_non_null(strstr(told.reason[0], "before it began"));
    expect_ok(fusion_event_cancel(c.session, goes_on)); /* too late */
    expect_ok(fusion_event_poll(c.session, goes_on));
    expect_error(fusion_event_cancel(c.session, 1000), FUSION_INVALID);
    fusion_disconnect(c.session);
}

static void cancelled_while_it_runs(void **state)
{
    (void)state;
    struct client c = open_client();
    fusion_buffer *other = index_buffer(c.session, "other", SIZE, 0, 0);
    fusion_event running = submit(c.gated), goes_on = submit(marker(&c, other, 8));
    while (!has_begun(&c)) usleep(1000);
    expect_ok(fusion_event_cancel(c.session, running));
    expect_error(fusion_event_poll(c.session, running), FUSION_BUSY); /* its work-group waits */
    *c.open = 1;
    expect_error(fusion_event_wait(c.session, running, PATIENCE_MS, NULL), FUSION_CANCELLED);
    expect_in_reason("while it ran");
    expect_ok(fusion_event_wait(c.session, goes_on, PATIENCE_MS, NULL));
    assert_int_equal(c.marked[0], 0); /* what would have come next */
    expect_ok(fusion_event_wait(c.session, submit(c.gated), PATIENCE_MS, NULL));
    assert_int_equal(c.marked[0], 1);
    assert_int_equal(service_counter(c.session, "executors_lost"), 0);
    fusion_disconnect(c.session);
}

/* ---- times ---- */

static void times_are_told(void **state)
{
    (void)state;
    struct client c = open_client();
    fusion_event_times t = {FUSION_SIZED(fusion_event_times)};
    fusion_exec *mark = marker(&c, c.after, 7);
    fusion_event before = submit(mark);
    expect_ok(fusion_event_wait(c.session, before, -1, NULL));
    expect_error(fusion_event_times_get(c.session, before, &t), FUSION_NOT_FOUND);
    expect_ok(fusion_session_set_profiling(c.session, true));
    fusion_event gated = submit(c.gated), next = submit(mark);
    expect_error(fusion_event_times_get(c.session, next, &t), FUSION_BUSY);
    *c.open = 1;
    expect_ok(fusion_event_wait(c.session, next, -1, NULL));
    expect_ok(fusion_event_times_get(c.session, gated, &t));
    uint64_t ended = t.ended_ns;
    assert_true(t.queued_ns <= t.submitted_ns && t.submitted_ns <= t.started_ns && t.started_ns < t.ended_ns);
    expect_ok(fusion_event_times_get(c.session, next, &t));
    assert_true(t.submitted_ns < ended && t.started_ns < t.ended_ns);
    for (int i = 0; i < 1100; i++) next = submit(mark);
    expect_ok(fusion_event_wait(c.session, next, -1, NULL));
    expect_error(fusion_event_times_get(c.session, gated, &t), FUSION_NOT_FOUND);
    expect_ok(fusion_event_times_get(c.session, next, &t));
    fusion_disconnect(c.session);
}

static void service_ends(void **state)
{
    (void)state;
    struct client c = open_client();
    atomic_store(&told.n, 0);
    fusion_event event = submit(c.gated);
    expect_ok(fusion_event_on_complete(c.session, event, tell, NULL));
    kill(service.pid, SIGKILL);
    waitpid(service.pid, NULL, 0);
    service.pid = 0;
    wait_for_told(1);
    assert_int_equal(told.status[0], FUSION_CONNECTION);
    fusion_disconnect(c.session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_called),
        cmocka_unit_test(functions_go_on),
        cmocka_unit_test(disconnected_in_its_function),
        cmocka_unit_test(disconnected_while_pending),
        cmocka_unit_test(cancelled_before_it_begins),
        cmocka_unit_test(cancelled_while_it_runs),
        cmocka_unit_test(times_are_told),
        cmocka_unit_test(service_ends),
    };
    return cmocka_run_group_tests_name("events", tests, start, stop);
}
