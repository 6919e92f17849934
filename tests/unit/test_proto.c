/* Frames: what arrives whole, in pieces, broken, too large, too deep, with descriptors. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "ir/base/cursor.h"
#include "proto/fields.h"
#include "proto/transfer.h"
#include "tests/support/fork.h"

static bool is_open(int fd)
{
    char link[64], target[8];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return readlink(link, target, sizeof target) > 0;
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void write_request(struct proto_writer *w)
{
    proto_begin_request(w, 7, "module.load");
    proto_pack_map(w, 5);
    proto_pack_string(w, "name", "k");
    proto_pack_bytes(w, "data", "\0\1\2", 3);
    proto_pack_uint(w, "big", UINT64_MAX);
    proto_pack_bool(w, "yes", true);
    proto_pack_string(w, "nothing", NULL);
}

static void expect_request(const struct proto_message *m)
{
    assert_int_equal(m->kind, PROTO_REQUEST);
    assert_int_equal(m->id, 7);
    assert_string_equal(m->method, "module.load");
    char *name = NULL;
    assert_true(proto_get_string(&m->params, "name", &name, 16));
    assert_string_equal(name, "k");
    free(name);
    const void *bytes;
    size_t size;
    assert_true(proto_get_bytes(&m->params, "data", &bytes, &size));
    assert_int_equal(size, 3);
    assert_memory_equal(bytes, "\0\1\2", 3);
    uint64_t big;
    assert_true(proto_get_uint(&m->params, "big", &big));
    assert_true(big == UINT64_MAX);
    bool yes = false;
    assert_true(proto_get_bool(&m->params, "yes", &yes));
    assert_true(yes);
    assert_int_equal(proto_get(&m->params, "nothing")->type, MSGPACK_OBJECT_NIL);
    assert_null(proto_get(&m->params, "absent"));
    assert_false(proto_get_uint(&m->params, "name", &big));
    assert_false(proto_get_string(&m->params, "data", &name, 16));
}

static void test_request_in_pieces(void **state)
{
    (void)state;
    struct proto_writer w;
    write_request(&w);
    assert_true(proto_finish(&w));
    struct proto_reader *r = proto_reader_new(PROTO_MAX_MESSAGE);
    struct proto_message m;
    const char *reason;
    for (size_t i = 0; i < w.buffer.size; i++) {
        assert_int_equal(proto_reader_next(r, &m, &reason), 0);
        proto_reader_feed(r, w.buffer.data + i, 1, NULL, 0);
    }
    assert_int_equal(proto_reader_next(r, &m, &reason), 1);
    expect_request(&m);
    proto_message_clear(&m);
    assert_int_equal(proto_reader_next(r, &m, &reason), 0);
    proto_reader_free(r);
    proto_writer_clear(&w);
}

static void test_several_in_one_piece(void **state)
{
    (void)state;
    struct proto_writer w;
    write_request(&w);
    assert_true(proto_finish(&w));
    struct proto_reader *r = proto_reader_new(PROTO_MAX_MESSAGE);
    struct proto_message m;
    const char *reason;
    for (int i = 0; i < 5; i++) proto_reader_feed(r, w.buffer.data, w.buffer.size, NULL, 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(proto_reader_next(r, &m, &reason), 1);
        expect_request(&m);
        proto_message_clear(&m);
    }
    assert_int_equal(proto_reader_next(r, &m, &reason), 0);
    proto_reader_free(r);
    proto_writer_clear(&w);
}

/* What a writer made, read back as one message. */
static struct proto_message pass(struct proto_writer *w)
{
    struct proto_reader *r = proto_reader_new(PROTO_MAX_MESSAGE);
    struct proto_message m;
    const char *reason = "";
    assert_true(proto_finish(w));
    proto_reader_feed(r, w->buffer.data, w->buffer.size, NULL, 0);
    int result = proto_reader_next(r, &m, &reason);
    if (result != 1) fail_msg("%s", reason);
    proto_reader_free(r);
    proto_writer_clear(w);
    return m;
}

static void test_reply_and_notice(void **state)
{
    (void)state;
    struct proto_writer w;
    proto_begin_reply(&w, UINT32_MAX);
    msgpack_pack_nil(&w.packer);
    struct proto_message m = pass(&w);
    assert_int_equal(m.kind, PROTO_REPLY);
    assert_true(m.id == UINT32_MAX);
    assert_int_equal(m.status, FUSION_SUCCESS);
    assert_null(m.method);
    proto_message_clear(&m);

    proto_begin_notice(&w, "executor.lost");
    proto_pack_map(&w, 1);
    proto_pack_int(&w, "n", -5);
    m = pass(&w);
    assert_int_equal(m.kind, PROTO_NOTICE);
    assert_string_equal(m.method, "executor.lost");
    assert_true(proto_get(&m.params, "n")->via.i64 == -5);
    uint64_t n;
    assert_false(proto_get_uint(&m.params, "n", &n));
    proto_message_clear(&m);

    proto_write_error(&w, 9, FUSION_NOT_FOUND, "module 4", "there is none");
    m = pass(&w);
    assert_int_equal(m.kind, PROTO_REPLY);
    assert_int_equal(m.id, 9);
    assert_int_equal(m.status, FUSION_NOT_FOUND);
    assert_string_equal(m.object, "module 4");
    assert_string_equal(m.reason, "there is none");
    proto_message_clear(&m);

    proto_write_error(&w, 9, (fusion_status)4711, NULL, NULL);
    m = pass(&w);
    assert_int_equal(m.status, FUSION_INTERNAL); /* a status of a newer version */
    assert_string_equal(m.object, "");
    proto_message_clear(&m);
}

static void test_strings_are_checked(void **state)
{
    (void)state;
    struct proto_writer w;
    proto_begin_notice(&w, "x");
    proto_pack_map(&w, 2);
    proto_pack_string(&w, "long", "12345");
    proto_pack_key(&w, "nul");
    msgpack_pack_str_with_body(&w.packer, "a\0b", 3);
    struct proto_message m = pass(&w);
    char *text;
    assert_false(proto_get_string(&m.params, "long", &text, 4));
    assert_false(proto_get_string(&m.params, "nul", &text, 16));
    assert_true(proto_get_string(&m.params, "long", &text, 5));
    free(text);
    proto_message_clear(&m);
}

/* ---- violations ---- */

static void frame_of(uint8_t *out, const void *body, uint32_t size, uint16_t fds)
{
    uint8_t header[8] = {(uint8_t)size,
                         (uint8_t)(size >> 8),
                         (uint8_t)(size >> 16),
                         (uint8_t)(size >> 24),
                         (uint8_t)fds,
                         (uint8_t)(fds >> 8),
                         0x31,
                         0x46};
    memcpy(out, header, 8);
    memcpy(out + 8, body, size);
}

/* The body is refused with a reason that contains `expected`; the reader stays refusing. */
static void refuse(const void *body, uint32_t size, const char *expected)
{
    uint8_t *frame = malloc(size + 8);
    frame_of(frame, body, size, 0);
    struct proto_reader *r = proto_reader_new(PROTO_MAX_MESSAGE);
    struct proto_message m;
    const char *reason = "";
    proto_reader_feed(r, frame, size + 8, NULL, 0);
    assert_int_equal(proto_reader_next(r, &m, &reason), -1);
    if (!strstr(reason, expected)) fail_msg("refused with \"%s\", not \"%s\"", reason, expected);
    proto_reader_feed(r, frame, size + 8, NULL, 0);
    assert_int_equal(proto_reader_next(r, &m, &reason), -1);
    assert_non_null(strstr(reason, expected));
    proto_reader_free(r);
    free(frame);
}

#define REFUSE(text, expected) refuse(text, sizeof text - 1, expected)

static void test_malformed_bodies(void **state)
{
    (void)state;
    REFUSE("", "truncated");
    REFUSE("\xc1", "malformed");
    REFUSE("\x93\x02\xa1x", "truncated");                     /* the last element is missing */
    REFUSE("\x93\x02\xa5xy\x80", "truncated");                /* a string beyond the end */
    REFUSE("\x93\x02\xa1x\x80\x80", "bytes after");           /* more than one value */
    REFUSE("\xdd\xff\xff\xff\xff", "truncated");              /* four billion elements */
    REFUSE("\x93\x02\xa1x\xdf\x7f\xff\xff\xff", "truncated"); /* two billion pairs */
    REFUSE("\x93\x02\xa1x\xc6\xff\xff\xff\xff", "truncated"); /* four billion bytes */
    REFUSE("\x93\x02\xa1x\xd4\x01\x02", "malformed");         /* an extension type */
    REFUSE("\x80", "array");
    REFUSE("\x93\x03\xa1x\x80", "array"); /* no such kind */
    REFUSE("\x93\xa1x\xa1x\x80", "array");
    REFUSE("\x94\x02\x01\xa1x\x80", "number of elements");
    REFUSE("\x93\x00\x01\xa1x", "number of elements");
    REFUSE("\x94\x00\xff\xa1x\x80", "id"); /* -1 */
    REFUSE("\x94\x00\xcf\0\0\0\1\0\0\0\0\xa1x\x80", "id");
    REFUSE("\x94\x00\x01\x05\x80", "method");
    REFUSE("\x94\x00\x01\xa2x\0\x80", "method");
    REFUSE("\x94\x00\x01\xa1x\x05", "parameters");
    REFUSE("\x94\x01\x01\x05\x80", "error");
    REFUSE("\x94\x01\x01\x80\xc0", "error");
}

static void test_long_method(void **state)
{
    (void)state;
    uint8_t body[3 + 4 + 256 + 1] = {0x94, 0x00, 0x01, 0xda, 0x01, 0x00};
    memset(body + 6, 'x', 256);
    body[6 + 256] = 0x80;
    refuse(body, 6 + 256 + 1, "method");
}

static void test_depth(void **state)
{
    (void)state;
    /* [2, "x", {"": [[[...]]]}]: the message, the map, then 14 arrays are as deep as allowed. */
    uint8_t body[64] = {0x93, 0x02, 0xa1, 'x', 0x81, 0xa0};
    memset(body + 6, 0x91, 14);
    body[6 + 13] = 0x90;
    assert_null(cursor_check(body, 6 + 14, PROTO_MAX_DEPTH, 1000));
    body[6 + 13] = 0x91;
    body[6 + 14] = 0x90;
    refuse(body, 6 + 15, "deep");
    uint8_t *deep = malloc(1 << 20);
    memset(deep, 0x91, 1 << 20);
    refuse(deep, 1 << 20, "deep");
    free(deep);
}

static void test_too_many_objects(void **state)
{
    (void)state;
    uint32_t size = PROTO_MAX_OBJECTS + 16;
    uint8_t *body = calloc(1, size);
    memcpy(body, "\x93\x02\xa1x\x81\xa0\xdd", 7);
    uint32_t n = size - 11;
    uint8_t count[4] = {(uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};
    memcpy(body + 7, count, 4);
    refuse(body, size, "too many elements");
    free(body);
}

static int feed_header(const char header[8], size_t max, char *text, size_t text_size)
{
    struct proto_reader *r = proto_reader_new(max);
    struct proto_message m;
    const char *reason = "";
    proto_reader_feed(r, header, 8, NULL, 0);
    int result = proto_reader_next(r, &m, &reason);
    snprintf(text, text_size, "%s", reason);
    proto_reader_free(r);
    return result;
}

static void test_headers(void **state)
{
    (void)state;
    char text[200];
    assert_int_equal(feed_header("\0\0\0\0\0\0\x31\x47", 1000, text, sizeof text), -1);
    assert_non_null(strstr(text, "header"));
    assert_int_equal(feed_header("GET / HT", 1000, text, sizeof text), -1);
    assert_int_equal(feed_header("\xe8\3\0\0\0\0\x31\x46", 1000, text, sizeof text), 0); /* 1000 bytes to come */
    assert_int_equal(feed_header("\xe9\3\0\0\0\0\x31\x46", 1000, text, sizeof text), -1);
    assert_non_null(strstr(text, "1001 bytes; the largest allowed is 1000"));
    assert_int_equal(feed_header("\xff\xff\xff\xff\0\0\x31\x46", SIZE_MAX, text, sizeof text), -1);
    assert_int_equal(feed_header("\1\0\0\0\x11\0\x31\x46", 1000, text, sizeof text), -1);
    assert_non_null(strstr(text, "17 descriptors"));
}

static void test_writer_refuses_too_large(void **state)
{
    (void)state;
    struct proto_writer w;
    void *much = calloc(1, PROTO_MAX_MESSAGE);
    proto_begin_notice(&w, "x");
    proto_pack_map(&w, 1);
    proto_pack_bytes(&w, "data", much, PROTO_MAX_MESSAGE);
    assert_false(proto_finish(&w));
    proto_writer_clear(&w);
    free(much);
}

/* ---- sockets and descriptors ---- */

static void test_large_over_socket(void **state)
{
    (void)state;
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    size_t size = 3 << 20;
    uint8_t *data = malloc(size);
    for (size_t i = 0; i < size; i++) data[i] = (uint8_t)(i * 7 + i / 251);
    pid_t child = fork_or_fail();
    if (child == 0) {
        struct proto_writer w;
        for (int i = 0; i < 2; i++) {
            proto_begin_notice(&w, "data");
            proto_pack_map(&w, 1);
            proto_pack_bytes(&w, "data", data, size);
            proto_finish(&w);
            if (proto_send(pair[1], &w, 0) != 0) _exit(1);
            proto_writer_clear(&w);
        }
        _exit(0);
    }
    close(pair[1]);
    struct proto_reader *r = proto_reader_new(PROTO_MAX_MESSAGE);
    struct proto_message m;
    const char *reason = "";
    const void *bytes;
    size_t got;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(proto_receive(pair[0], r, &m, now_ms() + 20000, &reason), 0);
        assert_true(proto_get_bytes(&m.params, "data", &bytes, &got));
        assert_int_equal(got, size);
        assert_memory_equal(bytes, data, size);
        proto_message_clear(&m);
    }
    assert_int_equal(proto_receive(pair[0], r, &m, now_ms() + 20000, &reason), -1);
    assert_int_equal(errno, EPIPE);
    proto_reader_free(r);
    close(pair[0]);
    free(data);
}

static void test_deadlines(void **state)
{
    (void)state;
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    struct proto_reader *r = proto_reader_new(PROTO_MAX_MESSAGE);
    struct proto_message m;
    const char *reason = "";
    assert_int_equal(proto_receive(pair[0], r, &m, now_ms() + 20, &reason), -1);
    assert_int_equal(errno, ETIMEDOUT);
    struct proto_writer w;
    void *much = calloc(1, 8 << 20);
    proto_begin_notice(&w, "data");
    proto_pack_map(&w, 1);
    proto_pack_bytes(&w, "data", much, 8 << 20);
    assert_true(proto_finish(&w));
    assert_int_equal(proto_send(pair[0], &w, now_ms() + 20), -1); /* nobody reads */
    assert_int_equal(errno, ETIMEDOUT);
    close(pair[1]);
    assert_int_equal(proto_send(pair[0], &w, 0), -1); /* and no SIGPIPE */
    assert_int_equal(errno, EPIPE);
    proto_writer_clear(&w);
    proto_reader_free(r);
    close(pair[0]);
    free(much);
}

static void test_descriptors(void **state)
{
    (void)state;
    int pair[2], fds[PROTO_MAX_FDS];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    for (int i = 0; i < PROTO_MAX_FDS; i++) {
        fds[i] = memfd_create("test", MFD_CLOEXEC);
        assert_int_equal(ftruncate(fds[i], 100 + i), 0);
    }
    /* Two messages with descriptors and one without between them, all in the socket at once. */
    struct proto_writer w;
    for (int i = 0; i < 3; i++) {
        proto_begin_notice(&w, "fds");
        msgpack_pack_nil(&w.packer);
        w.n_fds = i == 0 ? PROTO_MAX_FDS : i == 1 ? 0 : 2;
        memcpy(w.fds, fds, sizeof fds);
        assert_true(proto_finish(&w));
        assert_int_equal(proto_send(pair[1], &w, 0), 0);
        proto_writer_clear(&w);
    }
    struct proto_reader *r = proto_reader_new(PROTO_MAX_MESSAGE);
    struct proto_message m;
    const char *reason = "";
    int received[PROTO_MAX_FDS];
    assert_int_equal(proto_receive(pair[0], r, &m, now_ms() + 5000, &reason), 0);
    assert_int_equal(m.n_fds, PROTO_MAX_FDS);
    for (int i = 0; i < PROTO_MAX_FDS; i++) {
        assert_int_equal(lseek(m.fds[i], 0, SEEK_END), 100 + i);
        received[i] = m.fds[i];
    }
    int taken = m.fds[3];
    m.fds[3] = -1;
    proto_message_clear(&m);
    assert_true(is_open(taken));
    for (int i = 0; i < PROTO_MAX_FDS; i++) assert_true(received[i] == taken || !is_open(received[i]));
    close(taken);
    assert_int_equal(proto_receive(pair[0], r, &m, now_ms() + 5000, &reason), 0);
    assert_int_equal(m.n_fds, 0);
    proto_message_clear(&m);
    assert_int_equal(proto_receive(pair[0], r, &m, now_ms() + 5000, &reason), 0);
    assert_int_equal(m.n_fds, 2);
    assert_int_equal(lseek(m.fds[1], 0, SEEK_END), 101);
    proto_message_clear(&m);
    proto_reader_free(r);
    for (int i = 0; i < PROTO_MAX_FDS; i++) close(fds[i]);
    close(pair[0]);
    close(pair[1]);
}

/* Sends raw bytes with descriptors, as no honest writer would. */
static void send_raw(int fd, const void *bytes, size_t size, const int *fds, uint32_t n_fds)
{
    char control[CMSG_SPACE(64 * sizeof(int))] = {0};
    struct iovec data = {(void *)bytes, size};
    struct msghdr header = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = CMSG_SPACE(n_fds * sizeof(int))};
    struct cmsghdr *c = CMSG_FIRSTHDR(&header);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
    memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
    assert_int_equal(sendmsg(fd, &header, 0), size);
}

static uint32_t count_open(void)
{
    uint32_t n = 0;
    for (int fd = 0; fd < 256; fd++) n += is_open(fd);
    return n;
}

static void test_too_many_descriptors(void **state)
{
    (void)state;
    uint32_t before = count_open();
    int pair[2], fds[40];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    for (int i = 0; i < 40; i++) fds[i] = pair[0];
    send_raw(pair[1], "\5\0\0", 3, fds, 40);
    struct proto_reader *r = proto_reader_new(PROTO_MAX_MESSAGE);
    struct proto_message m;
    const char *reason = "";
    assert_int_equal(proto_receive(pair[0], r, &m, now_ms() + 5000, &reason), -1);
    assert_int_equal(errno, EPROTO);
    assert_string_equal(reason, "too many descriptors");
    proto_reader_free(r);
    close(pair[0]);
    close(pair[1]);
    assert_int_equal(count_open(), before);
}

static void test_descriptors_byte_by_byte(void **state)
{
    (void)state;
    uint32_t before = count_open();
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    struct proto_reader *r = proto_reader_new(PROTO_MAX_MESSAGE);
    struct proto_message m;
    const char *reason = "";
    int state_of = 0;
    for (int i = 0; i < 40 && state_of == 0; i++) { /* one with every byte of a message that never ends */
        send_raw(pair[1], i == 0 ? "\377" : i < 6 ? "\0" : i == 6 ? "\x31" : "\x46", 1, &pair[0], 1);
        assert_int_equal(proto_reader_fill(r, pair[0]), 1);
        state_of = proto_reader_next(r, &m, &reason);
    }
    assert_int_equal(state_of, -1);
    assert_string_equal(reason, "too many descriptors");
    proto_reader_free(r);
    close(pair[0]);
    close(pair[1]);
    assert_int_equal(count_open(), before);
}

static void test_descriptors_missing_or_unannounced(void **state)
{
    (void)state;
    uint32_t before = count_open();
    uint8_t frame[32];
    struct proto_message m;
    const char *reason = "";
    frame_of(frame, "\x93\x02\xa1x\xc0", 5, 1);
    struct proto_reader *r = proto_reader_new(PROTO_MAX_MESSAGE);
    proto_reader_feed(r, frame, 13, NULL, 0);
    assert_int_equal(proto_reader_next(r, &m, &reason), -1);
    assert_string_equal(reason, "the message came without its descriptors");
    proto_reader_free(r);

    int fd = dup(0);
    frame_of(frame, "\x93\x02\xa1x\xc0", 5, 0);
    r = proto_reader_new(PROTO_MAX_MESSAGE);
    proto_reader_feed(r, frame, 13, &fd, 1);
    assert_int_equal(proto_reader_next(r, &m, &reason), 1);
    proto_message_clear(&m);
    assert_int_equal(proto_reader_next(r, &m, &reason), -1);
    assert_string_equal(reason, "descriptors without a message");
    proto_reader_free(r);

    fd = dup(0); /* those of a malformed message are closed too */
    frame_of(frame, "\xc1", 1, 1);
    r = proto_reader_new(PROTO_MAX_MESSAGE);
    proto_reader_feed(r, frame, 9, &fd, 1);
    assert_int_equal(proto_reader_next(r, &m, &reason), -1);
    proto_reader_free(r);
    assert_int_equal(count_open(), before);
}

static void test_status_names(void **state)
{
    (void)state;
    for (int i = 0; i < FUSION_STATUS_COUNT; i++) {
        assert_string_not_equal(fusion_status_name((fusion_status)i), "unknown");
        for (int j = 0; j < i; j++)
            assert_string_not_equal(fusion_status_name((fusion_status)i), fusion_status_name((fusion_status)j));
    }
    assert_string_equal(fusion_status_name((fusion_status)-1), "unknown");
    assert_string_equal(fusion_status_name(FUSION_STATUS_COUNT), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request_in_pieces),
        cmocka_unit_test(test_several_in_one_piece),
        cmocka_unit_test(test_reply_and_notice),
        cmocka_unit_test(test_strings_are_checked),
        cmocka_unit_test(test_malformed_bodies),
        cmocka_unit_test(test_long_method),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_too_many_objects),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_writer_refuses_too_large),
        cmocka_unit_test(test_large_over_socket),
        cmocka_unit_test(test_deadlines),
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_too_many_descriptors),
        cmocka_unit_test(test_descriptors_byte_by_byte),
        cmocka_unit_test(test_descriptors_missing_or_unannounced),
        cmocka_unit_test(test_status_names),
    };
    return cmocka_run_group_tests_name("proto", tests, NULL, NULL);
}
