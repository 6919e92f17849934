/* Trying an access on single work-items: where the sums of the analysis end, an example still proves a race. */
#pragma once

#include "fuser/access/dependence.h"

/* Looks for a pair of neighbouring work-items that touch the same byte, by computing their addresses and the
   conditions they pass. local and between as for dependence_find(). */
bool witness_find(const struct launched_access *a, const struct launched_access *b, enum dependence_between between,
                  const uint64_t *local, struct dependence_witness *pair);
