/* Memory that kernels reach by its address. */
#include "daemon/executor/devices/vulkan/memory.h"

#include <inttypes.h>
#include <stdio.h>

#include "proto/include/fusiond/status.h"

static const VkMemoryPropertyFlags host_flags =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

/* The first type with these flags, of those that are allowed; -1: none. Drivers sort them by speed. */
static int find_type(uint32_t allowed, VkMemoryPropertyFlags flags)
{
    for (uint32_t i = 0; i < vulkan.memory.memoryTypeCount; i++)
        if (allowed & 1u << i && (vulkan.memory.memoryTypes[i].propertyFlags & flags) == flags) return (int)i;
    return -1;
}

static int choose_type(uint32_t allowed, VkMemoryPropertyFlags needed, VkMemoryPropertyFlags better)
{
    int type = find_type(allowed, needed | better);
    return type >= 0 ? type : find_type(allowed, needed);
}

static VkResult make_buffer(struct vulkan_memory *m, bool imported)
{
    const VkExternalMemoryBufferCreateInfo external = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                                       .handleTypes =
                                                           VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT};
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .pNext = imported ? &external : NULL,
                                     .size = m->bytes,
                                     .usage = VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                                              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    return vk.CreateBuffer(vulkan.device, &info, NULL, &m->buffer);
}

static VkResult allocate(struct vulkan_memory *m, int type, uint64_t bytes, void *imported)
{
    VkImportMemoryHostPointerInfoEXT import = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
                                               .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
                                               .pHostPointer = imported};
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .pNext = imported ? &import : NULL,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .pNext = &flags,
                                       .allocationSize = bytes,
                                       .memoryTypeIndex = (uint32_t)type};
    if (type < 0) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    return vk.AllocateMemory(vulkan.device, &info, NULL, &m->memory);
}

static VkResult bind(struct vulkan_memory *m)
{
    const VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = m->buffer};
    VkResult result = vk.BindBufferMemory(vulkan.device, m->buffer, m->memory, 0);
    if (result == VK_SUCCESS) m->address = vk.GetBufferDeviceAddress(vulkan.device, &info);
    return result;
}

static VkResult make(struct vulkan_memory *m, enum vulkan_memory_use use)
{
    const bool for_host = use != VULKAN_DEVICE_ONLY;
    const VkMemoryPropertyFlags better = use == VULKAN_STAGING ? 0 : VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    VkMemoryRequirements needs;
    VkResult result = make_buffer(m, false);
    if (result != VK_SUCCESS) return result;
    vk.GetBufferMemoryRequirements(vulkan.device, m->buffer, &needs);
    int type = choose_type(needs.memoryTypeBits, for_host ? host_flags : 0, better);
    result = allocate(m, type, needs.size, NULL);
    if (result == VK_SUCCESS) result = bind(m);
    if (result == VK_SUCCESS && for_host)
        result = vk.MapMemory(vulkan.device, m->memory, 0, VK_WHOLE_SIZE, 0, (void **)&m->host);
    return result;
}

static VkResult import(struct vulkan_memory *m)
{
    VkMemoryHostPointerPropertiesEXT properties = {.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    VkMemoryRequirements needs;
    VkResult result = make_buffer(m, true);
    if (result == VK_SUCCESS)
        result = vk.GetMemoryHostPointerPropertiesEXT(
            vulkan.device, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT, m->host, &properties);
    if (result != VK_SUCCESS) return result;
    vk.GetBufferMemoryRequirements(vulkan.device, m->buffer, &needs);
    int type = choose_type(needs.memoryTypeBits & properties.memoryTypeBits, host_flags, 0);
    result = allocate(m, type, m->bytes, m->host);
    return result == VK_SUCCESS ? bind(m) : result;
}

static int settle(struct vulkan_memory *m, VkResult result, const char *what, const char *object, struct error *e)
{
    if (result == VK_SUCCESS) return 0;
    char text[100];
    snprintf(text, sizeof text, "%" PRIu64 " bytes %s", m->bytes, what);
    vulkan_memory_free(m);
    return vulkan_fail(e, object, text, result);
}

int vulkan_memory_make(struct vulkan_memory *m, uint64_t bytes, enum vulkan_memory_use use, const char *object,
                       struct error *e)
{
    *m = (struct vulkan_memory){.bytes = bytes};
    if (bytes > vulkan.description.max_buffer_bytes)
        return error_set(e, FUSION_OUT_OF_MEMORY, object,
                         "%" PRIu64 " bytes are more than device vulkan can have in one piece (%" PRIu64 ")", bytes,
                         vulkan.description.max_buffer_bytes);
    return settle(m, make(m, use), "cannot be had", object, e);
}

int vulkan_memory_import(struct vulkan_memory *m, void *host, uint64_t bytes, const char *object, struct error *e)
{
    uint64_t alignment = vulkan.import_alignment;
    *m = (struct vulkan_memory){.bytes = (bytes + alignment - 1) & -alignment, .host = host};
    return settle(m, import(m), "cannot be shared", object, e);
}

void vulkan_memory_free(struct vulkan_memory *m)
{
    if (m->buffer) vk.DestroyBuffer(vulkan.device, m->buffer, NULL);
    if (m->memory) vk.FreeMemory(vulkan.device, m->memory, NULL);
    *m = (struct vulkan_memory){0};
}
