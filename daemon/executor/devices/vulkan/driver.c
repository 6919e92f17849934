/* Loading the driver and choosing a device. */
#include "daemon/executor/devices/vulkan/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/executor/devices/vulkan/features.h"
#include "proto/include/fusiond/status.h"

struct vulkan_driver vulkan;

/* ---- errors ---- */

int vulkan_fail(struct error *e, const char *object, const char *what, VkResult result)
{
    fusion_status status = FUSION_INTERNAL;
    if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY ||
        result == VK_ERROR_TOO_MANY_OBJECTS)
        status = FUSION_OUT_OF_MEMORY;
    if (result == VK_ERROR_DEVICE_LOST) status = FUSION_EXECUTOR;
    return error_set(e, status, object, "%s: %s of device vulkan (%s)", what, vulkan_result_name(result),
                     vulkan.description.name);
}

/* ---- validation ---- */

static const char validation_layer[] = "VK_LAYER_KHRONOS_validation";
static char found[2000]; /* by the layer, and not told yet */

static VkBool32 VKAPI_PTR hear(VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT types,
                               const VkDebugUtilsMessengerCallbackDataEXT *data, void *unused)
{
    (void)types, (void)unused;
    if (severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT && !found[0])
        snprintf(found, sizeof found, "%s", data->pMessage);
    return VK_FALSE;
}

int vulkan_validated(struct error *e)
{
    char text[sizeof found];
    if (!found[0]) return 0;
    snprintf(text, sizeof text, "%s", found);
    found[0] = 0;
    return error_set(e, FUSION_INTERNAL, NULL, "the validation layer found: %s", text);
}

static const VkDebugUtilsMessengerCreateInfoEXT messenger_info = {
    .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
    .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
    .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
    .pfnUserCallback = hear,
};

/* For tests: each message becomes an error of what was asked for. */
static bool validates(void)
{
    const char *wanted = getenv("FUSIOND_VULKAN_VALIDATION");
    return wanted && strcmp(wanted, "1") == 0;
}

/* ---- the instance ---- */

static int make_instance(struct error *e)
{
    static const char *const layers[] = {validation_layer};
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pApplicationName = "fusiond", .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    if (validates()) {
        info.enabledLayerCount = info.enabledExtensionCount = 1;
        info.ppEnabledLayerNames = layers;
        info.ppEnabledExtensionNames = extensions;
    }
    VkResult result = vk.CreateInstance(&info, NULL, &vulkan.instance);
    if (result != VK_SUCCESS)
        return error_set(e, FUSION_NOT_FOUND, NULL, "no Vulkan driver: %s%s", vulkan_result_name(result),
                         validates() ? " (with the validation layer)" : "");
    vulkan_load_instance(vulkan.instance);
    VkDebugUtilsMessengerEXT messenger;
    if (validates() && vk.CreateDebugUtilsMessengerEXT)
        vk.CreateDebugUtilsMessengerEXT(vulkan.instance, &messenger_info, NULL, &messenger);
    return 0;
}

/* ---- the device ---- */

/* GPUs of their own before parts of a processor, before processors. */
static int rank(VkPhysicalDevice device)
{
    static const int ranks[] = {[VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU] = 4,
                                [VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU] = 3,
                                [VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU] = 2,
                                [VK_PHYSICAL_DEVICE_TYPE_CPU] = 1};
    VkPhysicalDeviceProperties2 p = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    vk.GetPhysicalDeviceProperties2(device, &p);
    unsigned type = p.properties.deviceType;
    return type < sizeof ranks / sizeof *ranks ? ranks[type] : 0;
}

static int choose(struct vulkan_features *features, struct error *e)
{
    enum { MAX_DEVICES = 16 };
    VkPhysicalDevice list[MAX_DEVICES];
    uint32_t n = MAX_DEVICES;
    int best = -1;
    VkResult result = vk.EnumeratePhysicalDevices(vulkan.instance, &n, list);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE) n = 0;
    error_set(e, FUSION_NOT_FOUND, NULL, "no Vulkan driver has a device");
    for (uint32_t i = 0; i < n; i++) {
        const char *lacks = vulkan_features_ask(features, list[i]);
        if (lacks) error_set(e, FUSION_NOT_FOUND, NULL, "its device lacks %s", lacks);
        if (lacks || rank(list[i]) <= best) continue;
        best = rank(list[i]);
        vulkan.physical = list[i];
    }
    if (best < 0) return -1;
    vulkan_features_ask(features, vulkan.physical);
    vulkan_features_describe(features, vulkan.physical, &vulkan.description);
    vk.GetPhysicalDeviceMemoryProperties(vulkan.physical, &vulkan.memory);
    return 0;
}

static int find_queue(struct error *e)
{
    VkQueueFamilyProperties families[16];
    uint32_t n = sizeof families / sizeof *families;
    vk.GetPhysicalDeviceQueueFamilyProperties(vulkan.physical, &n, families);
    for (vulkan.family = 0; vulkan.family < n; vulkan.family++)
        if (families[vulkan.family].queueFlags & VK_QUEUE_COMPUTE_BIT) return 0;
    return error_set(e, FUSION_NOT_FOUND, NULL, "its device has no queue that computes");
}

static int make_device(struct vulkan_features *features, struct error *e)
{
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = vulkan.family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &features->core,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = features->n_extensions,
                                     .ppEnabledExtensionNames = features->extensions};
    VkResult result = vk.CreateDevice(vulkan.physical, &info, NULL, &vulkan.device);
    if (result != VK_SUCCESS) return vulkan_fail(e, NULL, "it cannot be used", result);
    vulkan_load_device(vulkan.device);
    vk.GetDeviceQueue(vulkan.device, vulkan.family, 0, &vulkan.queue);
    vulkan.sizes_sub_groups = vulkan.description.target.max_sub_group != 0;
    vulkan.tells_hits = features->tells_hits;
    VkPhysicalDeviceProperties2 p = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    vk.GetPhysicalDeviceProperties2(vulkan.physical, &p);
    memcpy(vulkan.cache_uuid, p.properties.pipelineCacheUUID, sizeof vulkan.cache_uuid);
    return 0;
}

/* FUSIOND_VULKAN_MEMORY: `own` has the device's memory apart from the host's, `copied` also imports nothing. */
static void restrict_memory(void)
{
    const char *wanted = getenv("FUSIOND_VULKAN_MEMORY");
    bool copied = wanted && strcmp(wanted, "copied") == 0;
    if (copied || (wanted && strcmp(wanted, "own") == 0)) vulkan.description.shares_memory = false;
    if (copied) vulkan.import_alignment = 0;
}

/* What pages session memory must lie in to be imported, and whether the device computes in it at full speed: where all
   of its memory is the host's. */
static void learn_memory(const struct vulkan_features *features)
{
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 p = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &host};
    bool shares = true;
    if (features->imports_memory) {
        vk.GetPhysicalDeviceProperties2(vulkan.physical, &p);
        vulkan.import_alignment = host.minImportedHostPointerAlignment;
    }
    for (uint32_t i = 0; i < vulkan.memory.memoryTypeCount; i++)
        shares &= (vulkan.memory.memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
    vulkan.description.shares_memory = shares;
}

static int make_common(struct error *e)
{
    const VkPushConstantRange push = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = VULKAN_PUSH_BYTES};
    const VkDescriptorSetLayoutBinding block = {.descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC,
                                                .descriptorCount = 1,
                                                .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = 1, .pBindings = &block};
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &vulkan.block,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &push};
    const VkPipelineCacheCreateInfo cache = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    VkResult result = vk.CreateDescriptorSetLayout(vulkan.device, &set, NULL, &vulkan.block);
    if (result == VK_SUCCESS) result = vk.CreatePipelineLayout(vulkan.device, &layout, NULL, &vulkan.layout);
    if (result == VK_SUCCESS) result = vk.CreatePipelineCache(vulkan.device, &cache, NULL, &vulkan.cache);
    return result == VK_SUCCESS ? 0 : vulkan_fail(e, NULL, "it cannot be used", result);
}

int vulkan_open(struct error *e)
{
    static struct vulkan_features features;
#if defined(__SANITIZE_ADDRESS__)
    return error_set(e, FUSION_NOT_FOUND, NULL, "drivers are not loaded into instrumented processes");
#endif
    setenv("MESA_SHADER_CACHE_DISABLE", "true", 1); /* no file can be written; and who did would give code to others */
    if (!vulkan_load()) return error_set(e, FUSION_NOT_FOUND, NULL, "there is no libvulkan.so.1");
    if (make_instance(e) != 0 || choose(&features, e) != 0 || find_queue(e) != 0 || make_device(&features, e) != 0)
        return -1;
    learn_memory(&features);
    restrict_memory();
    return make_common(e) == 0 ? vulkan_validated(e) : -1;
}
