/* Consecutive launches as one command buffer. */
#include "daemon/executor/devices/vulkan/commands.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/executor/devices/gpu/lost.h"
#include "daemon/executor/devices/gpu/places.h"
#include "daemon/executor/devices/vulkan/sharing.h"
#include "daemon/executor/program/buffers.h"
#include "daemon/executor/program/slot_memory.h"
#include "daemon/executor/program/states.h"
#include "daemon/executor/run/wait.h"
#include "fuser/spirv/abi/abi.h"
#include "proto/include/fusiond/status.h"

/* Of waiting for a GPU: being woken by its driver takes longer than a small kernel. A driver that computes on the
   processor needs that itself. */
enum { SPIN_NS = 200000 };

/* Memory that the launches of a batch use: a part of a buffer, or a variable of the program. */
struct used {
    struct vulkan_shared *shared;
    uint64_t offset, bytes;
    bool written;
};

struct vulkan_batch {
    struct vulkan_batch *next;
    uint32_t *launches, n;
    VkCommandBuffer commands;     /* NULL: not recorded */
    struct used *used, *recorded; /* by slot, then by state: now, and when it was recorded */
};

/* Command buffers are made by the thread that runs submissions, and freed by the one that answers the broker. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static VkCommandPool pool;
static VkFence fence;

int vulkan_commands_init(struct error *e)
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

/* ---- what the launches use ---- */

static const struct program_launch *launch_of(const struct executable *x, const struct vulkan_batch *b, uint32_t i)
{
    return &x->program->launches[b->launches[i]];
}

static int use_slot(struct used *u, const struct slot_memory *slot, struct error *e)
{
    u->shared = vulkan_share(&slot->buffer->of_device, slot->buffer->memory, slot->buffer->bytes, slot->name, e);
    u->offset = (uint64_t)(slot->memory - slot->buffer->memory);
    u->bytes = slot->bytes;
    return u->shared ? 0 : -1;
}

static int use_state(struct used *u, struct state *state, const char *name, struct error *e)
{
    u->shared = vulkan_share(&state->of_device, state->memory, state->bytes, name, e);
    u->bytes = state->bytes;
    return u->shared ? 0 : -1;
}

static int find_used(struct executable *x, struct vulkan_batch *b, const struct slot_memory *slots, struct error *e)
{
    const struct program *p = x->program;
    memset(b->used, 0, gpu_places(p) * sizeof *b->used);
    for (uint32_t i = 0; i < b->n; i++) {
        const struct program_launch *l = launch_of(x, b, i);
        for (uint32_t k = 0; k < l->n_params; k++) {
            const struct program_param *param = &l->params[k];
            int64_t at = gpu_place(p, param);
            if (at < 0) continue;
            struct used *u = &b->used[at];
            u->written |= param->writes || param->kind == PROGRAM_PARAM_STATE;
            if (u->shared) continue;
            if ((param->kind == PROGRAM_PARAM_SLOT
                     ? use_slot(u, &slots[param->index], e)
                     : use_state(u, x->states[param->index], p->states[param->index].name, e)) != 0)
                return -1;
        }
    }
    return 0;
}

/* ---- recording ---- */

void vulkan_barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkPipelineStageFlags to)
{
    const VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                    .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
    vk.CmdPipelineBarrier(commands, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}

static void dispatch(VkCommandBuffer commands, const struct spirv_push *push, const uint32_t groups[3])
{
    vk.CmdPushConstants(commands, vulkan.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof *push, push);
    vk.CmdDispatch(commands, groups[0], groups[1], groups[2]);
}

static uint32_t least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

/* In as many dispatches as it takes where a driver has a limit of work-groups in a dimension. */
static void record_piece(VkCommandBuffer commands, const struct vulkan_piece *piece, uint64_t address)
{
    const uint64_t *most = vulkan.description.max_groups;
    vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, piece->pipeline);
    for (uint64_t z = 0; z < piece->n[2]; z += most[2])
        for (uint64_t y = 0; y < piece->n[1]; y += most[1])
            for (uint64_t x = 0; x < piece->n[0]; x += most[0]) {
                const struct spirv_push push = {
                    address,
                    {(uint32_t)x + piece->first[0], (uint32_t)y + piece->first[1], (uint32_t)z + piece->first[2]},
                    0};
                const uint32_t groups[3] = {least(piece->n[0] - x, most[0]), least(piece->n[1] - y, most[1]),
                                            least(piece->n[2] - z, most[2])};
                dispatch(commands, &push, groups);
            }
}

/* Launches since the last barrier, as the memory that they touch: is one more in their way? */
static bool meets(const struct executable *x, const struct program_launch *a, const struct program_launch *b)
{
    for (uint32_t i = 0; i < a->n_params; i++)
        for (uint32_t k = 0; k < b->n_params; k++) {
            int64_t place_a = gpu_place(x->program, &a->params[i]), place_b = gpu_place(x->program, &b->params[k]);
            if (place_a < 0 || place_a != place_b) continue;
            if (a->params[i].kind == PROGRAM_PARAM_STATE || a->params[i].writes || b->params[k].writes) return true;
        }
    return false;
}

static void record_copies(const struct executable *x, const struct vulkan_batch *b, VkCommandBuffer commands, bool back)
{
    for (uint32_t i = 0; i < gpu_places(x->program); i++) {
        const struct used *u = &b->used[i];
        if (u->shared && (u->written || !back)) vulkan_shared_record(u->shared, commands, u->offset, u->bytes, back);
    }
}

static void record_launches(const struct executable *x, const struct vulkan_batch *b, VkCommandBuffer commands)
{
    const VkPipelineStageFlags compute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    uint32_t since = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        const struct vulkan_launch *l = (const struct vulkan_launch *)x->launches[b->launches[i]].code;
        bool waits = false;
        for (uint32_t k = since; k < i && !waits; k++) waits = meets(x, launch_of(x, b, k), launch_of(x, b, i));
        if (waits) {
            vulkan_barrier(commands, compute, compute);
            since = i;
        }
        for (uint32_t k = 0; k < l->pieces.n; k++) record_piece(commands, &l->pieces.pieces[k], l->address);
    }
}

static int record(struct executable *x, struct vulkan_batch *b, const char *object, struct error *e)
{
    const VkPipelineStageFlags compute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    const VkPipelineStageFlags transfer = VK_PIPELINE_STAGE_TRANSFER_BIT;
    if (b->commands) vk.FreeCommandBuffers(vulkan.device, pool, 1, &b->commands);
    b->commands = vulkan_begin(object, e);
    if (!b->commands) return -1;
    record_copies(x, b, b->commands, false);
    vulkan_barrier(b->commands, transfer, compute);
    record_launches(x, b, b->commands);
    vulkan_barrier(b->commands, compute, transfer | VK_PIPELINE_STAGE_HOST_BIT);
    record_copies(x, b, b->commands, true);
    vulkan_barrier(b->commands, transfer, VK_PIPELINE_STAGE_HOST_BIT);
    VkResult result = vk.EndCommandBuffer(b->commands);
    if (result != VK_SUCCESS) return vulkan_fail(e, object, "its commands cannot be recorded", result);
    memcpy(b->recorded, b->used, (gpu_places(x->program)) * sizeof *b->used);
    return 0;
}

/* Where kernels use the session's memory itself, commands name none; else they name what they copy. */
static bool is_recorded(const struct executable *x, const struct vulkan_batch *b)
{
    uint32_t n = gpu_places(x->program);
    if (!b->commands) return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct used *now = &b->used[i], *then = &b->recorded[i];
        if (now->shared && now->shared->own.buffer && (now->shared != then->shared || now->offset != then->offset))
            return false;
    }
    return true;
}

/* ---- running ---- */

static struct vulkan_batch *find_batch(struct executable *x, const uint32_t *launches, uint32_t n)
{
    struct vulkan_executable *v = x->of_device;
    uint32_t places = gpu_places(x->program);
    for (struct vulkan_batch *b = v->batches; b; b = b->next)
        if (b->n == n && memcmp(b->launches, launches, n * sizeof *launches) == 0) return b;
    struct vulkan_batch *b = calloc(1, sizeof *b + 2 * places * sizeof *b->used + n * sizeof *launches);
    if (!b) abort();
    *b = (struct vulkan_batch){.next = v->batches, .n = n, .used = (struct used *)(b + 1)};
    b->recorded = b->used + places;
    b->launches = (uint32_t *)(b->recorded + places);
    memcpy(b->launches, launches, n * sizeof *launches);
    return v->batches = b;
}

static struct spirv_launch *block_of(const struct executable *x, const struct vulkan_batch *b, uint32_t index)
{
    return (struct spirv_launch *)((const struct vulkan_launch *)x->launches[b->launches[index]].code)->block;
}

/* The block of a launch, with addresses as kernels take them. */
static void write_block(const struct executable *x, const struct vulkan_batch *b, uint32_t index)
{
    const struct program_launch *p = launch_of(x, b, index);
    const struct executable_launch *l = &x->launches[b->launches[index]];
    struct spirv_launch *block = block_of(x, b, index);
    uint8_t *args = (uint8_t *)block + SPIRV_ARGUMENTS;
    block->cut_short = 0;
    if (p->args_size) memcpy(args, l->args, p->args_size);
    for (uint32_t i = 0; i < p->n_params; i++) {
        int64_t at = gpu_place(x->program, &p->params[i]);
        if (at < 0) continue;
        const struct used *u = &b->used[at];
        uint64_t offset = p->params[i].kind == PROGRAM_PARAM_SLOT ? p->params[i].offset : 0;
        uint64_t address = vulkan_shared_address(u->shared) + u->offset + offset;
        memcpy(args + p->params[i].at, &address, sizeof address);
    }
}

static void move(const struct executable *x, const struct vulkan_batch *b, bool back)
{
    for (uint32_t i = 0; i < gpu_places(x->program); i++) {
        const struct used *u = &b->used[i];
        if (!u->shared) continue;
        if (!back)
            vulkan_shared_take(u->shared, u->offset, u->bytes);
        else if (u->written)
            vulkan_shared_give(u->shared, u->offset, u->bytes);
    }
}

/* Some drivers end loops after a number of rounds, without a word. */
static int check_loops(const struct executable *x, const struct vulkan_batch *b, struct error *e)
{
    for (uint32_t i = 0; i < b->n; i++) {
        char object[300];
        if (!block_of(x, b, i)->cut_short) continue;
        snprintf(object, sizeof object, "kernel %s", launch_of(x, b, i)->name);
        return error_set(e, FUSION_FEATURE_NOT_SUPPORTED, object,
                         "device vulkan (%s) has ended a loop that goes on: its driver does a number of rounds only",
                         vulkan.description.name);
    }
    return 0;
}

static int run(struct executable *x, struct vulkan_batch *b, const char *object, struct error *e)
{
    if (!is_recorded(x, b) && record(x, b, object, e) != 0) return -1;
    for (uint32_t i = 0; i < b->n; i++) write_block(x, b, i);
    move(x, b, false);
    if (vulkan_submit(b->commands, object, e) != 0) return -1;
    move(x, b, true);
    return check_loops(x, b, e);
}

int vulkan_run_launches(struct executable *x, const uint32_t *launches, uint32_t n,
                        const struct launch_context *context, struct error *e)
{
    if (n == 0) return 0;
    struct vulkan_batch *b = find_batch(x, launches, n);
    char object[300];
    snprintf(object, sizeof object, "kernel %s", launch_of(x, b, 0)->name);
    if (find_used(x, b, context->slots, e) != 0) return -1;
    pthread_mutex_lock(&lock);
    int result = run(x, b, object, e);
    pthread_mutex_unlock(&lock);
    return result;
}

void vulkan_batches_free(struct vulkan_batch *batches)
{
    pthread_mutex_lock(&lock);
    for (struct vulkan_batch *next; batches; batches = next) {
        next = batches->next;
        if (batches->commands) vk.FreeCommandBuffers(vulkan.device, pool, 1, &batches->commands);
        free(batches);
    }
    pthread_mutex_unlock(&lock);
}
