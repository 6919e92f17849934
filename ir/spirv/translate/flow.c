/* Splitting and joining of flows. */
#include "ir/spirv/translate/flow.h"

#include <string.h>

#include "ir/spirv/base/budget.h"
#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/values/values.h"

static void *alloc_bytes(struct spirv_body *s, size_t bytes)
{
    return arena_alloc(s->r->arena, bytes);
}

bool flow_visible(const struct ir_block *block, const struct ir_value *v)
{
    const struct ir_block *home = NULL;
    if (v->kind == IR_VALUE_RESULT) home = v->of.inst->parent;
    if (v->kind == IR_VALUE_BLOCK_ARG) home = v->of.block;
    if (!home) return true;
    while (block && block != home) block = block->parent ? block->parent->parent : NULL;
    return block == home;
}

/* ---- phis ---- */

static const struct spirv_inst *first_phi(const struct spirv_body *s, uint32_t node)
{
    const struct spirv_inst *i = s->cfg.nodes[node].label + 1;
    while (i->op == SpvOpLine || i->op == SpvOpNoLine) i++;
    return i->op == SpvOpPhi ? i : NULL;
}

static const struct spirv_inst *next_phi(const struct spirv_inst *i)
{
    do i++;
    while (i->op == SpvOpLine || i->op == SpvOpNoLine);
    return i->op == SpvOpPhi ? i : NULL;
}

static void add_type(void *data, uint32_t leaf, ir_type type, uint64_t offset)
{
    (void)offset;
    (*(ir_type **)data)[leaf] = type;
}

uint32_t flow_phi_types(struct spirv_body *s, uint32_t node, const ir_type **types)
{
    uint32_t n = 0, at = 0;
    for (const struct spirv_inst *i = first_phi(s, node); i; i = next_phi(i)) n += spirv_leaves(s->r, i->type);
    ir_type *all = alloc_bytes(s, n * sizeof *all);
    for (const struct spirv_inst *i = first_phi(s, node); i; i = next_phi(i)) {
        ir_type *own = all + at;
        spirv_each_leaf(s->r, i->type, add_type, &own);
        at += spirv_leaves(s->r, i->type);
    }
    *types = all;
    return n;
}

static uint32_t incoming_value(const struct spirv_inst *phi, uint32_t label)
{
    for (uint32_t k = 3; k + 1 < phi->n; k += 2)
        if (phi->words[k + 1] == label) return phi->words[k];
    return 0;
}

struct flow_target flow_edge(struct spirv_body *s, uint32_t from, uint32_t to)
{
    const ir_type *types;
    uint32_t n = flow_phi_types(s, to, &types), at = 0, label = s->cfg.nodes[from].label->id;
    struct ir_value **phis = alloc_bytes(s, n * sizeof(*phis));
    for (const struct spirv_inst *i = first_phi(s, to); i; i = next_phi(i)) {
        uint32_t id = incoming_value(i, label), leaves = spirv_leaves(s->r, i->type);
        struct ir_value *const *values = spirv_values(s, i, id);
        for (uint32_t k = 0; k < leaves; k++) phis[at++] = values[k];
    }
    return (struct flow_target){to, phis};
}

void flow_bind_phis(struct spirv_body *s, const struct flow_target *t)
{
    uint32_t at = 0;
    for (const struct spirv_inst *i = first_phi(s, t->node); i; i = next_phi(i)) {
        spirv_set_all(s, i->id, t->phis + at);
        at += spirv_leaves(s->r, i->type);
    }
}

bool flow_spend(struct spirv_body *s, uint64_t n)
{
    struct spirv_reader *r = s->r;
    if (spirv_failed(r)) return false;
    if (spirv_spend(&r->budget->values, n)) return true;
    spirv_fail(r, s->f->first, "control flow carries too many values");
    return false;
}

/* ---- parts of flows ---- */

struct flow flow_only(struct spirv_body *s, const struct flow *f, uint32_t i)
{
    struct flow one = {.n = 1, .targets = alloc_bytes(s, sizeof *one.targets)};
    one.targets[0] = f->targets[i];
    return one;
}

static struct ir_value *selects_target(struct spirv_body *s, const struct flow *f, uint32_t i)
{
    return ir_build2(&s->b, IR_OP_IEQ, IR_I32, f->selector, spirv_int(s, IR_I32, f->targets[i].node));
}

struct flow flow_without(struct spirv_body *s, struct flow *f, uint32_t i)
{
    struct flow rest = {.n = f->n - 1, .targets = f->targets, .selector = f->selector};
    memmove(rest.targets + i, rest.targets + i + 1, (rest.n - i) * sizeof *rest.targets);
    if (rest.n == 2) rest.cond = selects_target(s, &rest, 0);
    return rest;
}

struct ir_inst *flow_if(struct spirv_body *s, const struct flow *f, uint32_t i, struct ir_block **is,
                        struct ir_block **other)
{
    bool swap = f->n == 2 && i != f->yes;
    struct ir_value *cond = f->n == 2 ? f->cond : selects_target(s, f, i);
    struct ir_inst *inst = ir_build_if(&s->b, cond, NULL, 0);
    *is = inst->blocks[swap];
    *other = inst->blocks[!swap];
    return inst;
}

/* ---- joining ---- */

struct merge {
    struct spirv_body *s;
    struct ir_inst *inst;
    struct ir_block *blocks[2];
    const struct flow *flows[2];
    struct ir_value **yields[2];
    uint32_t n;
};

enum { RESULT_WORDS = 6 };

static struct ir_value *add_result(struct merge *m, ir_type type, struct ir_value *x, struct ir_value *y)
{
    struct ir_module *module = m->s->r->module;
    struct ir_value *v = ir_alloc(module, sizeof *v);
    *v = (struct ir_value){.type = type, .kind = IR_VALUE_RESULT, .index = m->n, .of.inst = m->inst};
    m->inst->results = arena_grow(module->arena, m->inst->results, m->n, sizeof(*m->inst->results));
    for (int k = 0; k < 2; k++) m->yields[k] = arena_grow(m->s->r->arena, m->yields[k], m->n, sizeof(**m->yields));
    m->inst->results[m->n] = v;
    m->yields[0][m->n] = x ? x : ir_undef(module, type);
    m->yields[1][m->n] = y ? y : ir_undef(module, type);
    m->inst->n_results = ++m->n;
    flow_spend(m->s, RESULT_WORDS);
    return v;
}

/* One value behind the if for x of the one block and y of the other; NULL: does not matter. */
static struct ir_value *join_values(struct merge *m, ir_type type, struct ir_value *x, struct ir_value *y)
{
    struct ir_value *either = x ? x : y;
    if (!x || !y || ir_value_same(x, y))
        if (flow_visible(m->inst->parent, either)) return either;
    return add_result(m, type, x, y);
}

/* How many targets two flows have together. */
static uint32_t count_all(const struct flow *f, const struct flow *g)
{
    uint32_t n = 0;
    for (uint32_t a = 0, b = 0; a < f->n || b < g->n; n++) {
        uint32_t x = a < f->n ? f->targets[a].node : CFG_NONE, y = b < g->n ? g->targets[b].node : CFG_NONE;
        a += x <= y;
        b += y <= x;
    }
    return n;
}

static void join_phis(struct merge *m, struct flow_target *t, const struct flow_target *x, const struct flow_target *y)
{
    const ir_type *types;
    uint32_t n = flow_phi_types(m->s, t->node, &types);
    struct ir_value **phis = alloc_bytes(m->s, n * sizeof(*phis));
    if (!flow_spend(m->s, n)) return;
    for (uint32_t p = 0; p < n; p++) phis[p] = join_values(m, types[p], x ? x->phis[p] : NULL, y ? y->phis[p] : NULL);
    t->phis = phis;
}

/* One flow often has all targets of the other: then its list stays, with other values. From the end on, so that no
   entry is written before it has been read. */
static void join_targets(struct merge *m, struct flow *all)
{
    const struct flow *f = m->flows[0], *g = m->flows[1], *larger = f->n > g->n ? f : g;
    all->n = count_all(f, g);
    all->targets = larger->targets;
    if (all->n > larger->n) {
        if (!flow_spend(m->s, 2 * (uint64_t)all->n)) all->n = 0;
        all->targets = alloc_bytes(m->s, all->n * sizeof *all->targets);
    }
    for (uint32_t k = all->n, a = f->n, b = g->n; k--;) {
        const struct flow_target *x = a ? &f->targets[a - 1] : NULL, *y = b ? &g->targets[b - 1] : NULL;
        uint32_t node = x && (!y || x->node > y->node) ? x->node : y->node;
        if (x && x->node != node) x = NULL;
        if (y && y->node != node) y = NULL;
        a -= x != NULL;
        b -= y != NULL;
        struct flow_target joined = {.node = node};
        join_phis(m, &joined, x, y);
        all->targets[k] = joined;
    }
}

/* Whether control goes to the first of two targets, at the end of a block with that flow. NULL: it does not end. */
static struct ir_value *goes_first(struct merge *m, unsigned k, const struct flow *all)
{
    const struct flow *f = m->flows[k];
    if (!f->n) return NULL;
    if (f->n == 1) return ir_const_bool(m->s->r->module, f->targets[0].node == all->targets[0].node);
    if (f->yes == 0) return f->cond;
    struct ir_builder b = ir_builder_at_end(m->blocks[k]);
    return ir_build1(&b, IR_OP_NOT, IR_BOOL, f->cond);
}

static struct ir_value *target_number(struct merge *m, unsigned k)
{
    const struct flow *f = m->flows[k];
    if (!f->n) return NULL;
    if (f->n == 1) return spirv_int(m->s, IR_I32, f->targets[0].node);
    if (f->n > 2) return f->selector;
    struct ir_builder b = ir_builder_at_end(m->blocks[k]);
    return ir_build3(&b, IR_OP_SELECT, IR_I32, f->cond, spirv_int(m->s, IR_I32, f->targets[f->yes].node),
                     spirv_int(m->s, IR_I32, f->targets[1 - f->yes].node));
}

static void join_choice(struct merge *m, struct flow *all)
{
    const struct flow *f = m->flows[0], *g = m->flows[1];
    if (all->n == 2 && f->n == 1 && g->n == 1) { /* the if's own condition decides */
        all->cond = m->inst->operands[0];
        const struct flow *on_true = m->blocks[0] == m->inst->blocks[0] ? f : g;
        all->yes = on_true->targets[0].node == all->targets[1].node;
    } else if (all->n == 2) {
        /* The flow that has a choice keeps its condition where it alone ends. */
        const struct flow *only = !f->n ? g : !g->n ? f : NULL;
        if (only && flow_visible(m->inst->parent, only->cond)) {
            all->cond = only->cond;
            all->yes = only->yes;
            return;
        }
        struct ir_value *x = goes_first(m, 0, all), *y = goes_first(m, 1, all);
        all->cond = join_values(m, IR_BOOL, x, y);
    } else if (all->n > 2) {
        struct ir_value *x = target_number(m, 0), *y = target_number(m, 1);
        all->selector = join_values(m, IR_I32, x, y);
    }
}

struct flow flow_merge(struct spirv_body *s, struct ir_inst *inst, struct ir_block *is, const struct flow *f,
                       struct ir_block *other, const struct flow *g)
{
    struct merge m = {.s = s, .inst = inst, .blocks = {is, other}, .flows = {f, g}};
    struct flow all = {0};
    join_targets(&m, &all);
    join_choice(&m, &all);
    for (unsigned k = 0; k < 2; k++) {
        if (!m.flows[k]->n) continue;
        struct ir_builder b = ir_builder_at_end(m.blocks[k]);
        b.loc = s->b.loc;
        ir_build(&b, IR_OP_YIELD, IR_VOID, m.yields[k], m.n);
    }
    if (!all.n) ir_build(&s->b, IR_OP_UNREACHABLE, IR_VOID, NULL, 0);
    return all;
}
