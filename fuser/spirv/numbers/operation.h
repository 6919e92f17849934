/* Pure operations on one part: an instruction where there is one, else what it is made of. */
#pragma once

#include "fuser/spirv/base/body.h"

/* struct formula's functions, with ids as the numbers' bits. */
struct formula spw_formula(struct spw *w);
struct formula_value spw_compute(const struct formula *f, enum ir_op op, enum ir_kind kind, unsigned n,
                                 const struct formula_value *args);
