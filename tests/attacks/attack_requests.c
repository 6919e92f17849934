/* Attacks with requests: many at once, cancelled in the midst, asked for and never read. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "proto/fields.h"
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

static void send_request(const struct attacker *self, int fd, struct proto_writer *w)
{
    if (!proto_finish(w) || proto_send(fd, w, 0) != 0) attacker_fail(self, "sending");
    proto_writer_clear(w);
}

static int sealed_memory(const struct attacker *self)
{
    int memory = memfd_create("attack", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0 || ftruncate(memory, 4096) != 0 || fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
        attacker_fail(self, "memfd");
    return memory;
}

/* ---- cancelled ---- */

static void ask_attach(const struct attacker *self, int fd, uint32_t id, int memory)
{
    struct proto_writer w;
    proto_begin_request(&w, id, "buffer.attach");
    proto_pack_map(&w, 3);
    proto_pack_uint(&w, "buffer", id);
    proto_pack_uint(&w, "bytes", 4096);
    proto_pack_uint(&w, "address", 0);
    w.fds[w.n_fds++] = memory;
    send_request(self, fd, &w);
}

static void ask_about(const struct attacker *self, int fd, uint32_t id, const char *method, const char *key,
                      uint64_t value)
{
    struct proto_writer w;
    proto_begin_request(&w, id, method);
    proto_pack_map(&w, 1);
    proto_pack_uint(&w, key, value);
    send_request(self, fd, &w);
}

/* Loads a module of its own: there is a job for it. */
static void ask_load(const struct attacker *self, int fd, uint32_t id)
{
    char text[200];
    struct proto_writer w;
    snprintf(text, sizeof text, "kernel @k(%%o: ptr.global i32 write) {\n  store i32 %%o[%u], %u\n  return\n}\n",
             (unsigned)getpid(), (unsigned)id);
    proto_begin_request(&w, id, "module.load");
    proto_pack_map(&w, 2);
    proto_pack_string(&w, "name", "module");
    proto_pack_bytes(&w, "data", text, strlen(text));
    send_request(self, fd, &w);
}

static void receive(const struct attacker *self, int fd, struct proto_reader *r, uint32_t n)
{
    struct proto_message reply;
    const char *reason = "";
    while (n-- > 0) {
        if (proto_receive(fd, r, &reply, 0, &reason) != 0) attacker_fail(self, "a session was closed");
        proto_message_clear(&reply);
    }
}

/* Whatever can be under way is cancelled before anybody can have answered, and given back as well. Each request is
   answered once. */
static void cancel_all(struct attacker *self)
{
    enum { REQUESTS = 20 };
    struct proto_reader *r = proto_reader_new(PROTO_MAX_MESSAGE);
    int memory = sealed_memory(self), fd = attacker_greet(self);
    if (fd < 0) attacker_fail(self, "hello");
    for (uint32_t round = 0;; round++) {
        if (round == 20) attacker_ready(self);
        for (uint32_t i = 0; i < REQUESTS; i++) {
            uint32_t id = 4 * (round * REQUESTS + i) + 2;
            if (i % 2)
                ask_attach(self, fd, id, memory);
            else
                ask_load(self, fd, id);
            ask_about(self, fd, id + 1, "request.cancel", "request", id);
            if (i % 2) ask_about(self, fd, id + 2, "buffer.release", "buffer", id);
        }
        receive(self, fd, r, REQUESTS * 2 + REQUESTS / 2);
        for (uint32_t i = 1; i < REQUESTS; i += 2) { /* those that are there after all */
            uint32_t id = 4 * (round * REQUESTS + i) + 2;
            ask_about(self, fd, id + 3, "buffer.release", "buffer", id);
        }
        receive(self, fd, r, REQUESTS / 2);
        if (round % 10 == 9) { /* modules of a session are limited */
            close(fd);
            proto_reader_free(r);
            r = proto_reader_new(PROTO_MAX_MESSAGE);
            if ((fd = attacker_greet(self)) < 0) attacker_fail(self, "hello");
        }
        usleep(20000);
    }
}

static void test_cancelled(void **state)
{
    (void)state;
    arena_withstand(&(struct attack){.name = "cancelled requests", .processes = 2, .run = cancel_all});
}

/* ---- small replies that nobody reads ---- */

/* What the daemon has of a reply is more than its bytes. */
static void never_read(struct attacker *self)
{
    enum { SESSIONS = 4, ASKED = 60000, PATIENCE = 100 };
    struct proto_writer w;
    for (int n = 0; n < SESSIONS; n++) {
        int fd = attacker_greet(self);
        if (fd < 0) attacker_fail(self, "hello");
        proto_begin_request(&w, 2, "request.cancel");
        proto_pack_map(&w, 1);
        proto_pack_uint(&w, "request", 1);
        if (!proto_finish(&w)) attacker_fail(self, "packing");
        for (int i = 0, full = 0; i < ASKED && full < PATIENCE;) {
            ssize_t sent = send(fd, w.buffer.data, w.buffer.size, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent < 0 && errno != EAGAIN) break;
            if (sent > 0 && sent < (ssize_t)w.buffer.size) break; /* it is not read from any more */
            full = sent < 0 ? full + 1 : 0;
            i += sent > 0;
            if (sent < 0) usleep(2000);
        }
        proto_writer_clear(&w);
    }
    attacker_ready(self);
}

static void test_small_replies(void **state)
{
    (void)state;
    arena_withstand(&(struct attack){.name = "unread small replies", .processes = 2, .run = never_read});
}

/* ---- small requests without end ---- */

static _Atomic uint64_t *answered; /* bytes, of all attackers together */

/* Of each of many sessions the daemon always finds more requests than it can answer at once. */
static void ask_without_end(struct attacker *self)
{
    enum { SESSIONS = 24, BLOCK = 64 << 10 };
    static char block[BLOCK], ignored[BLOCK];
    int fds[SESSIONS];
    size_t filled = 0, left[SESSIONS] = {0};
    struct proto_writer w;
    proto_begin_request(&w, 2, "request.cancel");
    proto_pack_map(&w, 1);
    proto_pack_uint(&w, "request", 1);
    if (!proto_finish(&w)) attacker_fail(self, "packing");
    for (; filled + w.buffer.size <= BLOCK; filled += w.buffer.size)
        memcpy(block + filled, w.buffer.data, w.buffer.size);
    proto_writer_clear(&w);
    for (int i = 0; i < SESSIONS; i++) fds[i] = attacker_greet(self);
    attacker_ready(self);
    for (int i = 0;; i = (i + 1) % SESSIONS) {
        if (i == 0) usleep(1000); /* it is the daemon that is to have much to do */
        if (fds[i] < 0) continue;
        if (!left[i]) left[i] = filled;
        ssize_t sent = send(fds[i], block + filled - left[i], left[i], MSG_NOSIGNAL | MSG_DONTWAIT);
        ssize_t got = recv(fds[i], ignored, BLOCK, MSG_DONTWAIT);
        if ((sent < 0 && errno != EAGAIN) || got == 0) attacker_fail(self, "a session was closed");
        if (sent > 0) left[i] -= (size_t)sent;
        if (got > 0) atomic_fetch_add(answered, (uint64_t)got);
    }
}

static int smaller_first(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* How much is done for the attackers while somebody else waits for one answer. */
static void expect_turns(void)
{
    enum { REQUESTS = 41, MOST = 256 << 10 };
    uint64_t meanwhile[REQUESTS];
    fusion_session *session = service_connect(arena_service());
    for (int i = 0; i < REQUESTS; i++) {
        char *json;
        uint64_t before = atomic_load(answered);
        expect_ok(fusion_session_status(session, &json));
        meanwhile[i] = atomic_load(answered) - before;
        free(json);
    }
    fusion_disconnect(session);
    qsort(meanwhile, REQUESTS, sizeof *meanwhile, smaller_first);
    print_message("# while one is answered, others are given %llu bytes\n",
                  (unsigned long long)meanwhile[REQUESTS / 2]);
    if (meanwhile[REQUESTS / 2] > MOST) fail_msg("that is more than %d", MOST);
}

static void test_small_requests(void **state)
{
    (void)state;
    answered = mmap(NULL, sizeof *answered, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(answered != MAP_FAILED);
    arena_withstand(&(struct attack){
        .name = "small requests without end", .processes = 4, .run = ask_without_end, .check = expect_turns});
    munmap(answered, sizeof *answered);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cancelled, start, stop),
        cmocka_unit_test_setup_teardown(test_small_replies, start, stop),
        cmocka_unit_test_setup_teardown(test_small_requests, start, stop),
    };
    if (!arena_possible()) return 0;
    return cmocka_run_group_tests_name("requests", tests, NULL, NULL);
}
