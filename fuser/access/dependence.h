/* Do two accesses meet in memory? Decided over all pairs of different work-items, with a pair as witness. */
#pragma once

#include "fuser/access/launched_access.h"

enum dependence_between {
    BETWEEN_ITEMS,  /* any two different work-items */
    BETWEEN_GROUPS, /* work-items of different work-groups of `local` */
};

enum access_dependence {
    ACCESS_DEPENDENCE_NONE,     /* proved: no two touch the same byte */
    ACCESS_DEPENDENCE_POSSIBLE, /* not proved either way */
    ACCESS_DEPENDENCE_PROVED,   /* the pair found does */
};

struct dependence_witness {
    int64_t first[3], second[3]; /* global ids */
    int64_t byte;                /* of the buffer: the first that both touch; -1: depends on scalar arguments */
};

/* local: the work-group size both run with, for BETWEEN_GROUPS and for indices in local ids; NULL: unknown. */
enum access_dependence dependence_find(const struct launched_access *a, const struct launched_access *b,
                                       enum dependence_between between, const uint64_t *local,
                                       struct dependence_witness *pair);
