/*
 * How much the cache has on disk, counted and kept under its limit by a thread: a directory with a hundred thousand
 * files takes seconds to go through. What is evicted belongs to the users who have more than they are allowed, or have
 * most, the least recently used first.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/broker/cache/entry.h"

struct cache_sweep;

/* Begins to count. directory stays the caller's. NULL: out of memory or threads. */
struct cache_sweep *cache_sweep_new(int directory, uint64_t limit);
void cache_sweep_free(struct cache_sweep *sweep);
/* As cache_allow(); looks whether somebody has too much. */
void cache_sweep_allow(struct cache_sweep *sweep, struct cache_allowances allowances);
/* There are so many bytes more (or less) as an entry was written for the owner; above a limit a sweep begins. */
void cache_sweep_add(struct cache_sweep *sweep, uid_t owner, int64_t bytes);
/* One was removed, of a user that nobody knows any more. */
void cache_sweep_remove(struct cache_sweep *sweep, uint64_t bytes);
uint64_t cache_sweep_bytes(struct cache_sweep *sweep);
uint64_t cache_sweep_bytes_of(struct cache_sweep *sweep, uid_t owner);
/* Would the owner have so much more than he is allowed that nothing is to be written for him? */
bool cache_sweep_is_beyond(struct cache_sweep *sweep, uid_t owner, uint64_t bytes);
/* Is there so much that nothing may be written until the sweep is done? */
bool cache_sweep_is_full(struct cache_sweep *sweep);
/* Waits until no sweep is under way. */
void cache_sweep_settle(struct cache_sweep *sweep);
