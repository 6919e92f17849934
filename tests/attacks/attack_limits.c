/* Attacks on what the daemon has a limited number of: connections, memory, descriptors, shared memory. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "proto/transfer.h"
#include "tests/attacks/arena.h"

static int start(void **state)
{
    (void)state;
    char memory[16];
    const char *const options[] = {"--memory", memory, NULL};
    snprintf(memory, sizeof memory, "%d", ARENA_MEMORY_MB);
    arena_start(options);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_stop();
    return 0;
}

/* One connection after the other, each sending what is no message. */
static void send_garbage(struct attacker *self)
{
    attacker_ready(self);
    for (unsigned n = 0;; n++) {
        int fd = attacker_dial(self);
        if (fd >= 0 && send(fd, "GET / HTTP/1.0\r\n\r\n", 18, MSG_NOSIGNAL) < 0) attacker_fail(self, "send");
        if (fd >= 0) close(fd);
        usleep(2000);
    }
}

static void test_garbage(void **state)
{
    (void)state;
    arena_withstand(&(struct attack){.name = "garbage", .processes = 4, .run = send_garbage});
}

/* ---- connections ---- */

/* As many connections as can be had, with and without hello; those that are closed are made again. */
static void keep_connections(struct attacker *self)
{
    enum { MOST = 200 };
    int fds[MOST];
    for (int i = 0; i < MOST; i++) fds[i] = i % 2 ? attacker_dial(self) : attacker_greet(self);
    attacker_ready(self);
    for (int i = 0;; i = (i + 1) % MOST) {
        struct pollfd end = {fds[i], POLLIN, 0};
        if (fds[i] < 0 || poll(&end, 1, 0) != 0) {
            if (fds[i] >= 0) close(fds[i]);
            fds[i] = attacker_dial(self);
        }
        usleep(5000);
    }
}

static void test_connections(void **state)
{
    (void)state;
    arena_withstand(&(struct attack){.name = "idle connections", .processes = 2, .run = keep_connections});
}

/* ---- unfinished messages ---- */

/* Begins messages of 64 MB on many connections and never ends one. */
static void begin_messages(struct attacker *self)
{
    enum { CONNECTIONS = 12, STEP = 1 << 20, ROUNDS = 60 };
    static uint8_t bytes[STEP];
    int fds[CONNECTIONS];
    uint32_t size = PROTO_MAX_MESSAGE;
    uint8_t header[8] = {(uint8_t)size, (uint8_t)(size >> 8), (uint8_t)(size >> 16), (uint8_t)(size >> 24), 0, 0, 0x31,
                         0x46};
    for (int i = 0; i < CONNECTIONS; i++) {
        fds[i] = attacker_greet(self);
        if (fds[i] >= 0 && send(fds[i], header, sizeof header, MSG_NOSIGNAL) < 0) attacker_fail(self, "send");
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < CONNECTIONS; i++)
            if (fds[i] >= 0 && send(fds[i], bytes, sizeof bytes, MSG_NOSIGNAL) < 0) {
                close(fds[i]);
                fds[i] = -1;
            }
    attacker_ready(self);
}

static void test_unfinished_messages(void **state)
{
    (void)state;
    arena_withstand(&(struct attack){.name = "unfinished messages", .processes = 2, .run = begin_messages});
}

/* ---- requests under way ---- */

/* Asks for many large modules on many connections, and reads no answer. */
static void ask_much(struct attacker *self)
{
    enum { CONNECTIONS = 6, REQUESTS = 6, SIZE = 4 << 20 };
    static uint8_t data[SIZE];
    struct proto_writer w;
    int fds[CONNECTIONS];
    for (int i = 0; i < CONNECTIONS; i++) {
        fds[i] = attacker_greet(self);
        setsockopt(fds[i], SOL_SOCKET, SO_SNDTIMEO, &(struct timeval){0, 100000}, sizeof(struct timeval));
    }
    for (uint32_t n = 0; n < REQUESTS; n++)
        for (int i = 0; i < CONNECTIONS; i++) {
            if (fds[i] < 0) continue;
            memcpy(data, &(uint32_t[]){(uint32_t)getpid(), n, (uint32_t)i}, 12); /* none is like another */
            proto_begin_request(&w, n + 2, "module.load");
            proto_pack_map(&w, 2);
            proto_pack_string(&w, "name", "large");
            proto_pack_bytes(&w, "data", data, sizeof data);
            if (!proto_finish(&w)) attacker_fail(self, "message");
            if (send(fds[i], w.buffer.data, w.buffer.size, MSG_NOSIGNAL) != (ssize_t)w.buffer.size)
                fds[i] = -1; /* closed, or not read from any more: it stays as it is */
            proto_writer_clear(&w);
        }
    attacker_ready(self);
}

static void test_large_requests(void **state)
{
    (void)state;
    arena_withstand(&(struct attack){.name = "large requests", .processes = 2, .run = ask_much});
}

/* ---- descriptors and shared memory ---- */

/* Attaches a buffer and waits for the reply. */
static fusion_status attach(int fd, struct proto_reader *r, uint64_t id, int memory)
{
    struct proto_writer w;
    struct proto_message reply;
    const char *reason;
    proto_begin_request(&w, (uint32_t)id, "buffer.attach");
    proto_pack_map(&w, 3);
    proto_pack_uint(&w, "buffer", id);
    proto_pack_uint(&w, "bytes", 1);
    proto_pack_uint(&w, "address", 0);
    w.fds[w.n_fds++] = memory;
    bool answered = proto_finish(&w) && proto_send(fd, &w, 0) == 0 && proto_receive(fd, r, &reply, 0, &reason) == 0;
    proto_writer_clear(&w);
    if (!answered) return FUSION_CONNECTION;
    fusion_status status = reply.status;
    proto_message_clear(&reply);
    return status;
}

static int sealed_memory(const struct attacker *self, off_t size)
{
    int memory = memfd_create("attack", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0 || ftruncate(memory, size) != 0 || fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
        attacker_fail(self, "memfd");
    return memory;
}

/* Attaches one memory under as many numbers as it may, in several sessions. */
static void hold_descriptors(struct attacker *self)
{
    enum { SESSIONS = 3 };
    int memory = sealed_memory(self, 4096);
    uint64_t held = 0;
    for (int i = 0; i < SESSIONS; i++) {
        int fd = attacker_greet(self);
        struct proto_reader *r = proto_reader_new(PROTO_MAX_MESSAGE);
        for (uint64_t id = 1; fd >= 0 && attach(fd, r, id, memory) == FUSION_SUCCESS; id++) held++;
    }
    if (held < 100) attacker_fail(self, "few descriptors can be held at all");
    attacker_ready(self);
}

static void test_descriptors(void **state)
{
    (void)state;
    arena_withstand(&(struct attack){.name = "descriptors", .processes = 2, .run = hold_descriptors});
}

/* Attaches memory that is not there yet: more than the machine has is refused before anybody fills it. */
static void promise_memory(struct attacker *self)
{
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE), attached = 0;
    int memory = sealed_memory(self, (off_t)(machine / 16));
    int fd = attacker_greet(self);
    struct proto_reader *r = proto_reader_new(PROTO_MAX_MESSAGE);
    fusion_status status = FUSION_SUCCESS;
    for (uint64_t id = 1; id <= 16 && !status; id++) {
        status = attach(fd, r, id, memory);
        if (!status) attached += machine / 16;
    }
    if (status != FUSION_OUT_OF_MEMORY || attached > machine / 2)
        attacker_fail(self, "sparse memory of the machine's size was accepted");
    attacker_ready(self);
}

static void test_sparse_memory(void **state)
{
    (void)state;
    arena_withstand(&(struct attack){.name = "sparse memory", .processes = 1, .run = promise_memory});
}

/* ---- what others may see ---- */

static void look_around(struct attacker *self)
{
    char *json = NULL, victim[32], own[32];
    fusion_session *session = attacker_session(self);
    snprintf(victim, sizeof victim, "\"uid\": %d", VICTIM_UID);
    snprintf(own, sizeof own, "\"uid\": %d", ATTACKER_UID);
    if (!session || fusion_session_status(session, &json) != FUSION_SUCCESS) attacker_fail(self, "status");
    if (strstr(json, victim)) attacker_fail(self, "the status shows another user");
    if (!strstr(json, own)) attacker_fail(self, "the status does not show the user itself");
    attacker_ready(self);
}

static void test_status(void **state)
{
    (void)state;
    arena_withstand(&(struct attack){.name = "looking around", .processes = 1, .run = look_around});
    fusion_session *session = service_connect(arena_service()); /* root sees all */
    char *json;
    expect_ok(fusion_session_status(session, &json));
    assert_non_null(strstr(json, "\"uid\": 0"));
    assert_non_null(strstr(json, "\"uid\": 65532"));
    free(json);
    fusion_disconnect(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_connections),
        cmocka_unit_test(test_unfinished_messages),
        cmocka_unit_test(test_large_requests),
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_sparse_memory),
        cmocka_unit_test(test_status),
    };
    if (!arena_possible()) return 0;
    return cmocka_run_group_tests_name("limits", tests, start, stop);
}
