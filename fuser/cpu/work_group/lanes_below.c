/* The lanes of a vector that has more than there are work-items left. */
#include "fuser/cpu/work_group/lanes_below.h"

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/simd/lanes.h"
#include "fuser/cpu/target/isa.h"

struct mask lanes_below(struct emit *e, rval count)
{
    if (!e->isa->bit_masks) {
        struct lanes lane = lanes_linear(IR_KIND_I32, jit_int(e, IR_KIND_I32, 0), 1);
        struct lanes end = lanes_uniform(IR_KIND_I32, jit_cast(e, count, jit_type(e, IR_KIND_I32)));
        struct lanes below = op2(e, IR_OP_SLT, IR_KIND_BOOL, lane, end);
        return mask_of(e, &below);
    }
    rval unused = jit_binary(e, GCC_JIT_BINARY_OP_MINUS, jit_int(e, IR_KIND_I64, 64), count);
    lval bits = jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, jit_int(e, IR_KIND_I64, UINT64_MAX), unused));
    struct mask r = {arena_alloc(e->arena, mask_chunks(e) * sizeof *r.chunk)};
    for (unsigned c = 0; c < mask_chunks(e); c++) {
        rval part = jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, jit_read(bits), jit_int(e, IR_KIND_I64, 16 * c));
        r.chunk[c] = jit_keep(e, jit_cast(e, part, mask_type(e)));
    }
    return r;
}
