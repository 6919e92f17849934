/* Queries of a kernel on a device. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/internal.h"

static uint32_t get_u32(const msgpack_object *map, const char *key)
{
    uint64_t value = 0;
    proto_get_uint(map, key, &value);
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static void read_device(fusion_module *m, uint32_t kernel, struct kernel_device *d, const msgpack_object *map)
{
    fusion_kernel_device_info *info = &d->info;
    d->name = client_pool_get(&m->pool, map, "device");
    proto_get_uint(map, "max_work_group_size", &info->max_work_group_size);
    proto_get_uint(map, "local_memory_bytes", &info->local_memory_bytes);
    proto_get_uint(map, "private_memory_bytes", &info->private_memory_bytes);
    memcpy(info->compile_work_group_size, m->kernels[kernel].work_group_size, sizeof info->compile_work_group_size);
    info->preferred_work_group_size_multiple = get_u32(map, "preferred_work_group_size_multiple");
    info->max_num_sub_groups = get_u32(map, "max_num_sub_groups");
    info->compile_num_sub_groups = get_u32(map, "compile_num_sub_groups");
    info->compile_sub_group_size = get_u32(map, "compile_sub_group_size");
    d->max_sub_group_size = get_u32(map, "max_sub_group_size");
}

void client_read_kernel_devices(fusion_module *m, uint32_t kernel, const msgpack_object *map)
{
    struct kernel_devices *known = &m->devices[kernel];
    const msgpack_object *list = proto_get(map, "devices");
    if (!list || list->type != MSGPACK_OBJECT_ARRAY || !list->via.array.size) return;
    size_t bytes = list->via.array.size * sizeof *known->devices;
    known->devices = memset(obstack_alloc(&m->pool, (int)bytes), 0, bytes);
    for (known->n = 0; known->n < list->via.array.size; known->n++)
        read_device(m, kernel, &known->devices[known->n], &list->via.array.ptr[known->n]);
}

static fusion_status find_device(const fusion_module *m, uint32_t kernel, const char *name,
                                 const struct kernel_device **device)
{
    const struct kernel_devices *known = &m->devices[kernel];
    for (uint32_t i = 0; i < known->n; i++) {
        const struct kernel_device *d = &known->devices[i];
        if (strcmp(d->name, name) != 0) continue;
        *device = d;
        if (d->max_sub_group_size) return FUSION_SUCCESS;
        return client_error(FUSION_FEATURE_NOT_SUPPORTED, m->kernels[kernel].name,
                            "it requires sub-groups of %" PRIu32 ", which device %s lacks",
                            d->info.compile_sub_group_size, name);
    }
    return client_error(FUSION_NOT_FOUND, name, "there is no such device");
}

static fusion_status find(const fusion_module *m, const char *kernel, const char *device, uint32_t *index,
                          const struct kernel_device **found)
{
    for (*index = 0; *index < m->n_kernels; ++*index)
        if (strcmp(m->kernels[*index].name, kernel) == 0) return find_device(m, *index, device ? device : "cpu", found);
    return client_error(FUSION_NOT_FOUND, kernel, "module %s has no such kernel", m->name);
}

fusion_status fusion_kernel_device_get(const fusion_module *m, const char *kernel, const char *device,
                                       fusion_kernel_device_info *info)
{
    uint32_t index;
    const struct kernel_device *found;
    fusion_status status = find(m, kernel, device, &index, &found);
    if (status == FUSION_SUCCESS) *info = found->info;
    return status;
}

static fusion_status check_work_group(const fusion_kernel_info *k, const fusion_kernel_device_info *info, uint32_t dims,
                                      const uint64_t *size)
{
    uint64_t items = 1;
    if (dims < 1 || dims > 3) return client_error(FUSION_INVALID, k->name, "1 to 3 dimensions, not %" PRIu32, dims);
    for (uint32_t d = 0; d < 3; d++) {
        uint64_t given = d < dims ? size[d] : 1;
        if (k->work_group_size[0] && given != k->work_group_size[d])
            return client_error(FUSION_INVALID, k->name,
                                "a work-group of %" PRIu64 " in dimension %" PRIu32 ", but it requires %" PRIu32, given,
                                d, k->work_group_size[d]);
        if (given == 0)
            return client_error(FUSION_INVALID, k->name, "a work-group of 0 work-items in dimension %" PRIu32, d);
        if (__builtin_mul_overflow(items, given, &items)) items = UINT64_MAX;
    }
    if (items <= info->max_work_group_size) return FUSION_SUCCESS;
    return client_error(FUSION_INVALID, k->name, "a work-group of %" PRIu64 " work-items; the largest has %" PRIu64,
                        items, info->max_work_group_size);
}

fusion_status fusion_kernel_max_sub_group_size(const fusion_module *m, const char *kernel, const char *device,
                                               uint32_t dims, const uint64_t *work_group_size, uint32_t *size)
{
    uint32_t index;
    const struct kernel_device *found;
    fusion_status status = find(m, kernel, device, &index, &found);
    if (status == FUSION_SUCCESS) status = check_work_group(&m->kernels[index], &found->info, dims, work_group_size);
    if (status == FUSION_SUCCESS) *size = found->max_sub_group_size;
    return status;
}
