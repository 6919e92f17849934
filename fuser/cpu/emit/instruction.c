/* One instruction other than control flow: handed to the unit that emits it. */
#include "fuser/cpu/emit/instruction.h"

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
#include "fuser/cpu/prepare/group_operation.h"
#include "fuser/cpu/simd/lanes.h"
#include "ir/core/ops.h"

void emit_instruction(struct emit *e, const struct ir_inst *inst)
{
    const struct ir_op_info *info = ir_op_info(inst->op);
    struct lanes *result = NULL;
    if (inst->n_results) {
        result = arena_alloc(e->arena, ir_type_lanes(inst->results[0]->type) * sizeof *result);
        e->values->lanes[inst->results[0]->scratch] = result;
    }
    if (inst->op >= IR_OP_IMAGE_BLOCK_READ && inst->op <= IR_OP_IMAGE_CHANNEL_ORDER)
        emit_image(e, inst, result);
    else if (inst->op >= IR_OP_PIPE_READ && inst->op <= IR_OP_PIPE_MAX_PACKETS)
        emit_pipe(e, inst, result);
    else if (inst->op == IR_OP_PRINTF)
        emit_print(e, inst, result);
    else if (is_sub_group_operation(inst))
        emit_sub_group_operation(e, inst, result);
    else if (is_work_group_operation(inst))
        emit_work_group_operation(e, inst, result);
    else if (inst->op >= IR_OP_ATOMIC_LOAD && inst->op <= IR_OP_FENCE)
        emit_atomic(e, inst, result);
    else if (inst->op >= IR_OP_GLOBAL_ID && inst->op <= IR_OP_LOCAL_LINEAR_ID)
        emit_id(e, inst, result);
    else if ((info->flags & IR_FLAG_PURE) && inst->op != IR_OP_GLOBAL)
        emit_pure(e, inst, result);
    else
        emit_memory(e, inst, result);
}
