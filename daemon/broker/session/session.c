/* Sessions: from the connection of a client to its end. */
#include "daemon/broker/session/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/broker/core/closing.h"
#include "daemon/broker/core/log.h"
#include "daemon/broker/session/shared_ring.h"
#include "proto/frame.h"
#include "proto/writer.h"

enum { HELLO_LIMIT_MS = 10000, SESSION_BYTES = 32 << 10, SESSION_FDS = 8 /* of its own and its executor's */ };

/* ---- sending ---- */

void session_send(struct session *s, struct proto_writer *w)
{
    if (w->failed) {
        proto_writer_clear(w);
        session_end(s, FUSION_OUT_OF_MEMORY, "reply", "the reply is larger than a message can be");
        return;
    }
    peer_send(s->peer, w);
    session_update_reading(s);
}

void session_fail(struct session *s, uint32_t request, const struct error *error)
{
    struct proto_writer w;
    proto_write_error(&w, request, (fusion_status)error->code, error->object, error->reason);
    session_send(s, &w);
}

/* ---- reading ---- */

static void on_stall(uv_timer_t *timer)
{
    struct session *s = timer->data;
    if (peer_queued(s->peer) <= SESSION_PAUSE_QUEUE) return;
    if (peer_sent(s->peer) == s->sent)
        session_end(s, FUSION_CONNECTION, "session", "its client has not read its replies for 10 seconds");
    else
        session_update_reading(s);
}

/* Looks again later whether the client has taken anything. */
static void watch_stall(struct session *s)
{
    if (s->ending || !s->greeted || uv_is_active((uv_handle_t *)&s->timer)) return;
    s->sent = peer_sent(s->peer);
    uv_timer_start(&s->timer, on_stall, SESSION_STALL_MS, 0);
}

/* A client that asks faster than it is served, or reads more slowly than it is answered, waits in its own socket. So
   does one whose executor does not keep up. */
void session_update_reading(struct session *s)
{
    bool paused = s->ending || s->deferred || !pool_settled(s->broker->pool) ||
                  s->operations.n >= SESSION_MAX_OPERATIONS || s->operations.bytes >= SESSION_MAX_OPERATION_BYTES ||
                  peer_queued(s->peer) > SESSION_PAUSE_QUEUE || executor_is_busy(s->executor) ||
                  executor_is_busy(s->gpu.executor);
    peer_pause(s->peer, paused);
    if (peer_queued(s->peer) > SESSION_PAUSE_QUEUE) watch_stall(s);
}

void session_pool_changed(struct broker *broker)
{
    struct session *s;
    LIST_FOREACH(s, &broker->sessions, link)
    session_update_reading(s);
}

void session_defer(struct session *s, struct proto_message *m)
{
    s->deferred = malloc(sizeof *m);
    if (!s->deferred) {
        session_end(s, FUSION_OUT_OF_MEMORY, "session", "out of memory");
        return;
    }
    *s->deferred = *m;
    *m = (struct proto_message){.kind = m->kind};
}

static void drop_deferred(struct session *s)
{
    if (s->deferred) proto_message_clear(s->deferred);
    free(s->deferred);
    s->deferred = NULL;
}

void session_gpus_changed(struct broker *broker)
{
    struct session *s;
    LIST_FOREACH(s, &broker->sessions, link)
    {
        if (!s->deferred) continue;
        if (!s->ending) s->events->request(s, s->deferred);
        drop_deferred(s);
        session_update_reading(s);
    }
}

static void on_message(void *data, struct proto_message *m)
{
    struct session *s = data;
    if (s->ending) return;
    if (m->kind != PROTO_REQUEST) {
        session_end(s, FUSION_PROTOCOL, "message", "a client sends requests, and nothing else");
    } else if (s->greeted) {
        s->events->request(s, m);
    } else if (s->events->greeted(s, m)) {
        s->greeted = true;
        uv_timer_stop(&s->timer);
    }
    session_update_reading(s);
}

static void on_drained(void *data)
{
    session_update_reading(data);
}

/* ---- limits ---- */

bool session_charge(struct session *s, const struct user_cost *cost, struct error *error)
{
    if (cost->of[USER_BYTES] > SESSION_MAX_BYTES - s->bytes) {
        error_set(error, FUSION_OUT_OF_MEMORY, NULL, "the session's modules and executables take more than %d MB",
                  SESSION_MAX_BYTES >> 20);
        return false;
    }
    if (!user_charge_all(s->user, cost, error)) return false;
    s->bytes += cost->of[USER_BYTES];
    return true;
}

void session_refund(struct session *s, const struct user_cost *cost)
{
    s->bytes -= cost->of[USER_BYTES];
    user_refund_all(s->user, cost);
}

void session_weigh(struct session *s)
{
    uint64_t now = executor_memory(s->executor) + executor_memory(s->gpu.executor), before = s->executor_bytes;
    struct error error;
    if (s->ending) return;
    if (now <= before) {
        user_refund(s->user, USER_EXECUTORS, before - now);
    } else if (!user_charge(s->user, USER_EXECUTORS, now - before, &error)) {
        session_end(s, FUSION_OUT_OF_MEMORY, "executor", error.reason);
        return;
    }
    s->executor_bytes = now;
}

/* What every session costs: its connection, its executor's, the ring. */
static struct user_cost own_cost(void)
{
    return (struct user_cost){.of = {[USER_SESSIONS] = 1,
                                     [USER_BYTES] = SESSION_BYTES,
                                     [USER_DESCRIPTORS] = SESSION_FDS,
                                     [USER_SHARED] = ring_total_bytes()}};
}

void session_log(struct session *s, int priority, const char *kernel, const char *format, ...)
{
    const struct log_subject about = {
        .user = true, .uid = s->uid, .process = s->pid, .session = s->id, .client = s->name, .kernel = kernel};
    char text[LOG_LINE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    log_about(priority, &s->user->log, &about, "session %llu (user %u, process %d, %s): %s", (unsigned long long)s->id,
              (unsigned)s->uid, (int)s->pid, s->name && *s->name ? s->name : "no name", text);
}

/* ---- the executor's events ---- */

static void on_executor_replied(void *data, enum executor_subject subject, uint64_t id,
                                const struct proto_message *reply)
{
    struct session *s = data;
    s->events->replied(s, subject, id, reply);
}

static void on_executor_lost(void *data, fusion_status status, const char *reason, const struct executor_fault *fault)
{
    struct session *s = data;
    struct proto_writer w;
    if (*fault->object)
        session_log(s, LOG_NOTICE, fault->kernel, "%s: %s (%s)", fault->object, fault->reason, reason);
    else
        session_log(s, LOG_NOTICE, NULL, "%s", reason);
    proto_begin_notice(&w, "executor.lost");
    proto_pack_map(&w, 3);
    proto_pack_uint(&w, "status", status);
    proto_pack_string(&w, "object", "executor");
    proto_pack_string(&w, "reason", reason);
    session_send(s, &w);
}

static void on_executor_restarted(void *data)
{
    struct session *s = data;
    s->events->restarted(s, s->executor);
}

static void on_gpu_executor_restarted(void *data)
{
    struct session *s = data;
    s->events->restarted(s, s->gpu.executor);
}

static void on_executor_given_up(void *data, fusion_status status, const char *reason)
{
    session_end(data, status, "executor", reason);
}

static void on_spares_run(void *data, uint64_t executable)
{
    struct session *s = data;
    s->events->spares_run(s, executable);
}

static void on_binaries(void *data, uint64_t executable, const msgpack_object *told)
{
    struct session *s = data;
    s->events->binaries(s, executable, told);
}

static void on_less_busy(void *data)
{
    session_update_reading(data);
}

static const struct executor_events executor_events = {.replied = on_executor_replied,
                                                       .less_busy = on_less_busy,
                                                       .lost = on_executor_lost,
                                                       .restarted = on_executor_restarted,
                                                       .given_up = on_executor_given_up,
                                                       .spares_run = on_spares_run,
                                                       .binaries = on_binaries};

static const struct executor_events gpu_executor_events = {.replied = on_executor_replied,
                                                           .less_busy = on_less_busy,
                                                           .lost = on_executor_lost,
                                                           .restarted = on_gpu_executor_restarted,
                                                           .given_up = on_executor_given_up,
                                                           .spares_run = on_spares_run,
                                                           .binaries = on_binaries};

bool session_begin(struct session *s)
{
    s->executor = executor_new(s->broker, s->ring, s->ring_fd, s->event_fd, false, s->pid, s->user, s->time_limit_ms,
                               &executor_events, s);
    return s->executor;
}

/* Another ring and executor. Nobody is told of its completions by a byte: who waits for them looks at the ring. */
static const struct user_cost gpu_cost = {.of = {[USER_DESCRIPTORS] = SESSION_FDS}};

static void close_gpu(struct session *s)
{
    struct user_cost cost = gpu_cost;
    if (!s->gpu.ring) return;
    executor_free(s->gpu.executor);
    ring_set_state(s->gpu.ring, RING_CLOSED);
    munmap(s->gpu.ring, ring_total_bytes());
    close(s->gpu.ring_fd);
    cost.of[USER_SHARED] = ring_total_bytes();
    session_refund(s, &cost);
    s->gpu = (struct gpu_side){0};
}

bool session_open_gpu(struct session *s, struct error *error)
{
    struct user_cost cost = gpu_cost;
    cost.of[USER_SHARED] = ring_total_bytes();
    if (s->gpu.ring) return true;
    if (!session_charge(s, &cost, error)) return error_about(error, "device") == 0;
    s->gpu.ring = shared_ring_new(&s->gpu.ring_fd);
    if (!s->gpu.ring) {
        session_refund(s, &cost);
        return error_set(error, FUSION_OUT_OF_MEMORY, "device", "its ring could not be made: %m") == 0;
    }
    s->gpu.executor = executor_new(s->broker, s->gpu.ring, s->gpu.ring_fd, s->event_fd, true, s->pid, s->user,
                                   s->time_limit_ms, &gpu_executor_events, s);
    if (s->gpu.executor) {
        executor_live_in(s->gpu.executor, s->cgroup);
        executor_start(s->gpu.executor);
        s->events->restarted(s, s->gpu.executor);
        return true;
    }
    close_gpu(s);
    return error_set(error, FUSION_OUT_OF_MEMORY, "device", "out of memory") == 0;
}

/* ---- life ---- */

static void on_timer_closed(uv_handle_t *handle)
{
    struct session *s = handle->data;
    user_put(s->user);
    free(s);
}

void session_free(struct session *s)
{
    struct broker *broker = s->broker;
    LIST_REMOVE(s, link);
    operations_cancel(&s->operations);
    executor_free(s->executor);
    close_gpu(s);
    drop_deferred(s);
    s->events->ended(s);
    if (s->ring) {
        ring_set_state(s->ring, RING_CLOSED);
        munmap(s->ring, ring_total_bytes());
    }
    if (s->ring_fd >= 0) close(s->ring_fd);
    if (s->event_fd >= 0) close(s->event_fd);
    if (s->client_event_fd >= 0) close(s->client_event_fd);
    if (s->cgroup >= 0) {
        closing_close(s->cgroup);
        session_refund(s, &(struct user_cost){.of = {[USER_DESCRIPTORS] = 1}});
    }
    peer_close(s->peer, true);
    free(s->name);
    user_refund(s->user, USER_EXECUTORS, s->executor_bytes);
    struct user_cost cost = own_cost();
    if (s->admitted) user_refund_all(s->user, &cost);
    uv_close((uv_handle_t *)&s->timer, on_timer_closed);
    if (!broker->listener) broker_stop(broker);
}

static void on_end_timer(uv_timer_t *timer)
{
    session_free(timer->data);
}

void session_end(struct session *s, fusion_status status, const char *object, const char *reason)
{
    if (s->ending) return;
    s->ending = true;
    if (reason) {
        struct proto_writer w;
        session_log(s, LOG_NOTICE, NULL, "closed: %s", reason);
        proto_write_error(&w, 0, status, object, reason);
        peer_send(s->peer, &w);
    }
    uv_timer_start(&s->timer, on_end_timer, 0, 0);
}

static void on_ended(void *data, fusion_status why, const char *reason)
{
    struct session *s = data;
    if (why) {
        session_end(s, why, "message", reason);
        return;
    }
    if (reason && !s->ending) session_log(s, LOG_INFO, NULL, "ends: %s", reason);
    peer_pause(s->peer, true);
    session_end(s, FUSION_SUCCESS, NULL, NULL);
}

static const struct peer_events peer_events = {.message = on_message, .ended = on_ended, .drained = on_drained};

static void on_hello_late(uv_timer_t *timer)
{
    session_end(timer->data, FUSION_PROTOCOL, "hello", "no hello within 10 seconds");
}

/* Who is there, as the kernel says. False: it does not say. */
static bool learn_client(struct session *s, int fd)
{
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return false;
    s->uid = credentials.uid;
    s->pid = credentials.pid;
    return true;
}

/* Does its user have room for a session more? */
static void admit(struct session *s)
{
    struct user_cost cost = own_cost();
    struct error error;
    s->admitted = user_charge_all(s->user, &cost, &error);
    if (!s->admitted) {
        session_end(s, FUSION_OUT_OF_MEMORY, "session", error.reason);
        return;
    }
    peer_limit(s->peer, s->user, s->broker->options.frame_limit_ms);
    uv_timer_start(&s->timer, on_hello_late, HELLO_LIMIT_MS, 0);
}

void session_new(struct broker *broker, int fd, const struct session_events *events)
{
    struct session *s = calloc(1, sizeof *s);
    if (!s || !learn_client(s, fd)) {
        free(s);
        closing_close(fd);
        return;
    }
    s->broker = broker;
    s->events = events;
    s->user = user_get(&broker->users, s->uid);
    s->id = broker_new_id(broker);
    s->ring_fd = s->event_fd = s->client_event_fd = s->cgroup = -1;
    operations_init(&s->operations, s, s->user);
    s->peer = s->user ? peer_new(&broker->loop, fd, SESSION_MAX_QUEUE, &peer_events, s) : NULL;
    if (!s->peer) {
        if (!s->user) closing_close(fd);
        user_put(s->user);
        free(s);
        return;
    }
    peer_is_stranger(s->peer, s->uid);
    turns_init_client(&s->pool_client, s->user, false);
    turns_init_client(&s->background, s->user, true);
    uv_timer_init(&broker->loop, &s->timer);
    s->timer.data = s;
    LIST_INSERT_HEAD(&broker->sessions, s, link);
    broker->counters.sessions_ever++;
    admit(s);
    session_update_reading(s);
}
