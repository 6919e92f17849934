/* Submitting a handle through the ring, and waiting. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "client/internal.h"

enum { WAIT_SLICE_MS = 100, RESTART_LOOK_US = 500, MAX_FAILURES = 1024 };

/* ---- outcomes ---- */

/* Keeps the outcome of a failed submission before the ring uses its place again. Session locked. */
static void keep_failure(fusion_session *s, fusion_event event)
{
    const struct ring_completion *c = &s->ring->completions[event % RING_MAX_PENDING];
    if (atomic_load(&c->sequence) != event || c->status == FUSION_SUCCESS) return;
    if (!s->failures) s->failures = calloc(MAX_FAILURES, sizeof *s->failures);
    if (!s->failures) return;
    struct failure *f = &s->failures[s->n_failures++ % MAX_FAILURES];
    f->event = event;
    f->status = c->status;
    memcpy(f->object, c->object, sizeof f->object);
    memcpy(f->reason, c->reason, sizeof f->reason);
}

static fusion_status outcome(fusion_session *s, fusion_event event, uint64_t *run_ns)
{
    const struct ring_completion *c = &s->ring->completions[event % RING_MAX_PENDING];
    fusion_status status = FUSION_SUCCESS;
    pthread_mutex_lock(&s->lock);
    if (atomic_load(&c->sequence) == event) {
        if (run_ns) *run_ns = c->run_ns;
        if (c->status != FUSION_SUCCESS)
            status = client_error(c->status, c->object, "%.*s", (int)sizeof c->reason, c->reason);
    } else {
        if (run_ns) *run_ns = 0;
        for (uint32_t i = 0; s->failures && i < MAX_FAILURES; i++) {
            const struct failure *f = &s->failures[i];
            if (f->event == event)
                status = client_error(f->status, f->object, "%.*s", (int)sizeof f->reason, f->reason);
        }
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
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
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
    if (completed(s, event)) return outcome(s, event, NULL);
    if (daemon_gone(s)) return client_error(FUSION_CONNECTION, "submission", "fusiond ended");
    return client_error(FUSION_BUSY, "submission", "submission %" PRIu64 " is not complete yet", event);
}

/* ---- submitting ---- */

/* An entry in the making: bindings first, then values, as the ring has them. */
struct entry {
    struct ring_entry head;
    uint8_t *rest;
    size_t size, capacity;
};

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

static bool entry_bind(struct entry *e, uint32_t slot, const struct memory *m, uint64_t offset)
{
    struct ring_binding b = {.slot = slot, .buffer = m->id, .offset = offset};
    e->head.n_bindings++;
    return entry_add(e, &b, sizeof b);
}

static bool entry_value(struct entry *e, uint32_t value, const void *data, uint32_t size)
{
    struct ring_value v = {.value = value, .size = size};
    e->head.n_values++;
    return entry_add(e, &v, sizeof v) && entry_add(e, data, size);
}

static fusion_status no_room(void)
{
    return client_error(FUSION_OUT_OF_MEMORY, "submission", "no memory");
}

/* Pushes when there is room (never more than RING_MAX_PENDING on the way) and an executor. memories: those it uses. */
static fusion_status push(fusion_exec *e, struct entry *entry, struct memory *const *memories, fusion_event *event)
{
    fusion_session *s = e->session;
    if (sizeof entry->head + entry->size > RING_MAX_ENTRY)
        return client_error(FUSION_INVALID, "submission", "%zu bytes of rebindings, more than %d", entry->size,
                            RING_MAX_ENTRY);
    entry->head.size = (uint32_t)(sizeof entry->head + entry->size);
    entry->head.executable = e->id;
    for (;;) {
        pthread_mutex_lock(&s->lock);
        uint64_t sequence = s->next_sequence;
        bool place =
            in_state(s, RING_RUNNING) && (sequence <= RING_MAX_PENDING || completed(s, sequence - RING_MAX_PENDING));
        entry->head.sequence = sequence;
        if (place && sequence > RING_MAX_PENDING) keep_failure(s, sequence - RING_MAX_PENDING);
        if (place && ring_push(s->ring, &entry->head, entry->rest, entry->size)) {
            s->next_sequence++;
            e->last_event = sequence;
            for (uint32_t i = 0; i < e->n_slots; i++)
                if (memories[i]) memories[i]->last_event = sequence;
            pthread_mutex_unlock(&s->lock);
            if (event) *event = sequence;
            return FUSION_SUCCESS;
        }
        fusion_event oldest = atomic_load(&s->ring->completed) + 1;
        pthread_mutex_unlock(&s->lock);
        if (in_state(s, RING_CLOSED)) return closed(s);
        if (daemon_gone(s)) return client_error(FUSION_CONNECTION, "submission", "fusiond has ended");
        if (in_state(s, RING_RUNNING))
            ring_wait(s->ring, oldest, WAIT_SLICE_MS);
        else
            usleep(RESTART_LOOK_US);
    }
}

/* Memory behind every slot that needs some. */
static fusion_status ensure_memories(fusion_exec *e, struct memory **memories)
{
    for (uint32_t i = 0; i < e->n_slots; i++) {
        if (!e->slot_needed[i] && !e->slot_host[i]) {
            memories[i] = NULL;
            continue;
        }
        if (!memories[i])
            return client_error(FUSION_NOT_FOUND, e->slot_names[i],
                                "the buffer was destroyed after finalize; rebind it");
        fusion_status status = client_memory_ensure(memories[i]);
        if (status != FUSION_SUCCESS) return status;
    }
    return FUSION_SUCCESS;
}

static void default_memories(fusion_exec *e, struct memory **memories)
{
    fusion_session *s = e->session;
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < e->n_slots; i++) memories[i] = client_memory_find(s, e->slot_memory[i]);
    pthread_mutex_unlock(&s->lock);
}

static fusion_status find_slot(const fusion_exec *e, const struct memory *m, uint32_t *slot)
{
    for (uint32_t i = 0; i < e->n_slots; i++) {
        if (e->slot_memory[i] != m->id) continue;
        *slot = i;
        return FUSION_SUCCESS;
    }
    return client_error(FUSION_NOT_FOUND, "rebind", "the graph does not use this buffer or allocation");
}

/* Its form is part of the handle, so the other image must have the same. */
static fusion_status rebind_image(fusion_exec *e, const fusion_rebind *r, struct memory **memories, struct entry *entry)
{
    uint32_t slot = 0;
    if (!r->to_image) return client_error(FUSION_INVALID, "rebind", "there is no image to bind to");
    struct memory *old = &r->from_image->buffer.memory, *new = &r->to_image->buffer.memory;
    if (old->session != e->session || new->session != e->session)
        return client_error(FUSION_INVALID, "rebind", "an image belongs to another session");
    fusion_status status = find_slot(e, old, &slot);
    if (status != FUSION_SUCCESS) return status;
    struct proto_image form = client_wire_image(&r->to_image->desc);
    if (memcmp(&form, &e->slot_images[slot], sizeof form) != 0)
        return client_error(FUSION_INVALID, e->slot_names[slot], "image %s has another size, row pitch or format",
                            r->to_image->buffer.name);
    memories[slot] = new;
    return entry_bind(entry, slot, new, 0) ? FUSION_SUCCESS : no_room();
}

static fusion_status rebind_memory(fusion_exec *e, const fusion_rebind *r, struct memory **memories,
                                   struct entry *entry)
{
    fusion_memory from = {.buffer = r->from, .pointer = r->from_pointer},
                  to = {.buffer = r->to, .pointer = r->to_pointer};
    struct memory *old = NULL, *new = NULL;
    uint64_t old_offset = 0, new_offset = 0;
    uint32_t slot = 0;
    if (!r->to && !r->to_pointer)
        return client_error(FUSION_INVALID, "rebind", "there is no buffer or pointer to bind to");
    fusion_status status = client_memory_of(e->session, &from, 0, &old, &old_offset);
    if (status == FUSION_SUCCESS) status = client_memory_of(e->session, &to, 0, &new, &new_offset);
    if (status == FUSION_SUCCESS) status = find_slot(e, old, &slot);
    if (status != FUSION_SUCCESS) return status;
    if (old_offset > new_offset || new->bytes - (new_offset - old_offset) < e->slot_bytes[slot])
        return client_error(FUSION_INVALID, e->slot_names[slot],
                            "%" PRIu64 " bytes are needed, the new one has %" PRIu64, e->slot_bytes[slot], new->bytes);
    memories[slot] = new;
    return entry_bind(entry, slot, new, new_offset - old_offset) ? FUSION_SUCCESS : no_room();
}

static fusion_status rebind_value(const fusion_exec *e, const fusion_rebind *r, struct entry *entry)
{
    if (r->node >= e->n_nodes || r->arg >= e->nodes[r->node].n_args)
        return client_error(FUSION_INVALID, "rebind", "there is no argument %" PRIu32 " of node %" PRIu32, r->arg,
                            r->node);
    const struct proto_arg *arg = &e->nodes[r->node].args[r->arg];
    if (arg->kind != PROTO_ARG_VALUE)
        return client_error(FUSION_INVALID, e->node_names[r->node], "argument %" PRIu32 " is no value", r->arg);
    if (r->value_bytes != arg->bytes || !r->value)
        return client_error(FUSION_INVALID, e->node_names[r->node],
                            "argument %" PRIu32 " has %" PRIu64 " bytes, not %zu", r->arg, arg->bytes, r->value_bytes);
    return entry_value(entry, arg->index, r->value, (uint32_t)r->value_bytes) ? FUSION_SUCCESS : no_room();
}

/* Bindings must come before values in an entry, so two rounds. */
static fusion_status apply_rebinds(fusion_exec *e, const fusion_rebind *rebind, uint32_t n, struct memory **memories,
                                   struct entry *entry)
{
    for (int values = 0; values < 2; values++) {
        for (uint32_t i = 0; i < n; i++) {
            const fusion_rebind *r = &rebind[i];
            bool is_value = !r->from && !r->from_pointer && !r->from_image;
            if (is_value != (bool)values) continue;
            fusion_status status = is_value        ? rebind_value(e, r, entry)
                                   : r->from_image ? rebind_image(e, r, memories, entry)
                                                   : rebind_memory(e, r, memories, entry);
            if (status != FUSION_SUCCESS) return status;
        }
    }
    return FUSION_SUCCESS;
}

/* The parts of the executable with, between them, what runs here. The last part is submitted even where it has no
   steps: its event is the submission's. */
static fusion_status push_parts(fusion_exec *e, struct entry *entry, struct memory *const *memories,
                                const fusion_rebind *rebind, uint32_t n_rebind, fusion_event *event)
{
    fusion_event last = 0;
    for (uint32_t part = 0; part < e->n_actions; part++) {
        entry->head.part = part;
        fusion_status status = e->part_runs[part] ? push(e, entry, memories, &last) : FUSION_SUCCESS;
        if (status == FUSION_SUCCESS) status = client_exec_act(e, part, memories, rebind, n_rebind, &last);
        if (status != FUSION_SUCCESS) return status;
    }
    entry->head.part = e->n_actions;
    fusion_status status = push(e, entry, memories, &last);
    if (status != FUSION_SUCCESS) return status;
    client_recording_submitted(e->session, e->recording, last);
    if (event) *event = last;
    return FUSION_SUCCESS;
}

fusion_status fusion_exec_submit(fusion_exec *e, const fusion_rebind *rebind, uint32_t n_rebind, fusion_event *event)
{
    struct entry entry = {0};
    struct memory *few[32], **memories = few;
    if (e->n_slots > 32) memories = calloc(e->n_slots, sizeof *memories);
    if (!memories) return no_room();
    default_memories(e, memories);
    fusion_status status = client_recording_ready(e->session, e->recording);
    if (status == FUSION_SUCCESS) status = apply_rebinds(e, rebind, n_rebind, memories, &entry);
    if (status == FUSION_SUCCESS) status = ensure_memories(e, memories);
    if (status == FUSION_SUCCESS) status = push_parts(e, &entry, memories, rebind, n_rebind, event);
    free(entry.rest);
    if (memories != few) free(memories);
    return status;
}

fusion_status client_submit_graph(fusion_exec *e, const fusion_graph *g, fusion_event *event)
{
    fusion_session *s = e->session;
    struct entry entry = {0};
    struct memory **memories = calloc(e->n_slots + 1, sizeof *memories);
    if (!memories) return no_room();
    bool fits = true;
    pthread_mutex_lock(&s->lock);
    for (uint32_t i = 0; i < e->n_slots; i++) {
        memories[i] = client_memory_find(s, g->slot_memory[i]);
        if (memories[i] && e->slot_needed[i]) fits = fits && entry_bind(&entry, i, memories[i], 0);
    }
    pthread_mutex_unlock(&s->lock);
    for (uint32_t i = 0; i < e->n_values; i++)
        fits = fits && entry_value(&entry, i, g->values[i].data, g->values[i].size);
    fusion_status status = fits ? ensure_memories(e, memories) : no_room();
    if (status == FUSION_SUCCESS) status = push(e, &entry, memories, event);
    free(entry.rest);
    free(memories);
    return status;
}
