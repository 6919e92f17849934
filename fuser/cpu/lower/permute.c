/*
 * Lanes that take the values of other lanes: by numbers known while emitting, where gcc finds the instructions; by
 * numbers in vectors, with the permutations of the instruction set; else, or where those would be too many, through
 * memory in one loop over the lanes for all components, so that code does not grow with lanes times components.
 */
#include "fuser/cpu/lower/permute.h"

#include <stdio.h>

#include "fuser/cpu/jit/counted_loop.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/simd/spill.h"
#include "fuser/cpu/target/isa.h"

enum { MOST_PERMUTATIONS = 128 }; /* of an instruction, over all components */

/* The chunk of the table that has just these lanes; NULL: they come from here and there. */
static lval whole_chunk(struct emit *e, const struct permute_table *t, const unsigned *from)
{
    unsigned n = lanes_per_chunk(e, t->values[0]->kind);
    for (unsigned i = 0; i < n; i++)
        if (from[i] != from[0] / n * n + i) return NULL;
    return lanes_vectors(e, t->values[from[0] / e->width])[from[0] % e->width / n];
}

struct lanes permute_known(struct emit *e, const struct permute_table *t, const unsigned *from)
{
    enum ir_kind kind = t->values[0]->kind;
    if (e->width == 1) return lanes_uniform(kind, jit_read(jit_keep(e, lanes_get(e, t->values[from[0]], 0))));
    unsigned n = lanes_per_chunk(e, kind);
    gcc_jit_type *type = jit_vector(e, kind, n);
    struct lanes r = lanes_varying(e, kind);
    for (unsigned c = 0; c < lanes_chunks(e, kind); c++, from += n) {
        lval whole = whole_chunk(e, t, from);
        rval lanes[MAX_WIDTH];
        for (unsigned i = 0; i < n && !whole; i++)
            lanes[i] = lanes_get(e, t->values[from[i] / e->width], from[i] % e->width);
        r.chunk[c] = jit_keep(e, whole ? jit_read(whole)
                                       : gcc_jit_context_new_rvalue_from_vector(e->gcc, NULL, type, (int)n, lanes));
    }
    return r;
}

/* ---- by instructions ---- */

/* One permutation: by numbers of its kind's width, out of one chunk or of two that follow one another. */
struct permutation {
    struct jit_asm code; /* chunk, numbers, the next chunk */
    char text[32];
    unsigned chunks;
    bool of_bytes; /* its numbers are those of bytes */
};

static void choose_instruction(const struct emit *e, enum ir_kind kind, unsigned table_chunks, struct permutation *p)
{
    static const char suffix[] = {[2] = 'w', [4] = 'd', [8] = 'q'};
    unsigned bytes = kind_bytes(kind);
    bool wide = e->isa->id == CPU_ISA_AVX512;
    const char *in = wide ? "v" : "x";
    p->code = (struct jit_asm){.text = p->text, .result = wide ? "=v" : "=x", .inputs = {in, in, in}};
    p->chunks = wide && bytes > 1 && table_chunks > 1 ? 2 : 1;
    p->of_bytes = bytes == 1 || e->isa->id == CPU_ISA_SSE4 || (!wide && bytes == 2);
    if (p->chunks == 2 || e->isa->id == CPU_ISA_SSE4) p->code.inputs[0] = "0";
    if (p->of_bytes)
        snprintf(p->text, sizeof p->text, e->isa->id == CPU_ISA_SSE4 ? "pshufb %%2, %%0" : "vpshufb %%2, %%1, %%0");
    else if (p->chunks == 2)
        snprintf(p->text, sizeof p->text, "vpermt2%c %%3, %%2, %%0", suffix[bytes]);
    else
        snprintf(p->text, sizeof p->text, "vperm%c %%1, %%2, %%0", wide ? suffix[bytes] : 'd');
}

/* Of number i of a kind the numbers of its parts: i * n, i * n + 1 ... of n bytes, or of two halves of 4 bytes. */
static struct lanes parts_of(struct emit *e, struct lanes i, bool of_bytes)
{
    enum ir_kind kind = i.kind;
    switch (of_bytes ? kind_bytes(kind) : 0) {
    case 1: return i;
    case 2: i = op2(e, IR_OP_MUL, kind, i, lanes_int(e, kind, 0x0202)); break;
    case 4: i = op2(e, IR_OP_MUL, kind, i, lanes_int(e, kind, 0x04040404)); break;
    case 8: /* i is 0 or 1 */
        i = op2(e, IR_OP_AND, kind, op1(e, IR_OP_NEG, kind, i), lanes_int(e, kind, 0x0808080808080808));
        break;
    default:
        i = op2(e, IR_OP_SHL, kind, i, lanes_int(e, kind, 1));
        i = op2(e, IR_OP_OR, kind, i, op2(e, IR_OP_SHL, kind, i, lanes_int(e, kind, 32)));
        return op2(e, IR_OP_OR, kind, i, lanes_int(e, kind, 1ull << 32));
    }
    uint64_t steps = 0x0706050403020100 & (kind_bytes(kind) == 8 ? ~0ull : (1ull << 8 * kind_bytes(kind)) - 1);
    return op2(e, IR_OP_ADD, kind, i, lanes_int(e, kind, steps));
}

/* The numbers as the instruction takes them: which lane within its chunks. */
static struct lanes numbers_for(struct emit *e, const struct permutation *p, enum ir_kind kind, struct lanes index)
{
    unsigned bytes = kind_bytes(kind);
    enum ir_kind as = kind_of_bytes(bytes);
    if (p->of_bytes)
        index = op2(e, IR_OP_AND, IR_KIND_I32, index, lanes_int(e, IR_KIND_I32, lanes_per_chunk(e, kind) - 1));
    if (bytes != 4) index = op1(e, bytes < 4 ? IR_OP_ITRUNC : IR_OP_ZEXT, as, index);
    bool halves = bytes == 8 && e->isa->id == CPU_ISA_AVX2;
    return p->of_bytes || halves ? parts_of(e, index, p->of_bytes) : index;
}

/* All lanes, as a kind of that size, out of the permutation's chunks from chunk `first` of the table on. */
static struct lanes out_of(struct emit *e, const struct permutation *p, const struct permute_table *t,
                           enum ir_kind kind, unsigned first, const struct lanes *numbers)
{
    unsigned n = lanes_chunks(e, kind);
    struct lanes r = lanes_varying(e, kind);
    lval *index = lanes_vectors(e, numbers);
    lval from[2] = {NULL, NULL};
    for (unsigned k = 0; k < p->chunks; k++) from[k] = lanes_vectors(e, t->values[(first + k) / n])[(first + k) % n];
    for (unsigned c = 0; c < n; c++) {
        rval inputs[3] = {jit_read(from[0]), jit_read(index[c]), from[1] ? jit_read(from[1]) : NULL};
        r.chunk[c] = jit_asm(e, &p->code, jit_vector(e, kind, lanes_per_chunk(e, kind)), 1 + p->chunks, inputs);
    }
    return r;
}

/* A table that is longer than one permutation reaches has several parts. */
struct parts {
    const struct permutation *p;
    unsigned n;
    struct lanes is[MAX_CHUNKS];      /* which lanes take theirs from the part */
    struct lanes numbers[MAX_CHUNKS]; /* of bytes: by part, with the top bit, which makes 0, for the other lanes */
};

/* The same for all components; numbers[0] is there. */
static void find_parts(struct emit *e, struct parts *s, enum ir_kind kind, struct lanes index)
{
    if (s->n == 1) return;
    enum ir_kind as = kind_of_bytes(kind_bytes(kind));
    unsigned reach = (unsigned)__builtin_ctz(lanes_per_chunk(e, kind) * s->p->chunks);
    struct lanes part = op2(e, IR_OP_LSHR, IR_KIND_I32, index, lanes_int(e, IR_KIND_I32, reach));
    struct lanes numbers = s->numbers[0], none = lanes_int(e, as, 0x8080808080808080);
    for (unsigned k = 0; k < s->n; k++) {
        s->is[k] = op2(e, IR_OP_IEQ, IR_KIND_BOOL, part, lanes_int(e, IR_KIND_I32, k));
        s->numbers[k] = s->p->of_bytes ? op_select(e, s->is[k], numbers, none) : numbers;
    }
}

static struct lanes join_parts_of_bytes(struct emit *e, const struct parts *s, const struct permute_table *t)
{
    enum ir_kind kind = t->values[0]->kind, as = kind_of_bytes(kind_bytes(kind));
    struct lanes r = out_of(e, s->p, t, as, 0, &s->numbers[0]);
    for (unsigned k = 1; k < s->n; k++)
        r = op2(e, IR_OP_OR, as, r, out_of(e, s->p, t, as, k * s->p->chunks, &s->numbers[k]));
    return op_bits(e, r, kind);
}

static struct lanes select_parts(struct emit *e, const struct parts *s, const struct permute_table *t)
{
    enum ir_kind kind = t->values[0]->kind;
    struct lanes r = out_of(e, s->p, t, kind, 0, &s->numbers[0]);
    for (unsigned k = 1; k < s->n; k++)
        r = op_select(e, s->is[k], out_of(e, s->p, t, kind, k * s->p->chunks, &s->numbers[k]), r);
    return r;
}

static bool by_instructions(struct emit *e, const struct permute_table *tables, unsigned n, const struct lanes *index,
                            struct lanes *result)
{
    enum ir_kind kind = tables[0].values[0]->kind;
    unsigned chunks = tables[0].n * lanes_chunks(e, kind);
    if (e->isa->id == CPU_ISA_GENERIC || e->width < mask_lanes(e)) return false;
    struct permutation p;
    choose_instruction(e, kind, chunks, &p);
    unsigned parts = chunks / p.chunks, cost = lanes_chunks(e, kind) * parts;
    if (cost > e->width || n * cost > MOST_PERMUTATIONS) return false;
    struct parts s = {.p = &p, .n = parts, .numbers[0] = numbers_for(e, &p, kind, *index)};
    find_parts(e, &s, kind, *index);
    for (unsigned c = 0; c < n; c++)
        result[c] = p.of_bytes ? join_parts_of_bytes(e, &s, &tables[c]) : select_parts(e, &s, &tables[c]);
    return true;
}

/* ---- through memory ---- */

static void by_loop(struct emit *e, const struct permute_table *tables, unsigned n, const struct lanes *index,
                    struct lanes *result)
{
    enum ir_kind kind = tables[0].values[0]->kind;
    lval from[IR_MAX_LANES], to[IR_MAX_LANES], numbers = spill_lanes(e, index);
    for (unsigned c = 0; c < n; c++) {
        from[c] = lane_array(e, kind, tables[c].n);
        to[c] = lane_array(e, kind, 1);
        for (unsigned i = 0; i < tables[c].n; i++) spill_into(e, from[c], i * e->width, tables[c].values[i]);
    }
    struct counted lane = counted_begin(e, jit_u64(e, 0), jit_u64(e, e->width), jit_u64(e, 1));
    rval source = spilled_lane(e, numbers, jit_read(lane.v));
    source = jit_read(jit_keep(e, jit_cast(e, source, jit_type(e, IR_KIND_I64))));
    for (unsigned c = 0; c < n; c++)
        jit_set(e, gcc_jit_context_new_array_access(e->gcc, NULL, jit_read(to[c]), jit_read(lane.v)),
                spilled_lane(e, from[c], source));
    counted_end(e, &lane);
    for (unsigned c = 0; c < n; c++) result[c] = unspill_lanes(e, kind, to[c]);
}

void permute_lanes(struct emit *e, const struct permute_table *tables, unsigned n, const struct lanes *index,
                   struct lanes *result)
{
    if (!by_instructions(e, tables, n, index, result)) by_loop(e, tables, n, index, result);
}
