/*
 * Pipes for compiled kernels: one work-item at a time under the pipe's lock. Reservations of an end become its packets
 * for good in the order in which they were made: one that is committed before an older one leaves marks, which the
 * older one goes on over.
 */
#include "fuser/cpu/runtime/pipe.h"

#include <string.h>

#include "ir/core/reservation.h"

/* Held for a copy of one packet, or for marks; whoever waits has nothing else to do. */
static void lock_pipe(struct kernel_pipe *pipe)
{
    while (__atomic_exchange_n(&pipe->lock, 1, __ATOMIC_ACQUIRE)) {
        while (__atomic_load_n(&pipe->lock, __ATOMIC_RELAXED)) {
#ifdef __x86_64__
            __builtin_ia32_pause();
#endif
        }
    }
}

static void unlock_pipe(struct kernel_pipe *pipe)
{
    __atomic_store_n(&pipe->lock, 0, __ATOMIC_RELEASE);
}

static uint8_t *packet_at(struct kernel_pipe *pipe, uint64_t number)
{
    return pipe->packets + number % pipe->capacity * pipe->packet_size;
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

static uint64_t packets(const struct kernel_pipe *pipe)
{
    return pipe->write.done - pipe->read.reserved;
}

static uint64_t room(const struct kernel_pipe *pipe)
{
    return pipe->capacity - (pipe->write.reserved - pipe->read.done);
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
}

/* ---- what kernels call ---- */

uint32_t kernel_pipe_read(struct kernel_pipe *pipe, uint64_t packet_size, void *packet)
{
    if (!fits(pipe, packet_size)) return 0;
    lock_pipe(pipe);
    bool some = packets(pipe) > 0;
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
    bool some = room(pipe) > 0;
    if (some) {
        uint64_t number = pipe->write.reserved++;
        memcpy(packet_at(pipe, number), packet, packet_size);
        commit_packets(pipe, &pipe->write, number, 1);
    }
    unlock_pipe(pipe);
    return some;
}

uint32_t kernel_pipe_packets(struct kernel_pipe *pipe)
{
    if (!pipe) return 0;
    lock_pipe(pipe);
    uint64_t n = packets(pipe);
    unlock_pipe(pipe);
    return (uint32_t)n;
}

uint64_t kernel_pipe_reserve(struct kernel_pipe *pipe, uint32_t writes, uint32_t n)
{
    if (!exists(pipe) || n > IR_RESERVATION_MOST) return 0;
    struct kernel_pipe_end *end = writes ? &pipe->write : &pipe->read;
    lock_pipe(pipe);
    uint64_t first = end->reserved;
    bool enough = n <= (writes ? room(pipe) : packets(pipe));
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
