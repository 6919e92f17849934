/* The linear order of all nodes around groups of kernels that were chosen. */
#pragma once

#include "fuser/plan/order/order.h"

/* Kernels in an order that their dependences allow, and where groups start in it. */
struct plan_choice {
    uint32_t n, n_groups;
    uint32_t *kernels;
    bool *starts;   /* by place */
    uint64_t bytes; /* what the launches move, as estimated */
};

/* Commands stand between groups only where a group needs them. */
void linearize(struct plan_context *ctx, const struct plan_facts *facts, const struct plan_edges *edges,
               const struct plan_choice *choice, struct plan_order *order);
