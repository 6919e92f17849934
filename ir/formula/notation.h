/* What the formulas are written with. `kind` is the type a function computes in, `f` who computes. */
#pragma once

#include "ir/core/float.h"
#include "ir/formula/types.h"

typedef struct formula_value value;

#define OP1(op, x) formula_op(f, IR_OP_##op, kind, 1, (value[]){x})
#define OP2(op, x, y) formula_op(f, IR_OP_##op, kind, 2, (value[]){x, y})
#define OP3(op, x, y, z) formula_op(f, IR_OP_##op, kind, 3, (value[]){x, y, z})
#define RAW2(op, x, y) formula_op(f, (enum ir_op)FORMULA_##op, kind, 2, (value[]){x, y})
#define RAW3(op, x, y, z) formula_op(f, (enum ir_op)FORMULA_##op, kind, 3, (value[]){x, y, z})
#define INT1(op, x) formula_op(f, IR_OP_##op, IR_KIND_I32, 1, (value[]){x})
#define INT2(op, x, y) formula_op(f, IR_OP_##op, IR_KIND_I32, 2, (value[]){x, y})
#define IS1(op, x) formula_op(f, IR_OP_##op, IR_KIND_BOOL, 1, (value[]){x})
#define IS2(op, x, y) formula_op(f, IR_OP_##op, IR_KIND_BOOL, 2, (value[]){x, y})
#define AS(to, x) formula_op(f, IR_OP_FPCONV, to, 1, (value[]){x})
#define BITS(to, x) formula_op(f, IR_OP_BITCAST, to, 1, (value[]){x})
#define SELECT(c, x, y) formula_select(f, c, x, y)
#define C(v) f->number(f, kind, ir_float_bits(kind, v))
#define I(v) f->number(f, IR_KIND_I32, (uint32_t)(v))
#define LIBRARY1(op, x) formula_op(f, (enum ir_op)(FORMULA_LIBRARY + IR_OP_##op), kind, 1, (value[]){x})
#define LIBRARY2(op, x, y) formula_op(f, (enum ir_op)(FORMULA_LIBRARY + IR_OP_##op), kind, 2, (value[]){x, y})

static inline value formula_op(const struct formula *f, enum ir_op op, enum ir_kind kind, unsigned n, const value *args)
{
    return f->compute(f, op, kind, n, args);
}

static inline value formula_select(const struct formula *f, value c, value x, value y)
{
    return f->compute(f, IR_OP_SELECT, x.kind, 3, (value[]){c, x, y});
}
