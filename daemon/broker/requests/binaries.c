/* Binaries of drivers. */
#include "daemon/broker/requests/binaries.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/broker/compile/binary_maker.h"
#include "daemon/broker/requests/bundled.h"
#include "daemon/broker/requests/executables.h"
#include "daemon/broker/requests/object.h"
#include "proto/fields.h"

/* ---- on their way to an executor ---- */

struct longer {
    uint8_t *bytes;
    size_t size;
    bool some;
};

static bool append(struct longer *l, const void *bytes, size_t size)
{
    uint8_t *longer = realloc(l->bytes, l->size + size);
    if (!longer) return false;
    memcpy(longer + l->size, bytes, size);
    l->bytes = longer;
    l->size += size;
    l->some = true;
    return true;
}

static bool append_bundled(void *data, const void *bytes, size_t size)
{
    uint64_t length = size;
    return append(data, &length, sizeof length) && append(data, bytes, size);
}

static void append_kept(struct longer *l, const struct launch *launch)
{
    struct blob *kept;
    struct cache *cache = launch->owner->operation.session->broker->cache;
    if (cache_get(cache, CACHE_BINARIES, &launch->key, &kept) == CACHE_MISS) return;
    append(l, kept->data, kept->size);
    blob_unref(kept);
}

/* Not the object's own: what lies behind it is of this moment, or of this session. */
static struct hash content_key(const struct longer *l)
{
    struct hasher h;
    hasher_begin(&h, "object with binaries");
    hasher_add(&h, l->bytes, l->size);
    return hasher_end(&h);
}

uint8_t *binaries_behind(const struct launch *launch, const void *object, size_t object_size, struct hash *key,
                         size_t *size)
{
    struct longer l = {0};
    if (!append(&l, object, object_size)) return NULL;
    l.some = false;
    bundled_binaries(launch, append_bundled, &l);
    append_kept(&l, launch);
    if (l.some) {
        *key = content_key(&l);
        *size = l.size;
        return l.bytes;
    }
    free(l.bytes);
    return NULL;
}

/* ---- what executors say ---- */

/* The object by itself, as who makes a binary of it is given it: nothing that came with a client's module. NULL: it is
   not in the cache any more, or there is no memory. */
static struct code *plain_object(struct broker *broker, const struct hash *key)
{
    struct blob *blob;
    struct object object;
    struct code *code = NULL;
    if (cache_get(broker->cache, CACHE_OBJECT, key, &blob) == CACHE_MISS) return NULL;
    if (object_read(&object, blob, false))
        code = code_get(&broker->codes, key, object.bytes, object.size, object.lanes, object.effort);
    object_clear(&object);
    blob_unref(blob);
    return code;
}

static void wish(struct session *s, uint64_t executable, const msgpack_object *told)
{
    struct binary_wish w;
    uint64_t launch;
    const struct gpu *gpu;
    if (told->type != MSGPACK_OBJECT_MAP || !proto_get_uint(told, "launch", &launch) ||
        !proto_get_bool(told, "refused", &w.refused) || !proto_get_bytes(told, "key", &w.key, &w.key_size))
        return;
    const struct hash *object = executable_object(s, executable, launch, &gpu);
    w.code = object ? plain_object(s->broker, object) : NULL;
    if (!w.code) return;
    w.device = gpu->name;
    w.object = *object;
    binary_maker_wish(s->broker->binary_maker, s->user, &w);
    code_put(w.code);
}

void binaries_told(struct session *s, uint64_t executable, const msgpack_object *told)
{
    uint64_t found;
    const msgpack_object *wishes = proto_get(told, "wishes");
    if (!proto_get_uint(told, "found", &found) || !wishes || wishes->type != MSGPACK_OBJECT_ARRAY) return;
    s->broker->counters.binaries_found += executable_launches(s, executable, found);
    for (uint32_t i = 0; i < wishes->via.array.size; i++) wish(s, executable, &wishes->via.array.ptr[i]);
}
