/* Following pipes to the operations on them. */
#include "ir/analysis/pipe_uses.h"

enum { MOST_CALLS = 32 }; /* deep; functions may call themselves until that is refused */

struct search {
    struct ir_pipe_uses *uses;
    const struct ir_value *value;
    const struct ir_global *global; /* whose values are looked for instead */
    unsigned depth;
};

static void follow(struct ir_pipe_uses *uses, const struct ir_function *f, const struct ir_value *value,
                   unsigned depth);

static void use(struct ir_pipe_uses *uses, bool writes, uint32_t line)
{
    bool *has = writes ? &uses->writes : &uses->reads;
    uint32_t *at = writes ? &uses->write_line : &uses->read_line;
    if (!*has) *at = line;
    *has = true;
}

static void use_by_operation(struct ir_pipe_uses *uses, const struct ir_inst *inst)
{
    uses->polls |= inst->op != IR_OP_PIPE_READ_WAIT && inst->op != IR_OP_PIPE_WRITE_WAIT;
    switch (inst->op) {
    case IR_OP_PIPE_READ_WAIT:
    case IR_OP_PIPE_WRITE_WAIT:
        uses->waits = true;
        use(uses, inst->op == IR_OP_PIPE_WRITE_WAIT, inst->loc.line);
        return;
    case IR_OP_PIPE_READ:
    case IR_OP_PIPE_READ_AT:
    case IR_OP_PIPE_RESERVE_READ:
    case IR_OP_PIPE_COMMIT_READ: use(uses, false, inst->loc.line); return;
    case IR_OP_PIPE_WRITE:
    case IR_OP_PIPE_WRITE_AT:
    case IR_OP_PIPE_RESERVE_WRITE:
    case IR_OP_PIPE_COMMIT_WRITE: use(uses, true, inst->loc.line); return;
    default: return; /* it is asked how full it is */
    }
}

static void use_anyhow(struct ir_pipe_uses *uses, const struct ir_inst *inst)
{
    uses->polls = true;
    use(uses, false, inst->loc.line);
    use(uses, true, inst->loc.line);
}

static void see_operand(const struct search *s, const struct ir_inst *inst, uint32_t operand)
{
    const struct ir_function *callee = inst->op == IR_OP_CALL ? inst->attrs.callee : NULL;
    if (ir_op_class(inst->op) == IR_CLASS_PIPE)
        use_by_operation(s->uses, inst);
    else if (callee && callee->body && operand < callee->n_params && s->depth < MOST_CALLS)
        follow(s->uses, callee, callee->params[operand].value, s->depth + 1);
    else
        use_anyhow(s->uses, inst);
}

static void see_inst(struct ir_inst *inst, void *data)
{
    const struct search *s = data;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (inst->operands[i] == s->value) see_operand(s, inst, i);
}

static void follow(struct ir_pipe_uses *uses, const struct ir_function *f, const struct ir_value *value, unsigned depth)
{
    struct search s = {.uses = uses, .value = value, .depth = depth};
    ir_walk(f->body, see_inst, &s);
}

static void find_global(struct ir_inst *inst, void *data)
{
    const struct search *s = data;
    if (inst->op == IR_OP_GLOBAL && inst->attrs.global == s->global)
        follow(s->uses, inst->parent->function, inst->results[0], 0);
}

struct ir_pipe_uses ir_pipe_uses_of_global(const struct ir_module *m, const struct ir_global *pipe)
{
    struct ir_pipe_uses uses = {0};
    struct search s = {.uses = &uses, .global = pipe};
    for (uint32_t i = 0; i < m->n_functions; i++)
        if (m->functions[i]->body) ir_walk(m->functions[i]->body, find_global, &s);
    return uses;
}

struct ir_pipe_uses ir_pipe_uses_of_param(const struct ir_function *f, uint32_t param)
{
    struct ir_pipe_uses uses = {0};
    follow(&uses, f, f->params[param].value, 0);
    return uses;
}

static void see_wait(struct ir_inst *inst, void *data)
{
    if (inst->op == IR_OP_PIPE_READ_WAIT || inst->op == IR_OP_PIPE_WRITE_WAIT) *(bool *)data = true;
}

bool ir_waits_for_pipes(const struct ir_function *f)
{
    bool waits = false;
    ir_walk(f->body, see_wait, &waits);
    return waits;
}
