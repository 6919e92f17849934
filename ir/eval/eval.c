/* ir_eval: finds the family of an operation and goes over the lanes. */
#include "ir/eval/eval.h"

#include "ir/eval/convert.h"
#include "ir/eval/float.h"
#include "ir/eval/formula.h"
#include "ir/eval/int.h"
#include "ir/eval/vector.h"

/* The words of one lane; a scalar operand beside vectors (a bit field's offset) is the same for all. */
static void gather(const struct ir_inst *inst, const uint64_t *const *operands, unsigned lane, uint64_t v[4])
{
    for (uint32_t i = 0; i < 4; i++) v[i] = 0;
    for (uint32_t i = 0; i < inst->n_operands && i < 4; i++)
        v[i] = operands[i][ir_type_lanes(inst->operands[i]->type) > 1 ? lane : 0];
}

static bool eval_lane(const struct ir_inst *inst, const uint64_t v[4], uint64_t *r)
{
    switch (inst->op) {
    case IR_OP_ADD ... IR_OP_UBITFIELD_EXTRACT: return eval_int(inst->op, ir_type_bits(inst->type), v, r);
    case IR_OP_FADD ... IR_OP_SIGN: return eval_float(inst->op, ir_type_kind(inst->type), v, r);
    case IR_OP_IEQ ... IR_OP_SIGNBIT: return eval_compare(inst->op, inst->type, v, r);
    case IR_OP_ITRUNC ... IR_OP_UTOF:
        return eval_convert(inst->op, inst->attrs.rounding, inst->type, inst->operands[0]->type, v[0], r);
    default: return false;
    }
}

bool ir_eval(const struct ir_inst *inst, const uint64_t *const *operand_lanes, uint64_t *result_lanes)
{
    switch (inst->op) {
    case IR_OP_DOT ... IR_OP_NORMALIZE: return eval_geometric(inst->op, inst->type, operand_lanes, result_lanes);
    case IR_OP_ANY ... IR_OP_SELECT:
    case IR_OP_BITCAST:
    case IR_OP_VEC ... IR_OP_VSHUFFLE2: return eval_vector(inst, operand_lanes, result_lanes);
    default: break;
    }
    for (unsigned lane = 0; lane < ir_type_lanes(inst->type); lane++) {
        uint64_t v[4];
        gather(inst, operand_lanes, lane, v);
        if (!eval_lane(inst, v, &result_lanes[lane])) return false;
    }
    return true;
}
