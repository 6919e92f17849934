/*
 * Requests to the service and their replies. Several threads may have requests under way: who waits reads what comes,
 * one thread at a time, and hands the replies of others to them. A request that runs out of time, or whose reply there
 * is no memory for, costs the session nothing: what is left of it is sent before the next one, and when its reply is
 * read, what it made is given back.
 */
#include "client/session/request.h"

#include <errno.h>
#include <stdio.h>
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

struct timespec client_time_at(uint64_t ms)
{
    return (struct timespec){.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000 * 1000000)};
}

/* A thread that waits for a reply. */
struct client_awaiting {
    LIST_ENTRY(client_awaiting) link;
    uint32_t id;
    bool arrived;
    struct proto_message message;
};

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
    atomic_store(&s->broken, true);
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

/* Beyond what there is room for, what was to be released stays until the session ends. reply_lock held. */
static void owe(fusion_session *s, const struct release *r)
{
    if (s->n_owed < sizeof s->owed / sizeof *s->owed) s->owed[s->n_owed++] = *r;
}

static void owe_locked(fusion_session *s, const struct release *r)
{
    pthread_mutex_lock(&s->reply_lock);
    owe(s, r);
    pthread_mutex_unlock(&s->reply_lock);
}

/* The reply is of no interest. It goes with the next request at the latest. request_lock held. */
static void send_release(fusion_session *s, const struct release *r)
{
    struct outgoing *o = make_request(s, r->method, pack_release, r);
    if (!o || !proto_finish(&o->writer)) {
        if (o) free_outgoing(o);
        owe_locked(s, r);
        return;
    }
    STAILQ_INSERT_TAIL(&s->outgoing, o, link);
    flush(s, 1); /* without waiting */
}

static void send_owed(fusion_session *s)
{
    struct release owed[sizeof s->owed / sizeof *s->owed];
    pthread_mutex_lock(&s->reply_lock);
    uint32_t n = s->n_owed;
    memcpy(owed, s->owed, n * sizeof *owed);
    s->n_owed = 0;
    pthread_mutex_unlock(&s->reply_lock);
    for (uint32_t i = 0; i < n; i++) send_release(s, &owed[i]);
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

/* ---- receiving: reply_lock held ---- */

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
        owe(s, &(struct release){"executable.release", "executable", id});
    else if (proto_get_uint(&message->params, "module", &id))
        owe(s, &(struct release){"module.release", "module", id});
}

static struct client_awaiting *find_awaiting(fusion_session *s, uint32_t id)
{
    struct client_awaiting *w;
    LIST_FOREACH(w, &s->awaiting, link)
    {
        if (w->id == id && !w->arrived) return w;
    }
    return NULL;
}

/* To whoever waits for it. Notices are for nobody. False: it was the daemon's last words, and the connection's end. */
static bool hand_out(fusion_session *s, struct proto_message *message)
{
    bool last = message->kind == PROTO_REPLY && message->id == 0 && message->status != FUSION_SUCCESS;
    struct client_awaiting *w = message->kind == PROTO_REPLY ? find_awaiting(s, message->id) : NULL;
    if (last && !atomic_load(&s->has_last_words)) {
        s->last_words.status = message->status;
        snprintf(s->last_words.object, sizeof s->last_words.object, "%s", message->object);
        snprintf(s->last_words.reason, sizeof s->last_words.reason, "%s", message->reason);
        atomic_store(&s->has_last_words, true);
        atomic_store(&s->broken, true);
    }
    if (w) {
        w->arrived = true;
        w->message = *message;
        return true;
    }
    if (message->kind == PROTO_REPLY && !last) take_late_reply(s, message);
    proto_message_clear(message);
    return !last;
}

/* The thread reads one message, for whomever it is. `pending`: the stream is in order, and more may come. */
static fusion_status read_message(fusion_session *s, const char *method, uint64_t deadline, bool *pending)
{
    struct proto_message message = {0};
    const char *reason = NULL;
    s->reading = true;
    pthread_mutex_unlock(&s->reply_lock);
    bool received = proto_receive(s->fd, s->reader, &message, deadline, &reason) >= 0;
    int wrong = errno;
    fusion_status status = FUSION_SUCCESS;
    if (!received) {
        *pending = wrong == ETIMEDOUT || wrong == ENOMEM;
        status = wrong == ETIMEDOUT ? out_of_time(s, method)
                 : wrong == ENOMEM  ? client_no_memory(method)
                                    : connection_lost(s, method, reason ? reason : strerror(wrong));
    }
    pthread_mutex_lock(&s->reply_lock);
    s->reading = false;
    if (received) hand_out(s, &message);
    pthread_cond_broadcast(&s->replied);
    return status;
}

static fusion_status ended(fusion_session *s, const char *method)
{
    if (client_is_foreign(s)) return client_foreign(method);
    if (atomic_load(&s->has_last_words)) /* which stay as they are */
        return client_error(s->last_words.status, s->last_words.object, "%s", s->last_words.reason);
    return client_error(FUSION_CONNECTION, method, "the connection to fusiond has ended");
}

/* Until a thread that reads hands it over, or stops reading. */
static void wait_for_reader(fusion_session *s, uint64_t deadline)
{
    const struct timespec at = client_time_at(deadline);
    pthread_cond_timedwait(&s->replied, &s->reply_lock, &at);
}

/* pending: set where the reply has not come and still may. */
static fusion_status await(fusion_session *s, struct client_awaiting *w, const char *method, uint64_t deadline,
                           bool *pending)
{
    while (!w->arrived) {
        if (atomic_load(&s->broken)) return ended(s, method);
        if (client_now_ms() > deadline) {
            *pending = true;
            return out_of_time(s, method);
        }
        if (s->reading) {
            wait_for_reader(s, deadline);
            continue;
        }
        fusion_status status = read_message(s, method, deadline, pending);
        if (status != FUSION_SUCCESS && !w->arrived) return status;
    }
    return FUSION_SUCCESS;
}

/* Receives the reply of who waits, and no longer waits then; what it says counts. */
static fusion_status finish(fusion_session *s, struct client_awaiting *w, const char *method, uint64_t deadline,
                            struct proto_message *reply, bool *pending)
{
    fusion_status status = await(s, w, method, deadline, pending);
    LIST_REMOVE(w, link);
    if (status != FUSION_SUCCESS) return status;
    if (w->message.status != FUSION_SUCCESS) {
        status = client_error(w->message.status, w->message.object, "%s", w->message.reason);
        proto_message_clear(&w->message);
        return status;
    }
    if (reply)
        *reply = w->message;
    else
        proto_message_clear(&w->message);
    return FUSION_SUCCESS;
}

/* ---- exchanges ---- */

/* Why a request could not be written. */
static fusion_status not_written(const struct outgoing *o, const char *method)
{
    if (o->writer.no_memory) return client_no_memory(method);
    return client_error(FUSION_INVALID, method, "the request has %zu bytes, more than the largest message of %d",
                        o->writer.buffer.size, PROTO_MAX_MESSAGE);
}

/* ---- tickets ---- */

static _Thread_local struct client_ticket *ticket_of_thread;

void client_ticket_use(struct client_ticket *ticket)
{
    ticket_of_thread = ticket;
}

static fusion_status use_ticket(fusion_session *s, uint32_t id, const char *method)
{
    struct client_ticket *t = ticket_of_thread;
    if (!t || t->session != s) return FUSION_SUCCESS;
    pthread_mutex_lock(&s->reply_lock);
    bool cancelled = t->cancelled;
    t->id = id;
    pthread_mutex_unlock(&s->reply_lock);
    return cancelled ? client_error(FUSION_CANCELLED, method, "it was cancelled") : FUSION_SUCCESS;
}

static void pack_cancel(struct proto_writer *w, const void *data)
{
    proto_pack_map(w, 1);
    proto_pack_uint(w, "request", *(const uint32_t *)data);
}

fusion_status client_ticket_cancel(struct client_ticket *t)
{
    fusion_session *s = t->session;
    pthread_mutex_lock(&s->reply_lock);
    t->cancelled = true;
    uint32_t id = t->id;
    pthread_mutex_unlock(&s->reply_lock);
    return id ? client_request(s, "request.cancel", pack_cancel, &id, NULL, 0, NULL) : FUSION_SUCCESS;
}

/* ---- all of it ---- */

/* What is asked for, and what came of it. */
struct exchange {
    const char *method;
    client_pack_fn *pack;
    const void *data;
    const int *fds;
    uint32_t n_fds;
    uint64_t deadline;
    struct client_awaiting awaiting;
    bool pending;
};

/* request_lock held. */
static fusion_status send_exchange(fusion_session *s, struct exchange *x)
{
    if (atomic_load(&s->broken)) return ended(s, x->method);
    fusion_status ticket = use_ticket(s, s->next_request, x->method);
    if (ticket != FUSION_SUCCESS) return ticket;
    send_owed(s);
    x->awaiting.id = s->next_request;
    struct outgoing *o = make_request(s, x->method, x->pack, x->data);
    if (!o) return client_no_memory(x->method);
    for (uint32_t i = 0; i < x->n_fds; i++) o->writer.fds[o->writer.n_fds++] = x->fds[i];
    if (!proto_finish(&o->writer)) {
        fusion_status status = not_written(o, x->method);
        free_outgoing(o);
        return status;
    }
    pthread_mutex_lock(&s->reply_lock);
    LIST_INSERT_HEAD(&s->awaiting, &x->awaiting, link);
    pthread_mutex_unlock(&s->reply_lock);
    x->deadline = client_now_ms() + s->request_limit_ms;
    fusion_status status = send_request(s, o, x->method, x->deadline, &x->pending);
    if (status == FUSION_SUCCESS) return status;
    pthread_mutex_lock(&s->reply_lock);
    LIST_REMOVE(&x->awaiting, link);
    pthread_mutex_unlock(&s->reply_lock);
    return status;
}

/* What late replies made goes back at once. */
static void settle_debts(fusion_session *s)
{
    pthread_mutex_lock(&s->request_lock);
    if (!atomic_load(&s->broken)) send_owed(s);
    pthread_mutex_unlock(&s->request_lock);
}

/* late: where not NULL, gets the number of a request whose reply is still to come. */
static fusion_status exchange(fusion_session *s, struct exchange *x, struct proto_message *reply, uint32_t *late)
{
    pthread_mutex_lock(&s->reply_lock);
    bool room = !late || client_reserve(&s->late, s->n_late + s->late_promised, &s->late_capacity, sizeof *s->late);
    if (room && late) s->late_promised++;
    pthread_mutex_unlock(&s->reply_lock);
    if (!room) return client_no_memory(x->method);
    pthread_mutex_lock(&s->request_lock);
    fusion_status status = send_exchange(s, x);
    pthread_mutex_unlock(&s->request_lock);
    pthread_mutex_lock(&s->reply_lock);
    if (status == FUSION_SUCCESS) status = finish(s, &x->awaiting, x->method, x->deadline, reply, &x->pending);
    if (late) s->late_promised--;
    if (late && x->pending) {
        s->late[s->n_late++] = (struct client_late){.id = x->awaiting.id};
        *late = x->awaiting.id;
    }
    bool owes = s->n_owed;
    pthread_mutex_unlock(&s->reply_lock);
    if (owes) settle_debts(s);
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
    struct exchange x = {.method = method, .pack = pack, .data = data, .fds = fds, .n_fds = n_fds};
    return exchange(s, &x, reply, late);
}

/* reply_lock held. */
static fusion_status resume(fusion_session *s, const char *method, uint32_t id, bool *pending)
{
    struct client_late *late = find_late(s, id);
    fusion_status status = late->status;
    *pending = false;
    if (late->arrived && status != FUSION_SUCCESS) {
        client_error(status, method, "it failed after it had run out of time");
    } else if (!late->arrived) {
        struct client_awaiting w = {.id = id};
        LIST_INSERT_HEAD(&s->awaiting, &w, link);
        status = finish(s, &w, method, client_now_ms() + s->request_limit_ms, NULL, pending);
        late = find_late(s, id); /* others came and went meanwhile */
    }
    if (!*pending) *late = s->late[--s->n_late];
    return status;
}

fusion_status client_request_resume(fusion_session *s, const char *method, uint32_t id, bool *pending)
{
    pthread_mutex_lock(&s->reply_lock);
    fusion_status status = resume(s, method, id, pending);
    pthread_mutex_unlock(&s->reply_lock);
    return status;
}

void client_release(fusion_session *s, const char *method, const char *key, uint64_t id)
{
    fusion_error before = *fusion_last_error(); /* a destructor does not disturb the error being looked at */
    const struct release r = {method, key, id};
    struct exchange x = {.method = method, .pack = pack_release, .data = &r};
    if (exchange(s, &x, NULL, NULL) == FUSION_OUT_OF_MEMORY) owe_locked(s, &r);
    client_error(before.status, before.object, "%s", before.reason);
}
