/* Several threads with one session: runs execute in order, whole, and objects are shared without harm. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { SIZE = 64, THREADS = 3, RUNS = 60, MOST_THREADS = 8 };

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
    "kernel @bump(%a: ptr.global i32 read_write) {\n  %i = global_id x\n  %x = load i32 %a[%i]\n  %y = add i32 %x, 1\n"
    "  store i32 %a[%i], %y\n  return\n}\n";

struct shared {
    fusion_session *session;
    fusion_module *module;
    fusion_buffer *counter; /* every run adds 1 */
    int *memory;
    pthread_barrier_t barrier;
};

static void open_shared(struct shared *s, unsigned threads)
{
    void *memory;
    s->session = service_connect(&service);
    expect_ok(fusion_module_load(s->session, "bump", kernels, sizeof kernels - 1, &s->module));
    s->counter = index_buffer(s->session, "counter", SIZE, 0, 0);
    expect_ok(fusion_buffer_map(s->counter, &memory));
    s->memory = memory;
    pthread_barrier_init(&s->barrier, NULL, threads);
}

/* ---- runs in order ---- */

/* What one thread submits: host task, kernel, host task. */
struct runner {
    struct shared *shared;
    fusion_exec *exec, *plain;
    int first;   /* the counter at the first host task of a run */
    int strange; /* runs in which another one came in between */
    fusion_status status;
};

static void at_first(void *data)
{
    struct runner *r = data;
    r->first = atomic_load((_Atomic int *)r->shared->memory);
    usleep(200);
}

/* Exactly one kernel has run since: this run's. */
static void at_last(void *data)
{
    struct runner *r = data;
    usleep(200);
    if (atomic_load((_Atomic int *)r->shared->memory) != r->first + 1) r->strange++;
}

static void make_runner(struct runner *r, struct shared *s)
{
    fusion_graph *graph, *plain;
    fusion_node first, kernel;
    fusion_arg args[] = {fusion_arg_read_write(s->counter)}, look[] = {fusion_arg_read(s->counter)};
    *r = (struct runner){.shared = s};
    expect_ok(fusion_graph_create(s->session, &graph));
    expect_ok(fusion_graph_add_host_task(graph, "first", look, 1, at_first, r, NULL, 0, &first));
    kernel = add_node(graph, s->module, "bump", SIZE, args, 1);
    expect_ok(fusion_graph_add_host_task(graph, "last", look, 1, at_last, r, &kernel, 1, NULL));
    expect_ok(fusion_graph_finalize(graph, NULL, &r->exec));
    expect_ok(fusion_graph_create(s->session, &plain));
    add_node(plain, s->module, "bump", SIZE, args, 1);
    expect_ok(fusion_graph_finalize(plain, NULL, &r->plain));
}

static void *run_whole(void *data)
{
    struct runner *r = data;
    pthread_barrier_wait(&r->shared->barrier);
    for (int i = 0; i < RUNS && r->status == FUSION_SUCCESS; i++) {
        fusion_event event;
        r->status = fusion_exec_submit(i % 3 == 2 ? r->plain : r->exec, NULL, 0, &event);
        if (r->status == FUSION_SUCCESS && i % 7 == 0)
            r->status = fusion_event_wait(r->shared->session, event, -1, NULL);
    }
    return NULL;
}

static void test_runs_are_whole(void **state)
{
    (void)state;
    struct shared s;
    struct runner runners[THREADS];
    pthread_t threads[THREADS];
    void *memory;
    open_shared(&s, THREADS);
    for (int i = 0; i < THREADS; i++) make_runner(&runners[i], &s);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run_whole, &runners[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(runners[i].status, FUSION_SUCCESS);
        assert_int_equal(runners[i].strange, 0);
    }
    expect_ok(fusion_buffer_map(s.counter, &memory));
    for (int i = 0; i < SIZE; i++) assert_int_equal(((int *)memory)[i], THREADS * RUNS);
    fusion_disconnect(s.session);
}

/* A host task that submits: its runs come where it stands. */
static void submit_inside(void *data)
{
    struct runner *r = data;
    fusion_event event;
    r->first = atomic_load((_Atomic int *)r->shared->memory);
    for (int i = 0; i < 5 && r->status == FUSION_SUCCESS; i++)
        r->status = fusion_exec_submit(r->plain, NULL, 0, &event);
    if (r->status == FUSION_SUCCESS) r->status = fusion_event_wait(r->shared->session, event, 10000, NULL);
    if (atomic_load((_Atomic int *)r->shared->memory) != r->first + 5) r->strange++;
}

static void test_host_task_that_submits(void **state)
{
    (void)state;
    struct shared s;
    struct runner r;
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_event event;
    open_shared(&s, 1);
    make_runner(&r, &s);
    expect_ok(fusion_graph_create(s.session, &graph));
    expect_ok(fusion_graph_add_host_task(graph, "inside", NULL, 0, submit_inside, &r, NULL, 0, NULL));
    expect_ok(fusion_graph_finalize(graph, NULL, &exec));
    alarm(60);
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(s.session, event, 10000, NULL));
    alarm(0);
    assert_int_equal(r.status, FUSION_SUCCESS);
    assert_int_equal(r.strange, 0);
    fusion_disconnect(s.session);
}

/* ---- objects that several threads use ---- */

struct user {
    struct shared *shared;
    fusion_buffer *const *fresh; /* buffers without memory so far */
    void *mapped[RUNS];
    fusion_queue *queue;
    fusion_status status;
};

static void *map_all(void *data)
{
    struct user *u = data;
    for (int i = 0; i < RUNS && u->status == FUSION_SUCCESS; i++) {
        pthread_barrier_wait(&u->shared->barrier);
        u->status = fusion_buffer_map(u->fresh[i], &u->mapped[i]);
    }
    return NULL;
}

static void run_threads(struct user *users, void *(*function)(void *))
{
    pthread_t threads[MOST_THREADS];
    for (int i = 0; i < MOST_THREADS; i++) pthread_create(&threads[i], NULL, function, &users[i]);
    for (int i = 0; i < MOST_THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < MOST_THREADS; i++) assert_int_equal(users[i].status, FUSION_SUCCESS);
}

static void test_one_memory_for_all(void **state)
{
    (void)state;
    struct shared s;
    struct user users[MOST_THREADS];
    fusion_buffer *fresh[RUNS];
    open_shared(&s, MOST_THREADS);
    for (int i = 0; i < RUNS; i++) expect_ok(fusion_buffer_create(s.session, NULL, FUSION_I32, SIZE, 0, &fresh[i]));
    for (int i = 0; i < MOST_THREADS; i++) users[i] = (struct user){.shared = &s, .fresh = fresh};
    run_threads(users, map_all);
    for (int i = 1; i < MOST_THREADS; i++)
        for (int k = 0; k < RUNS; k++) assert_ptr_equal(users[i].mapped[k], users[0].mapped[k]);
    fusion_disconnect(s.session);
}

static void *submit_to_queue(void *data)
{
    struct user *u = data;
    fusion_arg args[] = {fusion_arg_read_write(u->shared->counter)};
    pthread_barrier_wait(&u->shared->barrier);
    for (uint64_t i = 0; i < RUNS && u->status == FUSION_SUCCESS; i++) {

        fusion_kernel_node node = {
            .module = u->shared->module, .kernel = "bump", .dims = 1, .global = {1 + i % 5}, .args = args, .n_args = 1};
        u->status = fusion_queue_submit(u->queue, &node, NULL);
    }
    return NULL;
}

static void test_one_queue_for_all(void **state)
{
    (void)state;
    struct shared s;
    struct user users[MOST_THREADS];
    fusion_queue *queue;
    void *memory;
    open_shared(&s, MOST_THREADS);
    expect_ok(fusion_queue_create(s.session, &queue));
    for (int i = 0; i < MOST_THREADS; i++) users[i] = (struct user){.shared = &s, .queue = queue};
    run_threads(users, submit_to_queue);
    expect_ok(fusion_queue_wait(queue));
    expect_ok(fusion_buffer_map(s.counter, &memory));
    for (int i = 0; i < 5; i++) assert_int_equal(((int *)memory)[i], MOST_THREADS * RUNS / 5 * (5 - i));
    fusion_disconnect(s.session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_are_whole),
        cmocka_unit_test(test_host_task_that_submits),
        cmocka_unit_test(test_one_memory_for_all),
        cmocka_unit_test(test_one_queue_for_all),
    };
    return cmocka_run_group_tests_name("threads", tests, start, stop);
}
