/* The part of the cache on disk: a file for each entry, written aside and renamed, with a checksum. */
#pragma once

#include "daemon/broker/cache/entry.h"
#include "daemon/broker/core/blob.h"

struct cache_disk;

struct cache_disk *cache_disk_open(const char *directory, uint64_t limit); /* NULL: cannot be used */
void cache_disk_close(struct cache_disk *disk);
/* NULL: miss. owner: the user it was made for. */
struct blob *cache_disk_read(struct cache_disk *disk, enum cache_kind kind, const struct hash *key, uid_t *owner);
void cache_disk_write(struct cache_disk *disk, enum cache_kind kind, const struct hash *key, const struct blob *blob,
                      uid_t owner);
void cache_disk_reject(struct cache_disk *disk, enum cache_kind kind, const struct hash *key); /* deletes, counts */
void cache_disk_allow(struct cache_disk *disk, struct cache_allowances allowances);            /* as cache_allow() */
uint64_t cache_disk_bytes_of(const struct cache_disk *disk, uid_t owner);
void cache_disk_settle(struct cache_disk *disk); /* waits for counting and evicting, which go on in a thread */
void cache_disk_stats(const struct cache_disk *disk, struct cache_counts *stats);
