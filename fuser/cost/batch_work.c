/*
 * How much a launch has to do where its kernel has no code: operations, times rounds of the loops around them, times
 * work-items. An addition counts as one, others as what they take in a batch (fuser/cpu/batch), measured. Both branches
 * of an if count.
 */
#include "fuser/cost/cost.h"

enum { MOST = 1 << 30 };

static uint64_t bounded(uint64_t n)
{
    return n < MOST ? n : MOST;
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
        for (int b = cost_is_of_one_group(inst); b < 2; b++)
            if (inst->blocks[b])
                work += work_of_block(inst->blocks[b]) * (inst->op == IR_OP_LOOP ? cost_rounds(inst) : 1);
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

uint64_t cost_of_batches(struct ir_function *kernel, const struct nd_range *range)
{
    uint64_t work, items = 1;
    struct ir_module *m = kernel->module;
    for (uint32_t i = 0; i < m->n_functions; i++) m->functions[i]->scratch = 0;
    for (uint32_t i = 0; i < range->dims; i++)
        if (__builtin_mul_overflow(items, range->global[i], &items)) return UINT64_MAX;
    return __builtin_mul_overflow(items, work_of_function(kernel), &work) ? UINT64_MAX : work;
}
