/* The report of a finalize. */
#include "daemon/broker/requests/report.h"

#include <string.h>

#include "proto/fields.h"

struct output {
    msgpack_sbuffer bytes;
    msgpack_packer packer;
};

static void put_key(struct output *out, const char *key)
{
    size_t size = strlen(key);
    msgpack_pack_str_with_body(&out->packer, key, size);
}

static void put_text(struct output *out, const char *key, const char *text)
{
    put_key(out, key);
    msgpack_pack_str_with_body(&out->packer, text, strlen(text));
}

static bool is_key(const msgpack_object *object, const char *key)
{
    return object->type == MSGPACK_OBJECT_STR && object->via.str.size == strlen(key) &&
           memcmp(object->via.str.ptr, key, object->via.str.size) == 0;
}

static void put_launch(struct output *out, const msgpack_object *launch, const struct launch *made)
{
    const msgpack_object_map *map = &launch->via.map;
    msgpack_pack_map(&out->packer, map->size + 3 + (made->assembly ? 1 : 0));
    for (uint32_t i = 0; i < map->size; i++) {
        msgpack_pack_object(&out->packer, map->ptr[i].key);
        msgpack_pack_object(&out->packer, map->ptr[i].val);
    }
    put_key(out, "lanes");
    msgpack_pack_uint64(&out->packer, made->code->lanes);
    put_text(out, "effort", made->code->effort);
    put_text(out, "tier", made->quick ? "quick" : "final");
    if (made->assembly) put_text(out, "assembly", made->assembly);
}

static void put_launches(struct output *out, const msgpack_object *launches, const struct finalize *f)
{
    if (launches->type != MSGPACK_OBJECT_ARRAY) {
        msgpack_pack_object(&out->packer, *launches);
        return;
    }
    msgpack_pack_array(&out->packer, launches->via.array.size);
    for (uint32_t i = 0; i < launches->via.array.size; i++) {
        const msgpack_object *launch = &launches->via.array.ptr[i];
        if (i < f->n_launches && launch->type == MSGPACK_OBJECT_MAP)
            put_launch(out, launch, &f->launches[i]);
        else
            msgpack_pack_object(&out->packer, *launch);
    }
}

static void put_report(struct output *out, const msgpack_object_map *map, const struct finalize *f)
{
    msgpack_pack_map(&out->packer, map->size);
    for (uint32_t i = 0; i < map->size; i++) {
        msgpack_pack_object(&out->packer, map->ptr[i].key);
        if (is_key(&map->ptr[i].key, "launches"))
            put_launches(out, &map->ptr[i].val, f);
        else
            msgpack_pack_object(&out->packer, map->ptr[i].val);
    }
}

struct blob *report_merge(const struct finalize *f)
{
    const void *bytes;
    size_t size;
    struct blob_value value;
    if (!proto_get_bytes(&f->plan_value.root, "report", &bytes, &size) || !blob_parse_bytes(bytes, size, &value))
        return NULL;
    struct blob *blob = NULL;
    if (value.root.type == MSGPACK_OBJECT_MAP) {
        struct output out;
        msgpack_sbuffer_init(&out.bytes);
        msgpack_packer_init(&out.packer, &out.bytes, msgpack_sbuffer_write);
        put_report(&out, &value.root.via.map, f);
        blob = blob_new(out.bytes.data, out.bytes.size);
        msgpack_sbuffer_destroy(&out.bytes);
    }
    blob_value_clear(&value);
    return blob;
}
