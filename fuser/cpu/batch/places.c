/* Where registers lie: a place is taken again once what lay there has been used for the last time, so that a frame
   grows with what is alive together. */
#include "fuser/cpu/batch/build.h"

/* Registers by the step at which they begin and end. */
struct lives {
    struct build *k;
    uint32_t *open; /* loops around the step, by number */
    uint32_t n_open, next_loop, step;
};

static void see(struct lives *l, batch_reg *reg)
{
    struct virtual_reg *v = *reg == NO_REG ? NULL : &l->k->regs[*reg];
    if (!v || v->fixed) return;
    if (!v->touched) v->first = l->step;
    v->touched = true;
    if (v->last < l->step) v->last = l->step;
    for (uint32_t i = 0; i < l->n_open; i++) {
        if (l->k->loops[l->open[i]].first <= v->first) continue;
        uint32_t end = l->k->loops[l->open[i]].end;
        if (v->last < end) v->last = end;
        return;
    }
}

static void each_reg(struct step *s, void (*visit)(struct lives *l, batch_reg *reg), struct lives *l)
{
    for (unsigned i = 0; i < 4; i++) visit(l, &s->in[i]);
    if (s->kind >= STEP_ATOMIC && s->kind <= STEP_BLOCK && s->details)
        for (uint32_t i = 0; i < s->details->n_results + s->details->n_operands; i++) visit(l, &s->details->more[i]);
    visit(l, &s->r);
}

static void find_lives(struct lives *l)
{
    struct build *k = l->k;
    l->open = arena_alloc(k->arena, (k->n_loops + 1) * sizeof *l->open);
    for (l->step = 0; l->step < k->n_steps; l->step++) {
        while (l->n_open && k->loops[l->open[l->n_open - 1]].end <= l->step) l->n_open--;
        while (l->next_loop < k->n_loops && k->loops[l->next_loop].first <= l->step)
            if (k->loops[l->next_loop].end > l->step)
                l->open[l->n_open++] = l->next_loop++;
            else
                l->next_loop++;
        each_reg(&k->steps[l->step], see, l);
    }
}

/* ---- places ---- */

/* Registers that begin at a step, and those that end behind it: lists by step. */
struct lists {
    batch_reg *begins, *ends;         /* by step: the first one */
    batch_reg *next_begin, *next_end; /* by register */
};

struct placing {
    struct build *k;
    struct lists lists;
    batch_reg free[2][4]; /* of those that have ended, the first: uniform or not; by size. The next one is next_begin */
    uint64_t bytes[2];
};

static void forget_free(struct placing *p)
{
    for (int uniform = 0; uniform < 2; uniform++)
        for (int size = 0; size < 4; size++) p->free[uniform][size] = NO_REG;
}

static void take_place(struct placing *p, struct virtual_reg *v)
{
    batch_reg *first = &p->free[v->uniform][v->size], taken = *first;
    if (taken != NO_REG) {
        v->place = p->k->regs[taken].place;
        *first = p->lists.next_begin[taken];
        return;
    }
    v->place = (uint32_t)p->bytes[v->uniform];
    p->bytes[v->uniform] += v->uniform ? 8 : 1u << v->size;
}

static void give_place(struct placing *p, batch_reg r)
{
    const struct virtual_reg *v = &p->k->regs[r];
    p->lists.next_begin[r] = p->free[v->uniform][v->size];
    p->free[v->uniform][v->size] = r;
}

static void list_regs(struct build *k, struct lists *l)
{
    size_t steps = ((size_t)k->n_steps + 1) * sizeof(batch_reg), regs = ((size_t)k->n_regs + 1) * sizeof(batch_reg);
    l->begins = arena_alloc(k->arena, steps);
    l->ends = arena_alloc(k->arena, steps);
    l->next_begin = arena_alloc(k->arena, regs);
    l->next_end = arena_alloc(k->arena, regs);
    for (uint32_t i = 0; i <= k->n_steps; i++) l->begins[i] = l->ends[i] = NO_REG;
    for (batch_reg r = 0; r < k->n_regs; r++) {
        const struct virtual_reg *v = &k->regs[r];
        if (v->fixed || !v->touched) continue;
        uint32_t last = v->last < k->n_steps ? v->last : k->n_steps;
        l->next_begin[r] = l->begins[v->first];
        l->begins[v->first] = r;
        l->next_end[r] = l->ends[last];
        l->ends[last] = r;
    }
}

static void give_places(struct placing *p)
{
    struct build *k = p->k;
    struct lists *l = &p->lists;
    list_regs(k, l);
    forget_free(p);
    for (batch_reg r = 0; r < k->n_regs; r++)
        if (k->regs[r].fixed) take_place(p, &k->regs[r]);
    for (uint32_t step = 0; step <= k->n_steps; step++) {
        /* A function may run while what calls it waits. */
        if (step < k->n_steps && k->steps[step].kind == STEP_BEGIN) forget_free(p);
        for (batch_reg r = l->begins[step], next; r != NO_REG; r = next) {
            next = l->next_begin[r];
            take_place(p, &k->regs[r]);
        }
        for (batch_reg r = l->ends[step]; r != NO_REG; r = l->next_end[r]) give_place(p, r);
    }
}

static batch_reg place_of(const struct build *k, batch_reg r)
{
    return r == NO_REG ? NO_REG : k->regs[r].place | (k->regs[r].uniform ? UNIFORM_BIT : 0);
}

static void put_place(struct lives *l, batch_reg *reg)
{
    *reg = place_of(l->k, *reg);
}

/* Columns lie at multiples of their numbers: the widest first would be as good. */
void build_finish(struct build *k)
{
    struct batch *b = k->b;
    struct lives l = {.k = k};
    struct placing p = {.k = k};
    find_lives(&l);
    give_places(&p);
    b->steps = arena_alloc(b->arena, k->n_steps * sizeof *b->steps);
    b->n_steps = k->n_steps;
    for (uint32_t i = 0; i < k->n_steps; i++) {
        struct step *s = &k->steps[i];
        each_reg(s, put_place, &l);
        for (unsigned o = 1; o < 3 && s->kind == STEP_COLUMN; o++)
            if (s->in[o] == NO_REG) s->in[o] = s->in[0];
        if (s->target != UINT32_MAX) s->target = k->labels[s->target];
        b->steps[i] = *s;
    }
    for (uint32_t i = 0; i < b->n_inputs; i++) {
        put_place(&l, &b->inputs[i].reg);
        put_place(&l, &b->inputs[i].column);
    }
    for (uint32_t i = 0; i < b->n_ids; i++) put_place(&l, &b->ids[i].reg);
    for (uint32_t i = 0; i < b->n_vars; i++) put_place(&l, &b->vars[i].reg);
    b->n_masks = k->n_masks;
    b->masks_at = (uint32_t)p.bytes[false];
    b->single_bytes = p.bytes[true];
    b->column_bytes = p.bytes[false] + k->n_masks;
}
