/*
 * Which pointers lead into memory that is known to be small: those made of parameters and variables. What comes out of
 * memory or is made of an integer may lead anywhere. A fixed point: all are small until one is found not to be.
 */
#include "fuser/cpu/prepare/small_memory.h"

#include "ir/core/facts.h"

struct finder {
    bool *small;
    bool changed;
};

static bool is_small(const struct finder *f, const struct ir_value *v)
{
    if (v->kind == IR_VALUE_CONST) return false;
    return v->kind == IR_VALUE_UNDEF || f->small[v->scratch];
}

static void mark(struct finder *f, const struct ir_value *v)
{
    f->changed = f->changed || f->small[v->scratch];
    f->small[v->scratch] = false;
}

/* What a yield, break or continue passes on. */
static void see_terminator(struct finder *f, const struct ir_inst *inst)
{
    const struct ir_inst *target = ir_terminator_target(inst);
    struct ir_value **to = inst->op == IR_OP_CONTINUE ? target->blocks[0]->args : target->results;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (!is_small(f, inst->operands[i])) mark(f, to[i]);
}

static void see_inst(struct ir_inst *inst, void *data)
{
    struct finder *f = data;
    switch (inst->op) {
    case IR_OP_VAR:
    case IR_OP_GLOBAL:
    case IR_OP_IF: break;
    case IR_OP_ELEM:
    case IR_OP_FIELD:
    case IR_OP_SPACECAST:
        if (!is_small(f, inst->operands[0])) mark(f, inst->results[0]);
        break;
    case IR_OP_SELECT:
        if (!is_small(f, inst->operands[1]) || !is_small(f, inst->operands[2])) mark(f, inst->results[0]);
        break;
    case IR_OP_YIELD:
    case IR_OP_BREAK:
    case IR_OP_CONTINUE: see_terminator(f, inst); break;
    case IR_OP_LOOP:
        for (uint32_t i = 0; i < inst->n_operands; i++)
            if (!is_small(f, inst->operands[i])) mark(f, inst->blocks[0]->args[i]);
        break;
    default:
        for (uint32_t i = 0; i < inst->n_results; i++) mark(f, inst->results[i]);
    }
}

/* The kernel's own copy of a struct is small in any case, and so is work-group memory. */
static bool is_small_param(const struct ir_function *kernel, const struct ir_param *p)
{
    enum ir_space space = ir_type_space(p->value->type);
    return kernel->assumes & IR_ASSUME_SMALL_MEMORY || p->by_value || space == IR_SPACE_LOCAL;
}

bool *small_memory_find(struct arena *arena, struct ir_function *kernel, uint32_t n_values)
{
    struct finder f = {.small = arena_alloc(arena, (n_values + 1) * sizeof(bool)), .changed = true};
    for (uint32_t i = 0; i < n_values; i++) f.small[i] = true;
    for (uint32_t i = 0; i < kernel->n_params; i++) {
        const struct ir_param *p = &kernel->params[i];
        f.small[p->value->scratch] = ir_type_is_ptr(p->value->type) && is_small_param(kernel, p);
    }
    while (f.changed) {
        f.changed = false;
        ir_walk(kernel->body, see_inst, &f);
    }
    return f.small;
}
