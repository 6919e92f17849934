/* An executor that a client's native code has taken over: what it can make the broker hold, or believe. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "proto/fields.h"
#include "proto/transfer.h"
#include "tests/attacks/arena.h"
#include "tests/attacks/broken_executor.h"

enum { GROWTH_MB = 48, PATIENCE_MS = 2000 };

static struct service service;

static int start(void **state)
{
    (void)state;
    char memory[16];
    const char *const options[] = {"--memory", memory, NULL};
    snprintf(memory, sizeof memory, "%d", ARENA_MEMORY_MB);
    setenv("FUSIOND_EXECUTOR", getenv("FUSIOND_BROKEN_EXECUTOR"), 1);
    service_start_as(&service, geteuid() == 0 ? DAEMON_UID : 0, options);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    service_clear(&service);
    return 0;
}

/* ---- a session below the library ---- */

struct session {
    int fd;
    struct proto_reader *reader;
    uint32_t last_id;
};

static struct session open_session(void)
{
    struct session s = {.fd = attacker_greet(&(struct attacker){.socket = service.socket}),
                        .reader = proto_reader_new(PROTO_MAX_MESSAGE),
                        .last_id = 1};
    assert_true(s.fd >= 0);
    return s;
}

static void close_session(struct session *s)
{
    proto_reader_free(s->reader);
    close(s->fd);
}

static uint64_t after_ms(int ms)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000 + (uint64_t)ms;
}

static void send_request(const struct session *s, struct proto_writer *w)
{
    assert_true(proto_finish(w));
    assert_int_equal(proto_send(s->fd, w, 0), 0);
    proto_writer_clear(w);
}

/* The last request's. False: it has not come in time, as the session is not read from. Else one number of it, 0 where
   it has none. */
static bool receive(struct session *s, const char *key, uint64_t *value)
{
    struct proto_message reply;
    const char *reason = "";
    for (bool wanted = false; !wanted; proto_message_clear(&reply)) {
        if (proto_receive(s->fd, s->reader, &reply, after_ms(PATIENCE_MS), &reason) != 0) {
            if (errno != ETIMEDOUT) fail_msg("the session was closed: %s", reason);
            return false;
        }
        *value = 0;
        wanted = reply.id == s->last_id;
        if (wanted && reply.status == FUSION_SUCCESS) proto_get_uint(&reply.params, key, value);
    }
    return true;
}

static void order(struct session *s, enum broken_order order)
{
    struct proto_writer w;
    int memory = memfd_create("attack", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(memory, 4096), 0);
    assert_int_equal(fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    proto_begin_request(&w, ++s->last_id, "buffer.attach");
    proto_pack_map(&w, 3);
    proto_pack_uint(&w, "buffer", s->last_id);
    proto_pack_uint(&w, "bytes", order);
    proto_pack_uint(&w, "address", 0);
    w.fds[w.n_fds++] = memory;
    send_request(s, &w);
    close(memory);
}

/* ---- the daemon's memory ---- */

static void expect_memory_below(long long most, int ms)
{
    for (int waited = 0; waited < ms; waited += 50, usleep(50000)) {
        long long now = resident_bytes(service.pid);
        if (now > most) fail_msg("the daemon has %lld MB, and may have %lld", now >> 20, most >> 20);
    }
}

static void expect_answers(void)
{
    fusion_session *session = service_connect(&service);
    assert_true(service_counter(session, "sessions") > 0);
    fusion_disconnect(session);
}

/* Most of the largest message, from as many executors as it takes to break the bound. */
static void test_unfinished(void **state)
{
    (void)state;
    enum { SESSIONS = 6 };
    struct session sessions[SESSIONS];
    for (int i = 0; i < SESSIONS; i++) {
        sessions[i] = open_session();
        order(&sessions[i], BROKEN_IS_UNFINISHED);
    }
    expect_memory_below((long long)ARENA_MEMORY_MB << 20, 6000);
    expect_answers();
    for (int i = 0; i < SESSIONS; i++) close_session(&sessions[i]);
}

/* A module is loaded and released: the executor is told of the latter, and nobody waits for its answer. False: the
   session is not read from any more. */
static bool load_and_release(struct session *s)
{
    static const char text[] = "kernel @k(%o: ptr.global i32 write) {\n  store i32 %o[0], 1\n  return\n}\n";
    struct proto_writer w;
    uint64_t module;
    proto_begin_request(&w, ++s->last_id, "module.load");
    proto_pack_map(&w, 2);
    proto_pack_string(&w, "name", "module");
    proto_pack_bytes(&w, "data", text, sizeof text - 1);
    send_request(s, &w);
    if (!receive(s, "module", &module)) return false;
    proto_begin_request(&w, ++s->last_id, "module.release");
    proto_pack_map(&w, 1);
    proto_pack_uint(&w, "module", module);
    send_request(s, &w);
    return receive(s, "", &module);
}

/* So many that they would fill a good part of the daemon's memory. */
static void ask_much_of(enum broken_order what)
{
    enum { ROUNDS = 40000 };
    long long before = resident_bytes(service.pid), most = before + ((long long)GROWTH_MB << 20);
    struct session s = open_session();
    int rounds = 0;
    order(&s, what);
    while (rounds < ROUNDS && load_and_release(&s) && (++rounds % 100 || resident_bytes(service.pid) < most)) {
    }
    expect_memory_below(most, 100);
    if (rounds == ROUNDS) fail_msg("an executor that answers nothing was asked for as much as its client liked");
    expect_answers();
    close_session(&s);
}

static void test_deaf(void **state)
{
    (void)state;
    ask_much_of(BROKEN_IS_DEAF);
}

static void test_mute(void **state)
{
    (void)state;
    ask_much_of(BROKEN_IS_MUTE);
}

/* What it says is told to whoever administers the machine. */
static void test_forged_counters(void **state)
{
    (void)state;
    uint64_t ignored;
    struct session s = open_session();
    order(&s, BROKEN_FORGES);
    assert_true(receive(&s, "", &ignored));
    fusion_session *session = service_connect(&service);
    assert_int_equal(service_counter(session, "binaries_found"), 0);
    fusion_disconnect(session);
    close_session(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_unfinished, start, stop),
        cmocka_unit_test_setup_teardown(test_deaf, start, stop),
        cmocka_unit_test_setup_teardown(test_mute, start, stop),
        cmocka_unit_test_setup_teardown(test_forged_counters, start, stop),
    };
    return cmocka_run_group_tests_name("executor", tests, NULL, NULL);
}
