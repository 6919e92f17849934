/* Graphs as large as they may be: what the library does for each node takes no longer when there are many. Times are of
   this process's processor, and a fraction of what a look at all other nodes for each would take. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "proto/limits.h"
#include "tests/support/service.h"

enum { BUFFERS = 1000, RECORDED = 10000, RECORDINGS = 60, HOST_TASKS = 20000, REUSED = 100000 };

static struct service service;
static fusion_session *session;
static fusion_module *module;
static fusion_buffer *buffers[BUFFERS];

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    session = service_connect(&service);
    module = load_test_kernels(session);
    for (int i = 0; i < BUFFERS; i++) expect_ok(fusion_buffer_create(session, NULL, FUSION_I32, 16, 0, &buffers[i]));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    return 0;
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void expect_below(double began, double most, const char *what)
{
    double took = processor_seconds() - began;
    print_message("# %s: %.2f s\n", what, took);
    if (took > most) fail_msg("%s took %.2f s of processor, more than %.2f", what, took, most);
}

static void test_nodes_without_names(void **state)
{
    (void)state;
    fusion_graph *graph;
    double began = processor_seconds();
    expect_ok(fusion_graph_create(session, &graph));
    for (uint32_t i = 0; i < PROTO_MAX_NODES; i++) {
        fusion_arg args[] = {fusion_arg_read(buffers[i % BUFFERS]), fusion_arg_write(buffers[(i + 1) % BUFFERS])};
        assert_int_equal(add_node(graph, module, "neighbour", 16, args, 2), i);
    }
    expect_below(began, 3, "65,536 nodes without names"); /* was 12 s for 10,000 */
    fusion_arg args[] = {fusion_arg_read(buffers[0]), fusion_arg_write(buffers[1])};
    fusion_kernel_node more = {
        .module = module, .kernel = "neighbour", .dims = 1, .global = {16}, .args = args, .n_args = 2};
    expect_error(fusion_graph_add_kernel(graph, &more, NULL), FUSION_OUT_OF_MEMORY);
    expect_in_reason("65536 nodes");
    fusion_graph_destroy(graph);
}

/* A kernel with as many values as one can have. */
static fusion_module *load_many_values(void)
{
    char text[PROTO_MAX_ARGS * 16] = "kernel @many(%v0: i32";
    size_t used = strlen(text);
    fusion_module *m;
    for (int i = 1; i < PROTO_MAX_ARGS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, ", %%v%d: i32", i);
    used += (size_t)snprintf(text + used, sizeof text - used, ") {}\n");
    expect_ok(fusion_module_load(session, "many.fk", text, used, &m));
    return m;
}

static void test_values(void **state)
{
    (void)state;
    fusion_graph *graph;
    fusion_arg args[PROTO_MAX_ARGS + 1];
    fusion_module *many = load_many_values();
    fusion_kernel_node node = {.module = many, .kernel = "many", .dims = 1, .global = {16}, .args = args};
    expect_ok(fusion_graph_create(session, &graph));
    for (uint32_t i = 0; i <= PROTO_MAX_ARGS; i++) args[i] = fusion_arg_i32((int)i);
    node.n_args = PROTO_MAX_ARGS + 1;
    expect_error(fusion_graph_add_kernel(graph, &node, NULL), FUSION_INVALID);
    node.n_args = PROTO_MAX_ARGS;
    for (uint32_t i = 0; i < PROTO_MAX_VALUES / PROTO_MAX_ARGS; i++)
        expect_ok(fusion_graph_add_kernel(graph, &node, NULL));
    expect_error(fusion_graph_add_kernel(graph, &node, NULL), FUSION_OUT_OF_MEMORY);
    expect_in_reason("65536 values");
    fusion_graph_destroy(graph);
    fusion_module_destroy(many);
}

static void nothing(void *data)
{
    (void)data;
}

/* Finding what each node does, at finalize, and taking a graph with others inside apart. */
static void test_host_tasks(void **state)
{
    (void)state;
    fusion_graph *inner, *graph;
    fusion_exec *exec;
    double began = processor_seconds();
    expect_ok(fusion_graph_create(session, &inner));
    for (int i = 0; i < HOST_TASKS; i++)
        expect_ok(fusion_graph_add_host_task(inner, NULL, NULL, 0, nothing, NULL, NULL, 0, NULL));
    expect_ok(fusion_graph_create(session, &graph));
    expect_ok(fusion_graph_add_graph(graph, "inner", inner, NULL, NULL, 0, NULL));
    expect_ok(fusion_graph_finalize(graph, NULL, &exec));
    expect_below(began, 2, "20,000 host tasks in an inner graph");
    assert_int_equal(fusion_exec_report(exec)->n_order, 1);
    fusion_exec_destroy(exec);
    fusion_graph_destroy(graph);
    fusion_graph_destroy(inner);
}

/* Each node is compared with what the other open recording does. */
static void test_two_recordings(void **state)
{
    (void)state;
    fusion_queue *queues[2];
    fusion_graph *graphs[2];
    for (int k = 0; k < 2; k++) {
        expect_ok(fusion_queue_create(session, &queues[k]));
        expect_ok(fusion_graph_create(session, &graphs[k]));
        expect_ok(fusion_graph_begin_recording(graphs[k], queues[k]));
    }
    double began = processor_seconds();
    for (int i = 0; i < RECORDED; i++)
        for (int k = 0; k < 2; k++) {
            int half = k * BUFFERS / 2;
            fusion_arg args[] = {fusion_arg_read(buffers[half + i % 100]),
                                 fusion_arg_write(buffers[half + 100 + i % 100])};
            fusion_kernel_node node = {
                .module = module, .kernel = "neighbour", .dims = 1, .global = {16}, .args = args, .n_args = 2};
            expect_ok(fusion_queue_submit(queues[k], &node, NULL));
        }
    expect_below(began, 1.5, "two recordings of 10,000 nodes");
    for (int k = 0; k < 2; k++) {
        fusion_graph_destroy(graphs[k]);
        fusion_queue_destroy(queues[k]);
    }
}

/* Each waits for the one before and for the one before that: ways back are as many as Fibonacci's rabbits. */
static void test_recordings_that_wait(void **state)
{
    (void)state;
    fusion_queue *queues[RECORDINGS];
    fusion_graph *graphs[RECORDINGS];
    fusion_event events[RECORDINGS];
    double began = processor_seconds();
    for (int i = 0; i < RECORDINGS; i++) {
        expect_ok(fusion_queue_create(session, &queues[i]));
        expect_ok(fusion_graph_create(session, &graphs[i]));
        expect_ok(fusion_graph_begin_recording(graphs[i], queues[i]));
        if (i > 1) expect_ok(fusion_queue_depends_on(queues[i], &events[i - 2], 1));
        if (i > 0) expect_ok(fusion_queue_depends_on(queues[i], &events[i - 1], 1));
        fusion_arg args[] = {fusion_arg_read(buffers[i]), fusion_arg_write(buffers[RECORDINGS + i])};
        fusion_kernel_node node = {
            .module = module, .kernel = "neighbour", .dims = 1, .global = {16}, .args = args, .n_args = 2};
        expect_ok(fusion_queue_submit(queues[i], &node, &events[i]));
    }
    expect_error(fusion_queue_depends_on(queues[0], &events[RECORDINGS - 1], 1), FUSION_INVALID);
    expect_in_reason("circle");
    expect_below(began, 1, "recordings that wait for two others each");
    for (int i = 0; i < RECORDINGS; i++) {
        fusion_graph_destroy(graphs[i]);
        fusion_queue_destroy(queues[i]);
    }
}

static void test_buffers_come_and_go(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    fusion_buffer **many = calloc(MANY, sizeof *many);
    double began = processor_seconds();
    for (int i = 0; i < MANY; i++) expect_ok(fusion_buffer_create(session, NULL, FUSION_I32, 16, 0, &many[i]));
    for (int i = 0; i < REUSED; i++) {
        fusion_buffer *last;
        fusion_buffer_destroy(many[0]);
        expect_ok(fusion_buffer_create(session, NULL, FUSION_I32, 16, 0, &many[0]));
        expect_ok(fusion_buffer_create(session, NULL, FUSION_I32, 16, 0, &last)); /* behind all others */
        fusion_buffer_destroy(last);
    }
    for (int i = 0; i < MANY; i++) fusion_buffer_destroy(many[i]);
    expect_below(began, 1, "100,000 buffers among 20,000");
    free(many);
}

/* ---- the daemon ---- */

static double daemon_seconds(void)
{
    clockid_t its_clock;
    struct timespec t;
    assert_int_equal(clock_getcpuclockid(service.pid, &its_clock), 0);
    assert_int_equal(clock_gettime(its_clock, &t), 0);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct asking {
    fusion_session *session;
    atomic_bool ends;
    double most; /* seconds of its processor that the daemon had something else to do before an answer */
};

static void *ask(void *data)
{
    struct asking *a = data;
    while (!atomic_load(&a->ends)) {
        char *json;
        double began = daemon_seconds();
        if (fusion_session_status(a->session, &json) != FUSION_SUCCESS) break;
        free(json);
        if (daemon_seconds() - began > a->most) a->most = daemon_seconds() - began;
    }
    return NULL;
}

/* For each launch its code is looked for in each module. How the finalize ends depends on how many files may be open.
 */
static void test_many_launches_of_many_modules(void **state)
{
    (void)state;
    enum { MODULES = 4000, LAUNCHES = 16000 };
    pthread_t thread;
    struct asking a = {.session = service_connect(&service)};
    fusion_session *busy = service_connect(&service);
    fusion_buffer *out = index_buffer(busy, "out", 64, 0, 0), *in = index_buffer(busy, "in", 64, 1, 0);
    fusion_graph *graph;
    fusion_exec *exec;
    expect_ok(fusion_graph_create(busy, &graph));
    fusion_module *last = NULL;
    for (int i = 0; i < LAUNCHES; i++) {
        fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(out), fusion_arg_i32(i)};
        if (i < MODULES) last = load_test_kernels(busy);
        add_node(graph, last, "scale", 64, args, 3);
    }
    assert_int_equal(pthread_create(&thread, NULL, ask, &a), 0);
    fusion_finalize_options options = {FUSION_SIZED(fusion_finalize_options), .mode = FUSION_NONE};
    fusion_status status = fusion_graph_finalize(graph, &options, &exec);
    atomic_store(&a.ends, true);
    pthread_join(thread, NULL);
    print_message("# %s; others have waited for %.3f s of the daemon's processor\n", fusion_status_name(status),
                  a.most);
    assert_true(a.most < 0.25);
    fusion_disconnect(busy);
    fusion_disconnect(a.session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes_without_names),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_host_tasks),
        cmocka_unit_test(test_two_recordings),
        cmocka_unit_test(test_recordings_that_wait),
        cmocka_unit_test(test_buffers_come_and_go),
        cmocka_unit_test(test_many_launches_of_many_modules),
    };
    return cmocka_run_group_tests_name("large graphs", tests, start, stop);
}
