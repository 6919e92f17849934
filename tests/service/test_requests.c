/* Requests that run out of time, and processes that fork: what they cost the session. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { SIZE = 256, LIMIT_MS = 1200 };

static struct service service;

static int stop(void **state)
{
    (void)state;
    service_clear(&service);
    return 0;
}

struct client {
    fusion_session *session;
    fusion_module *module;
    fusion_buffer *in, *out;
    fusion_exec *exec;
};

static void open_client(struct client *c, uint32_t request_limit_ms)
{
    fusion_graph *graph;
    fusion_connect_options options = {.request_limit_ms = request_limit_ms};
    expect_ok(fusion_connect(service.socket, &options, &c->session));
    c->module = load_test_kernels(c->session);
    c->in = index_buffer(c->session, "in", SIZE, 1, 0);
    c->out = index_buffer(c->session, "out", SIZE, 0, 0);
    expect_ok(fusion_graph_create(c->session, &graph));
    fusion_arg args[] = {fusion_arg_read(c->in), fusion_arg_write(c->out), fusion_arg_i32(3)};
    add_node(graph, c->module, "scale", SIZE, args, 3);
    expect_ok(fusion_graph_finalize(graph, NULL, &c->exec));
}

static void expect_values(struct client *c)
{
    void *memory;
    fusion_event event;
    expect_ok(fusion_buffer_map(c->out, &memory));
    memset(memory, 0, SIZE * 4);
    expect_ok(fusion_exec_submit(c->exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(c->session, event, 20000, NULL));
    for (int i = 0; i < SIZE; i++) assert_int_equal(((int *)memory)[i], 3 * i);
}

/* With a first client everything is compiled: those with little time find it in the cache. */
static int start(void **state)
{
    (void)state;
    struct client first;
    service_start(&service, NULL);
    open_client(&first, 0);
    fusion_disconnect(first.session);
    return 0;
}

/* ---- out of time ---- */

static void hold(void)
{
    kill(service.pid, SIGSTOP);
}

static void go_on(void)
{
    kill(service.pid, SIGCONT);
}

/* After it the daemon answers in time again. */
static void expect_answers(struct client *c)
{
    char *text = NULL;
    for (int i = 0; i < 50 && !text; i++) fusion_module_text(c->module, &text);
    assert_non_null(text);
    free(text);
}

static void test_reply_out_of_time(void **state)
{
    (void)state;
    struct client c;
    open_client(&c, LIMIT_MS);
    long long modules = service_counter(c.session, "modules");
    fusion_module *late = NULL;
    hold();
    fusion_status status = fusion_module_load(c.session, "late.fk", test_kernels, strlen(test_kernels), &late);
    go_on();
    expect_status(status, FUSION_TIMEOUT, __FILE__, __LINE__);
    expect_in_reason("1200 ms");
    expect_answers(&c);
    expect_values(&c);
    /* Nobody has the module that was made after all, so it was given back. */
    for (int i = 0; i < 2000 && service_counter(c.session, "modules") > modules; i++) usleep(10000);
    assert_int_equal(service_counter(c.session, "modules"), modules);
    fusion_disconnect(c.session);
}

/* A request that was sent in part is sent to its end before the next one. */
static void test_sending_out_of_time(void **state)
{
    (void)state;
    struct client c;
    open_client(&c, LIMIT_MS);
    size_t size = 4 << 20;
    char *large = malloc(size);
    fusion_module *module;
    memset(large, '/', size); /* a comment, and nothing else */
    hold();
    fusion_status first = fusion_module_load(c.session, "large.fk", large, size, &module);
    fusion_status second = fusion_module_load(c.session, "large.fk", large, size, &module);
    go_on();
    free(large);
    expect_status(first, FUSION_TIMEOUT, __FILE__, __LINE__);
    expect_status(second, FUSION_TIMEOUT, __FILE__, __LINE__);
    expect_answers(&c);
    expect_values(&c);
    fusion_disconnect(c.session);
}

static void test_memory_out_of_time(void **state)
{
    (void)state;
    struct client c;
    open_client(&c, LIMIT_MS);
    fusion_buffer *buffer;
    void *memory = NULL, *again = NULL;
    expect_ok(fusion_buffer_create(c.session, "late", FUSION_I32, SIZE, 0, &buffer));
    hold();
    fusion_status status = fusion_buffer_map(buffer, &memory);
    go_on();
    expect_status(status, FUSION_TIMEOUT, __FILE__, __LINE__);
    assert_null(memory);
    expect_answers(&c); /* takes the late reply */
    expect_ok(fusion_buffer_map(buffer, &memory));
    fusion_event event;
    fusion_rebind rebind = {.from = c.out, .to = buffer};
    expect_ok(fusion_exec_submit(c.exec, &rebind, 1, &event));
    expect_ok(fusion_event_wait(c.session, event, 20000, NULL));
    assert_int_equal(((int *)memory)[7], 21);
    fusion_buffer_destroy(buffer);
    /* The same without a request in between: the mapping waits for the reply itself. */
    expect_ok(fusion_buffer_create(c.session, "late", FUSION_I32, SIZE, 0, &buffer));
    hold();
    status = fusion_buffer_map(buffer, &again);
    go_on();
    expect_status(status, FUSION_TIMEOUT, __FILE__, __LINE__);
    expect_ok(fusion_buffer_map(buffer, &again));
    fusion_disconnect(c.session);
}

/* ---- fork ---- */

#define expect_foreign(call)                                                                                           \
    if ((call) != FUSION_CONNECTION || !strstr(fusion_last_error()->reason, "fork")) _exit(__LINE__ % 250 + 1)

/* Everything that would reach the service or change what the parent shares with it. */
static void use_parents_session(struct client *c)
{
    char *text;
    fusion_module *module;
    fusion_buffer *buffer;
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_queue *queue;
    fusion_device_info device = {FUSION_SIZED(fusion_device_info)};
    void *memory;
    uint32_t n;
    fusion_arg args[] = {fusion_arg_read(c->in), fusion_arg_write(c->out), fusion_arg_i32(5)};
    fusion_kernel_node node = {
        .module = c->module, .kernel = "scale", .dims = 1, .global = {SIZE}, .args = args, .n_args = 3};
    expect_foreign(fusion_session_status(c->session, &text));
    expect_foreign(fusion_session_dispatch(c->session));
    expect_foreign(fusion_device_count(c->session, &n));
    expect_foreign(fusion_device_get(c->session, 0, &device));
    expect_foreign(fusion_module_load(c->session, "m", test_kernels, strlen(test_kernels), &module));
    expect_foreign(fusion_module_text(c->module, &text));
    expect_foreign(fusion_exec_submit(c->exec, NULL, 0, NULL));
    expect_foreign(fusion_event_wait(c->session, 1, -1, NULL));
    expect_foreign(fusion_event_poll(c->session, 1));
    expect_foreign(fusion_buffer_map(c->out, &memory));
    expect_foreign(fusion_malloc(c->session, FUSION_USM_SHARED, 64, &memory));
    if (fusion_session_fd(c->session) != -1) _exit(251);
    if (fusion_buffer_create(c->session, "b", FUSION_I32, 4, 0, &buffer) != FUSION_SUCCESS) _exit(252);
    expect_foreign(fusion_buffer_map(buffer, &memory));
    fusion_buffer_destroy(buffer);
    fusion_graph_create(c->session, &graph);
    if (fusion_graph_add_kernel(graph, &node, NULL) != FUSION_SUCCESS) _exit(253);
    expect_foreign(fusion_graph_finalize(graph, NULL, &exec));
    fusion_queue_create(c->session, &queue);
    expect_foreign(fusion_queue_submit(queue, &node, NULL));
    fusion_exec_destroy(c->exec);
    fusion_buffer_destroy(c->out);
    fusion_module_destroy(c->module);
    fusion_disconnect(c->session);
}

static void expect_child(pid_t pid)
{
    int status = -1;
    for (int i = 0; i < 2000 && waitpid(pid, &status, WNOHANG) == 0; i++) usleep(10000);
    if (status == -1) kill(pid, SIGKILL);
    assert_int_equal(status, 0);
}

static void test_fork(void **state)
{
    (void)state;
    struct client c, own;
    open_client(&c, 0);
    expect_values(&c);
    long long executables = service_counter(c.session, "executables");
    pid_t pid = fork_or_fail();
    if (pid == 0) {
        use_parents_session(&c);
        open_client(&own, 0); /* one of its own works as ever */
        expect_values(&own);
        fusion_disconnect(own.session);
        _exit(0);
    }
    for (int i = 0; i < 20; i++) expect_values(&c); /* meanwhile */
    expect_child(pid);
    expect_values(&c);
    for (int i = 0; i < 2000 && service_counter(c.session, "executables") > executables; i++) usleep(10000);
    assert_int_equal(service_counter(c.session, "executables"), executables);
    fusion_disconnect(c.session);
}

/* The child has no copy of the connection that would keep the session when the parent ends. */
static void test_fork_and_parent_ends(void **state)
{
    (void)state;
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    pid_t parent = fork_or_fail();
    if (parent == 0) {
        struct client c;
        open_client(&c, 0);
        if (fork_or_fail() == 0) {
            char byte;
            close(pipes[1]);
            (void)!read(pipes[0], &byte, 1); /* lives until the test ends it */
            _exit(0);
        }
        _exit(0);
    }
    expect_child(parent);
    fusion_session *session = service_connect(&service);
    for (int i = 0; i < 2000 && service_counter(session, "sessions") > 1; i++) usleep(10000);
    assert_int_equal(service_counter(session, "sessions"), 1);
    fusion_disconnect(session);
    close(pipes[0]);
    close(pipes[1]);
}

/* Other threads are in the middle of requests, and their locks stay locked in the child. */
static void *ask_and_ask(void *data)
{
    struct client *c = data;
    for (int i = 0; i < 300; i++) {
        char *text;
        if (fusion_module_text(c->module, &text) == FUSION_SUCCESS) free(text);
        fusion_exec_submit(c->exec, NULL, 0, NULL);
    }
    return NULL;
}

static void test_fork_among_threads(void **state)
{
    (void)state;
    struct client c;
    pthread_t threads[2];
    open_client(&c, 0);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, ask_and_ask, &c);
    for (int i = 0; i < 20; i++) {
        pid_t pid = fork_or_fail();
        if (pid == 0) {
            fusion_buffer *buffer;
            char *text;
            expect_foreign(fusion_module_text(c.module, &text));
            expect_foreign(fusion_exec_submit(c.exec, NULL, 0, NULL));
            fusion_buffer_create(c.session, "b", FUSION_I32, 4, 0, &buffer);
            fusion_disconnect(c.session);
            _exit(0);
        }
        expect_child(pid);
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    expect_values(&c);
    fusion_disconnect(c.session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reply_out_of_time),    cmocka_unit_test(test_sending_out_of_time),
        cmocka_unit_test(test_memory_out_of_time),   cmocka_unit_test(test_fork),
        cmocka_unit_test(test_fork_and_parent_ends), cmocka_unit_test(test_fork_among_threads),
    };
    return cmocka_run_group_tests_name("requests", tests, start, stop);
}
