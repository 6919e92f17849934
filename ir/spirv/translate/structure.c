/*
 * Structured control flow from a reducible graph.
 *
 * Blocks are emitted along the tree of dominators: what a block dominates comes behind it or inside the ifs behind it.
 * A piece of code ends in a flow (flow.h): the blocks that control may go on at. A flow of one is simply followed by
 * that block's code, two that nothing else leads to become the two sides of an if; where several remain, the first of
 * them is emitted under a condition, which joins the rest. What leads to the header of a loop or out of it is a
 * continue or a break, where it stands. So diamonds and natural loops need no variables, and jumps across become
 * values that tell where control goes.
 */
#include "ir/spirv/translate/structure.h"

#include "ir/spirv/base/budget.h"
#include "ir/spirv/cfg/graph.h"
#include "ir/spirv/cfg/loops.h"
#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/location.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/calls.h"
#include "ir/spirv/translate/dispatch.h"
#include "ir/spirv/translate/flow.h"
#include "ir/spirv/translate/values/values.h"
#include "ir/verify/limits.h"

enum {
    MAX_DEPTH = IR_MAX_BLOCK_DEPTH - 4,
    MAX_ROW = 8 /* targets made into a row of else-ifs */,
    MAX_WAYS = 4 /* to one return */,
    STEP = 100 /* of effort */,
    STEP_TARGET = 24
};

/* Code of one block of ir. */
struct level {
    uint32_t loop;         /* the loop it is in */
    const uint32_t *roots; /* only what these dominate may be emitted here */
    uint32_t n_roots;
    unsigned depth;
};

static struct flow emit_level(struct spirv_body *s, const struct level *l, struct flow flow);

/* ---- terminators ---- */

static void emit_return(struct spirv_body *s, const struct spirv_inst *i)
{
    s->b.loc = spirv_loc(s->r, i);
    if (i->op == SpvOpUnreachable) {
        ir_build(&s->b, IR_OP_UNREACHABLE, IR_VOID, NULL, 0);
    } else {
        spirv_emit_return(s, i);
    }
}

static struct flow one_target(struct spirv_body *s, uint32_t from, uint32_t to)
{
    struct flow f = {.n = 1, .targets = arena_alloc(s->r->arena, sizeof *f.targets)};
    f.targets[0] = flow_edge(s, from, to);
    return f;
}

static struct flow all_targets(struct spirv_body *s, uint32_t node)
{
    const struct cfg_node *b = &s->cfg.nodes[node];
    struct flow f = {.n = b->n_succs, .targets = arena_alloc(s->r->arena, b->n_succs * sizeof *f.targets)};
    for (uint32_t k = 0; k < f.n; k++) f.targets[k] = flow_edge(s, node, b->succs[k]);
    return f;
}

static struct flow conditional_flow(struct spirv_body *s, uint32_t node, const struct spirv_inst *i)
{
    struct flow f = all_targets(s, node);
    if (f.n == 1) return f;
    f.cond = spirv_value(s, i, i->words[1]);
    f.yes = cfg_block(&s->cfg, i->words[2]) == f.targets[1].node;
    return f;
}

/* Calls `see` for each case of a switch whose block is not the default's. */
static struct ir_value *
fold_cases(struct spirv_body *s, const struct spirv_inst *i, struct ir_value *value, struct ir_value *start,
           struct ir_value *(*see)(struct spirv_body *, struct ir_value *, struct ir_value *, uint32_t))
{
    uint32_t wide = ir_type_bits(value->type) == 64, step = 2 + wide;
    for (uint32_t k = 3; k + step <= i->n; k += step) {
        uint64_t bits = i->words[k] | (wide ? (uint64_t)i->words[k + 1] << 32 : 0);
        if (i->words[k + 1 + wide] == i->words[2]) continue;
        struct ir_value *is = ir_build2(&s->b, IR_OP_IEQ, value->type, value, spirv_int(s, value->type, bits));
        start = see(s, start, is, cfg_block(&s->cfg, i->words[k + 1 + wide]));
    }
    return start;
}

static struct ir_value *or_case(struct spirv_body *s, struct ir_value *so_far, struct ir_value *is, uint32_t block)
{
    (void)block;
    return so_far ? ir_build2(&s->b, IR_OP_OR, IR_BOOL, so_far, is) : is;
}

static struct ir_value *select_case(struct spirv_body *s, struct ir_value *so_far, struct ir_value *is, uint32_t block)
{
    return ir_build3(&s->b, IR_OP_SELECT, IR_I32, is, spirv_int(s, IR_I32, block), so_far);
}

static struct flow switch_flow(struct spirv_body *s, uint32_t node, const struct spirv_inst *i)
{
    struct flow f = all_targets(s, node);
    if (f.n == 1) return f;
    struct ir_value *value = spirv_value(s, i, i->words[1]);
    uint32_t otherwise = cfg_block(&s->cfg, i->words[2]);
    if (f.n == 2) {
        f.cond = fold_cases(s, i, value, NULL, or_case);
        f.yes = f.targets[0].node == otherwise;
    } else {
        f.selector = fold_cases(s, i, value, spirv_int(s, IR_I32, otherwise), select_case);
    }
    return f;
}

/* Emits a block; gives where its terminator leads. */
static struct flow emit_block(struct spirv_body *s, uint32_t node)
{
    const struct cfg_node *b = &s->cfg.nodes[node];
    spirv_emit_block(s, b);
    if (spirv_failed(s->r)) return (struct flow){0};
    for (uint32_t e = 0; e < b->n_succs; e++)
        if (b->succs[e] > node) s->cfg.nodes[b->succs[e]].pending--;
    s->b.loc = spirv_loc(s->r, b->end);
    switch (b->end->op) {
    case SpvOpBranch: return one_target(s, node, b->succs[0]);
    case SpvOpBranchConditional: return conditional_flow(s, node, b->end);
    case SpvOpSwitch: return switch_flow(s, node, b->end);
    case SpvOpReturn:
    case SpvOpReturnValue:
    case SpvOpUnreachable: emit_return(s, b->end); break;
    default: spirv_fail(s->r, b->end, "cannot be read"); break;
    }
    return (struct flow){0};
}

/* ---- loops ---- */

static void add_leaf_type(void *data, uint32_t leaf, ir_type type, uint64_t offset)
{
    (void)offset;
    (*(ir_type **)data)[leaf] = type;
}

/* Results of a loop: the selector of its exits where there are several, their phis, the values that live on. */
static uint32_t result_types(struct spirv_body *s, const struct cfg_loop *loop, const ir_type **types)
{
    uint32_t n = loop->n_exits > 1;
    for (uint32_t k = 0; k < loop->n_exits; k++) n += flow_phi_types(s, loop->exits[k], types);
    for (uint32_t k = 0; k < loop->n_live; k++) n += spirv_leaves(s->r, spirv_type_of(s->r, loop->live[k]));
    ir_type *all = arena_alloc(s->r->arena, n * sizeof *all), *at = all;
    if (loop->n_exits > 1) *at++ = loop->n_exits == 2 ? IR_BOOL : IR_I32;
    for (uint32_t k = 0; k < loop->n_exits; k++) {
        const ir_type *phis;
        uint32_t n_phis = flow_phi_types(s, loop->exits[k], &phis);
        for (uint32_t p = 0; p < n_phis; p++) *at++ = phis[p];
    }
    for (uint32_t k = 0; k < loop->n_live; k++) {
        uint32_t type = spirv_type_of(s->r, loop->live[k]);
        spirv_each_leaf(s->r, type, add_leaf_type, &at);
        at += spirv_leaves(s->r, type);
    }
    *types = all;
    return n;
}

static struct flow loop_flow(struct spirv_body *s, const struct cfg_loop *loop, const struct ir_inst *inst)
{
    struct flow f = {.n = loop->n_exits, .targets = arena_alloc(s->r->arena, loop->n_exits * sizeof *f.targets)};
    struct ir_value *none = NULL, **at = inst->n_results ? inst->results : &none;
    if (f.n == 2) f.cond = *at++;
    if (f.n > 2) f.selector = *at++;
    for (uint32_t k = 0; k < f.n; k++) {
        const ir_type *types;
        f.targets[k] = (struct flow_target){loop->exits[k], at};
        at += flow_phi_types(s, loop->exits[k], &types);
    }
    for (uint32_t k = 0; k < loop->n_live; k++) {
        spirv_set_all(s, loop->live[k], at);
        at += spirv_leaves(s->r, spirv_type_of(s->r, loop->live[k]));
    }
    return f;
}

static struct flow emit_loop(struct spirv_body *s, const struct level *l, const struct flow_target *t)
{
    struct spirv_reader *r = s->r;
    const struct cfg_loop *loop = s->cfg.loops[t->node];
    const ir_type *types;
    uint32_t n_params = flow_phi_types(s, t->node, &types), n_results = result_types(s, loop, &types);
    s->b.loc = spirv_loc(r, s->cfg.nodes[t->node].end);
    struct ir_inst *inst = ir_build_loop(&s->b, t->phis, n_params, types, n_results);
    struct ir_block *outside = s->b.block;
    s->b.block = inst->blocks[0];
    flow_bind_phis(s, &(struct flow_target){t->node, inst->blocks[0]->args});
    struct level inner = {.loop = t->node, .roots = &t->node, .n_roots = 1, .depth = l->depth + 1};
    emit_level(s, &inner, emit_block(s, t->node));
    s->b.block = outside;
    if (loop->n_exits) return loop_flow(s, loop, inst);
    ir_build(&s->b, IR_OP_UNREACHABLE, IR_VOID, NULL, 0);
    return (struct flow){0};
}

/* ---- jumps ---- */

/* Also to a return that many ways lead to: one if inside the other would get deep. */
static bool is_jump(const struct spirv_body *s, const struct level *l, uint32_t node)
{
    const struct cfg_node *b = &s->cfg.nodes[node];
    if (b->only_returns && b->n_preds > MAX_WAYS) return true;
    return node == l->loop || !cfg_in_loop(&s->cfg, node, l->loop);
}

/* The innermost loop's results where it is left for a target. */
static void emit_break(struct spirv_body *s, const struct level *l, const struct flow_target *t)
{
    struct spirv_reader *r = s->r;
    const struct cfg_loop *loop = s->cfg.loops[l->loop];
    const ir_type *types;
    uint32_t n = result_types(s, loop, &types), at = 0;
    if (!flow_spend(s, n)) return;
    struct ir_value **values = arena_alloc(r->arena, n * sizeof(*values));
    if (loop->n_exits == 2) values[at++] = ir_const_bool(r->module, t->node == loop->exits[0]);
    if (loop->n_exits > 2) values[at++] = spirv_int(s, IR_I32, t->node);
    for (uint32_t k = 0; k < loop->n_exits; k++) {
        const ir_type *phis;
        uint32_t n_phis = flow_phi_types(s, loop->exits[k], &phis);
        for (uint32_t p = 0; p < n_phis; p++, at++)
            values[at] = loop->exits[k] == t->node ? t->phis[p] : ir_undef(r->module, phis[p]);
    }
    for (uint32_t k = 0; k < loop->n_live; k++) {
        uint32_t leaves = spirv_leaves(r, spirv_type_of(r, loop->live[k]));
        bool set = spirv_is_set(s, loop->live[k]);
        struct ir_value *const *own = set ? spirv_values(s, s->cfg.nodes[t->node].label, loop->live[k]) : NULL;
        for (uint32_t p = 0; p < leaves; p++, at++) {
            bool here = own && flow_visible(s->b.block, own[p]);
            values[at] = here ? own[p] : ir_undef(r->module, types[at]);
        }
    }
    ir_build(&s->b, IR_OP_BREAK, IR_VOID, values, n);
}

static void emit_jump(struct spirv_body *s, const struct level *l, const struct flow_target *t)
{
    if (t->node == l->loop) {
        const ir_type *types;
        uint32_t n = flow_phi_types(s, t->node, &types);
        if (flow_spend(s, n)) ir_build(&s->b, IR_OP_CONTINUE, IR_VOID, t->phis, n);
    } else if (l->loop != CFG_NONE && cfg_exit(s->cfg.loops[l->loop], t->node)) {
        emit_break(s, l, t);
    } else { /* it does nothing but return */
        flow_bind_phis(s, t);
        emit_return(s, s->cfg.nodes[t->node].end);
    }
}

/* Takes a target that leaves the level for good out of the flow. */
static struct flow take_jump(struct spirv_body *s, const struct level *l, struct flow *f, uint32_t i)
{
    if (f->n == 1) {
        emit_jump(s, l, &f->targets[i]);
        return (struct flow){0};
    }
    struct ir_block *is, *other, *here = s->b.block;
    flow_if(s, f, i, &is, &other);
    s->b.block = is;
    emit_jump(s, l, &f->targets[i]);
    s->b.block = other;
    ir_build(&s->b, IR_OP_YIELD, IR_VOID, NULL, 0);
    s->b.block = here;
    return flow_without(s, f, i);
}

/* ---- the rest ---- */

static bool may_emit(const struct spirv_body *s, const struct level *l, uint32_t node)
{
    for (uint32_t k = 0; k < l->n_roots; k++)
        if (cfg_dominates(&s->cfg, l->roots[k], node)) return true;
    return false;
}

/* Nothing else leads to it any more. */
static bool is_ready(const struct spirv_body *s, const struct level *l, uint32_t node)
{
    return may_emit(s, l, node) && !s->cfg.nodes[node].pending;
}

static struct flow enter_block(struct spirv_body *s, const struct level *l, const struct flow_target *t)
{
    if (s->cfg.loops[t->node]) return emit_loop(s, l, t);
    flow_bind_phis(s, t);
    return emit_block(s, t->node);
}

static struct flow run_inside(struct spirv_body *s, const struct level *l, struct ir_block *block,
                              const uint32_t *roots, uint32_t n_roots, struct flow f)
{
    struct ir_block *here = s->b.block;
    struct level inner = {.loop = l->loop, .roots = roots, .n_roots = n_roots, .depth = l->depth + 1};
    s->b.block = block;
    f = emit_level(s, &inner, f);
    s->b.block = here;
    return f;
}

/* A target that nothing comes back from: it goes into an if of its own, and the rest behind that. */
static bool take_end(struct spirv_body *s, const struct level *l, struct flow *f)
{
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t node = f->targets[i].node;
        if (!is_ready(s, l, node) || s->cfg.nodes[node].falls) continue;
        struct ir_block *is, *other;
        flow_if(s, f, i, &is, &other);
        struct flow back = run_inside(s, l, is, &node, 1, flow_only(s, f, i));
        if (back.n) spirv_fail(s->r, s->f->first, "control flow cannot be structured");
        struct ir_builder b = ir_builder_at_end(other);
        ir_build(&b, IR_OP_YIELD, IR_VOID, NULL, 0);
        *f = flow_without(s, f, i);
        return true;
    }
    return false;
}

/* The first target under a condition; the others, where nothing else leads to them, on the other side. */
static struct flow emit_branch(struct spirv_body *s, const struct level *l, struct flow *f, uint32_t i)
{
    uint32_t node = f->targets[i].node, n_rest = 0, rest_nodes[MAX_ROW];
    bool rest_ready = f->n <= MAX_ROW;
    for (uint32_t k = 0; rest_ready && k < f->n; k++) {
        if (k == i) continue;
        rest_nodes[n_rest++] = f->targets[k].node;
        rest_ready = is_ready(s, l, f->targets[k].node);
    }
    struct ir_block *is, *other, *here = s->b.block;
    struct ir_inst *inst = flow_if(s, f, i, &is, &other);
    struct flow taken = flow_only(s, f, i);
    s->b.block = other;
    struct flow rest = flow_without(s, f, i);
    s->b.block = here;
    struct flow first = run_inside(s, l, is, &node, 1, taken);
    if (rest_ready) rest = run_inside(s, l, other, rest_nodes, n_rest, rest);
    if (spirv_failed(s->r)) return (struct flow){0};
    return flow_merge(s, inst, is, &first, other, &rest);
}

static struct flow emit_target(struct spirv_body *s, const struct level *l, struct flow f, bool *stuck)
{
    for (uint32_t i = 0; i < f.n; i++)
        if (is_jump(s, l, f.targets[i].node)) return take_jump(s, l, &f, i);
    for (uint32_t i = 0; i < f.n; i++) {
        if (!may_emit(s, l, f.targets[i].node)) continue;
        if (f.n == 1) return enter_block(s, l, &f.targets[0]);
        if (take_end(s, l, &f)) return f;
        return emit_branch(s, l, &f, i);
    }
    *stuck = true;
    return f;
}

/* Emits what can be emitted at this level, from where a flow leads. */
static struct flow emit_level(struct spirv_body *s, const struct level *l, struct flow f)
{
    if (l->depth > MAX_DEPTH) spirv_fail(s->r, s->f->first, "control flow is more than %d blocks deep", MAX_DEPTH);
    bool stuck = false;
    while (f.n && !stuck && !spirv_failed(s->r)) {
        if (spirv_spend_effort(s->r->budget, STEP + f.n * STEP_TARGET)) {
            f = emit_target(s, l, f, &stuck);
        } else {
            spirv_fail(s->r, s->f->first, "control flow is too large: it would take too long to read");
        }
    }
    return spirv_failed(s->r) ? (struct flow){0} : f;
}

void spirv_structure(struct spirv_body *s)
{
    static const uint32_t entry = 0;
    struct level top = {.loop = CFG_NONE, .roots = &entry, .n_roots = 1, .depth = 1};
    emit_level(s, &top, emit_block(s, 0));
}
