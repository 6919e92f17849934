/*
 * Consecutive launches as one command list. A list has the arguments of its launches in it, so it is recorded anew when
 * one of them has changed: memory elsewhere, another number.
 */
#include "daemon/executor/devices/level_zero/commands.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/executor/devices/gpu/lost.h"
#include "daemon/executor/devices/gpu/places.h"
#include "daemon/executor/devices/level_zero/memory.h"
#include "daemon/executor/program/buffers.h"
#include "daemon/executor/program/slot_memory.h"
#include "daemon/executor/program/states.h"

/* Memory that the launches of a batch use: a part of a buffer, or a variable of the program. All zeros: none. */
struct used {
    struct level_zero_shared shared; /* a copy: what it is a copy of may be gone when this is compared */
    uint64_t offset, bytes;
    bool written;
};

struct level_zero_batch {
    struct level_zero_batch *next;
    uint32_t *launches, n;
    ze_command_list_handle_t list; /* NULL: not made */
    bool is_recorded;
    uint32_t places;
    struct used *used, *recorded_used; /* by slot, then by state: now, and when the list was recorded */
    size_t args_size;
    uint8_t *args, *recorded; /* the launches' blocks, one after the other: now, and when they were recorded */
};

/* Lists are made by the thread that runs submissions, and freed by the one that answers the broker. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const struct program_launch *launch_of(const struct executable *x, const struct level_zero_batch *b, uint32_t i)
{
    return &x->program->launches[b->launches[i]];
}

/* ---- what the launches use ---- */

static int use(struct used *u, struct executable *x, const struct program_param *param, const struct slot_memory *slots,
               struct error *e)
{
    const struct level_zero_shared *shared;
    if (param->kind == PROGRAM_PARAM_STATE) {
        struct state *state = x->states[param->index];
        const char *name = x->program->states[param->index].name;
        u->bytes = state->bytes;
        shared = level_zero_share(&state->of_device, state->memory, state->bytes, name, e);
    } else {
        const struct slot_memory *slot = &slots[param->index];
        struct buffer *buffer = slot->buffer;
        u->offset = (uint64_t)(slot->memory - buffer->memory);
        u->bytes = slot->bytes;
        shared = level_zero_share(&buffer->of_device, buffer->memory, buffer->bytes, slot->name, e);
    }
    if (!shared) return -1;
    u->shared = *shared;
    return 0;
}

static int find_used(struct executable *x, struct level_zero_batch *b, const struct slot_memory *slots, struct error *e)
{
    memset(b->used, 0, b->places * sizeof *b->used);
    for (uint32_t i = 0; i < b->n; i++) {
        const struct program_launch *l = launch_of(x, b, i);
        for (uint32_t k = 0; k < l->n_params; k++) {
            int64_t at = gpu_place(x->program, &l->params[k]);
            if (at < 0) continue;
            struct used *u = &b->used[at];
            u->written |= l->params[k].writes || l->params[k].kind == PROGRAM_PARAM_STATE;
            if (!u->shared.session && use(u, x, &l->params[k], slots, e) != 0) return -1;
        }
    }
    return 0;
}

/* The block of a launch, with addresses as kernels take them. */
static void write_args(const struct executable *x, const struct level_zero_batch *b, uint32_t index, uint8_t *args)
{
    const struct program_launch *p = launch_of(x, b, index);
    if (p->args_size) memcpy(args, x->launches[b->launches[index]].args, p->args_size);
    for (uint32_t i = 0; i < p->n_params; i++) {
        int64_t at = gpu_place(x->program, &p->params[i]);
        if (at < 0) continue;
        const struct used *u = &b->used[at];
        uint64_t offset = p->params[i].kind == PROGRAM_PARAM_SLOT ? p->params[i].offset : 0;
        uint64_t address = level_zero_shared_address(&u->shared) + u->offset + offset;
        memcpy(args + p->params[i].at, &address, sizeof address);
    }
}

/* ---- recording ---- */

static ze_result_t record_copies(const struct level_zero_batch *b, bool back)
{
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < b->places && result == ZE_RESULT_SUCCESS; i++) {
        const struct used *u = &b->used[i];
        if (u->shared.session && (u->written || !back))
            result = level_zero_shared_record(&u->shared, b->list, u->offset, u->bytes, back);
    }
    return result;
}

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
    ze_result_t result = record_copies(b, false);
    if (result == ZE_RESULT_SUCCESS) result = ze.CommandListAppendBarrier(b->list, NULL, 0, NULL);
    for (uint32_t i = 0; i < b->n && result == ZE_RESULT_SUCCESS; i++) {
        result = record_launch(x, b, i, args);
        args += launch_of(x, b, i)->args_size;
    }
    if (result == ZE_RESULT_SUCCESS) result = record_copies(b, true);
    return result == ZE_RESULT_SUCCESS ? ze.CommandListClose(b->list) : result;
}

static int record(const struct executable *x, struct level_zero_batch *b, const char *object, struct error *e)
{
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                         .commandQueueGroupOrdinal = level_zero.ordinal};
    ze_result_t result = b->list ? ze.CommandListReset(b->list)
                                 : ze.CommandListCreate(level_zero.context, level_zero.device, &desc, &b->list);
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
           memcmp(b->used, b->recorded_used, b->places * sizeof *b->used) == 0;
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
    b->used = (struct used *)(b + 1);
    b->recorded_used = b->used + places;
    b->launches = (uint32_t *)(b->recorded_used + places);
    memcpy(b->launches, launches, n * sizeof *launches);
    b->args = (uint8_t *)(b->launches + n);
    b->recorded = b->args + args_size;
    return l->batches = b;
}

static int run(struct executable *x, struct level_zero_batch *b, const char *object, struct error *e)
{
    uint8_t *args = b->args;
    for (uint32_t i = 0; i < b->n; i++) {
        write_args(x, b, i, args);
        args += launch_of(x, b, i)->args_size;
    }
    if (!is_recorded(b) && record(x, b, object, e) != 0) return -1;
    ze_result_t result = ze.CommandQueueExecuteCommandLists(level_zero.queue, 1, &b->list, NULL);
    if (result == ZE_RESULT_SUCCESS) result = ze.CommandQueueSynchronize(level_zero.queue, UINT64_MAX);
    if (result == ZE_RESULT_ERROR_DEVICE_LOST) gpu_lost("level_zero", level_zero.description.name, object);
    return result == ZE_RESULT_SUCCESS ? 0 : level_zero_fail(e, object, "running it failed", result);
}

int level_zero_run_launches(struct executable *x, const uint32_t *launches, uint32_t n,
                            const struct launch_context *context, struct error *e)
{
    if (n == 0) return 0;
    struct level_zero_batch *b = find_batch(x, launches, n);
    char object[300];
    snprintf(object, sizeof object, "kernel %s", launch_of(x, b, 0)->name);
    if (find_used(x, b, context->slots, e) != 0) return -1;
    pthread_mutex_lock(&lock);
    int result = run(x, b, object, e);
    pthread_mutex_unlock(&lock);
    return result;
}

void level_zero_batches_free(struct level_zero_batch *batches)
{
    pthread_mutex_lock(&lock);
    for (struct level_zero_batch *next; batches; batches = next) {
        next = batches->next;
        if (batches->list) ze.CommandListDestroy(batches->list);
        free(batches);
    }
    pthread_mutex_unlock(&lock);
}
