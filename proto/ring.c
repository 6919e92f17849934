/* The submission ring. Both sides treat what the other wrote as untrusted: positions and sizes are read once, checked,
   and used from the copy. */
#include "proto/ring.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#include "proto/include/fusiond/status.h"
#include "proto/ring_bell.h"

/* As it is written into the ring. */
static uint32_t this_cpu(void)
{
    return (uint32_t)(sched_getcpu() + 1);
}

void ring_init(struct ring *r)
{
    r->magic = RING_MAGIC;
    r->version = RING_VERSION;
    r->data_bytes = RING_DATA_BYTES;
    atomic_store(&r->state, RING_RUNNING);
}

bool ring_check(const struct ring *r, size_t bytes)
{
    return bytes >= ring_total_bytes() && r->magic == RING_MAGIC && r->version == RING_VERSION &&
           r->data_bytes == RING_DATA_BYTES;
}

void ring_set_state(struct ring *r, enum ring_state state)
{
    atomic_store(&r->state, state);
    bell_ring(&r->completion_bell, &r->waiters);
}

/* ---- entries ---- */

static void copy_in(struct ring *r, uint64_t position, const void *from, size_t size)
{
    size_t at = position % RING_DATA_BYTES, first = RING_DATA_BYTES - at;
    if (first > size) first = size;
    if (first > 0) memcpy(r->data + at, from, first);
    if (size > first) memcpy(r->data, (const uint8_t *)from + first, size - first);
}

static void copy_out(const struct ring *r, uint64_t position, void *to, size_t size)
{
    size_t at = position % RING_DATA_BYTES, first = RING_DATA_BYTES - at;
    if (first > size) first = size;
    memcpy(to, r->data + at, first);
    if (size > first) memcpy((uint8_t *)to + first, r->data, size - first);
}

bool ring_push(struct ring *r, const struct ring_entry *entry, const void *rest, size_t rest_size)
{
    struct ring_entry header = *entry;
    if (entry->priority) atomic_store(&r->has_priorities, 1);
    size_t size = sizeof header + rest_size;
    if (size > RING_MAX_ENTRY || size % 8 != 0) return false;
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    uint64_t used = head - atomic_load(&r->tail);
    if (used > RING_DATA_BYTES) { /* corrupt: the executor is to see it, and end the session */
        bell_ring(&r->doorbell, &r->executor_sleeps);
        return false;
    }
    if (RING_DATA_BYTES - used < size || header.sequence - atomic_load(&r->completed) > RING_MAX_PENDING) return false;
    header.size = (uint32_t)size;
    copy_in(r, head, &header, sizeof header);
    copy_in(r, head + sizeof header, rest, rest_size);
    atomic_store_explicit(&r->client_cpu, this_cpu(), memory_order_relaxed);
    atomic_store(&r->pushed, header.sequence);
    atomic_store(&r->head, head + size);
    bell_ring(&r->doorbell, &r->executor_sleeps);
    return true;
}

static int corrupt(const char **reason, const char *text)
{
    *reason = text;
    return -1;
}

int ring_pop(struct ring *r, uint8_t *out, const char **reason)
{
    uint64_t head = atomic_load(&r->head), tail = atomic_load(&r->tail);
    for (;;) {
        uint64_t filled = head - tail;
        if (filled == 0) return 0;
        if (filled > RING_DATA_BYTES || head % 8 != 0 || tail % 8 != 0)
            return corrupt(reason, "the ring's positions contradict each other");
        struct ring_entry entry;
        if (filled < sizeof entry) return corrupt(reason, "the ring holds less than an entry");
        copy_out(r, tail, &entry, sizeof entry);
        if (entry.size < sizeof entry || entry.size > RING_MAX_ENTRY || entry.size > filled || entry.size % 8 != 0)
            return corrupt(reason, "the entry's size is not possible");
        memcpy(out, &entry, sizeof entry);
        copy_out(r, tail + sizeof entry, out + sizeof entry, entry.size - sizeof entry);
        tail += entry.size;
        atomic_store_explicit(&r->executor_cpu, this_cpu(), memory_order_relaxed);
        atomic_store(&r->tail, tail);
        uint64_t completed = atomic_load(&r->completed);
        if (entry.sequence <= completed) continue;
        if (entry.sequence - completed > RING_MAX_PENDING)
            return corrupt(reason, "the entry's sequence number is out of range");
        return 1;
    }
}

bool ring_entry_valid(const uint8_t *entry, const char **reason)
{
    struct ring_entry header;
    memcpy(&header, entry, sizeof header);
    uint64_t left = header.size - sizeof header, at = sizeof header;
    if (header.n_bindings > left / sizeof(struct ring_binding)) {
        *reason = "the entry has more bindings than room for them";
        return false;
    }
    at += header.n_bindings * sizeof(struct ring_binding);
    left -= header.n_bindings * sizeof(struct ring_binding);
    for (uint32_t i = 0; i < header.n_values; i++) {
        struct ring_value value;
        if (left < sizeof value) {
            *reason = "the entry has more values than room for them";
            return false;
        }
        memcpy(&value, entry + at, sizeof value);
        uint64_t padded = sizeof value + (((uint64_t)value.size + 7) & ~(uint64_t)7);
        if (left < padded) {
            *reason = "a value of the entry reaches beyond its end";
            return false;
        }
        at += padded;
        left -= padded;
    }
    if (header.n_after > left / sizeof(uint64_t)) {
        *reason = "the entry comes after more submissions than it has room for";
        return false;
    }
    left -= header.n_after * sizeof(uint64_t);
    if (left > 0) *reason = "the entry is larger than its contents";
    return left == 0;
}

/* ---- completions ---- */

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void put_text(char *to, size_t size, const char *text)
{
    size_t length = text ? strnlen(text, size - 1) : 0;
    if (length > 0) memcpy(to, text, length);
    memset(to + length, 0, size - length);
}

static void write_completion(struct ring *r, uint64_t sequence, uint32_t status, uint64_t run_ns, const char *object,
                             const char *reason)
{
    struct ring_completion *c = &r->completions[sequence % RING_MAX_PENDING];
    if (status != FUSION_SUCCESS) {
        struct ring_failure *f = &r->failures[sequence % RING_MAX_PENDING];
        put_text(f->object, sizeof f->object, object);
        put_text(f->reason, sizeof f->reason, reason);
    }
    c->status = status;
    c->reserved = 0;
    c->run_ns = run_ns;
    c->ended_ns = atomic_load_explicit(&r->wants_times, memory_order_relaxed) ? now_ns() : 0;
    atomic_store(&c->sequence, sequence);
}

void ring_settle(struct ring *r, uint64_t sequence, uint32_t status, uint64_t run_ns, const char *object,
                 const char *reason)
{
    write_completion(r, sequence, status, run_ns, object, reason);
    bell_ring(&r->completion_bell, &r->waiters);
}

void ring_advance(struct ring *r, uint64_t sequence)
{
    atomic_store(&r->completed, sequence);
    bell_ring(&r->completion_bell, &r->waiters);
}

void ring_complete(struct ring *r, uint64_t sequence, uint32_t status, uint64_t run_ns, const char *object,
                   const char *reason)
{
    write_completion(r, sequence, status, run_ns, object, reason);
    ring_advance(r, sequence);
}

void ring_cancel(struct ring *r, uint64_t sequence)
{
    atomic_store(&r->cancelled[sequence % RING_MAX_PENDING], sequence);
}

bool ring_is_cancelled(const struct ring *r, uint64_t sequence)
{
    return atomic_load_explicit(&r->cancelled[sequence % RING_MAX_PENDING], memory_order_relaxed) == sequence;
}

bool ring_is_settled(const struct ring *r, uint64_t sequence)
{
    return atomic_load(&r->completions[sequence % RING_MAX_PENDING].sequence) == sequence;
}

uint32_t ring_abort(struct ring *r, uint32_t status, const char *object, const char *reason)
{
    /* head before pushed: the client writes them the other way round, so that every entry dropped here is among those
       completed here. */
    uint64_t head = atomic_load(&r->head);
    uint64_t completed = atomic_load(&r->completed), pending = atomic_load(&r->pushed) - completed;
    if (pending > RING_MAX_PENDING)
        pending = 0; /* the client wrote nonsense: nobody waits for a sequence that was never pushed properly */
    for (uint64_t i = 1; i <= pending; i++) /* the sum may go round: all of it is the client's word */
        if (!ring_is_settled(r, completed + i)) write_completion(r, completed + i, status, 0, object, reason);
    atomic_store(&r->tail, head);
    atomic_store(&r->completed, completed + pending);
    bell_ring(&r->completion_bell, &r->waiters);
    return (uint32_t)pending;
}

static void copy_text(char *to, const char *from, size_t size)
{
    memcpy(to, from, size - 1);
    to[size - 1] = 0;
}

bool ring_last_failure(const struct ring *r, uint32_t status, char *object, char *reason)
{
    uint64_t completed = atomic_load(&r->completed), pending = atomic_load(&r->pushed) - completed;
    if (pending > RING_MAX_PENDING) pending = 0; /* as above */
    for (uint64_t i = pending + 1; i-- > 0;) {   /* the last one that is not pending may have failed long ago */
        uint64_t sequence = completed + i;
        const struct ring_completion *c = &r->completions[sequence % RING_MAX_PENDING];
        const struct ring_failure *f = &r->failures[sequence % RING_MAX_PENDING];
        if (atomic_load(&c->sequence) != sequence || c->status != status) continue;
        copy_text(object, f->object, RING_OBJECT_BYTES);
        copy_text(reason, f->reason, RING_REASON_BYTES);
        return true;
    }
    return false;
}

/* ---- what kernels print ---- */

/* Bytes that lie there; what makes no sense, since the other side wrote it, is nothing. */
static uint64_t print_bytes(const struct ring *r, uint64_t *taken)
{
    *taken = atomic_load(&r->print_taken);
    uint64_t bytes = atomic_load_explicit(&r->printed, memory_order_acquire) - *taken;
    return bytes <= RING_PRINT_BYTES ? bytes : 0;
}

bool ring_print(struct ring *r, const char *text, size_t bytes)
{
    uint64_t taken, there = print_bytes(r, &taken), at = taken + there;
    if (bytes > RING_PRINT_BYTES - there) return false;
    for (size_t done = 0; done < bytes;) {
        size_t place = (size_t)((at + done) % RING_PRINT_BYTES), n = RING_PRINT_BYTES - place;
        if (n > bytes - done) n = bytes - done;
        memcpy(r->prints + place, text + done, n);
        done += n;
    }
    atomic_store_explicit(&r->printed, at + bytes, memory_order_release);
    return true;
}

size_t ring_take_print(struct ring *r, char *text, size_t room)
{
    uint64_t taken, there = print_bytes(r, &taken);
    size_t place = (size_t)(taken % RING_PRINT_BYTES), n = RING_PRINT_BYTES - place;
    if (n > there) n = (size_t)there;
    if (n > room) n = room;
    memcpy(text, r->prints + place, n);
    atomic_store(&r->print_taken, taken + n);
    return n;
}
