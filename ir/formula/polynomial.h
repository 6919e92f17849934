/* Polynomials, by Horner's rule in fused steps. */
#pragma once

#include "ir/formula/notation.h"

static inline value polynomial(const struct formula *f, value x, const double *coefficients, unsigned n)
{
    enum ir_kind kind = x.kind;
    value r = C(coefficients[n - 1]);
    for (unsigned i = n - 1; i-- > 0;) r = OP3(FMA, r, x, C(coefficients[i]));
    return r;
}

#define POLYNOMIAL(x, coefficients) polynomial(f, x, coefficients, sizeof(coefficients) / sizeof *(coefficients))
