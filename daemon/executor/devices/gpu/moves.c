/* What a submission moves of memory that a device has a copy of. */
#include "daemon/executor/devices/gpu/moves.h"

#include "daemon/executor/program/buffers.h"
#include "proto/ring.h"

struct gpu_move gpu_moves_in(const struct gpu_use *use, const struct device_memory *kept, uint64_t total)
{
    if (!kept->fetch) return (struct gpu_move){0, 0};
    if (use->host & RING_HOST_WRITES) return (struct gpu_move){use->offset, use->bytes};
    return (struct gpu_move){0, kept->valid ? 0 : total};
}

struct gpu_move gpu_moves_back(const struct gpu_use *use, const struct device_memory *kept)
{
    bool moves = kept->fetch && use->written && use->host & (RING_HOST_READS | RING_HOST_WRITES);
    return (struct gpu_move){use->offset, moves ? use->bytes : 0};
}

void gpu_moved(const struct gpu_use *use, struct device_memory *kept, struct buffer *buffer)
{
    if (!kept->fetch) return;
    kept->valid = !(use->host & RING_HOST_WRITES);
    if (!use->written || use->host) return;
    if (buffer)
        buffer_leave_on_device(buffer);
    else
        kept->newer = true;
}
