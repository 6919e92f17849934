/* Starting a process of the daemon and speaking to it. */
#include "tests/support/child.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "proto/transfer.h"
#include "tests/support/fork.h"

enum { PATIENCE_MS = 20000, MAX_ARGS = 8, FIRST_FD = 3, MAX_FDS = 4 };

static uint64_t deadline(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000 + PATIENCE_MS;
}

/* In the child: moves the descriptors out of the way, then to where they belong. */
static void place_descriptors(const int *fds, unsigned n)
{
    int moved[MAX_FDS];
    for (unsigned i = 0; i < n; i++) moved[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 64);
    for (unsigned i = 0; i < n; i++)
        if (moved[i] < 0 || dup2(moved[i], FIRST_FD + (int)i) < 0) _exit(126);
}

static void execute(const char *path, const char *const *argv)
{
    char *args[MAX_ARGS + 2] = {(char *)path};
    for (unsigned i = 0; argv && argv[i] && i < MAX_ARGS; i++) args[i + 1] = (char *)argv[i];
    execv(path, args);
    _exit(127);
}

static void find_program(const char *kind, char *path, size_t size)
{
    char variable[32] = "FUSIOND_";
    for (size_t i = 0, n = strlen(variable); kind[i]; i++) variable[n + i] = (char)toupper(kind[i]);
    const char *given = getenv(variable), *root = getenv("FUSIOND_BUILD_ROOT");
    if (!given && !root) fail_msg("neither %s nor FUSIOND_BUILD_ROOT is set", variable);
    if (given)
        snprintf(path, size, "%s", given);
    else
        snprintf(path, size, "%s/daemon/%s/fusiond-%s", root, kind, kind);
}

void child_start(struct child *c, const char *kind, const int *fds, unsigned n_fds, const char *const *argv)
{
    char path[512];
    int pair[2];
    find_program(kind, path, sizeof path);
    assert_true(n_fds < MAX_FDS);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    *c = (struct child){.connection = pair[0],
                        .reader = proto_reader_new(PROTO_MAX_MESSAGE),
                        .next_id = 1,
                        .by_job = strcmp(kind, "compiler") == 0};
    pid_t pid = fork_or_fail();
    if (pid == 0) {
        int all[MAX_FDS] = {pair[1]};
        for (unsigned i = 0; i < n_fds; i++) all[i + 1] = fds[i];
        place_descriptors(all, n_fds + 1);
        execute(path, argv);
    }
    c->pid = pid;
    close(pair[1]);
}

void child_begin(struct child *c, struct proto_writer *w, const char *method)
{
    proto_begin_request(w, c->next_id++, method);
}

static bool receive(int fd, struct proto_reader *reader, struct proto_message *m)
{
    const char *reason = "";
    if (proto_receive(fd, reader, m, deadline(), &reason) == 0) return true;
    if (errno != EPIPE && errno != ECONNRESET) fail_msg("receiving: %s", reason);
    return false;
}

bool child_receive(struct child *c, struct proto_message *m)
{
    return receive(c->connection, c->reader, m);
}

/* A compiler is given a connection for the job, and says when nothing is left of it. */
static fusion_status call_job(struct child *c, struct proto_writer *w, struct proto_message *reply)
{
    int pair[2];
    struct proto_writer job;
    struct proto_message notice;
    struct proto_reader *reader = proto_reader_new(PROTO_MAX_MESSAGE);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    proto_begin_notice(&job, "job");
    proto_pack_map(&job, 0);
    job.fds[job.n_fds++] = pair[1];
    assert_true(proto_finish(&job));
    bool good = proto_send(c->connection, &job, deadline()) == 0;
    close(pair[1]);
    job.n_fds = 0;
    proto_writer_clear(&job);
    good = good && proto_send(pair[0], w, deadline()) == 0 && receive(pair[0], reader, reply);
    proto_writer_clear(w);
    for (bool idle = false; !idle && child_receive(c, &notice); proto_message_clear(&notice))
        idle = strcmp(notice.method, "idle") == 0;
    proto_reader_free(reader);
    close(pair[0]);
    return good ? reply->status : FUSION_CONNECTION;
}

fusion_status child_call(struct child *c, struct proto_writer *w, struct proto_message *reply)
{
    assert_true(proto_finish(w));
    *reply = (struct proto_message){.kind = PROTO_REPLY};
    if (c->by_job) return call_job(c, w, reply);
    int sent = proto_send(c->connection, w, deadline());
    proto_writer_clear(w);
    if (sent != 0) return FUSION_CONNECTION;
    for (;;) {
        if (!child_receive(c, reply)) return FUSION_CONNECTION;
        if (reply->kind == PROTO_REPLY) break;
        proto_message_clear(reply);
    }
    assert_int_equal(reply->id, c->next_id - 1);
    return reply->status;
}

fusion_status child_do(struct child *c, struct proto_writer *w)
{
    struct proto_message reply;
    fusion_status status = child_call(c, w, &reply);
    if (status != FUSION_CONNECTION) proto_message_clear(&reply);
    return status;
}

int child_wait(struct child *c)
{
    int status = 0;
    for (int ms = 0; ms < PATIENCE_MS; ms += 10) {
        pid_t ended = waitpid(c->pid, &status, WNOHANG);
        assert_true(ended >= 0);
        if (ended == c->pid) {
            proto_reader_free(c->reader);
            close(c->connection);
            return status;
        }
        usleep(10000);
    }
    kill(c->pid, SIGKILL);
    waitpid(c->pid, &status, 0);
    fail_msg("the process did not end");
    return status;
}

int child_stop(struct child *c)
{
    shutdown(c->connection, SHUT_RDWR);
    return child_wait(c);
}
