/* What a physical device can do. */
#include "daemon/executor/devices/vulkan/features.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- extensions ---- */

static bool has_extension(const VkExtensionProperties *list, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(list[i].extensionName, name) == 0) return true;
    return false;
}

static void find_extensions(struct vulkan_features *f, VkPhysicalDevice device)
{
    static const char *const wanted[] = {"VK_EXT_external_memory_host", "VK_EXT_subgroup_size_control",
                                         "VK_EXT_shader_atomic_float", "VK_KHR_workgroup_memory_explicit_layout",
                                         "VK_EXT_pipeline_creation_feedback"};
    uint32_t n = 0;
    vk.EnumerateDeviceExtensionProperties(device, NULL, &n, NULL);
    VkExtensionProperties *list = calloc(n + 1, sizeof *list);
    if (!list) abort();
    vk.EnumerateDeviceExtensionProperties(device, NULL, &n, list);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (has_extension(list, n, wanted[i])) f->extensions[f->n_extensions++] = wanted[i];
    free(list);
}

static bool uses(const struct vulkan_features *f, const char *name)
{
    for (uint32_t i = 0; i < f->n_extensions; i++)
        if (strcmp(f->extensions[i], name) == 0) return true;
    return false;
}

/* ---- features ---- */

static void chain(struct vulkan_features *f)
{
    void **end = &f->core.pNext;
    f->core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    f->v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    f->v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    f->sub_group_size.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES;
    f->atomic_float.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT;
    f->explicit_local.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR;
    *end = &f->v11;
    end = &f->v11.pNext;
    *end = &f->v12;
    end = &f->v12.pNext;
    if (uses(f, "VK_EXT_subgroup_size_control")) {
        *end = &f->sub_group_size;
        end = &f->sub_group_size.pNext;
    }
    if (uses(f, "VK_EXT_shader_atomic_float")) {
        *end = &f->atomic_float;
        end = &f->atomic_float.pNext;
    }
    if (uses(f, "VK_KHR_workgroup_memory_explicit_layout")) *end = &f->explicit_local;
}

/* Others, such as robust access, only cost. */
static void keep_what_we_use(struct vulkan_features *f)
{
    const VkPhysicalDeviceFeatures core = f->core.features;
    const VkPhysicalDeviceVulkan11Features v11 = f->v11;
    const VkPhysicalDeviceVulkan12Features v12 = f->v12;
    f->core.features = (VkPhysicalDeviceFeatures){
        .shaderFloat64 = core.shaderFloat64, .shaderInt16 = core.shaderInt16, .shaderInt64 = core.shaderInt64};
    f->v11 = (VkPhysicalDeviceVulkan11Features){
        .sType = v11.sType, .pNext = v11.pNext, .storageBuffer16BitAccess = v11.storageBuffer16BitAccess};
    f->v12 = (VkPhysicalDeviceVulkan12Features){
        .sType = v12.sType,
        .pNext = v12.pNext,
        .storageBuffer8BitAccess = v12.storageBuffer8BitAccess,
        .shaderBufferInt64Atomics = v12.shaderBufferInt64Atomics,
        .shaderSharedInt64Atomics = v12.shaderSharedInt64Atomics,
        .shaderFloat16 = v12.shaderFloat16,
        .shaderInt8 = v12.shaderInt8,
        .scalarBlockLayout = v12.scalarBlockLayout,
        .shaderSubgroupExtendedTypes = v12.shaderSubgroupExtendedTypes,
        .bufferDeviceAddress = v12.bufferDeviceAddress,
        .vulkanMemoryModel = v12.vulkanMemoryModel,
        .vulkanMemoryModelDeviceScope = v12.vulkanMemoryModelDeviceScope,
        .subgroupBroadcastDynamicId = v12.subgroupBroadcastDynamicId,
    };
}

static const char *missing(const struct vulkan_features *f)
{
    const struct {
        VkBool32 there;
        const char *name;
    } needed[] = {{f->v12.bufferDeviceAddress, "bufferDeviceAddress"},
                  {f->v12.vulkanMemoryModel, "vulkanMemoryModel"},
                  {f->v12.vulkanMemoryModelDeviceScope, "vulkanMemoryModelDeviceScope"},
                  {f->core.features.shaderInt64, "shaderInt64"}};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!needed[i].there) return needed[i].name;
    return NULL;
}

const char *vulkan_features_ask(struct vulkan_features *f, VkPhysicalDevice device)
{
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    *f = (struct vulkan_features){.n_extensions = 0};
    vk.GetPhysicalDeviceProperties2(device, &properties);
    if (properties.properties.apiVersion < VK_API_VERSION_1_2) return "Vulkan 1.2";
    find_extensions(f, device);
    chain(f);
    vk.GetPhysicalDeviceFeatures2(device, &f->core);
    f->imports_memory = uses(f, "VK_EXT_external_memory_host");
    f->tells_hits = uses(f, "VK_EXT_pipeline_creation_feedback");
    keep_what_we_use(f);
    return missing(f);
}

/* ---- in our terms ---- */

/* Those structures that any device of Vulkan 1.2 fills in. */
struct properties {
    VkPhysicalDeviceProperties2 core;
    VkPhysicalDeviceVulkan11Properties v11;
    VkPhysicalDeviceVulkan12Properties v12;
    VkPhysicalDeviceSubgroupSizeControlProperties sub_group_size;
};

static uint64_t flag(VkBool32 there, uint64_t feature)
{
    return there ? feature : 0;
}

static uint64_t integer_features(const struct vulkan_features *f)
{
    const VkPhysicalDeviceFeatures *core = &f->core.features;
    return flag(f->v12.shaderInt8, SPIRV_INT8) | flag(core->shaderInt16, SPIRV_INT16) |
           flag(core->shaderInt64, SPIRV_INT64) | flag(f->v12.storageBuffer8BitAccess, SPIRV_STORAGE8) |
           flag(f->v11.storageBuffer16BitAccess, SPIRV_STORAGE16) |
           flag(f->v12.shaderBufferInt64Atomics, SPIRV_ATOMIC64_GLOBAL) |
           flag(f->v12.shaderSharedInt64Atomics, SPIRV_ATOMIC64_LOCAL);
}

static uint64_t float_features(const struct vulkan_features *f, const struct properties *p)
{
    bool half = f->v12.shaderFloat16, twice = f->core.features.shaderFloat64;
    const VkPhysicalDeviceVulkan12Properties *v12 = &p->v12;
    bool specials = v12->shaderSignedZeroInfNanPreserveFloat32 &&
                    (!half || v12->shaderSignedZeroInfNanPreserveFloat16) &&
                    (!twice || v12->shaderSignedZeroInfNanPreserveFloat64);
    bool even = v12->shaderRoundingModeRTEFloat32 && (!half || v12->shaderRoundingModeRTEFloat16) &&
                (!twice || v12->shaderRoundingModeRTEFloat64);
    return flag(half, SPIRV_FLOAT16) | flag(twice, SPIRV_FLOAT64) |
           flag(f->atomic_float.shaderBufferFloat32AtomicAdd, SPIRV_ATOMIC_FADD32) |
           flag(f->atomic_float.shaderBufferFloat64AtomicAdd, SPIRV_ATOMIC_FADD64) |
           flag(v12->shaderDenormPreserveFloat32, SPIRV_KEEPS_DENORMALS32) |
           flag(v12->shaderDenormPreserveFloat16, SPIRV_KEEPS_DENORMALS16) |
           flag(v12->shaderDenormPreserveFloat64, SPIRV_KEEPS_DENORMALS64) | flag(specials, SPIRV_KEEPS_SPECIALS) |
           flag(even, SPIRV_ROUNDS_TO_EVEN);
}

/* Those of the device, where kernels can do with them what the writer does. */
static uint32_t sub_group_of(const VkPhysicalDeviceVulkan11Properties *p)
{
    const VkSubgroupFeatureFlags needed =
        VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    bool can =
        p->subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT && (p->subgroupSupportedOperations & needed) == needed;
    return can ? p->subgroupSize : 0;
}

static void describe_target(const struct vulkan_features *f, const struct properties *p, struct spirv_target *t)
{
    const VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR *local = &f->explicit_local;
    bool sizes = f->sub_group_size.subgroupSizeControl && f->sub_group_size.computeFullSubgroups &&
                 (p->sub_group_size.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT);
    *t = (struct spirv_target){.dialect = SPIRV_VULKAN, .version = 0x00010500, .sub_group = sub_group_of(&p->v11)};
    t->features = integer_features(f) | float_features(f, p);
    t->features |= flag(local->workgroupMemoryExplicitLayout && local->workgroupMemoryExplicitLayout8BitAccess &&
                            local->workgroupMemoryExplicitLayout16BitAccess,
                        SPIRV_EXPLICIT_LOCAL);
    if (!sizes || !t->sub_group) return;
    t->min_sub_group = p->sub_group_size.minSubgroupSize;
    t->max_sub_group = p->sub_group_size.maxSubgroupSize;
}

void vulkan_features_describe(const struct vulkan_features *f, VkPhysicalDevice device, struct gpu_description *d)
{
    struct properties p = {.core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                           .v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES,
                           .v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES,
                           .sub_group_size.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
    const VkPhysicalDeviceLimits *limits = &p.core.properties.limits;
    p.core.pNext = &p.v11;
    p.v11.pNext = &p.v12;
    if (uses(f, "VK_EXT_subgroup_size_control")) p.v12.pNext = &p.sub_group_size;
    vk.GetPhysicalDeviceProperties2(device, &p.core);
    *d = (struct gpu_description){.device = "vulkan"};
    snprintf(d->name, sizeof d->name, "%s", p.core.properties.deviceName);
    snprintf(d->driver, sizeof d->driver, "%.100s, %.150s", p.v12.driverName, p.v12.driverInfo);
    memcpy(d->uuid, p.v11.driverUUID, sizeof d->uuid);
    d->is_cpu = p.core.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    d->max_work_group_size = limits->maxComputeWorkGroupInvocations;
    for (unsigned i = 0; i < 3; i++) {
        d->max_group_sides[i] = limits->maxComputeWorkGroupSize[i];
        d->max_groups[i] = limits->maxComputeWorkGroupCount[i];
    }
    d->max_local_bytes = limits->maxComputeSharedMemorySize;
    d->max_buffer_bytes = p.v11.maxMemoryAllocationSize;
    describe_target(f, &p, &d->target);
}
