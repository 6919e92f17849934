/* What handlers of requests share. */
#include "daemon/broker/session/request.h"

#include <stdarg.h>

#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

bool request_fail(struct session *s, const struct proto_message *m, fusion_status status, const char *object,
                  const char *format, ...)
{
    struct error error;
    va_list args;
    va_start(args, format);
    error_vset(&error, status, object, format, args);
    va_end(args);
    session_fail(s, m->id, &error);
    return false;
}

void request_done(struct session *s, uint32_t request)
{
    struct proto_writer w;
    proto_begin_reply(&w, request);
    proto_pack_map(&w, 0);
    session_send(s, &w);
}

static bool wrong(struct session *s, const struct proto_message *m, const char *key)
{
    return request_fail(s, m, FUSION_INVALID, m->method, "parameter %s is missing or of the wrong type", key);
}

bool request_uint(struct session *s, const struct proto_message *m, const char *key, uint64_t *value)
{
    return proto_get_uint(&m->params, key, value) || wrong(s, m, key);
}

bool request_bool(struct session *s, const struct proto_message *m, const char *key, bool *value)
{
    *value = false;
    return !proto_get(&m->params, key) || proto_get_bool(&m->params, key, value) || wrong(s, m, key);
}

bool request_bytes(struct session *s, const struct proto_message *m, const char *key, const void **bytes, size_t *size)
{
    return proto_get_bytes(&m->params, key, bytes, size) || wrong(s, m, key);
}

bool request_list(struct session *s, const struct proto_message *m, const char *key, const msgpack_object_array **list)
{
    const msgpack_object *object = proto_get(&m->params, key);
    if (!object || object->type != MSGPACK_OBJECT_ARRAY) return wrong(s, m, key);
    *list = &object->via.array;
    return true;
}

bool request_target(struct session *s, const struct proto_message *m, struct hash *target)
{
    const struct error *error = pool_info(s->broker->pool, NULL, target);
    if (error) session_fail(s, m->id, error);
    return !error;
}
