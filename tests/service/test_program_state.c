/* Variables and pipes of programs: shared by the kernels of a module and its graphs, from one submission to the next,
 * on both devices; by nobody else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { ITEMS = 100 };

/* More than a group's work-items, so that a counter needs its atomics. */
static const char text[] = "global @counter: i32 = 40\n"
                           "global @zeros: [4 x i32]\n"
                           "global @table: [100 x i32]\n"
                           "pipe @queue: packet i32 capacity 128\n"
                           "func @bump(%by: i32) -> i32 {\n"
                           "    %c = global @counter\n"
                           "    %old = atomic_add i32 %c, %by, device, relaxed\n"
                           "    return %old\n"
                           "}\n"
                           "kernel @count(%by: i32) { %old = call @bump(%by) }\n"
                           "kernel @read(%o: ptr.global i32) {\n"
                           "    %c = global @counter\n"
                           "    %v = load i32 %c\n"
                           "    %i = global_id x\n"
                           "    store i32 %o[%i], %v\n"
                           "}\n"
                           "kernel @read_zeros(%o: ptr.global i32) {\n"
                           "    %z = global @zeros\n"
                           "    %i = global_id x\n"
                           "    %k = and i64 %i, 3\n"
                           "    %v = load i32 %z[%k]\n"
                           "    store i32 %o[%i], %v\n"
                           "}\n"
                           "kernel @remember(%x: ptr.global i32) {\n"
                           "    %t = global @table\n"
                           "    %i = global_id x\n"
                           "    %v = load i32 %x[%i]\n"
                           "    store i32 %t[%i], %v\n"
                           "}\n"
                           "kernel @recall(%o: ptr.global i32) {\n"
                           "    %t = global @table\n"
                           "    %i = global_id x\n"
                           "    %v = load i32 %t[%i]\n"
                           "    store i32 %o[%i], %v\n"
                           "}\n"
                           "kernel @put(%x: ptr.global i32) {\n"
                           "    %q = global @queue\n"
                           "    %i = global_id x\n"
                           "    %at = elem i32 %x, %i\n"
                           "    %done = pipe_write i32 %q, %at\n"
                           "}\n"
                           "kernel @take(%o: ptr.global i32) {\n"
                           "    %q = global @queue\n"
                           "    %i = global_id x\n"
                           "    %at = elem i32 %o, %i\n"
                           "    %done = pipe_read i32 %q, %at\n"
                           "}\n"
                           "kernel @put_reserved(%x: ptr.global i32) {\n"
                           "    %q = global @queue\n"
                           "    %i = global_id x\n"
                           "    %at = elem i32 %x, %i\n"
                           "    %r = pipe_reserve_write %q, 1\n"
                           "    %done = pipe_write_at i32 %q, %at, %r, 0\n"
                           "    pipe_commit_write %q, %r\n"
                           "}\n"
                           "kernel @take_reserved(%o: ptr.global i32) {\n"
                           "    %q = global @queue\n"
                           "    %i = global_id x\n"
                           "    %at = elem i32 %o, %i\n"
                           "    %r = pipe_reserve_read %q, 1\n"
                           "    %done = pipe_read_at i32 %q, %at, %r, 0\n"
                           "    pipe_commit_read %q, %r\n"
                           "}\n"
                           "kernel @beyond() {\n"
                           "    %c = global @counter\n"
                           "    %n = load i32 %c\n"
                           "    %m = or i32 %n, 50000000\n"
                           "    %i = sext i64 %m\n"
                           "    %far = elem i32 %c, %i\n"
                           "    store i32 %far, 1\n"
                           "}\n";

static const char *const devices[] = {"cpu", "reference"};
static struct service service;
static fusion_session *session;

static int set_up(void **state)
{
    (void)state;
    service_start(&service, NULL);
    session = service_connect(&service);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    return 0;
}

static fusion_module *load(fusion_session *s)
{
    fusion_module *m;
    expect_ok(fusion_module_load(s, "program", text, sizeof text - 1, &m));
    return m;
}

struct work {
    fusion_session *session;
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_buffer *x, *o;
};

static struct work begin(fusion_session *s)
{
    struct work w = {.session = s};
    expect_ok(fusion_graph_create(s, &w.graph));
    w.x = index_buffer(s, "x", ITEMS, 3, 0);
    w.o = index_buffer(s, "o", ITEMS, 0, 0);
    return w;
}

static void finalize(struct work *w, const char *device)
{
    expect_ok(
        fusion_graph_finalize(w->graph, &(fusion_finalize_options){.mode = FUSION_ENABLE, .device = device}, &w->exec));
}

static fusion_status try_run(struct work *w)
{
    fusion_event event;
    expect_ok(fusion_exec_submit(w->exec, NULL, 0, &event));
    return fusion_event_wait(w->session, event, 20000, NULL);
}

static const int *run(struct work *w)
{
    void *memory;
    expect_ok(try_run(w));
    expect_ok(fusion_buffer_map(w->o, &memory));
    return memory;
}

static void end(struct work *w)
{
    fusion_exec_destroy(w->exec);
    fusion_graph_destroy(w->graph);
    fusion_buffer_destroy(w->x);
    fusion_buffer_destroy(w->o);
}

static void count(struct work *w, fusion_module *m)
{
    static const int one = 1;
    add_node(w->graph, m, "count", ITEMS, (fusion_arg[]){fusion_arg_value(&one, sizeof one)}, 1);
}

static void node(struct work *w, fusion_module *m, const char *kernel, uint64_t items, fusion_buffer *buffer)
{
    add_node(w->graph, m, kernel, items, (fusion_arg[]){fusion_arg_read_write(buffer)}, 1);
}

/* A kernel that reads sees what one before it counted; the next submission goes on from there. */
static void test_counter(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        fusion_module *m = load(session);
        struct work w = begin(session);
        count(&w, m);
        node(&w, m, "read", 1, w.o);
        finalize(&w, devices[d]);
        assert_int_equal(fusion_exec_report(w.exec)->launches, 2);
        for (int round = 1; round <= 3; round++) assert_int_equal(run(&w)[0], 40 + round * ITEMS);
        end(&w);
        fusion_module_destroy(m);
    }
}

/* Two graphs of a module share its variables; the same text loaded once more has variables of its own, and so has
   another device. */
static void test_graphs(void **state)
{
    (void)state;
    fusion_module *m = load(session), *twin = load(session);
    for (int d = 0; d < 2; d++) {
        struct work counting = begin(session), reading = begin(session), other = begin(session);
        count(&counting, m);
        node(&reading, m, "read", 1, reading.o);
        node(&other, twin, "read", 1, other.o);
        finalize(&counting, devices[d]);
        finalize(&reading, devices[d]);
        finalize(&other, devices[d]);
        assert_int_equal(run(&reading)[0], 40);
        expect_ok(try_run(&counting));
        assert_int_equal(run(&reading)[0], 40 + ITEMS);
        assert_int_equal(run(&other)[0], 40);
        end(&counting);
        end(&reading);
        end(&other);
    }
    fusion_module_destroy(m);
    fusion_module_destroy(twin);
}

/* Variables are the module's: they stay while it is loaded, whatever graphs come and go, and as long as a graph
   uses them. */
static void test_lifetime(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        fusion_module *m = load(session);
        for (int round = 1; round <= 3; round++) {
            struct work w = begin(session);
            count(&w, m);
            node(&w, m, "read", 1, w.o);
            finalize(&w, devices[d]);
            assert_int_equal(run(&w)[0], 40 + round * ITEMS);
            if (round == 3) {
                fusion_module_destroy(m);
                assert_int_equal(run(&w)[0], 40 + 4 * ITEMS);
            }
            end(&w);
        }
    }
}

static void test_initial_values(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        fusion_module *m = load(session);
        struct work w = begin(session);
        node(&w, m, "read_zeros", ITEMS, w.x);
        node(&w, m, "read", ITEMS, w.o);
        finalize(&w, devices[d]);
        const int *o = run(&w);
        void *x;
        expect_ok(fusion_buffer_map(w.x, &x));
        for (int i = 0; i < ITEMS; i++) {
            assert_int_equal(((int *)x)[i], 0);
            assert_int_equal(o[i], 40);
        }
        end(&w);
        fusion_module_destroy(m);
    }
}

/* Proved like a buffer: each element belongs to one work-item, so both are one launch, and the variable keeps what
   was written. */
static void test_fused(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        fusion_module *m = load(session);
        struct work w = begin(session), later = begin(session);
        node(&w, m, "remember", ITEMS, w.x);
        node(&w, m, "recall", ITEMS, w.o);
        finalize(&w, devices[d]);
        assert_int_equal(fusion_exec_report(w.exec)->launches, 1);
        const int *o = run(&w);
        for (int i = 0; i < ITEMS; i++) assert_int_equal(o[i], 3 * i);
        node(&later, m, "recall", ITEMS, later.o);
        finalize(&later, devices[d]);
        o = run(&later);
        for (int i = 0; i < ITEMS; i++) assert_int_equal(o[i], 3 * i);
        end(&w);
        end(&later);
        fusion_module_destroy(m);
    }
}

/* Packets that one submission leaves are there for the next one. */
static void test_pipe(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        int d = k & 1;
        fusion_module *m = load(session);
        struct work putting = begin(session), taking = begin(session);
        node(&putting, m, k < 2 ? "put" : "put_reserved", ITEMS, putting.x);
        node(&taking, m, k < 2 ? "take" : "take_reserved", ITEMS, taking.o);
        finalize(&putting, devices[d]);
        finalize(&taking, devices[d]);
        expect_ok(try_run(&putting));
        const int *o = run(&taking);
        int sum = 0;
        for (int i = 0; i < ITEMS; i++) sum += o[i];
        assert_int_equal(sum, 3 * ITEMS * (ITEMS - 1) / 2);
        end(&putting);
        end(&taking);
        fusion_module_destroy(m);
    }
}

static void test_sessions(void **state)
{
    (void)state;
    fusion_session *others[] = {session, service_connect(&service)};
    for (int d = 0; d < 2; d++) {
        struct work w[2];
        fusion_module *m[2];
        for (int i = 0; i < 2; i++) {
            m[i] = load(others[i]);
            w[i] = begin(others[i]);
            count(&w[i], m[i]);
            node(&w[i], m[i], "read", 1, w[i].o);
            finalize(&w[i], devices[d]);
        }
        for (int round = 1; round <= 2; round++) assert_int_equal(run(&w[0])[0], 40 + round * ITEMS);
        assert_int_equal(run(&w[1])[0], 40 + ITEMS);
        for (int i = 0; i < 2; i++) {
            end(&w[i]);
            fusion_module_destroy(m[i]);
        }
    }
    fusion_disconnect(others[1]);
}

/* A kernel that leaves a variable ends the executor; the next one begins with the initial values. */
static void test_fault(void **state)
{
    (void)state;
    fusion_module *m = load(session);
    struct work w = begin(session), bad = begin(session);
    count(&w, m);
    node(&w, m, "read", 1, w.o);
    finalize(&w, "cpu");
    add_node(bad.graph, m, "beyond", 1, NULL, 0);
    finalize(&bad, "cpu");
    assert_int_equal(run(&w)[0], 40 + ITEMS);
    assert_int_equal(try_run(&bad), FUSION_KERNEL_FAULT);
    assert_int_equal(run(&w)[0], 40 + ITEMS);
    end(&w);
    end(&bad);
    fusion_module_destroy(m);
}

/* A graph that is debugged runs apart, in the interpreter: it shares what device reference has. */
static void test_debugged(void **state)
{
    (void)state;
    fusion_module *m = load(session);
    struct work w = begin(session), plain = begin(session);
    count(&w, m);
    node(&w, m, "read", 1, w.o);
    expect_ok(fusion_graph_finalize(
        w.graph, &(fusion_finalize_options){.mode = FUSION_ENABLE, .device = "cpu", .debug = true}, &w.exec));
    assert_int_equal(run(&w)[0], 40 + ITEMS);
    node(&plain, m, "read", 1, plain.o);
    finalize(&plain, "reference");
    assert_int_equal(run(&plain)[0], 40 + ITEMS);
    end(&w);
    end(&plain);
    fusion_module_destroy(m);
}

static int threads_of(pid_t pid)
{
    char path[64], line[256];
    int n = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Threads: %d", &n) == 1) break;
    if (file) fclose(file);
    return n;
}

/* A session's executor has threads for pipes only once there is a program that may need them: then it is another
   process, which the submissions of before, under way and waiting, do not notice. */
static void test_executor_for_states(void **state)
{
    (void)state;
    enum { SUBMISSIONS = 300, FOR_PIPES = 32 };
    static const char steps[] = "kernel @step(%x: ptr.global i32) {\n  %i = global_id x\n  %v = load i32 %x[%i]\n"
                                "  %w = add i32 %v, 1\n  store i32 %x[%i], %w\n}\n";
    struct service other;
    service_start(&other, NULL);
    fusion_session *own = service_connect(&other);
    fusion_module *plain, *m = load(own);
    fusion_event events[SUBMISSIONS];
    expect_ok(fusion_module_load(own, "plain", steps, sizeof steps - 1, &plain));
    struct work before = begin(own), w = begin(own);
    fusion_buffer *large = index_buffer(own, "large", 1 << 20, 0, 0);
    fusion_arg args[] = {fusion_arg_read_write(large)};
    add_node(before.graph, plain, "step", 1 << 20, args, 1);
    finalize(&before, "cpu");
    assert_int_equal(service_executor_with(&other, "--states"), 0);
    pid_t pids[16];
    int n = service_executors(&other, false, pids, 16);
    assert_true(n > 0);
    assert_true(threads_of(pids[n - 1]) < FOR_PIPES);
    long long lost = service_counter(own, "executors_lost");
    for (int i = 0; i < SUBMISSIONS; i++) expect_ok(fusion_exec_submit(before.exec, NULL, 0, &events[i]));
    count(&w, m);
    node(&w, m, "read", 1, w.o);
    finalize(&w, "cpu");
    assert_true(threads_of(service_executor_with(&other, "--states")) > FOR_PIPES);
    assert_int_equal(run(&w)[0], 40 + ITEMS);
    for (int i = 0; i < SUBMISSIONS; i++) expect_ok(fusion_event_wait(own, events[i], 60000, NULL));
    const void *memory;
    expect_ok(fusion_buffer_map_read(large, &memory));
    for (int i = 0; i < 1 << 20; i++)
        if (((const int *)memory)[i] != SUBMISSIONS) fail_msg("%d is %d", i, ((const int *)memory)[i]);
    fusion_buffer_unmap(large);
    assert_int_equal(run(&w)[0], 40 + 2 * ITEMS);
    assert_int_equal(service_counter(own, "executors_lost"), lost);
    fusion_disconnect(own);
    service_clear(&other);
}

/* What a session may have of them comes back when the module is released. */
static void test_limit(void **state)
{
    (void)state;
    static const char large[] = "global @large: [700000000 x i8]\n"
                                "kernel @touch() { %g = global @large; store i8 %g, 1 }\n";
    fusion_module *m[3];
    struct work w[3];
    for (int i = 0; i < 3; i++) {
        expect_ok(fusion_module_load(session, "large", large, sizeof large - 1, &m[i]));
        w[i] = begin(session);
        add_node(w[i].graph, m[i], "touch", 1, NULL, 0);
    }
    finalize(&w[0], "cpu");
    expect_ok(try_run(&w[0]));
    expect_error(fusion_graph_finalize(w[1].graph, &(fusion_finalize_options){.device = "cpu"}, &w[1].exec),
                 FUSION_OUT_OF_MEMORY);
    expect_in_reason("variable @large");
    expect_in_reason("700000000 bytes");
    end(&w[0]);
    fusion_module_destroy(m[0]);
    finalize(&w[2], "cpu");
    expect_ok(try_run(&w[2]));
    w[1].exec = NULL;
    for (int i = 1; i < 3; i++) {
        end(&w[i]);
        fusion_module_destroy(m[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counter),
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_lifetime),
        cmocka_unit_test(test_fused),
        cmocka_unit_test(test_initial_values),
        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_sessions),
        cmocka_unit_test(test_fault),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_debugged),
        cmocka_unit_test(test_executor_for_states),
    };
    return cmocka_run_group_tests_name("program_state", tests, set_up, tear_down);
}
