/* Memory that kernels reach by its address. */
#pragma once

#include <stdint.h>

#include "daemon/executor/devices/vulkan/driver.h"

struct vulkan_memory {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint64_t address, bytes;
    uint8_t *host; /* NULL: the host does not reach it */
};

enum vulkan_memory_use {
    VULKAN_DEVICE_ONLY,
    VULKAN_STAGING,  /* the host writes and reads it, as kernels and copies do */
    VULKAN_ARGUMENTS /* the host writes it; where it can be, near the device */
};

/* object is what errors are about. 0, or -1 with
   the error and nothing left behind. */
int vulkan_memory_make(struct vulkan_memory *m, uint64_t bytes, enum vulkan_memory_use use, const char *object,
                       struct error *e);
/* The memory of this process from a page's start on: nothing is copied. */
int vulkan_memory_import(struct vulkan_memory *m, void *host, uint64_t bytes, const char *object, struct error *e);
void vulkan_memory_free(struct vulkan_memory *m); /* all zeros is fine */
