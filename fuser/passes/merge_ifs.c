/*
 * Ifs of one condition that follow each other become one: so the guards "if (i < n)" of kernels that were
 * fused. What stands between them and depends on neither goes before the first.
 */
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"

static bool uses_result_of(const struct ir_inst *inst, const struct ir_inst *maker)
{
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (inst->operands[i]->kind == IR_VALUE_RESULT && inst->operands[i]->of.inst == maker) return true;
    return false;
}

/* The if that can join `first`: only pure operations that do not need first's results are in between. */
static struct ir_inst *find_partner(const struct ir_inst *first)
{
    for (struct ir_inst *inst = first->next; inst; inst = inst->next) {
        if (uses_result_of(inst, first)) return NULL;
        if (inst->op == IR_OP_IF) return ir_value_same(inst->operands[0], first->operands[0]) ? inst : NULL;
        if (!pass_is_pure(inst)) return NULL;
    }
    return NULL;
}

/* Puts the second if's block behind the first's. */
static void join_blocks(struct ir_inst *first, struct ir_inst *second, int b)
{
    struct ir_inst *yield = first->blocks[b]->last;
    struct ir_block *tail = second->blocks[b];
    if (yield->op != IR_OP_YIELD) return; /* never comes to the second */
    for (uint32_t i = 0; i < first->n_results; i++) ir_replace_uses(tail, first->results[i], yield->operands[i]);
    ir_inst_remove(yield);
    pass_move_tail(tail->first, first->blocks[b]);
    struct ir_inst *end = first->blocks[b]->last;
    if (end->op != IR_OP_YIELD) return;
    struct ir_value **second_values = end->operands;
    uint32_t n = end->n_operands;
    pass_operands_set(end, yield->operands, yield->n_operands);
    for (uint32_t i = 0; i < n; i++) pass_operand_add(end, second_values[i]);
}

static void join(struct ir_inst *first, struct ir_inst *second)
{
    for (struct ir_inst *inst = first->next, *next; inst != second; inst = next) {
        next = inst->next;
        ir_inst_move_before(inst, first);
    }
    for (int b = 0; b < 2; b++) join_blocks(first, second, b);
    for (uint32_t i = 0; i < second->n_results; i++) pass_result_adopt(first, second->results[i]);
    ir_inst_remove(second);
}

static bool merge_block(struct ir_block *block)
{
    bool changed = false;
    for (struct ir_inst *inst = block->first; inst; inst = inst->next) {
        struct ir_inst *second;
        while (inst->op == IR_OP_IF && !pass_leaves(inst) && (second = find_partner(inst))) {
            join(inst, second);
            changed = true;
        }
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b]) changed |= merge_block(inst->blocks[b]);
    }
    return changed;
}

static bool run_merge_ifs(struct ir_function *f)
{
    return merge_block(f->body);
}

const struct pass pass_merge_ifs = {"merge_ifs", "neighbouring ifs of one condition", run_merge_ifs};
