/* What the functions here are written with, besides ir/formula/notation.h. */
#pragma once

#include "ir/formula/notation.h"

#define L(v) f->number(f, IR_KIND_I64, (uint64_t)(v))
#define LONG1(op, x) formula_op(f, IR_OP_##op, IR_KIND_I64, 1, (value[]){x})
#define LONG2(op, x, y) formula_op(f, IR_OP_##op, IR_KIND_I64, 2, (value[]){x, y})

/* c[0] + c[1] x + ... + c[n - 1] x^(n - 1), in f64. */
static inline value spw_series(const struct formula *f, value x, const double *c, unsigned n)
{
    const enum ir_kind kind = IR_KIND_F64;
    value r = C(c[n - 1]);
    for (unsigned i = n - 1; i-- > 0;) r = OP2(FADD, OP2(FMUL, r, x), C(c[i]));
    return r;
}
