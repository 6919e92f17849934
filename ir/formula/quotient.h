/* Quotients and roots of f32 that are the nearest ones, from approximations, where products and sums round once (FMA).
 */
#pragma once

#include "ir/formula/types.h"

/* Between these, or 0 where that is said, are operands with which all numbers on the way are normal. */
#define FORMULA_QUOTIENT_LEAST 0x1p-60
#define FORMULA_QUOTIENT_MOST 0x1p60

/* x / y; x may be 0. reciprocal: of y, 3 units of the last place from the nearest at most. */
struct formula_value formula_quotient_f32(const struct formula *f, struct formula_value x, struct formula_value y,
                                          struct formula_value reciprocal);
/* The same in fewer steps, but for divisors whose digits are nearly all ones, and for -0. */
struct formula_value formula_quick_quotient_f32(const struct formula *f, struct formula_value x, struct formula_value y,
                                                struct formula_value reciprocal);
/* The digits of such divisors, as bits, are these or above. */
#define FORMULA_QUOTIENT_MOST_DIGITS 0x7ffff0
/* The root of x, above 0. r: its reciprocal, 4 units from the nearest at most. */
struct formula_value formula_root_f32(const struct formula *f, struct formula_value x, struct formula_value r);

/* The same in fewer steps, for x from FORMULA_QUICK_ROOT_LEAST on: where the approximation is one with which it was
   tried out for all digits. With the nearest one it is good for all. */
#define FORMULA_QUICK_ROOT_LEAST 0x1p-100
struct formula_value formula_quick_root_f32(const struct formula *f, struct formula_value x, struct formula_value r);

/* Of any operands, also on devices that take denormals for 0. approximate: gives what the above take. */
typedef struct formula_value formula_approximation(const struct formula *f, struct formula_value x);
struct formula_value formula_quotient_of_any_f32(const struct formula *f, struct formula_value x,
                                                 struct formula_value y, formula_approximation *approximate);
struct formula_value formula_root_of_any_f32(const struct formula *f, struct formula_value x,
                                             formula_approximation *approximate);
