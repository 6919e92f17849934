/* Trying an access on single work-items: where the sums of the analysis end, an example still proves a race. */
#pragma once

#include "fuser/access/dependence.h"

/* A work-item whose access touches bytes of the buffer below `first` or from `end` on: the first one along each
   dimension that was found, and the byte where its access begins. What it is told by is computed as the kernel does, so
   there is one; where none is found there may be others. */
bool witness_outside(const struct launched_access *a, const uint64_t *local, int64_t first, int64_t end,
                     int64_t item[3], int64_t *byte);
/* Looks for a pair of neighbouring work-items that touch the same byte, by computing their addresses and the
   conditions they pass. local and between as for dependence_find(). */
bool witness_find(const struct launched_access *a, const struct launched_access *b, enum dependence_between between,
                  const uint64_t *local, struct dependence_witness *pair);
