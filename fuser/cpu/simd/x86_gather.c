/*
 * Gathers and scatters. The processor takes as many numbers at once as there are numbers or offsets in a register: with
 * offsets of 64 bits numbers of 4 bytes come by halves, with offsets of 32 bits numbers of 8 bytes take half of them.
 * The instruction clears its mask, which therefore is a copy in a register that the statement names. Where it is slower
 * than a load for each lane (struct cpu_target), lanes are picked one by one.
 */
#include "fuser/cpu/simd/x86_gather.h"

#include <stdio.h>

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/simd/x86_move.h"
#include "fuser/cpu/target/isa.h"

bool x86_can_gather(const struct emit *e, enum ir_kind kind)
{
    return e->width > 1 && e->isa->id >= CPU_ISA_AVX2 && kind_bytes(kind) >= 4;
}

bool x86_can_scatter(const struct emit *e, enum ir_kind kind)
{
    return e->width > 1 && e->isa->id >= CPU_ISA_AVX512 && kind_bytes(kind) >= 4;
}

/* What one instruction moves: the numbers of a chunk, or of one half of it. */
struct part {
    enum ir_kind kind;
    unsigned chunk, half, lanes;
    bool by_halves;
    rval base, offset, mask; /* mask NULL: all */
    char name[16];           /* "dps": offsets of 32 bits, numbers of 4 bytes */
};

/* Of a mask, what belongs to the part. */
static rval part_of_mask(struct emit *e, const lval *mask, const struct part *p)
{
    if (e->isa->bit_masks && p->by_halves) return x86_bit_mask(e, mask, IR_KIND_I64, 2 * p->chunk + p->half);
    if (e->isa->bit_masks) return x86_bit_mask(e, mask, p->kind, p->chunk);
    return p->by_halves ? x86_half_of(e, IR_KIND_I32, mask[p->chunk], p->half)
                        : mask_widened(e, mask, p->kind, p->chunk);
}

static struct part part_of(struct emit *e, const lval *mask, enum ir_kind kind, rval base, const struct lanes *offset,
                           unsigned c, unsigned half)
{
    bool wide = kind_bytes(kind) == 8, far = kind_bytes(offset->kind) == 8;
    struct part p = {.kind = kind, .chunk = c, .half = half, .by_halves = !wide && far, .base = base};
    lval *chunk = lanes_vectors(e, offset);
    p.lanes = lanes_per_chunk(e, kind) / (p.by_halves ? 2 : 1);
    if (wide && !far)
        p.offset = x86_half_of(e, offset->kind, chunk[c / 2], c % 2);
    else
        p.offset = jit_read(chunk[p.by_halves ? 2 * c + half : c]);
    if (mask) p.mask = part_of_mask(e, mask, &p);
    snprintf(p.name, sizeof p.name, "%s%s", far ? "q" : "d", wide ? "pd" : "ps");
    return p;
}

static lval gather_part(struct emit *e, const struct part *p)
{
    char text[160];
    bool bits = e->isa->bit_masks;
    unsigned bytes = p->lanes * kind_bytes(p->kind);
    if (bits)
        snprintf(text, sizeof text, "vpxord %%x0, %%x0, %%x0\n\t%s\n\tvgather%s (%%1,%%2,1), %%0%%{%%%%k1%%}",
                 p->mask ? "kmovw %3, %%k1" : "kxnorw %%k1, %%k1, %%k1", p->name);
    else
        snprintf(text, sizeof text, "vpxor %%0, %%0, %%0\n\t%s%s\n\tvgather%s %%%%%cmm15, (%%1,%%2,1), %%0",
                 p->mask ? "vmovdqa %3, %%" : "vpcmpeqd %%ymm15, %%ymm15, %%",
                 p->mask && bytes < 32 ? "xmm15" : "ymm15", p->name, bytes < 32 ? 'x' : 'y');
    struct jit_asm code = {.text = text,
                           .result = bits ? "=&v" : "=&x",
                           .inputs = {"r", bits ? "v" : "x", bits ? "Yk" : "x"},
                           .clobbers = {bits ? "k1" : "xmm15"},
                           .is_volatile = true};
    rval inputs[] = {p->base, p->offset, p->mask};
    return jit_asm(e, &code, jit_vector(e, p->kind, p->lanes), p->mask ? 3 : 2, inputs);
}

/* ---- one by one ---- */

/* Four lanes of register c, from lane 4 * quarter on, into those of v; NULL: into a new one. */
static lval picked_quarter(struct emit *e, enum ir_kind kind, rval base, lval offset, unsigned quarter, lval v)
{
    char text[600], extract[64] = "", insert[64] = "";
    bool bits = e->isa->bit_masks;
    const char *from = quarter ? "%%xmm15" : "%x2", *to = quarter ? "%%xmm14" : "%x0", *any = bits ? "v" : "x";
    if (quarter) {
        snprintf(extract, sizeof extract, "vextracti%s $%u, %%2, %%%%xmm15\n\t", bits ? "32x4" : "128", quarter);
        snprintf(insert, sizeof insert, "\n\tvinserti%s $%u, %%%%xmm14, %%%c0, %%%c0", bits ? "32x4" : "128", quarter,
                 quarter > 1 ? 'g' : 't',
                 quarter > 1 ? 'g' : 't'); /* a shorter one takes less, and clears what follows */
    }
    snprintf(text, sizeof text,
             "%svmovq %s, %%%%rax\n\tmovslq %%%%eax, %%%%rcx\n\tsarq $32, %%%%rax\n\t"
             "vmovss (%%1,%%%%rcx), %s\n\tvinsertps $0x10, (%%1,%%%%rax), %s, %s\n\t"
             "vpextrq $1, %s, %%%%rax\n\tmovslq %%%%eax, %%%%rcx\n\tsarq $32, %%%%rax\n\t"
             "vinsertps $0x20, (%%1,%%%%rcx), %s, %s\n\tvinsertps $0x30, (%%1,%%%%rax), %s, %s%s",
             extract, from, to, to, to, from, to, to, to, to, insert);
    struct jit_asm code = {.text = text,
                           .result = bits ? "=&v" : "=&x",
                           .inputs = {"r", any, "0"},
                           .clobbers = {"rax", "rcx", quarter ? "xmm14" : NULL, "xmm15"},
                           .is_volatile = true};
    rval inputs[] = {base, jit_read(offset), v ? jit_read(v) : NULL};
    return jit_asm(e, &code, jit_vector(e, kind, lanes_per_chunk(e, kind)), v ? 3 : 2, inputs);
}

/* Two lanes of 8 bytes, from lane 2 * quarter on, at the offsets of a part; v as above. */
static lval picked_pair(struct emit *e, const struct part *p, unsigned quarter, lval v)
{
    char text[400], insert[64] = "";
    bool bits = e->isa->bit_masks;
    const char *any = bits ? "v" : "x", *from = quarter > 1 ? "%%xmm15" : "%x2", *to = quarter ? "%%xmm14" : "%x0";
    const char *extract = quarter > 1 ? "vextracti32x4 $1, %t2, %%xmm15\n\t" : ""; /* only AVX-512 has so many */
    char whole = quarter > 1 ? 'g' : 't';
    if (quarter)
        snprintf(insert, sizeof insert, "\n\tvinsertf%s $%u, %%%%xmm14, %%%c0, %%%c0", bits ? "32x4" : "128", quarter,
                 whole, whole);
    snprintf(text, sizeof text,
             "%s%s%s, %%%%rax\n\tmovslq %%%%eax, %%%%rcx\n\tsarq $32, %%%%rax\n\t"
             "vmovsd (%%1,%%%%rcx), %s\n\tvmovhpd (%%1,%%%%rax), %s, %s%s",
             extract, quarter % 2 ? "vpextrq $1, " : "vmovq ", from, to, to, to, insert);
    struct jit_asm code = {.text = text,
                           .result = bits ? "=&v" : "=&x",
                           .inputs = {"r", any, "0"},
                           .clobbers = {"rax", "rcx", "xmm14", "xmm15"},
                           .is_volatile = true};
    rval inputs[] = {p->base, p->offset, v ? jit_read(v) : NULL};
    return jit_asm(e, &code, jit_vector(e, p->kind, p->lanes), v ? 3 : 2, inputs);
}

/* Where that is faster: at offsets of 4 bytes, of lanes all of which run. */
static bool picks(const struct emit *e, const lval *mask, const struct lanes *offset)
{
    return e->gathers_slowly && !mask && kind_bytes(offset->kind) == 4;
}

/* Register c. */
static lval picked(struct emit *e, enum ir_kind kind, rval base, const struct lanes *offset, unsigned c)
{
    struct part p = part_of(e, NULL, kind, base, offset, c, 0);
    unsigned n = kind_bytes(kind) == 8 ? p.lanes / 2 : p.lanes / 4;
    lval v = NULL;
    for (unsigned quarter = 0; quarter < n; quarter++)
        v = kind_bytes(kind) == 8 ? picked_pair(e, &p, quarter, v)
                                  : picked_quarter(e, kind, base, lanes_vectors(e, offset)[c], quarter, v);
    return v;
}

/* Under a mask, where they have 8 bytes, too, if all run: as in each vector of a row where it is a quotient that
   differs between neighbours, as at x / 8. (Of numbers of 4 bytes the code for both would be more than it saves.) */
static bool picks_if_all_run(const struct emit *e, const lval *mask, enum ir_kind kind, const struct lanes *offset)
{
    return picks(e, NULL, offset) && mask && e->isa->bit_masks && kind_bytes(kind) == 8 && !e->compact;
}

static lval picked_or_gathered(struct emit *e, const lval *mask, enum ir_kind kind, rval base,
                               const struct lanes *offset, unsigned c)
{
    gcc_jit_block *all = jit_block(e), *some = jit_block(e), *done = jit_block(e);
    struct part p = part_of(e, mask, kind, base, offset, c, 0);
    lval result = jit_local(e, jit_vector(e, kind, p.lanes));
    rval ones = jit_int(e, IR_KIND_I32, (1u << p.lanes) - 1);
    rval running = jit_cast(e, p.mask, jit_type(e, IR_KIND_I32));
    running = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, running, ones);
    jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_EQ, running, ones), all, some);
    jit_begin(e, all);
    jit_set(e, result, jit_read(picked(e, kind, base, offset, c)));
    jit_jump(e, done);
    jit_begin(e, some);
    jit_set(e, result, jit_read(gather_part(e, &p)));
    jit_jump(e, done);
    jit_begin(e, done);
    return result;
}

/* ---- any ---- */

struct lanes x86_gather(struct emit *e, const lval *mask, enum ir_kind kind, rval base, const struct lanes *offset)
{
    struct lanes r = lanes_varying(e, kind);
    for (unsigned c = 0; c < lanes_chunks(e, kind); c++) {
        if (picks(e, mask, offset)) {
            r.chunk[c] = picked(e, kind, base, offset, c);
            continue;
        }
        if (picks_if_all_run(e, mask, kind, offset)) {
            r.chunk[c] = picked_or_gathered(e, mask, kind, base, offset, c);
            continue;
        }
        struct part p = part_of(e, mask, kind, base, offset, c, 0);
        r.chunk[c] = gather_part(e, &p);
        if (!p.by_halves) continue;
        p = part_of(e, mask, kind, base, offset, c, 1);
        r.chunk[c] = x86_join_halves(e, kind, r.chunk[c], gather_part(e, &p));
    }
    return r;
}

lval x86_gather_chunk(struct emit *e, enum ir_kind kind, rval base, const struct lanes *offset, unsigned c)
{
    if (picks(e, NULL, offset)) return picked(e, kind, base, offset, c);
    struct part p = part_of(e, NULL, kind, base, offset, c, 0);
    return gather_part(e, &p);
}

static void scatter_part(struct emit *e, const struct part *p, rval v)
{
    char text[128];
    snprintf(text, sizeof text, "%s\n\tvscatter%s %%2, (%%0,%%1,1)%%{%%%%k1%%}",
             p->mask ? "kmovw %3, %%k1" : "kxnorw %%k1, %%k1, %%k1", p->name);
    struct jit_asm code = {.text = text, .inputs = {"r", "v", "v", "Yk"}, .clobbers = {"k1"}, .is_volatile = true};
    jit_asm(e, &code, NULL, p->mask ? 4 : 3, (rval[]){p->base, p->offset, v, p->mask});
}

void x86_scatter(struct emit *e, const lval *mask, rval base, const struct lanes *offset, const struct lanes *v)
{
    lval *chunk = lanes_vectors(e, v);
    for (unsigned c = 0; c < lanes_chunks(e, v->kind); c++)
        for (unsigned half = 0; half < 2; half++) {
            struct part p = part_of(e, mask, v->kind, base, offset, c, half);
            scatter_part(e, &p, p.by_halves ? x86_half_of(e, v->kind, chunk[c], half) : jit_read(chunk[c]));
            if (!p.by_halves) break;
        }
}
