/* Submitting a handle through the ring, and waiting. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/submission.h"

enum { WAIT_SLICE_MS = 100, RESTART_LOOK_US = 500, MAX_FAILURES = 1024 };

/* ---- outcomes ---- */

/* The ring is memory of another process: what it says is copied once, and made a text and a status where it is none.
   False: this is about another submission. */
static bool read_completion(const fusion_session *s, fusion_event event, struct ring_completion *out)
{
    const struct ring_completion *c = &s->ring->completions[event % RING_MAX_PENDING];
    if (atomic_load(&c->sequence) != event) {
        atomic_init(&out->sequence, atomic_load(&c->sequence));
        return false;
    }
    memcpy(out, c, sizeof *out);
    out->object[sizeof out->object - 1] = out->reason[sizeof out->reason - 1] = 0;
    if (out->status >= FUSION_STATUS_COUNT) out->status = FUSION_INTERNAL;
    return true;
}

/* Keeps the outcome of a failed submission before the ring uses its place again. Session locked. */
static void keep_failure(fusion_session *s, fusion_event event)
{
    struct ring_completion c;
    if (!read_completion(s, event, &c) || c.status == FUSION_SUCCESS) return;
    if (!s->failures) s->failures = calloc(MAX_FAILURES, sizeof *s->failures);
    if (!s->failures) return;
    struct failure *f = &s->failures[s->n_failures++ % MAX_FAILURES];
    f->event = event;
    f->status = c.status;
    memcpy(f->object, c.object, sizeof f->object);
    memcpy(f->reason, c.reason, sizeof f->reason);
}

/* Of a submission that left the ring. Session locked. */
static fusion_status earlier_outcome(const fusion_session *s, fusion_event event)
{
    for (uint32_t i = 0; s->failures && i < MAX_FAILURES; i++)
        if (s->failures[i].event == event)
            return client_error(s->failures[i].status, s->failures[i].object, "%s", s->failures[i].reason);
    return FUSION_SUCCESS;
}

static fusion_status outcome(fusion_session *s, fusion_event event, uint64_t *run_ns)
{
    struct ring_completion c;
    fusion_status status = FUSION_SUCCESS;
    if (run_ns) *run_ns = 0;
    client_print(s);
    pthread_mutex_lock(&s->lock);
    if (read_completion(s, event, &c)) {
        if (run_ns) *run_ns = c.run_ns;
        if (c.status != FUSION_SUCCESS) status = client_error(c.status, c.object, "%s", c.reason);
    } else if (atomic_load(&c.sequence) < event) {
        status = client_error(FUSION_PROTOCOL, "submission",
                              "fusiond says that submission %" PRIu64 " is complete, but not how it went", event);
    } else {
        status = earlier_outcome(s, event);
    }
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* ---- waiting ---- */

static bool daemon_gone(fusion_session *s)
{
    struct pollfd p = {.fd = s->fd, .events = POLLRDHUP};
    return s->broken || (poll(&p, 1, 0) > 0 && p.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL));
}

static int64_t now_ms(void)
{
    return (int64_t)client_now_ms();
}

static bool completed(const fusion_session *s, fusion_event event)
{
    return atomic_load_explicit(&s->ring->completed, memory_order_acquire) >= event;
}

/* The session was closed by the service, whose last words a request still finds. */
static fusion_status closed(fusion_session *s)
{
    fusion_status status = client_request(s, "status", NULL, NULL, NULL, 0, NULL);
    if (status != FUSION_SUCCESS) return status;
    return client_error(FUSION_CONNECTION, "session", "it was closed by fusiond");
}

static bool in_state(const fusion_session *s, enum ring_state state)
{
    return atomic_load(&s->ring->state) == state;
}

fusion_status client_wait(fusion_session *s, fusion_event event, int timeout_ms, uint64_t *run_ns)
{
    if (client_is_foreign(s)) return client_foreign("submission");
    int64_t deadline = now_ms() + timeout_ms;
    while (!completed(s, event)) {
        int64_t left = timeout_ms < 0 ? WAIT_SLICE_MS : deadline - now_ms();
        if (left <= 0 && timeout_ms >= 0)
            return client_error(FUSION_TIMEOUT, "submission", "submission %" PRIu64 " was not complete after %d ms",
                                event, timeout_ms);
        if (ring_wait(s->ring, event, left < WAIT_SLICE_MS ? (int)left : WAIT_SLICE_MS)) break;
        if (completed(s, event)) break;
        if (in_state(s, RING_CLOSED)) return closed(s);
        if (daemon_gone(s))
            return client_error(FUSION_CONNECTION, "submission",
                                "fusiond ended before submission %" PRIu64 " was complete", event);
    }
    return outcome(s, event, run_ns);
}

static fusion_status check_event(fusion_session *s, fusion_event event)
{
    pthread_mutex_lock(&s->lock);
    uint64_t next = s->next_sequence;
    pthread_mutex_unlock(&s->lock);
    if (event != 0 && event < next) return FUSION_SUCCESS;
    return client_error(FUSION_INVALID, "event", "%" PRIu64 " is no submission of this session (1 to %" PRIu64 ")",
                        event, next - 1);
}

fusion_status fusion_event_wait(fusion_session *s, fusion_event event, int timeout_ms, uint64_t *run_ns)
{
    fusion_status status = client_event_resolve(s, &event);
    if (status == FUSION_SUCCESS) status = check_event(s, event);
    return status == FUSION_SUCCESS ? client_wait(s, event, timeout_ms, run_ns) : status;
}

fusion_status fusion_event_poll(fusion_session *s, fusion_event event)
{
    fusion_status status = client_event_resolve(s, &event);
    if (status == FUSION_SUCCESS) status = check_event(s, event);
    if (status != FUSION_SUCCESS) return status;
    if (client_is_foreign(s)) return client_foreign("submission");
    if (completed(s, event)) return outcome(s, event, NULL);
    if (daemon_gone(s)) return client_error(FUSION_CONNECTION, "submission", "fusiond ended");
    return client_error(FUSION_BUSY, "submission", "submission %" PRIu64 " is not complete yet", event);
}

/* ---- submitting ---- */

static bool entry_add(struct entry *e, const void *data, size_t bytes)
{
    size_t padded = (bytes + 7) & ~(size_t)7;
    if (e->size + padded > e->capacity) {
        size_t more = (e->size + padded) * 2;
        uint8_t *bigger = realloc(e->rest, more);
        if (!bigger) return false;
        e->rest = bigger;
        e->capacity = more;
    }
    memset(e->rest + e->size, 0, padded);
    memcpy(e->rest + e->size, data, bytes);
    e->size += padded;
    return true;
}

bool entry_bind(struct entry *e, uint32_t slot, const struct binding *b)
{
    struct ring_binding bound = {.slot = slot, .buffer = b->memory->id, .offset = b->offset};
    e->head.n_bindings++;
    return entry_add(e, &bound, sizeof bound);
}

bool entry_value(struct entry *e, uint32_t value, const void *data, uint32_t size)
{
    struct ring_value v = {.value = value, .size = size};
    e->head.n_values++;
    return entry_add(e, &v, sizeof v) && entry_add(e, data, size);
}

static fusion_status no_room(void)
{
    return client_error(FUSION_OUT_OF_MEMORY, "submission", "no memory");
}

/* What the ring says that cannot be. */
static fusion_status check_ring(const fusion_session *s, uint64_t sequence)
{
    if (atomic_load(&s->ring->state) > RING_CLOSED)
        return client_error(FUSION_PROTOCOL, "submission", "the submission ring is in a state that there is none of");
    if (completed(s, sequence))
        return client_error(FUSION_PROTOCOL, "submission",
                            "fusiond says that submission %" PRIu64 " is complete before it was made", sequence);
    return FUSION_SUCCESS;
}

/* One attempt; false: there is no room, or no executor. Session locked. */
static bool try_push(fusion_exec *e, struct entry *entry, const struct binding *bindings)
{
    fusion_session *s = e->session;
    uint64_t sequence = entry->head.sequence = s->next_sequence;
    if (!in_state(s, RING_RUNNING)) return false;
    if (sequence > RING_MAX_PENDING) {
        if (!completed(s, sequence - RING_MAX_PENDING)) return false;
        keep_failure(s, sequence - RING_MAX_PENDING);
    }
    if (!ring_push(s->ring, &entry->head, entry->rest, entry->size)) return false;
    s->next_sequence++;
    e->last_event = sequence;
    for (uint32_t i = 0; i < e->n_slots; i++)
        if (bindings[i].memory) bindings[i].memory->last_event = sequence;
    return true;
}

/* Pushes when there is room (never more than RING_MAX_PENDING on the way) and an executor. */
static fusion_status push(fusion_exec *e, struct entry *entry, const struct binding *bindings, fusion_event *event)
{
    fusion_session *s = e->session;
    if (client_is_foreign(s)) return client_foreign("submission");
    if (sizeof entry->head + entry->size > RING_MAX_ENTRY)
        return client_error(FUSION_INVALID, "submission", "%zu bytes of rebindings, more than %d", entry->size,
                            RING_MAX_ENTRY);
    entry->head.size = (uint32_t)(sizeof entry->head + entry->size);
    entry->head.executable = e->id;
    for (;;) {
        pthread_mutex_lock(&s->lock);
        fusion_status status = check_ring(s, s->next_sequence);
        bool done = status == FUSION_SUCCESS && try_push(e, entry, bindings);
        pthread_mutex_unlock(&s->lock);
        if (done && event) *event = entry->head.sequence;
        if (done || status != FUSION_SUCCESS) return status;
        if (in_state(s, RING_CLOSED)) return closed(s);
        if (daemon_gone(s)) return client_error(FUSION_CONNECTION, "submission", "fusiond has ended");
        if (in_state(s, RING_RUNNING))
            ring_wait(s->ring, atomic_load(&s->ring->completed) + 1, WAIT_SLICE_MS);
        else
            usleep(RESTART_LOOK_US);
    }
}

/* Memory behind every slot that needs some. */
static fusion_status ensure_memories(fusion_exec *e, struct binding *bindings)
{
    for (uint32_t i = 0; i < e->n_slots; i++) {
        if (!e->slot_needed[i] && !e->slot_host[i]) {
            bindings[i].memory = NULL;
            continue;
        }
        if (!bindings[i].memory)
            return client_error(FUSION_NOT_FOUND, e->slot_names[i],
                                "the buffer was destroyed after finalize; rebind it");
        fusion_status status = client_memory_ensure(bindings[i].memory);
        if (status != FUSION_SUCCESS) return status;
    }
    return FUSION_SUCCESS;
}

/* The bindings of slot_memory, which is by slot. To be freed. */
static struct binding *default_bindings(fusion_exec *e, const uint64_t *slot_memory)
{
    fusion_session *s = e->session;
    struct binding *bindings = calloc(e->n_slots + 1, sizeof *bindings);
    if (!bindings) return NULL;
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < e->n_slots; i++) bindings[i].memory = client_memory_find(s, slot_memory[i]);
    pthread_mutex_unlock(&s->lock);
    return bindings;
}

/* The parts of the executable with, between them, what runs here. The last part is submitted even where it has no
   steps: its event is the submission's. */
static fusion_status push_parts(fusion_exec *e, struct entry *entry, const struct binding *bindings,
                                const fusion_rebind *rebind, uint32_t n_rebind, fusion_event *event)
{
    fusion_event last = 0;
    for (uint32_t part = 0; part < e->n_actions; part++) {
        entry->head.part = part;
        fusion_status status = e->part_runs[part] ? push(e, entry, bindings, &last) : FUSION_SUCCESS;
        if (status == FUSION_SUCCESS) status = client_exec_act(e, part, bindings, rebind, n_rebind, &last);
        if (status != FUSION_SUCCESS) return status;
    }
    entry->head.part = e->n_actions;
    fusion_status status = push(e, entry, bindings, &last);
    if (status != FUSION_SUCCESS) return status;
    client_recording_submitted(e->session, e->recording, last);
    if (event) *event = last;
    return FUSION_SUCCESS;
}

/* Runs of a session execute in order: one that consists of several parts keeps the others waiting until its last part
   is on its way, but for those that its own host tasks submit. */
static fusion_status push_in_turn(fusion_exec *e, struct entry *entry, const struct binding *bindings,
                                  const fusion_rebind *rebind, uint32_t n_rebind, fusion_event *event)
{
    fusion_session *s = e->session;
    pthread_mutex_lock(&s->turn_lock);
    fusion_status status = client_recording_ready(s, e->recording);
    if (status == FUSION_SUCCESS) status = push_parts(e, entry, bindings, rebind, n_rebind, event);
    pthread_mutex_unlock(&s->turn_lock);
    return status;
}

fusion_status fusion_exec_submit(fusion_exec *e, const fusion_rebind *rebind, uint32_t n_rebind, fusion_event *event)
{
    struct entry entry = {0};
    struct binding *bindings = default_bindings(e, e->slot_memory);
    if (!bindings) return no_room();
    fusion_status status = client_rebind(e, rebind, n_rebind, bindings, &entry);
    if (status == FUSION_SUCCESS) status = ensure_memories(e, bindings);
    if (status == FUSION_SUCCESS) status = push_in_turn(e, &entry, bindings, rebind, n_rebind, event);
    free(entry.rest);
    free(bindings);
    return status;
}

fusion_status client_submit_graph(fusion_exec *e, const fusion_graph *g, fusion_event *event)
{
    struct entry entry = {0};
    struct binding *bindings = default_bindings(e, g->slot_memory);
    if (!bindings) return no_room();
    bool fits = true;
    for (uint32_t i = 0; i < e->n_slots; i++)
        if (bindings[i].memory && e->slot_needed[i]) fits = fits && entry_bind(&entry, i, &bindings[i]);
    for (uint32_t i = 0; i < e->n_values; i++)
        fits = fits && entry_value(&entry, i, g->values[i].data, g->values[i].size);
    fusion_status status = fits ? ensure_memories(e, bindings) : no_room();
    if (status == FUSION_SUCCESS) status = push_in_turn(e, &entry, bindings, NULL, 0, event);
    free(entry.rest);
    free(bindings);
    return status;
}
