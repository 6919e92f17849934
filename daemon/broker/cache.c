/* The cache's front: the most recently used entries in memory, the disk behind them. */
#include "daemon/broker/cache.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "daemon/broker/cache_disk.h"
#include "daemon/broker/table.h"

struct entry {
    TAILQ_ENTRY(entry) link;
    enum cache_kind kind;
    struct hash key;
    struct blob *blob;
};

struct cache {
    struct table table; /* by the key's first bytes and kind; an entry of the same place replaces the older */
    TAILQ_HEAD(entries, entry) recent; /* most recently used first */
    size_t bytes, limit;
    struct cache_disk *disk;
};

static uint64_t place(enum cache_kind kind, const struct hash *key)
{
    return hash_prefix(key) ^ (uint64_t)kind;
}

static size_t cost(const struct blob *blob)
{
    return sizeof(struct entry) + sizeof *blob + blob->size;
}

struct cache *cache_open(const char *directory, uint64_t disk_limit, size_t memory_limit)
{
    struct cache *cache = calloc(1, sizeof *cache);
    if (!cache) return NULL;
    TAILQ_INIT(&cache->recent);
    cache->limit = memory_limit;
    if (directory) cache->disk = cache_disk_open(directory, disk_limit);
    return cache;
}

static void drop(struct cache *cache, struct entry *entry)
{
    table_remove(&cache->table, place(entry->kind, &entry->key));
    TAILQ_REMOVE(&cache->recent, entry, link);
    cache->bytes -= cost(entry->blob);
    blob_unref(entry->blob);
    free(entry);
}

void cache_close(struct cache *cache)
{
    if (!cache) return;
    while (!TAILQ_EMPTY(&cache->recent)) drop(cache, TAILQ_FIRST(&cache->recent));
    table_clear(&cache->table);
    cache_disk_close(cache->disk);
    free(cache);
}

static struct entry *find(struct cache *cache, enum cache_kind kind, const struct hash *key)
{
    struct entry *entry = table_get(&cache->table, place(kind, key));
    return entry && entry->kind == kind && hash_equal(&entry->key, key) ? entry : NULL;
}

static void remember(struct cache *cache, enum cache_kind kind, const struct hash *key, struct blob *blob)
{
    struct entry *old = table_get(&cache->table, place(kind, key));
    if (old) drop(cache, old);
    if (cost(blob) > cache->limit / 4) /* one giant must not drive out everything else */
        return;
    while (cache->bytes + cost(blob) > cache->limit) drop(cache, TAILQ_LAST(&cache->recent, entries));
    struct entry *entry = malloc(sizeof *entry);
    if (!entry || !table_put(&cache->table, place(kind, key), entry)) {
        free(entry);
        return;
    }
    *entry = (struct entry){.kind = kind, .key = *key, .blob = blob_ref(blob)};
    TAILQ_INSERT_HEAD(&cache->recent, entry, link);
    cache->bytes += cost(blob);
}

enum cache_source cache_get(struct cache *cache, enum cache_kind kind, const struct hash *key, struct blob **blob)
{
    struct entry *entry = find(cache, kind, key);
    if (entry) {
        TAILQ_REMOVE(&cache->recent, entry, link);
        TAILQ_INSERT_HEAD(&cache->recent, entry, link);
        *blob = blob_ref(entry->blob);
        return CACHE_MEMORY;
    }
    struct blob *read = cache->disk ? cache_disk_read(cache->disk, kind, key) : NULL;
    if (!read) return CACHE_MISS;
    remember(cache, kind, key, read);
    *blob = read;
    return CACHE_DISK;
}

void cache_put(struct cache *cache, enum cache_kind kind, const struct hash *key, struct blob *blob)
{
    remember(cache, kind, key, blob);
    if (cache->disk) cache_disk_write(cache->disk, kind, key, blob);
}

void cache_reject(struct cache *cache, enum cache_kind kind, const struct hash *key)
{
    struct entry *entry = find(cache, kind, key);
    if (entry) drop(cache, entry);
    if (cache->disk) cache_disk_reject(cache->disk, kind, key);
}

struct cache_stats cache_stats(const struct cache *cache)
{
    struct cache_stats stats = {.memory_bytes = cache->bytes};
    if (cache->disk) cache_disk_stats(cache->disk, &stats);
    return stats;
}
