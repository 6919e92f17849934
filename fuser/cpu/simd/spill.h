/* Values over the lanes in memory: an array with one element per lane. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

lval lane_array(struct emit *e, enum ir_kind kind, unsigned n); /* room for n numbers per lane */
lval spill_lanes(struct emit *e, const struct lanes *v);        /* an array, one element per lane */
/* The same into lanes `at` and on of an array. */
void spill_into(struct emit *e, lval memory, unsigned at, const struct lanes *v);
struct lanes unspill_lanes(struct emit *e, enum ir_kind kind, lval memory);
/* From lane number `at` of an array on. */
struct lanes unspill_from(struct emit *e, enum ir_kind kind, lval memory, unsigned at);
rval spilled_lane(struct emit *e, lval memory, rval lane);
