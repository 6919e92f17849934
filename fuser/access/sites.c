/* What a site says by itself. */
#include "fuser/access/sites.h"

int64_t site_start(const struct affine *index, const struct nd_range *range)
{
    uint64_t start = (uint64_t)index->constant;
    for (unsigned d = 0; d < 3; d++) start += (uint64_t)index->factor[AFFINE_GLOBAL + d] * range->offset[d];
    return (int64_t)start;
}
