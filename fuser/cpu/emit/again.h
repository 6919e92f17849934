/* Values of vectors that each lane can have by scalars instead. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

bool again_can(const struct emit *e, const struct ir_value *v);
struct lanes again_of_lane(struct emit *e, const struct ir_value *v, rval lane);
/* What lanes look up at places that come of what they load: false where they are had better in another way. */
bool again_load(struct emit *e, const struct ir_inst *inst, struct lanes *result);
