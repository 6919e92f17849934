/* Processes that die, kernels that misbehave: who is harmed, what is said, what is left. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "proto/writer.h"
#include "tests/support/service.h"

enum { SIZE = 256 };

static struct service service;

static int start(void **state)
{
    (void)state;
    static const char *const options[] = {"--time-limit", "1500", NULL};
    service_start(&service, options);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    service_clear(&service);
    return 0;
}

struct client {
    fusion_session *session;
    fusion_module *module;
    fusion_graph *graph;
    fusion_buffer *in, *out;
    fusion_exec *exec;
};

static void open_client(struct client *c, uint32_t time_limit_ms)
{
    *c = (struct client){0};
    expect_ok(fusion_connect(service.socket, &(fusion_connect_options){.time_limit_ms = time_limit_ms}, &c->session));
    c->module = load_test_kernels(c->session);
    c->in = index_buffer(c->session, "in", SIZE, 1, 0);
    c->out = index_buffer(c->session, "out", SIZE, 0, 0);
    expect_ok(fusion_graph_create(c->session, &c->graph));
    fusion_arg args[] = {fusion_arg_read(c->in), fusion_arg_write(c->out), fusion_arg_i32(3)};
    add_node(c->graph, c->module, "scale", SIZE, args, 3);
    expect_ok(fusion_graph_finalize(c->graph, NULL, &c->exec));
}

static fusion_status run(struct client *c, fusion_exec *exec)
{
    fusion_event event;
    fusion_status status = fusion_exec_submit(exec, NULL, 0, &event);
    return status == FUSION_SUCCESS ? fusion_event_wait(c->session, event, 20000, NULL) : status;
}

static void expect_values(struct client *c)
{
    void *memory;
    expect_ok(fusion_buffer_map(c->out, &memory));
    memset(memory, 0, SIZE * 4);
    expect_ok(run(c, c->exec));
    for (int i = 0; i < SIZE; i++) assert_int_equal(((int *)memory)[i], 3 * i);
}

static fusion_exec *one_kernel(struct client *c, const char *kernel, const fusion_arg *args, uint32_t n)
{
    fusion_graph *graph;
    fusion_exec *exec;
    expect_ok(fusion_graph_create(c->session, &graph));
    add_node(graph, c->module, kernel, SIZE, args, n);
    expect_ok(fusion_graph_finalize(graph, NULL, &exec));
    return exec;
}

static void test_kernel_out_of_bounds(void **state)
{
    (void)state;
    struct client bad, good;
    open_client(&good, 0);
    open_client(&bad, 0);
    fusion_arg args[] = {fusion_arg_write(bad.out), fusion_arg_i64(1 << 12)};
    fusion_exec *exec = one_kernel(&bad, "write_beyond", args, 2);
    assert_int_equal(run(&bad, exec), FUSION_KERNEL_FAULT);
    expect_in_reason("out");
    expect_values(&good); /* nobody else notices */
    expect_values(&bad);  /* the same handles work in the new executor */
    fusion_disconnect(bad.session);
    fusion_disconnect(good.session);
}

static void test_endless_kernel(void **state)
{
    (void)state;
    struct client bad, good;
    open_client(&good, 0);
    open_client(&bad, 300);
    fusion_arg args[] = {fusion_arg_read_write(bad.out)};
    fusion_exec *exec = one_kernel(&bad, "endless", args, 1);
    fusion_event event;
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_values(&good); /* while it runs */
    expect_error(fusion_event_wait(bad.session, event, 20000, NULL), FUSION_TIMEOUT);
    expect_in_reason("300");
    expect_values(&bad);
    fusion_disconnect(bad.session);
    fusion_disconnect(good.session);
}

static pid_t executor_of(fusion_session *session)
{
    /* The newest executor is the one of the newest session. */
    pid_t pids[64];
    (void)session;
    int n = service_executors(&service, false, pids, 64);
    assert_true(n > 0);
    return pids[n - 1];
}

static void test_executor_killed(void **state)
{
    (void)state;
    struct client good, bad;
    open_client(&good, 0);
    open_client(&bad, 20000);
    fusion_arg args[] = {fusion_arg_read_write(bad.out)};
    fusion_exec *endless = one_kernel(&bad, "endless", args, 1);
    fusion_event running, waiting;
    expect_ok(fusion_exec_submit(endless, NULL, 0, &running));
    expect_ok(fusion_exec_submit(bad.exec, NULL, 0, &waiting));
    usleep(50000);
    kill(executor_of(bad.session), SIGKILL);
    expect_error(fusion_event_wait(bad.session, running, 20000, NULL), FUSION_EXECUTOR);
    expect_in_reason("9");
    expect_error(fusion_event_wait(bad.session, waiting, 20000, NULL), FUSION_EXECUTOR);
    expect_values(&bad);
    expect_values(&good);
    fusion_disconnect(bad.session);
    fusion_disconnect(good.session);
}

/* The executor that waits for a session, another one than that. */
static pid_t waiting_executor(pid_t but)
{
    pid_t pids[64];
    for (int i = 0; i < 2000; i++, usleep(10000))
        if (service_executors(&service, true, pids, 64) == 1 && pids[0] != but) return pids[0];
    fail_msg("no executor waits for a session");
    return 0;
}

/* The executor that is started ahead dies before it has a session: the next session gets another one, and another one
   waits again, whether a session came or not. */
static void test_waiting_executor_killed(void **state)
{
    (void)state;
    struct client good, later;
    open_client(&good, 0);
    long long lost = service_counter(good.session, "executors_lost");
    pid_t first = waiting_executor(0);
    kill(first, SIGKILL);
    pid_t second = waiting_executor(first);
    kill(second, SIGKILL);
    open_client(&later, 0);
    waiting_executor(second);
    expect_values(&later);
    expect_values(&good);
    /* The second was dying, which takes as long as a loaded machine lets it: it may have been the session's before. */
    assert_in_range(service_counter(good.session, "executors_lost"), lost, lost + 1);
    fusion_disconnect(later.session);
    fusion_disconnect(good.session);
}

/* A client that leaves as soon as it knows leaves the daemon no time to notice: the death counts all the same. */
static void test_lost_is_counted(void **state)
{
    (void)state;
    enum { TIMES = 10 };
    struct client good, bad;
    open_client(&good, 0);
    long long before = service_counter(good.session, "executors_lost");
    for (int i = 0; i < TIMES; i++) {
        fusion_event event;
        open_client(&bad, 0);
        fusion_arg args[] = {fusion_arg_write(bad.out), fusion_arg_i64(1ll << 40)};
        fusion_exec *exec = one_kernel(&bad, "write_beyond", args, 2);
        expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
        expect_error(fusion_event_wait(bad.session, event, 20000, NULL), FUSION_KERNEL_FAULT);
        fusion_disconnect(bad.session);
    }
    long long sessions = 2;
    for (int i = 0; i < 2000 && (sessions = service_counter(good.session, "sessions")) > 1; i++) usleep(10000);
    assert_int_equal(sessions, 1);
    assert_int_equal(service_counter(good.session, "executors_lost") - before, TIMES);
    fusion_disconnect(good.session);
}

/* Who faults again and again gets the next executor later and later; the daemon does not start one after the other. */
static void test_restarts_back_off(void **state)
{
    (void)state;
    enum { DEATHS = 8 }; /* pauses of 0, 10, 20, 40 ... 640 ms */
    struct client c;
    struct timespec begin, end;
    open_client(&c, 0);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < DEATHS; i++) {
        long long lost = service_counter(c.session, "executors_lost");
        kill(executor_of(c.session), SIGKILL);
        /* The submission is not to meet the one that dies. */
        while (service_counter(c.session, "executors_lost") == lost) usleep(5000);
        assert_int_equal(run(&c, c.exec), FUSION_SUCCESS);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    long ms = (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000;
    assert_true(ms > 1200);
    expect_values(&c);
    fusion_disconnect(c.session);
}

/* Idle or busy, at many moments. */
static void test_executor_killed_again_and_again(void **state)
{
    (void)state;
    struct client c;
    open_client(&c, 0);
    for (int i = 0; i < 10; i++) {
        expect_values(&c);
        for (int k = 0; k < i; k++) expect_ok(fusion_exec_submit(c.exec, NULL, 0, NULL));
        kill(executor_of(c.session), SIGKILL);
        usleep((unsigned)(i % 3) * 2000);
        /* This one may meet the dead executor; the next request must not. */
        fusion_status status = run(&c, c.exec);
        assert_true(status == FUSION_SUCCESS || status == FUSION_EXECUTOR);
        usleep(100000);
    }
    expect_values(&c);
    fusion_disconnect(c.session);
}

/* An executor whose own watchdog does nothing, as when a kernel has overwritten it: here it is stopped. */
static void test_executor_without_watchdog(void **state)
{
    (void)state;
    struct client good, bad;
    open_client(&good, 0);
    open_client(&bad, 300);
    fusion_arg args[] = {fusion_arg_read_write(bad.out)};
    fusion_exec *endless = one_kernel(&bad, "endless", args, 1);
    fusion_event running, waiting;
    expect_ok(fusion_exec_submit(endless, NULL, 0, &running));
    expect_ok(fusion_exec_submit(bad.exec, NULL, 0, &waiting));
    usleep(50000);
    kill(executor_of(bad.session), SIGSTOP);
    expect_error(fusion_event_wait(bad.session, running, 20000, NULL), FUSION_TIMEOUT);
    expect_in_reason("300 ms");
    expect_error(fusion_event_wait(bad.session, waiting, 20000, NULL), FUSION_EXECUTOR);
    expect_in_reason("another submission ran out of time");
    expect_values(&bad);
    expect_values(&good);
    fusion_disconnect(bad.session);
    fusion_disconnect(good.session);
}

/* A module that takes the compiler a while: a long chain of divisions. */
static char *slow_module(int seed)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    fputs("kernel @slow(%a: ptr.global f32 read, %o: ptr.global f32 write) {\n  %i = global_id x\n  %v0 = load f32 "
          "%a[%i]\n",
          f);
    for (int i = 0; i < 3000; i++)
        fprintf(f, "  %%v%d = %s f32 %%v%d, %d.5\n", i + 1, i % 3 ? "fadd" : "fdiv", i, seed + i % 17);
    fputs("  store f32 %o[%i], %v3000\n  return\n}\n", f);
    fclose(f);
    return text;
}

struct slow {
    struct client *client;
    int seed;
    fusion_status status;
    char reason[256];
};

static void *finalize_slow(void *data)
{
    struct slow *s = data;
    char *text = slow_module(s->seed);
    fusion_module *module;
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_buffer *a, *o;
    s->status = fusion_module_load(s->client->session, "slow.fk", text, strlen(text), &module);
    free(text);
    if (s->status) {
        snprintf(s->reason, sizeof s->reason, "%.255s", fusion_last_error()->reason);
        return NULL;
    }
    fusion_buffer_create(s->client->session, "fa", FUSION_F32, SIZE, 0, &a);
    fusion_buffer_create(s->client->session, "fo", FUSION_F32, SIZE, 0, &o);
    fusion_graph_create(s->client->session, &graph);
    fusion_arg args[] = {fusion_arg_read(a), fusion_arg_write(o)};
    fusion_kernel_node k = {.module = module, .kernel = "slow", .dims = 1, .global = {SIZE}, .args = args, .n_args = 2};
    fusion_graph_add_kernel(graph, &k, NULL);
    s->status = fusion_graph_finalize(graph, NULL, &exec);
    snprintf(s->reason, sizeof s->reason, "%.255s", fusion_last_error()->reason);
    return NULL;
}

static void test_compiler_killed(void **state)
{
    (void)state;
    struct client good, bad;
    open_client(&good, 0);
    open_client(&bad, 0);
    bool seen = false;
    for (int i = 0; i < 20 && !seen; i++) {
        struct slow slow = {.client = &bad, .seed = i};
        pthread_t thread;
        pthread_create(&thread, NULL, finalize_slow, &slow);
        usleep(60000 + (unsigned)i * 20000);
        pid_t pids[16];
        int n = service_children(&service, "fusiond-comp", pids, 16);
        for (int k = 0; k < n; k++) kill(pids[k], SIGKILL);
        pthread_join(thread, NULL);
        assert_int_equal(slow.status, FUSION_SUCCESS); /* it is done again by another one */
        seen = service_counter(good.session, "jobs_repeated") > 0;
        expect_values(&good);
    }
    assert_true(seen);
    struct slow again = {.client = &bad, .seed = 100}; /* a new request succeeds */
    finalize_slow(&again);
    assert_int_equal(again.status, FUSION_SUCCESS);
    fusion_disconnect(bad.session);
    fusion_disconnect(good.session);
}

static void test_client_killed(void **state)
{
    (void)state;
    struct client good;
    open_client(&good, 0);
    for (int i = 0; i < 5; i++) {
        pid_t pid = fork_or_fail();
        if (pid == 0) {
            fusion_session *session;
            fusion_connect(service.socket, NULL, &session);
            fusion_module *module;
            fusion_module_load(session, "test.fk", test_kernels, strlen(test_kernels), &module);
            raise(SIGKILL);
        }
        waitpid(pid, NULL, 0);
    }
    expect_values(&good);
    long long sessions = 0;
    for (int i = 0; i < 2000 && (sessions = service_counter(good.session, "sessions")) > 1; i++) usleep(10000);
    assert_int_equal(sessions, 1);
    pid_t pids[16];
    for (int i = 0; i < 2000 && service_executors(&service, false, pids, 16) > 1; i++) usleep(10000);
    assert_true(service_executors(&service, false, pids, 16) <= 1);
    fusion_disconnect(good.session);
}

/* A client that asks and asks and never reads the answers is closed; nobody else notices. */
static void test_slow_client(void **state)
{
    (void)state;
    struct client good;
    open_client(&good, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", service.socket);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    struct proto_writer hello, list;
    proto_begin_request(&hello, 1, "hello");
    proto_pack_map(&hello, 3);
    proto_pack_uint(&hello, "min", 1);
    proto_pack_uint(&hello, "max", 1);
    proto_pack_string(&hello, "name", "slow");
    assert_true(proto_finish(&hello));
    proto_begin_request(&list, 2, "device.list");
    proto_pack_map(&list, 0);
    assert_true(proto_finish(&list));
    assert_true(send(fd, hello.buffer.data, hello.buffer.size, MSG_NOSIGNAL) > 0);
    bool closed = false;
    for (int i = 0; i < 400000 && !closed; i++) {
        ssize_t n = send(fd, list.buffer.data, list.buffer.size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN)
            usleep(1000);
        else
            closed = n < 0;
        if (i % 50000 == 0) expect_values(&good);
    }
    assert_true(resident_bytes(service.pid) < 200 << 20); /* what was not read was not kept for ever */
    close(fd);
    proto_writer_clear(&hello);
    proto_writer_clear(&list);
    expect_values(&good);
    fusion_disconnect(good.session);
}

static int entries(const char *folder)
{
    DIR *d = opendir(folder);
    int n = 0;
    if (!d) return 0;
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) {
            n++;
            if (strcmp(e->d_name, "cache")) print_message("left: %s/%s\n", folder, e->d_name);
        }
    closedir(d);
    return n;
}

static void test_nothing_is_left(void **state)
{
    (void)state;
    struct service s;
    service_start(&s, NULL);
    fusion_session *session = service_connect(&s);
    load_test_kernels(session);
    pid_t pids[32];
    int n = service_children(&s, "fusiond-", pids, 32);
    assert_true(n >= 1);
    service_stop(&s);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 2000 && process_lives(pids[i]); k++) usleep(10000);
        assert_false(process_lives(pids[i]));
    }
    assert_int_equal(entries(s.folder), 1); /* the cache */
    fusion_disconnect(session);
    service_clear(&s);
}

static void test_nothing_is_left_after_a_kill(void **state)
{
    (void)state;
    struct service s;
    service_start(&s, NULL);
    fusion_session *session = service_connect(&s);
    fusion_module *module = load_test_kernels(session);
    pid_t pids[32];
    int n = service_children(&s, "fusiond-", pids, 32);
    assert_true(n >= 1);
    kill(s.pid, SIGKILL);
    waitpid(s.pid, NULL, 0);
    s.pid = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 2000 && process_lives(pids[i]); k++) usleep(10000);
        assert_false(process_lives(pids[i]));
    }
    char *text;
    expect_error(fusion_module_text(module, &text), FUSION_CONNECTION);
    fusion_disconnect(session);
    service_restart(&s, NULL); /* the stale socket and folders are no obstacle */
    session = service_connect(&s);
    load_test_kernels(session);
    fusion_disconnect(session);
    service_stop(&s);
    assert_int_equal(entries(s.folder), 1);
    service_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel_out_of_bounds),
        cmocka_unit_test(test_endless_kernel),
        cmocka_unit_test(test_executor_killed),
        cmocka_unit_test(test_waiting_executor_killed),
        cmocka_unit_test(test_executor_without_watchdog),
        cmocka_unit_test(test_lost_is_counted),
        cmocka_unit_test(test_restarts_back_off),
        cmocka_unit_test(test_executor_killed_again_and_again),
        cmocka_unit_test(test_compiler_killed),
        cmocka_unit_test(test_client_killed),
        cmocka_unit_test(test_slow_client),
        cmocka_unit_test(test_nothing_is_left),
        cmocka_unit_test(test_nothing_is_left_after_a_kill),
    };
    return cmocka_run_group_tests_name("faults", tests, start, stop);
}
