/* Whether kernels over different ND-ranges can share one. */
#pragma once

#include "fuser/graph.h"

enum range_fit {
    RANGE_EQUAL,
    RANGE_SMALLER, /* the new one runs behind a guard */
    RANGE_LARGER,  /* those before do */
    RANGE_APART,   /* from here on: cannot be */
    RANGE_LOCAL,
    RANGE_UNEVEN,
};

bool range_same(const struct fuser_range *a, const struct fuser_range *b); /* local sizes aside */
bool range_has_local(const struct fuser_range *r);
bool range_is_uneven(const struct fuser_range *r); /* the local size is given and does not divide the global one */
/* Extends sum by more; where it cannot, sum stays and `why` says it with the numbers ("global size ..."). */
enum range_fit range_join(struct fuser_range *sum, const struct fuser_range *more, char *why, size_t why_size);
/* The local size of a launch where nobody asked for one. */
void range_choose_local(struct fuser_range *range, const struct fuser_device *device, const struct ir_function *kernel);
