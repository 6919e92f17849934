/*
 * Operations on floats in terms of simpler ones, stated once for whoever computes them: the interpreter and the folding
 * of constants on one number (ir/eval), the code generator on scalars and vectors (fuser/cpu). What is left is
 * exact, rounded once as IEEE 754 says, or a function of the library (ir/formula/library.h): so all of them give the
 * same bits.
 */
#pragma once

#include "ir/formula/types.h"

/* The operation of one lane, where there is a formula for it; false: it is a simple one. args has room for three. */
bool formula_expand(const struct formula *f, enum ir_op op, enum ir_kind kind, const struct formula_value *args,
                    struct formula_value *result);
/* dot, cross, length, distance, normalize of n components; result has room for as many. */
void formula_geometric(const struct formula *f, enum ir_op op, enum ir_kind kind, unsigned n,
                       const struct formula_value *x, const struct formula_value *y, struct formula_value *result);
