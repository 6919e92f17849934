/* Comparisons of integers in vectors where the instruction set has only equal and signed greater, of 4 bytes and more:
   the others in terms of these. */
#include "fuser/cpu/lower/int_compare.h"

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/target/isa.h"

static struct lanes sign_flipped(struct emit *e, struct lanes v)
{
    return op2(e, IR_OP_XOR, v.kind, v, lanes_int(e, v.kind, 1ull << (kind_bytes(v.kind) * 8 - 1)));
}

bool lower_int_comparison(struct emit *e, enum ir_op op, const struct lanes *args, struct lanes *result)
{
    struct lanes a = args[0], b = args[1];
    if (a.kind == IR_KIND_PTR) a.kind = b.kind = IR_KIND_I64;
    if (a.kind == IR_KIND_BOOL || a.kind >= IR_KIND_F32 || e->isa->bit_masks || e->isa->id == CPU_ISA_GENERIC)
        return false;
    bool is_unsigned = ir_op_info(op)->flags & IR_FLAG_UNSIGNED;
    if (kind_bytes(a.kind) < 4) {
        enum ir_op extend = is_unsigned ? IR_OP_ZEXT : IR_OP_SEXT;
        *result = op2(e, op, IR_KIND_BOOL, op1(e, extend, IR_KIND_I32, a), op1(e, extend, IR_KIND_I32, b));
        return true;
    }
    if (op == IR_OP_IEQ || op == IR_OP_SGT) return false; /* an instruction */
    if (is_unsigned) {
        a = sign_flipped(e, a);
        b = sign_flipped(e, b);
    }
    bool swap = op == IR_OP_SLT || op == IR_OP_ULT || op == IR_OP_SGE || op == IR_OP_UGE;
    bool invert = op == IR_OP_INE || op == IR_OP_SLE || op == IR_OP_ULE || op == IR_OP_SGE || op == IR_OP_UGE;
    *result = op2(e, op == IR_OP_INE ? IR_OP_IEQ : IR_OP_SGT, IR_KIND_BOOL, swap ? b : a, swap ? a : b);
    if (invert) *result = op1(e, IR_OP_NOT, IR_KIND_BOOL, *result);
    return true;
}
