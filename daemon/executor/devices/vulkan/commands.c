/* Consecutive launches as one command buffer. */
#include "daemon/executor/devices/vulkan/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/executor/devices/gpu/block.h"
#include "daemon/executor/devices/gpu/places.h"
#include "daemon/executor/devices/gpu/prints.h"
#include "daemon/executor/devices/vulkan/queue.h"
#include "daemon/executor/devices/vulkan/sharing.h"
#include "daemon/executor/program/buffers.h"
#include "fuser/spirv/abi/abi.h"
#include "proto/include/fusiond/status.h"

struct vulkan_batch {
    struct vulkan_batch *next;
    uint32_t *launches, n;
    VkCommandBuffer commands; /* NULL: not recorded */
    uint32_t places;
    struct gpu_used *used, *recorded; /* by place: now, and when it was recorded */
};

static const struct program_launch *launch_of(const struct executable *x, const struct vulkan_batch *b, uint32_t i)
{
    return &x->program->launches[b->launches[i]];
}

/* ---- recording ---- */

/* In as many dispatches as it takes where a driver has a limit of work-groups in a dimension. */
static void record_piece(VkCommandBuffer commands, const struct gpu_piece *piece, uint64_t address)
{
    struct gpu_dispatch d = {0};
    while (gpu_next_dispatch(&d, piece, vulkan.description.max_groups)) {
        const struct spirv_push push = {address, {d.first[0], d.first[1], d.first[2]}, 0};
        vk.CmdPushConstants(commands, vulkan.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, &push);
        vk.CmdDispatch(commands, d.n[0], d.n[1], d.n[2]);
    }
}

static void record_launches(const struct executable *x, const struct vulkan_batch *b, VkCommandBuffer commands)
{
    const VkPipelineStageFlags compute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    uint32_t since = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        const struct vulkan_launch *l = (const struct vulkan_launch *)x->launches[b->launches[i]].code;
        bool waits = false;
        for (uint32_t k = since; k < i && !waits; k++)
            waits = gpu_meet(x->program, launch_of(x, b, k), launch_of(x, b, i));
        if (waits) {
            vulkan_barrier(commands, compute, compute);
            since = i;
        }
        vk.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, vulkan.layout, 0, 1, &l->set, 1, &l->offset);
        for (uint32_t k = 0; k < l->pieces.n; k++) {
            vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, l->pieces.pipelines[k]);
            record_piece(commands, &l->pieces.pieces[k], l->address);
        }
    }
}

/* Some drivers end loops after a number of rounds, without a word; but launches tell then. */
static bool launches_tell(void)
{
    return !(vulkan.description.target.features & SPIRV_LONG_LOOPS);
}

static const struct vulkan_launch *code_of(const struct executable *x, const struct vulkan_batch *b, uint32_t index)
{
    return (const struct vulkan_launch *)x->launches[b->launches[index]].code;
}

/* Does the host read what kernels themselves write? */
static bool is_any_direct(const struct executable *x, const struct vulkan_batch *b)
{
    if (launches_tell()) return true;
    for (uint32_t i = 0; i < b->n; i++)
        if (code_of(x, b, i)->prints.host) return true;
    for (uint32_t i = 0; i < b->places; i++)
        if (vulkan_shared_is_direct(b->used[i].shared)) return true;
    return false;
}

static int record(struct executable *x, struct vulkan_batch *b, const char *object, struct error *e)
{
    const VkPipelineStageFlags compute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    const VkPipelineStageFlags transfer = VK_PIPELINE_STAGE_TRANSFER_BIT;
    const bool copies_back = vulkan_moves(b->used, b->places, true);
    vulkan_forget(b->commands);
    b->commands = vulkan_begin(object, e);
    if (!b->commands) return -1;
    vulkan_record_moves(b->used, b->places, b->commands, false);
    if (vulkan_moves(b->used, b->places, false)) vulkan_barrier(b->commands, transfer, compute);
    record_launches(x, b, b->commands);
    if (copies_back) vulkan_barrier(b->commands, compute, transfer);
    vulkan_record_moves(b->used, b->places, b->commands, true);
    memcpy(b->recorded, b->used, b->places * sizeof *b->used);
    return vulkan_end(b->commands, compute | (copies_back ? transfer : 0), copies_back || is_any_direct(x, b), object,
                      e);
}

static bool is_recorded(const struct vulkan_batch *b)
{
    return b->commands && gpu_same_moves(b->used, b->recorded, b->places);
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
    *b = (struct vulkan_batch){.next = v->batches, .n = n, .places = places};
    b->used = (struct gpu_used *)(b + 1);
    b->recorded = b->used + places;
    b->launches = (uint32_t *)(b->recorded + places);
    memcpy(b->launches, launches, n * sizeof *launches);
    return v->batches = b;
}

static int check_loops(const struct executable *x, const struct vulkan_batch *b, struct error *e)
{
    for (uint32_t i = 0; i < b->n && launches_tell(); i++) {
        char object[300];
        if (!((const struct spirv_launch *)code_of(x, b, i)->block)->cut_short) continue;
        snprintf(object, sizeof object, "kernel %s", launch_of(x, b, i)->name);
        return error_set(e, FUSION_FEATURE_NOT_SUPPORTED, object,
                         "device vulkan (%s) has ended a loop that goes on: its driver does a number of rounds only",
                         vulkan.description.name);
    }
    return 0;
}

static void take_prints(const struct executable *x, const struct vulkan_batch *b, struct ir_printer *printer)
{
    for (uint32_t i = 0; i < b->n; i++)
        if (code_of(x, b, i)->prints.host) gpu_prints_take((void *)code_of(x, b, i)->prints.host, printer);
}

static int run(struct executable *x, struct vulkan_batch *b, const char *object, const struct launch_context *context,
               struct error *e)
{
    if (!is_recorded(b) && record(x, b, object, e) != 0) return -1;
    for (uint32_t i = 0; i < b->n; i++) {
        const struct vulkan_launch *l = code_of(x, b, i);
        gpu_block_fill(l->block, l->address, x, b->launches[i], b->used, vulkan_shared_address);
        if (l->prints.host) gpu_prints_open((void *)l->prints.host);
    }
    vulkan_move_in(b->used, b->places);
    if (vulkan_submit(b->commands, object, e) != 0) return -1;
    vulkan_move_back(b->used, b->places);
    gpu_used_moved(b->used, b->places, context->buffers->ring);
    take_prints(x, b, context->printer);
    return check_loops(x, b, e);
}

int vulkan_run_launches(struct executable *x, const uint32_t *launches, uint32_t n,
                        const struct launch_context *context, struct error *e)
{
    if (n == 0) return 0;
    struct vulkan_batch *b = find_batch(x, launches, n);
    char object[300];
    snprintf(object, sizeof object, "kernel %s", launch_of(x, b, 0)->name);
    if (gpu_find_used(b->used, x, launches, n, context->slots, vulkan_share, e) != 0) return -1;
    vulkan_lock();
    int result = run(x, b, object, context, e);
    vulkan_unlock();
    return result;
}

void vulkan_batches_free(struct vulkan_batch *batches)
{
    vulkan_lock();
    for (struct vulkan_batch *next; batches; batches = next) {
        next = batches->next;
        vulkan_forget(batches->commands);
        free(batches);
    }
    vulkan_unlock();
}
