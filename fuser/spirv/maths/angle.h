/* Angles as quarter turns and what is left, between -pi/4 and pi/4. */
#pragma once

#include "ir/formula/types.h"

struct spw_angle {
    struct formula_value quarter;   /* i64: how many quarter turns, modulo 4 in its low bits */
    struct formula_value rest, low; /* radians: rest + low */
    bool has_low;
};

/* Up to SPW_ANGLE_USUAL the first one is right, beyond, where x is a number, the second. */
#define SPW_ANGLE_USUAL 0x1p20
struct spw_angle spw_angle(const struct formula *f, struct formula_value x);
struct spw_angle spw_large_angle(const struct formula *f, struct formula_value x);
/* With the digits that an f32 needs, up to a larger number. */
#define SPW_ANGLE_F32_USUAL 0x1p25
struct spw_angle spw_angle_f32(const struct formula *f, struct formula_value x);
/* Of so many half turns. */
struct spw_angle spw_angle_of_turns(const struct formula *f, struct formula_value x);
