/* A launch while it is made. */
#pragma once

#include "fuser/plan/launch/launching.h"
#include "fuser/plan/launch/params.h"
#include "fuser/plan/storage/storage.h"

/* A run of the linear order that is to be one launch. */
struct attempt {
    struct node_run run;
    const struct plan_group *group; /* that it is, or is a part of */
    struct nd_range range;          /* of its kernels, but for those in the last work-group, */
    struct nd_range launched;       /* and with it */
    struct plan_params params;
    struct plan_storage *candidate; /* by parameter: a storage of a buffer outside of memory, if any */
    bool *kept;
    struct ir_module *module;
    char why[400];
};

/* Those of the run that do not run in the last work-group. */
struct node_run attempt_first(const struct plan_group *group, struct node_run run);
/* The range of a part of a group. What a barrier orders holds in the work-groups that the group has. */
struct nd_range attempt_range(const struct launching *l, struct node_run run, const struct plan_group *group);
/* The run's kernels are looked at in the launch's ids. `range` has to last. */
struct storage_query attempt_query(struct launching *l, struct node_run run, const struct plan_group *group,
                                   const struct nd_range *range);

static inline const char *launch_node_name(const struct launching *l, uint32_t node)
{
    return l->facts->graph->nodes[node].name;
}

/* Those of a part of the group, by place in the part. Before its first kernel none is needed. */
static inline const bool *attempt_barriers(const struct plan_group *group, struct node_run run)
{
    return &group->barriers[run.nodes - group->run.nodes];
}

static inline uint32_t attempt_n_barriers(const struct plan_group *group, struct node_run run)
{
    uint32_t n = 0;
    for (uint32_t i = 1; i < run.n; i++) n += attempt_barriers(group, run)[i];
    return n;
}

/* How many of the run's kernels do not run in the last work-group. */
static inline uint32_t attempt_n_first(const struct plan_group *group, struct node_run run)
{
    uint32_t at = (uint32_t)(run.nodes - group->run.nodes), last = group->last_from;
    if (!last || run.n == 1 || at + run.n <= last) return run.n;
    return last > at ? last - at : 0;
}
