/* Making, finding and releasing variables and pipes of programs. */
#include "daemon/executor/program/states.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/executor/program/buffers.h"
#include "daemon/executor/program/guard.h"
#include "proto/include/fusiond/status.h"
#include "proto/limits.h"

void states_init(struct states *s, struct buffers *buffers, states_none_fn *none)
{
    *s = (struct states){.buffers = buffers, .none = none};
    pthread_mutex_init(&s->lock, NULL);
}

static int fail(struct error *e, fusion_status status, const struct program_state *what, const char *reason)
{
    char object[320];
    snprintf(object, sizeof object, "%s @%s", what->packet_size ? "pipe" : "variable", what->name);
    return error_set(e, status, object, "%s", reason);
}

/* ---- memory ---- */

static uint64_t memory_bytes(const struct program_state *what, const struct device *device)
{
    return what->packet_size ? device->pipe_bytes(what->packet_size, what->capacity) : what->bytes;
}

/* Zeros, with nothing mapped before and behind. */
static int map_guarded(struct state *state, const struct program_state *what, struct error *e)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), length = (state->bytes + page - 1) & -page;
    state->reserved = length + 2 * GUARD_BYTES;
    void *at = mmap(NULL, state->reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return fail(e, FUSION_OUT_OF_MEMORY, what, "no address space for it");
    state->reservation = at;
    uint8_t *memory = (uint8_t *)at + GUARD_BYTES;
    if (mprotect(memory, length, PROT_READ | PROT_WRITE) != 0)
        return fail(e, FUSION_OUT_OF_MEMORY, what, "no memory for it");
    state->memory = memory;
    return 0;
}

static void write_initial_value(const struct state *state, const struct program_state *what)
{
    if (what->packet_size)
        state->device->pipe_init(state->memory, what->packet_size, what->capacity);
    else if (what->init)
        memcpy(state->memory, what->init, what->bytes);
}

/* What the client has put into the ring is there already, and what kernels before a restart have. */
static int set_ring(const struct states *s, struct state *state, const struct program_state *what, uint64_t ring,
                    struct error *e)
{
    struct buffer *buffer = what->host && ring ? buffers_get(s->buffers, ring) : NULL;
    if (!buffer) return 0;
    state->buffer = buffer;
    const struct device *device = state->device;
    if (!device->pipe_set_ring && !device->pipe_from_ring)
        return fail(e, FUSION_FEATURE_NOT_SUPPORTED, what, "the device has no pipes of the host");
    struct pipe_ring *r = (struct pipe_ring *)buffer->memory;
    enum pipe_ring_end end = what->host == PROGRAM_HOST_KERNELS_WRITE ? PIPE_RING_WRITER : PIPE_RING_READER;
    const char *wrong = pipe_ring_check(r, buffer->bytes, what->packet_size, what->capacity);
    if (!wrong && !(device->pipe_set_ring ? device->pipe_set_ring(state->memory, r, end)
                                          : pipe_ring_open(&state->port, r, what->packet_size, what->capacity, end)))
        wrong = "has more packets in its ring than fit";
    if (wrong) return fail(e, FUSION_INVALID, what, wrong);
    pipe_ring_renew(r);
    return 0;
}

bool state_is_moved(const struct state *state)
{
    return state->port.ring != NULL;
}

/* What the device has of the record comes here first. */
static int bring_record_back(struct state *state, struct error *e)
{
    struct device_memory *d = &state->of_device;
    if (d->newer && d->fetch(d->data, e) != 0) return -1;
    d->newer = false;
    return 0;
}

int state_from_ring(struct state *state, struct error *e)
{
    if (bring_record_back(state, e) != 0) return -1;
    state->device->pipe_from_ring(state->memory, &state->port);
    state->of_device.valid = false;
    return 0;
}

int state_to_ring(struct state *state, const struct program_state *what, struct error *e)
{
    if (bring_record_back(state, e) != 0) return -1;
    if (state->device->pipe_to_ring(state->memory, &state->port)) return 0;
    return fail(e, FUSION_INVALID, what, "kernels left more packets in it, or took more, than can be");
}

static void destroy(struct states *s, struct state *state)
{
    buffers_put(state->buffer);
    s->bytes -= state->bytes;
    s->n--;
    if (state->of_device.data) state->of_device.free(state->of_device.data);
    if (state->reservation) munmap(state->reservation, state->reserved);
    free(state);
}

/* ---- the list ---- */

static struct state **find_state(struct states *s, uint64_t module, const struct device *device, uint32_t variable)
{
    struct state **link = &s->first;
    while (*link && ((*link)->module != module || (*link)->device != device || (*link)->variable != variable))
        link = &(*link)->next;
    return link;
}

static struct state *make(struct states *s, uint64_t module, const struct device *device,
                          const struct program_state *what, uint64_t ring, struct error *e)
{
    char reason[160];
    uint64_t bytes = memory_bytes(what, device);
    if (bytes > MAX_STATE_BYTES - s->bytes) {
        snprintf(reason, sizeof reason,
                 "%" PRIu64 " bytes; variables and pipes of programs take %" PRIu64 " bytes of the session's %" PRIu64,
                 bytes, s->bytes, MAX_STATE_BYTES);
        fail(e, FUSION_OUT_OF_MEMORY, what, reason);
        return NULL;
    }
    if (s->n == PROTO_MAX_STATES) {
        snprintf(reason, sizeof reason, "%d variables and pipes of programs are in use, the limit", PROTO_MAX_STATES);
        fail(e, FUSION_OUT_OF_MEMORY, what, reason);
        return NULL;
    }
    struct state *state = calloc(1, sizeof *state);
    if (!state) abort();
    *state = (struct state){.bytes = bytes,
                            .is_pipe = what->packet_size != 0,
                            .module = module,
                            .variable = what->variable,
                            .device = device,
                            .kept = true};
    s->bytes += bytes;
    s->n++;
    if (map_guarded(state, what, e) == 0) {
        write_initial_value(state, what);
        if (set_ring(s, state, what, ring, e) == 0) return state;
    }
    destroy(s, state);
    return NULL;
}

static struct state *get(struct states *s, uint64_t module, const struct device *device,
                         const struct program_state *what, uint64_t ring, struct error *e)
{
    struct state **link = find_state(s, module, device, what->variable);
    if (!*link) *link = make(s, module, device, what, ring, e);
    if (!*link) return NULL;
    if ((*link)->bytes != memory_bytes(what, device) || (*link)->is_pipe != (what->packet_size != 0)) {
        fail(e, FUSION_INTERNAL, what, "two programs of one module say different things of it");
        return NULL;
    }
    (*link)->references++;
    return *link;
}

struct state *states_get(struct states *s, uint64_t module, const struct device *device,
                         const struct program_state *what, uint64_t ring, struct error *e)
{
    if (s->none) s->none();
    pthread_mutex_lock(&s->lock);
    struct state *state = get(s, module, device, what, ring, e);
    pthread_mutex_unlock(&s->lock);
    return state;
}

static void drop_unused(struct states *s)
{
    for (struct state **link = &s->first; *link;) {
        struct state *state = *link;
        if (state->kept || state->references) {
            link = &state->next;
            continue;
        }
        *link = state->next;
        destroy(s, state);
    }
}

void states_put(struct states *s, struct state *state)
{
    if (!state) return;
    pthread_mutex_lock(&s->lock);
    if (--state->references == 0 && !state->kept) drop_unused(s);
    pthread_mutex_unlock(&s->lock);
}

void states_release(struct states *s, uint64_t module)
{
    pthread_mutex_lock(&s->lock);
    for (struct state *state = s->first; state; state = state->next)
        if (state->module == module) state->kept = false;
    drop_unused(s);
    pthread_mutex_unlock(&s->lock);
}
