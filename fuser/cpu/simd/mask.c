/* Masks: which lanes run. */
#include "fuser/cpu/simd/mask.h"

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/target/isa.h"

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

struct mask mask_uninitialized(struct emit *e)
{
    struct mask r = {arena_alloc(e->arena, mask_chunks(e) * sizeof *r.chunk)};
    for (unsigned c = 0; c < mask_chunks(e); c++) r.chunk[c] = jit_local(e, mask_type(e));
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
    const struct jit_asm *code = e->isa->id == CPU_ISA_AVX2 ? &avx : &sse;
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
