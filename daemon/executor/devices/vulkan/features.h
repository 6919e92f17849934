/* What a physical device can do: asked, told in the terms of fuser/spirv, and asked for when the device is made. */
#pragma once

#include <stdbool.h>

#include "daemon/executor/devices/vulkan/loader.h"
#include "daemon/gpu/description.h"

/* One chain of structures, from `core` on. */
struct vulkan_features {
    VkPhysicalDeviceFeatures2 core;
    VkPhysicalDeviceVulkan11Features v11;
    VkPhysicalDeviceVulkan12Features v12;
    VkPhysicalDeviceSubgroupSizeControlFeatures sub_group_size;
    VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomic_float;
    VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR explicit_local;
    const char *extensions[8]; /* that the device has and we use */
    uint32_t n_extensions;
    bool imports_memory; /* external_memory_host */
    bool tells_hits;     /* VK_EXT_pipeline_creation_feedback */
};

/* Fills in all of it: what there is, and of that only what we use. It must not be moved afterwards. NULL, or what is
   missing that no kernel runs without. */
const char *vulkan_features_ask(struct vulkan_features *f, VkPhysicalDevice device);
/* Limits, names and features, as far as the driver tells them. */
void vulkan_features_describe(const struct vulkan_features *f, VkPhysicalDevice device, struct gpu_description *d);
