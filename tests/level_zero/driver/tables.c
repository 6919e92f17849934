/* What the loader asks a driver for first: its tables of functions, filled in with what the driver can do. */
#include <level_zero/ze_ddi.h>

#include "tests/level_zero/driver/calls.h"
#include "tests/level_zero/driver/table.h"

TABLE(zeGetGlobalProcAddrTable, ze_global_dditable_t)
{
    t->pfnInit = level_init;
#ifdef HAVE_INIT_DRIVERS
    t->pfnInitDrivers = level_init_drivers;
#endif
}

TABLE(zeGetDriverProcAddrTable, ze_driver_dditable_t)
{
    t->pfnGet = level_driver_get;
    t->pfnGetApiVersion = level_driver_get_api_version;
    t->pfnGetProperties = level_driver_get_properties;
    t->pfnGetIpcProperties = level_driver_get_ipc_properties;
    t->pfnGetExtensionProperties = level_driver_get_extension_properties;
    t->pfnGetExtensionFunctionAddress = level_driver_get_extension_function;
}

TABLE(zeGetDeviceProcAddrTable, ze_device_dditable_t)
{
    t->pfnGet = level_device_get;
    t->pfnGetSubDevices = level_device_get_sub_devices;
    t->pfnGetProperties = level_device_get_properties;
    t->pfnGetComputeProperties = level_device_get_compute_properties;
    t->pfnGetModuleProperties = level_device_get_module_properties;
    t->pfnGetCommandQueueGroupProperties = level_device_get_queue_group_properties;
    t->pfnGetMemoryProperties = level_device_get_memory_properties;
    t->pfnGetMemoryAccessProperties = level_device_get_memory_access_properties;
    t->pfnGetCacheProperties = level_device_get_cache_properties;
    t->pfnGetImageProperties = level_device_get_image_properties;
    t->pfnGetExternalMemoryProperties = level_device_get_external_memory_properties;
    t->pfnGetP2PProperties = level_device_get_p2p_properties;
    t->pfnCanAccessPeer = level_device_can_access_peer;
    t->pfnGetStatus = level_device_get_status;
    t->pfnGetGlobalTimestamps = level_device_get_global_timestamps;
}

TABLE(zeGetContextProcAddrTable, ze_context_dditable_t)
{
    t->pfnCreate = level_context_create;
    t->pfnCreateEx = level_context_create_ex;
    t->pfnDestroy = level_context_destroy;
    t->pfnGetStatus = level_context_get_status;
    t->pfnSystemBarrier = level_context_system_barrier;
    t->pfnMakeMemoryResident = level_context_make_memory_resident;
    t->pfnEvictMemory = level_context_evict_memory;
}

TABLE(zeGetMemProcAddrTable, ze_mem_dditable_t)
{
    t->pfnAllocShared = level_mem_alloc_shared;
    t->pfnAllocDevice = level_mem_alloc_device;
    t->pfnAllocHost = level_mem_alloc_host;
    t->pfnFree = level_mem_free;
    t->pfnGetAllocProperties = level_mem_get_alloc_properties;
    t->pfnGetAddressRange = level_mem_get_address_range;
}

TABLE(zeGetModuleProcAddrTable, ze_module_dditable_t)
{
    t->pfnCreate = level_module_create;
    t->pfnDestroy = level_module_destroy;
    t->pfnDynamicLink = level_module_dynamic_link;
    t->pfnGetNativeBinary = level_module_get_native_binary;
    t->pfnGetKernelNames = level_module_get_kernel_names;
    t->pfnGetProperties = level_module_get_properties;
}

TABLE(zeGetModuleBuildLogProcAddrTable, ze_module_build_log_dditable_t)
{
    t->pfnDestroy = level_build_log_destroy;
    t->pfnGetString = level_build_log_get_string;
}

TABLE(zeGetKernelProcAddrTable, ze_kernel_dditable_t)
{
    t->pfnCreate = level_kernel_create;
    t->pfnDestroy = level_kernel_destroy;
    t->pfnSetCacheConfig = level_kernel_set_cache_config;
    t->pfnSetGroupSize = level_kernel_set_group_size;
    t->pfnSuggestGroupSize = level_kernel_suggest_group_size;
    t->pfnSuggestMaxCooperativeGroupCount = level_kernel_suggest_max_cooperative_group_count;
    t->pfnSetArgumentValue = level_kernel_set_argument_value;
    t->pfnSetIndirectAccess = level_kernel_set_indirect_access;
    t->pfnGetIndirectAccess = level_kernel_get_indirect_access;
    t->pfnGetSourceAttributes = level_kernel_get_source_attributes;
    t->pfnGetProperties = level_kernel_get_properties;
    t->pfnGetName = level_kernel_get_name;
}

TABLE(zeGetKernelExpProcAddrTable, ze_kernel_exp_dditable_t)
{
    t->pfnSetGlobalOffsetExp = level_kernel_set_global_offset;
}

TABLE(zeGetCommandQueueProcAddrTable, ze_command_queue_dditable_t)
{
    t->pfnCreate = level_queue_create;
    t->pfnDestroy = level_queue_destroy;
    t->pfnExecuteCommandLists = level_queue_execute;
    t->pfnSynchronize = level_queue_synchronize;
}

TABLE(zeGetCommandListProcAddrTable, ze_command_list_dditable_t)
{
    t->pfnCreate = level_list_create;
    t->pfnCreateImmediate = level_list_create_immediate;
    t->pfnDestroy = level_list_destroy;
    t->pfnClose = level_list_close;
    t->pfnReset = level_list_reset;
    t->pfnAppendWriteGlobalTimestamp = level_append_write_global_timestamp;
    t->pfnAppendBarrier = level_append_barrier;
    t->pfnAppendMemoryRangesBarrier = level_append_memory_ranges_barrier;
    t->pfnAppendMemoryCopy = level_append_memory_copy;
    t->pfnAppendMemoryFill = level_append_memory_fill;
    t->pfnAppendMemoryCopyRegion = level_append_memory_copy_region;
    t->pfnAppendMemoryCopyFromContext = level_append_memory_copy_from_context;
    t->pfnAppendMemoryPrefetch = level_append_memory_prefetch;
    t->pfnAppendMemAdvise = level_append_mem_advise;
    t->pfnAppendSignalEvent = level_append_signal_event;
    t->pfnAppendWaitOnEvents = level_append_wait_on_events;
    t->pfnAppendEventReset = level_append_event_reset;
    t->pfnAppendQueryKernelTimestamps = level_append_query_kernel_timestamps;
    t->pfnAppendLaunchKernel = level_append_launch_kernel;
    t->pfnAppendLaunchKernelIndirect = level_append_launch_kernel_indirect;
    t->pfnAppendLaunchMultipleKernelsIndirect = level_append_launch_multiple_kernels_indirect;
}

TABLE(zeGetEventPoolProcAddrTable, ze_event_pool_dditable_t)
{
    t->pfnCreate = level_event_pool_create;
    t->pfnDestroy = level_event_pool_destroy;
}

TABLE(zeGetEventProcAddrTable, ze_event_dditable_t)
{
    t->pfnCreate = level_event_create;
    t->pfnDestroy = level_event_destroy;
    t->pfnHostSignal = level_event_host_signal;
    t->pfnHostSynchronize = level_event_host_synchronize;
    t->pfnQueryStatus = level_event_query_status;
    t->pfnHostReset = level_event_host_reset;
    t->pfnQueryKernelTimestamp = level_event_query_kernel_timestamp;
}

TABLE(zeGetFenceProcAddrTable, ze_fence_dditable_t)
{
    t->pfnCreate = level_fence_create;
    t->pfnDestroy = level_fence_destroy;
    t->pfnHostSynchronize = level_fence_host_synchronize;
    t->pfnQueryStatus = level_fence_query_status;
    t->pfnReset = level_fence_reset;
}

EMPTY_TABLE(zeGetDeviceExpProcAddrTable, ze_device_exp_dditable_t)
EMPTY_TABLE(zeGetEventExpProcAddrTable, ze_event_exp_dditable_t)
EMPTY_TABLE(zeGetFabricEdgeExpProcAddrTable, ze_fabric_edge_exp_dditable_t)
EMPTY_TABLE(zeGetFabricVertexExpProcAddrTable, ze_fabric_vertex_exp_dditable_t)
EMPTY_TABLE(zeGetImageProcAddrTable, ze_image_dditable_t)
EMPTY_TABLE(zeGetImageExpProcAddrTable, ze_image_exp_dditable_t)
EMPTY_TABLE(zeGetPhysicalMemProcAddrTable, ze_physical_mem_dditable_t)
EMPTY_TABLE(zeGetSamplerProcAddrTable, ze_sampler_dditable_t)
EMPTY_TABLE(zeGetVirtualMemProcAddrTable, ze_virtual_mem_dditable_t)
