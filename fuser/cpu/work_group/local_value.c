/* Values that follow from local ids alone, as they are for one work-item. */
#include "fuser/cpu/work_group/local_value.h"

#include "ir/core/facts.h"
#include "ir/eval/eval.h"

enum { MOST_OPERATIONS = 32, MOST_OPERANDS = 3 };

struct search {
    unsigned dim;
    uint32_t item;       /* its local id there */
    unsigned operations; /* that may be computed still */
};

static bool value_at(struct search *s, const struct ir_value *v, uint64_t *word)
{
    uint64_t words[MOST_OPERANDS], result[IR_MAX_LANES];
    const uint64_t *operands[MOST_OPERANDS];
    const struct ir_inst *inst = v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
    if (ir_type_lanes(v->type) > 1) return false;
    *word = v->kind == IR_VALUE_CONST ? v->of.lanes[0] : s->item;
    if (!inst || !s->operations) return v->kind == IR_VALUE_CONST;
    if (inst->op == IR_OP_LOCAL_ID) return inst->attrs.dim == s->dim;
    bool pure = ir_op_info(inst->op)->flags & IR_FLAG_PURE;
    if (!pure || inst->blocks[0] || !inst->n_operands || inst->n_operands > MOST_OPERANDS) return false;
    s->operations--;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        if (!value_at(s, inst->operands[i], &words[i])) return false;
        operands[i] = &words[i];
    }
    if (!ir_eval(inst, operands, result)) return false;
    *word = result[0];
    return true;
}

bool local_value_at(const struct ir_value *v, unsigned dim, uint32_t item, uint64_t *word)
{
    struct search s = {dim, item, MOST_OPERATIONS};
    return value_at(&s, v, word);
}
