/*
 * Coarser work-items: a kernel of which one work-item does what several of the given one do, that follow each other in
 * x. What these read and write side by side it moves in one access of a vector, and what is the same for all of them it
 * computes once.
 *
 * The kernel must be inlined, with private variables promoted, and return at its end only. It gets three more
 * parameters behind its own: the ND-range's size in x (i64) and its offset there (i64), as they were, and how many
 * work-items one does (i32): as many as coarsen() gave, or 1. It runs without offset in x, in complete work-groups, of
 * any size, that cover ceil(size / items); ids that are too many do nothing.
 */
#pragma once

#include "ir/core/ir.h"

enum { COARSEN_PARAMS = 3 };

/* How many work-items one does; 1: nothing would be gained, or the kernel cannot be made so, and is left as it is. */
unsigned coarsen(struct ir_function *kernel);
