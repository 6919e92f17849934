/* Memory that the launches of a batch use, and what of it is moved. */
#include "daemon/executor/devices/vulkan/uses.h"

#include <string.h>

#include "daemon/executor/devices/gpu/places.h"
#include "daemon/executor/program/buffers.h"
#include "daemon/executor/program/slot_memory.h"
#include "daemon/executor/program/states.h"
#include "proto/ring.h"

static int use_slot(struct vulkan_use *u, const struct slot_memory *slot, struct error *e)
{
    struct buffer *buffer = slot->buffer;
    u->buffer = buffer;
    u->kept = &buffer->of_device;
    u->shared = vulkan_share(u->kept, buffer->memory, buffer->bytes, slot->name, e);
    u->part.offset = (uint64_t)(slot->memory - buffer->memory);
    u->part.bytes = slot->bytes;
    u->part.host = slot->host;
    return u->shared ? 0 : -1;
}

static int use_state(struct vulkan_use *u, struct state *state, const char *name, struct error *e)
{
    u->kept = &state->of_device;
    u->shared = vulkan_share(u->kept, state->memory, state->bytes, name, e);
    u->part.bytes = state->bytes;
    return u->shared ? 0 : -1;
}

static int use_param(struct vulkan_use *u, struct executable *x, const struct program_param *param,
                     const struct slot_memory *slots, struct error *e)
{
    bool is_state = param->kind == PROGRAM_PARAM_STATE;
    u->part.written |= param->writes || is_state;
    if (u->shared) return 0;
    return is_state ? use_state(u, x->states[param->index], x->program->states[param->index].name, e)
                    : use_slot(u, &slots[param->index], e);
}

int vulkan_find_uses(struct vulkan_use *uses, struct executable *x, const uint32_t *launches, uint32_t n,
                     const struct slot_memory *slots, struct error *e)
{
    uint32_t places = gpu_places(x->program);
    memset(uses, 0, places * sizeof *uses);
    for (uint32_t i = 0; i < n; i++) {
        const struct program_launch *l = &x->program->launches[launches[i]];
        for (uint32_t k = 0; k < l->n_params; k++) {
            int64_t at = gpu_place(x->program, &l->params[k]);
            if (at >= 0 && use_param(&uses[at], x, &l->params[k], slots, e) != 0) return -1;
        }
    }
    for (uint32_t i = 0; i < places; i++) {
        if (!uses[i].shared) continue;
        uses[i].shared_serial = uses[i].shared->serial;
        uses[i].in = gpu_moves_in(&uses[i].part, uses[i].kept, uses[i].shared->bytes);
        uses[i].back = gpu_moves_back(&uses[i].part, uses[i].kept);
    }
    return 0;
}

bool vulkan_same_moves(const struct vulkan_use *a, const struct vulkan_use *b)
{
    if (memcmp(&a->in, &b->in, sizeof a->in) != 0 || memcmp(&a->back, &b->back, sizeof a->back) != 0) return false;
    return a->shared_serial == b->shared_serial || !(a->in.bytes || a->back.bytes);
}

bool vulkan_use_is_direct(const struct vulkan_use *use)
{
    return use->shared && !use->shared->own.buffer;
}

static const struct gpu_move *move_of(const struct vulkan_use *use, bool back)
{
    const struct gpu_move *move = back ? &use->back : &use->in;
    return move->bytes && use->shared->own.buffer ? move : NULL;
}

bool vulkan_moves(const struct vulkan_use *uses, uint32_t n, bool back)
{
    for (uint32_t i = 0; i < n; i++)
        if (move_of(&uses[i], back)) return true;
    return false;
}

void vulkan_record_moves(const struct vulkan_use *uses, uint32_t n, VkCommandBuffer commands, bool back)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct gpu_move *move = move_of(&uses[i], back);
        if (move) vulkan_shared_record(uses[i].shared, commands, move->offset, move->bytes, back);
    }
}

void vulkan_move_in(const struct vulkan_use *uses, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (uses[i].in.bytes) vulkan_shared_take(uses[i].shared, uses[i].in.offset, uses[i].in.bytes);
}

void vulkan_move_back(const struct vulkan_use *uses, uint32_t n, struct ring *ring)
{
    uint64_t in = 0, back = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct vulkan_use *u = &uses[i];
        if (!u->shared) continue;
        if (u->back.bytes) vulkan_shared_give(u->shared, u->back.offset, u->back.bytes);
        gpu_moved(&u->part, u->kept, u->buffer);
        in += u->in.bytes;
        back += u->back.bytes;
    }
    if (in || back) ring_count_moved(ring, in, back);
}
