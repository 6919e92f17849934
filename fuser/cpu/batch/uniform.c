/* A fixed point over the structured program: a value is the same for all until it is found that it is not. */
#include "fuser/cpu/batch/uniform.h"

#include "fuser/passes/byval_copy.h"
#include "ir/core/facts.h"

bool uniform_is(const struct uniform *u, const struct ir_value *v)
{
    return v->kind == IR_VALUE_CONST || v->kind == IR_VALUE_UNDEF || !u->varies[v->scratch];
}

static void number_inst(struct ir_inst *inst, void *data)
{
    struct uniform *u = data;
    inst->scratch = u->n_insts++;
    for (uint32_t i = 0; i < inst->n_results; i++) inst->results[i]->scratch = u->n_values++;
    for (int b = 0; b < 2; b++)
        for (uint32_t i = 0; inst->blocks[b] && i < inst->blocks[b]->n_args; i++)
            inst->blocks[b]->args[i]->scratch = u->n_values++;
}

static void mark(struct uniform *u, bool *flag)
{
    if (*flag) return;
    *flag = true;
    u->changed = true;
}

static void set_varies(struct uniform *u, const struct ir_value *v)
{
    mark(u, &u->varies[v->scratch]);
}

static bool operands_vary(const struct uniform *u, const struct ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (!uniform_is(u, inst->operands[i])) return true;
    return false;
}

/* ---- results ---- */

static bool result_varies(const struct uniform *u, const struct ir_inst *inst)
{
    switch (inst->op) {
    case IR_OP_GLOBAL_ID:
    case IR_OP_LOCAL_ID:
    case IR_OP_GLOBAL_LINEAR_ID:
    case IR_OP_LOCAL_LINEAR_ID:
    case IR_OP_SUB_GROUP_LOCAL_ID:
    case IR_OP_SUB_GROUP_ID:
    case IR_OP_SUB_GROUP_SIZE: return true;
    case IR_OP_GROUP_ID:
    case IR_OP_LOCAL_SIZE: return u->unit == UNIT_ANY;
    case IR_OP_GROUP_ALL ... IR_OP_GROUP_REDUCE: return !ir_is_work_group_collective(inst);
    case IR_OP_LOAD: return inst->attrs.is_volatile || operands_vary(u, inst);
    case IR_OP_IMAGE_WIDTH ... IR_OP_IMAGE_CHANNEL_ORDER: return operands_vary(u, inst);
    default: return !(ir_op_info(inst->op)->flags & IR_FLAG_PURE) || operands_vary(u, inst);
    }
}

/* ---- control flow ---- */

/* Whether work-items may have parted between `inside` and the construct around it that ends at `target`. */
static bool parted(const struct uniform *u, const struct ir_inst *inside, const struct ir_inst *target)
{
    for (const struct ir_inst *i = inside->parent->parent; i && i != target; i = i->parent->parent)
        if (u->divergent[i->scratch]) return true;
    return false;
}

static void see_return(struct uniform *u, const struct ir_inst *inst)
{
    if (!parted(u, inst, NULL)) return;
    for (const struct ir_inst *i = inst->parent->parent; i; i = i->parent->parent) {
        if (i->op != IR_OP_LOOP) continue;
        mark(u, &u->divergent[i->scratch]);
        mark(u, &u->returns[i->scratch]);
    }
}

/* What values bring to a join: `first` is one of those seen so far. */
struct join {
    struct uniform *u;
    const struct ir_value *first;
    bool differ, varies;
};

static void join_value(struct join *j, const struct ir_value *v)
{
    if (j->first && !ir_value_same(v, j->first)) j->differ = true;
    j->first = v;
    j->varies |= !uniform_is(j->u, v);
}

/* The terminator brings operand i to results or arguments of its target. */
static void see_yield(struct uniform *u, const struct ir_inst *inst)
{
    const struct ir_inst *target = ir_terminator_target(inst);
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        struct join j = {.u = u};
        for (int b = 0; b < 2; b++) {
            const struct ir_inst *end = target->blocks[b]->last;
            if (end->op == IR_OP_YIELD) join_value(&j, end->operands[i]);
        }
        if (j.varies || (j.differ && u->divergent[target->scratch])) set_varies(u, target->results[i]);
    }
}

static void see_break(struct uniform *u, const struct ir_inst *inst)
{
    const struct ir_inst *loop = ir_terminator_target(inst);
    if (parted(u, inst, loop)) mark(u, &u->divergent[loop->scratch]);
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (u->divergent[loop->scratch] || !uniform_is(u, inst->operands[i])) set_varies(u, loop->results[i]);
}

/* Work-items that go on from different places in a round carry different values. */
static void see_continue(struct uniform *u, const struct ir_inst *inst)
{
    const struct ir_inst *loop = ir_terminator_target(inst);
    const struct ir_block *body = loop->blocks[0];
    if (parted(u, inst, loop)) mark(u, &u->divergent[loop->scratch]);
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        const struct ir_inst *last = body->last;
        bool same = last->op == IR_OP_CONTINUE && ir_value_same(last->operands[i], inst->operands[i]);
        if (!uniform_is(u, inst->operands[i]) || (u->divergent[loop->scratch] && !same)) set_varies(u, body->args[i]);
    }
}

static void see_loop(struct uniform *u, const struct ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (!uniform_is(u, inst->operands[i])) set_varies(u, inst->blocks[0]->args[i]);
}

static void see_inst(struct ir_inst *inst, void *data)
{
    struct uniform *u = data;
    switch (inst->op) {
    case IR_OP_IF:
        if (!uniform_is(u, inst->operands[0])) mark(u, &u->divergent[inst->scratch]);
        break;
    case IR_OP_LOOP: see_loop(u, inst); break;
    case IR_OP_YIELD: see_yield(u, inst); break;
    case IR_OP_BREAK: see_break(u, inst); break;
    case IR_OP_CONTINUE: see_continue(u, inst); break;
    case IR_OP_RETURN:
    case IR_OP_UNREACHABLE: see_return(u, inst); break;
    default:
        for (uint32_t i = 0; i < inst->n_results; i++)
            if (result_varies(u, inst)) set_varies(u, inst->results[i]);
    }
}

bool uniform_by_value_copied(const struct ir_function *kernel, uint32_t param)
{
    const struct ir_param *p = &kernel->params[param];
    return p->by_value && byval_copy_needed(kernel->body, p->value);
}

void uniform_find(struct uniform *u, struct arena *arena, struct ir_function *const *functions, uint32_t n)
{
    for (uint32_t f = 0; f < n; f++) {
        for (uint32_t i = 0; i < functions[f]->n_params; i++) functions[f]->params[i].value->scratch = u->n_values++;
        ir_walk(functions[f]->body, number_inst, u);
    }
    u->varies = arena_alloc(arena, (u->n_values + 1) * sizeof *u->varies);
    u->divergent = arena_alloc(arena, (u->n_insts + 1) * sizeof *u->divergent);
    u->returns = arena_alloc(arena, (u->n_insts + 1) * sizeof *u->returns);
    for (uint32_t f = 0; f < n; f++)
        for (uint32_t i = 0; i < functions[f]->n_params; i++)
            if (f > 0 || uniform_by_value_copied(functions[0], i)) set_varies(u, functions[f]->params[i].value);
    do {
        u->changed = false;
        for (uint32_t f = 0; f < n; f++) ir_walk(functions[f]->body, see_inst, u);
    } while (u->changed);
}
