/* Job save: an executable becomes a file. What is in it is the client's own, and is not looked at before it is loaded.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/compiler/devices.h"
#include "daemon/compiler/job.h"
#include "fuser/ahead/save.h"
#include "ir/base/arena.h"
#include "proto/fields.h"

static bool get(const msgpack_object *map, const char *key, struct ahead_bytes *b)
{
    return proto_get_bytes(map, key, &b->bytes, &b->size);
}

static const msgpack_object_array *get_list(const struct proto_message *m, const char *key)
{
    const msgpack_object *o = proto_get(&m->params, key);
    return o && o->type == MSGPACK_OBJECT_ARRAY ? &o->via.array : NULL;
}

static bool read_modules(struct ahead_saved *x, const struct proto_message *m, struct arena *arena)
{
    const msgpack_object_array *list = get_list(m, "modules");
    if (!list) return false;
    struct ahead_bytes *modules = arena_alloc(arena, list->size * sizeof *modules);
    for (x->n_modules = 0; x->n_modules < list->size; x->n_modules++) {
        const msgpack_object *o = &list->ptr[x->n_modules];
        if (o->type != MSGPACK_OBJECT_BIN) return false;
        modules[x->n_modules] = (struct ahead_bytes){o->via.bin.ptr, o->via.bin.size};
    }
    x->modules = modules;
    return true;
}

static bool read_code(struct ahead_saved *x, const struct proto_message *m, struct arena *arena)
{
    const msgpack_object_array *list = get_list(m, "launches");
    if (!list) return false;
    struct ahead_code *code = arena_alloc(arena, list->size * sizeof *code);
    for (x->n_code = 0; x->n_code < list->size; x->n_code++) {
        struct ahead_code *c = &code[x->n_code];
        const msgpack_object *map = &list->ptr[x->n_code], *effort = proto_get(map, "effort");
        *c = (struct ahead_code){.target = x->target};
        if (!proto_get_bytes(map, "launch", &c->launch, &c->launch_size) ||
            !proto_get_bytes(map, "object", &c->object, &c->object_size) || !proto_get_uint(map, "lanes", &c->lanes) ||
            !effort || effort->type != MSGPACK_OBJECT_STR)
            return false;
        c->effort = arena_strndup(arena, effort->via.str.ptr, effort->via.str.size);
    }
    x->code = code;
    return true;
}

int job_save(const struct proto_message *m, struct proto_writer *reply, struct error *e)
{
    const struct fuser_device *cpu = &devices_get(0)->properties;
    struct ahead_saved x = {.target = cpu->targets[cpu->n_targets - 1]};
    struct arena *arena = arena_new();
    const char *missing = NULL;
    if (!get(&m->params, "graph", &x.graph)) missing = "graph";
    if (!get(&m->params, "options", &x.options)) missing = "options";
    if (!read_modules(&x, m, arena)) missing = "modules";
    if (!read_code(&x, m, arena)) missing = "launches";
    if (!missing) {
        size_t size;
        uint8_t *bytes = ahead_save(&x, &size);
        proto_begin_reply(reply, m->id);
        proto_pack_map(reply, 1);
        proto_pack_bytes(reply, "file", bytes, size);
        free(bytes);
    }
    arena_free(arena);
    return missing ? job_missing(e, m, missing) : 0;
}
