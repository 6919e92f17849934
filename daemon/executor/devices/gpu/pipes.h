/* Pipes as kernels for GPUs use them: records in memory (fuser/spirv/abi/pipe.h). */
#pragma once

#include <stdint.h>

/* As device.pipe_bytes and device.pipe_init. */
uint64_t gpu_pipe_bytes(uint32_t packet_size, uint32_t capacity);
void gpu_pipe_init(void *record, uint32_t packet_size, uint32_t capacity);
