/* Submissions: from an entry of the ring to its completion. */
#pragma once

#include <stdint.h>

struct buffers;
struct executables;
struct pool;
struct submitter;

/* Spares of the executable are about to run for the first time. */
typedef void submit_spares_fn(uint64_t executable);
/* pool_run() of the pool is then called by the thread that calls submit_run() alone. */
struct submitter *submit_new(struct buffers *buffers, struct executables *executables, struct pool *pool,
                             submit_spares_fn *spares_run);
/* Checks and runs an entry as ring_pop() gave it, and completes it whatever it holds. */
void submit_run(struct submitter *s, const uint8_t *entry);
