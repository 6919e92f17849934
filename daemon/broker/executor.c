/* A session's executor process. */
#include "daemon/broker/executor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/broker/log.h"
#include "daemon/broker/peer.h"
#include "daemon/executor/exit_codes.h"

enum { MAX_DEATHS = 20, DEATH_WINDOW_MS = 60000 };

/* A request without its reply. They come in order. */
struct call {
    STAILQ_ENTRY(call) link;
    uint32_t id;
    enum executor_subject subject;
    uint64_t about;
};

struct executor {
    struct broker *broker;
    struct ring *ring;
    int ring_fd, event_fd;
    uint32_t time_limit_ms;
    const struct executor_events *events;
    void *data;
    struct child *child; /* NULL: none runs */
    struct peer *peer;
    STAILQ_HEAD(, call) calls;
    uint32_t next_id;
    uint64_t deaths[MAX_DEATHS]; /* when; a ring */
    uint32_t n_deaths;
    bool hopeless;
    char corrupt[160]; /* what it said about the ring; "" */
};

struct executor *executor_new(struct broker *broker, struct ring *ring, int ring_fd, int event_fd,
                              uint32_t time_limit_ms, const struct executor_events *events, void *data)
{
    struct executor *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    *e = (struct executor){.broker = broker,
                           .ring = ring,
                           .ring_fd = ring_fd,
                           .event_fd = event_fd,
                           .time_limit_ms = time_limit_ms,
                           .events = events,
                           .data = data};
    STAILQ_INIT(&e->calls);
    return e;
}

static void drop_calls(struct executor *e)
{
    struct call *call;
    while ((call = STAILQ_FIRST(&e->calls))) {
        STAILQ_REMOVE_HEAD(&e->calls, link);
        free(call);
    }
}

void executor_free(struct executor *e)
{
    if (!e) return;
    child_abandon(e->child);
    peer_close(e->peer, false);
    drop_calls(e);
    free(e);
}

/* ---- death ---- */

struct cause {
    fusion_status status;
    char reason[256];
};

static struct cause cause_of(const struct executor *e, int status)
{
    struct cause cause = {.status = FUSION_EXECUTOR};
    char ending[128];
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    child_describe(status, ending, sizeof ending);
    if (code == EXECUTOR_EXIT_FAULT) {
        cause.status = FUSION_KERNEL_FAULT;
        snprintf(cause.reason, sizeof cause.reason, "a kernel accessed memory it must not; the executor was restarted");
    } else if (code == EXECUTOR_EXIT_TIMEOUT) {
        cause.status = FUSION_TIMEOUT;
        snprintf(cause.reason, sizeof cause.reason, "a kernel ran longer than %u ms; the executor was restarted",
                 e->time_limit_ms);
    } else if (code == EXECUTOR_EXIT_CORRUPT) {
        cause.status = FUSION_PROTOCOL;
        snprintf(cause.reason, sizeof cause.reason, "the submission ring is corrupt: %s", e->corrupt);
    } else {
        snprintf(cause.reason, sizeof cause.reason, "the executor %s", ending);
    }
    return cause;
}

/* Those behind the submission that failed did not fail themselves. */
static struct cause cause_for_pending(const struct cause *cause)
{
    struct cause pending = *cause;
    if (cause->status == FUSION_KERNEL_FAULT || cause->status == FUSION_TIMEOUT) {
        pending.status = FUSION_EXECUTOR;
        snprintf(pending.reason, sizeof pending.reason, "not run: an earlier submission %s",
                 cause->status == FUSION_TIMEOUT ? "ran out of time" : "had a fault");
    }
    return pending;
}

static void abort_pending(struct executor *e, const struct cause *cause)
{
    struct cause pending = cause_for_pending(cause);
    uint64_t one = 1;
    if (ring_abort(e->ring, pending.status, "executor", pending.reason) > 0 && e->ring->wants_event &&
        write(e->event_fd, &one, sizeof one) < 0 && errno != EAGAIN)
        log_warning("a completion could not be told: %s", strerror(errno));
}

/* Too many deaths in too short a time? */
static bool is_hopeless(struct executor *e)
{
    uint64_t now = uv_now(&e->broker->loop), *oldest = &e->deaths[e->n_deaths++ % MAX_DEATHS];
    bool hopeless = e->n_deaths > MAX_DEATHS && now - *oldest < DEATH_WINDOW_MS;
    *oldest = now;
    return hopeless;
}

static void give_up(struct executor *e, fusion_status status, const char *reason)
{
    e->hopeless = true;
    ring_set_state(e->ring, RING_CLOSED);
    e->events->given_up(e->data, status, reason);
}

/* Behind everything that was sent again: the executor takes submissions from then on. */
static void send_resume(struct executor *e)
{
    struct proto_writer w;
    uint32_t id = executor_next_id(e);
    proto_begin_request(&w, id, "resume");
    proto_pack_map(&w, 0);
    executor_request(e, id, &w, EXECUTOR_NOTHING, 0);
}

static void on_exit_status(void *data, int status)
{
    struct executor *e = data;
    struct cause cause = cause_of(e, status);
    e->child = NULL;
    peer_close(e->peer, false);
    e->peer = NULL;
    drop_calls(e);
    e->broker->counters.executors_lost++;
    abort_pending(e, &cause); /* before the state changes: who waits is to find his completion */
    ring_set_state(e->ring, RING_RESTARTING);
    if (cause.status == FUSION_PROTOCOL) {
        give_up(e, cause.status, cause.reason);
        return;
    }
    if (is_hopeless(e)) {
        char reason[400];
        snprintf(reason, sizeof reason, "the executor died %d times in %d s, the last time: %s", MAX_DEATHS + 1,
                 DEATH_WINDOW_MS / 1000, cause.reason);
        give_up(e, FUSION_EXECUTOR, reason);
        return;
    }
    e->events->lost(e->data, cause.status, cause.reason);
    executor_start(e);
    if (e->hopeless) return;
    e->events->restarted(e->data);
    send_resume(e);
}

/* ---- messages ---- */

static void on_reply(struct executor *e, struct proto_message *m)
{
    struct call *call = STAILQ_FIRST(&e->calls);
    if (!call || call->id != m->id) {
        log_warning("an executor answered a question nobody asked");
        child_kill(e->child);
        return;
    }
    STAILQ_REMOVE_HEAD(&e->calls, link);
    enum executor_subject subject = call->subject;
    uint64_t about = call->about;
    free(call);
    if (subject != EXECUTOR_NOTHING)
        e->events->replied(e->data, subject, about, m);
    else if (m->status != FUSION_SUCCESS)
        log_warning("an executor refused: %s: %s", m->object, m->reason);
}

static void on_message(void *data, struct proto_message *m)
{
    struct executor *e = data;
    if (m->kind == PROTO_REPLY) {
        on_reply(e, m);
    } else if (m->kind == PROTO_NOTICE && strcmp(m->method, "ring.corrupt") == 0) {
        char *reason = NULL;
        if (proto_get_string(&m->params, "reason", &reason, sizeof e->corrupt - 1))
            snprintf(e->corrupt, sizeof e->corrupt, "%s", reason);
        free(reason);
    }
}

static void on_ended(void *data, const char *reason, bool violation)
{
    struct executor *e = data;
    if (violation) log_warning("an executor sent what is no protocol: %s", reason);
    peer_close(e->peer, false);
    e->peer = NULL;
    /* Usually it has ended, and has its status already; one that only closed its descriptor is of no use. */
    child_kill(e->child);
}

static const struct peer_events events = {.message = on_message, .ended = on_ended};

uint32_t executor_next_id(struct executor *e)
{
    return ++e->next_id;
}

void executor_request(struct executor *e, uint32_t id, struct proto_writer *request, enum executor_subject subject,
                      uint64_t about)
{
    struct call *call = malloc(sizeof *call);
    if (!e->peer || !call) {
        /* It dies at this moment: everything is sent again then. */
        proto_writer_clear(request);
        free(call);
        return;
    }
    *call = (struct call){.id = id, .subject = subject, .about = about};
    STAILQ_INSERT_TAIL(&e->calls, call, link);
    if (!peer_send(e->peer, request) && e->child) child_kill(e->child);
}

static void send_options(struct executor *e)
{
    struct proto_writer w;
    uint32_t id = executor_next_id(e);
    proto_begin_request(&w, id, "options");
    proto_pack_map(&w, 1);
    proto_pack_uint(&w, "time_limit_ms", e->time_limit_ms);
    executor_request(e, id, &w, EXECUTOR_NOTHING, 0);
}

void executor_start(struct executor *e)
{
    int pair[2];
    if (e->child || e->hopeless) return;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        give_up(e, FUSION_OUT_OF_MEMORY, "no connection for an executor: too many open files");
        return;
    }
    e->corrupt[0] = 0;
    e->peer = peer_new(&e->broker->loop, pair[0], SIZE_MAX, &events, e);
    int fds[] = {pair[1], e->ring_fd, e->event_fd};
    if (e->peer)
        e->child = child_spawn(&e->broker->children, e->broker->options.executor, fds, 3, NULL, on_exit_status, e);
    close(pair[1]);
    if (e->child) {
        send_options(e);
        return;
    }
    peer_close(e->peer, false);
    e->peer = NULL;
    give_up(e, FUSION_OUT_OF_MEMORY, "no executor could be started: out of memory or processes");
}
