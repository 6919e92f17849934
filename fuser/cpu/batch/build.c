/* Making steps. */
#include "fuser/cpu/batch/build.h"

#include "ir/base/map.h"

enum { MOST_FIXED_COLUMNS = 256 };

/* ---- registers ---- */

batch_reg build_reg(struct build *k, enum ir_kind kind, bool uniform)
{
    k->regs = arena_grow(k->arena, k->regs, k->n_regs, sizeof *k->regs);
    k->regs[k->n_regs] = (struct virtual_reg){
        .size = (uint8_t)batch_size_of(kind), .kind = (uint8_t)kind, .uniform = uniform, .column = NO_REG};
    return k->n_regs++;
}

batch_reg build_fixed_reg(struct build *k, enum ir_kind kind, bool uniform)
{
    batch_reg r = build_reg(k, kind, uniform);
    k->regs[r].fixed = true;
    return r;
}

bool build_is_uniform(const struct build *k, batch_reg r)
{
    return k->regs[r].uniform;
}

enum ir_kind build_kind(const struct build *k, batch_reg r)
{
    return (enum ir_kind)k->regs[r].kind;
}

batch_reg build_input(struct build *k, struct input in, enum ir_kind kind)
{
    k->b->inputs = arena_grow(k->b->arena, k->b->inputs, k->b->n_inputs, sizeof *k->b->inputs);
    in.reg = build_fixed_reg(k, kind, true);
    in.column = NO_REG;
    in.size = (uint8_t)batch_size_of(kind);
    k->b->inputs[k->b->n_inputs++] = in;
    k->regs[in.reg].input = k->b->n_inputs;
    return in.reg;
}

batch_reg build_constant(struct build *k, enum ir_kind kind, uint64_t bits)
{
    struct map_entry *e = map_make(&k->constants[kind], bits);
    if (!e) arena_no_memory(sizeof *e);
    if (!e->number)
        e->number = build_input(k, (struct input){.kind = INPUT_CONSTANT, .value = bits}, kind) + (uint64_t)1;
    return (batch_reg)(e->number - 1);
}

bool build_is_constant(const struct build *k, batch_reg r, uint64_t *bits)
{
    uint32_t input = k->regs[r].input;
    if (!input || k->b->inputs[input - 1].kind != INPUT_CONSTANT) return false;
    *bits = k->b->inputs[input - 1].value;
    return true;
}

/* ---- steps ---- */

struct step *build_step(struct build *k, enum step_kind kind)
{
    k->steps = arena_grow(k->arena, k->steps, k->n_steps, sizeof *k->steps);
    struct step *s = &k->steps[k->n_steps++];
    *s = (struct step){.kind = (uint8_t)kind,
                       .r = NO_REG,
                       .in = {NO_REG, NO_REG, NO_REG, NO_REG},
                       .mask = {NO_MASK, NO_MASK, NO_MASK},
                       .target = UINT32_MAX};
    return s;
}

uint32_t build_label(struct build *k)
{
    k->labels = arena_grow(k->arena, k->labels, k->n_labels, sizeof *k->labels);
    return k->n_labels++;
}

void build_place_label(struct build *k, uint32_t label)
{
    k->labels[label] = k->n_steps;
}

uint32_t build_mask(struct build *k)
{
    return k->n_masks++;
}

uint32_t build_loop_begin(struct build *k)
{
    k->loops = arena_grow(k->arena, k->loops, k->n_loops, sizeof *k->loops);
    k->loops[k->n_loops] = (struct loop_span){k->n_steps, UINT32_MAX};
    return k->n_loops++;
}

void build_loop_end(struct build *k, uint32_t loop)
{
    k->loops[loop].end = k->n_steps;
}

void build_touch(struct build *k, batch_reg r)
{
    struct virtual_reg *v = &k->regs[r];
    if (!v->touched) v->first = k->n_steps;
    v->touched = true;
    v->last = k->n_steps;
}

/* ---- numbers in each lane ---- */

static void splat(struct build *k, batch_reg r, batch_reg column)
{
    struct step *s = build_step(k, STEP_SPLAT);
    s->r = column;
    s->in[0] = r;
    s->size = s->in_size[0] = k->regs[r].size;
    s->function = k->b->columns->splat[s->size];
}

batch_reg build_column(struct build *k, batch_reg r)
{
    if (!k->regs[r].uniform) return r;
    if (k->regs[r].column != NO_REG) return k->regs[r].column;
    uint32_t input = k->regs[r].input;
    bool fixed = input && k->n_fixed_columns < MOST_FIXED_COLUMNS;
    batch_reg column = build_reg(k, build_kind(k, r), false);
    k->regs[column].fixed = fixed;
    k->regs[r].column = column;
    if (fixed) {
        k->b->inputs[input - 1].column = column;
        k->n_fixed_columns++;
        return column;
    }
    splat(k, r, column);
    struct columns_made *made = arena_alloc(k->arena, sizeof *made);
    *made = (struct columns_made){r, k->made};
    k->made = made;
    return column;
}

struct columns_made *build_scope_begin(struct build *k)
{
    return k->made;
}

void build_scope_end(struct build *k, struct columns_made *before)
{
    for (; k->made != before; k->made = k->made->next) k->regs[k->made->reg].column = NO_REG;
}

void build_move(struct build *k, batch_reg r, batch_reg from)
{
    if (r == from) return;
    if (!k->regs[r].uniform) from = build_column(k, from);
    struct step *s = build_step(k, STEP_MOVE);
    s->r = r;
    s->in[0] = from;
    s->size = k->regs[r].size;
}
