/* Where in each so many elements of an array one lies that lanes access at even distances, as a[2 * i + 1]. */
#pragma once

#include "fuser/cpu/prepare/uniformity.h"

/* How many elements are in front of the one that each lane accesses, in a frame of a local array, of `stride` bytes; -1
   where it is not known. products: what is assumed of them, by instruction number; NULL: nothing. */
int frame_place(const struct uniformity *u, const struct assumed *products, const struct ir_inst *access,
                uint64_t stride);
