/*
 * x86 instruction selection: operations on whole registers that take an instruction or two. What libgccjit can say
 * (arithmetic on vector types) is said through it; comparisons, conversions, blends and the like come from one table of
 * instructions (x86_table.c). What is found in neither goes lane by lane (lower/operation.c), which is also how
 * processors without a table work.
 */
#include "fuser/cpu/simd/x86.h"

#include "fuser/cpu/jit/constant.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/simd/mask.h"
#include "fuser/cpu/simd/op.h"
#include "fuser/cpu/simd/x86_compare.h"
#include "fuser/cpu/simd/x86_move.h"
#include "fuser/cpu/simd/x86_table.h"
#include "fuser/cpu/target/isa.h"

/* ---- arithmetic through the library ---- */

/* How far: modulo the width, which a constant is already. */
static struct lanes known_amount(struct emit *e, enum ir_kind kind, struct lanes by)
{
    const struct constant *c = by.shape == SHAPE_UNIFORM ? constant_of(e, by.scalar) : NULL;
    return c ? lanes_int(e, kind, c->bits & (kind_bytes(kind) * 8 - 1)) : by;
}

static rval shift_amount(struct emit *e, enum ir_kind kind, lval v, bool is_known)
{
    if (is_known) return jit_read(v);
    struct lanes width = lanes_int(e, kind, kind_bytes(kind) * 8 - 1);
    return jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, jit_read(v), jit_read(lanes_vectors(e, &width)[0]));
}

static rval arithmetic(struct emit *e, enum ir_op op, enum ir_kind kind, lval a, lval b, bool is_known)
{
    static const enum gcc_jit_binary_op binary[IR_OP_COUNT] = {
        [IR_OP_ADD] = GCC_JIT_BINARY_OP_PLUS,      [IR_OP_FADD] = GCC_JIT_BINARY_OP_PLUS,
        [IR_OP_SUB] = GCC_JIT_BINARY_OP_MINUS,     [IR_OP_FSUB] = GCC_JIT_BINARY_OP_MINUS,
        [IR_OP_MUL] = GCC_JIT_BINARY_OP_MULT,      [IR_OP_FMUL] = GCC_JIT_BINARY_OP_MULT,
        [IR_OP_FDIV] = GCC_JIT_BINARY_OP_DIVIDE,   [IR_OP_AND] = GCC_JIT_BINARY_OP_BITWISE_AND,
        [IR_OP_OR] = GCC_JIT_BINARY_OP_BITWISE_OR, [IR_OP_XOR] = GCC_JIT_BINARY_OP_BITWISE_XOR,
        [IR_OP_SHL] = GCC_JIT_BINARY_OP_LSHIFT,    [IR_OP_LSHR] = GCC_JIT_BINARY_OP_RSHIFT,
    };
    gcc_jit_type *type = gcc_jit_rvalue_get_type(jit_read(a));
    switch (op) {
    case IR_OP_NOT:
        return gcc_jit_context_new_unary_op(e->gcc, NULL, GCC_JIT_UNARY_OP_BITWISE_NEGATE, type, jit_read(a));
    case IR_OP_NEG:
    case IR_OP_FNEG: return gcc_jit_context_new_unary_op(e->gcc, NULL, GCC_JIT_UNARY_OP_MINUS, type, jit_read(a));
    case IR_OP_SHL:
    case IR_OP_LSHR: return jit_binary(e, binary[op], jit_read(a), shift_amount(e, kind, b, is_known));
    case IR_OP_ASHR: {
        gcc_jit_type *sign = jit_signed_vector(e, kind, lanes_per_chunk(e, kind));
        rval x = jit_bits(e, jit_read(a), sign);
        rval by = jit_bits(e, shift_amount(e, kind, b, is_known), sign);
        return jit_bits(e, jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, x, by), type);
    }
    default: return jit_binary(e, binary[op], jit_read(a), jit_read(b));
    }
}

static bool is_arithmetic(enum ir_op op, enum ir_kind kind)
{
    switch (op) {
    case IR_OP_AND:
    case IR_OP_OR:
    case IR_OP_XOR:
    case IR_OP_NOT: return true;
    case IR_OP_ADD:
    case IR_OP_SUB:
    case IR_OP_MUL:
    case IR_OP_NEG:
    case IR_OP_SHL:
    case IR_OP_LSHR:
    case IR_OP_ASHR: return kind >= IR_KIND_I8 && kind <= IR_KIND_I64;
    case IR_OP_FADD:
    case IR_OP_FSUB:
    case IR_OP_FMUL:
    case IR_OP_FDIV:
    case IR_OP_FNEG: return kind == IR_KIND_F32 || kind == IR_KIND_F64;
    default: return false;
    }
}

static void emit_arithmetic(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *args,
                            struct lanes *result)
{
    *result = lanes_varying(e, kind);
    bool shifts = op == IR_OP_SHL || op == IR_OP_LSHR || op == IR_OP_ASHR;
    struct lanes second = shifts ? known_amount(e, kind, args[1]) : args[n - 1];
    bool is_known = shifts && second.shape == SHAPE_UNIFORM && constant_of(e, second.scalar);
    lval *a = lanes_vectors(e, &args[0]), *b = n > 1 ? lanes_vectors(e, &second) : a;
    for (unsigned c = 0; c < lanes_chunks(e, kind); c++)
        result->chunk[c] = kind == IR_KIND_BOOL ? mask_logic(e, op, a[c], n > 1 ? b[c] : NULL)
                                                : jit_keep(e, arithmetic(e, op, kind, a[c], b[c], is_known));
}

static void emit_row(struct emit *e, const struct x86_row *row, unsigned n, const struct lanes *args,
                     struct lanes *result)
{
    *result = lanes_varying(e, row->kind);
    gcc_jit_type *type = jit_vector(e, row->kind, lanes_per_chunk(e, row->kind));
    lval *in[3];
    for (unsigned i = 0; i < n; i++) in[i] = lanes_vectors(e, &args[i]);
    for (unsigned c = 0; c < lanes_chunks(e, row->kind); c++) {
        rval inputs[3];
        for (unsigned i = 0; i < n; i++) inputs[i] = jit_read(in[i][c]);
        result->chunk[c] = x86_instruction(e, row, type, n, inputs);
    }
}

/* ---- conversions between 4 and 8 bytes: one chunk is two ---- */

static void widen(struct emit *e, const struct x86_row *row, const struct lanes *arg, struct lanes *result)
{
    *result = lanes_varying(e, row->kind);
    gcc_jit_type *type = jit_vector(e, row->kind, lanes_per_chunk(e, row->kind));
    lval *in = lanes_vectors(e, arg);
    for (unsigned c = 0; c < lanes_chunks(e, row->kind); c++) {
        rval half = x86_half_of(e, row->from, in[c / 2], c % 2);
        result->chunk[c] = x86_instruction(e, row, type, 1, &half);
    }
}

static void narrow(struct emit *e, const struct x86_row *row, const struct lanes *arg, struct lanes *result)
{
    *result = lanes_varying(e, row->kind);
    /* SSE writes the two numbers into the low half of a whole register. */
    unsigned lanes = lanes_per_chunk(e, row->kind) / 2;
    gcc_jit_type *type = jit_vector(e, row->kind, lanes);
    lval *in = lanes_vectors(e, arg);
    for (unsigned c = 0; c < lanes_chunks(e, row->kind); c++) {
        rval low = jit_read(in[2 * c]), high = jit_read(in[2 * c + 1]);
        lval first = x86_instruction(e, row, type, 1, &low), second = x86_instruction(e, row, type, 1, &high);
        result->chunk[c] = x86_join_halves(e, row->kind, first, second);
    }
}

static bool convert(struct emit *e, const struct x86_row *row, const struct lanes *arg, struct lanes *result)
{
    unsigned to = kind_bytes(row->kind), from = kind_bytes(row->from);
    if ((to == 8) == (from == 8)) return false;
    if (to == 8)
        widen(e, row, arg, result);
    else
        narrow(e, row, arg, result);
    return true;
}

/* ---- select ---- */

static lval blend(struct emit *e, lval *mask, enum ir_kind kind, unsigned c, lval a, lval b)
{
    gcc_jit_type *type = jit_vector(e, kind, lanes_per_chunk(e, kind));
    if (e->isa->bit_masks) {
        static const char *const text[] = {[1] = "vpblendmb %1, %2, %0%{%3%}",
                                           [2] = "vpblendmw %1, %2, %0%{%3%}",
                                           [4] = "vpblendmd %1, %2, %0%{%3%}",
                                           [8] = "vpblendmq %1, %2, %0%{%3%}"};
        struct jit_asm code = {.text = text[kind_bytes(kind)], .result = "=v", .inputs = {"v", "v", "Yk"}};
        return jit_asm(e, &code, type, 3, (rval[]){jit_read(a), jit_read(b), x86_bit_mask(e, mask, kind, c)});
    }
    enum ir_kind as = kind_of_bytes(kind_bytes(kind));
    gcc_jit_type *bits = jit_vector(e, as, lanes_per_chunk(e, kind));
    rval wide = mask_widened(e, mask, kind, c);
    if (e->isa->id == CPU_ISA_AVX2 && kind_bytes(kind) >= 4) {
        static const struct jit_asm code = {
            .text = "vblendvps %3, %1, %2, %0", .result = "=x", .inputs = {"x", "x", "x"}};
        return jit_asm(e, &code, type, 3, (rval[]){jit_read(a), jit_read(b), wide});
    }
    rval x = jit_bits(e, jit_read(a), bits), y = jit_bits(e, jit_read(b), bits);
    /* In this form what b holds in the lanes of a does not matter, not even when it was never set. */
    rval not_wide = gcc_jit_context_new_unary_op(e->gcc, NULL, GCC_JIT_UNARY_OP_BITWISE_NEGATE, bits, wide);
    rval from_a = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, x, wide);
    rval from_b = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, y, not_wide);
    return jit_keep(e, jit_bits(e, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, from_a, from_b), type));
}

static void emit_select(struct emit *e, enum ir_kind kind, const struct lanes *args, struct lanes *result)
{
    lval *mask = lanes_vectors(e, &args[0]), *a = lanes_vectors(e, &args[1]), *b = lanes_vectors(e, &args[2]);
    *result = lanes_varying(e, kind);
    if (kind == IR_KIND_BOOL) {
        struct mask yes = mask_and(e, (struct mask){mask}, (struct mask){a});
        struct mask no = mask_and_not(e, (struct mask){b}, (struct mask){mask});
        result->chunk = mask_or(e, yes, no).chunk;
        return;
    }
    for (unsigned c = 0; c < lanes_chunks(e, kind); c++) result->chunk[c] = blend(e, mask, kind, c, a[c], b[c]);
}

/* Every so many lanes of the narrower kind are what truncation keeps. */
static void truncate_by_picking(struct emit *e, enum ir_kind kind, const struct lanes *arg, struct lanes *result)
{
    unsigned ratio = kind_bytes(arg->kind) / kind_bytes(kind), n = lanes_per_chunk(e, kind);
    unsigned from_lanes = lanes_per_chunk(e, arg->kind), per_chunk = n / from_lanes;
    lval *in = lanes_vectors(e, arg);
    *result = lanes_varying(e, kind);
    for (unsigned c = 0; c < lanes_chunks(e, kind); c++) {
        lval source[2];
        for (unsigned h = 0; h < per_chunk; h++)
            source[h] =
                jit_keep(e, jit_bits(e, jit_read(in[per_chunk * c + h]), jit_vector(e, kind, from_lanes * ratio)));
        rval elements[MAX_WIDTH];
        for (unsigned i = 0; i < n; i++)
            elements[i] = lanes_pick(e, kind, source[i / from_lanes], i % from_lanes * ratio);
        result->chunk[c] =
            jit_keep(e, gcc_jit_context_new_rvalue_from_vector(e->gcc, NULL, jit_vector(e, kind, n), n, elements));
    }
}

bool x86_op(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *args,
            struct lanes *result)
{
    if (is_arithmetic(op, kind)) {
        emit_arithmetic(e, op, kind, n, args, result);
        return true;
    }
    if (op == IR_OP_SELECT) {
        emit_select(e, kind, args, result);
        return true;
    }
    if (op_is_comparison(op)) return x86_compare(e, op, args, result);
    const struct x86_row *row = x86_find_row(e, op, kind, args[0].kind);
    if (row) {
        if (!convert(e, row, &args[0], result)) emit_row(e, row, n, args, result);
        return true;
    }
    if (op == IR_OP_ITRUNC && args[0].kind != IR_KIND_BOOL) {
        truncate_by_picking(e, kind, &args[0], result);
        return true;
    }
    return false;
}
