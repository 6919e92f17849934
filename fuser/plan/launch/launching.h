/* What launches are made of. */
#pragma once

#include "fuser/plan/graph/program_scope.h"
#include "fuser/plan/grouping/groups.h"
#include "fuser/plan/mapping/id_mapping.h"
#include "fuser/plan/recompute/recomputed.h"

struct launching {
    struct plan_context *ctx;
    const struct program_scope *scope;
    const struct plan_facts *facts;
    const struct plan_order *order;
    struct id_mapping *mapping;
    const struct recomputed *recomputed; /* nodes that do the work of others */
    struct fuser_plan *plan;             /* gets launches, steps, storage, bytes */
};
