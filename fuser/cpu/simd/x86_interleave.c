/* Every other number of two registers, and two registers' numbers one by one. AVX-512 has one instruction that takes
   any numbers of two registers; the others' shuffles stay within 16 bytes, so AVX2 moves 8 bytes across before or
   after. Of an odd number of registers no two numbers that belong together are at the same place: they are blended into
   one register, where they are in some other order. */
#include "fuser/cpu/simd/x86_interleave.h"

#include <stdio.h>

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/simd/x86_move.h"
#include "fuser/cpu/simd/x86_table.h"
#include "fuser/cpu/target/isa.h"

static lval two(struct emit *e, const char *text, enum ir_kind kind, lval a, lval b)
{
    bool in_place = e->isa->id == CPU_ISA_SSE4;
    struct jit_asm code = {.text = text, .result = "=x", .inputs = {in_place ? "0" : "x", "x"}};
    return jit_asm(e, &code, jit_vector(e, kind, lanes_per_chunk(e, kind)), 2, (rval[]){jit_read(a), jit_read(b)});
}

/* AVX2: 8 bytes each, the middle ones change places. */
static lval middle_swapped(struct emit *e, enum ir_kind kind, lval a)
{
    static const struct jit_asm code = {.text = "vpermpd $0xd8, %1, %0", .result = "=x", .inputs = {"x"}};
    rval in = jit_read(a);
    return jit_asm(e, &code, jit_vector(e, kind, lanes_per_chunk(e, kind)), 1, &in);
}

/* ---- AVX-512 ---- */

/* Number i of the result is number from[i] of a and b, one after the other. */
static lval picked(struct emit *e, enum ir_kind kind, lval a, lval b, const unsigned *from)
{
    unsigned n = lanes_per_chunk(e, kind);
    bool wide = kind_bytes(kind) == 8;
    enum ir_kind number = wide ? IR_KIND_I64 : IR_KIND_I32;
    rval numbers[MAX_WIDTH];
    for (unsigned i = 0; i < n; i++) numbers[i] = jit_int(e, number, from[i]);
    lval index = jit_keep(e, chunk_of(e, number, n, numbers));
    struct jit_asm code = {
        .text = wide ? "vpermt2q %3, %2, %0" : "vpermt2d %3, %2, %0", .result = "=v", .inputs = {"0", "v", "v"}};
    return jit_asm(e, &code, jit_vector(e, kind, n), 3, (rval[]){jit_read(a), jit_read(index), jit_read(b)});
}

static lval every_other(struct emit *e, enum ir_kind kind, lval a, lval b, bool odd)
{
    unsigned from[MAX_WIDTH];
    for (unsigned i = 0; i < lanes_per_chunk(e, kind); i++) from[i] = 2 * i + odd;
    return picked(e, kind, a, b, from);
}

static void zip_any(struct emit *e, enum ir_kind kind, lval a, lval b, lval to[2])
{
    unsigned from[MAX_WIDTH], n = lanes_per_chunk(e, kind);
    for (unsigned half = 0; half < 2; half++) {
        for (unsigned i = 0; i < n; i++) from[i] = half * n / 2 + i / 2 + i % 2 * n;
        to[half] = picked(e, kind, a, b, from);
    }
}

lval x86_spread(struct emit *e, enum ir_kind kind, lval v, unsigned words, unsigned i, lval mask, lval before)
{
    unsigned n = lanes_per_chunk(e, kind);
    bool wide = kind_bytes(kind) == 8;
    enum ir_kind number = wide ? IR_KIND_I64 : IR_KIND_I32;
    rval from[MAX_WIDTH];
    for (unsigned k = 0; k < n; k++) from[k] = jit_int(e, number, (i * n + k) / words);
    lval index = jit_keep(e, chunk_of(e, number, n, from));
    struct jit_asm plain = {
        .text = wide ? "vpermq %1, %2, %0" : "vpermd %1, %2, %0", .result = "=v", .inputs = {"v", "v"}};
    struct jit_asm masked = {.text = wide ? "vpermq %2, %3, %0%{%4%}" : "vpermd %2, %3, %0%{%4%}",
                             .result = "=v",
                             .inputs = {"0", "v", "v", "Yk"}};
    gcc_jit_type *type = jit_vector(e, kind, n);
    if (!mask) return jit_asm(e, &plain, type, 2, (rval[]){jit_read(v), jit_read(index)});
    return jit_asm(e, &masked, type, 4, (rval[]){jit_read(before), jit_read(v), jit_read(index), jit_read(mask)});
}

/* ---- the others ---- */

/* The instruction's name as the instruction set writes it; in the order of its operands. */
static const char *spelled(const struct emit *e, char text[64], const char *name, const char *immediate)
{
    const char *operands = e->isa->id == CPU_ISA_SSE4 ? "%2, %0" : "%2, %1, %0";
    snprintf(text, 64, "%s%s %s%s", e->isa->id == CPU_ISA_SSE4 ? "" : "v", name, immediate, operands);
    return text;
}

lval x86_every_other(struct emit *e, enum ir_kind kind, lval a, lval b, bool odd)
{
    if (e->isa->id == CPU_ISA_AVX512) return every_other(e, kind, a, b, odd);
    char text[64];
    if (kind_bytes(kind) == 8)
        spelled(e, text, odd ? "unpckhpd" : "unpcklpd", "");
    else
        spelled(e, text, "shufps", odd ? "$0xdd, " : "$0x88, ");
    lval r = two(e, text, kind, a, b);
    return e->isa->id == CPU_ISA_AVX2 ? middle_swapped(e, kind, r) : r;
}

void x86_zip(struct emit *e, enum ir_kind kind, lval a, lval b, lval to[2])
{
    if (e->isa->id == CPU_ISA_AVX512) {
        zip_any(e, kind, a, b, to);
        return;
    }
    bool wide = kind_bytes(kind) == 8;
    if (e->isa->id == CPU_ISA_AVX2) {
        a = middle_swapped(e, kind, a);
        b = middle_swapped(e, kind, b);
    }
    char text[64];
    to[0] = two(e, spelled(e, text, wide ? "unpcklpd" : "unpcklps", ""), kind, a, b);
    to[1] = two(e, spelled(e, text, wide ? "unpckhpd" : "unpckhps", ""), kind, a, b);
}

/* ---- an odd number of registers ---- */

lval x86_permute(struct emit *e, enum ir_kind kind, lval v, const unsigned *from)
{
    bool wide = kind_bytes(kind) == 8;
    unsigned n = lanes_per_chunk(e, kind), immediate = 0, bits = wide && e->isa->id == CPU_ISA_SSE4 ? 1 : 2;
    gcc_jit_type *type = jit_vector(e, kind, n);
    char text[64];
    for (unsigned i = 0; i < n && i < 4; i++) immediate |= from[i] << bits * i;
    if (e->isa->id == CPU_ISA_SSE4 || (e->isa->id == CPU_ISA_AVX2 && wide)) {
        if (e->isa->id == CPU_ISA_AVX2)
            snprintf(text, sizeof text, "vpermpd $%u, %%1, %%0", immediate);
        else
            snprintf(text, sizeof text, "%s $%u, %%0, %%0", wide ? "shufpd" : "shufps", immediate);
        struct jit_asm code = {.text = text, .result = "=x", .inputs = {e->isa->id == CPU_ISA_SSE4 ? "0" : "x"}};
        return jit_asm(e, &code, type, 1, (rval[]){jit_read(v)});
    }
    enum ir_kind number = wide ? IR_KIND_I64 : IR_KIND_I32;
    rval numbers[MAX_WIDTH];
    for (unsigned i = 0; i < n; i++) numbers[i] = jit_int(e, number, from[i]);
    rval index = jit_read(jit_keep(e, chunk_of(e, number, n, numbers)));
    const char *any = x86_any_register(e);
    struct jit_asm code = {.text = wide ? "vpermq %1, %2, %0" : "vpermd %1, %2, %0",
                           .result = e->isa->id == CPU_ISA_AVX512 ? "=v" : "=x",
                           .inputs = {any, any}};
    return jit_asm(e, &code, type, 2, (rval[]){jit_read(v), index});
}

/* The lanes of register i that hold number w of somebody, as bits. */
static unsigned lanes_with(unsigned lanes, unsigned n, unsigned i, unsigned w)
{
    unsigned bits = 0;
    for (unsigned lane = 0; lane < lanes; lane++) bits |= (unsigned)((i * lanes + lane) % n == w) << lane;
    return bits;
}

void x86_odd_begin(struct emit *e, enum ir_kind kind, unsigned n, struct x86_odd *odd)
{
    *odd = (struct x86_odd){.kind = kind, .n = n};
    if (!e->isa->bit_masks) return;
    for (unsigned w = 0; w < n; w++)
        odd->mask[w] = jit_keep(e, jit_int(e, IR_KIND_I16, lanes_with(lanes_per_chunk(e, kind), n, 0, w)));
}

/* before, but for the lanes of register i with number w: they are v's. */
static lval blended(struct emit *e, const struct x86_odd *odd, unsigned i, unsigned w, lval before, lval v)
{
    unsigned lanes = lanes_per_chunk(e, odd->kind), n = odd->n;
    /* Register i begins with number i * lanes % n of somebody, so its mask is that of another number in the first. */
    if (e->isa->bit_masks) return x86_masked_move(e, odd->mask[(w + n * lanes - i * lanes) % n], odd->kind, before, v);
    unsigned set = lanes_with(lanes, n, i, w);
    return set ? x86_blend(e, odd->kind, before, v, set) : before;
}

lval x86_odd_pick(struct emit *e, const struct x86_odd *odd, const lval *v, unsigned w)
{
    unsigned from[MAX_WIDTH], lanes = lanes_per_chunk(e, odd->kind);
    lval all = v[0];
    for (unsigned i = 1; i < odd->n; i++) all = blended(e, odd, i, w, all, v[i]);
    for (unsigned lane = 0; lane < lanes; lane++) from[lane] = (lane * odd->n + w) % lanes;
    return x86_permute(e, odd->kind, all, from);
}

void x86_odd_join(struct emit *e, const struct x86_odd *odd, const lval *word, unsigned set, lval *to)
{
    lval placed[X86_MOST_ODD];
    unsigned from[MAX_WIDTH], lanes = lanes_per_chunk(e, odd->kind);
    for (unsigned w = 0; w < odd->n; w++) {
        for (unsigned lane = 0; lane < lanes; lane++) from[(lane * odd->n + w) % lanes] = lane;
        if (set >> w & 1) placed[w] = x86_permute(e, odd->kind, word[w], from);
    }
    for (unsigned i = 0; i < odd->n; i++) {
        to[i] = NULL;
        for (unsigned w = 0; w < odd->n; w++)
            if (set >> w & 1) to[i] = to[i] ? blended(e, odd, i, w, to[i], placed[w]) : placed[w];
    }
}

/* ---- bytes ---- */

bool x86_can_pick_bytes(const struct emit *e)
{
    return e->width > 1 && e->isa->id != CPU_ISA_GENERIC;
}

lval x86_shuffle_bytes(struct emit *e, lval words, const uint32_t *from)
{
    unsigned lanes = lanes_per_chunk(e, IR_KIND_I32);
    rval numbers[MAX_WIDTH];
    for (unsigned i = 0; i < lanes; i++) numbers[i] = jit_int(e, IR_KIND_I32, from[i]);
    bool in_place = e->isa->id == CPU_ISA_SSE4;
    const char *in = x86_any_register(e);
    struct jit_asm code = {.text = in_place ? "pshufb %2, %0" : "vpshufb %2, %1, %0",
                           .result = e->isa->id == CPU_ISA_AVX512 ? "=v" : "=x",
                           .inputs = {in_place ? "0" : in, in}};
    rval index = jit_read(jit_keep(e, chunk_of(e, IR_KIND_I32, lanes, numbers)));
    return jit_asm(e, &code, jit_vector(e, IR_KIND_I32, lanes), 2, (rval[]){jit_read(words), index});
}

lval x86_pick_bytes(struct emit *e, lval words, unsigned first, unsigned n)
{
    uint32_t from[MAX_WIDTH];
    for (unsigned i = 0; i < lanes_per_chunk(e, IR_KIND_I32); i++) {
        from[i] = X86_ZEROS;
        for (unsigned k = 0; k < n; k++) from[i] ^= (0x80u ^ (i % 4 * 4 + first + k)) << 8 * k;
    }
    return x86_shuffle_bytes(e, words, from);
}
