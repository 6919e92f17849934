/* Are two accesses at the same place in each work-item? */
#pragma once

#include "fuser/access/launched_access.h"

/* Parameter i of one and k of the other, of one type, are given the same value, or the same bytes of the same buffer.
 */
bool same_place_argument(const struct launched_access *a, uint32_t i, const struct launched_access *b, uint32_t k);
/* The same scalar arguments take part in both sums, so they cancel out of the distance. */
bool same_place_scalars(const struct launched_access *a, const struct launched_access *b);
/* Both touch the very same bytes in each work-item: proved from the sums, or by the same expression. */
bool same_place(const struct launched_access *a, const struct launched_access *b);
