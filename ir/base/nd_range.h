/* The index space of a kernel. */
#pragma once

#include <stdint.h>

struct nd_range {
    uint32_t dims;                 /* 1 to 3 */
    uint64_t global[3], offset[3]; /* of unused dimensions 1 and 0 */
    uint64_t local[3];             /* 1 in unused dimensions; all 0: not chosen yet. It need not divide global */
};
