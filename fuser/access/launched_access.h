/* An access of a kernel in a launch. */
#pragma once

#include "fuser/access/sites.h"
#include "fuser/graph/graph.h"

/* An access as launched: the site, the buffer's bytes its parameter starts at, what its scalars are. */
struct launched_access {
    const struct access_site *site;
    const struct nd_range *range; /* what the site's ids are of */
    int64_t offset;
    const struct fuser_arg *args;     /* by parameter; NULL: the same parameter of one kernel is the same argument */
    const struct fuser_value *values; /* that arguments are of; NULL: nothing is known of them */
    const struct nd_range *own;       /* of the kernel, where that is not `range`; NULL: it is */
    bool linear;                      /* the site's ids are linear ids */
};
