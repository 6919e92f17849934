/* Copies of instructions, in which values are what the copy makes of them. */
#include "fuser/passes/loops/copy_insts.h"

static struct ir_value *value(const struct pass_copy *c, struct ir_value *v)
{
    return v->scratch && c->to[v->scratch] ? c->to[v->scratch] : v;
}

struct ir_value **pass_copy_operands(const struct pass_copy *c, const struct ir_inst *inst)
{
    struct ir_module *m = inst->parent->function->module;
    struct ir_value **v = ir_alloc(m, (inst->n_operands + 1) * sizeof(*v));
    for (uint32_t i = 0; i < inst->n_operands; i++) v[i] = value(c, inst->operands[i]);
    return v;
}

struct ir_inst *pass_copy_one(struct ir_builder *b, const struct ir_inst *inst, struct ir_value **operands)
{
    ir_type *types = ir_alloc(b->module, (inst->n_results + 1) * sizeof(*types));
    for (uint32_t i = 0; i < inst->n_results; i++) types[i] = inst->results[i]->type;
    b->loc = inst->loc;
    if (inst->op == IR_OP_IF) return ir_build_if(b, operands[0], types, inst->n_results);
    if (inst->op == IR_OP_LOOP) return ir_build_loop(b, operands, inst->n_operands, types, inst->n_results);
    struct ir_inst *copy =
        ir_build_ptr(b, inst->op, inst->type, (enum ir_space)inst->attrs.space, operands, inst->n_operands);
    copy->attrs = inst->attrs;
    return copy;
}

void pass_copy_insts(struct pass_copy *c, struct ir_builder *b, const struct ir_inst *first, const struct ir_inst *end)
{
    for (const struct ir_inst *inst = first; inst && inst != end; inst = inst->next) {
        struct ir_inst *copy = pass_copy_one(b, inst, pass_copy_operands(c, inst));
        for (int i = 0; i < 2; i++) {
            if (!inst->blocks[i]) continue;
            for (uint32_t a = 0; a < inst->blocks[i]->n_args; a++)
                c->to[inst->blocks[i]->args[a]->scratch] = copy->blocks[i]->args[a];
            struct ir_builder inner = ir_builder_at_end(copy->blocks[i]);
            pass_copy_insts(c, &inner, inst->blocks[i]->first, NULL);
        }
        for (uint32_t i = 0; i < inst->n_results; i++) c->to[inst->results[i]->scratch] = copy->results[i];
    }
}
