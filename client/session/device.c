/* Device queries. */
#include <stdio.h>
#include <string.h>

#include "client/base/error.h"
#include "client/base/reply.h"
#include "client/base/sized.h"
#include "client/session/request.h"
#include "proto/fields.h"
#include "proto/frame.h"

static void copy_text(char *to, size_t size, const msgpack_object *map, const char *key)
{
    const msgpack_object *o = proto_get(map, key);
    int length = o && o->type == MSGPACK_OBJECT_STR ? (int)o->via.str.size : 0;
    snprintf(to, size, "%.*s", length, length ? o->via.str.ptr : "");
}

/* A list of names as one text, separated by single spaces. */
static void join_names(char *to, size_t size, const msgpack_object *list)
{
    size_t used = 0;
    to[0] = 0;
    if (!list || list->type != MSGPACK_OBJECT_ARRAY) return;
    for (uint32_t i = 0; i < list->via.array.size && used < size; i++) {
        const msgpack_object *o = &list->via.array.ptr[i];
        if (o->type != MSGPACK_OBJECT_STR) continue;
        used +=
            (size_t)snprintf(to + used, size - used, "%s%.*s", used ? " " : "", (int)o->via.str.size, o->via.str.ptr);
    }
}

static void read_device(fusion_device_info *info, const msgpack_object *map)
{
    memset(info, 0, sizeof *info);
    copy_text(info->name, sizeof info->name, map, "name");
    copy_text(info->description, sizeof info->description, map, "description");
    copy_text(info->target, sizeof info->target, map, "target");
    join_names(info->aspects, sizeof info->aspects, proto_get(map, "aspects"));
    join_names(info->extensions, sizeof info->extensions, proto_get(map, "extensions"));
    proto_get_uint(map, "max_work_group_size", &info->max_work_group_size);
    proto_get_uint(map, "local_memory_bytes", &info->local_memory_bytes);
    info->compute_units = client_reply_u32(map, "compute_units");
    info->max_num_sub_groups = client_reply_u32(map, "max_num_sub_groups");
    info->primary_sub_group_size = client_reply_u32(map, "primary_sub_group_size");
    info->image_max_width = client_reply_u32(map, "image_max_width");
    info->image_max_height = client_reply_u32(map, "image_max_height");
    info->image_max_slices = client_reply_u32(map, "image_max_slices");
    info->image_max_buffer_size = client_reply_u32(map, "image_max_buffer_size");
    proto_get_bool(map, "sub_group_independent_forward_progress", &info->sub_group_independent_forward_progress);
    const msgpack_object *sizes = proto_get(map, "sub_group_sizes");
    if (!sizes || sizes->type != MSGPACK_OBJECT_ARRAY) return;
    for (uint32_t i = 0; i < sizes->via.array.size && info->n_sub_group_sizes < 8; i++)
        info->sub_group_sizes[info->n_sub_group_sizes++] = (uint32_t)sizes->via.array.ptr[i].via.u64;
}

/* Those that are there, or, under another key, those that are not. */
static fusion_status get_list(fusion_session *s, const char *key, struct proto_message *reply,
                              const msgpack_object **list)
{
    fusion_status status = client_request(s, "device.list", NULL, NULL, NULL, 0, reply);
    if (status != FUSION_SUCCESS) return status;
    *list = proto_get(&reply->params, key);
    if (*list && (*list)->type == MSGPACK_OBJECT_ARRAY) return FUSION_SUCCESS;
    proto_message_clear(reply);
    return client_error(FUSION_PROTOCOL, "device.list", "the reply has no list of devices");
}

fusion_status fusion_device_count(fusion_session *s, uint32_t *count)
{
    struct proto_message reply;
    const msgpack_object *list;
    fusion_status status = get_list(s, "devices", &reply, &list);
    if (status != FUSION_SUCCESS) return status;
    *count = list->via.array.size;
    proto_message_clear(&reply);
    return FUSION_SUCCESS;
}

fusion_status fusion_device_get(fusion_session *s, uint32_t index, fusion_device_info *info)
{
    struct proto_message reply;
    const msgpack_object *list;
    fusion_status status = get_list(s, "devices", &reply, &list);
    if (status != FUSION_SUCCESS) return status;
    if (index < list->via.array.size) {
        fusion_device_info own = {FUSION_SIZED(fusion_device_info)};
        read_device(&own, &list->via.array.ptr[index]);
        status = CLIENT_GIVE(fusion_device_info, extensions, &own, info, "device info");
    } else {
        status =
            client_error(FUSION_NOT_FOUND, "device", "there is no device %u, only %u", index, list->via.array.size);
    }
    proto_message_clear(&reply);
    return status;
}

fusion_status fusion_device_absent(fusion_session *s, uint32_t index, char name[64], char reason[256])
{
    struct proto_message reply;
    const msgpack_object *list;
    fusion_status status = get_list(s, "absent", &reply, &list);
    if (status != FUSION_SUCCESS) return status;
    if (index < list->via.array.size) {
        copy_text(name, 64, &list->via.array.ptr[index], "name");
        copy_text(reason, 256, &list->via.array.ptr[index], "reason");
    } else {
        status = client_error(FUSION_NOT_FOUND, "device", "only %u devices are absent", list->via.array.size);
    }
    proto_message_clear(&reply);
    return status;
}
