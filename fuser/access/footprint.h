/* What follows from the sites of a parameter over a range: whose an element is, how many bytes go over memory. */
#pragma once

#include "fuser/access/sites.h"

/* Does each element of the parameter belong to one work-item over this range (proved)? */
bool footprint_is_owned_by_item(const struct access_summary *s, const struct nd_range *range);
/* Bytes of global memory the parameter's sites touch over the range, each element once for reading and
   once for writing; never more than `whole` each. */
uint64_t footprint_bytes(const struct access_summary *s, const struct nd_range *range, uint64_t whole);
/* The same for reading or for writing alone. */
uint64_t footprint_bytes_one_way(const struct access_summary *s, const struct nd_range *range, uint64_t whole,
                                 bool writing);
