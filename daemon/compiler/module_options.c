/* What a client may say about how its module is to be read. */
#include "daemon/compiler/module_options.h"

#include <stdlib.h>
#include <string.h>

#include "ir/link/sub_group_size.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/limits.h"

static int read_sub_group_size(struct module_options *o, const struct proto_message *m, const char *object,
                               struct error *e)
{
    char *text;
    if (!proto_get(&m->params, "sub_group_size")) return 0;
    if (!proto_get_string(&m->params, "sub_group_size", &text, 64)) return job_missing(e, m, "sub_group_size");
    bool good = ir_sub_group_size_parse(text, &o->sub_group_size);
    if (!good)
        error_set(e, FUSION_INVALID, object,
                  "the default sub-group size `%s` is neither a power of two, nor automatic, nor primary", text);
    free(text);
    return good ? 0 : -1;
}

static bool read_constant(struct ir_spirv_constant *c, const msgpack_object *map)
{
    uint64_t id;
    const void *value;
    size_t size;
    if (!proto_get_uint(map, "id", &id) || id > UINT32_MAX || !proto_get_bytes(map, "value", &value, &size) || !size ||
        size > sizeof c->bits)
        return false;
    *c = (struct ir_spirv_constant){.id = (uint32_t)id, .size = (uint32_t)size};
    memcpy(&c->bits, value, size);
    return true;
}

static int read_constants(struct module_options *o, const struct proto_message *m, const char *object, struct error *e)
{
    const msgpack_object *list = proto_get(&m->params, "constants");
    if (!list) return 0;
    if (list->type != MSGPACK_OBJECT_ARRAY) return job_missing(e, m, "constants");
    uint32_t n = list->via.array.size;
    if (n > MODULE_MAX_CONSTANTS)
        return error_set(e, FUSION_INVALID, object, "values for %u specialization constants; %d is the most", n,
                         MODULE_MAX_CONSTANTS);
    struct ir_spirv_constant *constants = calloc(n + 1, sizeof *constants);
    o->spirv = (struct ir_spirv_options){constants, n};
    for (uint32_t i = 0; constants && i < n; i++)
        if (!read_constant(&constants[i], &list->via.array.ptr[i]))
            return error_set(e, FUSION_INVALID, object,
                             "value %u of the specialization constants is not one of 1 to 8 bytes", i);
    return constants ? 0 : error_set(e, FUSION_OUT_OF_MEMORY, object, "out of memory");
}

/* Of a saved executable, which of its modules. */
static int read_part(struct module_options *o, const struct proto_message *m, const char *object, struct error *e)
{
    uint64_t part;
    if (!proto_get(&m->params, "part")) return 0;
    if (!proto_get_uint(&m->params, "part", &part)) return job_missing(e, m, "part");
    if (part >= PROTO_MAX_MODULES)
        return error_set(e, FUSION_INVALID, object, "there is no part %llu of it", (unsigned long long)part);
    o->part = (uint32_t)part;
    return 0;
}

int module_options_read(struct module_options *o, const struct proto_message *m, const char *object, struct error *e)
{
    *o = (struct module_options){0};
    bool good = read_sub_group_size(o, m, object, e) == 0 && read_constants(o, m, object, e) == 0;
    return good && read_part(o, m, object, e) == 0 ? 0 : -1;
}

void module_options_clear(struct module_options *o)
{
    free((void *)o->spirv.constants);
    *o = (struct module_options){0};
}
