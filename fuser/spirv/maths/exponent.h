/* Exponents of numbers, and numbers by their exponents. */
#pragma once

#include "ir/formula/types.h"

/* 2^n for an i64 from -1022 to 1023. */
struct formula_value spw_power_of_two(const struct formula *f, struct formula_value n);
/* x * 2^n for an f64 and an i64 of at most 2046, in two steps. The last alone rounds where the first one is normal. */
struct formula_value spw_scaled(const struct formula *f, struct formula_value x, struct formula_value n);

/* Of an f32 or f64. */
struct spw_split {
    struct formula_value x;        /* as f64, normal where it is a number but 0 */
    struct formula_value exponent; /* i64: of the number itself, where that is denormal, too */
    struct formula_value regular;  /* neither 0 nor infinite nor NaN */
};
struct spw_split spw_split_float(const struct formula *f, struct formula_value x);
/* The same digits with the exponent 0. */
struct formula_value spw_near_one(const struct formula *f, struct spw_split s);
