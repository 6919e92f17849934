/* What is asked about a run that is to be one launch. */
#include "fuser/plan/launch/attempt.h"

#include <string.h>

#include "fuser/plan/mapping/launch_range.h"

struct node_run attempt_first(const struct plan_group *group, struct node_run run)
{
    return (struct node_run){run.nodes, attempt_n_first(group, run)};
}

struct nd_range attempt_range(const struct launching *l, struct node_run run, const struct plan_group *group)
{
    struct node_run first = attempt_first(group, run);
    struct nd_range range = launch_range_of_run(l->facts, first);
    if (attempt_n_barriers(group, run) || first.n < run.n) memcpy(range.local, group->range.local, sizeof range.local);
    return range;
}

struct storage_query attempt_query(struct launching *l, struct node_run run, const struct plan_group *group,
                                   const struct nd_range *range)
{
    struct node_run first = attempt_first(group, run);
    id_mapping_set(l->mapping, first, range);
    return (struct storage_query){.ctx = l->ctx,
                                  .facts = l->facts,
                                  .order = l->order,
                                  .mapping = l->mapping,
                                  .run = first,
                                  .range = range,
                                  .barriers = attempt_n_barriers(group, run) > 0,
                                  .apart = l->apart ? l->apart->buffers : NULL,
                                  .group = group->run};
}
