/* Reading the maps of received messages. */
#include "proto/fields.h"

#include <stdlib.h>
#include <string.h>

const msgpack_object *proto_get(const msgpack_object *map, const char *key)
{
    if (!map || map->type != MSGPACK_OBJECT_MAP) return NULL;
    size_t size = strlen(key);
    for (uint32_t i = 0; i < map->via.map.size; i++) {
        const msgpack_object_kv *entry = &map->via.map.ptr[i];
        if (entry->key.type == MSGPACK_OBJECT_STR && entry->key.via.str.size == size &&
            memcmp(entry->key.via.str.ptr, key, size) == 0)
            return &entry->val;
    }
    return NULL;
}

bool proto_get_uint(const msgpack_object *map, const char *key, uint64_t *value)
{
    const msgpack_object *object = proto_get(map, key);
    if (!object || object->type != MSGPACK_OBJECT_POSITIVE_INTEGER) return false;
    *value = object->via.u64;
    return true;
}

bool proto_get_bool(const msgpack_object *map, const char *key, bool *value)
{
    const msgpack_object *object = proto_get(map, key);
    if (!object || object->type != MSGPACK_OBJECT_BOOLEAN) return false;
    *value = object->via.boolean;
    return true;
}

bool proto_get_bytes(const msgpack_object *map, const char *key, const void **bytes, size_t *size)
{
    const msgpack_object *object = proto_get(map, key);
    if (!object || object->type != MSGPACK_OBJECT_BIN) return false;
    *bytes = object->via.bin.ptr;
    *size = object->via.bin.size;
    return true;
}

bool proto_get_string(const msgpack_object *map, const char *key, char **value, size_t max)
{
    const msgpack_object *object = proto_get(map, key);
    if (!object || object->type != MSGPACK_OBJECT_STR) return false;
    size_t size = object->via.str.size;
    if (size > max || (size > 0 && memchr(object->via.str.ptr, 0, size))) return false;
    char *copy = malloc(size + 1);
    if (!copy) return false;
    if (size > 0) memcpy(copy, object->via.str.ptr, size);
    copy[size] = 0;
    *value = copy;
    return true;
}
