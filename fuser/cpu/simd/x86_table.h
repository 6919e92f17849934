/* The table of instructions that work on whole registers. */
#pragma once

#include "fuser/cpu/jit/emit.h"
#include "fuser/cpu/target/isa.h"

enum x86_form { X86_UNARY, X86_ROUNDING, X86_BINARY, X86_TERNARY, X86_COMPARE };

struct x86_row {
    unsigned op;
    enum ir_kind kind, from; /* of the result and of the first operand */
    enum x86_form form;
    enum cpu_isa least;
    const char *name; /* without the v of AVX; "" + v where the instruction set has it in AVX form only */
    unsigned immediate;
};

/* The instruction for an operation on this instruction set, or NULL. */
const struct x86_row *x86_find_row(const struct emit *e, unsigned op, enum ir_kind kind, enum ir_kind from);
/* One instruction of the table on one chunk. */
lval x86_instruction(struct emit *e, const struct x86_row *row, gcc_jit_type *type, unsigned n, rval *inputs);
const char *x86_any_register(const struct emit *e); /* the constraint of a vector register */
