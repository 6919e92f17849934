/* Pipes as kernels of devices without any see them: records in memory. fuser/spirv/library/pipes.fk counts their words.
 */
#pragma once

#include <stdint.h>

/* As struct kernel_pipe (fuser/cpu/abi/kernel_abi.h) has it, without the host. */
struct spirv_pipe {
    uint32_t packet_size, capacity;
    uint64_t read_done, read_reserved, write_done, write_reserved;
    uint32_t lock; /* 0: free */
    uint32_t unused;
    uint8_t packets[]; /* and a mark for each behind them */
};

static inline uint64_t spirv_pipe_bytes(uint64_t packet_size, uint64_t capacity)
{
    return sizeof(struct spirv_pipe) + capacity * (packet_size + 1);
}
