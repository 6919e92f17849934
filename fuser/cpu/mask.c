/* Masks: which lanes run. In mask registers where the instruction set has them (a number, one bit per
   lane), else as vectors of 32-bit integers, all ones or all zeros. */
#include "fuser/cpu/emit.h"

unsigned mask_lanes(const struct emit *e)
{
    return e->isa->vector_bytes / 4;
}

unsigned mask_chunks(const struct emit *e)
{
    return e->width / mask_lanes(e);
}

rval mask_bit(struct emit *e, lval chunk, unsigned lane)
{
    if (e->isa->bit_masks) {
        rval shifted = jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, jit_read(chunk), jit_int(e, IR_KIND_I16, lane));
        rval bit = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, shifted, jit_int(e, IR_KIND_I16, 1));
        return jit_compare(e, GCC_JIT_COMPARISON_NE, bit, jit_int(e, IR_KIND_I16, 0));
    }
    return jit_compare(e, GCC_JIT_COMPARISON_NE, lanes_pick(e, IR_KIND_I32, chunk, lane), jit_int(e, IR_KIND_I32, 0));
}

static rval all_ones_where(struct emit *e, rval condition)
{
    rval bit = jit_cast(e, condition, jit_type(e, IR_KIND_I32));
    return gcc_jit_context_new_unary_op(e->gcc, NULL, GCC_JIT_UNARY_OP_MINUS, jit_type(e, IR_KIND_I32), bit);
}

rval mask_build(struct emit *e, rval *bools)
{
    unsigned n = mask_lanes(e);
    if (e->isa->bit_masks) {
        rval sum = jit_int(e, IR_KIND_I16, 0);
        for (unsigned i = 0; i < n; i++) {
            rval bit = jit_cast(e, bools[i], jit_type(e, IR_KIND_I16));
            bit = jit_binary(e, GCC_JIT_BINARY_OP_LSHIFT, bit, jit_int(e, IR_KIND_I16, i));
            sum = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, sum, bit);
        }
        return sum;
    }
    rval elements[MAX_WIDTH];
    for (unsigned i = 0; i < n; i++) elements[i] = all_ones_where(e, bools[i]);
    return gcc_jit_context_new_rvalue_from_vector(e->gcc, NULL, jit_mask_type(e), n, elements);
}

rval mask_splat(struct emit *e, rval condition)
{
    rval ones = jit_read(jit_keep(e, all_ones_where(e, condition)));
    if (e->isa->bit_masks) return jit_cast(e, ones, jit_mask_type(e));
    rval elements[MAX_WIDTH];
    for (unsigned i = 0; i < mask_lanes(e); i++) elements[i] = ones;
    return gcc_jit_context_new_rvalue_from_vector(e->gcc, NULL, jit_mask_type(e), mask_lanes(e), elements);
}

rval mask_widened(struct emit *e, const lval *mask, enum ir_kind kind, unsigned c)
{
    unsigned bytes = kind_bytes(kind), n = lanes_per_chunk(e, kind);
    if (bytes == 4) return jit_read(mask[c]);
    enum ir_kind as = kind_of_bytes(bytes);
    rval elements[MAX_WIDTH];
    if (bytes == 8) {
        /* Each 32-bit lane twice. */
        for (unsigned i = 0; i < 2 * n; i++) elements[i] = lanes_pick(e, IR_KIND_I32, mask[c / 2], c % 2 * n + i / 2);
        rval doubled = gcc_jit_context_new_rvalue_from_vector(e->gcc, NULL, jit_mask_type(e), 2 * n, elements);
        return jit_bits(e, doubled, jit_vector(e, as, n));
    }
    for (unsigned i = 0; i < n; i++) elements[i] = jit_cast(e, lanes_pick(e, IR_KIND_I32, mask[c], i), jit_type(e, as));
    return gcc_jit_context_new_rvalue_from_vector(e->gcc, NULL, jit_vector(e, as, n), n, elements);
}

struct mask mask_of(struct emit *e, const struct lanes *condition)
{
    /* A copy: the condition may be a variable that is assigned to while the mask still counts. */
    struct mask r = {arena_alloc(e->arena, mask_chunks(e) * sizeof *r.chunk)};
    lval *chunk = lanes_vectors(e, condition);
    for (unsigned c = 0; c < mask_chunks(e); c++) r.chunk[c] = jit_keep(e, jit_read(chunk[c]));
    return r;
}

struct lanes mask_lanes_value(struct emit *e, struct mask m)
{
    if (!m.chunk) return lanes_int(e, IR_KIND_BOOL, 1);
    return (struct lanes){.kind = IR_KIND_BOOL, .shape = SHAPE_VARYING, .chunk = m.chunk};
}

lval mask_logic(struct emit *e, enum ir_op op, lval a, lval b)
{
    rval x = jit_read(a), y = b ? jit_read(b) : NULL;
    if (e->isa->bit_masks) {
        /* As instructions: gcc would rather compute with such numbers outside of the mask registers. */
        const char *text = op == IR_OP_AND   ? "kandw %2, %1, %0"
                           : op == IR_OP_OR  ? "korw %2, %1, %0"
                           : op == IR_OP_XOR ? "kxorw %2, %1, %0"
                           : b               ? "kandnw %1, %2, %0"
                                             : "knotw %1, %0";
        struct jit_asm code = {.text = text, .result = "=k", .inputs = {"k", "k"}};
        return jit_asm(e, &code, jit_mask_type(e), b ? 2 : 1, (rval[]){x, y});
    }
    static const enum gcc_jit_binary_op binary[IR_OP_NOT] = {[IR_OP_AND] = GCC_JIT_BINARY_OP_BITWISE_AND,
                                                             [IR_OP_OR] = GCC_JIT_BINARY_OP_BITWISE_OR,
                                                             [IR_OP_XOR] = GCC_JIT_BINARY_OP_BITWISE_XOR};
    if (op != IR_OP_NOT) return jit_keep(e, jit_binary(e, binary[op], x, y));
    rval not = gcc_jit_context_new_unary_op(e->gcc, NULL, GCC_JIT_UNARY_OP_BITWISE_NEGATE, jit_mask_type(e), b ? y : x);
    return jit_keep(e, b ? jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, x, not ) : not );
}

static struct mask combine(struct emit *e, enum ir_op op, struct mask a, struct mask b)
{
    struct mask r = {arena_alloc(e->arena, mask_chunks(e) * sizeof *r.chunk)};
    for (unsigned c = 0; c < mask_chunks(e); c++)
        r.chunk[c] = mask_logic(e, op, a.chunk[c], b.chunk ? b.chunk[c] : NULL);
    return r;
}

struct mask mask_and(struct emit *e, struct mask a, struct mask b)
{
    if (!a.chunk) return b;
    if (!b.chunk) return a;
    return combine(e, IR_OP_AND, a, b);
}

struct mask mask_and_not(struct emit *e, struct mask a, struct mask b)
{
    if (!a.chunk) return combine(e, IR_OP_NOT, b, (struct mask){NULL});
    return combine(e, IR_OP_NOT, a, b);
}

struct mask mask_or(struct emit *e, struct mask a, struct mask b)
{
    if (!a.chunk || !b.chunk) return (struct mask){NULL};
    return combine(e, IR_OP_OR, a, b);
}

struct mask mask_first(struct emit *e, rval count)
{
    if (!e->isa->bit_masks) {
        struct lanes lane = lanes_linear(IR_KIND_I32, jit_int(e, IR_KIND_I32, 0), 1, NULL);
        struct lanes end = lanes_uniform(IR_KIND_I32, jit_cast(e, count, jit_type(e, IR_KIND_I32)));
        struct lanes below = op2(e, IR_OP_SLT, IR_KIND_BOOL, lane, end);
        return mask_of(e, &below);
    }
    rval unused = jit_binary(e, GCC_JIT_BINARY_OP_MINUS, jit_int(e, IR_KIND_I64, 64), count);
    lval bits = jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, jit_int(e, IR_KIND_I64, UINT64_MAX), unused));
    struct mask r = {arena_alloc(e->arena, mask_chunks(e) * sizeof *r.chunk)};
    for (unsigned c = 0; c < mask_chunks(e); c++) {
        rval part = jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, jit_read(bits), jit_int(e, IR_KIND_I64, 16 * c));
        r.chunk[c] = jit_keep(e, jit_cast(e, part, jit_mask_type(e)));
    }
    return r;
}

struct mask mask_uninitialized(struct emit *e)
{
    struct mask r = {arena_alloc(e->arena, mask_chunks(e) * sizeof *r.chunk)};
    for (unsigned c = 0; c < mask_chunks(e); c++) r.chunk[c] = jit_local(e, jit_mask_type(e));
    return r;
}

struct mask mask_variable(struct emit *e, const struct mask *init)
{
    struct mask r = mask_uninitialized(e);
    if (init) {
        mask_set(e, &r, *init);
        return r;
    }
    rval none = jit_read(jit_keep(e, mask_splat(e, jit_int(e, IR_KIND_BOOL, 0))));
    for (unsigned c = 0; c < mask_chunks(e); c++) jit_set(e, r.chunk[c], none);
    return r;
}

void mask_set(struct emit *e, struct mask *variable, struct mask m)
{
    rval all = m.chunk ? NULL : jit_read(jit_keep(e, mask_splat(e, jit_int(e, IR_KIND_BOOL, 1))));
    for (unsigned c = 0; c < mask_chunks(e); c++) jit_set(e, variable->chunk[c], all ? all : jit_read(m.chunk[c]));
}

/* The lanes of vector masks as one number. */
static rval vector_mask_bits(struct emit *e, lval chunk)
{
    gcc_jit_type *word = jit_type(e, IR_KIND_I32);
#ifdef __x86_64__
    static const struct jit_asm sse = {.text = "movmskps %1, %0", .result = "=r", .inputs = {"x"}};
    static const struct jit_asm avx = {.text = "vmovmskps %1, %0", .result = "=r", .inputs = {"x"}};
    const struct jit_asm *code = e->isa->id == GCCJIT_ISA_AVX2 ? &avx : &sse;
    return jit_read(jit_asm(e, code, word, 1, (rval[]){jit_read(chunk)}));
#else
    rval sum = jit_int(e, IR_KIND_I32, 0);
    for (unsigned i = 0; i < mask_lanes(e); i++) {
        rval bit = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, lanes_pick(e, IR_KIND_I32, chunk, i),
                              jit_int(e, IR_KIND_I32, 1u << i));
        sum = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, sum, bit);
    }
    return jit_cast(e, sum, word);
#endif
}

rval mask_bits(struct emit *e, struct mask m)
{
    if (!m.chunk) return jit_int(e, IR_KIND_I64, e->width == 64 ? ~0ull : (1ull << e->width) - 1);
    rval sum = NULL;
    for (unsigned c = 0; c < mask_chunks(e); c++) {
        rval part = e->isa->bit_masks ? jit_read(m.chunk[c]) : vector_mask_bits(e, m.chunk[c]);
        part = jit_cast(e, part, jit_type(e, IR_KIND_I64));
        part = jit_binary(e, GCC_JIT_BINARY_OP_LSHIFT, part, jit_int(e, IR_KIND_I64, c * mask_lanes(e)));
        sum = sum ? jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, sum, part) : part;
    }
    return jit_read(jit_keep(e, sum));
}

rval mask_any(struct emit *e, struct mask m)
{
    if (!m.chunk) return jit_int(e, IR_KIND_BOOL, 1);
    lval joined = m.chunk[0];
    for (unsigned c = 1; c + 1 < mask_chunks(e); c++) joined = mask_logic(e, IR_OP_OR, joined, m.chunk[c]);
    lval last = m.chunk[mask_chunks(e) - 1];
    if (!e->isa->bit_masks) {
        if (last != joined) joined = mask_logic(e, IR_OP_OR, joined, last);
        return jit_compare(e, GCC_JIT_COMPARISON_NE, vector_mask_bits(e, joined), jit_int(e, IR_KIND_I32, 0));
    }
    static const struct jit_asm test = {.text = "kortestw %1, %2", .result = "=@ccnz", .inputs = {"k", "k"}};
    lval any = jit_asm(e, &test, jit_c(e, GCC_JIT_TYPE_INT), 2, (rval[]){jit_read(joined), jit_read(last)});
    return jit_compare(e, GCC_JIT_COMPARISON_NE, jit_read(any),
                       gcc_jit_context_zero(e->gcc, jit_c(e, GCC_JIT_TYPE_INT)));
}
