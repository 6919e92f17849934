/* Memory of the session as kernels reach it. */
#include "daemon/executor/devices/level_zero/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/executor/devices/level_zero/queue.h"
#include "proto/include/fusiond/status.h"
#include "proto/lead.h"

enum { ALIGNMENT = 4096 }; /* a page: more than kernels count on */

struct level_zero_shared {
    struct gpu_shared shared;
    void *own; /* the device's memory; NULL: kernels use the session's */
};

static void free_shared(void *data)
{
    struct level_zero_shared *s = data;
    if (s->own) ze.MemFree(level_zero.context, s->own);
    free(s);
}

static int make(struct level_zero_shared *s, uint64_t bytes, const char *object, struct error *e)
{
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    bool aligned = (uintptr_t)s->shared.session % PROTO_LEAD_ALIGNMENT == 0; /* for vectors */
    if (level_zero.description.shares_memory && aligned) return 0;
    if (bytes > level_zero.description.max_buffer_bytes)
        return error_set(e, FUSION_OUT_OF_MEMORY, object,
                         "%" PRIu64 " bytes are more than device level_zero can have in one piece (%" PRIu64 ")", bytes,
                         level_zero.description.max_buffer_bytes);
    ze_result_t result = ze.MemAllocDevice(level_zero.context, &desc, bytes, ALIGNMENT, level_zero.device, &s->own);
    if (result == ZE_RESULT_SUCCESS) return 0;
    char text[100];
    s->own = NULL;
    snprintf(text, sizeof text, "%" PRIu64 " bytes cannot be had", bytes);
    return level_zero_fail(e, object, text, result);
}

static ze_result_t record(const struct level_zero_shared *s, ze_command_list_handle_t list, const struct gpu_move *m,
                          bool back)
{
    if (!s->own || !m->bytes) return ZE_RESULT_SUCCESS;
    uint8_t *own = (uint8_t *)s->own + m->offset, *session = s->shared.session + m->offset;
    return ze.CommandListAppendMemoryCopy(list, back ? session : own, back ? own : session, m->bytes, NULL, 0, NULL);
}

static int fetch(void *data, struct error *e)
{
    static const char object[] = "copy from device";
    const struct level_zero_shared *s = data;
    const struct gpu_move all = {0, s->shared.bytes};
    ze_command_list_handle_t list = NULL;
    level_zero_lock();
    ze_result_t result = level_zero_begin_copies(&list);
    if (result == ZE_RESULT_SUCCESS) result = record(s, list, &all, true);
    int code = level_zero_finish_copies(list, result, object, e);
    level_zero_unlock();
    return code;
}

struct gpu_shared *level_zero_share(struct device_memory *kept, uint8_t *memory, uint64_t bytes, const char *object,
                                    struct error *e)
{
    if (kept->data) return kept->data;
    struct level_zero_shared *s = calloc(1, sizeof *s);
    if (!s) abort();
    s->shared = (struct gpu_shared){memory, bytes, gpu_shared_serial()};
    if (make(s, bytes, object, e) != 0) {
        free_shared(s);
        return NULL;
    }
    *kept = (struct device_memory){s, free_shared, .fetch = s->own ? fetch : NULL};
    return &s->shared;
}

uint64_t level_zero_shared_address(const struct gpu_shared *shared)
{
    const struct level_zero_shared *s = (const struct level_zero_shared *)shared;
    return (uintptr_t)(s->own ? s->own : shared->session);
}

ze_result_t level_zero_record_move(const struct gpu_used *used, ze_command_list_handle_t list, bool back)
{
    if (!used->shared) return ZE_RESULT_SUCCESS;
    return record((const struct level_zero_shared *)used->shared, list, back ? &used->back : &used->in, back);
}

/* ---- copies and fills of a graph ---- */

static ze_result_t record_row(const struct gpu_transfer *t, uint32_t i, ze_command_list_handle_t list)
{
    const struct program_step *step = t->step;
    uint8_t *to = (uint8_t *)((const struct level_zero_shared *)t->to)->own + gpu_row_to(t, i);
    if (!t->from)
        return ze.CommandListAppendMemoryFill(list, to, step->pattern, step->pattern_size, step->bytes, NULL, 0, NULL);
    const uint8_t *from = (const uint8_t *)((const struct level_zero_shared *)t->from)->own + gpu_row_from(t, i);
    return ze.CommandListAppendMemoryCopy(list, to, from, step->bytes, NULL, 0, NULL);
}

int level_zero_transfer(const struct gpu_transfer *t, const char *object, struct error *e)
{
    ze_command_list_handle_t list = NULL;
    if (!t->from && t->step->pattern_size > level_zero.max_pattern_bytes) return 0;
    level_zero_lock();
    ze_result_t result = level_zero_begin_copies(&list);
    for (uint32_t i = 0; i < t->n_rows && result == ZE_RESULT_SUCCESS; i++) result = record_row(t, i, list);
    int code = level_zero_finish_copies(list, result, object, e);
    level_zero_unlock();
    return code == 0 ? 1 : -1;
}
