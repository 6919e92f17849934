/* libvulkan, opened at run time. What is called of it is in one table. */
#pragma once

#include <stdbool.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

/* clang-format off */
#define VULKAN_OF_LOADER(X) X(CreateInstance) X(EnumerateInstanceVersion) X(EnumerateInstanceLayerProperties)
#define VULKAN_OF_INSTANCE(X) \
    X(CreateDebugUtilsMessengerEXT) X(CreateDevice) X(DestroyInstance) X(EnumerateDeviceExtensionProperties) \
    X(EnumeratePhysicalDevices) X(GetDeviceProcAddr) X(GetPhysicalDeviceFeatures2) \
    X(GetPhysicalDeviceMemoryProperties) X(GetPhysicalDeviceProperties2) X(GetPhysicalDeviceQueueFamilyProperties)
#define VULKAN_OF_DEVICE(X) \
    X(AllocateCommandBuffers) X(AllocateDescriptorSets) X(AllocateMemory) X(BeginCommandBuffer) X(BindBufferMemory) X(CmdBindDescriptorSets) \
    X(CmdBindPipeline) X(CreateDescriptorPool) X(CreateDescriptorSetLayout) X(DestroyDescriptorPool) \
    X(UpdateDescriptorSets) \
    X(CmdCopyBuffer) X(CmdDispatch) X(CmdFillBuffer) X(CmdPipelineBarrier) X(CmdPushConstants) X(CmdResetQueryPool) \
    X(CmdWriteTimestamp) X(CreateBuffer) \
    X(CreateCommandPool) X(CreateComputePipelines) X(CreateFence) X(CreatePipelineCache) X(CreatePipelineLayout) \
    X(CreateQueryPool) X(GetQueryPoolResults) \
    X(CreateShaderModule) X(DestroyBuffer) X(DestroyDevice) X(DestroyPipeline) X(DestroyPipelineCache) X(DestroyShaderModule) \
    X(EndCommandBuffer) X(FreeCommandBuffers) X(FreeMemory) X(GetBufferDeviceAddress) \
    X(GetBufferMemoryRequirements) X(GetDeviceQueue) X(GetFenceStatus) X(GetPipelineCacheData) X(GetMemoryHostPointerPropertiesEXT) \
    X(MapMemory) X(QueueSubmit) X(QueueWaitIdle) X(ResetFences) X(WaitForFences)
/* clang-format on */

struct vulkan_functions {
#define X(name) PFN_vk##name name;
    VULKAN_OF_LOADER(X)
    VULKAN_OF_INSTANCE(X)
    VULKAN_OF_DEVICE(X)
#undef X
};

extern struct vulkan_functions vk;

/* Opens the library: false where there is none. Once it is open it stays. */
bool vulkan_load(void);
void vulkan_load_instance(VkInstance instance);
void vulkan_load_device(VkDevice device);
/* "VK_ERROR_DEVICE_LOST", or a number. */
const char *vulkan_result_name(VkResult result);
