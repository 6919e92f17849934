/* libze_loader, opened at run time. What is called of it is in one table. */
#pragma once

#include <level_zero/ze_api.h>
#include <stdbool.h>

/* clang-format off */
#define LEVEL_ZERO_FUNCTIONS(X) \
    X(Init) X(DriverGet) X(DriverGetProperties) X(DriverGetApiVersion) X(DriverGetExtensionProperties) \
    X(DeviceGet) X(DeviceGetProperties) X(DeviceGetComputeProperties) X(DeviceGetModuleProperties) \
    X(DeviceGetMemoryAccessProperties) X(DeviceGetCommandQueueGroupProperties) \
    X(ContextCreate) \
    X(MemAllocDevice) X(MemAllocHost) X(MemFree) \
    X(ModuleCreate) X(ModuleDestroy) X(ModuleGetKernelNames) X(ModuleGetNativeBinary) X(ModuleBuildLogGetString) X(ModuleBuildLogDestroy) \
    X(KernelCreate) X(KernelDestroy) X(KernelSetGroupSize) X(KernelSetArgumentValue) X(KernelSetIndirectAccess) \
    X(CommandQueueCreate) X(CommandQueueExecuteCommandLists) X(CommandQueueSynchronize) \
    X(CommandListCreate) X(CommandListDestroy) X(CommandListClose) X(CommandListReset) \
    X(CommandListAppendBarrier) X(CommandListAppendMemoryCopy) X(CommandListAppendMemoryFill) X(CommandListAppendLaunchKernel)
/* clang-format on */

struct level_zero_functions {
#define X(name) __typeof__(ze##name) *name;
    LEVEL_ZERO_FUNCTIONS(X)
#undef X
};

extern struct level_zero_functions ze;

/* Opens the library: false where there is none that has all of these. Once it is open it stays. */
bool level_zero_load(void);
/* "ZE_RESULT_ERROR_DEVICE_LOST", or a number. */
const char *level_zero_result_name(ze_result_t result);
