/* The ND-range of a launch that holds kernels of several, and what each sees there of its work-groups. */
#pragma once

#include "fuser/graph/range.h"
#include "fuser/plan/base/node_run.h"
#include "fuser/plan/graph/facts.h"

/* The range that holds those of the kernels. */
struct nd_range launch_range_of_run(const struct plan_facts *f, struct node_run run);
/* Extends sum, which holds the kernels of the run, by the node's range. Of different local sizes it gets that of the
   kernel that needs it most. */
enum range_fit launch_range_join(const struct plan_facts *f, struct node_run run, uint32_t node, bool alike,
                                 struct nd_range *sum, char *why, size_t why_size);
/* Whether work-items of the run's kernels that are the same one in a launch over `from` are in one over `to`. */
bool launch_range_keeps_ids(const struct plan_facts *f, struct node_run run, const struct nd_range *from,
                            const struct nd_range *to);
/* Whether what the kernel sees of its work-group and sub-group can be made the same in a launch that begins with the
   node `first` and has sub-groups of that size; `why` says what speaks against it ("it has fewer work-items, and
   ..."). */
bool launch_range_keeps_groups(const struct plan_facts *f, uint32_t first, uint32_t node, const struct nd_range *launch,
                               uint32_t sub_group_size, char *why, size_t why_size);
/* The range of the kernel as a part of that launch: its local size is filled in where it is not the launch's, and left
   out where the kernel cannot tell it from another one. */
struct nd_range launch_range_of_part(const struct plan_facts *f, uint32_t node, const struct nd_range *launch);
/* The kernel takes the work-groups that the launch has, whatever their size, and looks at them. */
bool launch_range_takes_any_groups(const struct plan_facts *f, uint32_t node);
/* The kernel cannot tell one work-group size from another. */
bool launch_range_sees_no_groups(const struct plan_facts *f, uint32_t node);
