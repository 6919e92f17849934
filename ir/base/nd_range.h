/* The index space of a kernel. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct nd_range {
    uint32_t dims;                 /* 1 to 3 */
    uint64_t global[3], offset[3]; /* of unused dimensions 1 and 0 */
    uint64_t local[3];             /* 1 in unused dimensions; all 0: not chosen yet. It need not divide global */
};

/* No work-group has less work-items than the local size says. */
static inline bool nd_range_has_whole_groups(const struct nd_range *r)
{
    for (unsigned d = 0; d < r->dims; d++)
        if (!r->local[d] || r->global[d] % r->local[d] != 0) return false;
    return true;
}

/* There is a multiple of n work-groups in x. */
static inline bool nd_range_has_groups_by(const struct nd_range *r, unsigned n)
{
    return r->local[0] && (r->global[0] / r->local[0] + (r->global[0] % r->local[0] != 0)) % n == 0;
}

/* Without the last of several whole work-groups in x. */
static inline struct nd_range nd_range_of_others(const struct nd_range *r)
{
    struct nd_range others = *r;
    if (r->local[0] && r->global[0] > r->local[0]) others.global[0] -= r->local[0];
    return others;
}

/* All ids and sizes, also where they count from the offset on, are below 2^31. */
static inline bool nd_range_is_small(const struct nd_range *r)
{
    const uint64_t most = (uint64_t)1 << 31;
    for (unsigned d = 0; d < 3; d++)
        if (r->global[d] >= most || r->offset[d] >= most - r->global[d] || r->local[d] >= most) return false;
    return true;
}
