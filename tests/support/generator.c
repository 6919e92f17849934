/* Random types, constants and choices among the values in sight. */
#include "tests/support/generator.h"

#include <stdlib.h>

#include "ir/core/float.h"

void gen_close(struct generator *g)
{
    free(g->visible);
    g->visible = NULL;
    g->n_visible = g->capacity = 0;
}

ir_type gen_int(struct generator *g)
{
    return IR_TYPE(IR_KIND_I8 + rng_below(&g->rng, 4), 1, 0);
}

ir_type gen_float(struct generator *g)
{
    return IR_TYPE(IR_KIND_F16 + rng_below(&g->rng, 3), 1, 0);
}

ir_type gen_scalar(struct generator *g)
{
    return rng_chance(&g->rng, 50) ? gen_int(g) : gen_float(g);
}

unsigned gen_lanes(struct generator *g)
{
    static const unsigned char lanes[] = {1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 8, 16};
    return lanes[rng_below(&g->rng, sizeof lanes)];
}

ir_type gen_vector_of(struct generator *g, ir_type element)
{
    static const unsigned char lanes[] = {2, 3, 4, 8, 16};
    return ir_type_with_lanes(element, lanes[rng_below(&g->rng, sizeof lanes)]);
}

/* Small numbers and the edges of the type more often than chance would have it. */
static uint64_t int_bits(struct generator *g, unsigned bits)
{
    uint64_t all = bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX, v = rng_next(&g->rng);
    switch (rng_below(&g->rng, 6)) {
    case 0: return v & all;
    case 1: return (0 - (v & 7)) & all;
    case 2: return ((uint64_t)1 << (bits - 1)) - (v & 1); /* largest and smallest signed number */
    default: return v & 15 & all;
    }
}

static uint64_t float_bits(struct generator *g, enum ir_kind kind)
{
    static const double edges[] = {0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 65504.0, 5.9604644775390625e-8};
    if (!g->executable && rng_chance(&g->rng, 30)) return int_bits(g, ir_type_bits(IR_TYPE(kind, 1, 0)));
    double v = (double)(int32_t)rng_below(&g->rng, 2001) / 16 - 62.5;
    if (rng_chance(&g->rng, 20)) v = edges[rng_below(&g->rng, sizeof edges / sizeof *edges)];
    return ir_float_bits(kind, v);
}

struct ir_value *gen_constant(struct generator *g, ir_type t)
{
    uint64_t lanes[IR_MAX_LANES];
    bool splat = rng_chance(&g->rng, 50);
    for (unsigned i = 0; i < IR_MAX_LANES; i++) {
        if (i && splat) {
            lanes[i] = lanes[0];
        } else if (ir_type_is_float(t)) {
            lanes[i] = float_bits(g, ir_type_kind(t));
        } else {
            lanes[i] = ir_type_is_bool(t) ? rng_below(&g->rng, 2) : int_bits(g, ir_type_bits(t));
        }
    }
    return ir_const(g->m, t, lanes);
}

struct ir_value *gen_define(struct generator *g, struct ir_value *v)
{
    if (!v) return NULL;
    if (g->n_visible == g->capacity) {
        g->capacity = g->capacity ? 2 * g->capacity : 64;
        g->visible = realloc(g->visible, g->capacity * sizeof(*g->visible));
        if (!g->visible) abort();
    }
    return g->visible[g->n_visible++] = v;
}

struct ir_value *gen_find_if(struct generator *g, bool (*fits)(ir_type t, const void *data), const void *data)
{
    if (!g->n_visible) return NULL;
    size_t start = rng_below(&g->rng, (uint32_t)g->n_visible);
    for (size_t i = 0; i < g->n_visible; i++) {
        struct ir_value *v = g->visible[(start + i) % g->n_visible];
        if (fits(v->type, data)) return v;
    }
    return NULL;
}

struct ir_value *gen_find_newest(struct generator *g, bool (*fits)(ir_type t, const void *data), const void *data)
{
    for (size_t i = g->n_visible; i; i--)
        if (fits(g->visible[i - 1]->type, data)) return g->visible[i - 1];
    return NULL;
}

static bool is_type(ir_type t, const void *data)
{
    return t == *(const ir_type *)data;
}

struct ir_value *gen_find(struct generator *g, ir_type t)
{
    return gen_find_if(g, is_type, &t);
}
