/*
 * Access analysis: what each pointer parameter of a kernel is used for, and which work-item touches what. This room
 * takes a kernel and the ND-range that it is launched over. It says where each access is, as a sum of ids and scalar
 * arguments (sites.h), and answers what follows: do two accesses meet (dependence.h, witness.h, same_place.h), how many
 * bytes are touched (footprint.h). It uses the passes that inline and fold, and ir/.
 */
#pragma once

#include "fuser/access/sites.h"

/* Analyses a kernel as it is launched over range: ids are bounded by it, sizes are constants. sub_group_size: 0 where
   it is what the kernel requires, if it does. small_memory: as a kernel may assume of its launch. numbers: by
   parameter, what integers are; 0: not known. Only those that something is multiplied with are taken to be so, and the
   summary says which. NULL: none is known. */
struct access_analysis *access_analyse(const struct ir_function *kernel, const struct nd_range *range,
                                       uint32_t sub_group_size, bool small_memory, const int64_t *numbers);
/* The same of a kernel whose calls are inlined and variables promoted: its sites are in the kernel itself. */
struct access_analysis *access_analyse_inlined(const struct ir_function *kernel, const struct nd_range *range,
                                               uint32_t sub_group_size, bool small_memory, const int64_t *numbers);
void access_analysis_free(struct access_analysis *a); /* NULL is fine */
