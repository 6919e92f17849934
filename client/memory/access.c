/* Who has a buffer's contents. */
#include "client/memory/access.h"

#include "client/base/error.h"
#include "client/base/sized.h"
#include "client/memory/buffer.h"
#include "client/memory/memory.h"
#include "client/session/fork.h"
#include "client/session/held.h"
#include "client/session/push.h"
#include "client/session/wait.h"

uint32_t client_memory_submitted(struct memory *m)
{
    m->on_device |= !(m->host & RING_HOST_WRITES);
    m->host_is_old |= !m->host;
    return m->host;
}

/* ---- back from devices ---- */

enum { TRIES = 3 }; /* an executor that dies when it is asked has one in its place, which knows what was lost */

struct taking {
    struct memory *memory;
    uint32_t host;
};

static bool push_take(void *data, uint64_t sequence)
{
    const struct taking *t = data;
    struct memory *m = t->memory;
    const struct ring_binding binding = {.buffer = m->id, .host = t->host};
    const struct ring_entry entry = {.size = sizeof entry + sizeof binding, .sequence = sequence, .n_bindings = 1};
    if (!ring_push(m->session->ring, &entry, &binding, sizeof binding)) return false;
    client_open_add(m->session, &m->uses, sequence);
    m->host_is_old = false;
    m->on_device &= !(t->host & RING_HOST_WRITES);
    return true;
}

fusion_status client_memory_take(struct memory *m, uint32_t host, fusion_event *event)
{
    struct taking t = {m, host | (event ? 0 : RING_NEXT_FAILS)};
    pthread_mutex_lock(&m->session->lock);
    bool needed = host & RING_HOST_WRITES ? m->on_device : m->host_is_old;
    pthread_mutex_unlock(&m->session->lock);
    if (event) *event = 0;
    return needed ? client_push(m->session, push_take, &t, event) : FUSION_SUCCESS;
}

/* Where it failed the contents may be with the device as before. */
static fusion_status take_now(struct memory *m, uint32_t host)
{
    fusion_event event;
    fusion_status status = client_memory_take(m, host, &event);
    if (status == FUSION_SUCCESS && event) status = client_wait(m->session, event, -1, NULL);
    if (status == FUSION_SUCCESS) return FUSION_SUCCESS;
    pthread_mutex_lock(&m->session->lock);
    m->on_device = m->host_is_old = true;
    pthread_mutex_unlock(&m->session->lock);
    return client_error(status, client_memory_name(m), "%s", fusion_last_error()->reason);
}

fusion_status client_memory_access(struct memory *m, uint32_t host, void **memory)
{
    if (client_is_foreign(m->session)) return client_foreign(client_memory_name(m));
    fusion_status status = client_memory_ensure(m);
    if (status != FUSION_SUCCESS) return status;
    client_flush(m->session);
    client_open_wait(m->session, &m->uses); /* how they went, their own waiters learn */
    for (int i = 0; i == 0 || (i < TRIES && status == FUSION_EXECUTOR); i++) status = take_now(m, host);
    if (status == FUSION_SUCCESS) *memory = m->map;
    return status;
}

/* ---- mapping ---- */

static void set_host(struct memory *m, uint32_t host)
{
    pthread_mutex_lock(&m->session->lock);
    m->host = host;
    pthread_mutex_unlock(&m->session->lock);
}

/* Returns what it was. */
static uint32_t add_host(struct memory *m, uint32_t host)
{
    pthread_mutex_lock(&m->session->lock);
    uint32_t before = m->host;
    m->host |= host;
    pthread_mutex_unlock(&m->session->lock);
    return before;
}

static fusion_status map(fusion_buffer *b, uint32_t host, void **memory)
{
    struct memory *m = &b->memory;
    uint32_t before = add_host(m, host);
    fusion_status status = client_memory_access(m, host, memory);
    if (status != FUSION_SUCCESS) set_host(m, before);
    return status;
}

fusion_status fusion_buffer_map(fusion_buffer *b, void **memory)
{
    return map(b, CLIENT_HOST_ALL, memory);
}

fusion_status fusion_buffer_map_read(fusion_buffer *b, const void **memory)
{
    void *map_of_all;
    fusion_status status = map(b, RING_HOST_READS, &map_of_all);
    if (status == FUSION_SUCCESS) *memory = map_of_all;
    return status;
}

void fusion_buffer_unmap(fusion_buffer *b)
{
    if (b) set_host(&b->memory, 0);
}

void fusion_session_transfers(const fusion_session *s, fusion_transfers *transfers)
{
    fusion_transfers own = {.to_device = atomic_load(&s->ring->to_device),
                            .from_device = atomic_load(&s->ring->from_device)};
    CLIENT_GIVE(fusion_transfers, from_device, &own, transfers, "transfers");
}
