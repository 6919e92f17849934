/*
 * Which kernels become coarser, and by how many.
 *
 * A condition of an id in bounds is the same for neighbours but at the bounds: they are taken to agree on it, which is
 * tested ahead of all else. Then accesses of neighbouring numbers under it are side by side.
 */
#include "fuser/coarsen/survey.h"

#include "fuser/passes/util.h"
#include "ir/core/facts.h"

enum {
    VECTOR_BYTES = 16,
    /* What work-items that compute more than this wait for is not memory; several at once would keep too many numbers.
     */
    MOST_COST = 250,
    LOOP_WEIGHT = 8,
    DEEPEST = 32
};

/* ---- what kernels must not have ---- */

struct look {
    struct coarse *c;
    uint32_t cost;
    bool refused;
};

/* About the instructions of a function; most are computed in f64, which keeps twice the registers. */
static uint32_t cost_of_function(const struct ir_inst *inst)
{
    switch (inst->op) {
    case IR_OP_MAD:
    case IR_OP_FMA:
    case IR_OP_FDIM:
    case IR_OP_FRACT:
    case IR_OP_MAXMAG:
    case IR_OP_MINMAG: return 2;
    case IR_OP_EXP:
    case IR_OP_LOG:
    case IR_OP_ERF:
    case IR_OP_RSQRT: return ir_type_kind(inst->type) == IR_KIND_F64 ? MOST_COST : 30;
    default: return MOST_COST;
    }
}

static uint32_t cost_of(const struct ir_inst *inst)
{
    unsigned lanes = ir_type_is_number(inst->type) ? ir_type_lanes(inst->type) : 1;
    if (ir_op_class(inst->op) == IR_CLASS_MATH) return cost_of_function(inst) * lanes;
    bool divides = ir_op_info(inst->op)->flags & IR_FLAG_PARTIAL;
    if (divides && ir_type_bits(inst->type) == 64) return MOST_COST * lanes; /* GPUs have no instruction for that */
    return (divides || inst->op == IR_OP_FDIV || inst->op == IR_OP_SQRT ? 10 : 1) * lanes;
}

/* It returns at its end only, and its variables are values. */
static bool is_taken(const struct ir_inst *inst)
{
    bool returns_early = inst->op == IR_OP_RETURN && inst->parent->parent;
    return pass_is_by_itself(inst) && inst->op != IR_OP_VAR && !returns_early;
}

static void look_at(struct ir_inst *inst, void *data)
{
    struct look *l = data;
    l->cost += cost_of(inst);
    l->refused |= !is_taken(inst);
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        ir_type t = inst->operands[i]->type;
        l->refused |= ir_type_is_ptr(t) && ir_type_space(t) == IR_SPACE_LOCAL;
    }
}

/* ---- what can be computed ahead of all else ---- */

enum { NOT_KNOWN, YES, NO };

static bool is_ahead(struct coarse *c, const struct ir_value *v)
{
    if (v->kind == IR_VALUE_CONST || v->kind == IR_VALUE_UNDEF || v->kind == IR_VALUE_PARAM) return true;
    uint8_t *known = &c->ahead[v->scratch];
    if (*known != NOT_KNOWN) return *known == YES;
    const struct ir_inst *inst = v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
    *known = NO;
    if (!inst || !pass_is_pure(inst) || ir_op_info(inst->op)->flags & IR_FLAG_PARTIAL) return false;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (!is_ahead(c, inst->operands[i])) return false;
    *known = YES;
    return true;
}

/* ---- conditions ---- */

static bool is_in_step(const struct coarse *c, const struct ir_value *v)
{
    if (v->kind == IR_VALUE_CONST || v->kind == IR_VALUE_UNDEF) return true;
    return c->u.values[v->scratch].kind != SHAPE_VARYING;
}

/* Comparisons of what grows from neighbour to neighbour, and what follows from several of them. */
static bool is_bound(const struct coarse *c, const struct ir_value *v, unsigned depth)
{
    if (coarse_is_uniform(c, v)) return true;
    const struct ir_inst *inst = v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
    if (!inst || depth == DEEPEST) return false;
    if (ir_op_class(inst->op) == IR_CLASS_COMPARISON && inst->n_operands == 2)
        return is_in_step(c, inst->operands[0]) && is_in_step(c, inst->operands[1]);
    if (inst->op != IR_OP_AND && inst->op != IR_OP_OR && inst->op != IR_OP_NOT && inst->op != IR_OP_SELECT)
        return false;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (!is_bound(c, inst->operands[i], depth + 1)) return false;
    return true;
}

static void see_condition(struct ir_inst *inst, void *data)
{
    struct coarse *c = data;
    if (inst->op != IR_OP_IF) return;
    const struct ir_value *v = inst->operands[0];
    if (!coarse_is_uniform(c, v) && is_ahead(c, v) && is_bound(c, v, 0)) c->assumed[v->of.inst->scratch].uniform = true;
}

static void see_loop(struct ir_inst *inst, void *data)
{
    struct look *l = data;
    l->refused |= inst->op == IR_OP_LOOP && l->c->u.divergent[inst->scratch];
}

/* ---- accesses ---- */

static bool moves(const struct ir_inst *inst)
{
    return inst->op == IR_OP_LOAD || inst->op == IR_OP_STORE;
}

/* Bytes of an access that lies right behind that of the work-item before; 0: it does not. */
static unsigned side_by_side(const struct coarse *c, const struct ir_inst *inst)
{
    if (!moves(inst) || !ir_type_is_number(inst->type) || ir_type_is_bool(inst->type)) return 0;
    enum ir_space space = ir_type_space(inst->operands[0]->type);
    const struct ir_value *p = inst->operands[0];
    if (coarse_is_uniform(c, p) || (space != IR_SPACE_GLOBAL && space != IR_SPACE_CONSTANT)) return 0;
    const struct shape *s = &c->u.values[p->scratch];
    uint64_t bytes = ir_type_size(c->kernel->module, inst->type);
    bool whole = s->kind == SHAPE_LINEAR && s->stride == (int64_t)bytes && ir_type_lanes(inst->type) != 3;
    return whole && bytes < VECTOR_BYTES ? (unsigned)bytes : 0;
}

static const struct ir_inst *maker(const struct ir_value *v)
{
    return v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
}

/* x + n and x - n: x. */
static const struct ir_value *without_constant(const struct ir_value *v, int64_t *n)
{
    const struct ir_inst *inst = maker(v);
    uint64_t by;
    *n = 0;
    if (!inst || (inst->op != IR_OP_ADD && inst->op != IR_OP_SUB) || ir_type_bits(v->type) < 32) return v;
    for (unsigned i = 0; i < 2; i++) {
        if (!ir_value_uint(inst->operands[i], &by) || (inst->op == IR_OP_SUB && i == 0)) continue;
        *n = ir_type_bits(v->type) == 32 ? (int32_t)by : (int64_t)by;
        if (inst->op == IR_OP_SUB) *n = (int64_t)(0 - (uint64_t)*n);
        return inst->operands[!i];
    }
    return v;
}

struct coarse_place survey_place(const struct coarse *c, const struct ir_inst *access)
{
    struct coarse_place p = {.type = access->type, .base = access->operands[0], .extension = IR_OP_ELEM};
    const struct ir_inst *address = maker(p.base);
    int64_t n;
    if (!address || address->op != IR_OP_ELEM) return p;
    p.base = address->operands[0];
    const struct ir_value *index = address->operands[1];
    const struct ir_inst *extended = maker(index);
    if (extended && (extended->op == IR_OP_SEXT || extended->op == IR_OP_ZEXT)) {
        p.extension = extended->op;
        index = extended->operands[0];
    }
    p.root = without_constant(index, &n);
    p.offset = (int64_t)((uint64_t)n * ir_type_size(c->kernel->module, address->type));
    return p;
}

bool survey_same_base(const struct coarse_place *a, const struct coarse_place *b)
{
    return a->type == b->type && a->base == b->base && a->root == b->root && a->extension == b->extension;
}

struct accesses {
    struct coarse *c;
    unsigned largest;       /* bytes of one that is side by side */
    uint32_t all, together; /* by how often they run */
    const struct ir_inst *wanted;
    bool found;
};

static void see_size(struct ir_inst *inst, void *data)
{
    struct accesses *a = data;
    unsigned bytes = side_by_side(a->c, inst);
    if (bytes > a->largest) a->largest = bytes;
}

/* Anchors come first: they say where vectors begin. */
static void see_anchor(struct ir_inst *inst, void *data)
{
    struct coarse *c = ((struct accesses *)data)->c;
    unsigned bytes = side_by_side(c, inst);
    if (bytes && is_ahead(c, inst->operands[0]) && survey_place(c, inst).offset % (int64_t)(bytes * c->items) == 0)
        c->joined[inst->scratch] = true;
}

static void find_anchor(struct ir_inst *inst, void *data)
{
    struct accesses *a = data;
    if (inst->op != IR_OP_LOAD || !a->c->joined[inst->scratch]) return;
    struct coarse_place x = survey_place(a->c, inst), y = survey_place(a->c, a->wanted);
    a->found |= survey_same_base(&x, &y);
}

/* A load that lies some numbers beside an anchor has all but these in common with it. */
static void see_access(struct ir_inst *inst, void *data)
{
    struct accesses *a = data;
    struct coarse *c = a->c;
    if (!moves(inst) || coarse_is_uniform(c, inst->operands[0])) return;
    uint32_t weight = 1;
    for (const struct ir_inst *l = ir_enclosing_loop(inst); l && weight < 1000; l = ir_enclosing_loop(l))
        weight *= LOOP_WEIGHT;
    a->all += weight;
    a->wanted = inst;
    a->found = c->joined[inst->scratch];
    if (!a->found && inst->op == IR_OP_LOAD && side_by_side(c, inst)) ir_walk(c->kernel->body, find_anchor, a);
    a->together += a->found ? weight : 0;
}

/* How many work-items make a vector of the widest numbers. */
static bool find_joined(struct coarse *c)
{
    struct accesses a = {.c = c};
    ir_walk(c->kernel->body, see_size, &a);
    if (!a.largest) return false;
    c->items = VECTOR_BYTES / a.largest > COARSE_MOST ? COARSE_MOST : VECTOR_BYTES / a.largest;
    c->joined = arena_alloc(c->arena, c->u.n_insts);
    ir_walk(c->kernel->body, see_anchor, &a);
    ir_walk(c->kernel->body, see_access, &a);
    return a.together * 2 > a.all;
}

bool survey(struct coarse *c)
{
    struct look l = {.c = c};
    const struct ir_block *body = c->kernel->body;
    ir_walk(c->kernel->body, look_at, &l);
    if (l.refused || body->last->op != IR_OP_RETURN) return false;
    uniformity_find(&c->u, c->arena, c->kernel, TOGETHER_ROW);
    c->ahead = arena_alloc(c->arena, c->u.n_values);
    c->assumed = arena_alloc(c->arena, c->u.n_insts * sizeof *c->assumed);
    ir_walk(c->kernel->body, see_condition, c);
    uniformity_find_where(&c->u, c->arena, c->kernel, TOGETHER_ROW, c->assumed);
    ir_walk(c->kernel->body, see_loop, &l);
    return !l.refused && l.cost <= MOST_COST && find_joined(c);
}
