/* f64 with twice the digits: sums of two of which the second is below half a unit of the first one's last place. */
#pragma once

#include "ir/formula/types.h"

struct spw_pair {
    struct formula_value high, low;
};

/* Exactly what x + y and x * y are; nothing may overflow, nor a product's end vanish. */
struct spw_pair spw_sum(const struct formula *f, struct formula_value x, struct formula_value y);
struct spw_pair spw_product(const struct formula *f, struct formula_value x, struct formula_value y);
/* The same of an x that is 0 or of no lower exponent than y. */
struct spw_pair spw_ordered_sum(const struct formula *f, struct formula_value x, struct formula_value y);

/* To a hundred bits. */
struct spw_pair spw_pair_times(const struct formula *f, struct spw_pair x, struct spw_pair y);
struct spw_pair spw_pair_quotient(const struct formula *f, struct formula_value x, struct spw_pair y);
