/* Pipes for compiled kernels: one work-item at a time under the pipe's lock. */
#include <string.h>

#include "fuser/cpu/runtime/runtime.h"

/* Held for a copy of one packet; whoever waits has nothing else to do. */
static void lock(struct kernel_pipe *pipe)
{
    while (__atomic_exchange_n(&pipe->lock, 1, __ATOMIC_ACQUIRE)) {
        while (__atomic_load_n(&pipe->lock, __ATOMIC_RELAXED)) {
#ifdef __x86_64__
            __builtin_ia32_pause();
#endif
        }
    }
}

static void unlock(struct kernel_pipe *pipe)
{
    __atomic_store_n(&pipe->lock, 0, __ATOMIC_RELEASE);
}

static uint8_t *place(struct kernel_pipe *pipe, uint64_t number)
{
    return pipe->packets + number % pipe->capacity * pipe->packet_size;
}

static bool fits(const struct kernel_pipe *pipe, uint64_t packet_size)
{
    return pipe && pipe->capacity && pipe->packet_size == packet_size;
}

uint32_t kernel_pipe_read(struct kernel_pipe *pipe, uint64_t packet_size, void *packet)
{
    if (!fits(pipe, packet_size)) return 0;
    lock(pipe);
    bool some = pipe->read != pipe->written;
    if (some) memcpy(packet, place(pipe, pipe->read++), packet_size);
    unlock(pipe);
    return some;
}

uint32_t kernel_pipe_write(struct kernel_pipe *pipe, uint64_t packet_size, const void *packet)
{
    if (!fits(pipe, packet_size)) return 0;
    lock(pipe);
    bool room = pipe->written - pipe->read < pipe->capacity;
    if (room) memcpy(place(pipe, pipe->written++), packet, packet_size);
    unlock(pipe);
    return room;
}

uint32_t kernel_pipe_packets(struct kernel_pipe *pipe)
{
    if (!pipe) return 0;
    lock(pipe);
    uint64_t n = pipe->written - pipe->read;
    unlock(pipe);
    return (uint32_t)n;
}
