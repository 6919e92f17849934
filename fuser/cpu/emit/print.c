/* printf and findings: one lane after the other by a function of the launch. */
#include "fuser/cpu/emit/print.h"

#include <stddef.h>

#include "fuser/cpu/abi/kernel_abi.h"
#include "fuser/cpu/emit/launch.h"
#include "fuser/cpu/emit/runtime_call.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/simd/lane_loop.h"
#include "fuser/cpu/simd/spill.h"

/* Of printf; of a finding they are its place, its site and its offset. */
enum { ITEM, FORMAT, ARGS, OPERANDS };

static void call_finding(struct emit *e, rval const operands[OPERANDS])
{
    rval args[] = {e->launch->printer, operands[0], operands[1], operands[2]};
    runtime_call(e, offsetof(struct kernel_functions, finding), NULL, 4, args, NULL);
}

static rval call_print(struct emit *e, const struct ir_inst *inst, rval const operands[OPERANDS])
{
    rval args[] = {e->launch->printer, operands[ITEM], operands[FORMAT],
                   jit_int(e, IR_KIND_I64, ir_type_size(e->module, inst->type)), operands[ARGS]};
    lval result;
    runtime_call(e, offsetof(struct kernel_functions, print), jit_type(e, IR_KIND_I32), 5, args, &result);
    return jit_read(result);
}

void emit_print(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    struct lanes values[OPERANDS];
    rval one[OPERANDS];
    lval spilled[OPERANDS];
    for (unsigned k = 0; k < OPERANDS; k++) {
        values[k] = *emit_value(e, inst->operands[k]);
        values[k].kind = IR_KIND_I64;
        one[k] = values[k].scalar;
    }
    bool prints = inst->op == IR_OP_PRINTF;
    if (e->width == 1 && !prints) {
        call_finding(e, one);
        return;
    }
    if (e->width == 1) {
        *result = lanes_uniform(IR_KIND_I32, call_print(e, inst, one));
        return;
    }
    for (unsigned k = 0; k < OPERANDS; k++) spilled[k] = spill_lanes(e, &values[k]);
    lval out = prints ? lane_array(e, IR_KIND_I32, 1) : NULL;
    struct lane_loop loop;
    lane_loop_begin(e, &loop);
    for (unsigned k = 0; k < OPERANDS; k++) one[k] = spilled_lane(e, spilled[k], loop.lane);
    if (prints) {
        rval r = call_print(e, inst, one);
        jit_set(e, gcc_jit_context_new_array_access(e->gcc, NULL, jit_read(out), loop.lane), r);
    } else {
        call_finding(e, one);
    }
    lane_loop_end(e, &loop);
    if (prints) *result = unspill_lanes(e, IR_KIND_I32, out);
}
