/* Binaries of a driver of Vulkan. */
#include "daemon/executor/devices/vulkan/binary.h"

#include <stdlib.h>
#include <string.h>

#include "proto/include/fusiond/status.h"

/* A cache without any pipelines has this and no more. */
enum { HEAD_BYTES = sizeof(VkPipelineCacheHeaderVersionOne) };

void vulkan_binaries_init(void)
{
    size_t size = 0;
    VkResult result = vk.GetPipelineCacheData(vulkan.device, vulkan.cache, &size, NULL);
    vulkan.gives_binaries = result == VK_SUCCESS && size > HEAD_BYTES;
}

/* Drivers are to refuse others'. Those of which we know that they are, they do not get to see. */
static bool is_ours(const void *binary, size_t size)
{
    VkPhysicalDeviceProperties2 p = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    VkPipelineCacheHeaderVersionOne head;
    if (size <= sizeof head) return false;
    memcpy(&head, binary, sizeof head);
    vk.GetPhysicalDeviceProperties2(vulkan.physical, &p);
    return head.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE && head.vendorID == p.properties.vendorID &&
           head.deviceID == p.properties.deviceID &&
           memcmp(head.pipelineCacheUUID, p.properties.pipelineCacheUUID, sizeof head.pipelineCacheUUID) == 0;
}

VkPipelineCache vulkan_binary_open(const void *binary, size_t size)
{
    const VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, .initialDataSize = size, .pInitialData = binary};
    VkPipelineCache cache;
    if (!is_ours(binary, size)) return VK_NULL_HANDLE;
    return vk.CreatePipelineCache(vulkan.device, &info, NULL, &cache) == VK_SUCCESS ? cache : VK_NULL_HANDLE;
}

uint8_t *vulkan_binary_of(VkPipelineCache cache, size_t before, size_t *size, struct error *e)
{
    VkResult result = vk.GetPipelineCacheData(vulkan.device, cache, size, NULL);
    uint8_t *binary = result == VK_SUCCESS && *size > HEAD_BYTES ? malloc(before + *size) : NULL;
    if (binary) result = vk.GetPipelineCacheData(vulkan.device, cache, size, binary + before);
    if (binary && result == VK_SUCCESS) return binary;
    free(binary);
    error_set(e, FUSION_NOT_FOUND, NULL, "device vulkan (%s) gives no binary (%s)", vulkan.description.name,
              vulkan_result_name(result));
    return NULL;
}
