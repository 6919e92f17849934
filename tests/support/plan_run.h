/* Running graphs and plans in the interpreter, to compare what they make of the same memory. */
#pragma once

#include "fuser/plan/plan.h"
#include "ir/interp/interp.h"

/* The contents of a graph's buffers and values. */
struct graph_memory {
    const struct fuser_graph *graph;
    uint8_t **buffers, **values;
    uint32_t n_states; /* of the plan that ran last; kept from run to run of it */
    uint8_t **states;
};

/* Filled from the seed: small numbers by element type, values below 8, or what the graph says of them. */
struct graph_memory graph_memory_new(const struct fuser_graph *graph, uint64_t seed);
void graph_memory_free(struct graph_memory *m);

/* The value is another number from now on, as if a submission said so. */
void graph_memory_set(struct graph_memory *m, uint32_t value, int64_t number);

/* Node by node as recorded, edges being what recording order gives. False with a text in `why` where a kernel
   is wrong by itself. */
bool run_graph(const struct fuser_graph *graph, struct graph_memory *m, char *why, size_t why_size);
/* The plan's steps, watched for data races; launches whose conditions do not hold by their spares. Buffers without a
   home in memory are filled with garbage first, where all hold. */
bool run_plan(const struct fuser_graph *graph, const struct fuser_plan *plan, struct graph_memory *m, char *why,
              size_t why_size);
/* The same, the kernels run by the caller's means: true where it went well. */
typedef bool plan_runner(const struct fuser_launch *launch, const struct nd_range *range, const struct interp_arg *args,
                         void *data);
bool run_plan_by(const struct fuser_graph *graph, const struct fuser_plan *plan, struct graph_memory *m,
                 plan_runner *runner, void *data, char *why, size_t why_size);
/* The nodes of the plan's launches one by one, watched for what breaks the plan or an assertion: false, and `why` says
   it. */
bool run_watched(const struct fuser_graph *graph, const struct fuser_plan *plan, struct graph_memory *m, char *why,
                 size_t why_size);
/* Whether two memories agree in each buffer that is an output and the plan keeps in memory; `why` names the first that
 * differs. */
bool same_memory(const struct fuser_plan *plan, const struct graph_memory *a, const struct graph_memory *b, char *why,
                 size_t why_size);
