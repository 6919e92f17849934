/* The parameters of a launch. */
#pragma once

#include "fuser/plan/base/context.h"
#include "fuser/plan/base/node_run.h"
#include "fuser/plan/graph/facts.h"
#include "fuser/plan/storage/decision.h"

/* A parameter of a kernel to be made: arguments that are the same memory, or the same one of the graph's values, share
   one. So do values that were alike and say where kernels access memory. */
struct plan_param {
    enum fuser_param_kind kind;
    const char *name;
    uint32_t index;      /* of the buffer or value */
    uint64_t first, end; /* BUFFER: bytes of it. LOCAL: end is the size */
    ir_type type, elem;
    const struct ir_module *module; /* VALUE by value: elem is a type of it */
    bool by_value, reads, writes;
    bool decides;                /* VALUE: each of its arguments does (struct access_summary) */
    const void *view;            /* BUFFER: of the argument, which then is a parameter of its own */
    struct plan_storage storage; /* BUFFER: in memory, or elsewhere */
    bool unseen;                 /* BUFFER: nobody but the launch ever reads it */
    enum fuse_flow flow;         /* of a pipe, from one node of the run to another: */
    uint32_t producer, consumer;
};

struct plan_params {
    uint32_t n;
    struct plan_param *params;
    uint32_t **of_node; /* for each node of the run its arguments' parameters */
    uint32_t n_conditions;
    struct fuser_condition *conditions; /* that the same values were one, and proofs took them to be numbers */
};

void params_find(struct plan_context *ctx, const struct plan_facts *facts, struct node_run run,
                 struct plan_params *out);
/* The number that the conditions say a scalar is; 0: they do not. */
int64_t params_number(const struct plan_params *params, uint32_t param);
