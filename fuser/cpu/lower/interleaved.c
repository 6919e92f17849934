/*
 * Vectors and structs of neighbours, one after the other in memory, as in an array of float4 or of pixels: a register
 * full of words is loaded at a time, and the words of equal number of all work-items are brought together by rounds of
 * shuffles, one for each factor of two in their number and one for what is left, as for the 3 of a float3 without a
 * gap; the other way round for stores. Numbers smaller than a word are cut out of it.
 */
#include "fuser/cpu/lower/interleaved.h"

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/simd/x86_interleave.h"
#include "fuser/cpu/simd/x86_move.h"
#include "fuser/cpu/simd/x86_triples.h"
#include "fuser/cpu/target/isa.h"

enum { MAX_WORDS = 16 };

/* Words have 8 bytes where the numbers do, else 4. */
static enum ir_kind word_kind(const struct interleaved *a)
{
    return kind_bytes(a->kind) == 8 ? IR_KIND_I64 : IR_KIND_I32;
}

static unsigned words_of(const struct interleaved *a)
{
    return (unsigned)(a->stride / kind_bytes(word_kind(a)));
}

static uint64_t bytes_of(const struct interleaved *a)
{
    return (uint64_t)a->n * kind_bytes(a->kind);
}

static unsigned used_words(const struct interleaved *a)
{
    uint64_t word = kind_bytes(word_kind(a));
    return (unsigned)((bytes_of(a) + word - 1) / word);
}

/* Words that are no number: their registers are loaded and shuffled for nothing. */
enum { MOST_WORDS_PER_USED = 4 };

unsigned interleaved_most_own(const struct emit *e, unsigned bytes)
{
    enum { LEAST = 2, MOST = 8 };
    unsigned half = e->isa->vector_bytes / (bytes < 4 ? 4 : bytes) / 2;
    return half < LEAST ? LEAST : half < MOST ? half : MOST;
}

static unsigned odd_part(unsigned n)
{
    return n >> __builtin_ctz(n);
}

/* Each word is blended out of so many registers: with few lanes in each that takes as long as one by one. */
static unsigned most_odd(const struct emit *e, enum ir_kind kind)
{
    unsigned lanes = lanes_per_chunk(e, kind);
    return lanes < X86_MOST_ODD ? lanes + 1 - lanes % 2 : X86_MOST_ODD;
}

/* Three bytes, which are no word. */
static bool is_triples(const struct interleaved *a)
{
    return a->n == 3 && kind_bytes(a->kind) == 1 && a->stride == 3;
}

bool interleaved_can_load(const struct emit *e, const struct interleaved *a)
{
    uint64_t word = kind_bytes(word_kind(a)), words = a->stride / word, used = used_words(a);
    unsigned most = a->is_own ? interleaved_most_own(e, kind_bytes(a->kind)) : MOST_WORDS_PER_USED;
    if (e->width == 1 || e->exec.chunk || e->isa->id == CPU_ISA_GENERIC) return false;
    if (is_triples(a)) return true;
    if (a->stride % word || words < 2 - (word > kind_bytes(a->kind)) || words > MAX_WORDS) return false;
    if (odd_part(words) > most_odd(e, word_kind(a))) return false;
    if (bytes_of(a) < a->stride && bytes_of(a) % word) return false;
    if (bytes_of(a) < a->stride && !a->is_own && !x86_can_mask(e, word_kind(a))) return false;
    /* nothing is left of the last register */
    if (words - used >= lanes_per_chunk(e, word_kind(a)) && !a->is_own) return false;
    return bytes_of(a) <= a->stride && words <= most * used;
}

/* Around bytes that stay as they are words are written under masks, which only AVX-512 does fast, or written as they
   were, where nobody else sees it; but what loads other registers than were stored would wait for the cache. */
bool interleaved_can_store(const struct emit *e, const struct interleaved *a)
{
    bool keeps = (a->is_own && a->is_frame) || e->isa->bit_masks;
    return interleaved_can_load(e, a) && (bytes_of(a) == a->stride || keeps);
}

/* ---- shuffles ---- */

/* The words of a set that are even or odd, as words of half of the registers. */
static unsigned half_of(unsigned set, unsigned odd)
{
    unsigned half = 0;
    for (unsigned i = 0; i < MAX_WORDS / 2; i++) half |= (set >> (2 * i + odd) & 1) << i;
    return half;
}

static void split_odd(struct emit *e, enum ir_kind kind, lval *v, unsigned n, unsigned set)
{
    struct x86_odd odd;
    lval word[X86_MOST_ODD];
    x86_odd_begin(e, kind, n, &odd);
    for (unsigned w = 0; w < n; w++) word[w] = set >> w & 1 ? x86_odd_pick(e, &odd, v, w) : v[w];
    for (unsigned w = 0; w < n; w++) v[w] = word[w];
}

static void join_odd(struct emit *e, enum ir_kind kind, lval *v, unsigned n, unsigned set)
{
    struct x86_odd odd;
    lval word[X86_MOST_ODD];
    x86_odd_begin(e, kind, n, &odd);
    for (unsigned w = 0; w < n; w++) word[w] = set >> w & 1 ? v[w] : NULL;
    x86_odd_join(e, &odd, word, set, v);
}

/* n registers with n words of each work-item in turn become one register for each word of a set. */
static void split_words(struct emit *e, enum ir_kind kind, lval *v, unsigned n, unsigned set)
{
    if (n == 1) return;
    if (n % 2) {
        split_odd(e, kind, v, n, set);
        return;
    }
    lval half[2][MAX_WORDS];
    for (unsigned odd = 0; odd < 2; odd++) {
        if (!half_of(set, odd)) continue;
        for (unsigned i = 0; i < n / 2; i++) half[odd][i] = x86_every_other(e, kind, v[2 * i], v[2 * i + 1], odd);
        split_words(e, kind, half[odd], n / 2, half_of(set, odd));
    }
    for (unsigned i = 0; i < n; i++)
        if (set >> i & 1) v[i] = half[i % 2][i / 2];
}

/* The other way round; words that are not in the set become any. */
static void join_words(struct emit *e, enum ir_kind kind, lval *v, unsigned n, unsigned set)
{
    if (n == 1) return;
    if (n % 2) {
        join_odd(e, kind, v, n, set);
        return;
    }
    lval half[2][MAX_WORDS];
    unsigned sets[2] = {half_of(set, 0), half_of(set, 1)};
    for (unsigned i = 0; i < n; i++)
        if (set >> i & 1) half[i % 2][i / 2] = v[i];
    for (unsigned odd = 0; odd < 2; odd++)
        if (sets[odd]) join_words(e, kind, half[odd], n / 2, sets[odd]);
    for (unsigned i = 0; i < n / 2; i++) x86_zip(e, kind, half[!sets[0]][i], half[sets[1] > 0][i], v + 2 * i);
}

/* ---- memory ---- */

/* Of register number i of chunk c's words. */
static rval register_address(struct emit *e, const struct interleaved *a, unsigned c, unsigned i)
{
    enum ir_kind kind = word_kind(a);
    uint64_t lanes = lanes_per_chunk(e, kind), at = c * lanes * a->stride + i * lanes * kind_bytes(kind);
    at -= (uint64_t)a->before * kind_bytes(kind);
    return at ? jit_add(e, a->address, jit_int(e, IR_KIND_I64, at)) : a->address;
}

static rval chunk_of_triples(struct emit *e, const struct interleaved *a, unsigned c)
{
    return jit_add(e, a->address, jit_int(e, IR_KIND_I64, (uint64_t)c * lanes_per_chunk(e, IR_KIND_I32) * a->stride));
}

static lval register_at(struct emit *e, const struct interleaved *a, unsigned c, unsigned i)
{
    enum ir_kind kind = word_kind(a);
    return jit_memory(e, jit_vector(e, kind, lanes_per_chunk(e, kind)), register_address(e, a, c, i), a->align);
}

/* Words behind the last one that is used. */
static unsigned words_behind(const struct interleaved *a)
{
    return words_of(a) - a->before - used_words(a);
}

/* The register behind whose numbers there may be no memory. Behind what is this work-group's own there is some. */
static bool is_last(const struct emit *e, const struct interleaved *a, unsigned c, unsigned i)
{
    return !a->is_own && words_behind(a) && c + 1 == lanes_chunks(e, word_kind(a)) && i + 1 == words_of(a);
}

/* The last register without what comes after the last lane's numbers, which may be no memory. */
static lval load_last(struct emit *e, const struct interleaved *a, unsigned c, unsigned i)
{
    enum ir_kind kind = word_kind(a);
    unsigned n = lanes_per_chunk(e, kind), unused = words_behind(a);
    rval runs[MAX_WIDTH];
    /* Masks are those of 4-byte lanes: of 8-byte ones, those that matter come first. */
    for (unsigned lane = 0; lane < mask_lanes(e); lane++) runs[lane] = jit_int(e, IR_KIND_BOOL, lane + unused < n);
    lval mask = jit_keep(e, mask_build(e, runs));
    return x86_masked_load(e, &mask, kind, 0, register_address(e, a, c, i));
}

static lval load_register(struct emit *e, const struct interleaved *a, unsigned c, unsigned i)
{
    if (is_last(e, a, c, i)) return load_last(e, a, c, i);
    return jit_keep(e, jit_read(register_at(e, a, c, i)));
}

static void load_triples(struct emit *e, const struct interleaved *a, struct lanes *result)
{
    struct lanes word = lanes_varying(e, IR_KIND_I32);
    for (unsigned c = 0; c < lanes_chunks(e, IR_KIND_I32); c++)
        word.chunk[c] = x86_load_triples(e, chunk_of_triples(e, a, c));
    for (unsigned i = 0; i < 3; i++) result[i] = interleaved_number(e, a->kind, word, i);
}

static void store_triples(struct emit *e, const struct interleaved *a, const struct lanes *v)
{
    const struct lanes four[] = {v[0], v[1], v[2], lanes_int(e, a->kind, 0)};
    struct lanes word = interleaved_word(e, a->kind, four);
    lval *chunk = lanes_vectors(e, &word);
    for (unsigned c = 0; c < lanes_chunks(e, IR_KIND_I32); c++)
        x86_store_triples(e, chunk_of_triples(e, a, c), chunk[c]);
}

/* The words of the frame that are used. */
static unsigned used_set(const struct interleaved *a)
{
    return ((1u << used_words(a)) - 1) << a->before;
}

struct lanes interleaved_number(struct emit *e, enum ir_kind kind, struct lanes word, unsigned i)
{
    unsigned bits = kind_bytes(kind) * 8;
    if (kind_bytes(kind) >= 4) return op_bits(e, word, kind);
    return op_bits(e, op_field(e, kind_of_bytes(bits / 8), word, i * bits), kind);
}

void interleaved_load(struct emit *e, const struct interleaved *a, struct lanes *result)
{
    if (is_triples(a)) {
        load_triples(e, a, result);
        return;
    }
    enum ir_kind kind = word_kind(a);
    unsigned words = words_of(a), per_word = kind_bytes(kind) / kind_bytes(a->kind), used = used_words(a);
    struct lanes word[MAX_WORDS];
    for (unsigned w = 0; w < used; w++) word[w] = lanes_varying(e, kind);
    for (unsigned c = 0; c < lanes_chunks(e, kind); c++) {
        lval v[MAX_WORDS];
        for (unsigned i = 0; i < words; i++) v[i] = load_register(e, a, c, i);
        split_words(e, kind, v, words, used_set(a));
        for (unsigned w = 0; w < used; w++) word[w].chunk[c] = v[a->before + w];
    }
    for (unsigned i = 0; i < a->n; i++) result[i] = interleaved_number(e, a->kind, word[i / per_word], i % per_word);
}

static struct lanes as_integer(struct emit *e, struct lanes v)
{
    return op_bits(e, v, kind_of_bytes(kind_bytes(v.kind)));
}

struct lanes interleaved_word(struct emit *e, enum ir_kind kind, const struct lanes *v)
{
    unsigned bytes = kind_bytes(kind);
    if (bytes >= 4) return as_integer(e, v[0]);
    struct lanes r = lanes_int(e, IR_KIND_I32, 0);
    for (unsigned i = 0; i < 4 / bytes; i++) {
        struct lanes part = op1(e, IR_OP_ZEXT, IR_KIND_I32, as_integer(e, v[i]));
        if (i) part = op2(e, IR_OP_SHL, IR_KIND_I32, part, lanes_int(e, IR_KIND_I32, i * bytes * 8));
        r = i ? op2(e, IR_OP_OR, IR_KIND_I32, r, part) : part;
    }
    return r;
}

/* The same register as numbers of another size. */
static lval register_as(struct emit *e, enum ir_kind kind, lval v)
{
    return jit_keep(e, jit_bits(e, jit_read(v), jit_vector(e, kind, lanes_per_chunk(e, kind))));
}

void interleaved_split(struct emit *e, enum ir_kind kind, const struct lanes *pairs, struct lanes number[2])
{
    lval *both = lanes_vectors(e, pairs);
    for (unsigned odd = 0; odd < 2; odd++) {
        struct lanes word = lanes_varying(e, IR_KIND_I32);
        for (unsigned c = 0; c < lanes_chunks(e, IR_KIND_I32); c++) {
            lval low = register_as(e, IR_KIND_I32, both[2 * c]), high = register_as(e, IR_KIND_I32, both[2 * c + 1]);
            word.chunk[c] = x86_every_other(e, IR_KIND_I32, low, high, odd);
        }
        number[odd] = op_bits(e, word, kind);
    }
}

struct lanes interleaved_join(struct emit *e, const struct lanes number[2])
{
    struct lanes low = as_integer(e, number[0]), high = as_integer(e, number[1]);
    struct lanes pairs = lanes_varying(e, IR_KIND_I64);
    lval *lows = lanes_vectors(e, &low), *highs = lanes_vectors(e, &high);
    for (unsigned c = 0; c < lanes_chunks(e, IR_KIND_I32); c++) {
        lval both[2];
        x86_zip(e, IR_KIND_I32, lows[c], highs[c], both);
        for (unsigned i = 0; i < 2; i++) pairs.chunk[2 * c + i] = register_as(e, IR_KIND_I64, both[i]);
    }
    return pairs;
}

/* The lanes of register number i that are written, as bits. */
static unsigned written_lanes(const struct emit *e, const struct interleaved *a, unsigned i)
{
    unsigned bits = 0, n = lanes_per_chunk(e, word_kind(a)), set = used_set(a);
    for (unsigned lane = 0; lane < n; lane++) bits |= (set >> (i * n + lane) % words_of(a) & 1) << lane;
    return bits;
}

static lval written_mask(struct emit *e, const struct interleaved *a, unsigned i)
{
    rval runs[MAX_WIDTH];
    unsigned lanes = written_lanes(e, a, i);
    for (unsigned lane = 0; lane < mask_lanes(e); lane++) runs[lane] = jit_int(e, IR_KIND_BOOL, lanes >> lane & 1);
    return jit_keep(e, mask_build(e, runs));
}

/* For each register those of its words that are written: of AVX-512's, which have as many words of each work-item where
   these are a power of two, one does for all. */
static void make_masks(struct emit *e, const struct interleaved *a, lval *masks)
{
    unsigned words = words_of(a);
    for (unsigned i = 0; i < words; i++) masks[i] = i && odd_part(words) == 1 ? masks[0] : written_mask(e, a, i);
}

/* In memory that is this work-group's own the words between are written as they were: what loads whole registers later
   need not wait for the cache, as it would after masks. */
static void store_register(struct emit *e, const struct interleaved *a, unsigned c, unsigned i, lval mask, lval v)
{
    enum ir_kind kind = word_kind(a);
    unsigned lanes = written_lanes(e, a, i), all = (1u << lanes_per_chunk(e, kind)) - 1;
    if (!lanes) return;
    if (lanes == all) {
        jit_set(e, register_at(e, a, c, i), jit_read(v));
    } else if (a->is_own) {
        lval before = jit_keep(e, jit_read(register_at(e, a, c, i)));
        lval both = mask ? x86_masked_move(e, mask, kind, before, v) : x86_blend(e, kind, before, v, lanes);
        jit_set(e, register_at(e, a, c, i), jit_read(both));
    } else {
        x86_masked_store(e, &mask, kind, 0, register_address(e, a, c, i), jit_read(v));
    }
}

/* One word of each work-item in chunk c, among others. */
static void store_word(struct emit *e, const struct interleaved *a, unsigned c, const lval *masks, lval v)
{
    enum ir_kind kind = word_kind(a);
    for (unsigned i = 0; i < words_of(a); i++) {
        if (a->is_own) {
            lval before = jit_keep(e, jit_read(register_at(e, a, c, i)));
            jit_set(e, register_at(e, a, c, i), jit_read(x86_spread(e, kind, v, words_of(a), i, masks[i], before)));
        } else {
            lval words = x86_spread(e, kind, v, words_of(a), i, NULL, NULL);
            x86_masked_store(e, &masks[i], kind, 0, register_address(e, a, c, i), jit_read(words));
        }
    }
}

void interleaved_store(struct emit *e, const struct interleaved *a, const struct lanes *v)
{
    if (is_triples(a)) {
        store_triples(e, a, v);
        return;
    }
    enum ir_kind kind = word_kind(a);
    unsigned words = words_of(a), per_word = kind_bytes(kind) / kind_bytes(a->kind), used = used_words(a);
    struct lanes word[MAX_WORDS];
    lval *chunks[MAX_WORDS], masks[MAX_WORDS] = {NULL};
    bool masked = e->isa->bit_masks && used < words;
    if (masked) make_masks(e, a, masks);
    for (unsigned w = 0; w < used; w++) {
        word[w] = interleaved_word(e, a->kind, v + w * per_word);
        chunks[w] = lanes_vectors(e, &word[w]);
    }
    for (unsigned c = 0; c < lanes_chunks(e, kind); c++) {
        lval out[MAX_WORDS];
        if (masked && used == 1) {
            store_word(e, a, c, masks, chunks[0][c]);
            continue;
        }
        for (unsigned w = 0; w < used; w++) out[a->before + w] = chunks[w][c];
        join_words(e, kind, out, words, used_set(a));
        for (unsigned i = 0; i < words; i++) store_register(e, a, c, i, masks[i], out[i]);
    }
}
