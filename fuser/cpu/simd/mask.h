/* Masks: which lanes run. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

struct mask mask_of(struct emit *e, const struct lanes *condition); /* of a bool */
struct lanes mask_lanes_value(struct emit *e, struct mask m);       /* as a bool */
struct mask mask_and(struct emit *e, struct mask a, struct mask b);
struct mask mask_and_not(struct emit *e, struct mask a, struct mask b); /* b not all */
struct mask mask_or(struct emit *e, struct mask a, struct mask b);
struct mask mask_variable(struct emit *e, const struct mask *init); /* a copy that is assigned to; init NULL: no lane */
struct mask mask_uninitialized(struct emit *e);
void mask_set(struct emit *e, struct mask *variable, struct mask m);
rval mask_any(struct emit *e, struct mask m);  /* bool */
rval mask_bits(struct emit *e, struct mask m); /* u64, lane 0 lowest */
