/* Pipes as kernels for GPUs use them. */
#include "daemon/executor/devices/gpu/pipes.h"

#include "fuser/spirv/abi/pipe.h"

uint64_t gpu_pipe_bytes(uint32_t packet_size, uint32_t capacity)
{
    return spirv_pipe_bytes(packet_size, capacity);
}

void gpu_pipe_init(void *record, uint32_t packet_size, uint32_t capacity)
{
    *(struct spirv_pipe *)record = (struct spirv_pipe){.packet_size = packet_size, .capacity = capacity};
}
