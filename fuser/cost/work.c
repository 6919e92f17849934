/* Operations of compiled code, of which a core does those of several work-items at once. Both branches of an if count.
   Rounds of loops are known where a counter goes from one constant to another; else a number is assumed. */
#include "fuser/cost/cost.h"

enum { ASSUMED_ROUNDS = 256, MOST = 1 << 30 };

/* ---- rounds ---- */

static bool is_constant(const struct ir_value *v)
{
    return v->kind == IR_VALUE_CONST && ir_type_is_int(v->type) && !ir_type_is_vector(v->type);
}

/* The distance of two constants, each of them kept in the lowest bits of 64: counters may start below 0. */
static uint64_t distance(const struct ir_value *from, const struct ir_value *to)
{
    unsigned above = 64 - ir_type_bits(from->type);
    int64_t a = (int64_t)(from->of.lanes[0] << above) >> above, b = (int64_t)(to->of.lanes[0] << above) >> above;
    return a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
}

/* Rounds until the loop's value `counter` is what it is compared with; 0: not known. A step of more than one, or one
   that multiplies, makes fewer of them, which does not matter here. */
static uint64_t rounds_of(const struct ir_inst *loop, uint32_t counter, const struct ir_block *block)
{
    const struct ir_value *value = loop->blocks[0]->args[counter];
    if (!is_constant(loop->operands[counter])) return 0;
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) {
        if (ir_op_class(inst->op) != IR_CLASS_COMPARISON) continue;
        for (int side = 0; side < 2; side++)
            if (inst->operands[side] == value && is_constant(inst->operands[1 - side]))
                return distance(loop->operands[counter], inst->operands[1 - side]) + 1;
    }
    return 0;
}

uint64_t cost_rounds(const struct ir_inst *loop)
{
    const struct ir_block *body = loop->blocks[0];
    for (uint32_t i = 0; i < body->n_args; i++) {
        uint64_t n = rounds_of(loop, i, body);
        if (n) return n < MOST ? n : MOST;
    }
    return ASSUMED_ROUNDS;
}

/* ---- operations ---- */

/* A load at a place that is no sum of ids: work-items side by side have theirs one by one. */
enum { GATHER = 12 };

/* In additions. */
static uint64_t work_of_operation(const struct ir_inst *inst)
{
    if (inst->scratch) return GATHER;
    switch (inst->op) {
    case IR_OP_MAD: return 1;
    case IR_OP_FDIV:
    case IR_OP_SQRT:
    case IR_OP_RSQRT: return 8;
    case IR_OP_UDIV:
    case IR_OP_SDIV:
    case IR_OP_UREM:
    case IR_OP_SREM: return 20;
    case IR_OP_POW:
    case IR_OP_POWN:
    case IR_OP_POWR:
    case IR_OP_ROOTN:
    case IR_OP_LGAMMA:
    case IR_OP_TGAMMA: return 60;
    default: break;
    }
    switch (ir_op_class(inst->op)) {
    case IR_CLASS_MATH: return 25;
    case IR_CLASS_IMAGE: return 60;
    case IR_CLASS_CONTROL:
    case IR_CLASS_ND_RANGE: return 0;
    default: return 1;
    }
}

/* A work-group's number is a constant. */
static bool is_one_group(const struct ir_value *v)
{
    const struct ir_inst *inst = v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
    if (!inst || (inst->op != IR_OP_IEQ && inst->op != IR_OP_AND)) return false;
    const struct ir_value *a = inst->operands[0], *b = inst->operands[1];
    if (inst->op == IR_OP_AND) return is_one_group(a) || is_one_group(b);
    return a->kind == IR_VALUE_RESULT && a->of.inst->op == IR_OP_GROUP_ID && is_constant(b);
}

bool cost_is_of_one_group(const struct ir_inst *branch)
{
    return branch->op == IR_OP_IF && is_one_group(branch->operands[0]);
}

uint64_t cost_of_block(const struct ir_block *block)
{
    uint64_t work = 0;
    for (const struct ir_inst *inst = block->first; inst && work < MOST; inst = inst->next) {
        work += work_of_operation(inst) * ir_type_lanes(inst->type);
        for (int b = cost_is_of_one_group(inst); b < 2; b++)
            if (inst->blocks[b])
                work += cost_of_block(inst->blocks[b]) * (inst->op == IR_OP_LOOP ? cost_rounds(inst) : 1);
    }
    return work < MOST ? work : MOST;
}
