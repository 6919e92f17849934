/* Pixels of images: which one each work-item is at. */
#pragma once

#include "fuser/access/walk_state.h"

/* Adds what an operation on pixels does to the summary of the image, a parameter. */
void pixels_see(struct access_walk *w, const struct ir_inst *inst);
