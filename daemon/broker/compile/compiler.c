/* One compiler process. */
#include "daemon/broker/compile/compiler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/broker/core/log.h"
#include "daemon/broker/core/peer.h"
#include "daemon/broker/core/procstat.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

struct compiler {
    struct broker *broker;
    const struct compiler_events *events;
    void *data;
    struct child *child;
    struct peer *control; /* the compiler that watches over jobs, and never sees one */
    struct peer *work;    /* the process of the job; NULL: none */
    pid_t worker;         /* its number; 0: not known */
    char directory[300];  /* its temporary files */
    bool ready;
    uint32_t job;     /* id of the request that is not answered yet; 0: none */
    bool finished;    /* nothing is left of the job's process, but perhaps its last words */
    uint64_t used_us; /* processor time of the job that has ended */
    char why[256];    /* it was killed for this reason; else "" */
    bool too_much;    /* and that was its answer's size */
};

static void free_compiler(struct compiler *c)
{
    peer_close(c->control, false);
    peer_close(c->work, false);
    if (c->directory[0]) tempdir_remove_tree(c->directory);
    free(c);
}

static void on_exit_status(void *data, int status)
{
    struct compiler *c = data;
    char ending[128], why[512];
    c->child = NULL;
    child_describe(status, ending, sizeof ending);
    snprintf(why, sizeof why, "%s", c->why);
    if (!c->why[0]) snprintf(why, sizeof why, "the compiler %s", ending);
    c->events->ended(c->data, c->too_much ? FUSION_OUT_OF_MEMORY : FUSION_COMPILER, why);
    free_compiler(c);
}

void compiler_kill(struct compiler *c, const char *why)
{
    if (!c->why[0]) snprintf(c->why, sizeof c->why, "%s", why);
    if (!c->ready || !c->control) {
        child_kill(c->child);
        return;
    }
    /* It ends by itself then, when it has ended its job with all that this has started. */
    peer_close(c->control, false);
    c->control = NULL;
}

/* The process of the job has gone: its answer has come, or may still lie in its connection. */
static void settle(struct compiler *c)
{
    if (!c->finished || (c->job && c->work)) return;
    c->finished = false;
    peer_close(c->work, false);
    c->work = NULL;
    if (c->job)
        compiler_kill(c, "the compiler ended a job without an answer");
    else
        c->events->idle(c->data, c->used_us * 1000);
}

static void on_control(void *data, struct proto_message *m)
{
    struct compiler *c = data;
    uint64_t pid;
    const void *figures;
    size_t size;
    if (c->why[0] || m->kind != PROTO_NOTICE) return;
    if (!c->ready && strcmp(m->method, "ready") == 0) {
        c->ready = true;
        c->events->ready(c->data, &m->params);
    } else if (strcmp(m->method, "started") == 0 && proto_get_uint(&m->params, "pid", &pid)) {
        c->worker = (pid_t)pid;
    } else if (strcmp(m->method, "measured") == 0 && proto_get_bytes(&m->params, "machine", &figures, &size)) {
        c->events->measured(c->data, figures, size);
    } else if (strcmp(m->method, "idle") == 0) {
        c->worker = 0;
        c->finished = true;
        c->used_us = 0;
        proto_get_uint(&m->params, "used_us", &c->used_us);
        settle(c);
    }
}

/* The connection ends when the process does; if not, it is of no use without. */
static void on_control_ended(void *data, fusion_status status, const char *reason)
{
    struct compiler *c = data;
    (void)status, (void)reason;
    peer_close(c->control, false);
    c->control = NULL;
    child_kill(c->child);
}

static const struct peer_events control_events = {.message = on_control, .ended = on_control_ended};

/* From here on a stranger may be speaking. */
static void on_work(void *data, struct proto_message *m)
{
    struct compiler *c = data;
    if (c->why[0]) return;
    if (m->kind == PROTO_REPLY && c->job && m->id == c->job) {
        c->job = 0;
        c->events->done(c->data, m);
    } else {
        compiler_kill(c, "the compiler sent a message nobody asked for");
    }
}

/* Why, the compiler tells: it ends as its job did. */
static void on_work_ended(void *data, fusion_status status, const char *reason)
{
    struct compiler *c = data;
    char why[200];
    peer_close(c->work, false);
    c->work = NULL;
    if (!status) {
        settle(c);
        return;
    }
    bool too_much = status == FUSION_OUT_OF_MEMORY && !c->why[0];
    snprintf(why, sizeof why, "the compiler %s: %s",
             too_much ? "made more than can be taken" : "sent a message that is no protocol", reason);
    c->too_much |= too_much;
    compiler_kill(c, why);
}

static const struct peer_events work_events = {.message = on_work, .ended = on_work_ended};

struct compiler *compiler_start(struct broker *broker, const struct compiler_events *compiler_events, void *data)
{
    static unsigned number;
    const char *const command[] = {broker->options.compiler, NULL};
    int pair[2];
    struct compiler *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->broker = broker;
    c->events = compiler_events;
    c->data = data;
    if (!tempdir_make_child(&broker->temporary, number++, c->directory, sizeof c->directory)) {
        log_warning("no temporary directory for a compiler: %s", strerror(errno));
        goto no_directory;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        log_warning("no connection for a compiler: %s", strerror(errno));
        goto no_pair;
    }
    c->control = peer_new(&broker->loop, pair[0], SIZE_MAX, &control_events, c);
    if (!c->control) goto no_peer;
    c->child = child_spawn(&broker->children, command, &pair[1], 1, c->directory, -1, &priority_of_compilers,
                           on_exit_status, c);
    if (!c->child) {
        log_warning("%s cannot be started: %s", broker->options.compiler, strerror(errno));
        goto no_peer;
    }
    close(pair[1]);
    return c;

no_peer:
    close(pair[1]);
no_pair:
no_directory:
    free_compiler(c);
    return NULL;
}

void compiler_stop(struct compiler *c)
{
    if (!c) return;
    if (c->ready)
        child_release(c->child); /* the end of its connection ends it, and what it has started */
    else
        child_abandon(c->child);
    free_compiler(c);
}

static bool send_job(struct compiler *c, int fd, const struct compiler_order *order)
{
    struct proto_writer w;
    proto_begin_notice(&w, "job");
    proto_pack_map(&w, 3);
    proto_pack_uint(&w, "care", order->care);
    proto_pack_uint(&w, "priority", order->priority);
    proto_pack_bool(&w, "measures", order->measures);
    w.fds[w.n_fds++] = fd;
    return peer_send(c->control, &w);
}

void compiler_run(struct compiler *c, struct user *user, uint32_t id, struct proto_writer *request,
                  const struct compiler_order *order)
{
    int pair[2];
    c->job = id;
    if (!c->control) { /* it is about to end */
        proto_writer_clear(request);
        return;
    }
    bool sent = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0;
    if (sent) {
        c->work = peer_new(&c->broker->loop, pair[0], SIZE_MAX, &work_events, c);
        if (c->work) peer_charge_reply(c->work, user);
        sent = c->work && send_job(c, pair[1], order) && peer_send(c->work, request);
        close(pair[1]);
    }
    if (sent) return;
    proto_writer_clear(request);
    compiler_kill(c, "the job could not be sent to the compiler");
}

void compiler_set_priority(struct compiler *c, enum job_priority priority)
{
    struct proto_writer w;
    if (!c->control) return;
    proto_begin_notice(&w, "priority");
    proto_pack_map(&w, 1);
    proto_pack_uint(&w, "priority", priority);
    if (!peer_send(c->control, &w)) compiler_kill(c, "the compiler does not listen");
}

uint64_t compiler_memory(const struct compiler *c)
{
    return procstat_resident(c->worker ? c->worker : child_pid(c->child));
}

uint64_t compiler_used_ns(const struct compiler *c)
{
    return c->worker ? priority_used_ns(c->worker) : 0;
}
