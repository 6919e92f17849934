/* By-value parameters that a kernel writes, or whose address it keeps, become copies in private variables: what
   is passed lies in one place for all work-items. */
#include "fuser/passes/byval_copy.h"
#include "fuser/passes/passes.h"

struct address_use {
    const struct ir_value *address;
    bool changes;
};

static void see_use(struct ir_inst *inst, void *data)
{
    struct address_use *use = data;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        if (inst->operands[i] != use->address) continue;
        bool derives = inst->op == IR_OP_FIELD || inst->op == IR_OP_ELEM;
        bool reads = inst->op == IR_OP_LOAD || (inst->op == IR_OP_COPY && i == 1);
        if (derives) use->changes |= byval_copy_needed(inst->parent->function->body, inst->results[0]);
        if (!derives && !reads) use->changes = true;
    }
}

bool byval_copy_needed(struct ir_block *body, const struct ir_value *address)
{
    struct address_use use = {.address = address};
    ir_walk(body, see_use, &use);
    return use.changes;
}

struct ir_value *byval_copy_make(struct ir_builder *b, ir_type elem, struct ir_value *address)
{
    struct ir_inst *var = ir_build_ptr(b, IR_OP_VAR, elem, IR_SPACE_PRIVATE, NULL, 0);
    struct ir_value *operands[] = {var->results[0], address, ir_const_int(b->module, IR_I64, 1)};
    ir_build(b, IR_OP_COPY, elem, operands, 3);
    return var->results[0];
}

static bool run_byval_copy(struct ir_function *f)
{
    bool changed = false;
    for (uint32_t i = 0; i < f->n_params; i++) {
        const struct ir_param *p = &f->params[i];
        if (!p->by_value || !byval_copy_needed(f->body, p->value)) continue;
        struct ir_builder b = ir_builder_before(f->body->first);
        struct ir_value *own = byval_copy_make(&b, p->elem, p->value);
        struct ir_inst *copy = own->of.inst->next;
        ir_replace_uses(f->body, p->value, own);
        copy->operands[1] = p->value;
        changed = true;
    }
    return changed;
}

const struct pass pass_byval_copy = {"byval_copy", "by-value parameters that are written become copies",
                                     run_byval_copy};
