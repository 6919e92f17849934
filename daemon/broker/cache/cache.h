/*
 * The cache of what compilers made, keyed by the hash of everything it depends on. A small part in memory, all of it
 * on disk. An entry that is damaged is deleted and counts as missing; a disk that takes no more is no error.
 */
#pragma once

#include <sys/types.h>

#include "daemon/broker/cache/entry.h"
#include "daemon/broker/core/blob.h"
#include "daemon/broker/core/hash.h"

enum cache_source { CACHE_MISS, CACHE_MEMORY, CACHE_DISK };

struct cache;

/* directory: made where missing; NULL: memory only. Limits in bytes. A directory that cannot be used, or that others
   may write to, is not used (a line in the log says why). NULL: out of memory. */
struct cache *cache_open(const char *directory, uint64_t disk_limit, size_t memory_limit);
void cache_close(struct cache *cache);
/* A hit gives the caller a reference. */
enum cache_source cache_get(struct cache *cache, enum cache_kind kind, const struct hash *key, struct blob **blob);
/* owner: the user it was made for. Where there is too much, those who have most lose first, the least recently used. */
void cache_put(struct cache *cache, enum cache_kind kind, const struct hash *key, struct blob *blob, uid_t owner);
/* From now on users' entries on disk may take no more than this; `of` is the cache's from now on. */
void cache_allow(struct cache *cache, struct cache_allowances allowances);
/* What the entries that were made for a user take on disk. */
uint64_t cache_bytes_of(const struct cache *cache, uid_t owner);
/* Waits until the disk is counted and within its limit again: both happen in a thread. */
void cache_settle(struct cache *cache);
/* The entry was whole, but is not what its reader understands. */
void cache_reject(struct cache *cache, enum cache_kind kind, const struct hash *key);
struct cache_counts cache_stats(const struct cache *cache);
