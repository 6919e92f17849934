/* A plan as the broker and the executor get it: docs/protocol.md, "The report" and "The program". */
#pragma once

#include <msgpack.h>

#include "daemon/compiler/devices.h"
#include "fuser/plan/plan.h"
#include "proto/graph.h"

struct plan_source {
    const struct proto_graph *wire; /* what the graph was made of */
    const struct fuser_graph *graph;
    const struct fuser_plan *plan;
    const struct device *device; /* that runs it */
    bool keep_ir;
    const struct fuser_plan *apart; /* to debug: the plan that fuses nothing, whose kernels are what runs; else NULL */
};

void plan_pack_report(msgpack_packer *k, const struct plan_source *s);
void plan_pack_program(msgpack_packer *k, const struct plan_source *s);
