/* A batch that runs: its frame, and the work-items that are there. */
#pragma once

#include <string.h>

#include "fuser/cpu/batch/code.h"
#include "ir/verify/limits.h"

/* Lanes: a byte each, 1 for those in it, all of which are from lo to before hi; between these ends of the mask around
   bytes are 0 or 1. */
struct mask {
    uint8_t *lanes;
    uint32_t lo, hi, n;
};

/* Work-items that follow one another in a work-group, and the lanes they are in. */
struct segment {
    uint64_t group[3];
    uint64_t size[3]; /* of the work-group */
    uint64_t items;   /* of the work-group */
    uint64_t first;   /* linear local id */
    uint32_t lane, n;
};

struct run {
    const struct batch *batch;
    const struct kernel_launch *launch;
    const uint8_t *args;
    uint8_t *local, *singles, *columns, *private;
    uint8_t *scratch; /* of operations of groups: 24 bytes a lane */
    uint64_t local_bytes;
    uint32_t width; /* lanes there is room for */
    uint32_t n;     /* lanes of the batch */
    struct mask *masks, *now;
    uint32_t n_calls;
    struct segment last; /* of a batch of one work-group */
    struct {
        uint32_t step;
        struct mask *mask;
    } calls[IR_MAX_CALL_DEPTH + 2];
};

/* From lane 0 on of a column; of a single number the one. */
static inline uint8_t *run_place(const struct run *run, batch_reg r)
{
    return r & UNIFORM_BIT ? run->singles + (r & ~UNIFORM_BIT) : run->columns + (uint64_t)r * run->width;
}

/* Register i of a step's results and operands. */
static inline uint8_t *run_more(const struct run *run, const struct step *s, uint32_t i)
{
    return run_place(run, s->details->more[i]);
}

static inline uint64_t run_get(const uint8_t *column, unsigned size, uint32_t lane)
{
    uint64_t v = 0;
    memcpy(&v, column + ((uint64_t)lane << size), (size_t)1 << size);
    return v;
}

static inline void run_put(uint8_t *column, unsigned size, uint32_t lane, uint64_t v)
{
    memcpy(column + ((uint64_t)lane << size), &v, (size_t)1 << size);
}

static inline uint64_t run_operand(const struct run *run, const struct step *s, uint32_t i, uint32_t lane)
{
    const struct step_details *d = s->details;
    uint32_t at = d->n_results + i;
    return run_get(run_place(run, d->more[at]), d->sizes[at], lane);
}

static inline void run_result(const struct run *run, const struct step *s, uint32_t i, uint32_t lane, uint64_t v)
{
    run_put(run_place(run, s->details->more[i]), s->details->sizes[i], lane, v);
}

/* The next lane of the mask from `lane` on; its hi: none. */
static inline uint32_t run_next(const struct mask *m, uint32_t lane)
{
    while (lane < m->hi && !m->lanes[lane]) lane++;
    return lane;
}
#define EACH_LANE(lane, run)                                                                                           \
    for (uint32_t lane = run_next((run)->now, (run)->now->lo); lane < (run)->now->hi;                                  \
         lane = run_next((run)->now, lane + 1))
