/* The memory that executables use, told to callers. */
#include <inttypes.h>
#include <string.h>

#include "client/base/error.h"
#include "client/base/sized.h"
#include "client/exec/exec.h"
#include "client/memory/image.h"

static void tell(const fusion_exec *e, uint32_t slot, fusion_exec_memory_info *info)
{
    uint8_t access = e->slot_access[slot];
    pthread_mutex_lock(&e->session->lock);
    const struct memory *m = client_memory_find(e->session, e->slot_memory[slot]);
    pthread_mutex_unlock(&e->session->lock);
    *info = (fusion_exec_memory_info){.name = e->slot_names[slot],
                                      .bytes = e->slot_bytes[slot],
                                      .reads = access & (SLOT_READ | SLOT_READ_HERE),
                                      .writes = access & (SLOT_WRITTEN | SLOT_WRITTEN_HERE),
                                      .internalized = !e->slot_needed[slot] && !e->slot_host[slot]};
    if (m && m->usm) info->pointer = m->map;
    if (m && m->image) info->image = (fusion_image *)m->buffer;
    if (m && !m->usm && !m->image) {
        info->buffer = m->buffer;
        info->type = m->buffer->type;
        info->count = m->buffer->count;
    }
}

fusion_status fusion_exec_memory(const fusion_exec *e, uint32_t index, fusion_exec_memory_info *info)
{
    fusion_exec_memory_info own;
    if (index >= e->n_slots)
        return client_error(FUSION_NOT_FOUND, "executable", "it uses %" PRIu32 " buffers, images and allocations",
                            e->n_slots);
    tell(e, index, &own);
    return CLIENT_GIVE(fusion_exec_memory_info, internalized, &own, info, "executable's memory");
}

fusion_buffer *fusion_exec_buffer(const fusion_exec *e, const char *name)
{
    for (uint32_t i = 0; i < e->n_slots; i++) {
        fusion_exec_memory_info info;
        if (strcmp(e->slot_names[i], name) != 0) continue;
        tell(e, i, &info);
        return info.buffer;
    }
    return NULL;
}
