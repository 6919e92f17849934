/* Comparisons of whole registers. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

/* Without masks in registers only those of integers that are an instruction. False: there is none. */
bool x86_compare(struct emit *e, enum ir_op op, const struct lanes *args, struct lanes *result);
/* A comparison in the lanes of a mask only, where it holds or (inverted) does not; false: not in one instruction. */
bool x86_compare_under(struct emit *e, enum ir_op op, const struct lanes *args, bool inverted, struct mask under,
                       struct mask *result);
