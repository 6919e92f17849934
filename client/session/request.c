/*
 * Requests to the service and their replies. A request that runs out of time, or whose reply there is no memory for,
 * costs the session nothing: what is left of it is sent before the next one, and when its reply is read, what it made
 * is given back.
 */
#include "client/session/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "client/base/array.h"
#include "client/base/error.h"
#include "client/session/fork.h"
#include "proto/fields.h"
#include "proto/transfer.h"

/* A message on its way. */
struct outgoing {
    STAILQ_ENTRY(outgoing) link;
    struct proto_writer writer;
    size_t sent; /* bytes */
};

/* A request that ran out of time and whose reply somebody is going to ask for (client_request_resume()). */
struct client_late {
    uint32_t id;
    bool arrived;
    fusion_status status;
};

uint64_t client_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void free_outgoing(struct outgoing *o)
{
    proto_writer_clear(&o->writer);
    free(o);
}

void client_requests_clear(fusion_session *s)
{
    struct outgoing *o;
    while ((o = STAILQ_FIRST(&s->outgoing))) {
        STAILQ_REMOVE_HEAD(&s->outgoing, link);
        free_outgoing(o);
    }
    free(s->late);
}

/* The stream cannot be trusted after this: later requests fail at once, waits end. */
static fusion_status connection_lost(fusion_session *s, const char *method, const char *reason)
{
    s->broken = true;
    shutdown(s->fd, SHUT_RDWR);
    return client_error(FUSION_CONNECTION, method, "the connection to fusiond ended: %s", reason);
}

static fusion_status out_of_time(const fusion_session *s, const char *method)
{
    return client_error(FUSION_TIMEOUT, method, "no reply within %u ms", s->request_limit_ms);
}

/* ---- sending ---- */

/* Sends what waits, in its order. 0, or -1 with errno. */
static int flush(fusion_session *s, uint64_t deadline)
{
    struct outgoing *o;
    while ((o = STAILQ_FIRST(&s->outgoing))) {
        if (proto_send_from(s->fd, &o->writer, &o->sent, deadline) < 0) return -1;
        STAILQ_REMOVE_HEAD(&s->outgoing, link);
        free_outgoing(o);
    }
    return 0;
}

static struct outgoing *make_request(fusion_session *s, const char *method, client_pack_fn *pack, const void *data)
{
    struct outgoing *o = calloc(1, sizeof *o);
    if (!o) return NULL;
    proto_begin_request(&o->writer, s->next_request++, method);
    if (pack)
        pack(&o->writer, data);
    else
        proto_pack_map(&o->writer, 0);
    return o;
}

static void pack_release(struct proto_writer *w, const void *data)
{
    const struct release *r = data;
    proto_pack_map(w, 1);
    proto_pack_uint(w, r->key, r->id);
}

/* Beyond what there is room for, what was to be released stays until the session ends. */
static void owe(fusion_session *s, const struct release *r)
{
    if (s->n_owed < sizeof s->owed / sizeof *s->owed) s->owed[s->n_owed++] = *r;
}

/* The reply is of no interest. It goes with the next request at the latest. */
static void send_release(fusion_session *s, const struct release *r)
{
    struct outgoing *o = make_request(s, r->method, pack_release, r);
    if (!o || !proto_finish(&o->writer)) {
        if (o) free_outgoing(o);
        owe(s, r);
        return;
    }
    STAILQ_INSERT_TAIL(&s->outgoing, o, link);
    flush(s, 1); /* without waiting */
}

static void send_owed(fusion_session *s)
{
    uint32_t n = s->n_owed;
    s->n_owed = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct release r = s->owed[i];
        send_release(s, &r);
    }
}

/* Sends a whole request. Out of time it leaves the stream in order; `pending` says whether the service is going to see
   the request all the same. */
static fusion_status send_request(fusion_session *s, struct outgoing *o, const char *method, uint64_t deadline,
                                  bool *pending)
{
    STAILQ_INSERT_TAIL(&s->outgoing, o, link);
    if (flush(s, deadline) == 0) return FUSION_SUCCESS;
    if (errno == EPIPE || errno == ECONNRESET) return FUSION_SUCCESS; /* its reason may still be there to read */
    if (errno != ETIMEDOUT) return connection_lost(s, method, strerror(errno));
    *pending = o->sent > 0;
    if (!*pending) {
        STAILQ_REMOVE(&s->outgoing, o, outgoing, link);
        free_outgoing(o);
    }
    return out_of_time(s, method);
}

/* ---- receiving ---- */

static struct client_late *find_late(fusion_session *s, uint32_t id)
{
    for (uint32_t i = 0; i < s->n_late; i++)
        if (s->late[i].id == id) return &s->late[i];
    return NULL;
}

/* The reply to a request that ran out of time: nobody knows of what it made, so that is given back. */
static void take_late_reply(fusion_session *s, const struct proto_message *message)
{
    struct client_late *late = find_late(s, message->id);
    uint64_t id;
    if (late) {
        late->arrived = true;
        late->status = message->status;
    }
    if (message->status != FUSION_SUCCESS || message->params.type != MSGPACK_OBJECT_MAP) return;
    if (proto_get_uint(&message->params, "executable", &id))
        send_release(s, &(struct release){"executable.release", "executable", id});
    else if (proto_get_uint(&message->params, "module", &id))
        send_release(s, &(struct release){"module.release", "module", id});
}

/* What could not be received, by errno. `pending`: the stream is in order, and the reply still comes. */
static fusion_status receive_failed(fusion_session *s, const char *method, const char *reason, bool *pending)
{
    *pending = errno == ETIMEDOUT || errno == ENOMEM;
    if (errno == ETIMEDOUT) return out_of_time(s, method);
    if (errno == ENOMEM) return client_no_memory(method);
    return connection_lost(s, method, reason ? reason : strerror(errno));
}

/* pending: set where the reply has not come and still may. */
static fusion_status receive_reply(fusion_session *s, uint32_t id, const char *method, uint64_t deadline,
                                   struct proto_message *out, bool *pending)
{
    for (;;) {
        struct proto_message message = {0};
        const char *reason = NULL;
        if (proto_receive(s->fd, s->reader, &message, deadline, &reason) < 0)
            return receive_failed(s, method, reason, pending);
        bool violation = message.kind == PROTO_REPLY && message.id == 0 && message.status != FUSION_SUCCESS;
        if (violation) { /* the daemon's last words */
            fusion_status status = client_error(message.status, message.object, "%s", message.reason);
            s->broken = true;
            proto_message_clear(&message);
            return status;
        }
        if (message.kind == PROTO_REPLY && message.id == id) {
            *out = message;
            return FUSION_SUCCESS;
        }
        if (message.kind == PROTO_REPLY) take_late_reply(s, &message);
        proto_message_clear(&message);
        *pending = client_now_ms() > deadline; /* however much comes that nobody asked for */
        if (*pending) return out_of_time(s, method);
    }
}

/* Receives the reply to request `id`; what it says counts. */
static fusion_status finish(fusion_session *s, uint32_t id, const char *method, uint64_t deadline,
                            struct proto_message *reply, bool *pending)
{
    struct proto_message message = {0};
    fusion_status status = receive_reply(s, id, method, deadline, &message, pending);
    if (status != FUSION_SUCCESS) return status;
    if (message.status != FUSION_SUCCESS) {
        status = client_error(message.status, message.object, "%s", message.reason);
        proto_message_clear(&message);
        return status;
    }
    if (reply)
        *reply = message;
    else
        proto_message_clear(&message);
    return FUSION_SUCCESS;
}

/* ---- exchanges ---- */

static fusion_status ended(fusion_session *s, const char *method)
{
    if (client_is_foreign(s)) return client_foreign(method);
    return client_error(FUSION_CONNECTION, method, "the connection to fusiond has ended");
}

/* Why a request could not be written. */
static fusion_status not_written(const struct outgoing *o, const char *method)
{
    if (o->writer.no_memory) return client_no_memory(method);
    return client_error(FUSION_INVALID, method, "the request has %zu bytes, more than the largest message of %d",
                        o->writer.buffer.size, PROTO_MAX_MESSAGE);
}

/* late: where not NULL, gets the number of a request whose reply is still to come. */
static fusion_status exchange(fusion_session *s, const char *method, client_pack_fn *pack, const void *data,
                              const int *fds, uint32_t n_fds, struct proto_message *reply, uint32_t *late)
{
    if (s->broken) return ended(s, method);
    if (late && !client_reserve(&s->late, s->n_late, &s->late_capacity, sizeof *s->late))
        return client_no_memory(method);
    send_owed(s);
    uint32_t id = s->next_request;
    struct outgoing *o = make_request(s, method, pack, data);
    if (!o) return client_no_memory(method);
    for (uint32_t i = 0; i < n_fds; i++) o->writer.fds[o->writer.n_fds++] = fds[i];
    if (!proto_finish(&o->writer)) {
        fusion_status status = not_written(o, method);
        free_outgoing(o);
        return status;
    }
    uint64_t deadline = client_now_ms() + s->request_limit_ms;
    bool pending = false;
    fusion_status status = send_request(s, o, method, deadline, &pending);
    if (status == FUSION_SUCCESS) status = finish(s, id, method, deadline, reply, &pending);
    if (late && pending) {
        s->late[s->n_late++] = (struct client_late){.id = id};
        *late = id;
    }
    return status;
}

fusion_status client_request(fusion_session *s, const char *method, client_pack_fn *pack, const void *data,
                             const int *fds, uint32_t n_fds, struct proto_message *reply)
{
    return client_request_late(s, method, pack, data, fds, n_fds, reply, NULL);
}

fusion_status client_request_late(fusion_session *s, const char *method, client_pack_fn *pack, const void *data,
                                  const int *fds, uint32_t n_fds, struct proto_message *reply, uint32_t *late)
{
    pthread_mutex_lock(&s->request_lock);
    fusion_status status = exchange(s, method, pack, data, fds, n_fds, reply, late);
    pthread_mutex_unlock(&s->request_lock);
    return status;
}

static fusion_status resume(fusion_session *s, const char *method, struct client_late *late, bool *pending)
{
    uint64_t deadline = client_now_ms() + s->request_limit_ms;
    fusion_status status = late->status;
    *pending = false;
    if (late->arrived && status != FUSION_SUCCESS)
        client_error(status, method, "it failed after it had run out of time");
    else if (!late->arrived)
        status = s->broken ? ended(s, method) : finish(s, late->id, method, deadline, NULL, pending);
    if (!*pending) *late = s->late[--s->n_late];
    return status;
}

fusion_status client_request_resume(fusion_session *s, const char *method, uint32_t id, bool *pending)
{
    pthread_mutex_lock(&s->request_lock);
    fusion_status status = resume(s, method, find_late(s, id), pending);
    pthread_mutex_unlock(&s->request_lock);
    return status;
}

void client_release(fusion_session *s, const char *method, const char *key, uint64_t id)
{
    fusion_error before = *fusion_last_error(); /* a destructor does not disturb the error being looked at */
    const struct release r = {method, key, id};
    pthread_mutex_lock(&s->request_lock);
    if (exchange(s, method, pack_release, &r, NULL, 0, NULL, NULL) == FUSION_OUT_OF_MEMORY) owe(s, &r);
    pthread_mutex_unlock(&s->request_lock);
    client_error(before.status, before.object, "%s", before.reason);
}
