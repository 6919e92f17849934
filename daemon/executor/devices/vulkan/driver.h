/* The driver of this process: an instance, the device that was chosen, what it is, and a queue. */
#pragma once

#include <stdbool.h>

#include "daemon/executor/devices/vulkan/loader.h"
#include "daemon/gpu/description.h"
#include "ir/base/error.h"

enum { VULKAN_PUSH_BYTES = 24 }; /* struct spirv_push */

struct vulkan_driver {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    VkPhysicalDeviceMemoryProperties memory;
    VkDescriptorSetLayout block; /* set 0 of all pipelines: the block of a launch as a uniform buffer */
    VkPipelineLayout layout;     /* of all pipelines: that, and push constants */
    VkPipelineCache cache;
    VkDeviceSize import_alignment;    /* of host memory that is imported; 0: the driver cannot */
    bool sizes_sub_groups;            /* pipelines may ask for a sub-group size */
    bool tells_hits;                  /* whether a pipeline came from a cache's contents */
    bool gives_binaries;              /* caches of pipelines have contents that can be kept */
    uint8_t cache_uuid[VK_UUID_SIZE]; /* of what caches hold */
    struct gpu_description description;
};

/* Of this process; set by vulkan_open(). */
extern struct vulkan_driver vulkan;

/* Loads the driver, once, before anything is given up. 0, or -1: there is no device; why is the error's reason. */
int vulkan_open(struct error *e);
/* FUSION_OUT_OF_MEMORY, FUSION_EXECUTOR where the device is lost ... for what a call of the driver gave. Always -1. */
int vulkan_fail(struct error *e, const char *object, const char *what, VkResult result);
/* What the validation layer has found since the last call, where FUSIOND_VULKAN_VALIDATION=1: -1 with the error. */
int vulkan_validated(struct error *e);
