/* Places in memory. */
#include "client/memory/place.h"

#include <inttypes.h>

#include "client/base/error.h"
#include "client/memory/buffer.h"

fusion_status client_memory_of(fusion_session *s, const fusion_memory *place, uint64_t bytes, struct memory **m,
                               uint64_t *offset)
{
    if (place->buffer) {
        *m = &place->buffer->memory;
        *offset = place->offset;
        if ((*m)->session != s)
            return client_error(FUSION_INVALID, place->buffer->memory.name, "the buffer belongs to another session");
    } else {
        pthread_mutex_lock(&s->lock);
        *m = client_usm_find(s, place->pointer);
        pthread_mutex_unlock(&s->lock);
        if (!*m)
            return client_error(FUSION_NOT_FOUND, "usm pointer", "%p lies in no allocation of this session",
                                place->pointer);
        *offset = (uintptr_t)place->pointer - (uintptr_t)(*m)->map;
    }
    if (*offset > (*m)->bytes || bytes > (*m)->bytes - *offset)
        return client_error(FUSION_INVALID, client_memory_name(*m),
                            "%" PRIu64 " bytes from offset %" PRIu64 " reach beyond its %" PRIu64 " bytes", bytes,
                            *offset, (*m)->bytes);
    return FUSION_SUCCESS;
}
