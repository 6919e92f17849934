/* Packets of pipes that are arguments: where they are put and taken, and by which work-items. */
#include "fuser/access/packets.h"

#include "ir/base/arena.h"

static void add_packet(struct access_walk *w, struct access_summary *s, const struct ir_inst *inst,
                       const struct access_state *state)
{
    s->packets = arena_grow(w->result->arena, s->packets, s->n_packets, sizeof *s->packets);
    s->packets[s->n_packets++] =
        (struct access_packet){.puts = inst->op == IR_OP_PIPE_WRITE || inst->op == IR_OP_PIPE_WRITE_WAIT,
                               .waits = inst->op == IR_OP_PIPE_READ_WAIT || inst->op == IR_OP_PIPE_WRITE_WAIT,
                               .loop = state->loop,
                               .site = {.inst = inst,
                                        .line = inst->loc.line,
                                        .conditional = state->conditional,
                                        .unsure = state->unsure,
                                        .items = state->items,
                                        .guards = state->guards,
                                        .type = inst->type}};
}

void packets_see(struct access_walk *w, const struct ir_inst *inst, const struct access_state *state)
{
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        const struct ir_value *v = inst->operands[i];
        if (v->kind != IR_VALUE_PARAM || ir_type_kind(v->type) != IR_KIND_PIPE) continue;
        struct access_summary *s = &w->result->params[v->index];
        switch (inst->op) {
        case IR_OP_PIPE_READ:
        case IR_OP_PIPE_READ_WAIT:
        case IR_OP_PIPE_WRITE:
        case IR_OP_PIPE_WRITE_WAIT: add_packet(w, s, inst, state); break;
        case IR_OP_PIPE_MAX_PACKETS: break;
        default: s->packets_unknown = true; s->packets_line = inst->loc.line;
        }
    }
}
