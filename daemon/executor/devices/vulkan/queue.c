/* The queue of the device. */
#include "daemon/executor/devices/vulkan/queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/executor/devices/gpu/lost.h"
#include "daemon/executor/run/running.h"
#include "daemon/executor/run/wait.h"

/* Of waiting for a GPU: being woken by its driver takes longer than a small kernel. A driver that computes on the
   processor needs that itself. */
enum { SPIN_NS = 200000 };

/* Command buffers are made by the thread that runs submissions, and freed by the one that answers the broker. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static VkCommandPool pool;
static VkFence fence;

/* FUSIOND_VULKAN_TIMES=1: the GPU's own clock, where commands begin and where they end. */
static VkQueryPool clock_reads;
static double ns_of_tick;

static VkResult open_clock(void)
{
    const VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, .queryType = VK_QUERY_TYPE_TIMESTAMP, .queryCount = 2};
    VkPhysicalDeviceProperties2 p = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    const char *wanted = getenv("FUSIOND_VULKAN_TIMES");
    if (!wanted || strcmp(wanted, "1") != 0) return VK_SUCCESS;
    vk.GetPhysicalDeviceProperties2(vulkan.physical, &p);
    ns_of_tick = p.properties.limits.timestampPeriod;
    return vk.CreateQueryPool(vulkan.device, &info, NULL, &clock_reads);
}

static void read_clock(void)
{
    uint64_t ticks[2];
    if (!clock_reads) return;
    VkResult result = vk.GetQueryPoolResults(vulkan.device, clock_reads, 0, 2, sizeof ticks, ticks, sizeof *ticks,
                                             VK_QUERY_RESULT_64_BIT);
    if (result == VK_SUCCESS) running_took((uint64_t)((double)(ticks[1] - ticks[0]) * ns_of_tick));
}

int vulkan_queue_init(struct error *e)
{
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                               .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                               .queueFamilyIndex = vulkan.family};
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkResult result = vk.CreateCommandPool(vulkan.device, &pool_info, NULL, &pool);
    if (result == VK_SUCCESS) result = vk.CreateFence(vulkan.device, &fence_info, NULL, &fence);
    if (result == VK_SUCCESS) result = open_clock();
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
    if (result != VK_SUCCESS) {
        vulkan_fail(e, object, "its commands cannot be recorded", result);
        return NULL;
    }
    if (clock_reads) vk.CmdResetQueryPool(commands, clock_reads, 0, 2);
    if (clock_reads) vk.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, clock_reads, 0);
    return commands;
}

int vulkan_end(VkCommandBuffer commands, VkPipelineStageFlags done, bool host, const char *object, struct error *e)
{
    vulkan_barrier(commands, done,
                   VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT |
                       (host ? VK_PIPELINE_STAGE_HOST_BIT : 0));
    if (clock_reads) vk.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, clock_reads, 1);
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
    if (result == VK_SUCCESS) read_clock();
    if (result == VK_ERROR_DEVICE_LOST) gpu_lost("vulkan", vulkan.description.name, object);
    return result == VK_SUCCESS ? vulkan_validated(e) : vulkan_fail(e, object, "running it failed", result);
}

static VkAccessFlags written_by(VkPipelineStageFlags stages)
{
    return (stages & VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT ? VK_ACCESS_SHADER_WRITE_BIT : 0) |
           (stages & VK_PIPELINE_STAGE_TRANSFER_BIT ? VK_ACCESS_TRANSFER_WRITE_BIT : 0);
}

static VkAccessFlags done_by(VkPipelineStageFlags stages)
{
    return (stages & VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT ? VK_ACCESS_SHADER_READ_BIT : 0) |
           (stages & VK_PIPELINE_STAGE_TRANSFER_BIT ? VK_ACCESS_TRANSFER_READ_BIT : 0) |
           (stages & VK_PIPELINE_STAGE_HOST_BIT ? VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT : 0) |
           written_by(stages);
}

/* No more accesses than there are: of all memory whatsoever it takes an H100 3 us longer. */
void vulkan_barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkPipelineStageFlags to)
{
    const VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = written_by(from), .dstAccessMask = done_by(to)};
    vk.CmdPipelineBarrier(commands, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}
