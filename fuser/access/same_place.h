/* Are two accesses at the same place in each work-item? */
#pragma once

#include "fuser/access/launched_access.h"

/* Parameter i of one and k of the other, of one type, are given the same value, or one that was alike (the launch then
   has to make sure that it still is), or the same bytes of the same buffer. */
bool same_place_argument(const struct launched_access *a, uint32_t i, const struct launched_access *b, uint32_t k);
/* The same scalar arguments take part in both sums, so they cancel out of the distance. */
bool same_place_scalars(const struct launched_access *a, const struct launched_access *b);
/* The sums grow with ids and scalar arguments alike, so that their distance is that of their constants. */
bool same_place_factors(const struct launched_access *a, const struct affine *x, const struct launched_access *b,
                        const struct affine *y);
/* The same expression of ids, constants and scalar arguments. */
bool same_place_value(const struct launched_access *a, const struct ir_value *x, const struct launched_access *b,
                      const struct ir_value *y);
/* Both touch the very same bytes in each work-item: proved from the sums, or by the same expression. */
bool same_place(const struct launched_access *a, const struct launched_access *b);
