/* Expressions and statements of libgccjit, tersely. */
#include "fuser/cpu/jit/jit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fuser/cpu/jit/constant.h"
#include "ir/core/float.h"

/* ---- types ---- */

unsigned kind_bytes(enum ir_kind kind)
{
    switch (kind) {
    case IR_KIND_BOOL:
    case IR_KIND_I8: return 1;
    case IR_KIND_I16:
    case IR_KIND_F16: return 2;
    case IR_KIND_I32:
    case IR_KIND_F32: return 4;
    default: return 8;
    }
}

enum ir_kind kind_of_bytes(unsigned bytes)
{
    return bytes == 1 ? IR_KIND_I8 : bytes == 2 ? IR_KIND_I16 : bytes == 4 ? IR_KIND_I32 : IR_KIND_I64;
}

gcc_jit_type *jit_c(struct emit *e, enum gcc_jit_types type)
{
    return gcc_jit_context_get_type(e->gcc, type);
}

static gcc_jit_type *scalar_type(struct emit *e, enum ir_kind kind)
{
    switch (kind) {
    case IR_KIND_BOOL: return jit_c(e, GCC_JIT_TYPE_BOOL);
    case IR_KIND_F32: return jit_c(e, GCC_JIT_TYPE_FLOAT);
    case IR_KIND_F64: return jit_c(e, GCC_JIT_TYPE_DOUBLE);
    default: break;
    }
    switch (kind_bytes(kind)) {
    case 1: return jit_c(e, GCC_JIT_TYPE_UINT8_T);
    case 2: return jit_c(e, GCC_JIT_TYPE_UINT16_T);
    case 4: return jit_c(e, GCC_JIT_TYPE_UINT32_T);
    default: return jit_c(e, GCC_JIT_TYPE_UINT64_T);
    }
}

gcc_jit_type *jit_vector(struct emit *e, enum ir_kind kind, unsigned lanes)
{
    /* One type object for each C type: the library wants identical ones. */
    if (kind >= IR_KIND_PTR)
        kind = IR_KIND_I64; /* images, samplers and pipes are addresses or numbers of 8 bytes too */
    if (kind == IR_KIND_F16) kind = IR_KIND_I16;
    gcc_jit_type **t = &e->jit.types[kind][__builtin_ctz(lanes)];
    if (!*t) *t = lanes == 1 ? scalar_type(e, kind) : gcc_jit_type_get_vector(scalar_type(e, kind), lanes);
    return *t;
}

gcc_jit_type *jit_type(struct emit *e, enum ir_kind kind)
{
    return jit_vector(e, kind, 1);
}

gcc_jit_type *jit_signed(struct emit *e, enum ir_kind kind)
{
    switch (kind_bytes(kind)) {
    case 1: return jit_c(e, GCC_JIT_TYPE_INT8_T);
    case 2: return jit_c(e, GCC_JIT_TYPE_INT16_T);
    case 4: return jit_c(e, GCC_JIT_TYPE_INT32_T);
    default: return jit_c(e, GCC_JIT_TYPE_INT64_T);
    }
}

gcc_jit_type *jit_signed_vector(struct emit *e, enum ir_kind kind, unsigned lanes)
{
    gcc_jit_type **t = &e->jit.signed_vectors[kind_bytes(kind)];
    if (!*t) *t = gcc_jit_type_get_vector(jit_signed(e, kind), lanes);
    return *t;
}

/* ---- expressions ---- */

rval jit_int(struct emit *e, enum ir_kind kind, uint64_t bits)
{
    if (kind == IR_KIND_BOOL) return gcc_jit_context_new_rvalue_from_int(e->gcc, jit_type(e, kind), bits != 0);
    if (kind == IR_KIND_F32 || kind == IR_KIND_F64) /* a whole number */
        return gcc_jit_context_new_rvalue_from_long(e->gcc, jit_type(e, kind), (long)bits);
    enum ir_kind as = kind_of_bytes(kind_bytes(kind));
    unsigned unused = 64 - 8 * kind_bytes(kind);
    struct constant *c = constant_get(e, as, bits << unused >> unused);
    if (!c->number)
        constant_set(e, c, gcc_jit_context_new_rvalue_from_long(e->gcc, jit_type(e, as), (long)c->bits), true);
    return c->number;
}

rval jit_u64(struct emit *e, uint64_t v)
{
    return jit_int(e, IR_KIND_I64, v);
}

rval jit_number(struct emit *e, enum ir_kind kind, uint64_t bits)
{
    if (kind != IR_KIND_F32 && kind != IR_KIND_F64) return jit_int(e, kind, bits);
    struct constant *c = constant_get(e, kind, bits);
    if (c->number) return c->number;
    double v = ir_float_value(kind, bits);
    /* A NaN's payload and the sign of zero are kept through the bits alone. */
    bool is_number = v - v == 0 && (v != 0 || bits == 0);
    rval number = is_number ? gcc_jit_context_new_rvalue_from_double(e->gcc, jit_type(e, kind), v)
                            : jit_bits(e, jit_int(e, kind_of_bytes(kind_bytes(kind)), bits), jit_type(e, kind));
    constant_set(e, c, number, is_number);
    return c->number;
}

rval jit_binary(struct emit *e, enum gcc_jit_binary_op op, rval a, rval b)
{
    return gcc_jit_context_new_binary_op(e->gcc, NULL, op, gcc_jit_rvalue_get_type(a), a, b);
}

rval jit_add(struct emit *e, rval a, rval b)
{
    return jit_binary(e, GCC_JIT_BINARY_OP_PLUS, a, b);
}

rval jit_sub(struct emit *e, rval a, rval b)
{
    return jit_binary(e, GCC_JIT_BINARY_OP_MINUS, a, b);
}

rval jit_mul(struct emit *e, rval a, rval b)
{
    return jit_binary(e, GCC_JIT_BINARY_OP_MULT, a, b);
}

rval jit_compare(struct emit *e, enum gcc_jit_comparison op, rval a, rval b)
{
    return gcc_jit_context_new_comparison(e->gcc, NULL, op, a, b);
}

/* Not by LOGICAL_NEGATE, nor is anything here combined by LOGICAL_AND and LOGICAL_OR: what libgccjit makes of these is
   an int, whatever type is asked for, and as an operand of a bool's operation it makes gcc 12 crash. */
rval jit_not(struct emit *e, rval condition)
{
    return jit_compare(e, GCC_JIT_COMPARISON_EQ, condition, jit_int(e, IR_KIND_BOOL, 0));
}

rval jit_cast(struct emit *e, rval v, gcc_jit_type *type)
{
    return gcc_jit_rvalue_get_type(v) == type ? v : gcc_jit_context_new_cast(e->gcc, NULL, v, type);
}

rval jit_bits(struct emit *e, rval v, gcc_jit_type *type)
{
    return gcc_jit_rvalue_get_type(v) == type ? v : gcc_jit_context_new_bitcast(e->gcc, NULL, v, type);
}

rval jit_read(lval v)
{
    return gcc_jit_lvalue_as_rvalue(v);
}

/* ---- statements ---- */

lval jit_local(struct emit *e, gcc_jit_type *type)
{
    char name[16];
    snprintf(name, sizeof name, "v%u", e->jit.n_names++);
    return gcc_jit_function_new_local(e->function, NULL, type, name);
}

static void count_statement(struct emit *e)
{
    if (++e->jit.n_statements > e->jit.most_statements) longjmp(e->jit.too_large, 1);
}

void jit_set(struct emit *e, lval v, rval value)
{
    count_statement(e);
    gcc_jit_block_add_assignment(e->block, NULL, v, value);
}

/* What was read from an address that is aligned for less is kept where its type wants to be: others take it apart
 * there. */
lval jit_keep(struct emit *e, rval v)
{
    lval kept = jit_local(e, gcc_jit_type_unqualified(gcc_jit_rvalue_get_type(v)));
    jit_set(e, kept, v);
    return kept;
}

gcc_jit_block *jit_block(struct emit *e)
{
    char name[16];
    snprintf(name, sizeof name, "b%u", e->jit.n_names++);
    return gcc_jit_function_new_block(e->function, name);
}

void jit_jump(struct emit *e, gcc_jit_block *to)
{
    count_statement(e);
    gcc_jit_block_end_with_jump(e->block, NULL, to);
    e->block = NULL;
}

void jit_branch(struct emit *e, rval condition, gcc_jit_block *yes, gcc_jit_block *no)
{
    count_statement(e);
    gcc_jit_block_end_with_conditional(e->block, NULL, condition, yes, no);
    e->block = NULL;
}

void jit_begin(struct emit *e, gcc_jit_block *block)
{
    e->block = block;
}

void jit_function_begin(struct emit *e)
{
    e->jit.first = e->block;
    e->jit.body = jit_block(e);
    jit_begin(e, e->jit.body);
    e->computed.n = 0;
}

void jit_function_end(struct emit *e)
{
    gcc_jit_block_end_with_jump(e->jit.first, NULL, e->jit.body);
}

rval jit_select(struct emit *e, rval condition, rval a, rval b)
{
    gcc_jit_block *yes = jit_block(e), *join = jit_block(e);
    lval r = jit_keep(e, b);
    jit_branch(e, condition, yes, join);
    jit_begin(e, yes);
    jit_set(e, r, a);
    jit_jump(e, join);
    jit_begin(e, join);
    return jit_read(r);
}

rval jit_min(struct emit *e, rval a, rval b)
{
    rval x = jit_read(jit_keep(e, a)), y = jit_read(jit_keep(e, b));
    return jit_select(e, jit_compare(e, GCC_JIT_COMPARISON_LT, x, y), x, y);
}

lval jit_memory(struct emit *e, gcc_jit_type *type, rval address, unsigned align)
{
    gcc_jit_type *pointer = gcc_jit_type_get_pointer(gcc_jit_type_get_aligned(type, align));
    return gcc_jit_rvalue_dereference(jit_bits(e, address, pointer), NULL);
}

rval jit_address(struct emit *e, lval v)
{
    return jit_bits(e, gcc_jit_lvalue_get_address(v, NULL), jit_type(e, IR_KIND_I64));
}

rval jit_call(struct emit *e, const char *name, gcc_jit_type *result, unsigned n, rval *args)
{
    gcc_jit_param *params[4];
    for (unsigned i = 0; i < n; i++)
        params[i] = gcc_jit_context_new_param(e->gcc, NULL, gcc_jit_rvalue_get_type(args[i]), "x");
    gcc_jit_function *f =
        gcc_jit_context_new_function(e->gcc, NULL, GCC_JIT_FUNCTION_IMPORTED, result, name, (int)n, params, 0);
    return gcc_jit_context_new_call(e->gcc, NULL, f, (int)n, args);
}

rval jit_builtin(struct emit *e, const char *name, unsigned n, rval *args)
{
    return gcc_jit_context_new_call(e->gcc, NULL, gcc_jit_context_get_builtin_function(e->gcc, name), (int)n, args);
}

static void clobber_vectors(gcc_jit_extended_asm *s)
{
    char name[8];
    for (unsigned i = 0; i < 16; i++) {
        snprintf(name, sizeof name, "xmm%u", i);
        gcc_jit_extended_asm_add_clobber(s, name);
    }
}

lval jit_asm(struct emit *e, const struct jit_asm *code, gcc_jit_type *type, unsigned n, rval *inputs)
{
    lval result = type ? jit_local(e, type) : NULL;
    count_statement(e);
    gcc_jit_extended_asm *s = gcc_jit_block_add_extended_asm(e->block, NULL, code->text);
    gcc_jit_extended_asm_set_volatile_flag(s, code->is_volatile);
    if (result) gcc_jit_extended_asm_add_output_operand(s, NULL, code->result, result);
    for (unsigned i = 0; i < n; i++) gcc_jit_extended_asm_add_input_operand(s, NULL, code->inputs[i], inputs[i]);
    for (unsigned i = 0; i < 4 && code->clobbers[i]; i++) gcc_jit_extended_asm_add_clobber(s, code->clobbers[i]);
    if (code->clobbers_vectors) clobber_vectors(s);
    if (code->is_volatile) gcc_jit_extended_asm_add_clobber(s, "memory");
    return result;
}
