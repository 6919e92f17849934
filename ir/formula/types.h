/* What formulas are made of: numbers on the way, and who computes. */
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
    FORMULA_SCALE,              /* f32: x * 2^y for an even y from -152 to 130, rounded once; z is y + 1.5 * 2^24 */
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
