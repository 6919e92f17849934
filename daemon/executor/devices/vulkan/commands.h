/* Consecutive launches as one command buffer: recorded when they run first, and replayed. */
#pragma once

#include "daemon/executor/devices/vulkan/launch.h"

/* Once, after the driver was opened. */
int vulkan_commands_init(struct error *e);
/* As device.run_launches. */
int vulkan_run_launches(struct executable *x, const uint32_t *launches, uint32_t n,
                        const struct launch_context *context, struct error *e);
void vulkan_batches_free(struct vulkan_batch *batches);
/* Runs what was recorded and waits for it. */
int vulkan_submit(VkCommandBuffer commands, const char *object, struct error *e);
/* What was done in these stages is seen in those. */
void vulkan_barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkPipelineStageFlags to);
/* A command buffer to record into, which is begun; NULL with the error. */
VkCommandBuffer vulkan_begin(const char *object, struct error *e);
