/*
 * Pipes between kernels that may become one: can packets go from one to the other without the pipe?
 *
 * This room takes facts of two kernels and says how (enum fuse_flow), or why not; and which kernels may run at the same
 * time (at_once.h). Uses access/ and the graph's facts.
 */
#pragma once

#include "fuser/merge/request.h"
#include "fuser/plan/base/context.h"
#include "fuser/plan/mapping/id_mapping.h"

struct pipe_flow {
    enum fuse_flow kind;
    char why[400]; /* NONE */
};

/* From the use of a pipe by one kernel of a launch to that by a later one. */
struct pipe_flow pipe_flow_find(const struct plan_context *ctx, const struct id_mapping *m,
                                const struct plan_use *first, const struct plan_use *second);
