/* Closing what strangers have sent: a file whose closing never ends, as one of a file system that does not answer, is
   in nobody's way but of him who sent it, and is his until it is closed. close() is this file's here. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/broker/core/closing.h"
#include "daemon/broker/core/peer.h"
#include "daemon/broker/core/user.h"
#include "proto/include/fusiond/status.h"

enum { FDS = 4096, PATIENCE_MS = 20000, HOSTILE = 4000, VICTIM = 5000, MANY = 40 };

static atomic_bool never_ends[FDS], closed[FDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answers = PTHREAD_COND_INITIALIZER;
static atomic_int stuck;

/* No signal ends it, as none ends the flush of a FUSE file. */
int close(int fd)
{
    bool watched = fd >= 0 && fd < FDS;
    if (watched && never_ends[fd]) {
        stuck++;
        pthread_mutex_lock(&lock);
        while (never_ends[fd]) pthread_cond_wait(&answers, &lock);
        pthread_mutex_unlock(&lock);
        stuck--;
    }
    if (watched) closed[fd] = true;
    return (int)syscall(SYS_close, fd);
}

static int new_fd(bool blocks)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_in_range(fd, 0, FDS - 1);
    closed[fd] = false;
    never_ends[fd] = blocks;
    return fd;
}

static void answer_all(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < FDS; i++) never_ends[i] = false;
    pthread_cond_broadcast(&answers);
    pthread_mutex_unlock(&lock);
}

static void await_closed(int fd)
{
    for (int ms = 0; !closed[fd]; ms++) {
        assert_true(ms < PATIENCE_MS);
        usleep(1000);
    }
}

static void await_pending(uint64_t n)
{
    for (int ms = 0; closing_pending() != n; ms++) {
        assert_true(ms < PATIENCE_MS);
        usleep(1000);
    }
}

static void await_stuck(int n)
{
    for (int ms = 0; stuck != n; ms++) {
        assert_true(ms < PATIENCE_MS);
        usleep(1000);
    }
}

static int setup(void **state)
{
    (void)state;
    return closing_start() ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    answer_all();
    await_pending(0);
    return 0;
}

/* However many there are of them, of one user or of many. */
static void test_others_go_on(void **state)
{
    (void)state;
    for (int i = 0; i < MANY; i++) closing_close_of(HOSTILE, new_fd(true));
    for (int user = 1; user < 30; user++)
        for (int i = 0; i < 4; i++) closing_close_of((uid_t)(HOSTILE + user), new_fd(true));
    await_stuck(2 * 30); /* two threads of each user */
    int of_victim = new_fd(false), own = new_fd(false);
    closing_close_of(VICTIM, of_victim);
    closing_close(own);
    await_closed(own);
    await_closed(of_victim);
    for (int i = 0; i < MANY; i++) closing_close((own = new_fd(false))), await_closed(own);
    assert_int_equal(closing_pending_of(HOSTILE), MANY);
    assert_int_equal(closing_pending_of(VICTIM), 0);
    assert_int_equal(closing_pending(), MANY + 29 * 4);
    answer_all();
    await_pending(0);
    assert_int_equal(closing_pending_of(HOSTILE), 0);
}

/* More users than there are threads for: what the daemon has itself is closed all the same, and when an answer comes
   everybody's. */
static void test_many_users(void **state)
{
    (void)state;
    int own = new_fd(false), late;
    for (int user = 0; user < 200; user++)
        for (int i = 0; i < 2; i++) closing_close_of((uid_t)(HOSTILE + user), new_fd(true));
    await_stuck(128);
    closing_close_of(VICTIM, (late = new_fd(false)));
    closing_close(own);
    await_closed(own);
    assert_int_equal(stuck, 128);
    assert_false(closed[late]);
    answer_all();
    await_closed(late);
    await_pending(0);
}

/* They count among the descriptors that their user holds: he is refused, others are not. */
static void test_charged(void **state)
{
    (void)state;
    struct users users;
    struct error error;
    users_init(&users);
    users_limit(&users, (const uint64_t[USER_RESOURCES]){99, 99, 99, 99, 99, 99}, NULL, 0);
    struct user *hostile = user_get(&users, HOSTILE), *victim = user_get(&users, VICTIM);
    for (int i = 0; i < MANY; i++) closing_close_of(HOSTILE, new_fd(true));
    assert_true(user_charge(hostile, USER_DESCRIPTORS, 9, &error));
    assert_false(user_charge(hostile, USER_DESCRIPTORS, 1, &error));
    assert_int_equal(error.code, FUSION_OUT_OF_MEMORY);
    assert_non_null(strstr(error.reason, "share of user 4000, which has 49"));
    assert_true(user_charge(victim, USER_DESCRIPTORS, 25, &error));
    assert_false(user_charge(victim, USER_DESCRIPTORS, 1, &error)); /* half of what is left */
    answer_all();
    await_pending(0);
    assert_true(user_charge(victim, USER_DESCRIPTORS, 1, &error));
    assert_true(user_charge(hostile, USER_DESCRIPTORS, 1, &error));
    users_clear(&users);
}

/* ---- as they come ---- */

static void on_message(void *data, struct proto_message *m)
{
    (void)m;
    ++*(int *)data;
}

static void on_ended(void *data, fusion_status why, const char *reason)
{
    (void)data, (void)why, (void)reason;
}

/* With a message that has no use for them: the connection's user has them, and the next message is read. */
static void test_messages(void **state)
{
    (void)state;
    static const struct peer_events events = {.message = on_message, .ended = on_ended};
    uv_loop_t loop;
    int pair[2], messages = 0;
    assert_int_equal(uv_loop_init(&loop) | socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    struct peer *peer = peer_new(&loop, pair[0], 1 << 20, &events, &messages);
    peer_is_stranger(peer, HOSTILE);
    for (int i = 0; i < MANY; i++) {
        struct proto_writer w;
        struct iovec data;
        union {
            char bytes[CMSG_SPACE(sizeof(int))];
            struct cmsghdr align;
        } control = {.bytes = {0}};
        struct msghdr header = {
            .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
        struct cmsghdr *c = CMSG_FIRSTHDR(&header);
        *c = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
        int fd = new_fd(false);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
        proto_begin_request(&w, (uint32_t)i + 1, "device.list");
        proto_pack_map(&w, 0);
        w.n_fds = 1;
        assert_true(proto_finish(&w));
        data = (struct iovec){w.buffer.data, w.buffer.size};
        assert_int_equal(sendmsg(pair[1], &header, 0), (int)w.buffer.size);
        w.n_fds = 0;
        proto_writer_clear(&w);
        syscall(SYS_close, fd);
        never_ends[fd] = true; /* the number that it has here is the next one that the other side gets */
        while (messages <= i) uv_run(&loop, UV_RUN_ONCE);
    }
    assert_int_equal(messages, MANY);
    assert_int_equal(closing_pending_of(HOSTILE), MANY);
    answer_all();
    await_pending(0);
    peer_close(peer, false);
    syscall(SYS_close, pair[1]);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_others_go_on), TEST(test_many_users), TEST(test_charged),
                                       TEST(test_messages)};
    return cmocka_run_group_tests_name("closing", tests, NULL, NULL);
}
