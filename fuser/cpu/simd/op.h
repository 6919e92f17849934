/* Operations by number, as rooms that know lanes but no instructions of the IR pass them on. */
#pragma once

#include <stdbool.h>

#include "ir/core/ops.h"
#include "ir/formula/formula.h"

/* Operations that only appear when others are taken apart, beside those of ir/formula/formula.h. */
enum {
    OP_RAW_FTOS = FORMULA_OP_COUNT, /* float to signed, in range or any result */
    OP_RAW_FTOU,
};

static inline bool op_is_comparison(enum ir_op op)
{
    return (int)op < IR_OP_COUNT && ir_op_class(op) == IR_CLASS_COMPARISON;
}
