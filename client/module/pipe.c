/* Opening host pipes. */
#include "client/module/pipe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "client/memory/buffer.h"
#include "client/session/fork.h"
#include "proto/limits.h"

uint32_t fusion_module_pipe_count(const fusion_module *m)
{
    return m->n_pipes;
}

const fusion_pipe_info *fusion_module_pipe(const fusion_module *m, uint32_t index)
{
    return index < m->n_pipes ? &m->pipes[index].info : NULL;
}

const fusion_pipe_info *fusion_pipe_describe(const fusion_pipe *pipe)
{
    return &pipe->declared->info;
}

fusion_session *client_pipe_session(const fusion_pipe *pipe)
{
    return pipe->module->session;
}

/* Has the program an end of it? */
static bool is_ours(const struct module_pipe *p)
{
    return *p->info.id && p->info.kernels_read != p->info.kernels_write;
}

/* ---- making ---- */

static fusion_status make_ring(fusion_pipe *pipe)
{
    const fusion_pipe_info *info = &pipe->declared->info;
    uint32_t bytes = (uint32_t)info->packet_bytes;
    enum pipe_ring_end end = info->kernels_read ? PIPE_RING_WRITER : PIPE_RING_READER;
    void *memory;
    const char *name = strlen(info->id) <= PROTO_MAX_NAME ? info->id : NULL;
    fusion_status status = fusion_buffer_create(pipe->module->session, name, FUSION_BYTES,
                                                pipe_ring_bytes(bytes, info->capacity), 0, &pipe->buffer);
    if (status == FUSION_SUCCESS) status = fusion_buffer_map(pipe->buffer, &memory);
    if (status != FUSION_SUCCESS) return status;
    pipe_ring_init(memory, bytes, info->capacity);
    pipe_ring_open(&pipe->port, memory, bytes, info->capacity, end);
    return FUSION_SUCCESS;
}

static fusion_pipe *find_pipe(const fusion_module *m, const struct module_pipe *declared, const char *device)
{
    fusion_pipe *pipe = m->opened;
    while (pipe && (pipe->declared != declared || strcmp(pipe->device, device) != 0)) pipe = pipe->next;
    return pipe;
}

/* The module is locked for pipes. */
static fusion_status get_pipe(fusion_module *m, const struct module_pipe *declared, const char *device,
                              fusion_pipe **pipe)
{
    fusion_pipe *p = find_pipe(m, declared, device);
    if (p) {
        *pipe = p;
        return FUSION_SUCCESS;
    }
    p = client_pool_array(&m->pool, 1, sizeof *p);
    const char *name = client_pool_text(&m->pool, device, strlen(device));
    if (m->pool.failed) return client_no_memory(declared->info.id);
    *p = (fusion_pipe){.module = m, .declared = declared, .device = name};
    fusion_status status = make_ring(p);
    if (status != FUSION_SUCCESS) {
        fusion_buffer_destroy(p->buffer);
        return status;
    }
    p->next = m->opened;
    m->opened = *pipe = p;
    return FUSION_SUCCESS;
}

static const struct module_pipe *declared_pipe(const fusion_module *m, const char *id)
{
    for (uint32_t i = 0; i < m->n_pipes; i++)
        if (*m->pipes[i].info.id && strcmp(m->pipes[i].info.id, id) == 0) return &m->pipes[i];
    return NULL;
}

fusion_status fusion_pipe_open(fusion_module *m, const char *id, const char *device, fusion_pipe **pipe)
{
    if (client_is_foreign(m->session)) return client_foreign(m->name);
    if (!id) return client_error(FUSION_INVALID, m->name, "a pipe's id is needed");
    const struct module_pipe *declared = declared_pipe(m, id);
    if (!declared) return client_error(FUSION_NOT_FOUND, m->name, "it has no pipe with the id %s", id);
    if (!is_ours(declared))
        return client_error(FUSION_INVALID, id, "pipe @%s has no end for the program: kernels of %s %s",
                            declared->info.name, m->name,
                            declared->info.kernels_read ? "read it and write it" : "neither read nor write it");
    pthread_mutex_lock(&m->session->pipe_lock);
    fusion_status status = get_pipe(m, declared, device ? device : "cpu", pipe);
    pthread_mutex_unlock(&m->session->pipe_lock);
    return status;
}

/* ---- the session's modules with pipes ---- */

void client_pipes_remember(fusion_module *m)
{
    if (!m->n_pipes) return;
    pthread_mutex_lock(&m->session->pipe_lock);
    m->next_with_pipes = m->session->pipe_modules;
    m->session->pipe_modules = m;
    pthread_mutex_unlock(&m->session->pipe_lock);
}

void client_pipes_forget(fusion_module *m)
{
    pthread_mutex_lock(&m->session->pipe_lock);
    fusion_module **link = &m->session->pipe_modules;
    while (*link && *link != m) link = &(*link)->next_with_pipes;
    if (*link) *link = m->next_with_pipes;
    pthread_mutex_unlock(&m->session->pipe_lock);
    for (fusion_pipe *p = m->opened; p; p = p->next) fusion_buffer_destroy(p->buffer);
    m->opened = NULL;
}

/* ---- for graphs ---- */

bool client_pipes_any(fusion_session *s, const uint64_t *modules, uint32_t n)
{
    bool any = false;
    pthread_mutex_lock(&s->pipe_lock);
    for (const fusion_module *m = s->pipe_modules; m && !any; m = m->next_with_pipes)
        for (uint32_t i = 0; i < n && !any; i++) any = modules[i] == m->id;
    pthread_mutex_unlock(&s->pipe_lock);
    return any;
}

static fusion_status add_rings(fusion_module *m, const char *device, struct pipe_rings *rings)
{
    for (uint32_t i = 0; i < m->n_pipes; i++) {
        fusion_pipe *pipe;
        if (!is_ours(&m->pipes[i])) continue;
        fusion_status status = get_pipe(m, &m->pipes[i], device, &pipe);
        if (status != FUSION_SUCCESS) return status;
        uint64_t *numbers = realloc(rings->numbers, (rings->n + 3) * sizeof *numbers);
        if (!numbers) return client_no_memory(m->pipes[i].info.id);
        rings->numbers = numbers;
        numbers[rings->n++] = m->id;
        numbers[rings->n++] = m->pipes[i].variable;
        numbers[rings->n++] = pipe->buffer->memory.id;
    }
    return FUSION_SUCCESS;
}

fusion_status client_pipe_rings(fusion_session *s, const uint64_t *modules, uint32_t n, const char *device,
                                struct pipe_rings *rings)
{
    fusion_status status = FUSION_SUCCESS;
    *rings = (struct pipe_rings){.n = 0};
    pthread_mutex_lock(&s->pipe_lock);
    for (fusion_module *m = s->pipe_modules; m && status == FUSION_SUCCESS; m = m->next_with_pipes)
        for (uint32_t i = 0; i < n && status == FUSION_SUCCESS; i++)
            if (modules[i] == m->id) status = add_rings(m, device, rings);
    pthread_mutex_unlock(&s->pipe_lock);
    if (status == FUSION_SUCCESS) return status;
    free(rings->numbers);
    *rings = (struct pipe_rings){.n = 0};
    return status;
}
