/* Values of a reply by their keys. */
#include "client/base/reply.h"

#include "proto/fields.h"

const char *client_reply_string(struct client_pool *p, const msgpack_object *o)
{
    if (!o || o->type != MSGPACK_OBJECT_STR) return "";
    return client_pool_text(p, o->via.str.ptr, o->via.str.size);
}

const char *client_reply_text(struct client_pool *p, const msgpack_object *map, const char *key)
{
    return client_reply_string(p, proto_get(map, key));
}

msgpack_object_array client_reply_list(const msgpack_object *map, const char *key)
{
    const msgpack_object *o = proto_get(map, key);
    return o && o->type == MSGPACK_OBJECT_ARRAY ? o->via.array : (msgpack_object_array){0};
}

uint32_t client_reply_u32(const msgpack_object *map, const char *key)
{
    uint64_t value = 0;
    proto_get_uint(map, key, &value);
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}
