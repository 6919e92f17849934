/* What a submission moves of memory that a device has a copy of: only what the other side has not. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/executor/program/device.h"

struct buffer;

/* A part of memory that kernels of a submission use. */
struct gpu_use {
    uint64_t offset, bytes;
    bool written;
    uint32_t host; /* what the client does with it: enum ring_host */
};

struct gpu_move {
    uint64_t offset, bytes; /* 0 bytes: nothing */
};

/* Before kernels run: what the host may have written; else all that there is, once. total: of the memory. */
struct gpu_move gpu_moves_in(const struct gpu_use *use, const struct device_memory *kept, uint64_t total);
/* Behind them: what was written, where the host is to see it. */
struct gpu_move gpu_moves_back(const struct gpu_use *use, const struct device_memory *kept);
/* They have run. buffer: whose memory it is; NULL: that of the executor alone. */
void gpu_moved(const struct gpu_use *use, struct device_memory *kept, struct buffer *buffer);
