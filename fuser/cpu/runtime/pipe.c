/*
 * Pipes for compiled kernels: one work-item at a time under the pipe's lock. Reservations of an end become its packets
 * for good in the order in which they were made: one that is committed before an older one leaves marks, which the
 * older one goes on over.
 */
#include "fuser/cpu/runtime/pipe.h"

#include <string.h>

#include "ir/core/reservation.h"

/* Held for a copy of one packet, or for marks: it is free again at once, unless who has it has lost its processor. Then
   who waits gives it its own, for a moment. */
static void wait_for_lock(struct kernel_pipe *pipe)
{
    enum { ROUNDS = 100, NAP_NS = 20000 };
    for (int i = 0; i < ROUNDS; i++) {
        if (!__atomic_load_n(&pipe->lock, __ATOMIC_RELAXED)) return;
#ifdef __x86_64__
        __builtin_ia32_pause();
#endif
    }
    pipe_nap(&pipe->lock, 1, NAP_NS);
}

static void lock_pipe(struct kernel_pipe *pipe)
{
    while (__atomic_exchange_n(&pipe->lock, 1, __ATOMIC_ACQUIRE)) wait_for_lock(pipe);
}

static void unlock_pipe(struct kernel_pipe *pipe)
{
    __atomic_store_n(&pipe->lock, 0, __ATOMIC_RELEASE);
}

static uint8_t *packet_at(struct kernel_pipe *pipe, uint64_t number)
{
    uint8_t *packets = pipe->port.ring ? pipe->port.packets : pipe->packets;
    return packets + number % pipe->capacity * pipe->packet_size;
}

static uint8_t *mark_of(struct kernel_pipe *pipe, uint64_t number)
{
    return pipe->packets + (uint64_t)pipe->capacity * pipe->packet_size + number % pipe->capacity;
}

static bool exists(const struct kernel_pipe *pipe)
{
    return pipe && pipe->capacity;
}

static bool fits(const struct kernel_pipe *pipe, uint64_t packet_size)
{
    return exists(pipe) && pipe->packet_size == packet_size;
}

/* ---- under the lock ---- */

/* What the record says of the host's end. */
static void see_host(struct kernel_pipe *pipe)
{
    pipe_ring_ready(&pipe->port, true);
    struct kernel_pipe_end *hosts = pipe->port.end == PIPE_RING_WRITER ? &pipe->read : &pipe->write;
    hosts->done = hosts->reserved = pipe->port.other;
}

/* Where there are fewer than that, as far as is known, the host is asked. */
static uint64_t packets(struct kernel_pipe *pipe, uint64_t needed)
{
    if (pipe->port.ring && pipe->write.done - pipe->read.reserved < needed) see_host(pipe);
    return pipe->write.done - pipe->read.reserved;
}

static uint64_t room(struct kernel_pipe *pipe, uint64_t needed)
{
    if (pipe->port.ring && pipe->capacity - (pipe->write.reserved - pipe->read.done) < needed) see_host(pipe);
    return pipe->capacity - (pipe->write.reserved - pipe->read.done);
}

static bool is_ready(struct kernel_pipe *pipe, bool writes)
{
    return writes ? room(pipe, 1) > 0 : packets(pipe, 1) > 0;
}

/* More is done at an end: who waits at the other one may go on. */
static void tell(struct kernel_pipe *pipe, const struct kernel_pipe_end *end)
{
    if (pipe->port.ring && end->done != pipe->port.own && end == (pipe->port.end ? &pipe->write : &pipe->read))
        pipe_ring_advance(&pipe->port, (uint32_t)(end->done - pipe->port.own));
    if (!pipe->sleeps) return;
    pipe->sleeps = 0;
    atomic_fetch_add(&pipe->bell, 1);
    pipe_wake_word(&pipe->bell);
}

/* The first packet of a reservation that is open; false: it is none. */
static bool find_reservation(struct kernel_pipe *pipe, const struct kernel_pipe_end *end, uint64_t id, uint64_t *first)
{
    if (!ir_reservation_is(id)) return false;
    uint32_t n = ir_reservation_count(id);
    *first = ir_reservation_first(id, end->done);
    return *first - end->done + n <= end->reserved - end->done && (n == 0 || !*mark_of(pipe, *first));
}

static void commit_packets(struct kernel_pipe *pipe, struct kernel_pipe_end *end, uint64_t first, uint32_t n)
{
    if (first != end->done) {
        while (n--) *mark_of(pipe, first++) = 1;
        return;
    }
    end->done += n;
    while (end->done != end->reserved && *mark_of(pipe, end->done)) *mark_of(pipe, end->done++) = 0;
    tell(pipe, end);
}

/* ---- what kernels call ---- */

uint32_t kernel_pipe_read(struct kernel_pipe *pipe, uint64_t packet_size, void *packet)
{
    if (!fits(pipe, packet_size)) return 0;
    lock_pipe(pipe);
    bool some = is_ready(pipe, false);
    if (some) {
        uint64_t number = pipe->read.reserved++;
        memcpy(packet, packet_at(pipe, number), packet_size);
        commit_packets(pipe, &pipe->read, number, 1);
    }
    unlock_pipe(pipe);
    return some;
}

uint32_t kernel_pipe_write(struct kernel_pipe *pipe, uint64_t packet_size, const void *packet)
{
    if (!fits(pipe, packet_size)) return 0;
    lock_pipe(pipe);
    bool some = is_ready(pipe, true);
    if (some) {
        uint64_t number = pipe->write.reserved++;
        memcpy(packet_at(pipe, number), packet, packet_size);
        commit_packets(pipe, &pipe->write, number, 1);
    }
    unlock_pipe(pipe);
    return some;
}

/* ---- waiting ---- */

static kernel_pipe_watcher *watcher;

void kernel_pipe_watch(kernel_pipe_watcher *w)
{
    watcher = w;
}

bool kernel_pipe_awaits_host(const struct kernel_pipe *pipe, bool writes)
{
    return pipe->port.ring && writes == (pipe->port.end == PIPE_RING_WRITER);
}

bool kernel_pipe_is_stuck(struct kernel_pipe *pipe, bool writes)
{
    lock_pipe(pipe);
    bool ready = is_ready(pipe, writes);
    unlock_pipe(pipe);
    return !ready;
}

/* Another kernel, which may be at it right now, mostly comes sooner than one falls asleep. */
static bool comes_soon(struct kernel_pipe *pipe, bool writes)
{
    enum { ROUNDS = 100 };
    const uint64_t *done = writes ? &pipe->read.done : &pipe->write.done;
    uint64_t seen = __atomic_load_n(done, __ATOMIC_RELAXED);
    for (int i = 0; i < ROUNDS; i++) {
        if (__atomic_load_n(done, __ATOMIC_RELAXED) != seen) return true;
#ifdef __x86_64__
        __builtin_ia32_pause();
#endif
    }
    return false;
}

static void sleep_for_kernels(struct kernel_pipe *pipe, bool writes)
{
    lock_pipe(pipe);
    bool ready = is_ready(pipe, writes);
    uint64_t heard = atomic_load(&pipe->bell);
    if (!ready) pipe->sleeps = 1;
    unlock_pipe(pipe);
    if (ready) return;
    if (watcher) watcher(pipe, writes, true);
    pipe_wait_word(&pipe->bell, heard, 0);
    if (watcher) watcher(pipe, writes, false);
}

static void sleep_for_host(struct kernel_pipe *pipe, bool writes)
{
    lock_pipe(pipe);
    struct pipe_ring_port port = pipe->port;
    unlock_pipe(pipe);
    if (pipe_spin_word(&port.ring->side[!port.end].done, port.other)) return;
    if (watcher) watcher(pipe, writes, true);
    pipe_ring_sleep(&port, 0);
    if (watcher) watcher(pipe, writes, false);
}

static void wait_for_end(struct kernel_pipe *pipe, bool writes)
{
    if (kernel_pipe_awaits_host(pipe, writes))
        sleep_for_host(pipe, writes);
    else if (!comes_soon(pipe, writes))
        sleep_for_kernels(pipe, writes);
}

void kernel_pipe_read_wait(struct kernel_pipe *pipe, uint64_t packet_size, void *packet)
{
    if (!fits(pipe, packet_size)) return;
    while (!kernel_pipe_read(pipe, packet_size, packet)) wait_for_end(pipe, false);
}

void kernel_pipe_write_wait(struct kernel_pipe *pipe, uint64_t packet_size, const void *packet)
{
    if (!fits(pipe, packet_size)) return;
    while (!kernel_pipe_write(pipe, packet_size, packet)) wait_for_end(pipe, true);
}

uint32_t kernel_pipe_packets(struct kernel_pipe *pipe)
{
    if (!pipe) return 0;
    lock_pipe(pipe);
    uint64_t n = packets(pipe, UINT64_MAX);
    unlock_pipe(pipe);
    return (uint32_t)n;
}

uint64_t kernel_pipe_reserve(struct kernel_pipe *pipe, uint32_t writes, uint32_t n)
{
    if (!exists(pipe) || n > IR_RESERVATION_MOST) return 0;
    struct kernel_pipe_end *end = writes ? &pipe->write : &pipe->read;
    lock_pipe(pipe);
    uint64_t first = end->reserved;
    bool enough = n <= (writes ? room(pipe, n) : packets(pipe, n));
    if (enough) end->reserved += n;
    unlock_pipe(pipe);
    return enough ? ir_reservation(first, n) : 0;
}

uint32_t kernel_pipe_read_at(struct kernel_pipe *pipe, uint64_t packet_size, void *packet, uint64_t id, uint32_t index)
{
    uint64_t first;
    if (!fits(pipe, packet_size) || index >= ir_reservation_count(id)) return 0;
    lock_pipe(pipe);
    bool some = find_reservation(pipe, &pipe->read, id, &first);
    if (some) memcpy(packet, packet_at(pipe, first + index), packet_size);
    unlock_pipe(pipe);
    return some;
}

uint32_t kernel_pipe_write_at(struct kernel_pipe *pipe, uint64_t packet_size, const void *packet, uint64_t id,
                              uint32_t index)
{
    uint64_t first;
    if (!fits(pipe, packet_size) || index >= ir_reservation_count(id)) return 0;
    lock_pipe(pipe);
    bool some = find_reservation(pipe, &pipe->write, id, &first);
    if (some) memcpy(packet_at(pipe, first + index), packet, packet_size);
    unlock_pipe(pipe);
    return some;
}

void kernel_pipe_commit(struct kernel_pipe *pipe, uint32_t writes, uint64_t id)
{
    uint64_t first;
    if (!exists(pipe)) return;
    struct kernel_pipe_end *end = writes ? &pipe->write : &pipe->read;
    lock_pipe(pipe);
    if (find_reservation(pipe, end, id, &first)) commit_packets(pipe, end, first, ir_reservation_count(id));
    unlock_pipe(pipe);
}

/* ---- for who runs kernels ---- */

void kernel_pipe_init(struct kernel_pipe *pipe, uint32_t packet_size, uint32_t capacity)
{
    pipe->packet_size = packet_size;
    pipe->capacity = capacity;
}

bool kernel_pipe_set_ring(struct kernel_pipe *pipe, struct pipe_ring *ring, enum pipe_ring_end end)
{
    if (!pipe_ring_open(&pipe->port, ring, pipe->packet_size, pipe->capacity, end)) return false;
    struct kernel_pipe_end *kernels = end == PIPE_RING_WRITER ? &pipe->write : &pipe->read;
    kernels->done = kernels->reserved = pipe->port.own;
    see_host(pipe);
    return true;
}
