/* Pure operations on values from outside a loop go before it, where they are done once. */
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"

static bool is_invariant(const struct ir_inst *inst, const struct ir_inst *loop)
{
    if (!pass_is_pure(inst) || ir_op_info(inst->op)->flags & IR_FLAG_PARTIAL) return false;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (pass_is_inside(inst->operands[i], loop)) return false;
    return true;
}

/* Inner loops first: what leaves them may leave the outer one too. Only what each round does for sure is
   moved; what stands under a condition stays there. */
static bool hoist_block(struct ir_block *block)
{
    bool changed = false;
    for (struct ir_inst *inst = block->first; inst; inst = inst->next) {
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b]) changed |= hoist_block(inst->blocks[b]);
        if (inst->op != IR_OP_LOOP) continue;
        for (struct ir_inst *i = inst->blocks[0]->first, *next; i; i = next) {
            next = i->next;
            if (!is_invariant(i, inst)) continue;
            ir_inst_move_before(i, inst);
            changed = true;
        }
    }
    return changed;
}

static bool run_licm(struct ir_function *f)
{
    return hoist_block(f->body);
}

const struct pass pass_licm = {"licm", "loop-invariant operations", run_licm};
