/* Copies of memory, lane by lane. */
#include "fuser/cpu/simd/copy.h"

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/simd/lane_loop.h"
#include "fuser/cpu/simd/spill.h"

static void copy_bytes(struct emit *e, rval to, rval from, rval bytes)
{
    rval args[3] = {jit_bits(e, to, jit_c(e, GCC_JIT_TYPE_VOID_PTR)),
                    jit_bits(e, from, jit_c(e, GCC_JIT_TYPE_VOID_PTR)),
                    jit_cast(e, bytes, jit_c(e, GCC_JIT_TYPE_SIZE_T))};
    gcc_jit_block_add_eval(e->block, NULL, jit_builtin(e, "__builtin_memcpy", 3, args));
}

void copy_elements(struct emit *e, const struct lanes *to, const struct lanes *from, const struct lanes *count,
                   uint64_t size)
{
    rval bytes = jit_int(e, IR_KIND_I64, size);
    if (e->width == 1) {
        copy_bytes(e, to->scalar, from->scalar, jit_mul(e, count->scalar, bytes));
        return;
    }
    lval to_lanes = spill_lanes(e, to), from_lanes = spill_lanes(e, from), counts = spill_lanes(e, count);
    struct lane_loop loop;
    lane_loop_begin(e, &loop);
    copy_bytes(e, spilled_lane(e, to_lanes, loop.lane), spilled_lane(e, from_lanes, loop.lane),
               jit_mul(e, spilled_lane(e, counts, loop.lane), bytes));
    lane_loop_end(e, &loop);
}
