/* Binaries of a driver of Vulkan: the contents of a cache of pipelines that has those of one launch. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/executor/devices/vulkan/driver.h"
#include "ir/base/error.h"

/* Once, when the driver has made pipelines: whether there is something to keep of them. */
void vulkan_binaries_init(void);
/* A cache with the contents of a binary. NULL: it is none of this driver for this device. */
VkPipelineCache vulkan_binary_open(const void *binary, size_t size);
/* What a cache holds, in memory to be freed, with so many bytes free before it. NULL with the error. */
uint8_t *vulkan_binary_of(VkPipelineCache cache, size_t before, size_t *size, struct error *e);
