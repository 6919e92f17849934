/*
 * Launches: for each group its kernel, its parameters, and where its buffers live.
 *
 * This room takes the groups and writes launches, steps and bytes into the plan. Where a kernel cannot be made, buffers
 * go back to memory, then the group is cut. Uses storage/, merge/ and passes/.
 */
#pragma once

#include "fuser/plan/graph/program_scope.h"
#include "fuser/plan/grouping/groups.h"
#include "fuser/plan/mapping/id_mapping.h"

struct launching {
    struct plan_context *ctx;
    const struct program_scope *scope;
    const struct plan_facts *facts;
    const struct plan_order *order;
    struct id_mapping *mapping;
    struct fuser_plan *plan; /* gets launches, steps, storage, bytes */
};

/* Groups are runs of the order. */
bool launches_make(struct launching *l, const struct plan_groups *groups);
