/* The control group that a client has for its kernels. */
#include "daemon/broker/session/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "daemon/broker/session/request.h"

/* Of a stranger's file, without a word to the file system that it is of: that may be a process which never answers. */
static bool look_at(int fd, struct statx *s)
{
    return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_UID, s) == 0 && S_ISDIR(s->stx_mode);
}

/* The device of the system's hierarchy of control groups, which is one, wherever it is mounted. A line is
   "36 35 0:32 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup rw". */
static bool find_hierarchy(unsigned *major_number, unsigned *minor_number)
{
    char line[4096];
    bool found = false;
    FILE *f = fopen("/proc/self/mountinfo", "re");
    if (!f) return false;
    while (!found && fgets(line, sizeof line, f)) {
        const char *kind = strstr(line, " - ");
        found = kind && strncmp(kind, " - cgroup2 ", 11) == 0 &&
                sscanf(line, "%*u %*u %u:%u", major_number, minor_number) == 2;
    }
    fclose(f);
    return found;
}

/* Who may put processes into a group is the owner of this file: then he may put this one there, too. */
static bool is_delegated(int fd, uid_t uid)
{
    struct stat s;
    return uid == 0 || (fstatat(fd, "cgroup.procs", &s, AT_SYMLINK_NOFOLLOW) == 0 && s.st_uid == uid);
}

static bool check(struct session *s, const struct proto_message *m)
{
    struct statx group;
    unsigned major_number, minor_number;
    if (s->cgroup >= 0 || executor_has_started(s->executor))
        return request_fail(s, m, FUSION_INVALID, "cgroup", "it is to be named before anything else of the session");
    if (m->n_fds != 1) return request_fail(s, m, FUSION_INVALID, "cgroup", "it came without a descriptor");
    if (!find_hierarchy(&major_number, &minor_number))
        return request_fail(s, m, FUSION_FEATURE_NOT_SUPPORTED, "cgroup",
                            "the service sees no control groups version 2");
    if (!look_at(m->fds[0], &group) || group.stx_dev_major != major_number || group.stx_dev_minor != minor_number)
        return request_fail(s, m, FUSION_INVALID, "cgroup",
                            "the descriptor is not a control group's folder (version 2)");
    if (group.stx_uid != s->uid && s->uid != 0)
        return request_fail(s, m, FUSION_INVALID, "cgroup",
                            "it belongs to user %u, not to user %u whose kernels are to run there",
                            (unsigned)group.stx_uid, (unsigned)s->uid);
    if (!is_delegated(m->fds[0], s->uid))
        return request_fail(s, m, FUSION_INVALID, "cgroup",
                            "it is not delegated to user %u: its cgroup.procs belongs to somebody else",
                            (unsigned)s->uid);
    return true;
}

/* `cancel` of an operation: who waits for it has gone. */
static void drop(struct operation *o)
{
    o->session->entering = NULL;
    free(o);
}

/* Answered by an executor that runs: it is in the group by then. */
static void ask(struct session *s)
{
    struct proto_writer w;
    uint32_t id = executor_next_id(s->executor);
    proto_begin_request(&w, id, "options");
    proto_pack_map(&w, 1);
    proto_pack_uint(&w, "time_limit_ms", s->time_limit_ms);
    executor_request(s->executor, id, &w, EXECUTOR_CGROUP, 0);
}

void cgroup_enter(struct session *s, struct proto_message *m)
{
    const struct user_cost cost = {.of = {[USER_DESCRIPTORS] = 1}};
    struct error error;
    if (!check(s, m)) return;
    if (!session_charge(s, &cost, &error)) {
        error_about(&error, "cgroup");
        session_fail(s, m->id, &error);
        return;
    }
    s->cgroup = m->fds[0];
    m->fds[0] = -1;
    s->entering = malloc(sizeof *s->entering);
    if (!s->entering) {
        request_fail(s, m, FUSION_OUT_OF_MEMORY, "cgroup", "out of memory");
        return;
    }
    operation_begin(s->entering, &s->operations, m, drop);
    s->entering->settled = true;
    executor_live_in(s->executor, s->cgroup);
    executor_start(s->executor);
    if (!s->ending) ask(s);
}

void cgroup_replied(struct session *s, const struct proto_message *reply)
{
    struct operation *o = s->entering;
    (void)reply;
    if (!o) return;
    s->entering = NULL;
    operation_end(o);
    request_done(s, o->request);
    free(o);
}

void cgroup_replay(struct session *s)
{
    if (s->entering) ask(s);
}
