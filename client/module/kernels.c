/* Kernels as a reply describes them. */
#include "client/module/kernels.h"

#include <string.h>

#include "client/base/reply.h"
#include "proto/fields.h"

/* Names as one text. */
static const char *join_names(struct client_pool *pool, msgpack_object_array names, const char *between)
{
    size_t size = 0, used = 0, gap = strlen(between);
    for (uint32_t i = 0; i < names.size; i++)
        if (names.ptr[i].type == MSGPACK_OBJECT_STR) size += names.ptr[i].via.str.size + gap;
    char *text = client_pool_array(pool, size + 1, 1);
    for (uint32_t i = 0; text && i < names.size; i++) {
        if (names.ptr[i].type != MSGPACK_OBJECT_STR) continue;
        memcpy(text + used, between, used ? gap : 0);
        used += used ? gap : 0;
        memcpy(text + used, names.ptr[i].via.str.ptr, names.ptr[i].via.str.size);
        used += names.ptr[i].via.str.size;
    }
    return text ? text : "";
}

static void read_device(fusion_module *m, uint32_t kernel, struct kernel_device *d, const msgpack_object *map)
{
    fusion_kernel_device_info *info = &d->info;
    d->name = client_reply_text(&m->pool, map, "device");
    proto_get_uint(map, "max_work_group_size", &info->max_work_group_size);
    proto_get_uint(map, "local_memory_bytes", &info->local_memory_bytes);
    proto_get_uint(map, "private_memory_bytes", &info->private_memory_bytes);
    memcpy(info->compile_work_group_size, m->kernels[kernel].work_group_size, sizeof info->compile_work_group_size);
    info->preferred_work_group_size_multiple = client_reply_u32(map, "preferred_work_group_size_multiple");
    info->max_num_sub_groups = client_reply_u32(map, "max_num_sub_groups");
    info->compile_num_sub_groups = client_reply_u32(map, "compile_num_sub_groups");
    info->compile_sub_group_size = client_reply_u32(map, "compile_sub_group_size");
    d->max_sub_group_size = client_reply_u32(map, "max_sub_group_size");
}

/* The key `devices` of a kernel's description. */
static void read_devices(fusion_module *m, uint32_t kernel, const msgpack_object *map)
{
    struct kernel_devices *known = &m->devices[kernel];
    msgpack_object_array list = client_reply_list(map, "devices");
    known->devices = client_pool_array(&m->pool, list.size, sizeof *known->devices);
    if (!known->devices) return;
    for (known->n = 0; known->n < list.size; known->n++)
        read_device(m, kernel, &known->devices[known->n], &list.ptr[known->n]);
}

static void read_args(fusion_module *m, fusion_kernel_info *k, msgpack_object_array args)
{
    fusion_kernel_arg *list = client_pool_array(&m->pool, args.size, sizeof *list);
    if (!list) return;
    for (uint32_t i = 0; i < args.size; i++) {
        list[i].name = client_reply_text(&m->pool, &args.ptr[i], "name");
        list[i].type = client_reply_text(&m->pool, &args.ptr[i], "type");
        list[i].access = client_reply_text(&m->pool, &args.ptr[i], "access");
        proto_get_uint(&args.ptr[i], "size", &list[i].size);
    }
    k->n_args = args.size;
    k->args = list;
}

static void read_kernel(fusion_module *m, uint32_t index, const msgpack_object *map)
{
    fusion_kernel_info *k = &m->kernels[index];
    k->name = client_reply_text(&m->pool, map, "name");
    k->aspects = join_names(&m->pool, client_reply_list(map, "aspects"), " ");
    k->targets = join_names(&m->pool, client_reply_list(map, "targets"), " ");
    k->image = client_reply_u32(map, "image");
    k->sub_group_size = client_reply_text(&m->pool, map, "sub_group_size");
    msgpack_object_array size = client_reply_list(map, "work_group_size");
    for (uint32_t i = 0; i < size.size && i < 3; i++) k->work_group_size[i] = (uint32_t)size.ptr[i].via.u64;
    read_args(m, k, client_reply_list(map, "args"));
    read_devices(m, index, map);
}

static void read_warnings(fusion_module *m, const msgpack_object *reply)
{
    msgpack_object_array list = client_reply_list(reply, "warnings");
    m->warnings = client_pool_array(&m->pool, list.size, sizeof *m->warnings);
    for (uint32_t i = 0; m->warnings && i < list.size; i++) {
        const char *text = client_reply_string(&m->pool, &list.ptr[i]);
        if (text) m->warnings[m->n_warnings++] = text;
    }
}

static void read_pipe(fusion_module *m, struct module_pipe *p, const msgpack_object *map)
{
    p->info.name = client_reply_text(&m->pool, map, "name");
    p->info.id = client_reply_text(&m->pool, map, "id");
    p->info.type = client_reply_text(&m->pool, map, "type");
    proto_get_uint(map, "packet", &p->info.packet_bytes);
    p->info.capacity = client_reply_u32(map, "capacity");
    proto_get_bool(map, "read", &p->info.kernels_read);
    proto_get_bool(map, "written", &p->info.kernels_write);
    p->info.properties = join_names(&m->pool, client_reply_list(map, "properties"), ", ");
    p->variable = client_reply_u32(map, "variable");
}

void client_module_add_warning(fusion_module *m, const char *text)
{
    const char **all = client_pool_array(&m->pool, m->n_warnings + 1, sizeof *all);
    if (!all) return;
    all[0] = client_pool_text(&m->pool, text, strlen(text));
    for (uint32_t i = 0; i < m->n_warnings; i++) all[i + 1] = m->warnings[i];
    m->warnings = all;
    m->n_warnings++;
}

/* What cannot be counted is none for us. */
static bool is_possible(const struct module_pipe *p)
{
    return p->info.capacity && p->info.packet_bytes && p->info.packet_bytes <= UINT32_MAX;
}

static void read_pipes(fusion_module *m, const msgpack_object *reply)
{
    msgpack_object_array list = client_reply_list(reply, "pipes");
    m->pipes = client_pool_array(&m->pool, list.size, sizeof *m->pipes);
    for (uint32_t i = 0; m->pipes && i < list.size; i++) {
        read_pipe(m, &m->pipes[m->n_pipes], &list.ptr[i]);
        m->n_pipes += is_possible(&m->pipes[m->n_pipes]);
    }
}

void client_module_read_kernels(fusion_module *m, const msgpack_object *reply)
{
    read_pipes(m, reply);
    read_warnings(m, reply);
    msgpack_object_array kernels = client_reply_list(reply, "kernels");
    m->kernels = client_pool_array(&m->pool, kernels.size, sizeof *m->kernels);
    m->devices = client_pool_array(&m->pool, kernels.size, sizeof *m->devices);
    if (!m->kernels || !m->devices) return;
    m->n_kernels = kernels.size;
    for (uint32_t i = 0; i < kernels.size; i++) read_kernel(m, i, &kernels.ptr[i]);
}
