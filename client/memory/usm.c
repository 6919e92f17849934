/* USM allocations. */
#include <stdlib.h>

#include "client/base/error.h"
#include "client/memory/access.h"
#include "client/memory/memory.h"
#include "proto/lead.h"

/* In the table of addresses only when it has one. */
static fusion_status open_usm(fusion_session *s, struct memory *m)
{
    fusion_status status = client_memory_ensure(m);
    if (status != FUSION_SUCCESS) return status;
    pthread_mutex_lock(&s->lock);
    status = client_usm_insert(s, m);
    pthread_mutex_unlock(&s->lock);
    return status;
}

fusion_status fusion_malloc(fusion_session *s, fusion_usm_kind kind, size_t bytes, void **pointer)
{
    if ((unsigned)kind > FUSION_USM_SHARED)
        return client_error(FUSION_INVALID, "usm allocation", "unknown kind %d", (int)kind);
    if (bytes == 0 || bytes > UINT64_C(1) << 43)
        return client_error(FUSION_INVALID, "usm allocation", "1 to 2^43 bytes are needed, not %zu", bytes);
    struct memory *m = calloc(1, sizeof *m);
    if (!m) return client_no_memory("usm allocation");
    *m = (struct memory){.bytes = bytes,
                         .lead = proto_lead(bytes, PROTO_LEAD_ALIGNMENT),
                         .usm = true,
                         .host = kind == FUSION_USM_DEVICE ? 0 : CLIENT_HOST_ALL};
    fusion_status status = client_memory_register(s, m);
    if (status == FUSION_SUCCESS) {
        status = open_usm(s, m);
        if (status != FUSION_SUCCESS) client_memory_drop(m);
    }
    if (status == FUSION_SUCCESS)
        *pointer = m->map;
    else
        free(m);
    return status;
}

fusion_status fusion_free(fusion_session *s, void *pointer)
{
    if (!pointer) return FUSION_SUCCESS;
    pthread_mutex_lock(&s->lock);
    struct memory *m = client_usm_remove(s, pointer);
    pthread_mutex_unlock(&s->lock);
    if (!m)
        return client_error(FUSION_INVALID, "usm allocation", "%p is not the start of an allocation of this session",
                            pointer);
    client_memory_drop(m);
    free(m);
    return FUSION_SUCCESS;
}
