/* Contents that only devices have, and what was moved to them and back. */
#include "proto/ring.h"

/* Nobody else writes there while an executor lives. */
static _Atomic uint64_t *find(struct ring *r, uint64_t buffer)
{
    for (uint32_t i = 0; i < RING_MAX_AWAY; i++)
        if (atomic_load_explicit(&r->away[i], memory_order_relaxed) == buffer) return &r->away[i];
    return NULL;
}

void ring_note_away(struct ring *r, uint64_t buffer)
{
    _Atomic uint64_t *place = ring_is_away(r, buffer) ? NULL : find(r, 0);
    if (place) atomic_store(place, buffer);
}

void ring_forget_away(struct ring *r, uint64_t buffer)
{
    _Atomic uint64_t *place = find(r, buffer);
    if (place) atomic_store(place, 0);
}

bool ring_is_away(const struct ring *r, uint64_t buffer)
{
    return find((struct ring *)r, buffer);
}

void ring_count_moved(struct ring *r, uint64_t to_device, uint64_t from_device)
{
    atomic_fetch_add(&r->to_device, to_device);
    atomic_fetch_add(&r->from_device, from_device);
}
