/* Launches of compiled code, and of kernels in batches: work-groups shared out among the threads. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct error;
struct executable;
struct launch_code;
struct object;

/* Once. threads: that a launch may run on. */
void compiled_init(unsigned threads);
/* Is it machine code, for which no better one will come while it runs? */
bool compiled_is_code(const struct launch_code *code);
/* Memory for work-groups of the launch on each thread, for compiled_run_here(). 0, or -1 with the error. */
int compiled_reserve(const struct launch_code *code, const struct executable *x, uint32_t launch, unsigned threads,
                     struct error *e);
/* Runs work-groups on the calling thread of the pool, with the argument block filled in. */
void compiled_run_here(const struct launch_code *code, const struct executable *x, uint32_t launch, uint64_t first,
                       uint64_t end, unsigned thread);
/* How long all of the launch takes the threads together, about. */
uint64_t compiled_expected_ns(const struct launch_code *code, const struct executable *x, uint32_t launch);
/* The code of a launch, which takes the object over in any case. NULL with the error. replaces: other code for the
   launch, which may be running. */
struct launch_code *compiled_code(struct executable *x, uint32_t launch, struct object *object, bool replaces,
                                  struct error *e);
