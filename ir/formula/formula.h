/*
 * Operations on floats in terms of simpler ones, stated once for whoever computes them: the interpreter and the folding
 * of constants on one number (ir/eval), the code generator on scalars and vectors (fuser/cpu). What is left is
 * exact, rounded once as IEEE 754 says, or a function of the library (ir/formula/library.h): so all of them give the same bits.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ir/core/ops.h"
#include "ir/core/type.h"

/* A number on the way, or the numbers of many work-items: bits or data, as whoever computes likes. */
struct formula_value {
    enum ir_kind kind;
    uint64_t bits;
    const void *data;
};

/* Operations that appear in formulas only. FORMULA_LIBRARY + op is the library's function for op. */
enum {
    FORMULA_FMIN = IR_OP_COUNT, /* x < y ? x : y */
    FORMULA_FMAX,               /* x > y ? x : y */
    FORMULA_SCALE,              /* f32: x * 2^y for a whole y from -152 to 131, rounded once */
    FORMULA_LIBRARY,
    FORMULA_OP_COUNT = FORMULA_LIBRARY + IR_OP_COUNT,
};

struct formula;
typedef struct formula_value formula_other(const struct formula *f, const struct formula_value *args);

/* Who computes. Operands' kinds are with them; kind is the result's. IR_OP_BITCAST is among the operations. */
struct formula {
    struct formula_value (*compute)(const struct formula *f, enum ir_op op, enum ir_kind kind, unsigned n,
                                    const struct formula_value *args);
    struct formula_value (*number)(const struct formula *f, enum ir_kind kind, uint64_t bits);
    /* Where a bool holds, what `other` makes of the arguments; elsewhere `usual`. As a selection, but the other one
       costs nothing where it is needed nowhere. */
    struct formula_value (*rarely)(const struct formula *f, struct formula_value where, struct formula_value usual,
                                   formula_other *other, const struct formula_value *args);
    void *user;
};

/* The operation of one lane, where there is a formula for it; false: it is a simple one. args has room for three. */
bool formula_expand(const struct formula *f, enum ir_op op, enum ir_kind kind, const struct formula_value *args,
                    struct formula_value *result);
/* dot, cross, length, distance, normalize of n components; result has room for as many. */
void formula_geometric(const struct formula *f, enum ir_op op, enum ir_kind kind, unsigned n,
                       const struct formula_value *x, const struct formula_value *y, struct formula_value *result);
