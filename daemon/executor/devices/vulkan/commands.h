/* Consecutive launches as one command buffer: recorded when they run first, and replayed. */
#pragma once

#include "daemon/executor/devices/vulkan/launch.h"

/* As device.run_launches. */
int vulkan_run_launches(struct executable *x, const uint32_t *launches, uint32_t n,
                        const struct launch_context *context, struct error *e);
void vulkan_batches_free(struct vulkan_batch *batches);
