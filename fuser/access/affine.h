/* Integers as sums: constant + factor * id + factor * scalar argument + an unknown amount within bounds. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What a work-item knows of its place: ids by dimension, of the sub-group in its work-group, of the work-item in its
   sub-group. */
enum affine_id {
    AFFINE_GLOBAL = 0,
    AFFINE_LOCAL = 3,
    AFFINE_GROUP = 6,
    AFFINE_SUB_GROUP = 9,
    AFFINE_LANE = 10,
    AFFINE_IDS = 11
};
enum { AFFINE_SYMBOLS = 4 };

enum affine_extension { AFFINE_RAW, AFFINE_SIGNED, AFFINE_UNSIGNED };

/* A scalar argument, as it is or extended to a wider integer. */
struct affine_symbol {
    uint32_t param;
    enum affine_extension extension;
    int64_t factor; /* never 0 */
};

/* The bits of a value of width w are this sum modulo 2^w. `high` and `low` bound an amount that may differ from
   use to use: both 0 where the sum is exact. */
struct affine {
    bool known; /* false: nothing else here has a meaning */
    int64_t constant;
    int64_t factor[AFFINE_IDS];
    uint32_t n_symbols;
    struct affine_symbol symbols[AFFINE_SYMBOLS]; /* by param, then extension */
    int64_t low, high;
    int64_t step; /* the amount is low plus a multiple of this; 0 where the sum is exact */
    int64_t jump; /* above 0: computed in narrow integers, the number differs from the sum by multiples of this, where
                     these wrapped. Only as an address in small memory (affine_leads_into_small()) it is the sum */
};

/* The bounds of each id. */
struct affine_bounds {
    int64_t low[AFFINE_IDS], high[AFFINE_IDS];
};

struct affine affine_constant(int64_t value);
struct affine affine_between(int64_t low, int64_t high);
struct affine affine_id(unsigned id, int64_t factor);
struct affine affine_param(uint32_t param);
/* Each gives an unknown sum where it would overflow. */
struct affine affine_add(const struct affine *a, const struct affine *b);
struct affine affine_scale(const struct affine *a, int64_t factor);
/* One of the two: keeps what they share. */
struct affine affine_either(const struct affine *a, const struct affine *b, const struct affine_bounds *bounds);

bool affine_is_constant(const struct affine *a);                          /* exactly one number */
bool affine_is_exact(const struct affine *a);                             /* known, with nothing unknown in between */
bool affine_same_factors(const struct affine *a, const struct affine *b); /* ids and symbols, not constants */
/* The smallest and largest value of the sum as an integer; false where symbols take part, or it jumps. */
bool affine_range(const struct affine *a, const struct affine_bounds *bounds, int64_t *low, int64_t *high);
/* The number of 32 bits read as a wider one, whether it wraps or not. All its symbols are extended. */
struct affine affine_jumping(const struct affine *a);
/* Whether what jumps from the sum, as the offset of an access, would be outside of memory of IR_SMALL_MEMORY bytes. */
bool affine_leads_into_small(const struct affine *a, const struct affine_bounds *bounds);

/* The value of `from` bits read as a signed or unsigned number. */
struct affine affine_extend(const struct affine *a, unsigned from, bool is_signed, unsigned param_bits,
                            const struct affine_bounds *bounds);
