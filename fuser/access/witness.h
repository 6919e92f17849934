/* Trying an access on single work-items: where the sums of the analysis end, an example still proves a race. */
#pragma once

#include "fuser/access/dependence.h"

/* A work-item whose access touches bytes of the buffer below `first` or from `end` on: the first one along each
   dimension that was found, and the byte where its access begins. What it is told by is computed as the kernel does, so
   there is one; where none is found there may be others. */
bool witness_outside(const struct launched_access *a, const uint64_t *local, int64_t first, int64_t end,
                     int64_t item[3], int64_t *byte);
/* Which two accesses are to touch the same byte; local and between as for dependence_find(). */
struct witness_question {
    const struct launched_access *a, *b;
    enum dependence_between between;
    const uint64_t *local;
    bool recorded; /* scalar arguments are as they were recorded; else nothing may depend on them */
};

/* Looks for a pair of neighbouring work-items that do, by computing their addresses and the conditions they pass. */
bool witness_find(const struct witness_question *q, struct dependence_witness *pair);
