/* Which parameters a pointer may come from: sets that flow along uses until nothing changes. */
#include <string.h>

#include "fuser/access/provenance.h"
#include "ir/base/arena.h"
#include "ir/core/facts.h"

static uint64_t *parameters_of(const struct access_walk *w, const struct ir_value *v)
{
    return &w->provenance[(size_t)access_value_number(v) * w->provenance_words];
}

static bool has_parameter(const struct access_walk *w, const struct ir_value *v, uint32_t bit)
{
    return parameters_of(w, v)[bit / 64] >> bit % 64 & 1;
}

bool provenance_has(const struct access_walk *w, const struct ir_value *pointer, uint32_t param)
{
    return ir_type_is_ptr(pointer->type) && has_parameter(w, pointer, param);
}

bool provenance_is_unknown(const struct access_walk *w, const struct ir_value *pointer)
{
    return ir_type_is_ptr(pointer->type) && has_parameter(w, pointer, w->kernel->n_params);
}

static bool add_parameter(const struct access_walk *w, const struct ir_value *v, uint32_t bit)
{
    if (has_parameter(w, v, bit)) return false;
    parameters_of(w, v)[bit / 64] |= (uint64_t)1 << bit % 64;
    return true;
}

/* What may be in `from` may be in `to`. True where that is new. */
static bool flow(const struct access_walk *w, const struct ir_value *to, const struct ir_value *from)
{
    bool changed = false;
    if (!ir_type_is_ptr(to->type) || !access_value_number(from)) return false;
    uint64_t *into = parameters_of(w, to);
    const uint64_t *out = parameters_of(w, from);
    for (uint32_t i = 0; i < w->provenance_words; i++) {
        changed |= (out[i] & ~into[i]) != 0;
        into[i] |= out[i];
    }
    return changed;
}

/* What a terminator carries goes into the results of the if or loop it ends, or the parameters of the loop. */
static bool flow_out(const struct access_walk *w, const struct ir_inst *inst)
{
    const struct ir_inst *to = ir_terminator_target(inst);
    bool changed = false;
    for (uint32_t i = 0; to && i < inst->n_operands; i++)
        changed |= flow(w, inst->op == IR_OP_CONTINUE ? to->blocks[0]->args[i] : to->results[i], inst->operands[i]);
    return changed;
}

/* Constants of the module hold addresses of others only. */
static bool loads_module_constant(const struct access_walk *w, const struct ir_inst *inst)
{
    if (inst->op != IR_OP_LOAD || ir_type_space(inst->operands[0]->type) != IR_SPACE_CONSTANT) return false;
    if (!access_value_number(inst->operands[0])) return false;
    const uint64_t *from = parameters_of(w, inst->operands[0]);
    for (uint32_t i = 0; i < w->provenance_words; i++)
        if (from[i]) return false;
    return true;
}

static bool flow_through(const struct access_walk *w, const struct ir_inst *inst)
{
    bool changed = false;
    switch (inst->op) {
    case IR_OP_ELEM:
    case IR_OP_FIELD:
    case IR_OP_SPACECAST: return flow(w, inst->results[0], inst->operands[0]);
    case IR_OP_SELECT:
        changed = flow(w, inst->results[0], inst->operands[1]);
        return flow(w, inst->results[0], inst->operands[2]) || changed;
    case IR_OP_LOOP:
        for (uint32_t i = 0; i < inst->n_operands; i++) changed |= flow(w, inst->blocks[0]->args[i], inst->operands[i]);
        return changed;
    case IR_OP_YIELD:
    case IR_OP_BREAK:
    case IR_OP_CONTINUE: return flow_out(w, inst);
    case IR_OP_IF:
    case IR_OP_VAR:
    case IR_OP_GLOBAL: return false;
    default:
        if (loads_module_constant(w, inst)) return false;
        for (uint32_t i = 0; i < inst->n_results; i++)
            if (ir_type_is_ptr(inst->results[i]->type))
                changed |= add_parameter(w, inst->results[i], w->kernel->n_params);
        return changed;
    }
}

static bool flow_through_block(const struct access_walk *w, const struct ir_block *block)
{
    bool changed = false;
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) {
        for (int i = 0; i < 2; i++)
            if (inst->blocks[i]) changed |= flow_through_block(w, inst->blocks[i]);
        changed |= flow_through(w, inst);
    }
    return changed;
}

void provenance_find(struct access_walk *w)
{
    w->provenance_words = w->kernel->n_params / 64 + 1;
    size_t bytes = (size_t)w->n_values * w->provenance_words * sizeof *w->provenance;
    w->provenance = arena_realloc(NULL, bytes);
    memset(w->provenance, 0, bytes);
    for (uint32_t i = 0; i < w->kernel->n_params; i++)
        if (ir_type_is_ptr(w->kernel->params[i].value->type)) add_parameter(w, w->kernel->params[i].value, i);
    while (flow_through_block(w, w->kernel->body)) {
    }
}
