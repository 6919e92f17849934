/* Stores past the cache: of whole registers, where the launch asks for them and the address allows. */
#include "fuser/cpu/simd/stream.h"

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/simd/x86_move.h"
#include "fuser/cpu/target/isa.h"

rval stream_may(struct emit *e, rval keeps_cached, rval address)
{
    rval rest = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, address, keeps_cached);
    rest = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, rest, jit_int(e, IR_KIND_I64, e->isa->vector_bytes - 1));
    return jit_compare(e, GCC_JIT_COMPARISON_EQ, rest, jit_int(e, IR_KIND_I64, 0));
}

void stream_store(struct emit *e, lval may, lval place, rval v)
{
    gcc_jit_block *past = jit_block(e), *into = jit_block(e), *join = jit_block(e);
    jit_branch(e, jit_read(may), past, into);
    jit_begin(e, past);
    x86_stream(e, jit_address(e, place), v);
    jit_jump(e, join);
    jit_begin(e, into);
    jit_set(e, place, v);
    jit_jump(e, join);
    jit_begin(e, join);
}

bool stream_was_just_read(const struct ir_inst *store)
{
    enum { FAR = 100 };
    unsigned n = 0;
    if (store->op != IR_OP_STORE) return false;
    for (const struct ir_inst *inst = store->prev; inst && n < FAR; inst = inst->prev, n++)
        if (inst->op == IR_OP_LOAD && inst->operands[0] == store->operands[0]) return true;
    return false;
}
