/* The worker threads: one loop at a time, its indices shared out in chunks, by how long it takes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pool;
struct ring;

/* Does indices first <= i < end; thread is below pool_threads() and different for each thread. */
typedef void pool_body(void *data, uint64_t first, uint64_t end, unsigned thread);

/* threads: how many work on a loop, the caller of pool_run() included. The ring is that of the client who waits for
   the loops. NULL where none can be started. */
struct pool *pool_new(unsigned threads, struct ring *ring);
unsigned pool_threads(const struct pool *p);
/* From now on loops end early where this function of a number says so, between two chunks: what is left of them is not
   done. NULL: they do not. Between loops only. */
void pool_set_stop(struct pool *p, bool (*stops)(uint64_t number), uint64_t number);
/* Runs body for 0 <= i < total and returns when all of it is done: with the time that it took all threads together.
   expected_ns: that time, about; a short loop runs on the caller's thread alone. Only one thread may call it. */
uint64_t pool_run(struct pool *p, pool_body *body, void *data, uint64_t total, uint64_t expected_ns);
