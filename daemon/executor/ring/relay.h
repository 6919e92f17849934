/* Passing submissions on: executables that run on GPUs are in another executor, whose ring has this one as its client.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/error.h"

/* Once. */
void relay_init(void);
/* The executable is the other's, whose ring this is; its descriptor is taken over (set to -1) where it is
   kept. executable 0: it has none so far. 0, or -1 with the error. */
int relay_add(uint64_t executable, int *ring_fd, struct error *e);
/* False: it is none of those. */
bool relay_remove(uint64_t executable);
bool relay_has(uint64_t executable);
bool relay_is_open(void); /* there is another executor */
/* Passes an entry on, as ring_pop() gave it, and waits for its end: 0 with run_ns, or -1 with the error. */
int relay_run(const uint8_t *entry, uint64_t *run_ns, struct error *e);
