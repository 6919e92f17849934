/* Pipes for compiled kernels: the functions of struct kernel_functions. */
#pragma once

#include <stdbool.h>

#include "fuser/cpu/abi/kernel_abi.h"

uint32_t kernel_pipe_read(struct kernel_pipe *pipe, uint64_t packet_size, void *packet);
uint32_t kernel_pipe_write(struct kernel_pipe *pipe, uint64_t packet_size, const void *packet);
void kernel_pipe_read_wait(struct kernel_pipe *pipe, uint64_t packet_size, void *packet);
void kernel_pipe_write_wait(struct kernel_pipe *pipe, uint64_t packet_size, const void *packet);
uint32_t kernel_pipe_packets(const struct kernel_pipe *pipe);
uint64_t kernel_pipe_reserve(struct kernel_pipe *pipe, uint32_t writes, uint32_t n);
uint32_t kernel_pipe_read_at(struct kernel_pipe *pipe, uint64_t packet_size, void *packet, uint64_t id, uint32_t index);
uint32_t kernel_pipe_write_at(struct kernel_pipe *pipe, uint64_t packet_size, const void *packet, uint64_t id,
                              uint32_t index);
void kernel_pipe_commit(struct kernel_pipe *pipe, uint32_t writes, uint64_t id);

/* ---- for who runs kernels ---- */

/* An empty pipe, in memory that is all zeros. */
/* Between runs of kernels. */
bool kernel_pipe_is_empty(const struct kernel_pipe *pipe);
void kernel_pipe_init(struct kernel_pipe *pipe, uint32_t packet_size, uint32_t capacity);
/* Its packets are those of the ring, of which kernels have this end. False: the ring says what cannot be. */
bool kernel_pipe_set_ring(struct kernel_pipe *pipe, struct pipe_ring *ring, enum pipe_ring_end end);
/* Would who writes, or reads, have to wait? */
bool kernel_pipe_is_stuck(const struct kernel_pipe *pipe, bool writes);
/* Is it the host that such a one waits for? */
bool kernel_pipe_awaits_host(const struct kernel_pipe *pipe, bool writes);

/* Of all that run, one thread has the end; said while none uses it. */
void kernel_pipe_set_alone(struct kernel_pipe *pipe, bool writes, bool alone);

/* Is told of each work-item before it sleeps for a pipe (begins), and after it. May end the process instead. */
typedef void kernel_pipe_watcher(struct kernel_pipe *pipe, bool writes, bool begins);
void kernel_pipe_watch(kernel_pipe_watcher *watcher);
