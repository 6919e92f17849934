/* Gives values their slots. */
#include "ir/interp/slots.h"

enum { UNUSED = UINT32_MAX };

struct numbering {
    struct slots *slots;
    uint32_t n_values, inst;
};

static void number_values(struct numbering *n, struct ir_value *const *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) values[i]->scratch = n->n_values++;
}

static void number_inst(struct ir_inst *inst, void *data)
{
    number_values(data, inst->results, inst->n_results);
    for (int b = 0; b < 2; b++)
        if (inst->blocks[b]) number_values(data, inst->blocks[b]->args, inst->blocks[b]->n_args);
}

static bool has_slot(const struct ir_value *v)
{
    return v->kind != IR_VALUE_CONST && v->kind != IR_VALUE_UNDEF;
}

static void note_uses(struct ir_inst *inst, void *data)
{
    struct numbering *n = data;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (has_slot(inst->operands[i])) n->slots->lives[inst->operands[i]->scratch].last = n->inst;
    n->inst++;
}

void slots_begin(struct slots *s, struct arena *arena, const struct ir_function *f, uint32_t first)
{
    struct numbering n = {.slots = s, .inst = first};
    *s = (struct slots){.n = 0};
    for (uint32_t i = 0; i < f->n_params; i++) f->params[i].value->scratch = n.n_values++;
    if (f->body) number_values(&n, f->body->args, f->body->n_args);
    if (f->body) ir_walk(f->body, number_inst, &n);
    s->lives = arena_alloc(arena, (n.n_values + 1) * sizeof *s->lives);
    for (uint32_t i = 0; i < n.n_values; i++) s->lives[i].last = UNUSED;
    if (f->body) ir_walk(f->body, note_uses, &n);
}

uint32_t slots_reserve(struct slots *s)
{
    return s->n++;
}

static void end_life(struct slot_life *life)
{
    if (!life->ended) return;
    life->next = *life->ended;
    *life->ended = life;
    life->ended = NULL;
}

uint32_t slots_define(struct slots *s, const struct ir_value *v, struct slot_life **ended)
{
    struct slot_life *life = &s->lives[v->scratch];
    life->lanes = ir_type_lanes(v->type);
    life->ended = ended;
    struct slot_life *free = s->free[life->lanes];
    life->slot = free ? free->slot : s->n;
    if (free)
        s->free[life->lanes] = free->next;
    else
        s->n += life->lanes;
    if (life->last == UNUSED) end_life(life);
    return life->slot;
}

uint32_t slots_use(struct slots *s, const struct ir_value *v, uint32_t inst)
{
    struct slot_life *life = &s->lives[v->scratch];
    if (life->last == inst) end_life(life);
    return life->slot;
}

void slots_free_ended(struct slots *s, struct slot_life **ended)
{
    for (struct slot_life *life = *ended, *next; life; life = next) {
        next = life->next;
        life->next = s->free[life->lanes];
        s->free[life->lanes] = life;
    }
    *ended = NULL;
}
