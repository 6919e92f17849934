/* Waiting for submissions: completions come in the ring. */
#include "client/session/wait.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "client/base/error.h"
#include "client/session/fork.h"
#include "client/session/held.h"
#include "client/session/print.h"
#include "client/session/request.h"
#include "proto/ring_wait.h"

enum { MAX_FAILURES = 1024 };

/* Outcomes of failed submissions that left the ring, in a ring buffer of their own. */
struct failure {
    fusion_event event;
    fusion_status status;
    struct ring_failure why;
};

/* ---- outcomes ---- */

/* What the ring says of a submission. The ring is memory of another process: it is copied once, and made a text and a
   status where it is none. */
struct outcome {
    uint64_t sequence; /* of the submission that it is about */
    fusion_status status;
    uint64_t run_ns;
    struct ring_failure why; /* where it failed */
};

/* False: this is about another submission. */
static bool read_outcome(const fusion_session *s, fusion_event event, struct outcome *out)
{
    const struct ring_completion *c = &s->ring->completions[event % RING_MAX_PENDING];
    out->sequence = atomic_load(&c->sequence);
    if (out->sequence != event) return false;
    uint32_t status = *(const volatile uint32_t *)&c->status;
    out->status = status < FUSION_STATUS_COUNT ? (fusion_status)status : FUSION_INTERNAL;
    out->run_ns = c->run_ns;
    if (out->status == FUSION_SUCCESS) return true;
    memcpy(&out->why, &s->ring->failures[event % RING_MAX_PENDING], sizeof out->why);
    out->why.object[RING_OBJECT_BYTES - 1] = out->why.reason[RING_REASON_BYTES - 1] = 0;
    return true;
}

bool client_failures_open(fusion_session *s)
{
    s->failures = calloc(MAX_FAILURES, sizeof *s->failures);
    return s->failures;
}

void client_add_failure(fusion_session *s, fusion_event event)
{
    const fusion_error *e = fusion_last_error();
    struct failure f = {.event = event, .status = e->status};
    snprintf(f.why.object, sizeof f.why.object, "%.*s", RING_OBJECT_BYTES - 1, e->object);
    snprintf(f.why.reason, sizeof f.why.reason, "%.*s", RING_REASON_BYTES - 1, e->reason);
    s->failures[s->n_failures++ % MAX_FAILURES] = f;
    s->failed_here = true;
}

/* ---- several numbers of one entry ---- */

enum { MAX_SPANS = 1024 };

struct client_spans {
    uint64_t n; /* ever */
    struct span {
        fusion_event first, last;
    } spans[MAX_SPANS];
};

void client_keep_span(fusion_session *s, fusion_event first, fusion_event last)
{
    if (!s->spans) s->spans = calloc(1, sizeof *s->spans);
    if (s->spans) s->spans->spans[s->spans->n++ % MAX_SPANS] = (struct span){first, last};
}

/* The number that the ring knows. Of what is too long ago none is known, and no outcome either. Session locked. */
static fusion_event entry_of(const fusion_session *s, fusion_event event)
{
    uint64_t n = s->spans ? s->spans->n : 0, kept = n < MAX_SPANS ? n : MAX_SPANS;
    for (uint64_t i = 1; i <= kept; i++) {
        const struct span *span = &s->spans->spans[(n - i) % MAX_SPANS];
        if (event > span->last) break;
        if (event >= span->first) return span->last;
    }
    return event;
}

/* The number is older than the spans that are kept. Session locked. */
static bool is_forgotten(const fusion_session *s, fusion_event event)
{
    return s->spans && s->spans->n >= MAX_SPANS && event < s->spans->spans[s->spans->n % MAX_SPANS].first;
}

void client_keep_failure(fusion_session *s, fusion_event event)
{
    struct outcome o;
    if (!read_outcome(s, event, &o) || o.status == FUSION_SUCCESS) return;
    s->failures[s->n_failures++ % MAX_FAILURES] = (struct failure){event, o.status, o.why};
}

/* Of a submission that left the ring. Session locked. */
static fusion_status earlier_outcome(const fusion_session *s, fusion_event event)
{
    for (uint32_t i = 0; i < MAX_FAILURES; i++)
        if (s->failures[i].event == event)
            return client_error(s->failures[i].status, s->failures[i].why.object, "%s", s->failures[i].why.reason);
    return FUSION_SUCCESS;
}

fusion_status client_outcome(fusion_session *s, fusion_event event, uint64_t *run_ns)
{
    struct outcome o;
    fusion_status status = FUSION_SUCCESS;
    if (run_ns) *run_ns = 0;
    client_print(s);
    pthread_mutex_lock(&s->lock);
    event = entry_of(s, event);
    if (read_outcome(s, event, &o)) {
        if (run_ns) *run_ns = o.run_ns;
        if (o.status != FUSION_SUCCESS)
            status = client_error(o.status, o.why.object, "%s", o.why.reason);
        else if (s->failed_here)
            status = earlier_outcome(s, event);
    } else if (o.sequence < event && !is_forgotten(s, event)) {
        status = client_error(FUSION_PROTOCOL, "submission",
                              "fusiond says that submission %" PRIu64 " is complete, but not how it went", event);
    } else {
        status = earlier_outcome(s, event);
    }
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* ---- waiting ---- */

bool client_daemon_gone(fusion_session *s)
{
    struct pollfd p = {.fd = s->fd, .events = POLLRDHUP};
    return s->broken || (poll(&p, 1, 0) > 0 && p.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL));
}

static int64_t now_ms(void)
{
    return (int64_t)client_now_ms();
}

bool client_completed(const fusion_session *s, fusion_event event)
{
    return atomic_load_explicit(&s->ring->completed, memory_order_acquire) >= event;
}

fusion_status client_closed(fusion_session *s)
{
    fusion_status status = client_request(s, "status", NULL, NULL, NULL, 0, NULL);
    if (status != FUSION_SUCCESS) return status;
    return client_error(FUSION_CONNECTION, "session", "it was closed by fusiond");
}

bool client_ring_is(const fusion_session *s, enum ring_state state)
{
    return atomic_load(&s->ring->state) == state;
}

/* By the number that the ring knows. */
static bool has_ended(const fusion_session *s, fusion_event entry)
{
    return client_completed(s, entry) || ring_is_settled(s->ring, entry);
}

static fusion_event lock_for_entry(fusion_session *s, fusion_event event)
{
    pthread_mutex_lock(&s->lock);
    fusion_event entry = entry_of(s, event);
    pthread_mutex_unlock(&s->lock);
    return entry;
}

bool client_ended(fusion_session *s, fusion_event event)
{
    return client_completed(s, event) || has_ended(s, lock_for_entry(s, event));
}

/* A look for whoever waits: an error where it is for nothing. */
static fusion_status check_waiting(fusion_session *s, fusion_event event)
{
    if (client_ring_is(s, RING_CLOSED)) return client_closed(s);
    if (!client_daemon_gone(s)) return FUSION_SUCCESS;
    return client_error(FUSION_CONNECTION, "submission", "fusiond ended before submission %" PRIu64 " was complete",
                        event);
}

fusion_status client_wait(fusion_session *s, fusion_event event, int timeout_ms, uint64_t *run_ns)
{
    if (client_is_foreign(s)) return client_foreign("submission");
    if (!client_completed(s, event)) client_flush(s);
    int64_t deadline = now_ms() + timeout_ms;
    fusion_event entry = client_completed(s, event) ? event : lock_for_entry(s, event);
    while (!has_ended(s, entry)) {
        int64_t left = timeout_ms < 0 ? CLIENT_WAIT_SLICE_MS : deadline - now_ms();
        if (left <= 0 && timeout_ms >= 0)
            return client_error(FUSION_TIMEOUT, "submission", "submission %" PRIu64 " was not complete after %d ms",
                                event, timeout_ms);
        if (ring_wait(s->ring, entry, left < CLIENT_WAIT_SLICE_MS ? (int)left : CLIENT_WAIT_SLICE_MS)) break;
        fusion_status status = has_ended(s, entry) ? FUSION_SUCCESS : check_waiting(s, event);
        if (status != FUSION_SUCCESS) return status;
    }
    return client_outcome(s, event, run_ns);
}

fusion_status client_wait_all(fusion_session *s, fusion_event event)
{
    fusion_status status = client_wait(s, event, -1, NULL);
    if (client_is_foreign(s)) return status;
    while (!client_completed(s, event)) {
        if (ring_wait_all(s->ring, event, CLIENT_WAIT_SLICE_MS)) break;
        fusion_status gone = client_completed(s, event) ? FUSION_SUCCESS : check_waiting(s, event);
        if (gone != FUSION_SUCCESS) return gone;
    }
    return status;
}

/* ---- cancelling ---- */

fusion_status client_cancel(fusion_session *s, fusion_event event)
{
    pthread_mutex_lock(&s->lock);
    fusion_event entry = entry_of(s, event);
    bool shared = entry != event || (event > 1 && entry_of(s, event - 1) == entry);
    if (!shared && !has_ended(s, entry)) ring_cancel(s->ring, entry);
    pthread_mutex_unlock(&s->lock);
    if (!shared) return FUSION_SUCCESS;
    return client_error(FUSION_BUSY, "event", "a window has made %" PRIu64 " and others one submission", event);
}

/* ---- several ---- */

void client_open_add(const fusion_session *s, struct client_open *open, fusion_event event)
{
    enum { MOST = sizeof open->events / sizeof *open->events };
    uint32_t n = 0;
    if (open->last == event) return;
    for (uint32_t i = 0; i < open->n; i++)
        if (!has_ended(s, open->events[i])) open->events[n++] = open->events[i];
    open->n = n;
    if (open->last && !has_ended(s, open->last)) {
        if (open->n == MOST) {
            open->all = open->last;
            open->n = 0;
        } else {
            open->events[open->n++] = open->last;
        }
    }
    open->last = event;
}

fusion_status client_open_wait(fusion_session *s, const struct client_open *open)
{
    pthread_mutex_lock(&s->lock);
    const struct client_open now = *open;
    pthread_mutex_unlock(&s->lock);
    if (now.all) client_wait_all(s, now.all);
    for (uint32_t i = 0; i < now.n; i++) client_wait(s, now.events[i], -1, NULL);
    return now.last ? client_wait(s, now.last, -1, NULL) : FUSION_SUCCESS;
}
