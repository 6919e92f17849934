/* Code of bundles. */
#include "daemon/broker/requests/bundled.h"

#include <stdlib.h>
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

/* Calls `see` for each of the graph's modules that is still there, until it returns true. */
static bool each_module(const struct finalize *f, bool (*see)(const struct module *m, void *data), void *data)
{
    struct blob_value ids;
    bool done = false;
    if (!blob_parse(f->modules, &ids)) return false;
    const msgpack_object_array *list = &ids.root.via.array;
    for (uint32_t i = 0; ids.root.type == MSGPACK_OBJECT_ARRAY && i < list->size && !done; i++) {
        const struct module *m = map_get(&f->operation.session->modules, list->ptr[i].via.u64);
        done = m && see(m, data);
    }
    blob_value_clear(&ids);
    return done;
}

/* ---- the processor ---- */

struct search {
    const msgpack_object *kernel;
    struct bundled *found;
};

static bool see_objects(const struct module *m, void *data)
{
    struct search *s = data;
    return find_in(m, s->kernel, s->found);
}

bool bundled_find(const struct launch *launch, struct bundled *found)
{
    const struct finalize *f = launch->owner;
    struct search s = {&f->kernels->ptr[launch->index], found};
    *found = (struct bundled){0};
    return !f->gpu && !f->keep_assembly && each_module(f, see_objects, &s);
}

/* ---- GPUs ---- */

struct binaries {
    const msgpack_object *kernel;
    bool (*take)(void *data, const void *bytes, size_t size);
    void *data;
};

static bool see_binaries(const struct module *m, void *data)
{
    const struct binaries *b = data;
    for (uint32_t i = 0; m->binaries && i < m->binaries->size; i++) {
        const msgpack_object *code = &m->binaries->ptr[i];
        const void *bytes;
        size_t size;
        if (is_of(code, b->kernel) && proto_get_bytes(code, "object", &bytes, &size) && size &&
            !b->take(b->data, bytes, size))
            return true;
    }
    return false;
}

void bundled_binaries(const struct launch *launch, bool (*take)(void *data, const void *bytes, size_t size), void *data)
{
    const struct finalize *f = launch->owner;
    struct binaries b = {&f->kernels->ptr[launch->index], take, data};
    each_module(f, see_binaries, &b);
}
