/* Ids of sub-groups as parts of other ids. */
#pragma once

#include "fuser/access/walk_state.h"

struct affine sub_group_ids_value(const struct access_walk *w, const struct ir_inst *inst);
/* A sum with ids of sub-groups in as few ids as it can be said in. */
struct affine sub_group_ids_simplify(const struct access_walk *w, const struct affine *a);
