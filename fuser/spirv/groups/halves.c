/*
 * Each wait of a work-group takes about as long as moving what it waits for, so three halvings are one round: of eight
 * numbers that lie equally far apart one work-item makes one. Of what is left in the end all make the same. The order
 * of the operations is the one that halving by halving has. Several reductions wait together.
 */
#include "fuser/spirv/groups/halves.h"

#include <spirv/unified1/spirv.h>

#include "fuser/spirv/base/branch.h"
#include "fuser/spirv/groups/exchange.h"
#include "fuser/spirv/numbers/words.h"

/* Numbers of a round, and those that are left at most when no more rounds are worth it: powers of two. */
enum { AT_ONCE = 8, HALVINGS = 3, LEFT = 4 };

struct halves {
    struct spw *w;
    struct spw_reduction *reductions;
    unsigned n_reductions;
    uint32_t n;
};

static uint32_t word(struct spw *w, unsigned opcode, uint32_t x, uint32_t y)
{
    return SPW_EMIT(w, opcode, spw_type_int(&w->m, 32, 1), x, y);
}

static uint32_t question(struct spw *w, unsigned opcode, uint32_t x, uint32_t y)
{
    return SPW_EMIT(w, opcode, spw_type_bool(&w->m, 1), x, y);
}

/* Where a number is, or if there is none, anywhere. */
struct source {
    uint32_t at, there;
};

static struct source source_at(const struct halves *h, uint32_t at)
{
    struct spw *w = h->w;
    uint32_t there = question(w, SpvOpULessThan, at, h->n), zero = spw_const_u32(&w->m, 0);
    return (struct source){SPW_EMIT(w, SpvOpSelect, spw_type_int(&w->m, 32, 1), there, at, zero), there};
}

static uint32_t number_of(const struct halves *h, unsigned r, struct source s)
{
    uint32_t bits = spw_exchange_get(h->w, r, s.at);
    return spw_from_words(h->w, h->reductions[r].t, &bits);
}

static void put(const struct halves *h, unsigned r, uint32_t own, uint32_t x)
{
    uint32_t words[2];
    spw_to_words(h->w, h->reductions[r].t, x, words);
    spw_exchange_put(h->w, r, own, words[0]);
}

static void take_in(const struct halves *h, unsigned r, uint32_t *x, uint32_t other, uint32_t where)
{
    struct spw *w = h->w;
    ir_type t = h->reductions[r].t;
    uint32_t both = spw_combined(w, t, h->reductions[r].op, *x, other);
    *x = where ? SPW_EMIT(w, SpvOpSelect, spw_part_type(w, t), where, both, *x) : both;
}

/* Some halvings, of which the last one is over distance `step`: only the first may find nobody behind. */
static uint32_t of_many(const struct halves *h, unsigned r, const struct source sources[AT_ONCE])
{
    uint32_t x[AT_ONCE];
    for (uint32_t i = 0; i < AT_ONCE; i++) x[i] = number_of(h, r, sources[i]);
    for (uint32_t half = AT_ONCE / 2; half; half /= 2)
        for (uint32_t i = 0; i < half; i++)
            take_in(h, r, &x[i], x[i + half], half == AT_ONCE / 2 ? sources[i + half].there : 0);
    return x[0];
}

/* By the first work-items, as many as the step is wide: nobody writes what another one reads. */
static void round_of(const struct halves *h, uint32_t own, uint32_t step)
{
    struct source sources[AT_ONCE];
    struct spw_if first = spw_if_begin(h->w, question(h->w, SpvOpULessThan, own, step));
    for (uint32_t i = 0; i < AT_ONCE; i++)
        sources[i] = source_at(h, word(h->w, SpvOpIAdd, own, word(h->w, SpvOpIMul, step, spw_const_u32(&h->w->m, i))));
    for (unsigned r = 0; r < h->n_reductions; r++) put(h, r, own, of_many(h, r, sources));
    spw_if_else(h->w, &first, 0);
    spw_if_end(h->w, &first, 0, 0);
    spw_exchange_wait(h->w);
}

/* While more are left than a round makes of them; gives the distance that comes then. */
static uint32_t rounds(const struct halves *h, uint32_t own, uint32_t distance)
{
    struct spw *w = h->w;
    uint32_t header = spw_id(&w->m), again = spw_id(&w->m), merge = spw_id(&w->m), test = spw_id(&w->m);
    uint32_t body = spw_id(&w->m), next = spw_id(&w->m), from = w->label, type = spw_type_int(&w->m, 32, 1);
    spw_jump(w, header);
    spw_label(w, header);
    uint32_t d = SPW_EMIT(w, SpvOpPhi, type, distance, from, next, again);
    spw_loop_merge(w, merge, again);
    spw_jump(w, test);
    spw_label(w, test);
    SPW_DO(w, SpvOpBranchConditional, question(w, SpvOpUGreaterThanEqual, d, spw_const_u32(&w->m, LEFT)), body, merge);
    spw_label(w, body);
    round_of(h, own, word(w, SpvOpShiftRightLogical, d, spw_const_u32(&w->m, HALVINGS - 1)));
    SPW_DO(w, SpvOpShiftRightLogical, type, next, d, spw_const_u32(&w->m, HALVINGS));
    spw_jump(w, again);
    spw_label(w, again);
    spw_jump(w, header);
    spw_label(w, merge);
    return d;
}

static void of_few(const struct halves *h, uint32_t distance)
{
    struct spw *w = h->w;
    struct source sources[LEFT];
    uint32_t due[LEFT], x[LEFT];
    for (uint32_t i = 0; i < LEFT; i++) sources[i] = source_at(h, spw_const_u32(&w->m, i));
    for (uint32_t half = LEFT / 2; half; half /= 2) {
        uint32_t far = question(w, SpvOpUGreaterThanEqual, distance, spw_const_u32(&w->m, half));
        for (uint32_t i = 0; i < half; i++)
            due[i + half] = SPW_EMIT(w, SpvOpLogicalAnd, spw_type_bool(&w->m, 1), far, sources[i + half].there);
    }
    for (unsigned r = 0; r < h->n_reductions; r++) {
        for (uint32_t i = 0; i < LEFT; i++) x[i] = number_of(h, r, sources[i]);
        for (uint32_t half = LEFT / 2; half; half /= 2)
            for (uint32_t i = 0; i < half; i++) take_in(h, r, &x[i], x[i + half], due[i + half]);
        h->reductions[r].x = x[0];
    }
}

void spw_reduce_by_halves(struct spw *w, struct spw_reduction *reductions, unsigned n_reductions, uint32_t own,
                          uint32_t n, uint32_t distance)
{
    struct halves h = {w, reductions, n_reductions, n};
    for (unsigned r = 0; r < n_reductions; r++) put(&h, r, own, reductions[r].x);
    spw_exchange_wait(w);
    of_few(&h, rounds(&h, own, distance));
    spw_exchange_wait(w);
}
