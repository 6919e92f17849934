/*
 * Products that are only added to something become part of a fused multiply-add, where both allow it (`contract`), and
 * so does each mad, which may round as it likes: compilers write it for `a * b + c`. It changes results, so it is no
 * clean-up: who asks for it knows that the device has such an instruction, and asks for each kernel by itself, so that
 * what is fused with it changes nothing. The products are left for dce.
 */
#include <stdlib.h>

#include "fuser/passes/contract.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"

/* The product that operand i is, if nothing else needs it. */
static const struct ir_inst *product(const struct ir_inst *sum, uint32_t i, const uint32_t *uses)
{
    const struct ir_value *v = sum->operands[i];
    if (v->kind != IR_VALUE_RESULT || uses[v->scratch] != 1) return NULL;
    const struct ir_inst *inst = v->of.inst;
    return inst->op == IR_OP_FMUL && (inst->attrs.fp & IR_FP_CONTRACT) ? inst : NULL;
}

static bool contract(struct ir_inst *sum, const uint32_t *uses)
{
    if (sum->op == IR_OP_MAD) {
        sum->op = IR_OP_FMA;
        return true;
    }
    if (sum->op != IR_OP_FADD || !(sum->attrs.fp & IR_FP_CONTRACT)) return false;
    for (uint32_t i = 0; i < 2; i++) {
        const struct ir_inst *p = product(sum, i, uses);
        if (!p) continue;
        struct ir_value *operands[3] = {p->operands[0], p->operands[1], sum->operands[1 - i]};
        sum->op = IR_OP_FMA;
        pass_operands_set(sum, operands, 3);
        return true;
    }
    return false;
}

struct contraction {
    const uint32_t *uses;
    bool changed;
};

static void visit(struct ir_inst *inst, void *data)
{
    struct contraction *c = data;
    c->changed |= contract(inst, c->uses);
}

static void see_contract(struct ir_inst *inst, void *data)
{
    bool *found = data;
    *found |= inst->op == IR_OP_MAD || (inst->op == IR_OP_FADD && (inst->attrs.fp & IR_FP_CONTRACT));
    *found |= inst->op == IR_OP_CALL; /* of a function that may */
}

bool contract_possible(const struct ir_function *kernel)
{
    bool found = false;
    ir_walk(kernel->body, see_contract, &found);
    return found;
}

static bool run_contract(struct ir_function *f)
{
    uint32_t *uses = pass_count_uses(f);
    struct contraction c = {uses, false};
    ir_walk(f->body, visit, &c);
    free(uses);
    return c.changed;
}

const struct pass pass_contract = {"contract", "products and sums become fma", run_contract};
