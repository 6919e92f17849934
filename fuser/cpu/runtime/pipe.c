/*
 * Pipes for compiled kernels: one work-item at a time at each end, under the end's lock, unless one thread has the end.
 * Reservations of an end become its packets for good in the order in which they were made: one that is committed before
 * an older one leaves marks, which the older one goes on over.
 */
#include "fuser/cpu/runtime/pipe.h"

#include <string.h>

#include "ir/core/reservation.h"

/* Held for a copy of one packet, or for marks: it is free again at once, unless who has it has lost its processor. Then
   who waits gives it its own, for a moment. */
static void wait_for_lock(struct kernel_pipe_end *end)
{
    enum { ROUNDS = 100, NAP_NS = 20000 };
    for (int i = 0; i < ROUNDS; i++) {
        if (!__atomic_load_n(&end->lock, __ATOMIC_RELAXED)) return;
#ifdef __x86_64__
        __builtin_ia32_pause();
#endif
    }
    pipe_nap(&end->lock, 1, NAP_NS);
}

static inline void lock_end(struct kernel_pipe_end *end)
{
    if (end->alone) return;
    while (__atomic_exchange_n(&end->lock, 1, __ATOMIC_ACQUIRE)) wait_for_lock(end);
}

static inline void unlock_end(struct kernel_pipe_end *end)
{
    if (!end->alone) __atomic_store_n(&end->lock, 0, __ATOMIC_RELEASE);
}

static inline struct kernel_pipe_end *end_of(struct kernel_pipe *pipe, bool writes)
{
    return writes ? &pipe->write : &pipe->read;
}

static inline uint8_t *packet_at(struct kernel_pipe *pipe, uint64_t number)
{
    uint8_t *packets = pipe->port.ring ? pipe->port.packets : pipe->packets;
    return packets + pipe_ring_slot(number, pipe->capacity) * pipe->packet_size;
}

static uint8_t *mark_of(struct kernel_pipe *pipe, uint64_t number)
{
    return pipe->packets + (uint64_t)pipe->capacity * pipe->packet_size + pipe_ring_slot(number, pipe->capacity);
}

static inline bool exists(const struct kernel_pipe *pipe)
{
    return pipe && pipe->capacity;
}

static inline bool fits(const struct kernel_pipe *pipe, uint64_t packet_size)
{
    return exists(pipe) && pipe->packet_size == packet_size;
}

/* How far an end is, the host's too. */
static uint64_t done_at(const struct kernel_pipe *pipe, bool writes)
{
    const struct kernel_pipe_end *end = writes ? &pipe->write : &pipe->read;
    if (!kernel_pipe_awaits_host(pipe, !writes)) return __atomic_load_n(&end->done, __ATOMIC_ACQUIRE);
    return atomic_load_explicit(&pipe->port.ring->side[writes].done, memory_order_acquire);
}

/* ---- by who has the end ---- */

static void see_other(struct kernel_pipe *pipe, bool writes)
{
    struct kernel_pipe_end *end = end_of(pipe, writes);
    if (!pipe->port.ring) {
        end->seen = done_at(pipe, !writes);
    } else if (kernel_pipe_awaits_host(pipe, writes)) {
        pipe_ring_look(&pipe->port);
        end->seen = pipe->port.other;
    }
}

/* Packets to take, or room to put some. Where there are fewer than needed, as far as is known, the other end is asked.
 */
static inline uint64_t ready(struct kernel_pipe *pipe, bool writes, uint64_t needed)
{
    struct kernel_pipe_end *end = end_of(pipe, writes);
    uint64_t most = writes ? pipe->capacity : 0;
    if (most + end->seen - end->reserved < needed) see_other(pipe, writes);
    return most + end->seen - end->reserved;
}

static void ring_bell(struct kernel_pipe *pipe)
{
    __atomic_store_n(&pipe->sleeps, 0, __ATOMIC_SEQ_CST);
    atomic_fetch_add(&pipe->bell, 1);
    pipe_wake_word(&pipe->bell);
}

/* So many are done at an end: who waits at the other one may go on. */
static inline void tell(struct kernel_pipe *pipe, struct kernel_pipe_end *end, uint64_t done)
{
    __atomic_store_n(&end->done, done, __ATOMIC_RELEASE);
    if (pipe->port.ring) {
        if (end == end_of(pipe, pipe->port.end)) pipe_ring_advance(&pipe->port, (uint32_t)(done - pipe->port.own));
        return;
    }
    atomic_signal_fence(memory_order_seq_cst);
    if (__atomic_load_n(&pipe->sleeps, __ATOMIC_RELAXED)) ring_bell(pipe);
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
    uint64_t done = end->done;
    if (first != done) {
        while (n--) *mark_of(pipe, first++) = 1;
        return;
    }
    done += n;
    while (done != end->reserved && *mark_of(pipe, done)) *mark_of(pipe, done++) = 0;
    tell(pipe, end, done);
}

/* Takes a packet, or puts it; false: there is none, or no room. */
static inline bool move_packet(struct kernel_pipe *pipe, bool writes, uint64_t packet_size, void *packet)
{
    struct kernel_pipe_end *end = end_of(pipe, writes);
    if (!ready(pipe, writes, 1)) return false;
    uint64_t number = end->reserved;
    uint8_t *place = packet_at(pipe, number);
    pipe_ring_copy(writes ? place : packet, writes ? packet : place, packet_size);
    __atomic_store_n(&end->reserved, number + 1, __ATOMIC_RELAXED);
    if (end->done == number) /* nothing is reserved: the usual case */
        tell(pipe, end, number + 1);
    else
        commit_packets(pipe, end, number, 1);
    return true;
}

/* ---- what kernels call ---- */

uint32_t kernel_pipe_read(struct kernel_pipe *pipe, uint64_t packet_size, void *packet)
{
    if (!fits(pipe, packet_size)) return 0;
    lock_end(&pipe->read);
    bool some = move_packet(pipe, false, packet_size, packet);
    unlock_end(&pipe->read);
    return some;
}

uint32_t kernel_pipe_write(struct kernel_pipe *pipe, uint64_t packet_size, const void *packet)
{
    if (!fits(pipe, packet_size)) return 0;
    lock_end(&pipe->write);
    bool some = move_packet(pipe, true, packet_size, (void *)packet);
    unlock_end(&pipe->write);
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

bool kernel_pipe_is_stuck(const struct kernel_pipe *pipe, bool writes)
{
    uint64_t done = done_at(pipe, !writes),
             own = __atomic_load_n(writes ? &pipe->write.reserved : &pipe->read.reserved, __ATOMIC_RELAXED);
    return (writes ? pipe->capacity : 0) + done == own;
}

/* Another kernel, which may be at it right now, mostly comes sooner than one falls asleep. */
static bool comes_soon(const struct kernel_pipe *pipe, bool writes, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        if (!kernel_pipe_is_stuck(pipe, writes)) return true;
#ifdef __x86_64__
        __builtin_ia32_pause();
#endif
    }
    return false;
}

static void sleep_for_kernels(struct kernel_pipe *pipe, bool writes)
{
    uint64_t heard = atomic_load(&pipe->bell);
    __atomic_store_n(&pipe->sleeps, 1, __ATOMIC_SEQ_CST);
    if (comes_soon(pipe, writes, PIPE_SPIN_SAID)) return;
    if (watcher) watcher(pipe, writes, true);
    pipe_wait_word(&pipe->bell, heard, 0);
    if (watcher) watcher(pipe, writes, false);
}

static void sleep_for_host(struct kernel_pipe *pipe, bool writes)
{
    struct kernel_pipe_end *end = end_of(pipe, writes);
    lock_end(end);
    struct pipe_ring_port port = pipe->port;
    unlock_end(end);
    if (pipe_ring_spin(&port)) return;
    if (watcher) watcher(pipe, writes, true);
    pipe_ring_sleep(&port, 0);
    if (watcher) watcher(pipe, writes, false);
}

static void wait_for_end(struct kernel_pipe *pipe, bool writes)
{
    if (kernel_pipe_awaits_host(pipe, writes))
        sleep_for_host(pipe, writes);
    else if (!comes_soon(pipe, writes, PIPE_SPIN_BEFORE))
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

/* Any kernel may ask, which need not have an end: nothing is changed. */
uint32_t kernel_pipe_packets(const struct kernel_pipe *pipe)
{
    if (!pipe) return 0;
    uint64_t taken = kernel_pipe_awaits_host(pipe, true) ? done_at(pipe, false)
                                                         : __atomic_load_n(&pipe->read.reserved, __ATOMIC_ACQUIRE);
    uint64_t n = done_at(pipe, true) - taken;
    return n <= pipe->capacity ? (uint32_t)n : 0;
}

uint64_t kernel_pipe_reserve(struct kernel_pipe *pipe, uint32_t writes, uint32_t n)
{
    if (!exists(pipe) || n > IR_RESERVATION_MOST) return 0;
    struct kernel_pipe_end *end = end_of(pipe, writes);
    lock_end(end);
    uint64_t first = end->reserved;
    bool enough = n <= ready(pipe, writes, n);
    if (enough) __atomic_store_n(&end->reserved, first + n, __ATOMIC_RELAXED);
    unlock_end(end);
    return enough ? ir_reservation(first, n) : 0;
}

uint32_t kernel_pipe_read_at(struct kernel_pipe *pipe, uint64_t packet_size, void *packet, uint64_t id, uint32_t index)
{
    uint64_t first;
    if (!fits(pipe, packet_size) || index >= ir_reservation_count(id)) return 0;
    lock_end(&pipe->read);
    bool some = find_reservation(pipe, &pipe->read, id, &first);
    if (some) memcpy(packet, packet_at(pipe, first + index), packet_size);
    unlock_end(&pipe->read);
    return some;
}

uint32_t kernel_pipe_write_at(struct kernel_pipe *pipe, uint64_t packet_size, const void *packet, uint64_t id,
                              uint32_t index)
{
    uint64_t first;
    if (!fits(pipe, packet_size) || index >= ir_reservation_count(id)) return 0;
    lock_end(&pipe->write);
    bool some = find_reservation(pipe, &pipe->write, id, &first);
    if (some) memcpy(packet_at(pipe, first + index), packet, packet_size);
    unlock_end(&pipe->write);
    return some;
}

void kernel_pipe_commit(struct kernel_pipe *pipe, uint32_t writes, uint64_t id)
{
    uint64_t first;
    if (!exists(pipe)) return;
    struct kernel_pipe_end *end = end_of(pipe, writes);
    lock_end(end);
    if (find_reservation(pipe, end, id, &first)) commit_packets(pipe, end, first, ir_reservation_count(id));
    unlock_end(end);
}

/* ---- for who runs kernels ---- */

bool kernel_pipe_is_empty(const struct kernel_pipe *pipe)
{
    const struct kernel_pipe_end *read = &pipe->read, *write = &pipe->write;
    return write->done == read->done && write->reserved == read->reserved && write->done == read->reserved;
}

void kernel_pipe_init(struct kernel_pipe *pipe, uint32_t packet_size, uint32_t capacity)
{
    pipe->packet_size = packet_size;
    pipe->capacity = capacity;
}

bool kernel_pipe_set_ring(struct kernel_pipe *pipe, struct pipe_ring *ring, enum pipe_ring_end end)
{
    if (!pipe_ring_open(&pipe->port, ring, pipe->packet_size, pipe->capacity, end)) return false;
    struct kernel_pipe_end *kernels = end_of(pipe, end == PIPE_RING_WRITER);
    kernels->done = kernels->reserved = pipe->port.own;
    kernels->seen = pipe->port.other;
    return true;
}

void kernel_pipe_set_alone(struct kernel_pipe *pipe, bool writes, bool alone)
{
    end_of(pipe, writes)->alone = alone;
}
