/*
 * Three bytes of each work-item. Three quarters of a register have those of all lanes; permuted by words, each 16 bytes
 * have those of their four lanes, which a shuffle of bytes puts where they belong; the other way round for stores.
 */
#include "fuser/cpu/simd/x86_triples.h"

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/simd/mask.h"
#include "fuser/cpu/simd/x86_interleave.h"
#include "fuser/cpu/simd/x86_move.h"
#include "fuser/cpu/target/isa.h"

/* Of each four words three are used. */
static unsigned used_words(const struct emit *e)
{
    return lanes_per_chunk(e, IR_KIND_I32) / 4 * 3;
}

static lval used_mask(struct emit *e)
{
    rval runs[MAX_WIDTH];
    for (unsigned i = 0; i < mask_lanes(e); i++) runs[i] = jit_int(e, IR_KIND_BOOL, i < used_words(e));
    return jit_keep(e, mask_build(e, runs));
}

static lval memory_at(struct emit *e, enum ir_kind kind, rval address, uint64_t offset)
{
    return jit_memory(e, jit_type(e, kind), jit_add(e, address, jit_int(e, IR_KIND_I64, offset)), 1);
}

static lval load_used(struct emit *e, rval address)
{
    if (e->isa->id != CPU_ISA_SSE4) {
        lval mask = used_mask(e);
        return x86_masked_load(e, &mask, IR_KIND_I32, 0, address);
    }
    rval words[4];
    for (unsigned i = 0; i < 3; i++) words[i] = jit_read(memory_at(e, IR_KIND_I32, address, 4 * (uint64_t)i));
    words[3] = jit_int(e, IR_KIND_I32, 0);
    return jit_keep(e, chunk_of(e, IR_KIND_I32, 4, words));
}

/* Only AVX-512 writes under masks fast. */
static void store_used(struct emit *e, rval address, lval v)
{
    if (e->isa->bit_masks) {
        lval mask = used_mask(e);
        x86_masked_store(e, &mask, IR_KIND_I32, 0, address, jit_read(v));
        return;
    }
    unsigned pairs = lanes_per_chunk(e, IR_KIND_I64);
    lval as_pairs = jit_keep(e, jit_bits(e, jit_read(v), jit_vector(e, IR_KIND_I64, pairs)));
    if (e->isa->id == CPU_ISA_SSE4) {
        jit_set(e, memory_at(e, IR_KIND_I64, address, 0), lanes_pick(e, IR_KIND_I64, as_pairs, 0));
        jit_set(e, memory_at(e, IR_KIND_I32, address, 8), lanes_pick(e, IR_KIND_I32, v, 2));
        return;
    }
    jit_set(e, jit_memory(e, jit_vector(e, IR_KIND_I32, 4), address, 1), x86_half_of(e, IR_KIND_I32, v, 0));
    jit_set(e, memory_at(e, IR_KIND_I64, address, 16), lanes_pick(e, IR_KIND_I64, as_pairs, 2));
}

lval x86_load_triples(struct emit *e, rval address)
{
    unsigned words[MAX_WIDTH], n = lanes_per_chunk(e, IR_KIND_I32);
    uint32_t bytes[MAX_WIDTH];
    for (unsigned i = 0; i < n; i++) {
        uint32_t first = i % 4 * 3;
        words[i] = i / 4 * 3 + (i % 4 < 3 ? i % 4 : 0);
        bytes[i] = first | (first + 1) << 8 | (first + 2) << 16 | (X86_ZEROS & 0xff000000);
    }
    lval v = load_used(e, address);
    return x86_shuffle_bytes(e, n > 4 ? x86_permute(e, IR_KIND_I32, v, words) : v, bytes);
}

void x86_store_triples(struct emit *e, rval address, lval v)
{
    unsigned words[MAX_WIDTH], n = lanes_per_chunk(e, IR_KIND_I32);
    uint32_t bytes[MAX_WIDTH];
    for (unsigned i = 0; i < n; i++) {
        words[i] = i < used_words(e) ? i / 3 * 4 + i % 3 : 0;
        bytes[i] = 0;
        for (unsigned k = 0; k < 4; k++) {
            unsigned at = i % 4 * 4 + k; /* of the 12 bytes of four lanes */
            bytes[i] |= (at < 12 ? at / 3 * 4 + at % 3 : 0x80u) << 8 * k;
        }
    }
    lval packed = x86_shuffle_bytes(e, v, bytes);
    store_used(e, address, n > 4 ? x86_permute(e, IR_KIND_I32, packed, words) : packed);
}
