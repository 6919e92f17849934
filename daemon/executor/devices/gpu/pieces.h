/*
 * A launch as boxes of work-groups of one size: complete ones, and incomplete ones at the ends by themselves. Drivers
 * take a number of work-groups at once, so a box may be several dispatches.
 */
#pragma once

#include "daemon/executor/program/program.h"
#include "daemon/gpu/binary.h"

struct gpu_piece {
    uint32_t first[3], n[3]; /* work-groups */
    uint32_t size[3];        /* work-items of each */
};

/* How many. whole_groups: else work-groups may have surplus work-items, and there is one size. -1 with the error: the
   device cannot launch it. */
int gpu_pieces_make(struct gpu_piece pieces[GPU_PIECES], const struct program_launch *launch, bool whole_groups,
                    const struct gpu_description *gpu, struct error *e);

/* How many work-items of the launch one may do, of so many that it can: few of them in all are better spread over the
   device. */
uint32_t gpu_items_of(const struct program_launch *launch, uint32_t items);
/* The launch where each does so many: one piece, of work-groups of its own. whole_rows: there is no row of work-items
   too many; work-items in x there may always be. Gives 1. */
int gpu_coarse_piece(struct gpu_piece *piece, const struct program_launch *launch, uint32_t items, bool whole_rows);

struct gpu_dispatch {
    uint32_t first[3], n[3]; /* work-groups */
    uint64_t at[3];          /* in the piece */
};

/* The next of a piece, of so many work-groups at most; *d begins as zeros. False: that was the last. */
bool gpu_next_dispatch(struct gpu_dispatch *d, const struct gpu_piece *piece, const uint64_t most[3]);
