/* One register's part of a value or of a mask. Masks lie in mask registers where the instruction set has them (a
   number, one bit per lane), else in vectors of 32-bit integers, all ones or all zeros. */
#include "fuser/cpu/simd/chunk.h"

#include "fuser/cpu/jit/constant.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/target/isa.h"

/* ---- of numbers ---- */

unsigned mask_lanes(const struct emit *e)
{
    return e->isa->vector_bytes / 4;
}

unsigned lanes_per_chunk(const struct emit *e, enum ir_kind kind)
{
    return kind_bytes(kind) == 8 ? mask_lanes(e) / 2 : mask_lanes(e);
}

unsigned lanes_chunks(const struct emit *e, enum ir_kind kind)
{
    return e->width / lanes_per_chunk(e, kind);
}

rval lanes_pick(struct emit *e, enum ir_kind kind, lval vector, unsigned lane)
{
    /* gcc makes such picks, put together again, to conversions and permutations. */
    gcc_jit_type *pointer = gcc_jit_type_get_pointer(jit_type(e, kind));
    rval first = gcc_jit_context_new_cast(e->gcc, NULL, gcc_jit_lvalue_get_address(vector, NULL), pointer);
    return jit_read(gcc_jit_context_new_array_access(e->gcc, NULL, first, jit_int(e, IR_KIND_I64, lane)));
}

rval chunk_of(struct emit *e, enum ir_kind kind, unsigned n, rval *elements)
{
    return gcc_jit_context_new_rvalue_from_vector(e->gcc, NULL, jit_vector(e, kind, n), n, elements);
}

static lval new_splat(struct emit *e, enum ir_kind kind, rval v)
{
    unsigned n = lanes_per_chunk(e, kind);
    rval elements[MAX_WIDTH];
    for (unsigned i = 0; i < n; i++) elements[i] = v;
    return jit_keep(e, chunk_of(e, kind, n, elements));
}

/* A constant's is set where the function begins. */
static lval splat_of_constant(struct emit *e, enum ir_kind kind, struct constant *c)
{
    lval *splat = &c->splat[__builtin_ctz(lanes_per_chunk(e, kind))];
    gcc_jit_block *here = e->block;
    if (*splat) return *splat;
    e->block = e->jit.first;
    *splat = new_splat(e, kind, c->is_number ? c->number : jit_read(jit_keep(e, c->number)));
    e->block = here;
    return *splat;
}

lval chunk_splat(struct emit *e, enum ir_kind kind, rval v)
{
    struct constant *c = constant_of(e, v);
    return c ? splat_of_constant(e, kind, c) : new_splat(e, kind, jit_read(jit_keep(e, v)));
}

/* ---- of masks ---- */

unsigned mask_chunks(const struct emit *e)
{
    return e->width / mask_lanes(e);
}

gcc_jit_type *mask_type(struct emit *e)
{
    if (e->isa->bit_masks) return jit_type(e, IR_KIND_I16);
    return jit_vector(e, IR_KIND_I32, e->isa->vector_bytes / 4);
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
    return gcc_jit_context_new_rvalue_from_vector(e->gcc, NULL, mask_type(e), n, elements);
}

rval mask_splat(struct emit *e, rval condition)
{
    rval ones = jit_read(jit_keep(e, all_ones_where(e, condition)));
    if (e->isa->bit_masks) return jit_cast(e, ones, mask_type(e));
    rval elements[MAX_WIDTH];
    for (unsigned i = 0; i < mask_lanes(e); i++) elements[i] = ones;
    return gcc_jit_context_new_rvalue_from_vector(e->gcc, NULL, mask_type(e), mask_lanes(e), elements);
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
        rval doubled = gcc_jit_context_new_rvalue_from_vector(e->gcc, NULL, mask_type(e), 2 * n, elements);
        return jit_bits(e, doubled, jit_vector(e, as, n));
    }
    for (unsigned i = 0; i < n; i++) elements[i] = jit_cast(e, lanes_pick(e, IR_KIND_I32, mask[c], i), jit_type(e, as));
    return gcc_jit_context_new_rvalue_from_vector(e->gcc, NULL, jit_vector(e, as, n), n, elements);
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
        return jit_asm(e, &code, mask_type(e), b ? 2 : 1, (rval[]){x, y});
    }
    static const enum gcc_jit_binary_op binary[IR_OP_NOT] = {[IR_OP_AND] = GCC_JIT_BINARY_OP_BITWISE_AND,
                                                             [IR_OP_OR] = GCC_JIT_BINARY_OP_BITWISE_OR,
                                                             [IR_OP_XOR] = GCC_JIT_BINARY_OP_BITWISE_XOR};
    if (op != IR_OP_NOT) return jit_keep(e, jit_binary(e, binary[op], x, y));
    rval not = gcc_jit_context_new_unary_op(e->gcc, NULL, GCC_JIT_UNARY_OP_BITWISE_NEGATE, mask_type(e), b ? y : x);
    return jit_keep(e, b ? jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, x, not ) : not );
}
