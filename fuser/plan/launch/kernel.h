/* From a run of kernel nodes to one kernel. */
#pragma once

#include "fuser/plan/launch/params.h"

struct launch_request {
    const struct plan_facts *facts;
    struct node_run run;
    const struct nd_range *range;
    const struct plan_params *params;
    const bool *barriers; /* by place in the run: one stands before the kernel */
    uint32_t n_first;     /* so many do not run in the last work-group, by itself */
};

/* The kernel of the run, with buffers stored as params says; NULL with the reason in why. */
struct ir_module *launch_kernel(struct plan_context *ctx, const struct launch_request *launch, bool *kept, char *why,
                                size_t why_size);
