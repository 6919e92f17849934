/* Pipes: packets one lane after the other by the functions of the launch. */
#include <stddef.h>

#include "fuser/cpu/emit.h"
#include "fuser/cpu/abi/kernel_abi.h"

/* What one lane does, given its pipe and the address of its packet (NULL: it has none). */
static rval transfer(struct emit *e, const struct ir_inst *inst, rval pipe, rval packet)
{
    size_t function = inst->op == IR_OP_PIPE_READ    ? offsetof(struct kernel_functions, pipe_read)
                      : inst->op == IR_OP_PIPE_WRITE ? offsetof(struct kernel_functions, pipe_write)
                                                     : offsetof(struct kernel_functions, pipe_packets);
    rval args[3] = {pipe, NULL, packet};
    if (packet) args[1] = jit_int(e, IR_KIND_I64, ir_type_size(e->module, inst->type));
    lval result;
    runtime_call(e, function, jit_type(e, IR_KIND_I32), packet ? 3 : 1, args, &result);
    return jit_read(result);
}

static struct lanes by_lane(struct emit *e, const struct ir_inst *inst)
{
    struct lanes pipe = *emit_value(e, inst->operands[0]), packet = {0};
    bool moves = inst->n_operands > 1;
    pipe.kind = IR_KIND_I64;
    if (moves) packet = *emit_value(e, inst->operands[1]);
    if (e->width == 1) return lanes_uniform(IR_KIND_I32, transfer(e, inst, pipe.scalar, moves ? packet.scalar : NULL));
    lval pipes = spill_lanes(e, &pipe), packets = moves ? spill_lanes(e, &packet) : NULL;
    lval out = lane_array(e, IR_KIND_I32, 1);
    struct lane_loop loop;
    lane_loop_begin(e, &loop);
    rval address = packets ? spilled_lane(e, packets, loop.lane) : NULL;
    rval r = transfer(e, inst, spilled_lane(e, pipes, loop.lane), address);
    jit_set(e, gcc_jit_context_new_array_access(e->gcc, NULL, jit_read(out), loop.lane), r);
    lane_loop_end(e, &loop);
    return unspill_lanes(e, IR_KIND_I32, out);
}

void emit_pipe(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    if (inst->op == IR_OP_PIPE_MAX_PACKETS) {
        *result = runtime_field(e, *emit_value(e, inst->operands[0]), offsetof(struct kernel_pipe, capacity));
        return;
    }
    *result = by_lane(e, inst);
    if (inst->op == IR_OP_PIPE_READ || inst->op == IR_OP_PIPE_WRITE)
        *result = op2(e, IR_OP_INE, IR_KIND_BOOL, *result, lanes_int(e, IR_KIND_I32, 0));
}
