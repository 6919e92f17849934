/* Memory that the launches of a batch use, and what of it is moved. */
#include "daemon/executor/devices/gpu/uses.h"

#include <string.h>

#include "daemon/executor/devices/gpu/places.h"
#include "daemon/executor/program/buffers.h"
#include "daemon/executor/program/slot_memory.h"
#include "daemon/executor/program/states.h"
#include "proto/ring.h"

uint64_t gpu_shared_serial(void)
{
    static uint64_t last;
    return ++last;
}

static int use_slot(struct gpu_used *u, const struct slot_memory *slot, gpu_share *share, struct error *e)
{
    struct buffer *buffer = slot->buffer;
    u->buffer = buffer;
    u->kept = &buffer->of_device;
    u->shared = share(u->kept, buffer->memory, buffer->bytes, slot->name, e);
    u->part.offset = (uint64_t)(slot->memory - buffer->memory);
    u->part.bytes = slot->bytes;
    u->part.host = slot->host;
    return u->shared ? 0 : -1;
}

static int use_state(struct gpu_used *u, struct state *state, const char *name, gpu_share *share, struct error *e)
{
    u->kept = &state->of_device;
    u->shared = share(u->kept, state->memory, state->bytes, name, e);
    u->part.bytes = state->bytes;
    return u->shared ? 0 : -1;
}

static int use_param(struct gpu_used *u, struct executable *x, const struct program_param *param,
                     const struct slot_memory *slots, gpu_share *share, struct error *e)
{
    bool is_state = param->kind == PROGRAM_PARAM_STATE;
    u->part.written |= param->writes || is_state;
    if (u->shared) return 0;
    return is_state ? use_state(u, x->states[param->index], x->program->states[param->index].name, share, e)
                    : use_slot(u, &slots[param->index], share, e);
}

int gpu_find_used(struct gpu_used *used, struct executable *x, const uint32_t *launches, uint32_t n,
                  const struct slot_memory *slots, gpu_share *share, struct error *e)
{
    uint32_t places = gpu_places(x->program);
    memset(used, 0, places * sizeof *used);
    for (uint32_t i = 0; i < n; i++) {
        const struct program_launch *l = &x->program->launches[launches[i]];
        for (uint32_t k = 0; k < l->n_params; k++) {
            int64_t at = gpu_place(x->program, &l->params[k]);
            if (at >= 0 && use_param(&used[at], x, &l->params[k], slots, share, e) != 0) return -1;
        }
    }
    for (uint32_t i = 0; i < places; i++) {
        struct gpu_used *u = &used[i];
        if (!u->shared) continue;
        u->serial = u->shared->serial;
        u->in = gpu_moves_in(&u->part, u->kept, u->shared->bytes);
        u->back = gpu_moves_back(&u->part, u->kept);
    }
    return 0;
}

bool gpu_same_moves(const struct gpu_used *a, const struct gpu_used *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        bool moves = a[i].in.bytes || a[i].back.bytes;
        if (memcmp(&a[i].in, &b[i].in, sizeof a->in) != 0 || memcmp(&a[i].back, &b[i].back, sizeof a->back) != 0 ||
            (moves && a[i].serial != b[i].serial))
            return false;
    }
    return true;
}

void gpu_used_moved(const struct gpu_used *used, uint32_t n, struct ring *ring)
{
    uint64_t in = 0, back = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct gpu_used *u = &used[i];
        if (!u->shared) continue;
        gpu_moved(&u->part, u->kept, u->buffer);
        in += u->in.bytes;
        back += u->back.bytes;
    }
    if (in || back) ring_count_moved(ring, in, back);
}
