/*
 * Checked accesses: a kernel in which each load, store, copy and atomic that is not proved to be inside of its memory
 * is done only where it is. Where it is not, the kernel tells so (operation `finding`), what is loaded is 0, and
 * nothing is stored.
 *
 * checks.c puts the checks in, findings.c what they tell; places.c says where a pointer is in the memory that it comes
 * from, proofs.c which accesses need no check. Uses access/, passes/ and ir/.
 */
#pragma once

#include "fuser/bounds/bounds_launch.h"
#include "ir/core/ir.h"

struct bounds_count {
    uint32_t proved, checked;
    uint32_t unknown, unknown_line; /* through pointers that come from memory or from integers, and the first one's */
};

/* kernel is a copy whose calls can be put in place; it is changed. */
struct bounds_count bounds_add_checks(struct ir_function *kernel, const struct bounds_launch *launch);
