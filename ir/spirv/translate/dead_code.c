/* Takes away what reading leaves behind: components of ids that nobody asked for, addresses of dead accesses. */
#include "ir/spirv/translate/dead_code.h"

#include <stdlib.h>

static void count_uses(struct ir_block *block)
{
    for (struct ir_inst *i = block->first; i; i = i->next) {
        for (uint32_t k = 0; k < i->n_operands; k++) i->operands[k]->scratch++;
        for (int b = 0; b < 2; b++)
            if (i->blocks[b]) count_uses(i->blocks[b]);
    }
}

static void reset_uses(struct ir_block *block)
{
    for (uint32_t k = 0; k < block->n_args; k++) block->args[k]->scratch = 0;
    for (struct ir_inst *i = block->first; i; i = i->next) {
        for (uint32_t k = 0; k < i->n_operands; k++) i->operands[k]->scratch = 0;
        for (uint32_t k = 0; k < i->n_results; k++) i->results[k]->scratch = 0;
        for (int b = 0; b < 2; b++)
            if (i->blocks[b]) reset_uses(i->blocks[b]);
    }
}

/* From the end backwards: what only dead operations used is dead when they have been seen. */
static void remove_unused(struct ir_block *block)
{
    for (struct ir_inst *i = block->last, *prev; i; i = prev) {
        prev = i->prev;
        for (int b = 2; b--;)
            if (i->blocks[b]) remove_unused(i->blocks[b]);
        bool pure = ir_op_info(i->op)->flags & IR_FLAG_PURE || i->op == IR_OP_VAR;
        if (!pure || i->n_results != 1 || i->results[0]->scratch) continue;
        for (uint32_t k = 0; k < i->n_operands; k++) i->operands[k]->scratch--;
        ir_inst_remove(i);
    }
}

void spirv_remove_dead_code(struct ir_function *f)
{
    if (!f->body) return;
    for (uint32_t i = 0; i < f->n_params; i++) f->params[i].value->scratch = 0;
    reset_uses(f->body);
    count_uses(f->body);
    remove_unused(f->body);
}
