/* Comparisons of whole registers. Their results are masks. */
#include "fuser/cpu/simd/x86_compare.h"

#include <stdio.h>

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/simd/x86_table.h"
#include "fuser/cpu/target/isa.h"

/* With masks in registers all integer comparisons are one instruction with a predicate. */
static int mask_predicate(enum ir_op op)
{
    switch (op) {
    case IR_OP_IEQ: return 0;
    case IR_OP_SLT:
    case IR_OP_ULT: return 1;
    case IR_OP_SLE:
    case IR_OP_ULE: return 2;
    case IR_OP_INE: return 4;
    case IR_OP_SGE:
    case IR_OP_UGE: return 5;
    case IR_OP_SGT:
    case IR_OP_UGT: return 6;
    default: return -1;
    }
}

/* The masks of 8-byte lanes, two chunks, as one chunk of a mask. */
static lval join_masks(struct emit *e, rval low, rval high)
{
    if (e->isa->bit_masks) {
        static const struct jit_asm join = {.text = "kunpckbw %1, %2, %0", .result = "=Yk", .inputs = {"Yk", "Yk"}};
        return jit_asm(e, &join, mask_type(e), 2, (rval[]){low, high});
    }
    lval halves[2] = {jit_keep(e, jit_bits(e, low, mask_type(e))), jit_keep(e, jit_bits(e, high, mask_type(e)))};
    unsigned n = mask_lanes(e);
    rval elements[MAX_WIDTH];
    for (unsigned i = 0; i < n; i++) elements[i] = lanes_pick(e, IR_KIND_I32, halves[i / (n / 2)], 2 * (i % (n / 2)));
    return jit_keep(e, gcc_jit_context_new_rvalue_from_vector(e->gcc, NULL, mask_type(e), n, elements));
}

/* The instruction that compares with bit masks as its result. inverted: where it does not hold. */
static void bit_comparison(char *text, size_t size, const struct x86_row *row, enum ir_op op, bool inverted,
                           const char *under)
{
    static const char *const suffix[] = {[1] = "b", [2] = "w", [4] = "d", [8] = "q"};
    unsigned flip = inverted ? 4 : 0; /* of floats and integers alike, the predicate's opposite */
    if (row->from >= IR_KIND_F32)
        snprintf(text, size, "v%s $%u, %%2, %%1, %%0%s", row->name, row->immediate ^ flip, under);
    else
        snprintf(text, size, "vpcmp%s%s $%u, %%2, %%1, %%0%s", ir_op_info(op)->flags & IR_FLAG_UNSIGNED ? "u" : "",
                 suffix[kind_bytes(row->from)], (unsigned)mask_predicate(op) ^ flip, under);
}

/* One chunk compared: a mask of its lanes. */
static rval compare_chunk(struct emit *e, const struct x86_row *row, enum ir_op op, rval a, rval b)
{
    rval inputs[2] = {a, b};
    if (!e->isa->bit_masks) return jit_read(x86_instruction(e, row, gcc_jit_rvalue_get_type(a), 2, inputs));
    char text[64];
    bit_comparison(text, sizeof text, row, op, false, "");
    struct jit_asm code = {.text = text, .result = "=Yk", .inputs = {"v", "v"}};
    return jit_read(jit_asm(e, &code, mask_type(e), 2, inputs));
}

static void compare(struct emit *e, const struct x86_row *row, enum ir_op op, const struct lanes *args,
                    struct lanes *result)
{
    *result = lanes_varying(e, IR_KIND_BOOL);
    lval *a = lanes_vectors(e, &args[0]), *b = lanes_vectors(e, &args[1]);
    unsigned per_mask = kind_bytes(args[0].kind) == 8 ? 2 : 1;
    for (unsigned c = 0; c < mask_chunks(e); c++) {
        rval part[2];
        for (unsigned h = 0; h < per_mask; h++)
            part[h] = compare_chunk(e, row, op, jit_read(a[per_mask * c + h]), jit_read(b[per_mask * c + h]));
        if (per_mask == 2)
            result->chunk[c] = join_masks(e, part[0], part[1]);
        else
            result->chunk[c] = jit_keep(e, jit_bits(e, part[0], mask_type(e)));
    }
}

static enum ir_op swapped(enum ir_op op)
{
    switch (op) {
    case IR_OP_FOGT: return IR_OP_FOLT;
    case IR_OP_FOGE: return IR_OP_FOLE;
    case IR_OP_FULT: return IR_OP_FUGT;
    case IR_OP_FULE: return IR_OP_FUGE;
    default: return op;
    }
}

/* The row for a comparison; swaps the operands where only its mirror image is there. */
static const struct x86_row *comparison_row(const struct emit *e, enum ir_op op, struct lanes *in)
{
    enum ir_kind kind = in[0].kind;
    enum ir_op basic = swapped(op);
    if (basic != op) {
        struct lanes first = in[0];
        in[0] = in[1];
        in[1] = first;
    }
    /* With masks in registers all integer comparisons are one instruction with a predicate. */
    bool by_predicate = kind < IR_KIND_F32 && e->isa->bit_masks;
    return x86_find_row(e, by_predicate ? IR_OP_IEQ : basic, kind, kind);
}

bool x86_compare(struct emit *e, enum ir_op op, const struct lanes *args, struct lanes *result)
{
    enum ir_kind kind = args[0].kind == IR_KIND_PTR ? IR_KIND_I64 : args[0].kind;
    struct lanes in[2] = {args[0], args[1]};
    in[0].kind = in[1].kind = kind;
    if (kind == IR_KIND_BOOL || e->isa->id == CPU_ISA_GENERIC) return false;
    const struct x86_row *row = comparison_row(e, op, in);
    if (!row) return false;
    compare(e, row, op, in, result);
    return true;
}

bool x86_compare_under(struct emit *e, enum ir_op op, const struct lanes *args, bool inverted, struct mask under,
                       struct mask *result)
{
    struct lanes in[2] = {args[0], args[1]};
    enum ir_kind kind = args[0].kind;
    if (!e->isa->bit_masks || !under.chunk || kind == IR_KIND_BOOL || kind_bytes(kind) != 4) return false;
    const struct x86_row *row = comparison_row(e, op, in);
    if (!row) return false;
    char text[64];
    bit_comparison(text, sizeof text, row, op, inverted, "%{%3%}");
    struct jit_asm code = {.text = text, .result = "=Yk", .inputs = {"v", "v", "Yk"}};
    lval *a = lanes_vectors(e, &in[0]), *b = lanes_vectors(e, &in[1]);
    result->chunk = arena_alloc(e->arena, mask_chunks(e) * sizeof *result->chunk);
    for (unsigned c = 0; c < mask_chunks(e); c++)
        result->chunk[c] =
            jit_asm(e, &code, mask_type(e), 3, (rval[]){jit_read(a[c]), jit_read(b[c]), jit_read(under.chunk[c])});
    return true;
}
