/* The queue of the device. */
#include "daemon/executor/devices/vulkan/queue.h"

#include <pthread.h>

#include "daemon/executor/devices/gpu/lost.h"
#include "daemon/executor/run/wait.h"

/* Of waiting for a GPU: being woken by its driver takes longer than a small kernel. A driver that computes on the
   processor needs that itself. */
enum { SPIN_NS = 200000 };

/* Command buffers are made by the thread that runs submissions, and freed by the one that answers the broker. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static VkCommandPool pool;
static VkFence fence;

int vulkan_queue_init(struct error *e)
{
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                               .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                               .queueFamilyIndex = vulkan.family};
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkResult result = vk.CreateCommandPool(vulkan.device, &pool_info, NULL, &pool);
    if (result == VK_SUCCESS) result = vk.CreateFence(vulkan.device, &fence_info, NULL, &fence);
    return result == VK_SUCCESS ? 0 : vulkan_fail(e, NULL, "it cannot be used", result);
}

VkCommandBuffer vulkan_begin(const char *object, struct error *e)
{
    VkCommandBuffer commands = NULL;
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = pool,
                                              .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                              .commandBufferCount = 1};
    VkResult result = vk.AllocateCommandBuffers(vulkan.device, &info, &commands);
    if (result == VK_SUCCESS) result = vk.BeginCommandBuffer(commands, &begin);
    if (result == VK_SUCCESS) return commands;
    vulkan_fail(e, object, "its commands cannot be recorded", result);
    return NULL;
}

int vulkan_end(VkCommandBuffer commands, const char *object, struct error *e)
{
    VkResult result = vk.EndCommandBuffer(commands);
    return result == VK_SUCCESS ? 0 : vulkan_fail(e, object, "its commands cannot be recorded", result);
}

void vulkan_forget(VkCommandBuffer commands)
{
    if (commands) vk.FreeCommandBuffers(vulkan.device, pool, 1, &commands);
}

void vulkan_lock(void)
{
    pthread_mutex_lock(&lock);
}

void vulkan_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static VkResult wait(void)
{
    uint64_t end = wait_now_ns() + SPIN_NS;
    VkResult result;
    while (!vulkan.description.is_cpu && wait_now_ns() < end) {
        result = vk.GetFenceStatus(vulkan.device, fence);
        if (result != VK_NOT_READY) return result;
        wait_relax();
    }
    return vk.WaitForFences(vulkan.device, 1, &fence, VK_TRUE, UINT64_MAX);
}

int vulkan_submit(VkCommandBuffer commands, const char *object, struct error *e)
{
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    VkResult result = vk.QueueSubmit(vulkan.queue, 1, &info, fence);
    if (result == VK_SUCCESS) result = wait();
    if (result == VK_SUCCESS) result = vk.ResetFences(vulkan.device, 1, &fence);
    if (result == VK_ERROR_DEVICE_LOST) gpu_lost("vulkan", vulkan.description.name, object);
    return result == VK_SUCCESS ? vulkan_validated(e) : vulkan_fail(e, object, "running it failed", result);
}

void vulkan_barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkPipelineStageFlags to)
{
    const VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                    .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
    vk.CmdPipelineBarrier(commands, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}
