#include "fuser/coarsen/copy.h"

#include "fuser/passes/loops/copy_insts.h"

struct ir_value *copy_now(const struct coarse *c, struct ir_value *v, unsigned k)
{
    bool made = v->kind == IR_VALUE_RESULT || v->kind == IR_VALUE_BLOCK_ARG;
    return made ? c->to[k][v->scratch] : v;
}

void copy_set_all(struct coarse *c, const struct ir_value *v, struct ir_value *to)
{
    for (unsigned k = 0; k < c->items; k++) c->to[k][v->scratch] = to;
}

/* What the ND-range in x was before it became coarser; NULL: the instruction asks for something else. */
static struct ir_value *of_range(const struct coarse *c, const struct ir_inst *inst, unsigned k)
{
    if (ir_op_class(inst->op) != IR_CLASS_ND_RANGE || inst->attrs.dim != 0) return NULL;
    switch (inst->op) {
    case IR_OP_GLOBAL_ID: return c->ids[k];
    case IR_OP_GLOBAL_SIZE: return c->size;
    case IR_OP_GLOBAL_OFFSET: return c->offset;
    default: return NULL;
    }
}

static struct ir_inst *make(const struct coarse *c, struct ir_builder *b, const struct ir_inst *inst, unsigned k)
{
    struct ir_value **operands = ir_alloc(b->module, (inst->n_operands + 1) * sizeof *operands);
    for (uint32_t i = 0; i < inst->n_operands; i++) operands[i] = copy_now(c, inst->operands[i], k);
    return pass_copy_one(b, inst, operands);
}

void copy_inst(struct coarse *c, struct ir_builder *b, const struct ir_inst *inst, unsigned k)
{
    struct ir_value *known = of_range(c, inst, k);
    if (known) {
        c->to[k][inst->results[0]->scratch] = known;
        return;
    }
    struct ir_inst *copy = make(c, b, inst, k);
    for (int i = 0; i < 2; i++) {
        const struct ir_block *block = inst->blocks[i];
        if (!block) continue;
        for (uint32_t a = 0; a < block->n_args; a++) c->to[k][block->args[a]->scratch] = copy->blocks[i]->args[a];
        struct ir_builder inner = ir_builder_at_end(copy->blocks[i]);
        copy_all(c, &inner, block->first, k);
    }
    for (uint32_t i = 0; i < inst->n_results; i++) c->to[k][inst->results[i]->scratch] = copy->results[i];
}

void copy_all(struct coarse *c, struct ir_builder *b, const struct ir_inst *first, unsigned k)
{
    for (const struct ir_inst *inst = first; inst && inst->op != IR_OP_RETURN; inst = inst->next)
        copy_inst(c, b, inst, k);
}

struct ir_value *copy_ahead(struct coarse *c, struct ir_builder *b, struct ir_value *v, unsigned k)
{
    if (v->kind != IR_VALUE_RESULT) return v;
    if (c->to[k][v->scratch]) return c->to[k][v->scratch];
    const struct ir_inst *inst = v->of.inst;
    for (uint32_t i = 0; i < inst->n_operands; i++) copy_ahead(c, b, inst->operands[i], k);
    copy_inst(c, b, inst, k);
    if (coarse_is_uniform(c, v)) copy_set_all(c, v, c->to[k][v->scratch]);
    return c->to[k][v->scratch];
}
