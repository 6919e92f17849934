/*
 * Puts a module's functions into the form that the specification asks for, before they are validated. Translators put
 * out blocks in any order, so that uses come before definitions, hints of structure that do not hold, and variables
 * outside the first block. After this blocks stand in reverse postorder, those that cannot be reached are gone, as are
 * those that only lead on to another, variables come first, and there are neither merge instructions nor what is for
 * debuggers alone.
 */
#include "ir/spirv/canonicalize/block_order.h"

#include <string.h>

enum { MAX_HOPS = 64 };

struct block {
    uint32_t at, end; /* words: the label's first, and past the terminator's last */
    uint32_t last;    /* the terminator's first word */
    uint32_t line;    /* the last OpLine before the label, which goes on behind it; 0: none */
    uint32_t up;      /* block the walk came from, plus 1 */
    uint32_t next;    /* target to be looked at next */
    uint32_t phi;     /* the phi last put that says what comes from it */
    bool seen;
};

struct normalizer {
    struct spirv_words *m;
    const uint32_t *in;
    uint32_t n;
    uint32_t *out;
    uint32_t n_out;
    uint32_t *labels; /* by id: block of the function at hand, plus 1 */
    bool *defined;    /* by id: in what is kept */
    bool *has_body;   /* by id: of functions */
    struct block *blocks;
    uint32_t n_blocks;
    uint32_t *order;
    uint32_t n_order;
};

static unsigned op_at(const struct normalizer *z, uint32_t at)
{
    return z->in[at] & 0xffff;
}

static uint32_t length_at(const struct normalizer *z, uint32_t at)
{
    return z->in[at] >> 16;
}

/* What is not put where it stands, or means nothing. */
static bool is_dropped(unsigned op)
{
    return op == SpvOpNop || op == SpvOpVariable || op == SpvOpLoopMerge || op == SpvOpSelectionMerge ||
           op == SpvOpLoopControlINTEL;
}

static bool is_nothing(unsigned op)
{
    return op == SpvOpLine || op == SpvOpNoLine || is_dropped(op);
}

static uint32_t block_of(const struct normalizer *z, uint32_t label)
{
    return label < z->m->bound ? z->labels[label] : 0;
}

static uint32_t skip_nothing(const struct normalizer *z, uint32_t at, uint32_t end)
{
    while (at < end && is_nothing(op_at(z, at))) at += length_at(z, at);
    return at;
}

/* The block that control really gets to when it goes to one: past those that only lead on, where no phi asks
   which way it came. */
static uint32_t final_target(const struct normalizer *z, uint32_t label)
{
    for (unsigned hops = 0; hops < MAX_HOPS; hops++) {
        uint32_t k = block_of(z, label);
        if (!k) return label;
        const struct block *b = &z->blocks[k - 1];
        uint32_t first = skip_nothing(z, b->at + length_at(z, b->at), b->end);
        if (first >= b->end || first != b->last || op_at(z, first) != SpvOpBranch || length_at(z, first) < 2)
            return label;
        uint32_t to = z->in[first + 1], to_block = block_of(z, to);
        if (!to_block || to == label) return label;
        const struct block *t = &z->blocks[to_block - 1];
        uint32_t inner = skip_nothing(z, t->at + length_at(z, t->at), t->end);
        if (inner >= t->end || op_at(z, inner) == SpvOpPhi) return label;
        label = to;
    }
    return label;
}

/* ---- one function ---- */

static void find_blocks(struct normalizer *z, uint32_t at, uint32_t end)
{
    z->n_blocks = 0;
    struct block *b = NULL;
    uint32_t line = 0;
    for (; at < end; at += length_at(z, at)) {
        unsigned op = op_at(z, at);
        if (op == SpvOpLabel && length_at(z, at) == 2) {
            b = &z->blocks[z->n_blocks++];
            *b = (struct block){.at = at, .end = at, .last = at, .line = line};
            if (z->in[at + 1] < z->m->bound) z->labels[z->in[at + 1]] = z->n_blocks;
            line = 0;
        } else if (b && spirv_is_terminator(op)) {
            b->last = at;
            b->end = at + length_at(z, at);
            b = NULL;
            line = 0;
        } else if (!b && (op == SpvOpLine || op == SpvOpNoLine)) {
            line = op == SpvOpLine ? at : 0;
        }
    }
}

static void walk_blocks(struct normalizer *z)
{
    z->n_order = 0;
    uint32_t at = z->n_blocks ? 1 : 0;
    if (at) z->blocks[0].seen = true;
    while (at) {
        struct block *b = &z->blocks[at - 1];
        size_t place = b->end > b->last ? spirv_target(z->m, z->in, b->last, b->next++) : 0;
        if (!place) {
            z->order[z->n_order++] = at - 1;
            at = b->up;
            continue;
        }
        uint32_t to = block_of(z, final_target(z, z->in[place]));
        if (!to || z->blocks[to - 1].seen) continue;
        z->blocks[to - 1].seen = true;
        z->blocks[to - 1].up = at;
        at = to;
    }
}

static void put_words(struct normalizer *z, uint32_t at, uint32_t n)
{
    uint32_t type, id = spirv_result(z->m, z->in + at, &type);
    if (id) z->defined[id] = true;
    memcpy(z->out + z->n_out, z->in + at, n * sizeof *z->out);
    /* Gone since 1.4, and written by translators all the same: what stays may fail no more often. */
    if (op_at(z, at) == SpvOpAtomicCompareExchangeWeak) z->out[z->n_out] = n << 16 | SpvOpAtomicCompareExchange;
    z->n_out += n;
}

/* Without the ways that control cannot come, and one pair for each block: a switch can come in several ways. */
static void put_phi(struct normalizer *z, uint32_t at)
{
    uint32_t n = length_at(z, at), start = z->n_out;
    if (n < 3) {
        put_words(z, at, n);
        return;
    }
    put_words(z, at, 3);
    for (uint32_t k = at + 3; k + 1 < at + n; k += 2) {
        uint32_t from = block_of(z, z->in[k + 1]);
        if (!from || !z->blocks[from - 1].seen || z->blocks[from - 1].phi == at) continue;
        z->blocks[from - 1].phi = at;
        z->out[z->n_out++] = z->in[k];
        z->out[z->n_out++] = z->in[k + 1];
    }
    z->out[start] = (z->n_out - start) << 16 | SpvOpPhi;
}

static void put_terminator(struct normalizer *z, uint32_t at)
{
    uint32_t start = z->n_out;
    size_t place;
    put_words(z, at, length_at(z, at));
    for (uint32_t k = 0; (place = spirv_target(z->m, z->in, at, k)); k++)
        z->out[start + place - at] = final_target(z, z->in[place]);
}

static void put_block(struct normalizer *z, const struct block *b)
{
    for (uint32_t at = b->at; at < b->end; at += length_at(z, at)) {
        unsigned op = op_at(z, at);
        if (is_dropped(op)) continue;
        if (op == SpvOpPhi) {
            put_phi(z, at);
        } else if (at == b->last) {
            put_terminator(z, at);
        } else {
            put_words(z, at, length_at(z, at));
        }
    }
}

static void put_variables(struct normalizer *z)
{
    for (uint32_t k = 0; k < z->n_blocks; k++) {
        const struct block *b = &z->blocks[k];
        if (!b->seen) continue;
        for (uint32_t at = b->at; at < b->end; at += length_at(z, at))
            if (op_at(z, at) == SpvOpVariable) put_words(z, at, length_at(z, at));
    }
}

static void put_function(struct normalizer *z, uint32_t start, uint32_t end)
{
    uint32_t at = start;
    while (at < end && op_at(z, at) != SpvOpLabel) at += length_at(z, at);
    uint32_t label = at;
    for (at = start; at < label; at += length_at(z, at)) put_words(z, at, length_at(z, at));
    find_blocks(z, label, end);
    if (z->n_blocks && length_at(z, start) > 2 && z->in[start + 2] < z->m->bound) z->has_body[z->in[start + 2]] = true;
    walk_blocks(z);
    for (uint32_t k = z->n_order; k--;) {
        struct block body = z->blocks[z->order[k]];
        uint32_t n = length_at(z, body.at);
        put_words(z, body.at, n);
        body.at += n;
        if (k == z->n_order - 1) put_variables(z);
        if (body.line) put_words(z, body.line, length_at(z, body.line));
        put_block(z, &body);
    }
    for (uint32_t k = 0; k < z->n_blocks; k++)
        if (z->in[z->blocks[k].at + 1] < z->m->bound) z->labels[z->in[z->blocks[k].at + 1]] = 0;
}

/* ---- the module ---- */

/* An import with a body, as compilers leave C's inline functions: the body is what it stands for. */
static bool imports_what_is_there(const struct normalizer *z, uint32_t at)
{
    uint32_t n = length_at(z, at);
    return op_at(z, at) == SpvOpDecorate && n > 4 && z->in[at + 1] < z->m->bound && z->has_body[z->in[at + 1]] &&
           z->in[at + 2] == SpvDecorationLinkageAttributes && z->in[at + n - 1] == SpvLinkageTypeImport;
}

/* Names and decorations of what is gone are dropped. */
static bool is_about(const struct normalizer *z, uint32_t at)
{
    switch (op_at(z, at)) {
    case SpvOpName:
    case SpvOpDecorate: {
        uint32_t id = length_at(z, at) > 1 ? z->in[at + 1] : 0;
        return id >= z->m->bound || z->defined[id];
    }
    default: return true;
    }
}

/* From the end of a function to the next one: lines, which may be told ahead of it. */
static uint32_t put_between(struct normalizer *z, uint32_t at)
{
    for (; at < z->n && op_at(z, at) != SpvOpFunction; at += length_at(z, at))
        if (op_at(z, at) != SpvOpNop) put_words(z, at, length_at(z, at));
    return at;
}

static void put_module(struct normalizer *z)
{
    /* The functions first, behind the room that the rest can take: they decide what names are about. */
    uint32_t first = SPIRV_HEADER_WORDS;
    while (first < z->n && op_at(z, first) != SpvOpFunction) first += length_at(z, first);
    z->n_out = first;
    for (uint32_t at = SPIRV_HEADER_WORDS, type; at < first; at += length_at(z, at))
        z->defined[spirv_result(z->m, z->in + at, &type)] = true;
    for (uint32_t at = first; (at = put_between(z, at)) < z->n;) {
        uint32_t end = at;
        while (end < z->n && op_at(z, end) != SpvOpFunctionEnd) end += length_at(z, end);
        put_function(z, at, end);
        if (end < z->n) put_words(z, end, length_at(z, end));
        at = end < z->n ? end + length_at(z, end) : end;
    }
    uint32_t n_functions = z->n_out - first;
    uint32_t *functions = z->out + first;
    z->n_out = SPIRV_HEADER_WORDS;
    for (uint32_t at = SPIRV_HEADER_WORDS; at < first; at += length_at(z, at))
        if (op_at(z, at) != SpvOpNop && is_about(z, at) && !imports_what_is_there(z, at))
            put_words(z, at, length_at(z, at));
    memmove(z->out + z->n_out, functions, n_functions * sizeof *functions);
    z->n_out += n_functions;
}

void spirv_order_blocks(struct spirv_words *m)
{
    struct normalizer z = {.m = m, .in = m->words, .n = (uint32_t)m->n_words};
    struct arena *a = m->arena;
    uint32_t n_labels = 0;
    for (uint32_t at = SPIRV_HEADER_WORDS; at < z.n; at += length_at(&z, at)) n_labels += op_at(&z, at) == SpvOpLabel;
    z.labels = arena_alloc(a, (m->bound + 1) * sizeof *z.labels);
    z.defined = arena_alloc(a, m->bound + 1);
    z.has_body = arena_alloc(a, m->bound + 1);
    z.blocks = arena_alloc(a, (n_labels + 1) * sizeof *z.blocks);
    z.order = arena_alloc(a, (n_labels + 1) * sizeof *z.order);
    z.out = arena_alloc(a, z.n * sizeof *z.out);
    memcpy(z.out, z.in, SPIRV_HEADER_WORDS * sizeof *z.out);
    put_module(&z);
    m->words = z.out;
    m->n_words = z.n_out;
}
