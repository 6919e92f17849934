/* What tuning found best, in the cache. */
#include "daemon/broker/requests/tuning.h"

#include <string.h>

#include "daemon/broker/cache/cache.h"
#include "proto/limits.h"

struct hash tuning_key(const struct hash *plan, uid_t user)
{
    struct hasher h;
    hasher_begin(&h, "tuning");
    hasher_add_hash(&h, plan);
    hasher_add_uint(&h, user);
    return hasher_end(&h);
}

char *tuning_kept(const struct broker *broker, const struct hash *key)
{
    struct blob *blob;
    if (cache_get(broker->cache, CACHE_TUNING, key, &blob) == CACHE_MISS) return NULL;
    char *text = blob->size <= PROTO_MAX_TUNING ? strndup((const char *)blob->data, blob->size) : NULL;
    blob_unref(blob);
    return text;
}

void tuning_keep(const struct broker *broker, const struct hash *key, const char *text, uid_t user)
{
    struct blob *blob = blob_new(text, strlen(text));
    if (blob) cache_put(broker->cache, CACHE_TUNING, key, blob, user);
    blob_unref(blob);
}
