/* Copies and fills of a graph that a device does in its own memory, where the contents are. */
#pragma once

#include "daemon/executor/devices/gpu/uses.h"
#include "daemon/executor/program/program.h"

struct slot_memory;

/* Rows of bytes: of a copy, or with from NULL a fill. Offsets are in the memory that is shared. */
struct gpu_transfer {
    const struct gpu_shared *from, *to;
    uint64_t from_at, to_at;
    const struct program_step *step;
    uint32_t n_rows;
};

/* Where row i begins. */
static inline uint64_t gpu_row_from(const struct gpu_transfer *t, uint32_t i)
{
    return t->from_at + program_row(t->step, i, t->step->from_pitch, t->step->from_slice_pitch);
}

static inline uint64_t gpu_row_to(const struct gpu_transfer *t, uint32_t i)
{
    return t->to_at + program_row(t->step, i, t->step->to_pitch, t->step->to_slice_pitch);
}

/* Has the device do it, to its end: 1. Or 0, where it cannot, or -1 with the error. */
typedef int gpu_transferer(const struct gpu_transfer *t, const char *object, struct error *e);
/* As device.run_transfer, of a device with these functions. */
int gpu_run_transfer(const struct program_step *step, const struct slot_memory *slots, gpu_share *share,
                     gpu_transferer *transfer, struct error *e);
