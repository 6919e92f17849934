/* What the device is like: the processor, as its OpenCL device describes it. */
#include <string.h>

#include "tests/level_zero/driver/calls.h"
#include "tests/level_zero/driver/limits.h"
#include "tests/level_zero/driver/objects.h"
#include "tests/level_zero/driver/state.h"

struct _ze_device_handle_t the_device = {"Processor behind Level Zero"};

uint64_t limit_memory(void)
{
    return machine_facts()->memory;
}

uint64_t limit_allocation(void)
{
    const struct machine_facts *f = machine_facts();
    return f->largest_allocation < f->memory ? f->largest_allocation : f->memory;
}

uint32_t limit_group_size(void)
{
    uint32_t largest = machine_facts()->largest_group;
    return largest < LIMIT_GROUP_SIZE ? largest : LIMIT_GROUP_SIZE;
}

uint32_t limit_local_memory(void)
{
    uint32_t bytes = machine_facts()->local_memory;
    return bytes < LIMIT_LOCAL_BYTES ? bytes : LIMIT_LOCAL_BYTES;
}

ze_result_t ZE_APICALL level_device_get(ze_driver_handle_t driver, uint32_t *count, ze_device_handle_t *devices)
{
    if (!driver) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!count) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (*count > 0 && devices) devices[0] = &the_device;
    *count = 1;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_device_get_sub_devices(ze_device_handle_t device, uint32_t *count,
                                                    ze_device_handle_t *devices)
{
    (void)devices;
    if (!device) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!count) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *count = 0;
    return ZE_RESULT_SUCCESS;
}

/* The head of a structure of properties (type and chain) is the caller's. */
#define FILL(p, ...)                                                                                                   \
    do {                                                                                                               \
        __typeof__(*(p)) filled = {.stype = (p)->stype, .pNext = (p)->pNext, __VA_ARGS__};                             \
        *(p) = filled;                                                                                                 \
    } while (0)

ze_result_t ZE_APICALL level_device_get_properties(ze_device_handle_t device, ze_device_properties_t *p)
{
    if (!device) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!p) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const struct machine_facts *f = machine_facts();
    FILL(p, .type = ZE_DEVICE_TYPE_GPU, .vendorId = 0x10006, .deviceId = 1, .flags = ZE_DEVICE_PROPERTY_FLAG_INTEGRATED,
         .coreClockRate = f->clock, .maxMemAllocSize = limit_allocation(), .maxHardwareContexts = 64,
         .maxCommandQueuePriority = 0, .numThreadsPerEU = 1, .physicalEUSimdWidth = 8,
         .numEUsPerSubslice = f->compute_units, .numSubslicesPerSlice = 1, .numSlices = 1,
         .timerResolution = p->stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2 ? 1000000000 : 1,
         .timestampValidBits = 64, .kernelTimestampValidBits = 64);
    memcpy(p->uuid.id, "fusiond device", sizeof "fusiond device");
    strcpy(p->name, device->name);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_device_get_compute_properties(ze_device_handle_t device, ze_device_compute_properties_t *p)
{
    if (!device) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!p) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    uint32_t size = limit_group_size();
    FILL(p, .maxTotalGroupSize = size, .maxGroupSizeX = size, .maxGroupSizeY = size, .maxGroupSizeZ = size,
         .maxGroupCountX = UINT32_MAX, .maxGroupCountY = UINT32_MAX, .maxGroupCountZ = UINT32_MAX,
         .maxSharedLocalMemory = limit_local_memory(), .numSubGroupSizes = 1, .subGroupSizes = {LIMIT_SUB_GROUP_SIZE});
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_device_get_module_properties(ze_device_handle_t device, ze_device_module_properties_t *p)
{
    if (!device) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!p) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const struct machine_facts *f = machine_facts();
    ze_device_fp_flags_t floats = ZE_DEVICE_FP_FLAG_DENORM | ZE_DEVICE_FP_FLAG_INF_NAN |
                                  ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST | ZE_DEVICE_FP_FLAG_FMA |
                                  ZE_DEVICE_FP_FLAG_ROUNDED_DIVIDE_SQRT;
    ze_device_module_flags_t flags = (f->fp16 ? ZE_DEVICE_MODULE_FLAG_FP16 : 0) |
                                     (f->fp64 ? ZE_DEVICE_MODULE_FLAG_FP64 : 0) |
                                     (f->int64_atomics ? ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS : 0);
    FILL(p, .spirvVersionSupported = ZE_MAKE_VERSION(1, 4), .flags = flags, .fp16flags = f->fp16 ? floats : 0,
         .fp32flags = floats, .fp64flags = f->fp64 ? floats : 0, .maxArgumentsSize = LIMIT_ARGUMENT_BYTES,
         .printfBufferSize = 1 << 20);
    return ZE_RESULT_SUCCESS;
}

/* Two groups: one does everything, the other copies. */
ze_result_t ZE_APICALL level_device_get_queue_group_properties(ze_device_handle_t device, uint32_t *count,
                                                               ze_command_queue_group_properties_t *p)
{
    static const struct {
        ze_command_queue_group_property_flags_t flags;
        uint32_t n;
    } groups[LIMIT_QUEUE_GROUPS] = {
        {ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY, LIMIT_QUEUES},
        {ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY, LIMIT_QUEUES}};
    if (!device) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!count) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    for (uint32_t i = 0; p && i < *count && i < LIMIT_QUEUE_GROUPS; i++)
        FILL(&p[i], .flags = groups[i].flags, .maxMemoryFillPatternSize = LIMIT_PATTERN_BYTES,
             .numQueues = groups[i].n);
    if (*count == 0 || *count > LIMIT_QUEUE_GROUPS) *count = LIMIT_QUEUE_GROUPS;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_device_get_memory_properties(ze_device_handle_t device, uint32_t *count,
                                                          ze_device_memory_properties_t *p)
{
    if (!device) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!count) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (*count > 0 && p) {
        FILL(p, .maxClockRate = 0, .maxBusWidth = 64, .totalSize = limit_memory());
        strcpy(p->name, "memory of the process");
    }
    *count = 1;
    return ZE_RESULT_SUCCESS;
}

/* Kernels run in a process of their own: none of the program's memory is theirs but what the driver gave it. */
ze_result_t ZE_APICALL level_device_get_memory_access_properties(ze_device_handle_t device,
                                                                 ze_device_memory_access_properties_t *p)
{
    if (!device) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!p) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    ze_memory_access_cap_flags_t all = ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC |
                                       ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT |
                                       ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC;
    FILL(p, .hostAllocCapabilities = all, .deviceAllocCapabilities = all, .sharedSingleDeviceAllocCapabilities = all,
         .sharedCrossDeviceAllocCapabilities = 0, .sharedSystemAllocCapabilities = 0);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_device_get_cache_properties(ze_device_handle_t device, uint32_t *count,
                                                         ze_device_cache_properties_t *p)
{
    if (!device) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!count) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (*count > 0 && p) FILL(p, .flags = 0, .cacheSize = machine_facts()->cache);
    *count = 1;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_device_get_image_properties(ze_device_handle_t device, ze_device_image_properties_t *p)
{
    if (!device) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!p) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    FILL(p, .maxImageDims1D = 0); /* none of anything */
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_device_get_external_memory_properties(ze_device_handle_t device,
                                                                   ze_device_external_memory_properties_t *p)
{
    if (!device) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!p) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    FILL(p, .memoryAllocationImportTypes = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD,
         .memoryAllocationExportTypes = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_device_get_p2p_properties(ze_device_handle_t device, ze_device_handle_t peer,
                                                       ze_device_p2p_properties_t *p)
{
    if (!device || !peer) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!p) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    FILL(p, .flags = ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS | ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS);
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_device_can_access_peer(ze_device_handle_t device, ze_device_handle_t peer,
                                                    ze_bool_t *value)
{
    if (!device || !peer) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!value) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *value = 1; /* it is itself */
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_device_get_status(ze_device_handle_t device)
{
    if (!device) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    return state_device_is_lost() ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL level_device_get_global_timestamps(ze_device_handle_t device, uint64_t *host,
                                                          uint64_t *at_device)
{
    if (!device) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!host || !at_device) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *host = *at_device = state_nanoseconds();
    return ZE_RESULT_SUCCESS;
}
