/*
 * How much a launch has to do: operations, times rounds of the loops around them, times work-items. An addition counts
 * as one, others as what they take in a batch (fuser/cpu/batch), measured. Both branches of an if count. Rounds are
 * known where a counter goes from one constant to another; else a number is assumed.
 */
#include "fuser/plan/graph/work.h"

enum { ASSUMED_ROUNDS = 256, MOST = 1 << 30 };

static uint64_t bounded(uint64_t n)
{
    return n < MOST ? n : MOST;
}

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

uint64_t work_rounds(const struct ir_inst *loop)
{
    const struct ir_block *body = loop->blocks[0];
    for (uint32_t i = 0; i < body->n_args; i++) {
        uint64_t n = rounds_of(loop, i, body);
        if (n) return bounded(n);
    }
    return ASSUMED_ROUNDS;
}

static uint64_t work_of_operation(const struct ir_inst *inst)
{
    static const uint8_t of_class[IR_CLASS_CONTROL + 1] = {
        [IR_CLASS_MATH] = 40,        [IR_CLASS_MEMORY] = 4,     [IR_CLASS_ATOMIC] = 50,
        [IR_CLASS_COLLECTIVE] = 100, [IR_CLASS_SUB_GROUP] = 50, [IR_CLASS_BLOCK] = 50,
        [IR_CLASS_IMAGE] = 200,      [IR_CLASS_PIPE] = 200,     [IR_CLASS_PRINT] = 250};
    static const enum ir_op divisions[] = {IR_OP_UDIV, IR_OP_SDIV, IR_OP_UREM, IR_OP_SREM};
    for (size_t i = 0; i < sizeof divisions / sizeof *divisions; i++)
        if (inst->op == divisions[i]) return 40;
    uint64_t work = of_class[ir_op_class(inst->op)];
    return (work ? work : 1) * ir_type_lanes(inst->type);
}

static uint64_t work_of_function(struct ir_function *f);

static uint64_t work_of_block(const struct ir_block *block)
{
    uint64_t work = 0;
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) {
        work += work_of_operation(inst);
        if (inst->op == IR_OP_CALL) work += work_of_function(inst->attrs.callee);
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b])
                work += work_of_block(inst->blocks[b]) * (inst->op == IR_OP_LOOP ? work_rounds(inst) : 1);
        work = bounded(work);
    }
    return work;
}

/* Functions do not call themselves; each is counted once. */
static uint64_t work_of_function(struct ir_function *f)
{
    if (!f->body) return 0;
    if (!f->scratch) f->scratch = (uint32_t)work_of_block(f->body) + 1;
    return f->scratch - 1;
}

uint64_t work_of_launch(struct ir_function *kernel, const struct nd_range *range)
{
    uint64_t work, items = 1;
    struct ir_module *m = kernel->module;
    for (uint32_t i = 0; i < m->n_functions; i++) m->functions[i]->scratch = 0;
    for (uint32_t i = 0; i < range->dims; i++)
        if (__builtin_mul_overflow(items, range->global[i], &items)) return UINT64_MAX;
    return __builtin_mul_overflow(items, work_of_function(kernel), &work) ? UINT64_MAX : work;
}
