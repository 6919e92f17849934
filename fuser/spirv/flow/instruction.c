/* One instruction of the kernel, handed to its family. */
#include "fuser/spirv/flow/instruction.h"

#include "fuser/spirv/base/ids.h"
#include "fuser/spirv/base/kernel_ids.h"
#include "fuser/spirv/groups/group.h"
#include "fuser/spirv/memory/atomic.h"
#include "fuser/spirv/memory/memory.h"
#include "fuser/spirv/memory/pipe.h"
#include "fuser/spirv/numbers/pure.h"

static const char *family_name(enum ir_op_class c)
{
    switch (c) {
    case IR_CLASS_IMAGE: return "images";
    default: return "calls";
    }
}

void spw_instruction(struct spw *w, const struct ir_inst *inst)
{
    enum ir_op_class c = ir_op_class(inst->op);
    switch (c) {
    case IR_CLASS_ARITHMETIC:
    case IR_CLASS_CONVERSION:
    case IR_CLASS_VECTOR:
    case IR_CLASS_MATH: spw_pure(w, inst); break;
    case IR_CLASS_COMPARISON:
        if (!spw_pipe_asked(w, inst)) spw_pure(w, inst);
        break;
    case IR_CLASS_PIPE:
        if (w->target->features & SPIRV_PIPES)
            spw_pipe(w, inst);
        else
            spw_fail(w, "waits, which work-items of this device cannot; `%s` says at once whether it did it",
                     inst->op == IR_OP_PIPE_READ_WAIT ? "pipe_read" : "pipe_write");
        break;
    case IR_CLASS_MEMORY:
        if (inst->op == IR_OP_FENCE)
            spw_fence(w, inst);
        else
            spw_memory_access(w, inst);
        break;
    case IR_CLASS_ND_RANGE: spw_set1(w, inst->results[0], spw_id_of(w, inst->op, inst->attrs.dim)); break;
    case IR_CLASS_ATOMIC: spw_atomic(w, inst); break;
    case IR_CLASS_COLLECTIVE:
    case IR_CLASS_SUB_GROUP:
    case IR_CLASS_SUB_GROUP_QUERY:
    case IR_CLASS_BLOCK: spw_group(w, inst); break;
    case IR_CLASS_PRINT:
        spw_fail(w, "cannot be written: %s",
                 spw_has_parameters(w) ? "SPIR-V here has no printing" : "format and strings must be known to be such");
        break;
    default: spw_fail(w, "cannot be written: SPIR-V here has no %s", family_name(c)); break;
    }
}
