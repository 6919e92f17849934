/* Queries of a kernel on a device. */
#include <inttypes.h>
#include <string.h>

#include "client/base/error.h"
#include "client/base/sized.h"
#include "client/module/state.h"

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

static fusion_status find_kernel(const fusion_module *m, const char *kernel, const char *device, uint32_t *index,
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
    const struct kernel_device *found = NULL;
    fusion_status status = find_kernel(m, kernel, device, &index, &found);
    if (status != FUSION_SUCCESS) return status;
    return CLIENT_GIVE(fusion_kernel_device_info, compile_sub_group_size, &found->info, info, "kernel device info");
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
    const struct kernel_device *found = NULL;
    fusion_status status = find_kernel(m, kernel, device, &index, &found);
    if (status == FUSION_SUCCESS) status = check_work_group(&m->kernels[index], &found->info, dims, work_group_size);
    if (status == FUSION_SUCCESS) *size = found->max_sub_group_size;
    return status;
}
