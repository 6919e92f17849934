/* Values as sums: integers of ids, constants and scalar arguments; pointers as byte offsets from a parameter. */
#pragma once

#include "fuser/access/walk_state.h"

struct affine affine_value(const struct access_walk *w, const struct ir_value *v);
struct affine affine_value_of_inst(const struct access_walk *w, const struct ir_inst *inst);
