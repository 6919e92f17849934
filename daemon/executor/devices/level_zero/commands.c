/*
 * Consecutive launches as one command list, or one for each of several queues, with a block of memory for each launch:
 * its arguments and all else that it is told. Blocks are written for each submission and copied to the device at the
 * list's beginning, so lists are replayed as long as they move the same contents.
 */
#include "daemon/executor/devices/level_zero/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/executor/devices/gpu/block.h"
#include "daemon/executor/devices/gpu/places.h"
#include "daemon/executor/devices/gpu/prints.h"
#include "daemon/executor/devices/level_zero/memory.h"
#include "daemon/executor/devices/level_zero/queue.h"
#include "daemon/executor/program/buffers.h"
#include "fuser/spirv/abi/abi.h"

enum { ALIGNMENT = 4096 /* of blocks, all together */ };

struct level_zero_batch {
    struct level_zero_batch *next;
    uint32_t *launches, n;
    uint8_t *queue;                                  /* of each launch */
    uint32_t n_lists;                                /* one for a queue; 0: they are not recorded */
    ze_command_list_handle_t lists[GPU_MOST_QUEUES]; /* NULL: not made yet */
    uint32_t places;
    struct gpu_used *used, *recorded; /* by place: now, and when the list was recorded */
    uint64_t block_bytes;             /* of all launches' blocks, one behind the other */
    uint8_t *host;                    /* as they are written */
    void *own;                        /* the device's: kernels read these */
};

static const struct program_launch *launch_of(const struct executable *x, const struct level_zero_batch *b, uint32_t i)
{
    return &x->program->launches[b->launches[i]];
}

static const struct level_zero_launch *code_of(const struct executable *x, const struct level_zero_batch *b, uint32_t i)
{
    return (const struct level_zero_launch *)x->launches[b->launches[i]].code;
}

static uint64_t block_bytes(const struct program_launch *p)
{
    return (gpu_block_bytes(p) + SPIRV_BLOCK_ALIGN - 1) & -(uint64_t)SPIRV_BLOCK_ALIGN;
}

/* ---- recording ---- */

static ze_result_t record_piece(const struct level_zero_launch *l, const struct gpu_piece *p,
                                ze_command_list_handle_t list)
{
    struct gpu_dispatch d = {0};
    ze_result_t result = ze.KernelSetGroupSize(l->kernel, p->size[0], p->size[1], p->size[2]);
    while (result == ZE_RESULT_SUCCESS && gpu_next_dispatch(&d, p, level_zero.description.max_groups)) {
        const ze_group_count_t groups = {d.n[0], d.n[1], d.n[2]};
        for (unsigned i = 0; i < 3 && result == ZE_RESULT_SUCCESS; i++)
            result = ze.KernelSetArgumentValue(l->kernel, SPIRV_KERNEL_BASE_X + i, sizeof d.first[i], &d.first[i]);
        if (result == ZE_RESULT_SUCCESS)
            result = ze.CommandListAppendLaunchKernel(list, l->kernel, &groups, NULL, 0, NULL);
    }
    return result;
}

static ze_result_t record_launch(const struct level_zero_launch *l, ze_command_list_handle_t list, const void *block)
{
    uint64_t local = l->local_bytes ? l->local_bytes : SPIRV_BLOCK_ALIGN; /* there is no argument of 0 bytes */
    ze_result_t result = ze.KernelSetArgumentValue(l->kernel, SPIRV_KERNEL_BLOCK, sizeof block, &block);
    if (result == ZE_RESULT_SUCCESS) result = ze.KernelSetArgumentValue(l->kernel, SPIRV_KERNEL_LOCAL, local, NULL);
    for (uint32_t i = 0; i < l->n_pieces && result == ZE_RESULT_SUCCESS; i++)
        result = record_piece(l, &l->pieces[i], list);
    return result;
}

/* A list that is being recorded. */
struct recording {
    const struct executable *x;
    const struct level_zero_batch *b;
    ze_command_list_handle_t list;
    uint8_t queue;
};

static ze_result_t barrier(const struct recording *r)
{
    return ze.CommandListAppendBarrier(r->list, NULL, 0, NULL);
}

/* Those of the queue's launches, of which several lie side by side where there are few queues. */
static ze_result_t record_blocks(const struct recording *r)
{
    const struct level_zero_batch *b = r->b;
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint64_t at = 0;
    for (uint32_t i = 0; i < b->n && result == ZE_RESULT_SUCCESS;) {
        uint8_t queue = b->queue[i];
        uint64_t bytes = 0;
        for (; i < b->n && b->queue[i] == queue; i++) bytes += block_bytes(launch_of(r->x, b, i));
        if (queue == r->queue)
            result =
                ze.CommandListAppendMemoryCopy(r->list, (uint8_t *)b->own + at, b->host + at, bytes, NULL, 0, NULL);
        at += bytes;
    }
    return result;
}

static ze_result_t record_moves(const struct recording *r, bool back)
{
    const struct level_zero_batch *b = r->b;
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < b->places && result == ZE_RESULT_SUCCESS; i++)
        if (gpu_queue_uses(r->x->program, b->launches, b->n, b->queue, r->queue, i))
            result = level_zero_record_move(&b->used[i], r->list, back);
    return result;
}

/* Launches that share memory which one of them writes have a barrier between them. */
static ze_result_t record_launches(const struct recording *r)
{
    const struct level_zero_batch *b = r->b;
    const uint8_t *block = b->own;
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0, since = 0; i < b->n && result == ZE_RESULT_SUCCESS; i++) {
        const struct program_launch *launch = launch_of(r->x, b, i);
        bool waits = false;
        for (uint32_t k = since; k < i && !waits; k++)
            waits = b->queue[k] == r->queue && gpu_meet(r->x->program, launch_of(r->x, b, k), launch);
        if (waits && b->queue[i] == r->queue) {
            result = barrier(r);
            since = i;
        }
        if (result == ZE_RESULT_SUCCESS && b->queue[i] == r->queue)
            result = record_launch(code_of(r->x, b, i), r->list, block);
        block += block_bytes(launch);
    }
    return result;
}

static ze_result_t record_list(const struct recording *r)
{
    ze_result_t result = record_blocks(r);
    if (result == ZE_RESULT_SUCCESS) result = record_moves(r, false);
    if (result == ZE_RESULT_SUCCESS) result = barrier(r);
    if (result == ZE_RESULT_SUCCESS) result = record_launches(r);
    if (result == ZE_RESULT_SUCCESS) result = barrier(r);
    if (result == ZE_RESULT_SUCCESS) result = record_moves(r, true);
    return result == ZE_RESULT_SUCCESS ? ze.CommandListClose(r->list) : result;
}

static int record(const struct executable *x, struct level_zero_batch *b, const char *object, struct error *e)
{
    uint32_t n = gpu_share_out(x->program, b->launches, b->n, b->used, level_zero.n_queues, b->queue);
    b->n_lists = 0;
    for (uint32_t i = 0; i < n; i++) {
        ze_result_t result = level_zero_begin(&b->lists[i]);
        if (result == ZE_RESULT_SUCCESS) result = record_list(&(struct recording){x, b, b->lists[i], (uint8_t)i});
        if (result != ZE_RESULT_SUCCESS) return level_zero_fail(e, object, "its commands cannot be recorded", result);
    }
    memcpy(b->recorded, b->used, b->places * sizeof *b->used);
    b->n_lists = n;
    return 0;
}

/* ---- batches ---- */

static void free_batch(struct level_zero_batch *b)
{
    for (uint32_t i = 0; i < GPU_MOST_QUEUES; i++)
        if (b->lists[i]) ze.CommandListDestroy(b->lists[i]);
    if (b->host) ze.MemFree(level_zero.context, b->host);
    if (b->own) ze.MemFree(level_zero.context, b->own);
    free(b);
}

/* Where work-items do several each, work-groups are others than the launch's. */
static void tell_groups(uint8_t *block, const struct level_zero_launch *l)
{
    struct spirv_launch *launch = (struct spirv_launch *)block;
    for (unsigned d = 0; d < 3 && l->items > 1; d++) {
        launch->local_size[d] = l->pieces[0].size[d];
        launch->num_groups[d] = l->pieces[0].n[d];
    }
}

static int make_blocks(const struct executable *x, struct level_zero_batch *b, const char *object, struct error *e)
{
    const ze_host_mem_alloc_desc_t at_host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    const ze_device_mem_alloc_desc_t at_device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    for (uint32_t i = 0; i < b->n; i++) b->block_bytes += block_bytes(launch_of(x, b, i));
    ze_result_t result = ze.MemAllocHost(level_zero.context, &at_host, b->block_bytes, ALIGNMENT, (void **)&b->host);
    if (result == ZE_RESULT_SUCCESS)
        result =
            ze.MemAllocDevice(level_zero.context, &at_device, b->block_bytes, ALIGNMENT, level_zero.device, &b->own);
    if (result != ZE_RESULT_SUCCESS)
        return level_zero_fail(e, object, "memory for its arguments cannot be had", result);
    uint8_t *block = b->host;
    memset(block, 0, b->block_bytes);
    for (uint32_t i = 0; i < b->n; i++) {
        gpu_block_open(block, launch_of(x, b, i), 0, (uintptr_t)code_of(x, b, i)->prints);
        tell_groups(block, code_of(x, b, i));
        block += block_bytes(launch_of(x, b, i));
    }
    return 0;
}

static struct level_zero_batch *find_batch(struct executable *x, const uint32_t *launches, uint32_t n,
                                           const char *object, struct error *e)
{
    struct level_zero_executable *l = x->of_device;
    uint32_t places = gpu_places(x->program);
    for (struct level_zero_batch *b = l->batches; b; b = b->next)
        if (b->n == n && memcmp(b->launches, launches, n * sizeof *launches) == 0) return b;
    struct level_zero_batch *b =
        calloc(1, sizeof *b + 2 * places * sizeof *b->used + n * (sizeof *launches + sizeof *b->queue));
    if (!b) abort();
    *b = (struct level_zero_batch){.n = n, .places = places};
    b->used = (struct gpu_used *)(b + 1);
    b->recorded = b->used + places;
    b->launches = (uint32_t *)(b->recorded + places);
    b->queue = (uint8_t *)(b->launches + n);
    memcpy(b->launches, launches, n * sizeof *launches);
    if (make_blocks(x, b, object, e) != 0) {
        free_batch(b);
        return NULL;
    }
    b->next = l->batches;
    return l->batches = b;
}

/* ---- running ---- */

static void write_blocks(const struct executable *x, const struct level_zero_batch *b)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        gpu_block_fill(b->host + at, (uintptr_t)b->own + at, x, b->launches[i], b->used, level_zero_shared_address);
        if (code_of(x, b, i)->prints) gpu_prints_open(code_of(x, b, i)->prints);
        at += block_bytes(launch_of(x, b, i));
    }
}

static int run(struct executable *x, struct level_zero_batch *b, const char *object,
               const struct launch_context *context, struct error *e)
{
    write_blocks(x, b);
    bool same = b->n_lists && gpu_same_moves(b->used, b->recorded, b->places);
    if (!same && record(x, b, object, e) != 0) return -1;
    if (level_zero_submit(b->lists, b->n_lists, object, e) != 0) return -1;
    gpu_used_moved(b->used, b->places, context->buffers->ring);
    for (uint32_t i = 0; i < b->n; i++)
        if (code_of(x, b, i)->prints) gpu_prints_take(code_of(x, b, i)->prints, context->printer);
    return 0;
}

int level_zero_run_launches(struct executable *x, const uint32_t *launches, uint32_t n,
                            const struct launch_context *context, struct error *e)
{
    if (n == 0) return 0;
    char object[300];
    snprintf(object, sizeof object, "kernel %s", x->program->launches[launches[0]].name);
    struct level_zero_batch *b = find_batch(x, launches, n, object, e);
    if (!b || gpu_find_used(b->used, x, launches, n, context->slots, level_zero_share, e) != 0) return -1;
    level_zero_lock();
    int result = run(x, b, object, context, e);
    level_zero_unlock();
    return result;
}

void level_zero_batches_free(struct level_zero_batch *batches)
{
    level_zero_lock();
    for (struct level_zero_batch *next; batches; batches = next) {
        next = batches->next;
        free_batch(batches);
    }
    level_zero_unlock();
}
