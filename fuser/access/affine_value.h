/* Values as sums: integers of ids, constants and scalar arguments; pointers as byte offsets from a parameter. */
#pragma once

#include "fuser/access/walk_state.h"

struct affine affine_value(const struct access_walk *w, const struct ir_value *v);
/* The value as a number of its own width, signed or not. */
struct affine affine_value_widened(const struct access_walk *w, const struct ir_value *v, bool is_signed);
struct affine affine_value_of_inst(const struct access_walk *w, const struct ir_inst *inst);
