/*
 * Consecutive launches as one command list. A list has the arguments of its launches in it, so it is recorded anew when
 * one of them has changed: memory elsewhere, another number.
 */
#include "daemon/executor/devices/level_zero/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/executor/devices/gpu/places.h"
#include "daemon/executor/devices/level_zero/memory.h"
#include "daemon/executor/devices/level_zero/queue.h"
#include "daemon/executor/program/buffers.h"

struct level_zero_batch {
    struct level_zero_batch *next;
    uint32_t *launches, n;
    ze_command_list_handle_t list; /* NULL: not made */
    bool is_recorded;
    uint32_t places;
    struct gpu_used *used, *recorded_used; /* by place: now, and when the list was recorded */
    size_t args_size;
    uint8_t *args, *recorded; /* the launches' blocks, one after the other: now, and when they were recorded */
};

static const struct program_launch *launch_of(const struct executable *x, const struct level_zero_batch *b, uint32_t i)
{
    return &x->program->launches[b->launches[i]];
}

/* The block of a launch, with addresses as kernels take them. */
static void write_args(const struct executable *x, const struct level_zero_batch *b, uint32_t index, uint8_t *args)
{
    const struct program_launch *p = launch_of(x, b, index);
    if (p->args_size) memcpy(args, x->launches[b->launches[index]].args, p->args_size);
    for (uint32_t i = 0; i < p->n_params; i++) {
        int64_t at = gpu_place(x->program, &p->params[i]);
        if (at < 0) continue;
        const struct gpu_used *u = &b->used[at];
        uint64_t offset = p->params[i].kind == PROGRAM_PARAM_SLOT ? p->params[i].offset : 0;
        uint64_t address = level_zero_shared_address(u->shared) + u->part.offset + offset;
        memcpy(args + p->params[i].at, &address, sizeof address);
    }
}

/* ---- recording ---- */

static ze_result_t set_argument(ze_kernel_handle_t kernel, uint32_t i, const struct program_param *param,
                                const uint8_t *args)
{
    if (param->kind == PROGRAM_PARAM_LOCAL) return ze.KernelSetArgumentValue(kernel, i, param->offset, NULL);
    return ze.KernelSetArgumentValue(kernel, i, param->size, args + param->at);
}

static ze_result_t record_piece(const struct level_zero_launch *l, const struct level_zero_piece *p,
                                ze_command_list_handle_t list)
{
    ze_result_t result = ze.KernelSetGroupSize(l->kernel, p->size[0], p->size[1], p->size[2]);
    if (result == ZE_RESULT_SUCCESS && level_zero.offsets_ranges)
        result = ze.KernelSetGlobalOffsetExp(l->kernel, p->offset[0], p->offset[1], p->offset[2]);
    if (result == ZE_RESULT_SUCCESS)
        result = ze.CommandListAppendLaunchKernel(list, l->kernel, &p->groups, NULL, 0, NULL);
    return result;
}

static ze_result_t record_launch(const struct executable *x, const struct level_zero_batch *b, uint32_t index,
                                 const uint8_t *args)
{
    const struct program_launch *p = launch_of(x, b, index);
    const struct level_zero_launch *l = (const struct level_zero_launch *)x->launches[b->launches[index]].code;
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < p->n_params && result == ZE_RESULT_SUCCESS; i++)
        result = set_argument(l->kernel, i, &p->params[i], args);
    for (uint32_t i = 0; i < l->n_pieces && result == ZE_RESULT_SUCCESS; i++)
        result = record_piece(l, &l->pieces[i], b->list);
    return result == ZE_RESULT_SUCCESS ? ze.CommandListAppendBarrier(b->list, NULL, 0, NULL) : result;
}

static ze_result_t record_all(const struct executable *x, struct level_zero_batch *b)
{
    const uint8_t *args = b->args;
    ze_result_t result = level_zero_record_moves(b->used, b->places, b->list, false);
    if (result == ZE_RESULT_SUCCESS) result = ze.CommandListAppendBarrier(b->list, NULL, 0, NULL);
    for (uint32_t i = 0; i < b->n && result == ZE_RESULT_SUCCESS; i++) {
        result = record_launch(x, b, i, args);
        args += launch_of(x, b, i)->args_size;
    }
    if (result == ZE_RESULT_SUCCESS) result = level_zero_record_moves(b->used, b->places, b->list, true);
    return result == ZE_RESULT_SUCCESS ? ze.CommandListClose(b->list) : result;
}

static int record(const struct executable *x, struct level_zero_batch *b, const char *object, struct error *e)
{
    ze_result_t result = level_zero_begin(&b->list);
    b->is_recorded = false;
    if (result == ZE_RESULT_SUCCESS) result = record_all(x, b);
    if (result != ZE_RESULT_SUCCESS) return level_zero_fail(e, object, "its commands cannot be recorded", result);
    memcpy(b->recorded, b->args, b->args_size);
    memcpy(b->recorded_used, b->used, b->places * sizeof *b->used);
    b->is_recorded = true;
    return 0;
}

static bool is_recorded(const struct level_zero_batch *b)
{
    return b->is_recorded && memcmp(b->args, b->recorded, b->args_size) == 0 &&
           gpu_same_moves(b->used, b->recorded_used, b->places);
}

/* ---- running ---- */

static struct level_zero_batch *find_batch(struct executable *x, const uint32_t *launches, uint32_t n)
{
    struct level_zero_executable *l = x->of_device;
    uint32_t places = gpu_places(x->program);
    size_t args_size = 0;
    for (struct level_zero_batch *b = l->batches; b; b = b->next)
        if (b->n == n && memcmp(b->launches, launches, n * sizeof *launches) == 0) return b;
    for (uint32_t i = 0; i < n; i++) args_size += x->program->launches[launches[i]].args_size;
    struct level_zero_batch *b =
        calloc(1, sizeof *b + 2 * places * sizeof *b->used + n * sizeof *launches + 2 * args_size);
    if (!b) abort();
    *b = (struct level_zero_batch){.next = l->batches, .n = n, .places = places, .args_size = args_size};
    b->used = (struct gpu_used *)(b + 1);
    b->recorded_used = b->used + places;
    b->launches = (uint32_t *)(b->recorded_used + places);
    memcpy(b->launches, launches, n * sizeof *launches);
    b->args = (uint8_t *)(b->launches + n);
    b->recorded = b->args + args_size;
    return l->batches = b;
}

static int run(struct executable *x, struct level_zero_batch *b, const char *object, struct ring *ring, struct error *e)
{
    uint8_t *args = b->args;
    for (uint32_t i = 0; i < b->n; i++) {
        write_args(x, b, i, args);
        args += launch_of(x, b, i)->args_size;
    }
    if (!is_recorded(b) && record(x, b, object, e) != 0) return -1;
    if (level_zero_submit(b->list, object, e) != 0) return -1;
    gpu_used_moved(b->used, b->places, ring);
    return 0;
}

int level_zero_run_launches(struct executable *x, const uint32_t *launches, uint32_t n,
                            const struct launch_context *context, struct error *e)
{
    if (n == 0) return 0;
    struct level_zero_batch *b = find_batch(x, launches, n);
    char object[300];
    snprintf(object, sizeof object, "kernel %s", launch_of(x, b, 0)->name);
    if (gpu_find_used(b->used, x, launches, n, context->slots, level_zero_share, e) != 0) return -1;
    level_zero_lock();
    int result = run(x, b, object, context->buffers->ring, e);
    level_zero_unlock();
    return result;
}

void level_zero_batches_free(struct level_zero_batch *batches)
{
    level_zero_lock();
    for (struct level_zero_batch *next; batches; batches = next) {
        next = batches->next;
        if (batches->list) ze.CommandListDestroy(batches->list);
        free(batches);
    }
    level_zero_unlock();
}
