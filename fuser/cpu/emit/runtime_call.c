/* Calls of what the launch brings along (struct kernel_functions). */
#include "fuser/cpu/emit/runtime_call.h"

#include "fuser/cpu/emit/launch.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/simd/lane_loop.h"
#include "fuser/cpu/simd/spill.h"
#include "fuser/cpu/simd/x86_move.h"

static rval word_at(struct emit *e, rval record, size_t offset)
{
    rval address = jit_add(e, record, jit_int(e, IR_KIND_I64, offset));
    return jit_read(jit_memory(e, jit_type(e, IR_KIND_I32), address, 4));
}

struct lanes runtime_field(struct emit *e, struct lanes record, size_t offset)
{
    record.kind = IR_KIND_I64;
    if (record.shape == SHAPE_UNIFORM)
        return lanes_uniform(IR_KIND_I32, jit_read(jit_keep(e, word_at(e, record.scalar, offset))));
    lval records = spill_lanes(e, &record), out = lane_array(e, IR_KIND_I32, 1);
    struct lane_loop loop;
    lane_loop_begin(e, &loop);
    jit_set(e, gcc_jit_context_new_array_access(e->gcc, NULL, jit_read(out), loop.lane),
            word_at(e, spilled_lane(e, records, loop.lane), offset));
    lane_loop_end(e, &loop);
    return unspill_lanes(e, IR_KIND_I32, out);
}

void runtime_call(struct emit *e, size_t function, gcc_jit_type *result, unsigned n, rval *args, lval *to)
{
    gcc_jit_type *types[8];
    for (unsigned i = 0; i < n; i++) types[i] = gcc_jit_rvalue_get_type(args[i]);
    gcc_jit_type *pointer = gcc_jit_context_new_function_ptr_type(
        e->gcc, NULL, result ? result : jit_c(e, GCC_JIT_TYPE_VOID), (int)n, types, 0);
    rval entry = jit_add(e, e->launch->functions, jit_int(e, IR_KIND_I64, function));
    rval code =
        jit_bits(e, jit_read(jit_keep(e, jit_read(jit_memory(e, jit_type(e, IR_KIND_I64), entry, 8)))), pointer);
    x86_clear_halves(e);
    rval call = gcc_jit_context_new_call_through_ptr(e->gcc, NULL, code, (int)n, args);
    if (to)
        *to = jit_keep(e, call);
    else
        gcc_jit_block_add_eval(e->block, NULL, call);
}
