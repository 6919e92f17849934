/* Which parameters a pointer may come from: sets of pointers that flow into each other, in whatever order. */
#include "fuser/access_internal.h"

uint32_t access_number(const struct ir_value *v)
{
    return v->kind == IR_VALUE_CONST || v->kind == IR_VALUE_UNDEF ? 0 : v->scratch;
}

static uint32_t find(const struct access_walk *w, uint32_t n)
{
    while (w->parent[n] != n) n = w->parent[n] = w->parent[w->parent[n]];
    return n;
}

uint32_t access_origin(const struct access_walk *w, const struct ir_value *pointer)
{
    uint32_t n = access_number(pointer);
    return n ? find(w, n) : 0;
}

static void unite(struct access_walk *w, const struct ir_value *a, const struct ir_value *b)
{
    if (!ir_type_is_ptr(a->type)) return;
    uint32_t x = access_origin(w, a), y = access_origin(w, b);
    if (!x || !y || x == y) return;
    w->parent[y] = x;
    w->loose[x] |= w->loose[y];
}

static void set_loose(struct access_walk *w, const struct ir_value *v)
{
    w->loose[find(w, access_number(v))] = true;
}

/* What a terminator carries goes into the results of the if or loop it ends, or the parameters of the loop. */
static void flow(struct access_walk *w, const struct ir_inst *inst)
{
    const struct ir_inst *to = inst->parent->parent;
    while (to && inst->op != IR_OP_YIELD && to->op != IR_OP_LOOP) to = to->parent->parent;
    if (!to) return;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        if (inst->op == IR_OP_CONTINUE)
            unite(w, to->blocks[0]->args[i], inst->operands[i]);
        else
            unite(w, to->results[i], inst->operands[i]);
    }
}

static void visit(struct access_walk *w, const struct ir_inst *inst)
{
    switch (inst->op) {
    case IR_OP_ELEM:
    case IR_OP_FIELD:
    case IR_OP_SPACECAST: unite(w, inst->results[0], inst->operands[0]); return;
    case IR_OP_SELECT:
        unite(w, inst->results[0], inst->operands[1]);
        unite(w, inst->results[0], inst->operands[2]);
        return;
    case IR_OP_LOOP:
        for (uint32_t i = 0; i < inst->n_operands; i++) unite(w, inst->blocks[0]->args[i], inst->operands[i]);
        return;
    case IR_OP_YIELD:
    case IR_OP_BREAK:
    case IR_OP_CONTINUE: flow(w, inst); return;
    case IR_OP_IF:
    case IR_OP_VAR:
    case IR_OP_GLOBAL: return;
    default:
        for (uint32_t i = 0; i < inst->n_results; i++)
            if (ir_type_is_ptr(inst->results[i]->type)) set_loose(w, inst->results[i]);
    }
}

static void visit_block(struct access_walk *w, const struct ir_block *block)
{
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) {
        visit(w, inst);
        for (int i = 0; i < 2; i++)
            if (inst->blocks[i]) visit_block(w, inst->blocks[i]);
    }
}

void access_origins(struct access_walk *w)
{
    for (uint32_t i = 0; i < w->n_values; i++) w->parent[i] = i;
    visit_block(w, w->kernel->body);
}
