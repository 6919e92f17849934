/* What launches are made of. */
#pragma once

#include "fuser/plan/graph/program_scope.h"
#include "fuser/plan/grouping/groups.h"
#include "fuser/plan/mapping/id_mapping.h"
#include "fuser/plan/recompute/recomputed.h"

/* Buffers that several groups use, each for itself: apart.h. */
struct apart_buffers {
    bool *buffers; /* by buffer of the graph */
    uint32_t n;
    uint32_t n_conditions; /* that the proofs for all groups go by: a launch that keeps one does, too */
    struct fuser_condition *conditions;
};

struct launching {
    struct plan_context *ctx;
    const struct program_scope *scope;
    const struct plan_facts *facts;
    const struct plan_order *order;
    struct id_mapping *mapping;
    const struct recomputed *recomputed; /* nodes that do the work of others */
    const struct apart_buffers *apart;   /* that groups have for themselves */
    struct fuser_plan *plan;             /* gets launches, steps, storage, bytes */
};
