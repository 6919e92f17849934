/* A submission's entry in the ring. */
#include "client/exec/entry.h"

#include <stdlib.h>
#include <string.h>

bool client_entry_add(struct entry *e, const void *data, size_t bytes)
{
    size_t padded = (bytes + 7) & ~(size_t)7;
    if (e->size + padded > e->capacity) {
        size_t more = (e->size + padded) * 2;
        uint8_t *bigger = realloc(e->rest, more);
        if (!bigger) return false;
        e->rest = bigger;
        e->capacity = more;
    }
    memset(e->rest + e->size, 0, padded);
    memcpy(e->rest + e->size, data, bytes);
    e->size += padded;
    return true;
}

bool client_entry_bind(struct entry *e, uint32_t slot, const struct binding *b)
{
    struct ring_binding bound = {.slot = slot, .buffer = b->memory->id, .offset = b->offset};
    e->head.n_bindings++;
    return client_entry_add(e, &bound, sizeof bound);
}

bool client_entry_after(struct entry *e, fusion_event event)
{
    e->head.n_after++;
    return client_entry_add(e, &event, sizeof event);
}

bool client_entry_value(struct entry *e, uint32_t value, const void *data, uint32_t size)
{
    struct ring_value v = {.value = value, .size = size};
    e->head.n_values++;
    return client_entry_add(e, &v, sizeof v) && client_entry_add(e, data, size);
}
