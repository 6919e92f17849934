/*
 * bare FOLDER: what a program for Vulkan takes that replays one command buffer and waits for its fence, by looking at
 * it again and again, or by sleeping. The kernel, in FOLDER/bare.spv, does nothing. One line of JSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <vulkan/vulkan.h>

enum { RUNS = 4000, WORDS = 4096 };

static VkDevice device;
static VkQueue queue;
static VkCommandBuffer commands;
static VkFence fence;

static void check(VkResult r, const char *what)
{
    if (r == VK_SUCCESS || r == VK_INCOMPLETE) return;
    fprintf(stderr, "bare: %s: result %d\n", what, (int)r);
    exit(1);
}

static void open_device(void)
{
    const VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo instance_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                                .pApplicationInfo = &app};
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue_info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    const VkDeviceCreateInfo device_info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue_info};
    VkInstance instance;
    VkPhysicalDevice physical;
    uint32_t n = 1;
    check(vkCreateInstance(&instance_info, NULL, &instance), "instance");
    check(vkEnumeratePhysicalDevices(instance, &n, &physical), "devices");
    if (n == 0) exit(77);
    check(vkCreateDevice(physical, &device_info, NULL, &device), "device");
    vkGetDeviceQueue(device, 0, 0, &queue);
}

static VkPipeline make_pipeline(const char *folder, VkPipelineLayout *layout)
{
    static uint32_t words[WORDS];
    char path[1000];
    snprintf(path, sizeof path, "%s/bare.spv", folder);
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(words, 4, WORDS, file) : 0;
    if (file) fclose(file);
    const VkShaderModuleCreateInfo module_info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = n * 4, .pCode = words};
    const VkPipelineLayoutCreateInfo layout_info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                  .pName = "main"}};
    VkPipeline pipeline;
    check(n ? VK_SUCCESS : VK_ERROR_UNKNOWN, path);
    check(vkCreateShaderModule(device, &module_info, NULL, &info.stage.module), "module");
    check(vkCreatePipelineLayout(device, &layout_info, NULL, layout), "layout");
    info.layout = *layout;
    check(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline), "pipeline");
    return pipeline;
}

static void record(const char *folder)
{
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandBufferCount = 1};
    VkPipelineLayout layout;
    VkPipeline pipeline = make_pipeline(folder, &layout);
    check(vkCreateCommandPool(device, &pool_info, NULL, &info.commandPool), "pool");
    check(vkCreateFence(device, &fence_info, NULL, &fence), "fence");
    check(vkAllocateCommandBuffers(device, &info, &commands), "commands");
    check(vkBeginCommandBuffer(commands, &begin), "begin");
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdDispatch(commands, 4, 1, 1);
    check(vkEndCommandBuffer(commands), "end");
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double replay(int spins)
{
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    double began = now_us();
    check(vkQueueSubmit(queue, 1, &info, fence), "submit");
    while (spins && vkGetFenceStatus(device, fence) == VK_NOT_READY) continue;
    check(vkWaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX), "wait");
    check(vkResetFences(device, 1, &fence), "reset");
    return now_us() - began;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The median, and what one run in ten is quicker than: on a busy machine more is said by that. */
struct times {
    double median, tenth;
};

static struct times replays(int spins)
{
    static double times[RUNS];
    for (int i = 0; i < RUNS; i++) times[i] = replay(spins);
    qsort(times, RUNS, sizeof *times, compare);
    return (struct times){times[RUNS / 2], times[RUNS / 10]};
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    open_device();
    double recording = now_us();
    record(argv[1]);
    double first = replay(0);
    recording = now_us() - recording - first;
    struct times spinning = replays(1), sleeping = replays(0);
    printf("{\"work\": \"bare\", \"recording_us\": %.1f, \"first_us\": %.1f, \"spinning_us\": %.2f, \"sleeping_us\": "
           "%.2f, \"spinning_tenth_us\": %.2f, \"sleeping_tenth_us\": %.2f}\n",
           recording, first, spinning.median, sleeping.median, spinning.tenth, sleeping.tenth);
    return 0;
}
