/* Runs what is written for Vulkan: as few calls as will do. */
#include "tests/spirv_out/dispatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#include "fuser/spirv/abi/abi.h"
#include "ir/base/arena.h"

enum { POOL_BYTES = 256 << 20, ALIGN = 4096 };

struct dispatcher {
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool commands;
    VkDescriptorSetLayout set_layout;
    VkDescriptorPool sets;
    VkDescriptorSet set; /* the block of a launch as a uniform buffer, from any offset on */
    VkDeviceMemory memory;
    VkBuffer buffer;
    VkDeviceAddress address;
    uint8_t *mapped;
    size_t used;
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    struct spirv_target target;
};

static bool said(VkResult r, const char *what)
{
    if (r != VK_SUCCESS) fprintf(stderr, "# %s: Vulkan's result %d\n", what, (int)r);
    return r != VK_SUCCESS;
}

/* ---- the validation layer ---- */

static unsigned messages; /* that it has for us, where FUSIOND_VULKAN_VALIDATION=1 */

static VkBool32 VKAPI_PTR hear(VkDebugUtilsMessageSeverityFlagBitsEXT severity, VkDebugUtilsMessageTypeFlagsEXT types,
                               const VkDebugUtilsMessengerCallbackDataEXT *data, void *unused)
{
    (void)severity, (void)types, (void)unused;
    fprintf(stderr, "# the validation layer: %s\n", data->pMessage);
    messages++;
    return VK_FALSE;
}

static bool validates(void)
{
    const char *wanted = getenv("FUSIOND_VULKAN_VALIDATION");
    return wanted && strcmp(wanted, "1") == 0;
}

/* ---- the device ---- */

/* The chain of all that is asked about and, unchanged, asked for. */
struct features {
    VkPhysicalDeviceFeatures2 all;
    VkPhysicalDeviceVulkan11Features v11;
    VkPhysicalDeviceVulkan12Features v12;
    VkPhysicalDeviceVulkan13Features v13;
};

static void chain(struct features *f)
{
    memset(f, 0, sizeof *f);
    f->all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    f->v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    f->v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    f->v13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
    f->all.pNext = &f->v11;
    f->v11.pNext = &f->v12;
    f->v12.pNext = &f->v13;
}

static uint64_t features_of(const struct features *f, const VkPhysicalDeviceVulkan12Properties *p, bool is_cpu)
{
    const struct {
        bool has;
        uint64_t feature;
    } table[] = {
        {f->v12.shaderInt8, SPIRV_INT8},
        {f->all.features.shaderInt16, SPIRV_INT16},
        {f->all.features.shaderInt64, SPIRV_INT64},
        {f->v12.shaderFloat16, SPIRV_FLOAT16},
        {f->all.features.shaderFloat64, SPIRV_FLOAT64},
        {f->v12.storageBuffer8BitAccess, SPIRV_STORAGE8},
        {f->v11.storageBuffer16BitAccess, SPIRV_STORAGE16},
        {f->v12.shaderBufferInt64Atomics, SPIRV_ATOMIC64_GLOBAL},
        {f->v12.shaderSharedInt64Atomics, SPIRV_ATOMIC64_LOCAL},
        {p->shaderDenormPreserveFloat16, SPIRV_KEEPS_DENORMALS16},
        {p->shaderDenormPreserveFloat32, SPIRV_KEEPS_DENORMALS32},
        {p->shaderDenormPreserveFloat64, SPIRV_KEEPS_DENORMALS64},
        {p->shaderSignedZeroInfNanPreserveFloat16 && p->shaderSignedZeroInfNanPreserveFloat32 &&
             p->shaderSignedZeroInfNanPreserveFloat64,
         SPIRV_KEEPS_SPECIALS},
        {p->shaderRoundingModeRTEFloat16 && p->shaderRoundingModeRTEFloat32 && p->shaderRoundingModeRTEFloat64,
         SPIRV_ROUNDS_TO_EVEN},
    };
    const uint64_t exact = SPIRV_EXACT_DIVISION32 | SPIRV_EXACT_DIVISION64 | SPIRV_EXACT_SQRT32 | SPIRV_EXACT_SQRT64;
    const char *tried = getenv("FUSIOND_TEST_TRIED"); /* what the product found out by trying, as it prints features */
    uint64_t r = is_cpu && !getenv("FUSIOND_TEST_INEXACT") ? exact : 0;
    if (tried) r = strtoull(tried, NULL, 0) & SPIRV_TRIED;
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) r |= table[i].has ? table[i].feature : 0;
    return r;
}

static void describe(struct dispatcher *d, const struct features *f)
{
    VkPhysicalDeviceVulkan13Properties v13 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES};
    VkPhysicalDeviceVulkan12Properties v12 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES,
                                              .pNext = &v13};
    VkPhysicalDeviceVulkan11Properties v11 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES,
                                              .pNext = &v12};
    VkPhysicalDeviceProperties2 p = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &v11};
    vkGetPhysicalDeviceProperties2(d->physical, &p);
    memcpy(d->name, p.properties.deviceName, sizeof d->name);
    bool is_cpu = p.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    d->target = (struct spirv_target){.dialect = SPIRV_VULKAN,
                                      .version = 0x00010500,
                                      .features = features_of(f, &v12, is_cpu),
                                      .min_sub_group = v13.minSubgroupSize,
                                      .max_sub_group = v13.maxSubgroupSize,
                                      .sub_group = v11.subgroupSize};
}

static bool make_device(struct dispatcher *d)
{
    struct features f;
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &f.all,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue};
    chain(&f);
    vkGetPhysicalDeviceFeatures2(d->physical, &f.all);
    f.all.features.robustBufferAccess = VK_FALSE;
    describe(d, &f);
    if (!f.v12.bufferDeviceAddress || !f.v12.vulkanMemoryModel ||
        said(vkCreateDevice(d->physical, &info, NULL, &d->device), "device"))
        return false;
    vkGetDeviceQueue(d->device, 0, 0, &d->queue);
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    return !said(vkCreateCommandPool(d->device, &pool, NULL, &d->commands), "command pool");
}

static uint32_t host_memory(const struct dispatcher *d, uint32_t allowed)
{
    VkPhysicalDeviceMemoryProperties p;
    vkGetPhysicalDeviceMemoryProperties(d->physical, &p);
    const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    for (uint32_t i = 0; i < p.memoryTypeCount; i++)
        if (allowed >> i & 1 && (p.memoryTypes[i].propertyFlags & wanted) == wanted) return i;
    return 0;
}

static bool make_memory(struct dispatcher *d)
{
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = POOL_BYTES + SPIRV_UNIFORM_BYTES,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                                        VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    if (said(vkCreateBuffer(d->device, &info, NULL, &d->buffer), "buffer")) return false;
    VkMemoryRequirements r;
    vkGetBufferMemoryRequirements(d->device, d->buffer, &r);
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                       .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .pNext = &flags,
                                     .allocationSize = r.size,
                                     .memoryTypeIndex = host_memory(d, r.memoryTypeBits)};
    if (said(vkAllocateMemory(d->device, &allocate, NULL, &d->memory), "memory")) return false;
    if (said(vkBindBufferMemory(d->device, d->buffer, d->memory, 0), "bind")) return false;
    VkBufferDeviceAddressInfo at = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = d->buffer};
    d->address = vkGetBufferDeviceAddress(d->device, &at);
    return !said(vkMapMemory(d->device, d->memory, 0, VK_WHOLE_SIZE, 0, (void **)&d->mapped), "map");
}

/* A function of the extension. */
static PFN_vkVoidFunction debug_function(const struct dispatcher *d, const char *name)
{
    return vkGetInstanceProcAddr(d->instance, name);
}

static bool make_messenger(struct dispatcher *d)
{
    const VkDebugUtilsMessengerCreateInfoEXT info = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
                                                     .messageSeverity =
                                                         VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                                                         VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
                                                     .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
                                                     .pfnUserCallback = hear};
    PFN_vkCreateDebugUtilsMessengerEXT create =
        (PFN_vkCreateDebugUtilsMessengerEXT)debug_function(d, "vkCreateDebugUtilsMessengerEXT");
    return create && !said(create(d->instance, &info, NULL, &d->messenger), "messenger");
}

static void free_messenger(struct dispatcher *d)
{
    PFN_vkDestroyDebugUtilsMessengerEXT destroy =
        (PFN_vkDestroyDebugUtilsMessengerEXT)debug_function(d, "vkDestroyDebugUtilsMessengerEXT");
    if (d->messenger && destroy) destroy(d->instance, d->messenger, NULL);
}

static bool make_set(struct dispatcher *d)
{
    VkDescriptorType type = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC;
    VkDescriptorSetLayoutBinding binding = {0, type, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    VkDescriptorSetLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = 1, .pBindings = &binding};
    VkDescriptorPoolSize size = {type, 1};
    VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1, .poolSizeCount = 1, .pPoolSizes = &size};
    if (said(vkCreateDescriptorSetLayout(d->device, &layout, NULL, &d->set_layout), "set layout")) return false;
    if (said(vkCreateDescriptorPool(d->device, &pool, NULL, &d->sets), "descriptor pool")) return false;
    VkDescriptorSetAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .descriptorPool = d->sets,
                                            .descriptorSetCount = 1,
                                            .pSetLayouts = &d->set_layout};
    if (said(vkAllocateDescriptorSets(d->device, &allocate, &d->set), "descriptor set")) return false;
    VkDescriptorBufferInfo buffer = {d->buffer, 0, SPIRV_UNIFORM_BYTES};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = d->set,
                                  .descriptorCount = 1,
                                  .descriptorType = type,
                                  .pBufferInfo = &buffer};
    vkUpdateDescriptorSets(d->device, 1, &write, 0, NULL);
    return true;
}

static bool make_instance(struct dispatcher *d)
{
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    static const char *const layers[] = {"VK_LAYER_KHRONOS_validation"};
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &app,
                                 .enabledLayerCount = validates(),
                                 .ppEnabledLayerNames = layers,
                                 .enabledExtensionCount = validates(),
                                 .ppEnabledExtensionNames = extensions};
    if (said(vkCreateInstance(&info, NULL, &d->instance), "instance")) return false;
    if (validates() && !make_messenger(d)) return false;
    uint32_t n = 1;
    VkResult r = vkEnumeratePhysicalDevices(d->instance, &n, &d->physical);
    return (r == VK_SUCCESS || r == VK_INCOMPLETE) && n == 1;
}

struct dispatcher *dispatch_open(void)
{
    struct dispatcher *d = arena_realloc(NULL, sizeof *d);
    memset(d, 0, sizeof *d);
    if (make_instance(d) && make_device(d) && make_memory(d) && make_set(d)) return d;
    dispatch_close(d);
    return NULL;
}

void dispatch_close(struct dispatcher *d)
{
    if (!d) return;
    if (d->device) {
        vkDestroyBuffer(d->device, d->buffer, NULL);
        vkFreeMemory(d->device, d->memory, NULL);
        vkDestroyDescriptorPool(d->device, d->sets, NULL);
        vkDestroyDescriptorSetLayout(d->device, d->set_layout, NULL);
        vkDestroyCommandPool(d->device, d->commands, NULL);
        vkDestroyDevice(d->device, NULL);
    }
    if (d->instance) {
        free_messenger(d);
        vkDestroyInstance(d->instance, NULL);
    }
    free(d);
}

const char *dispatch_device(const struct dispatcher *d)
{
    return d->name;
}

const struct spirv_target *dispatch_target(const struct dispatcher *d)
{
    return &d->target;
}

const char *dispatch_pocl(const struct dispatcher *d)
{
    (void)d;
    return "";
}

void *dispatch_memory(struct dispatcher *d, size_t size, uint64_t *address)
{
    size_t at = d->used;
    if (size > POOL_BYTES - at) return NULL;
    d->used = (at + size + ALIGN - 1) / ALIGN * ALIGN;
    *address = d->address + at;
    return d->mapped + at;
}

void dispatch_reset(struct dispatcher *d)
{
    d->used = 0;
}

/* ---- a launch ---- */

uint32_t dispatch_own_local(const struct dispatcher *d, const struct spirv_module *m, const struct nd_range *range)
{
    (void)d, (void)range;
    return m->local_bytes;
}

struct launch {
    struct dispatcher *d;
    const struct spirv_launch *told;
    const struct spirv_module *m;
    VkShaderModule shader;
    VkPipelineLayout layout;
    uint64_t block;
    uint32_t local_bytes, items;
};

static uint64_t put_constants(struct dispatcher *d, const struct spirv_module *m)
{
    uint64_t address = 0, value;
    if (!m->constants_size) return 0;
    uint8_t *to = dispatch_memory(d, m->constants_size, &address);
    memcpy(to, m->constants, m->constants_size);
    for (size_t i = 0; i < m->n_relocations; i++) {
        memcpy(&value, to + m->relocations[i], sizeof value);
        value += address;
        memcpy(to + m->relocations[i], &value, sizeof value);
    }
    return address;
}

static uint64_t put_block(struct dispatcher *d, const struct spirv_module *m, const struct nd_range *r,
                          const void *args, const struct spirv_launch **told)
{
    struct spirv_launch launch = {.constants = put_constants(d, m), .dims = r->dims};
    uint64_t address = 0;
    for (unsigned i = 0; i < 3; i++) {
        launch.global_size[i] = r->global[i];
        launch.global_offset[i] = r->offset[i];
        launch.local_size[i] = r->local[i];
        launch.num_groups[i] = (r->global[i] + r->local[i] - 1) / r->local[i];
    }
    uint8_t *to = dispatch_memory(d, SPIRV_ARGUMENTS + m->args_size + 8, &address);
    memcpy(to, &launch, sizeof launch);
    *told = (const struct spirv_launch *)to;
    memcpy(to + SPIRV_ARGUMENTS, args, m->args_size);
    return address;
}

static bool make_pipeline(const struct launch *l, const uint32_t *size, VkPipeline *pipeline)
{
    enum { N = SPIRV_SPEC_ITEMS + 1 };
    uint32_t values[N] = {size[0], size[1], size[2], l->local_bytes ? l->local_bytes : SPIRV_BLOCK_ALIGN, 7, l->items};
    VkSpecializationMapEntry entries[N];
    for (uint32_t i = 0; i < N; i++) entries[i] = (VkSpecializationMapEntry){i, 4 * i, 4};
    VkSpecializationInfo special = {N, entries, sizeof values, values};
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo sub_group = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = l->m->sub_group_size};
    bool asks = l->m->sub_group_size && l->d->target.min_sub_group != l->d->target.max_sub_group;
    VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                  .pNext = asks ? &sub_group : NULL,
                                                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                  .module = l->shader,
                                                  .pName = SPIRV_ENTRY_NAME,
                                                  .pSpecializationInfo = &special},
                                        .layout = l->layout};
    return !said(vkCreateComputePipelines(l->d->device, VK_NULL_HANDLE, 1, &info, NULL, pipeline), "pipeline");
}

static bool submit(const struct launch *l, VkPipeline pipeline, const uint32_t *base, const uint32_t *groups)
{
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = l->d->commands,
                                        .commandBufferCount = 1};
    VkCommandBuffer c;
    if (said(vkAllocateCommandBuffers(l->d->device, &info, &c), "command buffer")) return false;
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    struct spirv_push push = {l->block, {base[0], base[1], base[2]}, 0};
    vkBeginCommandBuffer(c, &begin);
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdPushConstants(c, l->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, &push);
    uint32_t offset = (uint32_t)(l->block - l->d->address);
    vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, l->layout, 0, 1, &l->d->set, 1, &offset);
    vkCmdDispatch(c, groups[0], groups[1], groups[2]);
    vkEndCommandBuffer(c);
    VkSubmitInfo s = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &c};
    bool good = !said(vkQueueSubmit(l->d->queue, 1, &s, VK_NULL_HANDLE), "submit") &&
                !said(vkQueueWaitIdle(l->d->queue), "wait");
    vkFreeCommandBuffers(l->d->device, l->d->commands, 1, &c);
    return good;
}

/* Work-groups `base` and so many more of one size. */
static bool run_part(const struct launch *l, const uint32_t *size, const uint32_t *base, const uint32_t *groups)
{
    VkPipeline pipeline = VK_NULL_HANDLE;
    if (!groups[0] || !groups[1] || !groups[2]) return true;
    bool good = make_pipeline(l, size, &pipeline) && submit(l, pipeline, base, groups);
    vkDestroyPipeline(l->d->device, pipeline, NULL);
    return good;
}

/* All of it at once, or incomplete work-groups at the ends by themselves. */
static bool run_parts(const struct launch *l, const struct nd_range *r)
{
    bool good = true;
    for (unsigned part = 0; part < 8 && good; part++) {
        uint32_t size[3], base[3], groups[3];
        for (unsigned i = 0; i < 3; i++) {
            uint32_t local = (uint32_t)r->local[i], each = i == 0 ? local * l->items : local;
            uint32_t whole = (uint32_t)(r->global[i] / each), rest = (uint32_t)(r->global[i] % each);
            bool at_end = part >> i & 1;
            if (!l->m->whole_groups) whole += rest != 0, rest = 0;
            size[i] = at_end ? rest : local;
            base[i] = at_end ? whole : 0;
            groups[i] = at_end ? rest != 0 : whole;
        }
        good = run_part(l, size, base, groups);
    }
    return good;
}

bool dispatch_run(struct dispatcher *d, const struct spirv_module *m, const struct nd_range *range, const void *args,
                  uint32_t local_bytes, uint32_t items)
{
    struct launch l = {.d = d, .m = m, .local_bytes = m->local_bytes + local_bytes, .items = items};
    l.block = put_block(d, m, range, args, &l.told);
    VkShaderModuleCreateInfo shader = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                       .codeSize = m->n_words * sizeof *m->words,
                                       .pCode = m->words};
    VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(struct spirv_push)};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = 1,
                                         .pSetLayouts = &d->set_layout,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges = &push};
    unsigned before = messages;
    bool good = !said(vkCreateShaderModule(d->device, &shader, NULL, &l.shader), "shader") &&
                !said(vkCreatePipelineLayout(d->device, &layout, NULL, &l.layout), "layout") && run_parts(&l, range);
    vkDestroyPipelineLayout(d->device, l.layout, NULL);
    vkDestroyShaderModule(d->device, l.shader, NULL);
    if (l.told->cut_short) fprintf(stderr, "# the driver has ended a loop\n");
    return good && messages == before && !l.told->cut_short;
}
