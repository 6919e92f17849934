/* What launches are made of. */
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
