/* Pipelines of a launch. */
#include "daemon/executor/devices/vulkan/pipeline.h"

#include "daemon/executor/devices/vulkan/binary.h"
#include "fuser/spirv/abi/abi.h"
#include "proto/include/fusiond/status.h"

/* What pipelines are made with. */
struct source {
    const struct gpu_object *object;
    VkShaderModule module;
    VkPipelineCache cache;
    bool hit; /* all came from what was in the cache, as far as the driver tells */
};

/* What a pipeline is told, by specialization constants. */
enum { CONSTANTS = SPIRV_SPEC_ITEMS + 1 };

static VkResult make_pipeline(struct source *s, const struct gpu_shape *shape, uint32_t i, VkPipeline *pipeline)
{
    const uint32_t *size = shape->sizes[i], sub_group_size = s->object->header.sub_group_size;
    const uint32_t values[CONSTANTS] = {size[0], size[1], size[2], shape->local_bytes, shape->surplus, shape->items};
    VkSpecializationMapEntry entries[CONSTANTS];
    for (uint32_t k = 0; k < CONSTANTS; k++) entries[k] = (VkSpecializationMapEntry){k, k * 4, 4};
    const VkSpecializationInfo specialization = {CONSTANTS, entries, sizeof values, values};
    const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo sub_groups = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = sub_group_size};
    bool sized = sub_group_size && vulkan.sizes_sub_groups;                 /* else there is one size */
    bool full = sized && size[0] * size[1] * size[2] % sub_group_size == 0; /* which lie in one row */
    VkPipelineCreationFeedback feedback = {.flags = 0}, of_stage = {.flags = 0};
    const VkPipelineCreationFeedbackCreateInfo feedback_info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
        .pPipelineCreationFeedback = &feedback,
        .pipelineStageCreationFeedbackCount = 1,
        .pPipelineStageCreationFeedbacks = &of_stage};
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .pNext = vulkan.tells_hits ? &feedback_info : NULL,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .pNext = sized ? &sub_groups : NULL,
                  .flags = full ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT : 0,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = s->module,
                  .pName = SPIRV_ENTRY_NAME,
                  .pSpecializationInfo = &specialization},
        .layout = vulkan.layout};
    VkResult result = vk.CreateComputePipelines(vulkan.device, s->cache, 1, &info, NULL, pipeline);
    if (feedback.flags & VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT)
        s->hit &= (feedback.flags & VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT) != 0;
    return result;
}

static VkResult make_pipelines(struct vulkan_pieces *p, struct source *s, const struct gpu_shape *shape)
{
    const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = s->object->header.n_words * sizeof(uint32_t),
                                           .pCode = s->object->words};
    VkResult result = vk.CreateShaderModule(vulkan.device, &info, NULL, &s->module);
    if (result != VK_SUCCESS) return result;
    s->hit = true;
    for (; p->n < shape->n && result == VK_SUCCESS; p->n += result == VK_SUCCESS)
        result = make_pipeline(s, shape, p->n, &p->pipelines[p->n]);
    vk.DestroyShaderModule(vulkan.device, s->module, NULL);
    return result;
}

/* ---- of a launch ---- */

static int cut(struct vulkan_pieces *p, struct gpu_shape *shape, const struct gpu_object *object,
               const struct program_launch *launch, struct error *e)
{
    int n = gpu_pieces_make(p->pieces, launch, object->header.whole_groups, &vulkan.description, e);
    if (n < 0) return -1;
    shape->items = gpu_items_of(launch, object->header.items);
    if (shape->items > 1) n = gpu_coarse_piece(&p->pieces[0], launch, shape->items, false);
    for (unsigned d = 0; d < 3; d++)
        shape->surplus |= (uint32_t)(launch->range.global[d] % p->pieces[0].size[d] != 0) << d;
    for (int i = 0; i < n; i++)
        for (unsigned d = 0; d < 3; d++) shape->sizes[i][d] = p->pieces[i].size[d];
    shape->n = (uint32_t)n;
    return 0;
}

/* What is kept has code for this launch, or the driver makes some. */
static VkResult make(struct vulkan_pieces *p, const struct gpu_object *object, struct gpu_kept *kept)
{
    size_t size;
    const uint8_t *binary = gpu_kept_find(kept, object, &size);
    VkPipelineCache own = binary ? vulkan_binary_open(binary, size) : VK_NULL_HANDLE;
    struct source source = {.object = object, .cache = own ? own : vulkan.cache};
    VkResult result = make_pipelines(p, &source, &kept->key.shape);
    kept->told.found = own && source.hit;
    kept->told.refused = binary && !kept->told.found;
    if (own) vk.DestroyPipelineCache(vulkan.device, own, NULL);
    return result;
}

int vulkan_pieces_make(struct vulkan_pieces *p, const struct gpu_object *object, const struct program_launch *launch,
                       uint32_t local_bytes, struct gpu_kept *kept, struct error *e)
{
    struct gpu_shape shape = {.local_bytes = local_bytes};
    *p = (struct vulkan_pieces){.n = 0};
    if (cut(p, &shape, object, launch, e) != 0) return -1;
    gpu_kept_begin(kept, &vulkan.description, vulkan.cache_uuid, &shape);
    VkResult result = make(p, object, kept);
    if (result == VK_SUCCESS && vulkan_validated(e) == 0) return 0;
    vulkan_pieces_free(p);
    return result == VK_SUCCESS ? -1 : vulkan_fail(e, NULL, "its SPIR-V is not taken", result);
}

void vulkan_pieces_free(struct vulkan_pieces *p)
{
    for (uint32_t i = 0; i < p->n; i++) vk.DestroyPipeline(vulkan.device, p->pipelines[i], NULL);
    p->n = 0;
}

/* ---- binaries ---- */

/* What it is told comes from an executor, which may have been taken over. */
static bool is_possible(const struct gpu_shape *shape, const struct gpu_object *object)
{
    const struct gpu_description *d = &vulkan.description;
    bool good = shape->n >= 1 && shape->n <= GPU_PIECES && shape->local_bytes <= d->max_local_bytes &&
                shape->surplus < 8 && (shape->items == 1 || shape->items == object->header.items);
    for (uint32_t i = 0; i < shape->n && good; i++) {
        uint64_t all = 1;
        for (unsigned k = 0; k < 3; k++) {
            uint32_t size = shape->sizes[i][k];
            good &= size >= 1 && size <= d->max_group_sides[k];
            all *= good ? size : 1;
        }
        good &= all <= d->max_work_group_size;
    }
    return good;
}

uint8_t *vulkan_make_binary(const struct gpu_object *o, const struct gpu_shape *shape, size_t before, size_t *size,
                            struct error *e)
{
    const VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    struct source source = {.object = o};
    struct vulkan_pieces pieces = {.n = 0};
    uint8_t *binary = NULL;
    if (!is_possible(shape, o)) {
        error_set(e, FUSION_INVALID, NULL, "there are no such pipelines");
        return NULL;
    }
    VkResult result = vk.CreatePipelineCache(vulkan.device, &info, NULL, &source.cache);
    if (result == VK_SUCCESS) result = make_pipelines(&pieces, &source, shape);
    if (result == VK_SUCCESS)
        binary = vulkan_binary_of(source.cache, before, size, e);
    else
        vulkan_fail(e, NULL, "its SPIR-V is not taken", result);
    vulkan_pieces_free(&pieces);
    return binary;
}
