/* Memory of the session as kernels reach it. */
#include "daemon/executor/devices/level_zero/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/include/fusiond/status.h"

enum { ALIGNMENT = 4096 }; /* as the session's: kernels may count on it */

static void free_shared(void *data)
{
    struct level_zero_shared *s = data;
    if (s->own) ze.MemFree(level_zero.context, s->own);
    free(s);
}

static int make(struct level_zero_shared *s, uint64_t bytes, const char *object, struct error *e)
{
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    if (level_zero.description.shares_memory) return 0;
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

struct level_zero_shared *level_zero_share(struct device_memory *kept, uint8_t *memory, uint64_t bytes,
                                           const char *object, struct error *e)
{
    if (kept->data) return kept->data;
    struct level_zero_shared *s = calloc(1, sizeof *s);
    if (!s) abort();
    s->session = memory;
    if (make(s, bytes, object, e) != 0) {
        free_shared(s);
        return NULL;
    }
    *kept = (struct device_memory){s, free_shared};
    return s;
}

ze_result_t level_zero_shared_record(const struct level_zero_shared *s, ze_command_list_handle_t list, uint64_t offset,
                                     uint64_t bytes, bool back)
{
    if (!s->own || !bytes) return ZE_RESULT_SUCCESS;
    uint8_t *own = (uint8_t *)s->own + offset, *session = s->session + offset;
    return ze.CommandListAppendMemoryCopy(list, back ? session : own, back ? own : session, bytes, NULL, 0, NULL);
}
