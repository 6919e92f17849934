/*
 * How much the cache has on disk, counted and kept under its limit by a thread: a directory with a hundred thousand
 * files takes seconds to go through. What is evicted belongs to the users who have most, the least recently used first.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cache_sweep;

/* Begins to count. directory stays the caller's. NULL: out of memory or threads. */
struct cache_sweep *cache_sweep_new(int directory, uint64_t limit);
void cache_sweep_free(struct cache_sweep *sweep);
/* Entries were written, or removed, of so many bytes; above the limit a sweep begins. */
void cache_sweep_add(struct cache_sweep *sweep, int64_t bytes);
uint64_t cache_sweep_bytes(struct cache_sweep *sweep);
/* Is there so much that nothing may be written until the sweep is done? */
bool cache_sweep_is_full(struct cache_sweep *sweep);
/* Waits until no sweep is under way. */
void cache_sweep_settle(struct cache_sweep *sweep);
