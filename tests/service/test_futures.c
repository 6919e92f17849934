/* Finalizing in threads of the session: outcomes, the order by priority, cancelling, and every way in which the other
   side goes away meanwhile. What keeps a finalize from ending is a service whose compilers are stopped. */
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

#include "tests/support/service.h"

enum { SIZE = 300, PATIENCE_MS = 60000, MOST = 16 };

static struct service service;

static int start(void **state)
{
    (void)state;
    static const char *const options[] = {"--compilers", "1", NULL};
    service_start(&service, options);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    service_clear(&service);
    return 0;
}

/* ---- compilers that do nothing for a while ---- */

static void signal_compilers(int number)
{
    pid_t pids[MOST];
    int n = service_children(&service, "fusiond-compile", pids, MOST);
    for (int i = 0; i < n; i++) kill(pids[i], number);
}

/* ---- a client whose graphs add constants which no other ones add ---- */

struct client {
    fusion_session *session;
    fusion_buffer *in, *out;
};

static struct client open_client(uint32_t threads)
{
    struct client c = {0};
    const fusion_connect_options options = {FUSION_SIZED(fusion_connect_options), .threads = threads};
    expect_ok(fusion_connect(service.socket, &options, &c.session));
    c.in = index_buffer(c.session, "in", SIZE, 3, 0);
    c.out = index_buffer(c.session, "out", SIZE, 0, 0);
    return c;
}

/* A finalize has begun. */
static void wait_for_job(const struct client *c)
{
    while (service_counter(c->session, "jobs_queued") + service_counter(c->session, "compilers_busy") == 0)
        usleep(1000);
}

static fusion_graph *make_graph(const struct client *c, int *constant)
{
    static int last = 5000;
    fusion_module *module;
    fusion_graph *graph;
    char text[300];
    *constant = ++last;
    int n = snprintf(text, sizeof text,
                     "kernel @k(%%a: ptr.global i32 read, %%o: ptr.global i32 write) {\n  %%i = global_id x\n"
                     "  %%x = load i32 %%a[%%i]\n  %%y = add i32 %%x, %d\n  store i32 %%o[%%i], %%y\n}\n",
                     *constant);
    expect_ok(fusion_module_load(c->session, "k.fk", text, (size_t)n, &module));
    expect_ok(fusion_graph_create(c->session, &graph));
    fusion_arg args[] = {fusion_arg_read(c->in), fusion_arg_write(c->out)};
    add_node(graph, module, "k", SIZE, args, 2);
    return graph;
}

static fusion_future *begin(fusion_graph *graph, const fusion_async_options *async)
{
    const fusion_finalize_options options = {FUSION_SIZED(fusion_finalize_options), .tier = FUSION_TIER_COMPILED};
    fusion_future *future;
    expect_ok(fusion_graph_finalize_async(graph, &options, async, &future));
    return future;
}

static void check_run(const struct client *c, fusion_exec *exec, int constant)
{
    fusion_event done;
    int *out;
    expect_ok(fusion_exec_submit(exec, NULL, 0, &done));
    expect_ok(fusion_event_wait(c->session, done, PATIENCE_MS, NULL));
    expect_ok(fusion_buffer_map(c->out, (void **)&out));
    for (int i = 0; i < SIZE; i++) assert_int_equal(out[i], 3 * i + constant);
}

/* ---- outcomes ---- */

static void several_at_once(void **state)
{
    (void)state;
    struct client c = open_client(0);
    fusion_future *futures[MOST];
    int constants[MOST];
    for (int i = 0; i < MOST; i++) {
        fusion_graph *graph = make_graph(&c, &constants[i]);
        futures[i] = begin(graph, NULL);
        fusion_graph_destroy(graph); /* it was copied */
    }
    for (int i = 0; i < MOST; i++) {
        fusion_exec *exec, *again;
        expect_ok(fusion_future_wait(futures[i], PATIENCE_MS, &exec));
        expect_ok(fusion_future_poll(futures[i]));
        expect_ok(fusion_future_wait(futures[i], -1, &again));
        assert_ptr_equal(exec, again);
        expect_ok(fusion_future_cancel(futures[i])); /* too late, and no matter */
        fusion_future_destroy(futures[i]);
        check_run(&c, exec, constants[i]);
        fusion_exec_destroy(exec);
    }
    assert_int_equal(service_counter(c.session, "executables"), 0);
    fusion_disconnect(c.session);
}

static void errors_are_told(void **state)
{
    (void)state;
    struct client c = open_client(0);
    int constant;
    fusion_graph *graph = make_graph(&c, &constant);
    fusion_future *future;
    const fusion_finalize_options toaster = {FUSION_SIZED(fusion_finalize_options), .device = "toaster"};
    expect_ok(fusion_graph_finalize_async(graph, &toaster, NULL, &future));
    for (int i = 0; i < 2; i++) {
        expect_error(fusion_future_wait(future, PATIENCE_MS, NULL), FUSION_NOT_FOUND);
        expect_in_reason("there is no such device");
        expect_error(fusion_future_poll(future), FUSION_NOT_FOUND);
    }
    fusion_future_destroy(future);
    const fusion_finalize_options wrong = {FUSION_SIZED(fusion_finalize_options), .mode = (fusion_mode)7};
    expect_error(fusion_graph_finalize_async(graph, &wrong, NULL, &future), FUSION_INVALID);
    const fusion_async_options priority = {FUSION_SIZED(fusion_async_options), .priority = INT64_MAX};
    expect_error(fusion_graph_finalize_async(graph, NULL, &priority, &future), FUSION_INVALID);
    fusion_future_destroy(NULL);
    fusion_disconnect(c.session);
    const fusion_connect_options many = {FUSION_SIZED(fusion_connect_options), .threads = 65};
    expect_error(fusion_connect(service.socket, &many, &c.session), FUSION_INVALID);
}

/* What a thread waits for keeps nobody else from the service. */
static void others_go_on(void **state)
{
    (void)state;
    struct client c = open_client(0);
    int constant, other;
    fusion_graph *graph = make_graph(&c, &constant);
    make_graph(&c, &other);
    signal_compilers(SIGSTOP);
    fusion_future *future = begin(graph, NULL);
    expect_error(fusion_future_wait(future, 50, NULL), FUSION_TIMEOUT);
    expect_error(fusion_future_poll(future), FUSION_BUSY);
    for (int i = 0; i < 20; i++) assert_true(service_counter(c.session, "sessions") >= 1);
    fusion_buffer *late = index_buffer(c.session, "late", SIZE, 1, 0); /* is attached */
    fusion_buffer_destroy(late);
    signal_compilers(SIGCONT);
    fusion_exec *exec;
    expect_ok(fusion_future_wait(future, PATIENCE_MS, &exec));
    check_run(&c, exec, constant);
    fusion_disconnect(c.session);
}

/* ---- priorities ---- */

static struct {
    _Atomic int n;
    int order[MOST];
} ended;

static void note(void *data, fusion_future *future)
{
    expect_ok(fusion_future_wait(future, -1, NULL)); /* its own, in its function */
    int at = atomic_load(&ended.n);                  /* the session has one thread */
    ended.order[at] = (int)(intptr_t)data;
    atomic_store(&ended.n, at + 1);
}

static void by_priority(void **state)
{
    (void)state;
    static const int64_t priorities[] = {0, 5, -3, 5, 0, INT32_MAX};
    static const int expected[] = {0, 5, 1, 3, 4, 2}; /* the first one has begun */
    enum { N = 6 };
    struct client c = open_client(1);
    fusion_graph *graphs[N];
    fusion_future *futures[N];
    int constant;
    atomic_store(&ended.n, 0);
    for (int i = 0; i < N; i++) graphs[i] = make_graph(&c, &constant);
    signal_compilers(SIGSTOP);
    for (intptr_t i = 0; i < N; i++) {
        const fusion_async_options async = {FUSION_SIZED(fusion_async_options), note, (void *)i, priorities[i]};
        futures[i] = begin(graphs[i], &async);
        if (i == 0) wait_for_job(&c);
    }
    signal_compilers(SIGCONT);
    for (int i = 0; i < N; i++) expect_ok(fusion_future_wait(futures[i], PATIENCE_MS, NULL));
    while (atomic_load(&ended.n) < N) usleep(1000);
    for (int i = 0; i < N; i++) assert_int_equal(ended.order[i], expected[i]);
    fusion_disconnect(c.session);
}

/* ---- cancelling ---- */

static void cancelled(void **state)
{
    (void)state;
    struct client c = open_client(1);
    int constant, last;
    fusion_graph *graph = make_graph(&c, &constant), *other = make_graph(&c, &last);
    signal_compilers(SIGSTOP);
    fusion_future *running = begin(graph, NULL);
    wait_for_job(&c);
    fusion_future *waits = begin(other, NULL), *follows = begin(other, NULL);
    expect_ok(fusion_future_cancel(waits));
    expect_error(fusion_future_poll(waits), FUSION_CANCELLED);
    expect_in_reason("before it began");
    expect_ok(fusion_future_cancel(running));
    expect_error(fusion_future_wait(running, PATIENCE_MS, NULL), FUSION_CANCELLED);
    signal_compilers(SIGCONT);
    fusion_exec *exec;
    expect_ok(fusion_future_wait(follows, PATIENCE_MS, &exec));
    check_run(&c, exec, last);
    expect_ok(fusion_future_cancel(waits)); /* again: no matter */
    fusion_future_destroy(waits);
    fusion_future_destroy(running);
    /* Destroyed before its end: nothing is left of it. */
    fusion_future_destroy(begin(make_graph(&c, &constant), NULL));
    fusion_future_destroy(follows);
    check_run(&c, exec, last); /* who took it has it */
    fusion_exec_destroy(exec);
    for (int ms = 0; service_counter(c.session, "executables") && ms < PATIENCE_MS; ms += 5) usleep(5000);
    assert_int_equal(service_counter(c.session, "executables"), 0);
    fusion_disconnect(c.session);
}

/* ---- the end of others ---- */

static _Atomic int told;
static _Atomic fusion_status status_told;

static void tell(void *data, fusion_future *future)
{
    (void)data;
    atomic_store(&status_told, fusion_future_wait(future, -1, NULL));
    atomic_fetch_add(&told, 1);
}

static void disconnected_while_pending(void **state)
{
    (void)state;
    struct client c = open_client(2);
    int constant;
    atomic_store(&told, 0);
    fusion_graph *graphs[5];
    const fusion_async_options async = {FUSION_SIZED(fusion_async_options), .done = tell};
    for (int i = 0; i < 5; i++) graphs[i] = make_graph(&c, &constant);
    signal_compilers(SIGSTOP);
    for (int i = 0; i < 5; i++) begin(graphs[i], &async); /* some run, some wait */
    fusion_disconnect(c.session);
    assert_int_equal(atomic_load(&told), 5);
    assert_int_equal(atomic_load(&status_told), FUSION_CONNECTION);
    signal_compilers(SIGCONT);
}

static void disconnect(void *data, fusion_future *future)
{
    expect_ok(fusion_future_wait(future, -1, NULL));
    fusion_disconnect(data);
    atomic_fetch_add(&told, 1);
}

static void disconnected_in_its_function(void **state)
{
    (void)state;
    struct client c = open_client(2);
    int constant;
    atomic_store(&told, 0);
    const fusion_async_options async = {FUSION_SIZED(fusion_async_options), .done = disconnect, .data = c.session};
    begin(make_graph(&c, &constant), &async);
    for (int ms = 0; !atomic_load(&told) && ms < PATIENCE_MS; ms += 5) usleep(5000);
    assert_int_equal(atomic_load(&told), 1);
}

static void service_ends(void **state)
{
    (void)state;
    struct client c = open_client(2);
    int constant;
    fusion_graph *graphs[3];
    fusion_future *futures[3];
    for (int i = 0; i < 3; i++) graphs[i] = make_graph(&c, &constant);
    signal_compilers(SIGSTOP);
    for (int i = 0; i < 3; i++) futures[i] = begin(graphs[i], NULL);
    kill(service.pid, SIGKILL);
    waitpid(service.pid, NULL, 0);
    service.pid = 0;
    for (int i = 0; i < 3; i++) {
        expect_error(fusion_future_wait(futures[i], PATIENCE_MS, NULL), FUSION_CONNECTION);
        fusion_future_destroy(futures[i]);
    }
    signal_compilers(SIGCONT);
    fusion_disconnect(c.session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_at_once),
        cmocka_unit_test(errors_are_told),
        cmocka_unit_test(others_go_on),
        cmocka_unit_test(by_priority),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(disconnected_while_pending),
        cmocka_unit_test(disconnected_in_its_function),
        cmocka_unit_test(service_ends),
    };
    return cmocka_run_group_tests_name("futures", tests, start, stop);
}
