/* Attacks that try to make the daemon wait: with descriptors that it shares, and with those that it is sent. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "proto/ring.h"
#include "proto/transfer.h"
#include "tests/attacks/arena.h"
#include "tests/attacks/silent_files.h"

enum { LINGER_SECONDS = 20, MANY = 100 };

static int start(void **state)
{
    (void)state;
    arena_start(NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_stop();
    return 0;
}

/* ---- what is shared: the ring and the descriptor that tells completions ---- */

struct session {
    int fd, event_fd;
    struct ring *ring;
};

static void send_request(const struct attacker *self, int fd, struct proto_writer *w)
{
    if (!proto_finish(w) || proto_send(fd, w, 0) != 0) attacker_fail(self, "sending");
    proto_writer_clear(w);
}

static struct session open_session(const struct attacker *self)
{
    struct session s = {.fd = attacker_dial(self)};
    struct proto_reader *r = proto_reader_new(PROTO_MAX_MESSAGE);
    struct proto_writer w;
    struct proto_message reply;
    const char *reason = "";
    proto_begin_request(&w, 1, "hello");
    proto_pack_map(&w, 2);
    proto_pack_uint(&w, "min", PROTO_VERSION_MIN);
    proto_pack_uint(&w, "max", PROTO_VERSION_MAX);
    send_request(self, s.fd, &w);
    if (proto_receive(s.fd, r, &reply, 0, &reason) != 0 || reply.n_fds != 2) attacker_fail(self, "hello");
    s.ring = mmap(NULL, ring_total_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, reply.fds[0], 0);
    if (s.ring == MAP_FAILED) attacker_fail(self, "the ring");
    s.event_fd = reply.fds[1];
    reply.fds[1] = -1;
    proto_message_clear(&reply);
    proto_reader_free(r);
    return s;
}

/* Makes the daemon start the session's executor. */
static void start_executor(const struct attacker *self, const struct session *s)
{
    struct proto_writer w;
    proto_begin_request(&w, 2, "module.load");
    proto_pack_map(&w, 2);
    proto_pack_string(&w, "name", "none");
    proto_pack_bytes(&w, "data", "module", 6);
    send_request(self, s->fd, &w);
}

/* An executor that finds the ring corrupt ends; the daemon then tells a completion through a descriptor that was made
   blocking and filled up. */
static void fill_events(struct attacker *self)
{
    struct session s = open_session(self);
    uint64_t full = UINT64_MAX - 1;
    start_executor(self, &s);
    usleep(300000); /* it sets the descriptor's flags, too */
    if (fcntl(s.event_fd, F_SETFL, 0) != 0) attacker_fail(self, "fcntl");
    ssize_t ignored = send(s.event_fd, &full, sizeof full, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (ignored < 0 && errno == ENOTSOCK) ignored = write(s.event_fd, &full, sizeof full);
    (void)ignored;
    atomic_store(&s.ring->wants_event, 1);
    atomic_store(&s.ring->pushed, 100);
    atomic_store(&s.ring->head, 12345);
    atomic_fetch_add(&s.ring->doorbell, 1);
    syscall(SYS_futex, &s.ring->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
    usleep(300000);
    attacker_ready(self);
}

static void test_full_events(void **state)
{
    (void)state;
    arena_withstand(&(struct attack){.name = "full events", .processes = 3, .run = fill_events});
}

/* ---- what is sent: sockets that linger when they are closed ---- */

/* A connection whose data nobody takes, as the last holder of which one waits long. The other end stays open. */
static int lingering_socket(const struct attacker *self)
{
    static char data[1 << 16];
    const int small = 4096; /* soon full, for little work */
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        attacker_fail(self, "a listening socket");
    if (connect(fd, (struct sockaddr *)&address, size) != 0 && errno != EINPROGRESS) attacker_fail(self, "connect");
    if (accept(listener, NULL, NULL) < 0) attacker_fail(self, "accept");
    close(listener);
    for (int i = 0; i < 8; i++)
        if (send(fd, data, sizeof data, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) break;
    struct linger linger = {1, LINGER_SECONDS};
    if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger) != 0) attacker_fail(self, "SO_LINGER");
    fcntl(fd, F_SETFL, 0); /* closing one that does not block does not linger */
    return fd;
}

static int prepared[MANY];
static unsigned n_prepared;

/* Makes as many; it takes a moment. Then the attack begins. */
static int prepare(struct attacker *self, unsigned n)
{
    while (n_prepared < n) prepared[n_prepared++] = lingering_socket(self);
    int fd = attacker_greet(self);
    if (fd < 0) attacker_fail(self, "hello");
    attacker_ready(self);
    return fd;
}

/* n of the sockets with the first byte. Once they are there they are closed here, and the rest of the bytes is sent:
   the daemon is their last holder when it has the whole. */
static void send_sockets(const struct attacker *self, int connection, const char *bytes, size_t size, unsigned n)
{
    union {
        char bytes[CMSG_SPACE(MANY * sizeof(int))];
        struct cmsghdr align;
    } control;
    int fds[MANY];
    struct iovec data = {(void *)bytes, 1};
    struct msghdr header = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = CMSG_SPACE(n * sizeof(int))};
    memset(&control, 0, sizeof control);
    struct cmsghdr *c = CMSG_FIRSTHDR(&header);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(n * sizeof(int));
    for (unsigned i = 0; i < n; i++) fds[i] = prepared[--n_prepared];
    memcpy(CMSG_DATA(c), fds, n * sizeof(int));
    if (sendmsg(connection, &header, MSG_NOSIGNAL) != 1) attacker_fail(self, "sendmsg");
    for (unsigned i = 0; i < n; i++) close(fds[i]);
    if (size > 1 && send(connection, bytes + 1, size - 1, MSG_NOSIGNAL) < 0) attacker_fail(self, "send");
}

static void send_request_with_socket(const struct attacker *self, int fd, struct proto_writer *w)
{
    w->n_fds = 1;
    if (!proto_finish(w)) attacker_fail(self, "packing");
    send_sockets(self, fd, w->buffer.data, w->buffer.size, 1);
    w->n_fds = 0;
    proto_writer_clear(w);
}

/* With requests that have no use for them. */
static void send_with_requests(struct attacker *self)
{
    int fd = prepare(self, 20);
    for (uint32_t i = 0; i < 20; i++) {
        struct proto_writer w;
        proto_begin_request(&w, 2 + i, "device.list");
        proto_pack_map(&w, 0);
        send_request_with_socket(self, fd, &w);
    }
}

static void test_lingering_in_requests(void **state)
{
    (void)state;
    arena_withstand(&(struct attack){.name = "lingering, in requests", .processes = 1, .run = send_with_requests});
}

/* As a buffer's memory. */
static void send_as_buffer(struct attacker *self)
{
    int fd = prepare(self, 1);
    struct proto_writer w;
    proto_begin_request(&w, 2, "buffer.attach");
    proto_pack_map(&w, 3);
    proto_pack_uint(&w, "buffer", 1);
    proto_pack_uint(&w, "bytes", 4096);
    proto_pack_uint(&w, "address", 0);
    send_request_with_socket(self, fd, &w);
}

static void test_lingering_as_buffer(void **state)
{
    (void)state;
    arena_withstand(&(struct attack){.name = "lingering, as a buffer", .processes = 2, .run = send_as_buffer});
}

/* More at once than any message may have: what does not fit into the receiver's room is closed inside recvmsg(). */
static void send_many(struct attacker *self)
{
    int fd = prepare(self, MANY);
    send_sockets(self, fd, "x", 1, MANY);
}

static void test_lingering_in_great_number(void **state)
{
    (void)state;
    arena_withstand(&(struct attack){.name = "lingering, many at once", .processes = 1, .run = send_many});
}

/* In a message that never ends: closed with the session. */
static void leave_unfinished(struct attacker *self)
{
    int fd = prepare(self, 1);
    struct proto_writer w;
    proto_begin_request(&w, 2, "device.list");
    proto_pack_map(&w, 0);
    if (!proto_finish(&w)) attacker_fail(self, "packing");
    send_sockets(self, fd, w.buffer.data, w.buffer.size - 1, 1);
    close(fd);
}

static void test_lingering_unfinished(void **state)
{
    (void)state;
    arena_withstand(&(struct attack){.name = "lingering, unfinished", .processes = 2, .run = leave_unfinished});
}

/* ---- what is sent: files of a file system that never answers ---- */

enum { SILENT = 60, VISITS = 40, PATIENCE_MS = 20000 };
static const char silent_folder[] = "/tmp/fusiond-silent-files";
static pid_t silent_server;

static int start_silent(void **state)
{
    start(state);
    silent_server = silent_files_mount(silent_folder);
    return 0;
}

/* First: with it whoever waits for it can end. */
static int stop_silent(void **state)
{
    silent_files_end(silent_folder, silent_server);
    silent_server = 0;
    return stop(state);
}

/* One after the other, with requests that have no use for them. They stay open here: closing them would wait. */
static void send_silent_files(struct attacker *self)
{
    char path[64];
    int fd = attacker_greet(self);
    if (fd < 0) attacker_fail(self, "hello");
    snprintf(path, sizeof path, "%s/file", silent_folder);
    for (uint32_t i = 0; i < SILENT; i++) {
        struct proto_writer w;
        proto_begin_request(&w, 2 + i, "device.list");
        proto_pack_map(&w, 0);
        w.fds[w.n_fds++] = open(path, O_RDONLY | O_CLOEXEC);
        if (w.fds[0] < 0) attacker_fail(self, "open");
        send_request(self, fd, &w);
    }
    usleep(300000);
    attacker_ready(self);
}

static int descriptors_of_daemon(void)
{
    char path[64];
    int n = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)arena_service()->pid);
    DIR *d = opendir(path);
    assert_non_null(d);
    while (readdir(d)) n++;
    closedir(d);
    return n;
}

/* The daemon has the attacker's descriptors still, and closes all others. */
static void check_closing(void)
{
    fusion_session *watcher = service_connect(arena_service());
    int before = descriptors_of_daemon();
    assert_true(before >= SILENT);
    for (int i = 0; i < VISITS; i++) fusion_disconnect(service_connect(arena_service()));
    for (int ms = 0; descriptors_of_daemon() > before + VISITS / 4; ms += 10) {
        assert_true(ms < PATIENCE_MS);
        usleep(10000);
    }
    fusion_disconnect(watcher);
}

/* With its server what waits for the file system ends: the daemon has none of them any more. */
static void end_silence(void)
{
    int before = descriptors_of_daemon();
    silent_files_end(silent_folder, silent_server);
    silent_server = 0;
    for (int ms = 0; descriptors_of_daemon() > before - SILENT / 2; ms += 10) {
        assert_true(ms < PATIENCE_MS);
        usleep(10000);
    }
}

static void test_silent_files(void **state)
{
    (void)state;
    if (!silent_server) {
        print_message("# no FUSE here: %s\n", strerror(errno));
        skip();
    }
    arena_withstand(&(struct attack){.name = "silent files",
                                     .processes = 1,
                                     .run = send_silent_files,
                                     .check = check_closing,
                                     .release = end_silence});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_full_events, start, stop),
        cmocka_unit_test_setup_teardown(test_lingering_in_requests, start, stop),
        cmocka_unit_test_setup_teardown(test_lingering_as_buffer, start, stop),
        cmocka_unit_test_setup_teardown(test_lingering_in_great_number, start, stop),
        cmocka_unit_test_setup_teardown(test_lingering_unfinished, start, stop),
        cmocka_unit_test_setup_teardown(test_silent_files, start_silent, stop_silent),
    };
    if (!arena_possible()) return 0;
    return cmocka_run_group_tests_name("blocking", tests, NULL, NULL);
}
