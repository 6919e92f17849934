/*
 * A launch as the driver can do it. It has complete work-groups only: what is over is launched by itself, in
 * work-groups of its own size from an offset on. That can be done where the kernel sees of its place no more than
 * global ids.
 */
#pragma once

#include "daemon/executor/devices/level_zero/driver.h"
#include "daemon/executor/program/program_types.h"
#include "daemon/gpu/object.h"

enum { LEVEL_ZERO_PIECES = 8 };

struct level_zero_piece {
    uint32_t offset[3], size[3]; /* work-items */
    ze_group_count_t groups;
};

/* How many; -1 with the error: the device cannot launch it. */
int level_zero_pieces_make(struct level_zero_piece pieces[LEVEL_ZERO_PIECES], const struct gpu_object *object,
                           const struct program_launch *launch, struct error *e);
