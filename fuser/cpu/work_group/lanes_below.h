/* The lanes of a vector that has more than there are work-items left. */
#pragma once

#include "fuser/cpu/simd/mask.h"

/* The lanes below count, 1 to 64. */
struct mask lanes_below(struct emit *e, rval count);
