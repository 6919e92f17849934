/* One compiler process. */
#include "daemon/broker/compiler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/broker/log.h"
#include "daemon/broker/peer.h"
#include "daemon/broker/procstat.h"

struct compiler {
    struct broker *broker;
    const struct compiler_events *events;
    void *data;
    struct child *child;
    struct peer *peer;
    char directory[300]; /* its temporary files */
    bool ready;
    uint32_t job;  /* id of the request it works on; 0: none */
    char why[256]; /* it was killed for this reason; else "" */
};

static void free_compiler(struct compiler *c)
{
    peer_close(c->peer, false);
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
    c->events->ended(c->data, why);
    free_compiler(c);
}

void compiler_kill(struct compiler *c, const char *why)
{
    if (!c->why[0]) snprintf(c->why, sizeof c->why, "%s", why);
    child_kill(c->child);
}

static void on_message(void *data, struct proto_message *m)
{
    struct compiler *c = data;
    if (c->why[0]) return;
    if (m->kind == PROTO_NOTICE && !c->ready && strcmp(m->method, "ready") == 0) {
        c->ready = true;
        c->events->ready(c->data, &m->params);
    } else if (m->kind == PROTO_REPLY && c->job && m->id == c->job) {
        c->job = 0;
        c->events->done(c->data, m);
    } else if (m->kind != PROTO_NOTICE) {
        compiler_kill(c, "the compiler sent a message nobody asked for");
    }
}

/* The connection ends when the process does; if not, it is of no use without. */
static void on_ended(void *data, fusion_status status, const char *reason)
{
    struct compiler *c = data;
    char why[200];
    peer_close(c->peer, false);
    c->peer = NULL;
    if (!status) {
        child_kill(c->child);
        return;
    }
    snprintf(why, sizeof why, "the compiler sent a message that is no protocol: %s", reason);
    compiler_kill(c, why);
}

static const struct peer_events events = {.message = on_message, .ended = on_ended};

struct compiler *compiler_start(struct broker *broker, const struct compiler_events *compiler_events, void *data)
{
    static unsigned number;
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
    c->peer = peer_new(&broker->loop, pair[0], SIZE_MAX, &events, c);
    if (!c->peer) goto no_peer;
    c->child = child_spawn(&broker->children, broker->options.compiler, &pair[1], 1, c->directory, &priority_of_compilers,
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
    child_abandon(c->child);
    free_compiler(c);
}

void compiler_run(struct compiler *c, uint32_t id, struct proto_writer *request)
{
    c->job = id;
    if (!c->peer)
        proto_writer_clear(request);
    else if (!peer_send(c->peer, request))
        compiler_kill(c, "the job could not be sent to the compiler");
}

uint64_t compiler_memory(const struct compiler *c)
{
    return procstat_resident(child_pid(c->child));
}
