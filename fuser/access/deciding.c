/* Which scalar arguments decide where a kernel accesses memory: backwards from addresses and conditions. */
#include "fuser/access/deciding.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"

struct search {
    struct access_walk *walk;
    bool *seen;                    /* by number */
    const struct ir_value **stack; /* of values that decide, each once */
    uint32_t n;
};

static void decides(struct search *s, const struct ir_value *v)
{
    uint32_t number = access_value_number(v);
    if (!number || s->seen[number]) return;
    s->seen[number] = true;
    s->stack[s->n++] = v;
}

static void see_root(struct ir_inst *inst, void *data)
{
    struct search *s = data;
    bool all = inst->op == IR_OP_IF || inst->op == IR_OP_COPY || inst->op == IR_OP_CALL;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (all || ir_type_is_ptr(inst->operands[i]->type)) decides(s, inst->operands[i]);
}

static void see_terminator(struct ir_inst *inst, void *data)
{
    if (ir_op_class(inst->op) != IR_CLASS_CONTROL) return;
    for (uint32_t i = 0; i < inst->n_operands; i++) decides(data, inst->operands[i]);
}

/* What the value is made of. Of an if or a loop, all that it carries. */
static void see_value(struct search *s, const struct ir_value *v)
{
    if (v->kind == IR_VALUE_PARAM) s->walk->result->params[v->index].decides = true;
    const struct ir_inst *inst = v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
    if (v->kind == IR_VALUE_BLOCK_ARG) inst = v->of.block->parent;
    for (uint32_t i = 0; inst && i < inst->n_operands; i++) decides(s, inst->operands[i]);
    for (unsigned b = 0; inst && b < 2; b++)
        if (inst->blocks[b]) ir_walk(inst->blocks[b], see_terminator, s);
}

/* Of what is put and taken in loops nothing is proved by arguments. */
static bool is_decided(const struct access_analysis *a)
{
    for (uint32_t i = 0; i < a->n_params; i++) {
        const struct access_summary *s = &a->params[i];
        if (s->n_sites || s->n_pixels) return true;
        for (uint32_t k = 0; k < s->n_packets; k++)
            if (!s->packets[k].loop) return true;
    }
    return a->unknown_reads || a->unknown_writes || !a->has_pipes;
}

void deciding_find(struct access_walk *w)
{
    if (!is_decided(w->result)) return;
    struct search s = {.walk = w,
                       .seen = arena_realloc(NULL, w->n_values * sizeof *s.seen),
                       .stack = arena_realloc(NULL, w->n_values * sizeof *s.stack)};
    memset(s.seen, 0, w->n_values * sizeof *s.seen);
    ir_walk(w->kernel->body, see_root, &s);
    while (s.n) see_value(&s, s.stack[--s.n]);
    free(s.stack);
    free(s.seen);
}
