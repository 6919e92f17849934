/* Pipelines of a launch. */
#include "daemon/executor/devices/vulkan/pipeline.h"

#include <inttypes.h>
#include <stdio.h>

#include "fuser/spirv/abi/abi.h"
#include "proto/include/fusiond/status.h"

/* ---- into pieces ---- */

/* What a dimension divides into: work-groups that are complete, and where surplus work-items are not allowed, one that
   is not. */
struct cut {
    uint32_t n, first[2], count[2], size[2];
};

static struct cut cut_dimension(const struct program_launch *l, unsigned d, bool whole_groups)
{
    uint64_t local = l->range.local[d], rest = l->range.global[d] % local;
    uint32_t groups = (uint32_t)l->num_groups[d];
    if (!rest || !whole_groups) return (struct cut){1, {0}, {groups}, {(uint32_t)local}};
    if (groups == 1) return (struct cut){1, {0}, {1}, {(uint32_t)rest}};
    return (struct cut){2, {0, groups - 1}, {groups - 1, 1}, {(uint32_t)local, (uint32_t)rest}};
}

static int check_limits(const struct program_launch *l, struct error *e)
{
    const struct gpu_description *d = &vulkan.description;
    if (l->group_items > d->max_work_group_size)
        return error_set(e, FUSION_FEATURE_NOT_SUPPORTED, NULL,
                         "device vulkan (%s) takes work-groups of %" PRIu64 " work-items, not of %" PRIu64, d->name,
                         d->max_work_group_size, l->group_items);
    for (unsigned i = 0; i < 3; i++) {
        if (l->range.local[i] > d->max_group_sides[i])
            return error_set(e, FUSION_FEATURE_NOT_SUPPORTED, NULL,
                             "device vulkan (%s) takes %" PRIu64 " work-items in dimension %u of a work-group, not "
                             "%" PRIu64,
                             d->name, d->max_group_sides[i], i, l->range.local[i]);
        if (l->num_groups[i] > UINT32_MAX)
            return error_set(e, FUSION_FEATURE_NOT_SUPPORTED, NULL,
                             "device vulkan has no more than 2^32 work-groups in a dimension, not %" PRIu64,
                             l->num_groups[i]);
    }
    return 0;
}

/* ---- pipelines ---- */

static VkResult make_pipeline(VkShaderModule module, const struct gpu_object *object, const uint32_t size[3],
                              uint32_t local_bytes, uint32_t surplus, VkPipeline *pipeline)
{
    enum { N = 5 };
    const uint32_t values[N] = {size[0], size[1], size[2], local_bytes, surplus};
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

static VkResult make_pieces(struct vulkan_pieces *p, VkShaderModule module, const struct gpu_object *object,
                            const struct program_launch *l, uint32_t local_bytes)
{
    struct cut cuts[3];
    uint32_t surplus = 0; /* dimensions */
    for (unsigned d = 0; d < 3; d++) surplus |= (uint32_t)(l->range.global[d] % l->range.local[d] != 0) << d;
    for (unsigned d = 0; d < 3; d++) cuts[d] = cut_dimension(l, d, object->header.whole_groups);
    for (uint32_t i = 0; i < cuts[0].n * cuts[1].n * cuts[2].n; i++) {
        const uint32_t at[3] = {i % cuts[0].n, i / cuts[0].n % cuts[1].n, i / cuts[0].n / cuts[1].n};
        struct vulkan_piece *piece = &p->pieces[p->n];
        uint32_t size[3];
        for (unsigned d = 0; d < 3; d++) {
            piece->first[d] = cuts[d].first[at[d]];
            piece->n[d] = cuts[d].count[at[d]];
            size[d] = cuts[d].size[at[d]];
        }
        VkResult result = make_pipeline(module, object, size, local_bytes, surplus, &piece->pipeline);
        if (result != VK_SUCCESS) return result;
        p->n++;
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
    if (check_limits(launch, e) != 0) return -1;
    VkResult result = vk.CreateShaderModule(vulkan.device, &info, NULL, &module);
    if (result == VK_SUCCESS) {
        result = make_pieces(p, module, object, launch, local_bytes);
        vk.DestroyShaderModule(vulkan.device, module, NULL);
    }
    if (result == VK_SUCCESS && vulkan_validated(e) == 0) return 0;
    vulkan_pieces_free(p);
    return result == VK_SUCCESS ? -1 : vulkan_fail(e, NULL, "its SPIR-V is not taken", result);
}

void vulkan_pieces_free(struct vulkan_pieces *p)
{
    for (uint32_t i = 0; i < p->n; i++) vk.DestroyPipeline(vulkan.device, p->pieces[i].pipeline, NULL);
    p->n = 0;
}
