/* Operations that have no loop of their own: number by number. */
#pragma once

#include "fuser/cpu/batch/code.h"

/* n numbers of a step STEP_EVALUATE; NULL: it has fewer operands. */
void evaluate_step(const struct step *s, void *r, const void *const in[4], size_t n);
/* r = op(x, y) of an int or float kind, as reductions and atomics need it. */
uint64_t evaluate_pair(enum ir_op op, enum ir_kind kind, uint64_t a, uint64_t b);
