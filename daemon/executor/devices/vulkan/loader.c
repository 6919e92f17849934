/* libvulkan, opened at run time. */
#include "daemon/executor/devices/vulkan/loader.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

struct vulkan_functions vk;
static PFN_vkGetInstanceProcAddr get;

bool vulkan_load(void)
{
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    get = library ? (PFN_vkGetInstanceProcAddr)dlsym(library, "vkGetInstanceProcAddr") : NULL;
    if (!get) return false;
#define X(name) vk.name = (PFN_vk##name)get(NULL, "vk" #name);
    VULKAN_OF_LOADER(X)
#undef X
    return vk.CreateInstance && vk.EnumerateInstanceVersion;
}

void vulkan_load_instance(VkInstance instance)
{
#define X(name) vk.name = (PFN_vk##name)get(instance, "vk" #name);
    VULKAN_OF_INSTANCE(X)
#undef X
}

void vulkan_load_device(VkDevice device)
{
#define X(name) vk.name = (PFN_vk##name)vk.GetDeviceProcAddr(device, "vk" #name);
    VULKAN_OF_DEVICE(X)
#undef X
}

const char *vulkan_result_name(VkResult result)
{
    static const struct {
        VkResult result;
        const char *name;
    } names[] = {
        {VK_ERROR_OUT_OF_HOST_MEMORY, "VK_ERROR_OUT_OF_HOST_MEMORY"},
        {VK_ERROR_OUT_OF_DEVICE_MEMORY, "VK_ERROR_OUT_OF_DEVICE_MEMORY"},
        {VK_ERROR_INITIALIZATION_FAILED, "VK_ERROR_INITIALIZATION_FAILED"},
        {VK_ERROR_DEVICE_LOST, "VK_ERROR_DEVICE_LOST"},
        {VK_ERROR_MEMORY_MAP_FAILED, "VK_ERROR_MEMORY_MAP_FAILED"},
        {VK_ERROR_LAYER_NOT_PRESENT, "VK_ERROR_LAYER_NOT_PRESENT"},
        {VK_ERROR_EXTENSION_NOT_PRESENT, "VK_ERROR_EXTENSION_NOT_PRESENT"},
        {VK_ERROR_FEATURE_NOT_PRESENT, "VK_ERROR_FEATURE_NOT_PRESENT"},
        {VK_ERROR_INCOMPATIBLE_DRIVER, "VK_ERROR_INCOMPATIBLE_DRIVER"},
        {VK_ERROR_TOO_MANY_OBJECTS, "VK_ERROR_TOO_MANY_OBJECTS"},
        {VK_ERROR_INVALID_EXTERNAL_HANDLE, "VK_ERROR_INVALID_EXTERNAL_HANDLE"},
        {VK_ERROR_INVALID_SHADER_NV, "VK_ERROR_INVALID_SHADER"},
    };
    static char number[32];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].result == result) return names[i].name;
    snprintf(number, sizeof number, "result %d", result);
    return number;
}
