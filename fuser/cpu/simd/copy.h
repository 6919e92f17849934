/* Copies of memory by each lane that runs. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

/* `count` elements of `size` bytes, between places that may be any for each lane and do not overlap. */
void copy_elements(struct emit *e, const struct lanes *to, const struct lanes *from, const struct lanes *count,
                   uint64_t size);
