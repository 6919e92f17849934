/* Objects and the jobs that make them. */
#include "daemon/broker/requests/object.h"

#include <stdlib.h>

#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

enum { MAX_EFFORT_NAME = 64 };
enum { OBJECT_VARIANT_CODE, OBJECT_VARIANT_ASSEMBLY };

struct hash object_hash(const struct hash *target, const struct gpu *gpu, const msgpack_object *kernel)
{
    struct hasher h;
    hasher_begin(&h, "object");
    hasher_add_hash(&h, target);
    hasher_add(&h, kernel->via.bin.ptr, kernel->via.bin.size);
    if (gpu) hasher_add(&h, gpu->description->data, gpu->description->size);
    return hasher_end(&h);
}

bool object_read(struct object *object, const struct blob *blob, bool wants_assembly)
{
    *object = (struct object){0};
    if (!blob_parse(blob, &object->value)) return false;
    const msgpack_object *root = &object->value.root;
    return proto_get_bytes(root, "object", &object->bytes, &object->size) &&
           proto_get_uint(root, "lanes", &object->lanes) &&
           proto_get_string(root, "effort", &object->effort, MAX_EFFORT_NAME) &&
           (!wants_assembly || proto_get_string(root, "assembly", &object->assembly, SIZE_MAX));
}

void object_clear(struct object *object)
{
    blob_value_clear(&object->value);
    free(object->effort);
    free(object->assembly);
}

struct job *object_job(struct session *s, struct pool_client *client, const struct hash *hash, const struct gpu *gpu,
                       const msgpack_object *kernel, bool keep_assembly, struct error *error)
{
    struct pool *pool = s->broker->pool;
    const struct job_key key = {.kind = CACHE_OBJECT,
                                .hash = *hash,
                                .variant = keep_assembly ? OBJECT_VARIANT_ASSEMBLY : OBJECT_VARIANT_CODE,
                                .cached = true};
    struct job *job = pool_find(pool, &key);
    if (job) return job; /* the same code is being made already */
    s->broker->counters.compiles++;
    struct proto_writer w;
    uint32_t id = pool_next_id(pool);
    proto_begin_request(&w, id, "compile");
    proto_pack_map(&w, gpu ? 3 : 2);
    if (gpu) proto_pack_bytes(&w, "gpu", gpu->description->data, gpu->description->size);
    proto_pack_key(&w, "kernel");
    msgpack_pack_object(&w.packer, *kernel);
    proto_pack_bool(&w, "keep_assembly", keep_assembly);
    return pool_add(pool, client, &key, id, &w, error);
}
