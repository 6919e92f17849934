/* The worker threads: one loop at a time, its indices shared out in chunks. */
#pragma once

#include <stdint.h>

struct pool;

/* Does indices first <= i < end; thread is below pool_threads() and different for each thread. */
typedef void pool_body(void *data, uint64_t first, uint64_t end, unsigned thread);

/* threads: how many work on a loop, the caller of pool_run() included. NULL where none can be started. */
struct pool *pool_new(unsigned threads);
unsigned pool_threads(const struct pool *p);
/* Runs body for 0 <= i < total and returns when all of it is done. Only one thread may call it. */
void pool_run(struct pool *p, pool_body *body, void *data, uint64_t total, uint64_t chunk);
