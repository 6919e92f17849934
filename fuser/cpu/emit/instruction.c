/* One instruction other than control flow: handed to the unit that emits it. */
#include "fuser/cpu/emit/instruction.h"

#include <string.h>

#include "fuser/cpu/emit/atomic.h"
#include "fuser/cpu/emit/ids.h"
#include "fuser/cpu/emit/image.h"
#include "fuser/cpu/emit/memory.h"
#include "fuser/cpu/emit/pipe.h"
#include "fuser/cpu/emit/print.h"
#include "fuser/cpu/emit/pure.h"
#include "fuser/cpu/emit/sub_group_operation.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/emit/work_group_operation.h"
#include "fuser/cpu/prepare/read_back.h"
#include "fuser/cpu/simd/lanes.h"
#include "ir/core/facts.h"

/* A barrier of one work-item does nothing. */
static void emit_collective(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    if (ir_is_sub_group_op(inst))
        emit_sub_group_operation(e, inst, result);
    else if (ir_is_work_group_collective(inst))
        emit_work_group_operation(e, inst, result);
}

static void emit_memory_operation(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    const struct ir_value *alone = inst->op == IR_OP_LOAD && e->width == 1 ? read_back_alone(inst) : NULL;
    if (alone)
        memcpy(result, emit_value(e, alone), ir_type_lanes(inst->type) * sizeof *result);
    else if (inst->op == IR_OP_FENCE)
        emit_atomic(e, inst, result);
    else if ((ir_op_info(inst->op)->flags & IR_FLAG_PURE) && inst->op != IR_OP_GLOBAL)
        emit_pure(e, inst, result); /* an address */
    else
        emit_memory(e, inst, result);
}

void emit_instruction(struct emit *e, const struct ir_inst *inst)
{
    struct lanes *result = NULL;
    if (inst->n_results) {
        result = arena_alloc(e->arena, ir_type_lanes(inst->results[0]->type) * sizeof *result);
        e->values->lanes[inst->results[0]->scratch] = result;
    }
    switch (ir_op_class(inst->op)) {
    case IR_CLASS_MEMORY: emit_memory_operation(e, inst, result); break;
    case IR_CLASS_ATOMIC: emit_atomic(e, inst, result); break;
    case IR_CLASS_ND_RANGE: emit_id(e, inst, result); break;
    case IR_CLASS_COLLECTIVE: emit_collective(e, inst, result); break;
    case IR_CLASS_BLOCK:
        if (inst->op == IR_OP_BLOCK_READ || inst->op == IR_OP_BLOCK_WRITE)
            emit_sub_group_operation(e, inst, result);
        else
            emit_image(e, inst, result);
        break;
    case IR_CLASS_SUB_GROUP_QUERY:
    case IR_CLASS_SUB_GROUP: emit_sub_group_operation(e, inst, result); break;
    case IR_CLASS_IMAGE: emit_image(e, inst, result); break;
    case IR_CLASS_PIPE: emit_pipe(e, inst, result); break;
    case IR_CLASS_PRINT: emit_print(e, inst, result); break;
    default: emit_pure(e, inst, result);
    }
}
