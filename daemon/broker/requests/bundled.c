/* Code of bundles. */
#include "daemon/broker/requests/bundled.h"

#include <string.h>

#include "daemon/broker/requests/module_job.h"
#include "proto/fields.h"

enum { MAX_EFFORT_NAME = 64 };

static struct hash content_key(const void *bytes, size_t size)
{
    struct hasher h;
    hasher_begin(&h, "object of a bundle");
    hasher_add(&h, bytes, size);
    return hasher_end(&h);
}

/* The launch is the very kernel that it was made of. */
static bool is_of(const msgpack_object *code, const msgpack_object *kernel)
{
    const void *bytes;
    size_t size;
    return code->type == MSGPACK_OBJECT_MAP && proto_get_bytes(code, "launch", &bytes, &size) &&
           size == kernel->via.bin.size && memcmp(bytes, kernel->via.bin.ptr, size) == 0;
}

static bool find_in(const struct module *m, const msgpack_object *kernel, struct bundled *found)
{
    for (uint32_t i = 0; m->objects && i < m->objects->size; i++) {
        const msgpack_object *code = &m->objects->ptr[i];
        if (!is_of(code, kernel) || !proto_get_bytes(code, "object", &found->bytes, &found->size) ||
            !proto_get_uint(code, "lanes", &found->lanes) ||
            !proto_get_string(code, "effort", &found->effort, MAX_EFFORT_NAME))
            continue;
        found->key = content_key(found->bytes, found->size);
        return true;
    }
    return false;
}

bool bundled_find(const struct launch *launch, struct bundled *found)
{
    const struct finalize *f = launch->owner;
    struct blob_value ids;
    bool good = false;
    *found = (struct bundled){0};
    if (f->gpu || f->keep_assembly || !blob_parse(f->modules, &ids)) return false;
    const msgpack_object_array *list = &ids.root.via.array;
    for (uint32_t i = 0; ids.root.type == MSGPACK_OBJECT_ARRAY && i < list->size && !good; i++) {
        const struct module *m = map_get(&f->operation.session->modules, list->ptr[i].via.u64);
        good = m && find_in(m, &f->kernels->ptr[launch->index], found);
    }
    blob_value_clear(&ids);
    return good;
}
