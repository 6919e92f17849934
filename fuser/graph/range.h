/* Whether kernels over different ND-ranges can share one. */
#pragma once

#include "fuser/graph/graph.h"

enum range_fit {
    RANGE_EQUAL,
    RANGE_SMALLER,       /* the new one runs behind a guard */
    RANGE_LARGER,        /* those before do, and perhaps the new one, too */
    RANGE_LINEAR,        /* the new one gets its ids from the linear id, behind a guard if it has fewer work-items */
    RANGE_LINEAR_LARGER, /* those before do */
    RANGE_APART,         /* from here on: cannot be */
    RANGE_UNEVEN,
};

bool range_same(const struct nd_range *a, const struct nd_range *b); /* local sizes aside */
/* How a kernel over `part` runs in a launch over `launch`. True: in the work-items that have its global ids. False: in
   those that have its linear ids. */
bool range_is_box(const struct nd_range *part, const struct nd_range *launch);
/* The work-groups of such a part are work-groups of the launch, whole ones. */
bool range_has_whole_groups(const struct nd_range *part, const struct nd_range *launch);
/* Both have a local size, and not the same one. */
bool range_has_other_local(const struct nd_range *part, const struct nd_range *launch);
/* The sub-groups of the part are sub-groups of the launch: the same work-items, in the same order, and all of them or
   none are in the part. The local sizes of both are known. */
bool range_has_whole_sub_groups(const struct nd_range *part, const struct nd_range *launch, uint32_t size);
/* "8 x 6 in work-groups of 4 x 2" into buf; returns buf. */
const char *range_text(const struct nd_range *r, char *buf, size_t size);
uint64_t range_items(const struct nd_range *r);
bool range_has_local(const struct nd_range *r);
bool range_is_uneven(const struct nd_range *r); /* the local size is given and does not divide the global one */
/* Extends sum by more; where it cannot, sum stays and `why` says it with the numbers ("global size ..."). alike: those
   before all have the range sum. */
enum range_fit range_join(struct nd_range *sum, const struct nd_range *more, bool alike, char *why, size_t why_size);
