/* Pipes: first in, first out; those of the module live as long as the run. */
#include "ir/interp/internal.h"

#include <inttypes.h>
#include <string.h>

uint64_t interp_pipe_add(struct machine *m, struct interp_pipe *store, const struct ir_global *global)
{
    m->pipes = arena_grow(m->arena, m->pipes, m->n_pipes, sizeof *m->pipes);
    m->pipes[m->n_pipes++] = (struct pipe){store, global};
    return m->n_pipes;
}

uint64_t interp_pipe_of_global(struct machine *m, const struct ir_global *global)
{
    for (uint32_t i = 0; i < m->n_pipes; i++)
        if (m->pipes[i].global == global) return i + 1;
    struct interp_pipe *store = arena_alloc(m->arena, sizeof *store);
    uint64_t size = ir_type_size(m->module, global->packet);
    *store = (struct interp_pipe){.packet_size = (uint32_t)size, .capacity = global->capacity};
    store->packets = interp_shadow(m, size * global->capacity, 1);
    return interp_pipe_add(m, store, global);
}

static struct interp_pipe *pipe_of(const struct machine *m, const struct item *item)
{
    return m->pipes[interp_item_operand(item, 0)[0] - 1].store;
}

/* An undefined value is no pipe; operations on it end the run. */
static bool is_pipe(struct machine *m, const struct item *item, const struct code_inst *at)
{
    uint64_t handle = interp_item_operand(item, 0)[0];
    if (handle > 0 && handle <= m->n_pipes) return true;
    interp_report(m, INTERP_INVALID, item, at, "%s of an undefined pipe", ir_op_info(at->ir->op)->text);
    m->stopped = true;
    return false;
}

/* The packet at operand 1; NULL when the access cannot be. */
static uint8_t *packet(struct machine *m, struct item *item, const struct code_inst *at, const struct interp_pipe *pipe,
                       unsigned flags)
{
    uint64_t size = ir_type_size(m->module, at->ir->type);
    if (size != pipe->packet_size) {
        interp_report(m, INTERP_INVALID, item, at, "%s of %" PRIu64 " bytes with a pipe whose packets have %u",
                      ir_op_info(at->ir->op)->text, size, pipe->packet_size);
        return NULL;
    }
    struct access a = {interp_item_operand(item, 1)[0],        size,  ir_type_space(at->ir->operands[1]->type),
                       ir_type_align(m->module, at->ir->type), flags, NULL};
    return interp_memory_access(m, item, at, &a);
}

static uint8_t *place(const struct interp_pipe *pipe, uint64_t number)
{
    return pipe->packets + number % pipe->capacity * pipe->packet_size;
}

static bool take(struct machine *m, struct item *item, const struct code_inst *at, struct interp_pipe *pipe)
{
    if (pipe->read == pipe->written) return false;
    uint8_t *to = packet(m, item, at, pipe, ACCESS_WRITE);
    if (!to) return false;
    memcpy(to, place(pipe, pipe->read++), pipe->packet_size);
    return true;
}

static bool put(struct machine *m, struct item *item, const struct code_inst *at, struct interp_pipe *pipe)
{
    if (pipe->written - pipe->read >= pipe->capacity) return false;
    const uint8_t *from = packet(m, item, at, pipe, ACCESS_READ);
    if (!from) return false;
    memcpy(place(pipe, pipe->written++), from, pipe->packet_size);
    return true;
}

bool interp_pipe_exec(struct machine *m, struct item *item, const struct code_inst *at, uint64_t *r)
{
    if (at->ir->op < IR_OP_PIPE_READ || at->ir->op > IR_OP_PIPE_MAX_PACKETS) return false;
    if (!is_pipe(m, item, at)) return true;
    switch (at->ir->op) {
    case IR_OP_PIPE_READ: *r = take(m, item, at, pipe_of(m, item)); return true;
    case IR_OP_PIPE_WRITE: *r = put(m, item, at, pipe_of(m, item)); return true;
    case IR_OP_PIPE_NUM_PACKETS: *r = (uint32_t)(pipe_of(m, item)->written - pipe_of(m, item)->read); return true;
    case IR_OP_PIPE_MAX_PACKETS: *r = pipe_of(m, item)->capacity; return true;
    default: return false;
    }
}
