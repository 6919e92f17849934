/* From the wire graph, which names kernels, to the fuser's, which points at them. */
#pragma once

#include "daemon/compiler/job.h"
#include "fuser/graph/graph.h"
#include "proto/graph.h"

struct arena;

/* modules: as many as the wire graph says. The result lies in the arena and points into wire and modules.
   NULL with the error: an unknown kernel. */
struct fuser_graph *translate_graph(const struct proto_graph *wire, struct ir_module *const *modules,
                                    struct arena *arena, struct error *e);
