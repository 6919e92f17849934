/* Reading the values of a program. */
#include "daemon/executor/program/reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "daemon/executor/program/program_types.h"
#include "ir/base/arena.h"
#include "proto/fields.h"
#include "proto/include/fusiond/status.h"
#include "proto/limits.h"

/* Always false. The first complaint is the one that is kept. */
bool reader_bad(struct reader *r, const char *format, ...)
{
    if (r->error->code) return false;
    va_list args;
    va_start(args, format);
    error_vset(r->error, FUSION_INTERNAL, NULL, format, args);
    va_end(args);
    return false;
}

/* NULL where the key holds no list. */
const msgpack_object_array *reader_array(struct reader *r, const msgpack_object *map, const char *key)
{
    const msgpack_object *o = proto_get(map, key);
    if (o && o->type == MSGPACK_OBJECT_ARRAY) return &o->via.array;
    reader_bad(r, "key %s is not a list", key);
    return NULL;
}

bool reader_uint(struct reader *r, const msgpack_object *map, const char *key, uint64_t max, uint64_t *value)
{
    if (!proto_get_uint(map, key, value)) return reader_bad(r, "key %s is not a number", key);
    if (*value > max) return reader_bad(r, "%s is %" PRIu64 ", more than %" PRIu64, key, *value, max);
    return true;
}

bool reader_flag(struct reader *r, const msgpack_object *map, const char *key, bool *value)
{
    return proto_get_bool(map, key, value) || reader_bad(r, "key %s is not a truth value", key);
}

bool reader_name(struct reader *r, const msgpack_object *map, const char *key, const char **name)
{
    const msgpack_object *o = proto_get(map, key);
    if (!o || o->type != MSGPACK_OBJECT_STR || o->via.str.size > PROTO_MAX_NAME ||
        memchr(o->via.str.ptr, 0, o->via.str.size))
        return reader_bad(r, "key %s is not a name", key);
    *name = arena_strndup(r->p->arena, o->via.str.ptr, o->via.str.size);
    return true;
}

bool reader_element(struct reader *r, const msgpack_object_array *a, uint32_t i, uint64_t max, uint64_t *value)
{
    const msgpack_object *o = i < a->size ? &a->ptr[i] : NULL;
    if (!o || o->type != MSGPACK_OBJECT_POSITIVE_INTEGER) return reader_bad(r, "element %u is not a number", i);
    if (o->via.u64 > max) return reader_bad(r, "element %u is %" PRIu64 ", more than %" PRIu64, i, o->via.u64, max);
    *value = o->via.u64;
    return true;
}
