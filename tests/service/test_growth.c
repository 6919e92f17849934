/* Much of everything: finalizes and submissions, after which the daemon's memory, the compilers' and the executor's are
   what they were, and clients at the same time. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { SIZE = 64 };

enum { DISTINCT = 1000, ONE_IN = 100, FLAT_FROM = 10000, FLAT_BYTES = 3 << 20 };

static int number(const char *variable, int usual)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : usual;
}

/* Which graph is finalized as the i-th: the first ones are new, and so is one in a hundred after that; the others were
   there before. */
static int graph_of(int i)
{
    return i < DISTINCT || i % ONE_IN == 0 ? i : i % DISTINCT;
}

/* Each graph has a kernel of its own: other code, another plan, another object. */
static void finalize(fusion_session *session, fusion_buffer *in, fusion_buffer *out, int n)
{
    char source[512];
    snprintf(source, sizeof source,
             "kernel @k(%%a: ptr.global i32 read, %%o: ptr.global i32 write) {\n  %%i = global_id x\n  %%x = load i32 "
             "%%a[%%i]\n"
             "  %%y = mul i32 %%x, %d\n  %%z = add i32 %%y, %d\n  store i32 %%o[%%i], %%z\n  return\n}\n",
             n + 3, n * 7);
    fusion_module *module;
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_event event;
    void *memory;
    expect_ok(fusion_module_load(session, "distinct.fk", source, strlen(source), &module));
    expect_ok(fusion_graph_create(session, &graph));
    fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(out)};
    add_node(graph, module, "k", SIZE, args, 2);
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.mode = FUSION_ENABLE}, &exec));
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(session, event, 20000, NULL));
    expect_ok(fusion_buffer_map(out, &memory));
    assert_int_equal(((int *)memory)[SIZE - 1], (SIZE - 1) * (n + 3) + n * 7);
    fusion_exec_destroy(exec);
    fusion_graph_destroy(graph);
    fusion_module_destroy(module);
}

static void test_finalizes(void **state)
{
    (void)state;
    struct service s;
    service_start(&s, NULL);
    fusion_session *session = service_connect(&s);
    fusion_buffer *in = index_buffer(session, "in", SIZE, 1, 0), *out = index_buffer(session, "out", SIZE, 0, 0);
    long long largest_compiler = 0, early = 0;
    int n = number("FUSIOND_TEST_FINALIZES", 250),
        distinct = 0; /* each job is a new process: only the daemon can grow */
    for (int i = 0; i < n; i++) {
        finalize(session, in, out, graph_of(i));
        distinct += graph_of(i) == i;
        if (i == n / 10) early = resident_bytes(s.pid);
        if (i % 50) continue;
        pid_t pids[16];
        int compilers = service_children(&s, "fusiond-comp", pids, 16);
        for (int k = 0; k < compilers; k++) {
            long long bytes = resident_bytes(pids[k]);
            if (bytes > largest_compiler) largest_compiler = bytes;
        }
    }
    long long daemon = resident_bytes(s.pid);
    print_message("# after %d finalizes: daemon %.1f MB (%.1f after a tenth of them), largest compiler %.1f MB\n", n,
                  (double)daemon / 1e6, (double)early / 1e6, (double)largest_compiler / 1e6);
    assert_true(service_counter(session, "object_misses") >= distinct);
    assert_true(daemon < 30 * 1000 * 1000);
    assert_true(largest_compiler < 150 * 1000 * 1000);
    if (n >= FLAT_FROM) assert_true(daemon < early + FLAT_BYTES);
    fusion_disconnect(session);
    service_clear(&s);
}

/* ---- submissions ---- */

/* o[i] += by: what it comes to says how many were run. */
static fusion_exec *make_sum(fusion_session *session, fusion_buffer *o, int by)
{
    char source[300];
    fusion_module *module;
    fusion_graph *graph;
    fusion_exec *exec;
    snprintf(source, sizeof source,
             "kernel @k(%%o: ptr.global i32 read_write) {\n  %%i = global_id x\n  %%x = load i32 %%o[%%i]\n"
             "  %%y = add i32 %%x, %d\n  store i32 %%o[%%i], %%y\n  return\n}\n",
             by);
    expect_ok(fusion_module_load(session, "sum.fk", source, strlen(source), &module));
    expect_ok(fusion_graph_create(session, &graph));
    fusion_arg args[] = {fusion_arg_read_write(o)};
    add_node(graph, module, "k", SIZE, args, 1);
    expect_ok(fusion_graph_finalize(graph, NULL, &exec));
    return exec;
}

static void submit_many(fusion_session *session, fusion_exec *exec, int n)
{
    fusion_event event = 0;
    for (int i = 0; i < n; i++) expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(session, event, 60000, NULL));
}

static void test_submissions(void **state)
{
    enum { AT_ONCE = 500 };
    struct service s;
    pid_t executors[4];
    void *memory;
    (void)state;
    service_start(&s, NULL);
    fusion_session *session = service_connect(&s);
    fusion_buffer *o = index_buffer(session, "o", SIZE, 0, 0);
    fusion_exec *exec = make_sum(session, o, 1);
    int rounds = number("FUSIOND_TEST_SUBMISSIONS", 50000) / AT_ONCE;
    long long early[2] = {0}, late[2];
    submit_many(session, exec, 1);
    assert_int_equal(service_executors(&s, false, executors, 4), 1);
    for (int i = 0; i < rounds; i++) {
        submit_many(session, exec, AT_ONCE);
        if (i != rounds / 10) continue;
        early[0] = resident_bytes(s.pid);
        early[1] = resident_bytes(executors[0]);
    }
    late[0] = resident_bytes(s.pid);
    late[1] = resident_bytes(executors[0]);
    print_message("# after %d submissions: daemon %.1f MB (%.1f after a tenth), executor %.1f MB (%.1f)\n",
                  rounds * AT_ONCE, (double)late[0] / 1e6, (double)early[0] / 1e6, (double)late[1] / 1e6,
                  (double)early[1] / 1e6);
    expect_ok(fusion_buffer_map(o, &memory));
    for (int i = 0; i < SIZE; i++) assert_int_equal(((int *)memory)[i], rounds * AT_ONCE + 1);
    for (int i = 0; i < 2; i++) assert_true(late[i] < early[i] + FLAT_BYTES);
    fusion_disconnect(session);
    service_clear(&s);
}

/* ---- clients ---- */

/* Says that its first result is there; when it is told to go on, that a hundred more are; ends when nobody holds `end`.
 */
_Noreturn static void be_client(const struct service *s, int by, int to, int go, int end)
{
    enum { MORE = 100 };
    char byte = 'r';
    void *memory;
    fusion_session *session;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const fusion_connect_options options = {FUSION_SIZED(fusion_connect_options), .request_limit_ms = 600000};
    if (fusion_connect(s->socket, &options, &session)) _exit(write(to, "x", 1) == 1 ? 3 : 4);
    fusion_buffer *o = index_buffer(session, "o", SIZE, 0, 0);
    fusion_exec *exec = make_sum(session, o, by);
    expect_ok(fusion_buffer_map(o, &memory));
    submit_many(session, exec, 1);
    if (((int *)memory)[SIZE - 1] != by || write(to, &byte, 1) != 1 || read(go, &byte, 1) != 1) _exit(1);
    submit_many(session, exec, MORE);
    if (((int *)memory)[SIZE - 1] != by * (MORE + 1) || write(to, &byte, 1) != 1 || read(end, &byte, 1) != 0) _exit(2);
    fusion_disconnect(session);
    _exit(0);
}

static void await_bytes(int fd, int n)
{
    char byte;
    for (int i = 0; i < n; i++) {
        assert_int_equal(read(fd, &byte, 1), 1);
        assert_int_not_equal(byte, 'x'); /* one that was not let in */
    }
}

static void give_bytes(int fd, int n)
{
    for (int i = 0; i < n; i++) assert_int_equal(write(fd, "g", 1), 1);
}

/* All at once: each has its own results, and of what they hold nothing is left. */
static void test_clients(void **state)
{
    int n = number("FUSIOND_TEST_CLIENTS", 40), told[2], go[2], end[2];
    char most[16];
    struct service s;
    (void)state;
    snprintf(most, sizeof most, "%d", 2 * n + 10); /* no user has all of them */
    service_start(&s, (const char *const[]){"--max-sessions", most, NULL});
    fusion_session *watcher = service_connect(&s);
    long long shared = service_counter(watcher, "shared_bytes"), descriptors = service_counter(watcher, "descriptors");
    pid_t *clients = calloc((size_t)n, sizeof *clients);
    assert_true(clients && pipe(told) == 0 && pipe(go) == 0 && pipe(end) == 0);
    for (int i = 0; i < n; i++) {
        clients[i] = fork_or_fail();
        if (clients[i] == 0) {
            close(told[0]);
            close(go[1]);
            close(end[1]);
            be_client(&s, 1 + i % 7, told[1], go[0], end[0]);
        }
    }
    close(told[1]);
    await_bytes(told[0], n);
    assert_int_equal(service_counter(watcher, "sessions"), n + 1);
    give_bytes(go[1], n);
    await_bytes(told[0], n);
    print_message("# %d clients at once: daemon %.1f MB\n", n, (double)resident_bytes(s.pid) / 1e6);
    assert_int_equal(service_counter(watcher, "sessions"), n + 1);
    close(end[1]);
    for (int i = 0; i < n; i++) {
        int status;
        assert_int_equal(waitpid(clients[i], &status, 0), clients[i]);
        assert_int_equal(status, 0);
    }
    for (int i = 0; i < 6000 && service_counter(watcher, "sessions") > 1; i++) usleep(10000);
    assert_int_equal(service_counter(watcher, "sessions"), 1);
    assert_int_equal(service_counter(watcher, "executors_lost"), 0);
    assert_int_equal(service_counter(watcher, "objects"), 0);
    assert_true(service_counter(watcher, "shared_bytes") == shared);
    assert_true(service_counter(watcher, "descriptors") == descriptors);
    free(clients);
    close(told[0]);
    close(go[0]);
    close(go[1]);
    close(end[0]);
    fusion_disconnect(watcher);
    service_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finalizes),
        cmocka_unit_test(test_submissions),
        cmocka_unit_test(test_clients),
    };
    return cmocka_run_group_tests_name("growth", tests, NULL, NULL);
}
