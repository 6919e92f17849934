/* Moves between registers and memory: under a mask, and past the cache. */
#include "fuser/cpu/simd/x86_move.h"

#include <stdio.h>

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/simd/x86_table.h"
#include "fuser/cpu/target/isa.h"

/* ---- halves ---- */

rval x86_half_of(struct emit *e, enum ir_kind kind, lval vector, unsigned half)
{
    gcc_jit_type *type = jit_vector(e, kind, lanes_per_chunk(e, kind) / 2);
    rval first = gcc_jit_context_new_cast(e->gcc, NULL, gcc_jit_lvalue_get_address(vector, NULL),
                                          gcc_jit_type_get_pointer(type));
    return jit_read(gcc_jit_context_new_array_access(e->gcc, NULL, first, jit_int(e, IR_KIND_I64, half)));
}

lval x86_join_halves(struct emit *e, enum ir_kind kind, lval low, lval high)
{
    static const struct jit_asm join[CPU_ISA_COUNT] = {
        [CPU_ISA_SSE4] = {.text = "movlhps %2, %0", .result = "=x", .inputs = {"0", "x"}},
        [CPU_ISA_AVX2] = {.text = "vinsertf128 $1, %2, %t1, %0", .result = "=x", .inputs = {"x", "x"}},
        [CPU_ISA_AVX512] = {.text = "vinsertf64x4 $1, %2, %g1, %0", .result = "=v", .inputs = {"v", "v"}},
    };
    gcc_jit_type *type = jit_vector(e, kind, lanes_per_chunk(e, kind));
    return jit_asm(e, &join[e->isa->id], type, 2, (rval[]){jit_read(low), jit_read(high)});
}

/* ---- masks and memory ---- */

/* The mask of chunk c of 8-byte numbers: the upper half of a chunk's bits for odd c. */
rval x86_bit_mask(struct emit *e, const lval *mask, enum ir_kind kind, unsigned c)
{
    if (kind_bytes(kind) != 8) return jit_read(mask[c]);
    if (c % 2 == 0) return jit_read(mask[c / 2]);
    static const struct jit_asm shift = {.text = "kshiftrw $8, %1, %0", .result = "=Yk", .inputs = {"Yk"}};
    rval in = jit_read(mask[c / 2]);
    return jit_read(jit_asm(e, &shift, mask_type(e), 1, &in));
}

static const char *masked_move(const struct emit *e, enum ir_kind kind)
{
    static const char *const wide[] = {[1] = "vmovdqu8", [2] = "vmovdqu16", [4] = "vmovups", [8] = "vmovupd"};
    static const char *const narrow[] = {[4] = "vmaskmovps", [8] = "vmaskmovpd"};
    unsigned bytes = kind_bytes(kind);
    if (e->isa->id == CPU_ISA_AVX512) return wide[bytes];
    return e->isa->id == CPU_ISA_AVX2 && bytes >= 4 ? narrow[bytes] : NULL;
}

bool x86_can_mask(const struct emit *e, enum ir_kind kind)
{
    return masked_move(e, kind) != NULL;
}

lval x86_masked_load(struct emit *e, const lval *mask, enum ir_kind kind, unsigned c, rval address)
{
    char text[64];
    bool bits = e->isa->bit_masks;
    snprintf(text, sizeof text, bits ? "%s (%%1), %%0%%{%%2%%}%%{z%%}" : "%s (%%1), %%2, %%0", masked_move(e, kind));
    struct jit_asm code = {
        .text = text, .result = bits ? "=v" : "=x", .inputs = {"r", bits ? "Yk" : "x"}, .is_volatile = true};
    rval m = bits ? x86_bit_mask(e, mask, kind, c) : mask_widened(e, mask, kind, c);
    return jit_asm(e, &code, jit_vector(e, kind, lanes_per_chunk(e, kind)), 2, (rval[]){address, m});
}

void x86_masked_store(struct emit *e, const lval *mask, enum ir_kind kind, unsigned c, rval address, rval v)
{
    char text[64];
    bool bits = e->isa->bit_masks;
    snprintf(text, sizeof text, bits ? "%s %%2, (%%0)%%{%%1%%}" : "%s %%2, %%1, (%%0)", masked_move(e, kind));
    struct jit_asm code = {.text = text, .inputs = {"r", bits ? "Yk" : "x", x86_any_register(e)}, .is_volatile = true};
    rval m = bits ? x86_bit_mask(e, mask, kind, c) : mask_widened(e, mask, kind, c);
    jit_asm(e, &code, NULL, 3, (rval[]){address, m, v});
}

lval x86_masked_move(struct emit *e, lval mask, enum ir_kind kind, lval before, lval v)
{
    bool wide = kind_bytes(kind) == 8;
    struct jit_asm code = {.text = wide ? "vpblendmq %3, %2, %0%{%1%}" : "vpblendmd %3, %2, %0%{%1%}",
                           .result = "=v",
                           .inputs = {"Yk", "v", "v"}};
    gcc_jit_type *type = jit_vector(e, kind, lanes_per_chunk(e, kind));
    return jit_asm(e, &code, type, 3, (rval[]){jit_read(mask), jit_read(before), jit_read(v)});
}

lval x86_blend(struct emit *e, enum ir_kind kind, lval before, lval v, unsigned lanes)
{
    char text[64];
    bool in_place = e->isa->id == CPU_ISA_SSE4;
    snprintf(text, sizeof text, "%sblendp%c $%u, %%2, %s%%0", in_place ? "" : "v", kind_bytes(kind) == 8 ? 'd' : 's',
             lanes, in_place ? "" : "%1, ");
    struct jit_asm code = {.text = text, .result = "=x", .inputs = {in_place ? "0" : "x", "x"}};
    gcc_jit_type *type = jit_vector(e, kind, lanes_per_chunk(e, kind));
    return jit_asm(e, &code, type, 2, (rval[]){jit_read(before), jit_read(v)});
}

void x86_stream(struct emit *e, rval address, rval v)
{
    const char *text = e->isa->id >= CPU_ISA_AVX2 ? "vmovntps %1, (%0)" : "movntps %1, (%0)";
    struct jit_asm code = {.text = text, .inputs = {"r", x86_any_register(e)}, .is_volatile = true};
    jit_asm(e, &code, NULL, 2, (rval[]){address, v});
}

void x86_fence(struct emit *e)
{
    static const struct jit_asm code = {.text = "sfence", .is_volatile = true};
    jit_asm(e, &code, NULL, 0, NULL);
}

void x86_clear_halves(struct emit *e)
{
    static const struct jit_asm code = {.text = "vzeroupper", .clobbers_vectors = true, .is_volatile = true};
    if (e->isa->id >= CPU_ISA_AVX2) jit_asm(e, &code, NULL, 0, NULL);
}
