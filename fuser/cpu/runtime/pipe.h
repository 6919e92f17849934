/* Pipes for compiled kernels: the functions of struct kernel_functions. */
#pragma once

#include "fuser/cpu/abi/kernel_abi.h"

uint32_t kernel_pipe_read(struct kernel_pipe *pipe, uint64_t packet_size, void *packet);
uint32_t kernel_pipe_write(struct kernel_pipe *pipe, uint64_t packet_size, const void *packet);
uint32_t kernel_pipe_packets(struct kernel_pipe *pipe);
uint64_t kernel_pipe_reserve(struct kernel_pipe *pipe, uint32_t writes, uint32_t n);
uint32_t kernel_pipe_read_at(struct kernel_pipe *pipe, uint64_t packet_size, void *packet, uint64_t id, uint32_t index);
uint32_t kernel_pipe_write_at(struct kernel_pipe *pipe, uint64_t packet_size, const void *packet, uint64_t id,
                              uint32_t index);
void kernel_pipe_commit(struct kernel_pipe *pipe, uint32_t writes, uint64_t id);
