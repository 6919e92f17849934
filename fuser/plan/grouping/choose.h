/* The choice of groups, where not all kernels can be one. */
#pragma once

#include "fuser/plan/grouping/group_builder.h"

/* Groups: runs of the linear order. */
struct plan_groups {
    uint32_t n;
    struct plan_group *groups;
};

/* Groups that start where they were chosen to, whether or not they have to. */
struct required_starts {
    bool *starts;   /* by node; NULL: none has to */
    uint64_t bytes; /* what those groups move, as estimated */
};

/* After groups were formed: an order with fewer launches, or as many that move less memory, becomes the linear order,
   if there is one. Groups have to be formed anew in any case. */
void choose_groups(const struct grouping *g, const struct plan_groups *formed, struct plan_order *order,
                   struct required_starts *out);
