/*
 * Random programs of work-groups and sub-groups that can be run and give the same values wherever they run: work-items
 * part in ifs and loops, meet at barriers and at group and sub-group operations, pass each other values through local
 * memory, by shuffles and by blocks. Nobody waits in vain and nothing races.
 */
#pragma once

#include "ir/interp/interp.h"
#include "tests/support/random_kernel.h"

struct random_spmd {
    struct random_kernel kernel; /* runs over `range` only; function->sub_group_size may say any size */
    struct nd_range range;       /* up to 3 dimensions; groups and sub-groups may be incomplete */
};

struct random_spmd random_spmd(uint64_t seed);
void random_spmd_clear(struct random_spmd *p);
