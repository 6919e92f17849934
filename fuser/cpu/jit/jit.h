/* Expressions and statements of libgccjit, tersely. */
#pragma once

#include "fuser/cpu/jit/emit.h"

gcc_jit_type *jit_type(struct emit *e, enum ir_kind kind);                   /* integers are unsigned, f16 its bits */
gcc_jit_type *jit_signed(struct emit *e, enum ir_kind kind);                 /* of an integer kind */
gcc_jit_type *jit_vector(struct emit *e, enum ir_kind kind, unsigned lanes); /* 1: the scalar type */
gcc_jit_type *jit_signed_vector(struct emit *e, enum ir_kind kind, unsigned lanes);
gcc_jit_type *jit_c(struct emit *e, enum gcc_jit_types type);
unsigned kind_bytes(enum ir_kind kind);     /* in memory: bool 1 */
enum ir_kind kind_of_bytes(unsigned bytes); /* the integer of that size */

rval jit_int(struct emit *e, enum ir_kind kind, uint64_t bits);
rval jit_u64(struct emit *e, uint64_t v);
rval jit_number(struct emit *e, enum ir_kind kind, uint64_t bits); /* of any number kind, from its bits */
rval jit_binary(struct emit *e, enum gcc_jit_binary_op op, rval a, rval b);
rval jit_add(struct emit *e, rval a, rval b);
rval jit_sub(struct emit *e, rval a, rval b);
rval jit_mul(struct emit *e, rval a, rval b);
rval jit_compare(struct emit *e, enum gcc_jit_comparison op, rval a, rval b);
rval jit_not(struct emit *e, rval condition);
rval jit_cast(struct emit *e, rval v, gcc_jit_type *type);
rval jit_bits(struct emit *e, rval v, gcc_jit_type *type); /* the same bits as another type */
rval jit_read(lval v);
lval jit_local(struct emit *e, gcc_jit_type *type);
lval jit_keep(struct emit *e, rval v); /* evaluated now, in a new variable */
void jit_set(struct emit *e, lval v, rval value);
rval jit_select(struct emit *e, rval condition, rval a, rval b); /* scalars; ends the block */
rval jit_min(struct emit *e, rval a, rval b);                    /* likewise */
/* Where the function begins, in a block that constants alone are added to from then on; e->block is the next. */
void jit_function_begin(struct emit *e);
void jit_function_end(struct emit *e); /* when all of it is there */
gcc_jit_block *jit_block(struct emit *e);
void jit_jump(struct emit *e, gcc_jit_block *to);                                       /* and stay nowhere */
void jit_branch(struct emit *e, rval condition, gcc_jit_block *yes, gcc_jit_block *no); /* likewise */
void jit_begin(struct emit *e, gcc_jit_block *block);
lval jit_memory(struct emit *e, gcc_jit_type *type, rval address, unsigned align); /* what lies there */
rval jit_address(struct emit *e, lval v);                                          /* as a number */
rval jit_call(struct emit *e, const char *name, gcc_jit_type *result, unsigned n,
              rval *args); /* of libm and its like */
rval jit_builtin(struct emit *e, const char *name, unsigned n, rval *args);

/* An asm statement with one result or none (type NULL). */
struct jit_asm {
    const char *text, *result;
    const char *inputs[4];
    const char *clobbers[4]; /* registers that the text names; NULL at the end */
    bool clobbers_vectors;   /* the first sixteen registers of vectors, which all instructions can name */
    bool is_volatile;        /* memory is read or written too */
};
lval jit_asm(struct emit *e, const struct jit_asm *code, gcc_jit_type *type, unsigned n, rval *inputs);
