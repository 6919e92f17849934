/* The memories of a session. The table is an object that its session frees, with what is still in it. */
#include "client/memory/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "client/base/array.h"
#include "client/base/error.h"

enum { ID_SLOT_BITS = 20 };

struct memory_table {
    struct client_object object;
    struct memory **memories; /* by slot; an id is slot + 1 + (serial << ID_SLOT_BITS) */
    uint32_t n_memories, memories_capacity;
    uint32_t *free_places, n_free_places; /* slots */
    uint64_t serial;
    struct memory **usm; /* sorted by address */
    uint32_t n_usm, usm_capacity;
};

void client_memory_unmap(const struct memory *m, void *map)
{
    if (map) munmap((uint8_t *)map - m->lead, m->lead + m->bytes);
}

static void free_table(struct client_object *object)
{
    struct memory_table *t = (struct memory_table *)object;
    for (uint32_t i = 0; i < t->n_memories; i++) {
        struct memory *m = t->memories[i];
        if (!m) continue;
        client_memory_unmap(m, m->map ? m->map : m->late_map);
        free(m->name);
        free(m);
    }
    free(t->memories);
    free(t->free_places);
    free(t->usm);
    free(t);
}

/* Made when it is first needed. Session locked. */
static struct memory_table *table_of(fusion_session *s)
{
    if (s->memories) return s->memories;
    struct memory_table *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    client_object_add_locked(s, &t->object, free_table);
    return s->memories = t;
}

/* ---- by number ---- */

/* A new place at the end of the table, and room to note it as free later. */
static fusion_status new_place(struct memory_table *t, uint32_t *slot)
{
    uint32_t capacity = t->memories_capacity;
    if (t->n_memories >= (1u << ID_SLOT_BITS) - 1)
        return client_error(FUSION_OUT_OF_MEMORY, "session", "too many buffers");
    if (!client_reserve(&t->free_places, t->n_memories, &capacity, sizeof *t->free_places) ||
        !client_reserve(&t->memories, t->n_memories, &t->memories_capacity, sizeof *t->memories))
        return client_no_memory("session");
    *slot = t->n_memories++;
    return FUSION_SUCCESS;
}

static fusion_status register_locked(fusion_session *s, struct memory *m)
{
    uint32_t slot = 0;
    struct memory_table *t = table_of(s);
    fusion_status status = t ? FUSION_SUCCESS : client_no_memory("session");
    if (status == FUSION_SUCCESS && t->n_free_places)
        slot = t->free_places[--t->n_free_places];
    else if (status == FUSION_SUCCESS)
        status = new_place(t, &slot);
    if (status != FUSION_SUCCESS) return status;
    t->memories[slot] = m;
    m->id = (slot + 1) | ++t->serial << ID_SLOT_BITS;
    return FUSION_SUCCESS;
}

fusion_status client_memory_register(fusion_session *s, struct memory *m)
{
    m->session = s;
    pthread_mutex_lock(&s->lock);
    fusion_status status = register_locked(s, m);
    pthread_mutex_unlock(&s->lock);
    return status;
}

struct memory *client_memory_find(fusion_session *s, uint64_t id)
{
    const struct memory_table *t = s->memories;
    uint64_t slot = (id & ((1u << ID_SLOT_BITS) - 1)) - 1;
    if (!t || id == 0 || slot >= t->n_memories) return NULL;
    struct memory *m = t->memories[slot];
    return m && m->id == id ? m : NULL;
}

void client_memory_unregister(struct memory *m)
{
    fusion_session *s = m->session;
    pthread_mutex_lock(&s->lock);
    struct memory_table *t = s->memories;
    uint32_t slot = (uint32_t)(m->id & ((1u << ID_SLOT_BITS) - 1)) - 1;
    t->memories[slot] = NULL;
    t->free_places[t->n_free_places++] = slot;
    pthread_mutex_unlock(&s->lock);
}

uint64_t client_memory_serial(const struct memory *m)
{
    return m->id >> ID_SLOT_BITS;
}

const char *client_memory_name(const struct memory *m)
{
    return m->name ? m->name : "usm allocation";
}

/* ---- by address ---- */

/* Index of the first allocation above pointer in the sorted list. */
static uint32_t usm_upper(const struct memory_table *t, const void *pointer)
{
    uint32_t low = 0, high = t->n_usm;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if ((uintptr_t)t->usm[middle]->map <= (uintptr_t)pointer)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct memory *client_usm_find(fusion_session *s, const void *pointer)
{
    const struct memory_table *t = s->memories;
    uint32_t above = t ? usm_upper(t, pointer) : 0;
    if (above == 0) return NULL;
    struct memory *m = t->usm[above - 1];
    return (uintptr_t)pointer - (uintptr_t)m->map < m->bytes ? m : NULL;
}

fusion_status client_usm_insert(fusion_session *s, struct memory *m)
{
    struct memory_table *t = s->memories;
    if (!client_reserve(&t->usm, t->n_usm, &t->usm_capacity, sizeof *t->usm)) return client_no_memory("session");
    uint32_t at = usm_upper(t, m->map);
    memmove(&t->usm[at + 1], &t->usm[at], (t->n_usm - at) * sizeof *t->usm);
    t->usm[at] = m;
    t->n_usm++;
    return FUSION_SUCCESS;
}

struct memory *client_usm_remove(fusion_session *s, const void *pointer)
{
    struct memory_table *t = s->memories;
    uint32_t above = t ? usm_upper(t, pointer) : 0;
    struct memory *m = above && t->usm[above - 1]->map == pointer ? t->usm[above - 1] : NULL;
    if (!m) return NULL;
    memmove(&t->usm[above - 1], &t->usm[above], (t->n_usm - above) * sizeof *t->usm);
    t->n_usm--;
    return m;
}
