/* Loading the launches of an executable. */
#include "daemon/executor/devices/vulkan/launch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/executor/devices/gpu/block.h"
#include "daemon/executor/devices/gpu/object_file.h"
#include "daemon/executor/devices/gpu/prints.h"
#include "daemon/executor/devices/vulkan/memory.h"
#include "fuser/spirv/abi/abi.h"
#include "proto/include/fusiond/status.h"

enum { CHUNK_BYTES = 64 << 10, BLOCK_ALIGN = 256 /* the most that a driver asks for, of uniform buffers */ };

static uint64_t align_block(uint64_t n)
{
    return (n + BLOCK_ALIGN - 1) & -(uint64_t)BLOCK_ALIGN;
}

/* ---- blocks ---- */

static VkResult describe(struct vulkan_chunk *chunk)
{
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, 1};
    const VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1, .poolSizeCount = 1, .pPoolSizes = &size};
    VkDescriptorSetAllocateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, .descriptorSetCount = 1, .pSetLayouts = &vulkan.block};
    const VkDescriptorBufferInfo buffer = {chunk->memory.buffer, 0, SPIRV_UNIFORM_BYTES};
    VkResult result = vk.CreateDescriptorPool(vulkan.device, &pool, NULL, &chunk->pool);
    set.descriptorPool = chunk->pool;
    if (result == VK_SUCCESS) result = vk.AllocateDescriptorSets(vulkan.device, &set, &chunk->set);
    const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                        .dstSet = chunk->set,
                                        .descriptorCount = 1,
                                        .descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC,
                                        .pBufferInfo = &buffer};
    if (result == VK_SUCCESS) vk.UpdateDescriptorSets(vulkan.device, 1, &write, 0, NULL);
    return result;
}

static void free_chunk(struct vulkan_chunk *chunk)
{
    if (chunk->pool) vk.DestroyDescriptorPool(vulkan.device, chunk->pool, NULL);
    vulkan_memory_free(&chunk->memory);
    free(chunk);
}

static struct vulkan_chunk *add_chunk(struct vulkan_executable *v, uint64_t bytes, struct error *e)
{
    struct vulkan_chunk *chunk = calloc(1, sizeof *chunk);
    if (!chunk) abort();
    chunk->room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    int result = vulkan_memory_make(&chunk->memory, chunk->room + SPIRV_UNIFORM_BYTES, VULKAN_ARGUMENTS, NULL, e);
    VkResult described = result == 0 ? describe(chunk) : VK_SUCCESS;
    if (described != VK_SUCCESS) result = vulkan_fail(e, NULL, "its arguments cannot be described", described);
    if (result != 0) {
        free_chunk(chunk);
        return NULL;
    }
    chunk->next = v->chunks;
    return v->chunks = chunk;
}

/* Memory that the host writes, so many bytes into a chunk. NULL with the error. */
static struct vulkan_chunk *take_block(struct vulkan_executable *v, uint64_t bytes, uint64_t *offset, struct error *e)
{
    struct vulkan_chunk *chunk = v->chunks;
    if (!chunk || chunk->room - chunk->used < align_block(bytes)) chunk = add_chunk(v, align_block(bytes), e);
    if (!chunk) return NULL;
    *offset = chunk->used;
    chunk->used += align_block(bytes);
    return chunk;
}

void vulkan_chunks_free(struct vulkan_chunk *chunks)
{
    for (struct vulkan_chunk *next; chunks; chunks = next) {
        next = chunks->next;
        free_chunk(chunks);
    }
}

static void write_constants(const struct gpu_object *o, uint8_t *host, uint64_t address)
{
    memcpy(host, o->constants, o->header.constants_size);
    for (uint64_t i = 0; i < o->header.n_relocations; i++) {
        uint64_t pointer;
        memcpy(&pointer, host + o->relocations[i], sizeof pointer);
        pointer += address;
        memcpy(host + o->relocations[i], &pointer, sizeof pointer);
    }
}

static int write_block(struct vulkan_launch *v, struct vulkan_executable *all, const struct gpu_object *o,
                       const struct program_launch *p, struct error *e)
{
    struct vulkan_chunk *chunk;
    uint64_t at, constants = 0;
    if (o->header.prints && vulkan_memory_make(&v->prints, GPU_PRINT_BYTES, VULKAN_STAGING, NULL, e) != 0) return -1;
    if (o->header.constants_size) {
        if (!(chunk = take_block(all, o->header.constants_size, &at, e))) return -1;
        constants = chunk->memory.address + at;
        write_constants(o, chunk->memory.host + at, constants);
    }
    if (!(chunk = take_block(all, gpu_block_bytes(p), &at, e))) return -1;
    v->block = chunk->memory.host + at;
    v->address = chunk->memory.address + at;
    v->set = chunk->set;
    v->offset = (uint32_t)at;
    gpu_block_open(v->block, p, constants, v->prints.address);
    return 0;
}

/* ---- work-group memory: the kernel's own, then that of local pointers ---- */

static int check_object(const struct gpu_object *o, const struct program_launch *p, struct error *e)
{
    uint64_t local = gpu_lay_out_local(p, o->header.local_bytes, NULL) + o->header.item_bytes * p->group_items;
    if (o->header.args_size != p->args_size)
        return error_set(e, FUSION_INTERNAL, NULL, "its object takes %u bytes of arguments, the program has %u",
                         o->header.args_size, p->args_size);
    if (local > vulkan.description.max_local_bytes)
        return error_set(e, FUSION_FEATURE_NOT_SUPPORTED, NULL,
                         "a work-group needs %" PRIu64 " bytes of work-group memory; device vulkan (%s) has %" PRIu64,
                         local, vulkan.description.name, vulkan.description.max_local_bytes);
    if (o->header.sub_group_size && !vulkan.sizes_sub_groups &&
        o->header.sub_group_size != vulkan.description.target.sub_group)
        return error_set(e, FUSION_FEATURE_NOT_SUPPORTED, NULL,
                         "device vulkan (%s) does not let kernels choose the size of sub-groups",
                         vulkan.description.name);
    return 0;
}

/* ---- loading ---- */

static void free_code(struct launch_code *code)
{
    struct vulkan_launch *v = (struct vulkan_launch *)code;
    vulkan_pieces_free(&v->pieces);
    vulkan_memory_free(&v->prints);
    free(v);
}

static int never_run(struct launch_code *code, struct executable *x, uint32_t launch, uint64_t *next, uint64_t end,
                     const struct launch_context *context, struct error *e)
{
    (void)code, (void)next, (void)end, (void)context;
    return error_set(e, FUSION_INTERNAL, x->program->launches[launch].name, "is run with others, or not at all");
}

static int make(struct vulkan_launch *v, struct executable *x, uint32_t launch, const struct gpu_object *o,
                struct error *e)
{
    const struct program_launch *p = &x->program->launches[launch];
    if (check_object(o, p, e) != 0) return -1;
    uint32_t local = (uint32_t)gpu_lay_out_local(p, o->header.local_bytes, x->launches[launch].args);
    if (write_block(v, x->of_device, o, p, e) != 0) return -1;
    if (vulkan.gives_binaries) v->code.binary = &v->kept.told;
    return vulkan_pieces_make(&v->pieces, o, p, local, &v->kept, e);
}

static int load(struct vulkan_launch *v, struct executable *x, uint32_t launch, int fd, struct error *e)
{
    struct gpu_object_file file;
    if (gpu_object_open(&file, fd, e) != 0) return -1;
    int result = make(v, x, launch, &file.object, e);
    gpu_object_close(&file);
    return result;
}

struct launch_code *vulkan_launch_load(struct executable *x, uint32_t launch, int fd, struct error *e)
{
    struct vulkan_launch *v = calloc(1, sizeof *v);
    if (!v) abort();
    v->code = (struct launch_code){.run = never_run, .free = free_code};
    if (load(v, x, launch, fd, e) == 0) return &v->code;
    error_about(e, "kernel %s", x->program->launches[launch].name);
    free_code(&v->code);
    return NULL;
}
