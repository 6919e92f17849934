/* The cache's front: the most recently used entries in memory, the disk behind them. */
#include "daemon/broker/cache/cache.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "daemon/broker/cache/disk.h"
#include "ir/base/map.h"

struct entry {
    TAILQ_ENTRY(entry) link;
    enum cache_kind kind;
    struct hash key;
    struct blob *blob;
    struct owner *owner;
};

/* A user with entries. */
struct owner {
    LIST_ENTRY(owner) link;
    uid_t uid;
    size_t bytes;
    TAILQ_HEAD(entries, entry) recent; /* most recently used first */
};

struct cache {
    struct map table; /* by the key's first bytes and kind; an entry of the same place replaces the older */
    LIST_HEAD(, owner) owners;
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
    LIST_INIT(&cache->owners);
    cache->limit = memory_limit;
    if (directory) cache->disk = cache_disk_open(directory, disk_limit);
    return cache;
}

static struct owner *get_owner(struct cache *cache, uid_t uid)
{
    struct owner *owner;
    LIST_FOREACH(owner, &cache->owners, link)
    if (owner->uid == uid) return owner;
    owner = calloc(1, sizeof *owner);
    if (!owner) return NULL;
    owner->uid = uid;
    TAILQ_INIT(&owner->recent);
    LIST_INSERT_HEAD(&cache->owners, owner, link);
    return owner;
}

static void leave_empty(struct owner *owner)
{
    if (!owner || !TAILQ_EMPTY(&owner->recent)) return;
    LIST_REMOVE(owner, link);
    free(owner);
}

static void drop(struct cache *cache, struct entry *entry)
{
    struct owner *owner = entry->owner;
    map_remove(&cache->table, place(entry->kind, &entry->key));
    TAILQ_REMOVE(&owner->recent, entry, link);
    cache->bytes -= cost(entry->blob);
    owner->bytes -= cost(entry->blob);
    blob_unref(entry->blob);
    free(entry);
    leave_empty(owner);
}

/* What who has most has not used for the longest time. */
static void evict(struct cache *cache)
{
    struct owner *owner, *most = LIST_FIRST(&cache->owners);
    LIST_FOREACH(owner, &cache->owners, link)
    if (owner->bytes > most->bytes) most = owner;
    drop(cache, TAILQ_LAST(&most->recent, entries));
}

void cache_close(struct cache *cache)
{
    if (!cache) return;
    while (!LIST_EMPTY(&cache->owners)) evict(cache);
    map_clear(&cache->table);
    cache_disk_close(cache->disk);
    free(cache);
}

static struct entry *find(struct cache *cache, enum cache_kind kind, const struct hash *key)
{
    struct entry *entry = map_get(&cache->table, place(kind, key));
    return entry && entry->kind == kind && hash_equal(&entry->key, key) ? entry : NULL;
}

static void remember(struct cache *cache, enum cache_kind kind, const struct hash *key, struct blob *blob, uid_t uid)
{
    struct entry *old = map_get(&cache->table, place(kind, key));
    if (old) drop(cache, old);
    if (cost(blob) > cache->limit / 4) /* one giant must not drive out everything else */
        return;
    while (cache->bytes + cost(blob) > cache->limit) evict(cache);
    struct owner *owner = get_owner(cache, uid);
    struct entry *entry = owner ? malloc(sizeof *entry) : NULL;
    if (!entry || !map_put(&cache->table, place(kind, key), entry)) {
        free(entry);
        leave_empty(owner);
        return;
    }
    *entry = (struct entry){.kind = kind, .key = *key, .blob = blob_ref(blob), .owner = owner};
    TAILQ_INSERT_HEAD(&owner->recent, entry, link);
    cache->bytes += cost(blob);
    owner->bytes += cost(blob);
}

enum cache_source cache_get(struct cache *cache, enum cache_kind kind, const struct hash *key, struct blob **blob)
{
    struct entry *entry = find(cache, kind, key);
    if (entry) {
        TAILQ_REMOVE(&entry->owner->recent, entry, link);
        TAILQ_INSERT_HEAD(&entry->owner->recent, entry, link);
        *blob = blob_ref(entry->blob);
        return CACHE_MEMORY;
    }
    uid_t owner;
    struct blob *read = cache->disk ? cache_disk_read(cache->disk, kind, key, &owner) : NULL;
    if (!read) return CACHE_MISS;
    remember(cache, kind, key, read, owner);
    *blob = read;
    return CACHE_DISK;
}

void cache_put(struct cache *cache, enum cache_kind kind, const struct hash *key, struct blob *blob, uid_t owner)
{
    remember(cache, kind, key, blob, owner);
    if (cache->disk) cache_disk_write(cache->disk, kind, key, blob, owner);
}

void cache_allow(struct cache *cache, struct cache_allowances allowances)
{
    if (cache->disk)
        cache_disk_allow(cache->disk, allowances);
    else
        free(allowances.of);
}

uint64_t cache_bytes_of(const struct cache *cache, uid_t owner)
{
    return cache->disk ? cache_disk_bytes_of(cache->disk, owner) : 0;
}

void cache_settle(struct cache *cache)
{
    if (cache->disk) cache_disk_settle(cache->disk);
}

void cache_reject(struct cache *cache, enum cache_kind kind, const struct hash *key)
{
    struct entry *entry = find(cache, kind, key);
    if (entry) drop(cache, entry);
    if (cache->disk) cache_disk_reject(cache->disk, kind, key);
}

struct cache_counts cache_stats(const struct cache *cache)
{
    struct cache_counts stats = {.memory_bytes = cache->bytes};
    if (cache->disk) cache_disk_stats(cache->disk, &stats);
    return stats;
}
