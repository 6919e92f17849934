/* Limits that the administrator sets, and what clients hold: who is refused, with which words, and what it costs. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "proto/transfer.h"
#include "tests/support/service.h"

enum { SIZE = 64, PATIENCE_MS = 20000 };

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- below the library ---- */

struct wire {
    int fd;
    struct proto_reader *reader;
};

static void receive(struct wire *c, struct proto_message *m)
{
    const char *reason = "";
    if (proto_receive(c->fd, c->reader, m, now_ms() + PATIENCE_MS, &reason) != 0) fail_msg("receive: %s", reason);
}

static struct wire greet(const struct service *s)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct proto_writer w;
    struct proto_message m;
    struct wire c = {socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), proto_reader_new(PROTO_MAX_MESSAGE)};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", s->socket);
    assert_int_equal(connect(c.fd, (struct sockaddr *)&address, sizeof address), 0);
    proto_begin_request(&w, 1, "hello");
    proto_pack_map(&w, 2);
    proto_pack_uint(&w, "min", PROTO_VERSION_MIN);
    proto_pack_uint(&w, "max", PROTO_VERSION_MAX);
    assert_true(proto_finish(&w));
    assert_int_equal(proto_send(c.fd, &w, 0), 0);
    proto_writer_clear(&w);
    receive(&c, &m);
    assert_int_equal(m.status, FUSION_SUCCESS);
    proto_message_clear(&m);
    return c;
}

static void hang_up(struct wire *c)
{
    proto_reader_free(c->reader);
    close(c->fd);
}

/* The rest of a message is due after the greeting, too; who sends byte by byte gets no further. */
static void test_unfinished_message(void **state)
{
    (void)state;
    struct service s;
    struct proto_message m;
    static const char *const options[] = {"--frame-limit", "400", NULL};
    static const uint8_t begin[] = {0x90, 1, 0, 0, 0, 0, 0x31, 0x46, 0x94};
    service_start(&s, options);
    struct wire slow = greet(&s), idle = greet(&s);
    assert_int_equal(send(slow.fd, begin, sizeof begin, 0), sizeof begin);
    int sent = 0;
    for (; sent < 300 && send(slow.fd, "\0", 1, MSG_NOSIGNAL) == 1; sent++) usleep(50000);
    assert_true(sent < 300); /* closed, long before the four-hundredth byte */
    receive(&slow, &m);
    assert_int_equal(m.id, 0);
    assert_int_equal(m.status, FUSION_TIMEOUT);
    assert_non_null(strstr(m.reason, "400 ms"));
    proto_message_clear(&m);
    assert_int_equal(recv(idle.fd, &(char){0}, 1, MSG_DONTWAIT), -1); /* who sends nothing breaks no limit */
    hang_up(&slow);
    hang_up(&idle);
    service_clear(&s);
}

/* ---- the administrator ---- */

static fusion_exec *one_kernel(fusion_session *session, fusion_module *module, const char *kernel,
                               const fusion_arg *args, uint32_t n)
{
    fusion_graph *graph;
    fusion_exec *exec = NULL;
    expect_ok(fusion_graph_create(session, &graph));
    add_node(graph, module, kernel, SIZE, args, n);
    expect_ok(fusion_graph_finalize(graph, NULL, &exec));
    return exec;
}

static void test_most_of_the_time_limit(void **state)
{
    (void)state;
    struct service s;
    fusion_session *session;
    fusion_event event;
    static const char *const options[] = {"--max-time-limit", "500", NULL};
    service_start(&s, options);
    expect_ok(fusion_connect(s.socket, &(fusion_connect_options){.time_limit_ms = 600000}, &session));
    fusion_buffer *out = index_buffer(session, "out", SIZE, 0, 0);
    fusion_arg args[] = {fusion_arg_read_write(out)};
    fusion_exec *exec = one_kernel(session, load_test_kernels(session), "endless", args, 1);
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_error(fusion_event_wait(session, event, PATIENCE_MS, NULL), FUSION_TIMEOUT);
    expect_in_reason("500 ms");
    fusion_disconnect(session);
    service_clear(&s);
}

static void test_signals(void **state)
{
    (void)state;
    struct service s;
    static const int signals[] = {SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPIPE, SIGXFSZ};
    service_start(&s, NULL);
    fusion_session *session = service_connect(&s);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        assert_int_equal(kill(s.pid, signals[i]), 0);
        assert_int_equal(service_counter(session, "pid"), s.pid);
    }
    fusion_disconnect(session);
    service_clear(&s);
}

/* ---- what clients hold ---- */

static void test_sessions(void **state)
{
    (void)state;
    struct service s;
    fusion_session *first, *second, *third;
    static const char *const options[] = {"--max-sessions", "2", NULL};
    service_start(&s, options);
    expect_ok(fusion_connect(s.socket, NULL, &first));
    for (int i = 0; i < 2000 && service_counter(first, "sessions") > 1; i++) usleep(10000); /* that of the start */
    expect_ok(fusion_connect(s.socket, NULL, &second)); /* the daemon's own user has all of them */
    expect_error(fusion_connect(s.socket, NULL, &third), FUSION_OUT_OF_MEMORY);
    expect_in_reason("sessions: 1 more");
    expect_in_reason("of 2");
    fusion_disconnect(second);
    fusion_status status = FUSION_OUT_OF_MEMORY;
    for (int i = 0; i < 200 && status; i++) {
        status = fusion_connect(s.socket, NULL, &second);
        if (status) usleep(10000);
    }
    expect_ok(status);
    fusion_disconnect(first);
    fusion_disconnect(second);
    service_clear(&s);
}

/* The code of an executable is a copy for each, also where it comes from the cache: it is charged, and given back. */
static void test_copies_are_charged(void **state)
{
    (void)state;
    enum { COPIES = 8 };
    struct service s;
    fusion_exec *copies[COPIES];
    service_start(&s, NULL);
    fusion_session *session = service_connect(&s);
    fusion_module *module = load_test_kernels(session);
    fusion_buffer *in = index_buffer(session, "in", SIZE, 1, 0), *out = index_buffer(session, "out", SIZE, 0, 0);
    fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(out), fusion_arg_i32(3)};
    fusion_exec *first = one_kernel(session, module, "scale", args, 3);
    long long before = service_counter(session, "shared_bytes"), objects = service_counter(session, "objects"),
              descriptors = service_counter(session, "descriptors");
    for (int i = 0; i < COPIES; i++) copies[i] = one_kernel(session, module, "scale", args, 3);
    assert_true(service_counter(session, "shared_bytes") >= before + COPIES * 4096);
    assert_int_equal(service_counter(session, "objects"), objects + COPIES);
    assert_int_equal(service_counter(session, "descriptors"), descriptors + 2 * COPIES);
    for (int i = 0; i < COPIES; i++) fusion_exec_destroy(copies[i]);
    for (int i = 0; i < 2000 && service_counter(session, "objects") > objects; i++) usleep(10000);
    assert_int_equal(service_counter(session, "shared_bytes"), before);
    assert_int_equal(service_counter(session, "descriptors"), descriptors);
    fusion_exec_destroy(first);
    fusion_disconnect(session);
    service_clear(&s);
}

/* Memory that only an executor has, as a variable of the program, is the user's as well. */
static void test_memory_of_executors(void **state)
{
    (void)state;
    static const char text[] = "global @table: [67108864 x i32]\n" /* 256 MB */
                               "kernel @fill(%o: ptr.global i32 write) {\n  %i = global_id x\n"
                               "  %t = global @table\n  %e = elem i32 %t, %i\n  %n = trunc i32 %i\n"
                               "  store i32 %e, %n\n  %c = ieq i64 %i, 5\n"
                               "  if %c { store i32 %o[0], %n }\n  return\n}\n";
    static const char *const options[] = {"--buffer-memory", "384", NULL}; /* 128 of them for executors */
    struct service s;
    fusion_session *session;
    fusion_module *module;
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_event event;
    service_start(&s, options);
    expect_ok(fusion_connect(s.socket, NULL, &session));
    expect_ok(fusion_module_load(session, "fill.fk", text, strlen(text), &module));
    fusion_buffer *out = index_buffer(session, "out", SIZE, 0, 0);
    fusion_arg args[] = {fusion_arg_write(out)};
    expect_ok(fusion_graph_create(session, &graph));
    add_node(graph, module, "fill", 67108864, args, 1);
    expect_ok(fusion_graph_finalize(graph, NULL, &exec));
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    fusion_event_wait(session, event, PATIENCE_MS, NULL);
    fusion_status status = FUSION_SUCCESS;
    for (int i = 0; i < 100 && !status; i++) {
        char *list;
        status = fusion_module_text(module, &list);
        if (!status) free(list);
        usleep(50000);
    }
    /* The daemon's last words, unless the connection was found closed first. */
    if (status != FUSION_CONNECTION) {
        expect_error(status, FUSION_OUT_OF_MEMORY);
        expect_in_reason("memory of executors");
    }
    fusion_disconnect(session);
    session = service_connect(&s); /* all of it has been given back */
    for (int i = 0; i < 2000 && service_counter(session, "executor_bytes") > 0; i++) usleep(10000);
    assert_int_equal(service_counter(session, "executor_bytes"), 0);
    fusion_disconnect(session);
    service_clear(&s);
}

/* What all sessions together hold is nothing when all have gone. */
static void test_all_is_given_back(void **state)
{
    (void)state;
    static const char *const held[] = {"shared_bytes", "descriptors", "objects", "bytes"};
    long long before[4];
    struct service s;
    service_start(&s, NULL);
    fusion_session *watcher = service_connect(&s);
    for (int i = 0; i < 2000 && service_counter(watcher, "sessions") > 1; i++) usleep(10000);
    for (int i = 0; i < 4; i++) before[i] = service_counter(watcher, held[i]);
    for (int i = 0; i < 5; i++) {
        fusion_session *session = service_connect(&s);
        fusion_buffer *in = index_buffer(session, "in", SIZE, 1, 0), *out = index_buffer(session, "out", SIZE, 0, 0);
        fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(out), fusion_arg_i32(3)};
        fusion_exec *exec = one_kernel(session, load_test_kernels(session), "scale", args, 3);
        fusion_event event;
        expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
        expect_ok(fusion_event_wait(session, event, PATIENCE_MS, NULL));
        assert_true(service_counter(watcher, "shared_bytes") > before[0]);
        fusion_disconnect(session);
    }
    for (int i = 0; i < 2000 && service_counter(watcher, "sessions") > 1; i++) usleep(10000);
    for (int i = 0; i < 4; i++) assert_int_equal(service_counter(watcher, held[i]), before[i]);
    fusion_disconnect(watcher);
    service_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unfinished_message),
        cmocka_unit_test(test_most_of_the_time_limit),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_sessions),
        cmocka_unit_test(test_copies_are_charged),
        cmocka_unit_test(test_memory_of_executors),
        cmocka_unit_test(test_all_is_given_back),
    };
    return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
