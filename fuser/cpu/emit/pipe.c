/* Pipes: packets and reservations one lane after the other by the functions of the launch. */
#include "fuser/cpu/emit/pipe.h"

#include <stddef.h>

#include "fuser/cpu/abi/kernel_abi.h"
#include "fuser/cpu/emit/runtime_call.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/simd/lane_loop.h"
#include "fuser/cpu/simd/spill.h"

enum { MOST_OPERANDS = 4 };

struct pipe_call {
    size_t function;
    enum ir_kind result; /* void: none */
    bool sized;          /* takes the size of packets behind the pipe */
    int writes;          /* takes the end of the pipe there; negative: no */
};

/* clang-format off */
#define CALL(op, function, ...) [IR_OP_PIPE_##op] = {offsetof(struct kernel_functions, function), __VA_ARGS__}
static const struct pipe_call calls[IR_OP_COUNT] = {
    CALL(READ,          pipe_read,     IR_KIND_I32, true, -1),
    CALL(READ_AT,       pipe_read_at,  IR_KIND_I32, true, -1),
    CALL(READ_WAIT,     pipe_read_wait,  IR_KIND_VOID, true, -1),
    CALL(WRITE,         pipe_write,    IR_KIND_I32, true, -1),
    CALL(WRITE_WAIT,    pipe_write_wait, IR_KIND_VOID, true, -1),
    CALL(WRITE_AT,      pipe_write_at, IR_KIND_I32, true, -1),
    CALL(RESERVE_READ,  pipe_reserve,  IR_KIND_I64, false, 0),
    CALL(RESERVE_WRITE, pipe_reserve,  IR_KIND_I64, false, 1),
    CALL(COMMIT_READ,   pipe_commit,   IR_KIND_VOID, false, 0),
    CALL(COMMIT_WRITE,  pipe_commit,   IR_KIND_VOID, false, 1),
    CALL(NUM_PACKETS,   pipe_packets,  IR_KIND_I32, false, -1),
};
/* clang-format on */

/* What one lane does; NULL where that gives nothing. */
static rval call(struct emit *e, const struct ir_inst *inst, rval const operands[MOST_OPERANDS])
{
    const struct pipe_call *c = &calls[inst->op];
    rval args[MOST_OPERANDS + 1] = {operands[0]};
    unsigned n = 1;
    if (c->sized) args[n++] = jit_int(e, IR_KIND_I64, ir_type_size(e->module, inst->type));
    if (c->writes >= 0) args[n++] = jit_int(e, IR_KIND_I32, (uint64_t)c->writes);
    for (uint32_t k = 1; k < inst->n_operands; k++) args[n++] = operands[k];
    if (c->result == IR_KIND_VOID) {
        runtime_call(e, c->function, NULL, n, args, NULL);
        return NULL;
    }
    lval result;
    runtime_call(e, c->function, jit_type(e, c->result), n, args, &result);
    return jit_read(result);
}

static struct lanes by_lane(struct emit *e, const struct ir_inst *inst)
{
    enum ir_kind kind = calls[inst->op].result;
    struct lanes values[MOST_OPERANDS];
    rval one[MOST_OPERANDS];
    lval spilled[MOST_OPERANDS];
    for (uint32_t k = 0; k < inst->n_operands; k++) {
        values[k] = *emit_value(e, inst->operands[k]);
        if (!ir_type_is_number(inst->operands[k]->type)) values[k].kind = IR_KIND_I64;
        one[k] = values[k].scalar;
    }
    if (e->width == 1) {
        rval r = call(e, inst, one);
        return r ? lanes_uniform(kind, r) : (struct lanes){0};
    }
    for (uint32_t k = 0; k < inst->n_operands; k++) spilled[k] = spill_lanes(e, &values[k]);
    lval out = kind == IR_KIND_VOID ? NULL : lane_array(e, kind, 1);
    struct lane_loop loop;
    lane_loop_begin(e, &loop);
    for (uint32_t k = 0; k < inst->n_operands; k++) one[k] = spilled_lane(e, spilled[k], loop.lane);
    rval r = call(e, inst, one);
    if (r) jit_set(e, gcc_jit_context_new_array_access(e->gcc, NULL, jit_read(out), loop.lane), r);
    lane_loop_end(e, &loop);
    return out ? unspill_lanes(e, kind, out) : (struct lanes){0};
}

void emit_pipe(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    if (inst->op == IR_OP_PIPE_MAX_PACKETS) {
        *result = runtime_field(e, *emit_value(e, inst->operands[0]), offsetof(struct kernel_pipe, capacity));
        return;
    }
    struct lanes r = by_lane(e, inst);
    if (inst->n_results && ir_type_is_bool(inst->results[0]->type))
        r = op2(e, IR_OP_INE, IR_KIND_BOOL, r, lanes_int(e, IR_KIND_I32, 0));
    if (result) *result = r;
}
