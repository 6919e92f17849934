/* The figures of the machine, in the cache. */
#include "daemon/broker/compile/machine.h"

#include <unistd.h>

#include "daemon/broker/cache/cache.h"

enum { MOST_BYTES = 256 };

/* A cache may be in a folder that several machines see. */
static struct hash key_of(const struct hash *target)
{
    char name[256] = "";
    struct hasher h;
    gethostname(name, sizeof name - 1);
    hasher_begin(&h, "machine");
    hasher_add_hash(&h, target);
    hasher_add_text(&h, name);
    return hasher_end(&h);
}

struct blob *machine_figures(const struct broker *broker, const struct hash *target)
{
    struct hash key = key_of(target);
    struct blob *figures = NULL;
    return cache_get(broker->cache, CACHE_MACHINE, &key, &figures) == CACHE_MISS ? NULL : figures;
}

void machine_learn(const struct broker *broker, const struct hash *target, const void *bytes, size_t size)
{
    struct hash key = key_of(target);
    struct blob *figures = size <= MOST_BYTES ? blob_new(bytes, size) : NULL;
    if (figures) cache_put(broker->cache, CACHE_MACHINE, &key, figures, broker->users.owner);
    blob_unref(figures);
}
