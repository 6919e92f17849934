/* Pipelines of a launch. */
#include "daemon/executor/devices/vulkan/pipeline.h"

#include "fuser/spirv/abi/abi.h"

/* What all pipelines of a launch are told, by specialization constants. */
struct told {
    uint32_t local_bytes, surplus /* dimensions */, items;
};

static VkResult make_pipeline(VkShaderModule module, const struct gpu_object *object, const uint32_t size[3],
                              const struct told *told, VkPipeline *pipeline)
{
    enum { N = SPIRV_SPEC_ITEMS + 1 };
    const uint32_t values[N] = {size[0], size[1], size[2], told->local_bytes, told->surplus, told->items};
    VkSpecializationMapEntry entries[N];
    for (uint32_t i = 0; i < N; i++) entries[i] = (VkSpecializationMapEntry){i, i * 4, 4};
    const VkSpecializationInfo specialization = {N, entries, sizeof values, values};
    const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo sub_groups = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = object->header.sub_group_size};
    bool sized = object->header.sub_group_size && vulkan.sizes_sub_groups;                 /* else there is one size */
    bool full = sized && size[0] * size[1] * size[2] % object->header.sub_group_size == 0; /* which lie in one row */
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .pNext = sized ? &sub_groups : NULL,
                  .flags = full ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT : 0,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = SPIRV_ENTRY_NAME,
                  .pSpecializationInfo = &specialization},
        .layout = vulkan.layout};
    return vk.CreateComputePipelines(vulkan.device, vulkan.cache, 1, &info, NULL, pipeline);
}

static VkResult make_pipelines(struct vulkan_pieces *p, uint32_t n, VkShaderModule module,
                               const struct gpu_object *object, const struct told *told)
{
    for (; p->n < n; p->n++) {
        VkResult result = make_pipeline(module, object, p->pieces[p->n].size, told, &p->pipelines[p->n]);
        if (result != VK_SUCCESS) return result;
    }
    return VK_SUCCESS;
}

int vulkan_pieces_make(struct vulkan_pieces *p, const struct gpu_object *object, const struct program_launch *launch,
                       uint32_t local_bytes, struct error *e)
{
    const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = object->header.n_words * sizeof(uint32_t),
                                           .pCode = object->words};
    VkShaderModule module;
    *p = (struct vulkan_pieces){.n = 0};
    int n = gpu_pieces_make(p->pieces, launch, object->header.whole_groups, &vulkan.description, e);
    if (n < 0) return -1;
    struct told told = {.local_bytes = local_bytes, .items = gpu_items_of(launch, object->header.items)};
    if (told.items > 1) n = gpu_coarse_piece(&p->pieces[0], launch, told.items);
    for (unsigned d = 0; d < 3; d++)
        told.surplus |= (uint32_t)(launch->range.global[d] % p->pieces[0].size[d] != 0) << d;
    VkResult result = vk.CreateShaderModule(vulkan.device, &info, NULL, &module);
    if (result == VK_SUCCESS) {
        result = make_pipelines(p, (uint32_t)n, module, object, &told);
        vk.DestroyShaderModule(vulkan.device, module, NULL);
    }
    if (result == VK_SUCCESS && vulkan_validated(e) == 0) return 0;
    vulkan_pieces_free(p);
    return result == VK_SUCCESS ? -1 : vulkan_fail(e, NULL, "its SPIR-V is not taken", result);
}

void vulkan_pieces_free(struct vulkan_pieces *p)
{
    for (uint32_t i = 0; i < p->n; i++) vk.DestroyPipeline(vulkan.device, p->pipelines[i], NULL);
    p->n = 0;
}
