/* A loop over the lanes that run. */
#include "fuser/cpu/simd/lane_loop.h"

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/simd/mask.h"

void lane_loop_begin(struct emit *e, struct lane_loop *loop)
{
    loop->bits = jit_keep(e, mask_bits(e, e->exec));
    loop->head = jit_block(e);
    loop->body = jit_block(e);
    loop->exit = jit_block(e);
    jit_jump(e, loop->head);
    jit_begin(e, loop->head);
    jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_NE, jit_read(loop->bits), jit_int(e, IR_KIND_I64, 0)), loop->body,
               loop->exit);
    jit_begin(e, loop->body);
    rval bits = jit_cast(e, jit_read(loop->bits), jit_c(e, GCC_JIT_TYPE_UNSIGNED_LONG));
    loop->lane =
        jit_read(jit_keep(e, jit_cast(e, jit_builtin(e, "__builtin_ctzl", 1, &bits), jit_type(e, IR_KIND_I64))));
}

void lane_loop_end(struct emit *e, struct lane_loop *loop)
{
    rval less = jit_binary(e, GCC_JIT_BINARY_OP_MINUS, jit_read(loop->bits), jit_int(e, IR_KIND_I64, 1));
    jit_set(e, loop->bits, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, jit_read(loop->bits), less));
    jit_jump(e, loop->head);
    jit_begin(e, loop->exit);
}
