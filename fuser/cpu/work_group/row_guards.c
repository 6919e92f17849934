/*
 * Ifs around all that work-items do, as `if (x > 0 && x < n - 1) if (y > 0 && y < m - 1) { ... }`. Where a part of a
 * row has computed their conditions, they are asked once, before its vectors: none of these has a test left.
 */
#include "fuser/cpu/work_group/row_guards.h"

#include "fuser/cpu/jit/jit.h"
#include "ir/core/facts.h"

static bool does_nothing(const struct ir_inst *inst)
{
    return inst->op == IR_OP_BARRIER || inst->op == IR_OP_RETURN || (inst->op == IR_OP_YIELD && !inst->n_operands);
}

const struct ir_inst *row_guard(const struct ir_inst *first, const struct ir_inst *end)
{
    const struct ir_inst *inst = first;
    for (; inst && inst != end && inst->op != IR_OP_IF; inst = inst->next)
        if (!(ir_op_info(inst->op)->flags & IR_FLAG_PURE) && (inst->op != IR_OP_LOAD || inst->attrs.is_volatile))
            return NULL;
    if (!inst || inst == end) return NULL;
    for (const struct ir_inst *i = inst->next; i && i != end; i = i->next)
        if (!does_nothing(i)) return NULL;
    return inst;
}

static bool has_nothing_else(const struct ir_inst *guard)
{
    return guard->blocks[1]->first->op == IR_OP_YIELD && !guard->n_results;
}

const int8_t *row_guards_ask(struct emit *e, const struct ir_inst *first, const lval *conditions, gcc_jit_block *skip)
{
    int8_t *decided = NULL;
    const struct ir_inst *guard = row_guard(first, NULL);
    for (; guard && has_nothing_else(guard); guard = row_guard(guard->blocks[0]->first, NULL)) {
        const struct ir_value *asked = guard->operands[0];
        if (asked->kind != IR_VALUE_RESULT || !conditions[asked->of.inst->scratch]) break;
        uint32_t n = asked->of.inst->scratch;
        if (!decided) decided = arena_alloc(e->arena, e->values->uniformity.n_insts * sizeof *decided);
        if (decided[n]) continue;
        gcc_jit_block *holds = jit_block(e);
        jit_branch(e, jit_read(conditions[n]), holds, skip);
        jit_begin(e, holds);
        decided[n] = 1;
    }
    return decided;
}
