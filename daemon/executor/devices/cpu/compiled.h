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
/* The code of a launch, which takes the object over in any case. NULL with the error. replaces: other code for the
   launch, which may be running. */
struct launch_code *compiled_code(struct executable *x, uint32_t launch, struct object *object, bool replaces,
                                  struct error *e);
