/* Do two accesses meet in memory? Decided over all pairs of different work-items, with a pair as witness. */
#pragma once

#include "fuser/access/access.h"

/* An access as launched: the site, the buffer's bytes its parameter starts at, what its scalars are. */
struct conflict_side {
    const struct access_site *site;
    const struct nd_range *range; /* what the site's ids are of */
    int64_t offset;
    const struct fuser_arg *args;  /* by parameter; NULL: the same parameter of one kernel is the same argument */
    const struct nd_range *own; /* of the kernel, where that is not `range`; NULL: it is */
    bool linear;                   /* the site's ids are linear ids */
};

enum conflict_between {
    BETWEEN_ITEMS,  /* any two different work-items */
    BETWEEN_GROUPS, /* work-items of different work-groups of `local` */
};

enum conflict {
    CONFLICT_NONE,     /* proved: no two touch the same byte */
    CONFLICT_POSSIBLE, /* not proved either way */
    CONFLICT_PROVED,   /* the pair found does */
};

struct conflict_pair {
    int64_t first[3], second[3]; /* global ids */
    int64_t byte;                /* of the buffer: the first that both touch; -1: depends on scalar arguments */
};

/* local: the work-group size both run with, for BETWEEN_GROUPS and for indices in local ids; NULL: unknown. */
enum conflict conflict_find(const struct conflict_side *a, const struct conflict_side *b, enum conflict_between between,
                            const uint64_t *local, struct conflict_pair *pair);

/* Parameter i of one and k of the other, of one type, are given the same value, or the same bytes of the same buffer.
 */
bool conflict_same_argument(const struct conflict_side *a, uint32_t i, const struct conflict_side *b, uint32_t k);
/* The same scalar arguments take part in both sums, so they cancel out of the distance. */
bool conflict_same_scalars(const struct conflict_side *a, const struct conflict_side *b);
/* Both touch the very same bytes in each work-item: proved from the sums, or by the same expression. */
bool conflict_same_place(const struct conflict_side *a, const struct conflict_side *b);
