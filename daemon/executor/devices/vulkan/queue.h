/* The queue of the device: commands are recorded, run and waited for. */
#pragma once

#include "daemon/executor/devices/vulkan/driver.h"

/* Once, after the driver was opened. */
int vulkan_queue_init(struct error *e);
/* Command buffers are made and run by one thread and freed by another: all of that, and what is below, with the lock.
 */
void vulkan_lock(void);
void vulkan_unlock(void);
/* A command buffer to record into, which is begun; NULL with the error. */
VkCommandBuffer vulkan_begin(const char *object, struct error *e);
/* What was done in these stages is seen by all commands that run later, and by the host if it is to: so no command
   buffer begins with a barrier, which the GPU would wait for with nothing else to do. */
int vulkan_end(VkCommandBuffer commands, VkPipelineStageFlags done, bool host, const char *object, struct error *e);
/* What was done in these stages is seen in those. */
void vulkan_barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkPipelineStageFlags to);
/* Runs what was recorded and waits for it. */
int vulkan_submit(VkCommandBuffer commands, const char *object, struct error *e);
void vulkan_forget(VkCommandBuffer commands); /* NULL is fine */
