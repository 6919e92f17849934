/* Where work-items are. */
#pragma once

#include "fuser/cpu/batch/frame.h"

/* Fills the columns of ids for a segment. */
void ids_fill(const struct run *run, const struct segment *s);
/* What is the same for the whole launch. */
uint64_t ids_of_launch(const struct run *run, enum ir_op op, unsigned dim);
