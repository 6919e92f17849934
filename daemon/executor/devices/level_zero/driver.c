/* Loading the driver and choosing a device. */
#include "daemon/executor/devices/level_zero/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/include/fusiond/status.h"

enum { WRITTEN_SUB_GROUP = 16 }; /* the primary size on a device that has none of its own */

struct level_zero_driver level_zero;

int level_zero_fail(struct error *e, const char *object, const char *what, ze_result_t result)
{
    fusion_status status = FUSION_INTERNAL;
    if (result == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY || result == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)
        status = FUSION_OUT_OF_MEMORY;
    if (result == ZE_RESULT_ERROR_DEVICE_LOST) status = FUSION_EXECUTOR;
    return error_set(e, status, object, "%s: %s of device level_zero (%s)", what, level_zero_result_name(result),
                     level_zero.description.name);
}

/* The first GPU of any driver. */
static int choose(struct error *e)
{
    enum { MAX = 16 };
    ze_driver_handle_t drivers[MAX];
    ze_device_handle_t devices[MAX];
    uint32_t n_drivers = MAX;
    if (ze.DriverGet(&n_drivers, drivers) != ZE_RESULT_SUCCESS) n_drivers = 0;
    for (uint32_t i = 0; i < n_drivers && i < MAX; i++) {
        uint32_t n = MAX;
        if (ze.DeviceGet(drivers[i], &n, devices) != ZE_RESULT_SUCCESS) continue;
        for (uint32_t k = 0; k < n && k < MAX; k++) {
            ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
            if (ze.DeviceGetProperties(devices[k], &p) != ZE_RESULT_SUCCESS || p.type != ZE_DEVICE_TYPE_GPU) continue;
            level_zero.driver = drivers[i];
            level_zero.device = devices[k];
            return 0;
        }
    }
    return error_set(e, FUSION_NOT_FOUND, NULL, "no Level Zero driver has a GPU");
}

/* ---- what it is ---- */

static bool has_extension(const char *name)
{
    enum { MAX = 128 };
    ze_driver_extension_properties_t list[MAX];
    uint32_t n = MAX;
    if (ze.DriverGetExtensionProperties(level_zero.driver, &n, list) != ZE_RESULT_SUCCESS) return false;
    for (uint32_t i = 0; i < n && i < MAX; i++)
        if (strcmp(list[i].name, name) == 0) return true;
    return false;
}

/* Older headers do not have it; drivers pass by what they do not know. */
static uint32_t ask_architecture(void)
{
    struct {
        uint32_t stype;
        const void *pNext;
        uint32_t version;
    } ip = {.stype = 0x1000f};
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES, .pNext = &ip};
    if (!has_extension("ZE_extension_device_ip_version")) return 0;
    return ze.DeviceGetProperties(level_zero.device, &p) == ZE_RESULT_SUCCESS ? ip.version : 0;
}

static void describe_device(struct gpu_description *d)
{
    ze_device_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_driver_properties_t driver = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
    ze_device_memory_access_properties_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES};
    ze.DeviceGetProperties(level_zero.device, &p);
    ze.DriverGetProperties(level_zero.driver, &driver);
    ze.DeviceGetMemoryAccessProperties(level_zero.device, &memory);
    snprintf(d->device, sizeof d->device, "level_zero");
    snprintf(d->name, sizeof d->name, "%.*s", ZE_MAX_DEVICE_NAME - 1, p.name);
    snprintf(d->driver, sizeof d->driver, "Level Zero %#x", driver.driverVersion);
    memcpy(d->uuid, driver.uuid.id, sizeof d->uuid);
    d->shares_memory = memory.sharedSystemAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_RW;
    d->same_addresses = d->shares_memory;
    d->max_buffer_bytes = p.maxMemAllocSize;
    d->compute_units = p.numSlices * p.numSubslicesPerSlice * p.numEUsPerSubslice;
    d->architecture = ask_architecture();
}

static void describe_groups(struct gpu_description *d)
{
    ze_device_compute_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    ze.DeviceGetComputeProperties(level_zero.device, &p);
    const uint64_t sides[] = {p.maxGroupSizeX, p.maxGroupSizeY, p.maxGroupSizeZ};
    const uint64_t groups[] = {p.maxGroupCountX, p.maxGroupCountY, p.maxGroupCountZ};
    memcpy(d->max_group_sides, sides, sizeof sides);
    memcpy(d->max_groups, groups, sizeof groups);
    d->max_work_group_size = p.maxTotalGroupSize;
    d->max_local_bytes = p.maxSharedLocalMemory;
    for (uint32_t i = 0; i < p.numSubGroupSizes; i++) {
        uint32_t size = p.subGroupSizes[i];
        if (!d->target.min_sub_group || size < d->target.min_sub_group) d->target.min_sub_group = size;
        if (size > d->target.max_sub_group) d->target.max_sub_group = size;
    }
    if (d->target.max_sub_group <= 1) d->target.min_sub_group = d->target.max_sub_group = 0; /* there are none */
    d->target.sub_group = d->target.max_sub_group ? d->target.max_sub_group : WRITTEN_SUB_GROUP;
}

/* Of these sizes, everywhere: pointers may lead to memory of any kind. */
static uint64_t atomics_of(ze_device_fp_atomic_ext_flags_t flags, uint64_t sums, uint64_t extremes)
{
    const ze_device_fp_atomic_ext_flags_t add =
        ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD | ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_ADD;
    const ze_device_fp_atomic_ext_flags_t compare =
        ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_MIN_MAX | ZE_DEVICE_FP_ATOMIC_EXT_FLAG_LOCAL_MIN_MAX;
    return ((flags & add) == add ? sums : 0) | ((flags & compare) == compare ? extremes : 0);
}

static uint64_t ask_float_atomics(void)
{
    ze_float_atomic_ext_properties_t atomics = {.stype = ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES};
    ze_device_module_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES, .pNext = &atomics};
    if (!has_extension(ZE_FLOAT_ATOMICS_EXT_NAME)) return 0;
    if (ze.DeviceGetModuleProperties(level_zero.device, &p) != ZE_RESULT_SUCCESS) return 0;
    return atomics_of(atomics.fp32Flags, SPIRV_ATOMIC_FADD32, SPIRV_ATOMIC_FMINMAX32) |
           atomics_of(atomics.fp64Flags, SPIRV_ATOMIC_FADD64, SPIRV_ATOMIC_FMINMAX64);
}

static void describe_kernels(struct gpu_description *d)
{
    ze_device_module_properties_t p = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    ze.DeviceGetModuleProperties(level_zero.device, &p);
    uint64_t features = SPIRV_LAUNCH_BLOCK | SPIRV_SPECIALIZES | SPIRV_INT8 | SPIRV_INT16 | SPIRV_INT64 |
                        SPIRV_STORAGE8 | SPIRV_STORAGE16 | ask_float_atomics();
    if (d->target.max_sub_group) features |= SPIRV_GROUPS; /* nobody has one without the other */
    if (p.flags & ZE_DEVICE_MODULE_FLAG_FP16) features |= SPIRV_FLOAT16;
    if (p.flags & ZE_DEVICE_MODULE_FLAG_FP64) features |= SPIRV_FLOAT64;
    if (p.flags & ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS) features |= SPIRV_ATOMIC64_GLOBAL | SPIRV_ATOMIC64_LOCAL;
    if (p.fp32flags & ZE_DEVICE_FP_FLAG_FMA) features |= SPIRV_FMA32;
    if (p.fp32flags & ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT) features |= SPIRV_EXACT_DIVISION32 | SPIRV_EXACT_SQRT32;
    if (p.fp64flags & ZE_DEVICE_FP_FLAG_FMA) features |= SPIRV_FMA64;
    if (p.fp64flags & ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT) features |= SPIRV_EXACT_DIVISION64 | SPIRV_EXACT_SQRT64;
    if (p.fp32flags & ZE_DEVICE_FP_FLAG_DENORM) features |= SPIRV_KEEPS_DENORMALS32;
    d->flushes_denormals32 = !(p.fp32flags & ZE_DEVICE_FP_FLAG_DENORM);
    d->flushes_denormals64 = p.fp64flags && !(p.fp64flags & ZE_DEVICE_FP_FLAG_DENORM);
    d->target.dialect = SPIRV_KERNEL;
    d->target.version = 0x00010200; /* what all compilers of drivers read */
    d->target.features = features;
}

/* ---- what it works with ---- */

enum { MOST_GROUPS = 16 };

/* The first group that computes, and the first that can copy and no more; without one its queues are the first's. */
static ze_result_t find_queue_groups(void)
{
    ze_command_queue_group_properties_t groups[MOST_GROUPS];
    uint32_t n = MOST_GROUPS, computes = MOST_GROUPS, copies = MOST_GROUPS;
    for (uint32_t i = 0; i < MOST_GROUPS; i++)
        groups[i] = (ze_command_queue_group_properties_t){.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES};
    ze_result_t result = ze.DeviceGetCommandQueueGroupProperties(level_zero.device, &n, groups);
    if (result != ZE_RESULT_SUCCESS) return result;
    for (uint32_t i = n < MOST_GROUPS ? n : MOST_GROUPS; i-- > 0;) {
        if (groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE)
            computes = i;
        else if (groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY)
            copies = i;
    }
    if (computes == MOST_GROUPS) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    level_zero.ordinal = computes;
    level_zero.copy_ordinal = copies == MOST_GROUPS ? computes : copies;
    level_zero.n_queues = groups[computes].numQueues < GPU_MOST_QUEUES ? groups[computes].numQueues : GPU_MOST_QUEUES;
    level_zero.max_pattern_bytes = groups[level_zero.copy_ordinal].maxMemoryFillPatternSize;
    return result;
}

static ze_result_t make_queue(uint32_t ordinal, uint32_t index, ze_command_queue_handle_t *queue)
{
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .ordinal = ordinal,
                                          .index = index,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    return ze.CommandQueueCreate(level_zero.context, level_zero.device, &desc, queue);
}

static int make_common(struct error *e)
{
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_result_t result = find_queue_groups();
    if (result == ZE_RESULT_SUCCESS) result = ze.ContextCreate(level_zero.driver, &context, &level_zero.context);
    for (uint32_t i = 0; i < level_zero.n_queues && result == ZE_RESULT_SUCCESS; i++)
        result = make_queue(level_zero.ordinal, i, &level_zero.queues[i]);
    level_zero.copies = level_zero.queues[0];
    if (level_zero.copy_ordinal != level_zero.ordinal && result == ZE_RESULT_SUCCESS)
        result = make_queue(level_zero.copy_ordinal, 0, &level_zero.copies);
    return result == ZE_RESULT_SUCCESS ? 0 : level_zero_fail(e, NULL, "it cannot be used", result);
}

int level_zero_open(struct error *e)
{
#if defined(__SANITIZE_ADDRESS__)
    return error_set(e, FUSION_NOT_FOUND, NULL, "drivers are not loaded into instrumented processes");
#endif
    setenv("NEO_CACHE_PERSISTENT", "0", 1); /* no file can be written; and who did would give code to others */
    if (!level_zero_load()) return error_set(e, FUSION_NOT_FOUND, NULL, "there is no libze_loader.so.1");
    ze_result_t result = ze.Init(ZE_INIT_FLAG_GPU_ONLY);
    if (result != ZE_RESULT_SUCCESS)
        return error_set(e, FUSION_NOT_FOUND, NULL, "no Level Zero driver: %s", level_zero_result_name(result));
    if (choose(e) != 0) return -1;
    describe_device(&level_zero.description);
    describe_groups(&level_zero.description);
    describe_kernels(&level_zero.description);
    return make_common(e);
}
