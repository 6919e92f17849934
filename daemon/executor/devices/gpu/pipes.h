/* Pipes as kernels for GPUs use them: records in memory (fuser/spirv/abi/pipe.h). */
#pragma once

#include "ir/base/pipe_ring.h"

/* As device.pipe_bytes, device.pipe_init, device.pipe_from_ring and device.pipe_to_ring. */
uint64_t gpu_pipe_bytes(uint32_t packet_size, uint32_t capacity);
void gpu_pipe_init(void *record, uint32_t packet_size, uint32_t capacity);
void gpu_pipe_from_ring(void *record, struct pipe_ring_port *port);
bool gpu_pipe_to_ring(const void *record, struct pipe_ring_port *port);
