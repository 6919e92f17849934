/*
 * Which values are the same for the lanes that run together, which grow by a constant step from lane to
 * lane, and in which ifs and loops lanes may diverge. A fixed point over the structured IR: a shape starts
 * unknown and only moves towards varying.
 */
#include "fuser/cpu/prepare/uniformity.h"

#include <string.h>

#include "fuser/cpu/prepare/generic_cast.h"
#include "fuser/cpu/prepare/small_memory.h"
#include "fuser/passes/alias.h"
#include "ir/core/facts.h"

enum { UNKNOWN = -1 };

struct finder {
    struct uniformity *u;
    struct ir_module *module;
    enum together together;
    const struct assumed *assumed; /* by instruction number; NULL: nothing */
    bool changed;
};

/* ---- numbering ---- */

static void number_value(struct uniformity *u, struct ir_value *v)
{
    v->scratch = u->n_values++;
}

static void number_inst(struct ir_inst *inst, void *data)
{
    struct uniformity *u = data;
    inst->scratch = u->n_insts++;
    for (uint32_t i = 0; i < inst->n_results; i++) number_value(u, inst->results[i]);
    for (int b = 0; b < 2; b++)
        for (uint32_t i = 0; inst->blocks[b] && i < inst->blocks[b]->n_args; i++)
            number_value(u, inst->blocks[b]->args[i]);
}

/* ---- private variables ---- */

uint64_t private_group_items(const struct ir_function *kernel)
{
    const uint32_t *group = kernel->work_group_size;
    return (uint64_t)group[0] * group[1] * group[2];
}

ir_type private_array_leaf(const struct ir_module *module, ir_type t)
{
    while (ir_type_kind(t) == IR_KIND_ARRAY) t = module->arrays[ir_type_detail(t)].element;
    return t;
}

uint64_t private_item_step(const struct ir_inst *var)
{
    struct ir_module *m = var->parent->function->module;
    return ir_type_size(m, var->attrs.index ? private_array_leaf(m, var->type) : var->type);
}

uint64_t private_element_step(const struct ir_inst *elem)
{
    const struct ir_value *v = elem->operands[0];
    while (v->kind == IR_VALUE_RESULT && v->of.inst->op == IR_OP_ELEM) v = v->of.inst->operands[0];
    bool placed = v->kind == IR_VALUE_RESULT && v->of.inst->op == IR_OP_VAR && v->of.inst->attrs.index;
    return ir_type_size(elem->parent->function->module, elem->type) * (placed ? v->of.inst->attrs.index : 1);
}

/* ---- shapes ---- */

static struct shape shape_of(const struct finder *f, const struct ir_value *v)
{
    if (v->kind == IR_VALUE_CONST || v->kind == IR_VALUE_UNDEF) return (struct shape){SHAPE_UNIFORM, 0, false};
    return f->u->values[v->scratch];
}

static bool is_known(struct shape s)
{
    return (int)s.kind != UNKNOWN;
}

static const struct shape uniform_shape = {SHAPE_UNIFORM, 0, false}, varying_shape = {SHAPE_VARYING, 0, false};
static const struct shape unknown_shape = {(enum shape_kind)UNKNOWN, 0, false};

static struct shape linear_shape(int64_t stride, bool wraps)
{
    if (!stride) return wraps ? varying_shape : uniform_shape;
    return (struct shape){SHAPE_LINEAR, stride, wraps};
}

static void set_shape(struct finder *f, const struct ir_value *v, struct shape s)
{
    struct shape *old = &f->u->values[v->scratch];
    if (!is_known(s) || old->kind == SHAPE_VARYING) return;
    if (is_known(*old) && (old->kind != s.kind || old->stride != s.stride)) s = varying_shape;
    s.wraps = s.wraps || (is_known(*old) && old->wraps);
    if (old->kind == s.kind && old->stride == s.stride && old->wraps == s.wraps) return;
    *old = s;
    f->changed = true;
}

static void set_divergent(struct finder *f, const struct ir_inst *inst)
{
    if (f->u->divergent[inst->scratch]) return;
    f->u->divergent[inst->scratch] = true;
    f->changed = true;
}

static int64_t in_width(int64_t stride, ir_type t)
{
    unsigned bits = ir_type_bits(t);
    return bits < 64 ? (int64_t)((uint64_t)stride << (64 - bits)) >> (64 - bits) : stride;
}

static int64_t times(int64_t a, uint64_t b)
{
    return (int64_t)((uint64_t)a * b);
}

/* Lanes whose addresses lie so far apart are in memory larger than small. */
enum { LONGEST_STEP = 1 << 24 };

/* The address of an element whose index is linear. */
static struct shape element_shape(const struct finder *f, const struct ir_inst *inst, struct shape base,
                                  struct shape index)
{
    unsigned bits = ir_type_bits(inst->operands[1]->type);
    int64_t stride = base.stride + times(index.stride, private_element_step(inst));
    bool wraps = base.wraps || index.wraps || (bits == 32 && index.stride);
    if (bits < 32 && index.stride) return varying_shape;
    if (!wraps) return linear_shape(stride, false);
    const struct ir_value *p = inst->operands[0];
    bool is_small = p->kind != IR_VALUE_CONST && p->kind != IR_VALUE_UNDEF && f->u->small[p->scratch];
    return is_small && stride < LONGEST_STEP && stride > -LONGEST_STEP ? linear_shape(stride, true) : varying_shape;
}

/* x & mask, where the mask keeps all of the low 32 bits. */
static struct shape low_bits_shape(const struct ir_inst *inst, struct shape a, struct shape b)
{
    uint64_t mask;
    struct shape x = a.kind == SHAPE_LINEAR ? a : b;
    if (!ir_value_uint(inst->operands[a.kind == SHAPE_LINEAR], &mask)) return varying_shape;
    return mask >= UINT32_MAX && !(mask & (mask + 1)) ? linear_shape(x.stride, true) : varying_shape;
}

/* x >> n, where steps are made of what is left. */
static struct shape high_bits_shape(const struct ir_inst *inst, struct shape x)
{
    uint64_t n;
    if (!ir_value_uint(inst->operands[1], &n) || n > 32 || x.wraps || ir_type_bits(inst->type) != 64)
        return varying_shape;
    bool is_even = !(x.stride & (((int64_t)1 << n) - 1));
    return is_even ? linear_shape(x.stride >> n, true) : varying_shape;
}

/* An operation some of whose operands are linear, none varying. */
static struct shape linear_result(const struct finder *f, const struct ir_inst *inst)
{
    ir_type t = inst->results[0]->type;
    if (ir_type_lanes(t) > 1) return varying_shape;
    struct shape a = shape_of(f, inst->operands[0]), b = uniform_shape;
    if (inst->n_operands > 1) b = shape_of(f, inst->operands[1]);
    bool wraps = a.wraps || b.wraps;
    uint64_t factor;
    switch (inst->op) {
    case IR_OP_ADD: return linear_shape(in_width(a.stride + b.stride, t), wraps);
    case IR_OP_SUB: return linear_shape(in_width(a.stride - b.stride, t), wraps);
    case IR_OP_NEG: return linear_shape(in_width(-a.stride, t), wraps);
    case IR_OP_MUL:
        if (ir_value_uint(inst->operands[1], &factor)) return linear_shape(in_width(times(a.stride, factor), t), wraps);
        if (ir_value_uint(inst->operands[0], &factor)) return linear_shape(in_width(times(b.stride, factor), t), wraps);
        return varying_shape;
    case IR_OP_SHL:
        if (!ir_value_uint(inst->operands[1], &factor)) return varying_shape;
        return linear_shape(in_width(times(a.stride, 1ull << (factor & (ir_type_bits(t) - 1))), t), wraps);
    case IR_OP_ITRUNC: return linear_shape(in_width(a.stride, t), false); /* of 32 bits at most: exact again */
    case IR_OP_AND: return low_bits_shape(inst, a, b);
    case IR_OP_ASHR:
    case IR_OP_LSHR: return high_bits_shape(inst, a);
    case IR_OP_SEXT:
    case IR_OP_ZEXT: return ir_type_bits(inst->operands[0]->type) == 32 ? linear_shape(a.stride, true) : varying_shape;
    case IR_OP_PTRTOINT: return ir_type_bits(t) == 64 ? a : varying_shape;
    case IR_OP_INTTOPTR: return ir_type_bits(inst->operands[0]->type) == 64 && !wraps ? a : varying_shape;
    case IR_OP_SPACECAST: return generic_cast_may_be_null(inst) ? varying_shape : a;
    case IR_OP_FIELD: return a;
    case IR_OP_ELEM: return element_shape(f, inst, a, b);
    default: return varying_shape;
    }
}

static struct shape pure_result(const struct finder *f, const struct ir_inst *inst)
{
    bool linear = false;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        struct shape s = shape_of(f, inst->operands[i]);
        if (!is_known(s)) return unknown_shape;
        if (s.kind == SHAPE_VARYING) return varying_shape;
        linear = linear || s.kind == SHAPE_LINEAR;
    }
    return linear ? linear_result(f, inst) : uniform_shape;
}

/* What the lanes of a vector have in common; others need not. */
static struct shape of_vector(const struct finder *f, struct shape s)
{
    return f->together == TOGETHER_ROW || f->together == TOGETHER_FLAT ? s : varying_shape;
}

static struct shape in_row(const struct finder *f, struct shape s)
{
    return f->together == TOGETHER_ROW ? s : varying_shape;
}

static struct shape id_shape(const struct finder *f, const struct ir_inst *id)
{
    unsigned dim = id->attrs.dim;
    if (f->together == TOGETHER_GROUPS) return dim == 0 && id->op != IR_OP_LOCAL_ID ? varying_shape : uniform_shape;
    if (id->op == IR_OP_GROUP_ID) return uniform_shape;
    if (f->together == TOGETHER_COLUMN) return dim == 1 ? linear_shape(1, false) : uniform_shape;
    return in_row(f, dim == 0 ? linear_shape(1, false) : uniform_shape);
}

/* What grows, so many times. */
static struct shape product_shape(const struct finder *f, const struct ir_inst *inst, unsigned factor)
{
    struct shape a = shape_of(f, inst->operands[0]), b = shape_of(f, inst->operands[1]);
    if (!is_known(a) || !is_known(b)) return unknown_shape;
    if (a.kind == SHAPE_VARYING || b.kind == SHAPE_VARYING) return varying_shape;
    return linear_shape(in_width(times(a.stride + b.stride, factor), inst->type), a.wraps || b.wraps);
}

static struct shape result_shape(const struct finder *f, const struct ir_inst *inst)
{
    const struct assumed *assumed = f->assumed ? &f->assumed[inst->scratch] : NULL;
    if (assumed && assumed->uniform) return uniform_shape;
    if (assumed && assumed->same) return shape_of(f, assumed->same);
    if (assumed && assumed->grows_as) return shape_of(f, assumed->grows_as);
    if (assumed && assumed->factor) return product_shape(f, inst, assumed->factor);
    switch (inst->op) {
    case IR_OP_GROUP_ALL ... IR_OP_GROUP_REDUCE:
        return inst->attrs.scope == IR_SCOPE_SUB_GROUP ? of_vector(f, uniform_shape) : uniform_shape;
    case IR_OP_GLOBAL_ID:
    case IR_OP_GROUP_ID:
    case IR_OP_LOCAL_ID: return id_shape(f, inst);
    case IR_OP_GLOBAL_LINEAR_ID: return in_row(f, linear_shape(1, false));
    case IR_OP_LOCAL_LINEAR_ID:
    case IR_OP_SUB_GROUP_LOCAL_ID: return of_vector(f, linear_shape(1, false));
    case IR_OP_SUB_GROUP_SIZE:
    case IR_OP_SUB_GROUP_ID:
    case IR_OP_SUB_GROUP_BALLOT:
    case IR_OP_SUB_GROUP_ALL_EQUAL: return of_vector(f, uniform_shape);
    case IR_OP_SUB_GROUP_SHUFFLE: {
        struct shape from = shape_of(f, inst->operands[1]);
        return !is_known(from) || from.kind == SHAPE_UNIFORM ? of_vector(f, from) : varying_shape;
    }
    case IR_OP_VAR: return of_vector(f, linear_shape((int64_t)private_item_step(inst), false));
    case IR_OP_LOAD: {
        struct shape p = shape_of(f, inst->operands[0]);
        return !is_known(p) ? p : p.kind == SHAPE_UNIFORM && !inst->attrs.is_volatile ? uniform_shape : varying_shape;
    }
    default: return ir_op_info(inst->op)->flags & IR_FLAG_PURE ? pure_result(f, inst) : varying_shape;
    }
}

/* ---- control flow ---- */

/* Whether lanes may have diverged between `inside` and the construct around it that ends at `target`. */
static bool diverged(const struct finder *f, const struct ir_inst *inside, const struct ir_inst *target)
{
    for (const struct ir_inst *i = inside->parent->parent; i && i != target; i = i->parent->parent)
        if (f->u->divergent[i->scratch]) return true;
    return false;
}

/* A return that only some lanes take makes them diverge in each loop around it. */
static void see_return(struct finder *f, const struct ir_inst *inst)
{
    if (!diverged(f, inst, NULL)) return;
    for (const struct ir_inst *i = inst->parent->parent; i; i = i->parent->parent)
        if (i->op == IR_OP_LOOP) set_divergent(f, i);
}

/* The predecessors of a join: whether they bring the same value, and whether all lanes come from the same one. */
struct join {
    struct finder *f;
    const struct ir_inst *target;
    enum ir_op op;
    uint32_t index;
    const struct ir_value *same;
    bool differ, divergent;
    unsigned n;
    struct shape shape;
};

static void see_predecessor(struct ir_inst *inst, void *data)
{
    struct join *j = data;
    if (inst->op != j->op || ir_terminator_target(inst) != j->target || j->index >= inst->n_operands) return;
    const struct ir_value *v = inst->operands[j->index];
    if (j->n++ && !ir_value_same(v, j->same)) j->differ = true;
    j->same = v;
    j->divergent = j->divergent || diverged(j->f, inst, j->target);
    struct shape s = shape_of(j->f, v);
    if (!is_known(s)) return;
    if (s.wraps || (is_known(j->shape) && (j->shape.kind != s.kind || j->shape.stride != s.stride))) s = varying_shape;
    if (!is_known(j->shape) || j->shape.kind != SHAPE_VARYING) j->shape = s;
}

static struct join join_of(struct finder *f, struct ir_inst *target, enum ir_op op, uint32_t index)
{
    struct join j = {.f = f, .target = target, .op = op, .index = index, .shape = unknown_shape};
    for (int b = 0; b < 2; b++)
        if (target->blocks[b]) ir_walk(target->blocks[b], see_predecessor, &j);
    return j;
}

static void join_if(struct finder *f, struct ir_inst *inst)
{
    struct shape condition = shape_of(f, inst->operands[0]);
    if (is_known(condition) && condition.kind != SHAPE_UNIFORM) set_divergent(f, inst);
    for (uint32_t i = 0; i < inst->n_results; i++) {
        struct join j = join_of(f, inst, IR_OP_YIELD, i);
        bool mixed = f->u->divergent[inst->scratch] && j.n > 1 && j.differ;
        set_shape(f, inst->results[i], mixed ? varying_shape : j.shape);
    }
}

static void join_loop(struct finder *f, struct ir_inst *inst)
{
    const struct ir_block *body = inst->blocks[0];
    for (uint32_t i = 0; i < body->n_args; i++) {
        struct shape init = shape_of(f, inst->operands[i]);
        set_shape(f, body->args[i], init.wraps ? varying_shape : init);
        struct join j = join_of(f, inst, IR_OP_CONTINUE, i);
        set_shape(f, body->args[i], j.divergent && j.n > 1 && j.differ ? varying_shape : j.shape);
    }
    for (uint32_t i = 0; i < inst->n_results; i++) {
        /* Lanes leave a divergent loop in different iterations, so even a uniform value differs. */
        struct join j = join_of(f, inst, IR_OP_BREAK, i);
        set_shape(f, inst->results[i], f->u->divergent[inst->scratch] ? varying_shape : j.shape);
    }
}

/* Work-groups do not share an array where what they put into it may differ, or where to. */
static void see_store(struct finder *f, const struct ir_inst *store)
{
    const struct ir_value *array = alias_root(store->operands[0]);
    bool differs = diverged(f, store, NULL);
    for (uint32_t i = 0; i < store->n_operands; i++) {
        struct shape s = shape_of(f, store->operands[i]);
        differs = differs || (is_known(s) && s.kind != SHAPE_UNIFORM);
    }
    if (differs && array && array->kind == IR_VALUE_RESULT) set_shape(f, array, varying_shape);
}

static void visit_inst(struct ir_inst *inst, void *data)
{
    struct finder *f = data;
    switch (inst->op) {
    case IR_OP_IF: join_if(f, inst); break;
    case IR_OP_LOOP: join_loop(f, inst); break;
    case IR_OP_BREAK:
    case IR_OP_CONTINUE:
        if (diverged(f, inst, ir_terminator_target(inst))) set_divergent(f, ir_terminator_target(inst));
        break;
    case IR_OP_RETURN: see_return(f, inst); break;
    case IR_OP_STORE:
        if (f->together == TOGETHER_GROUPS) see_store(f, inst);
        break;
    default:
        if (inst->n_results) set_shape(f, inst->results[0], result_shape(f, inst));
    }
}

void uniformity_find(struct uniformity *u, struct arena *arena, struct ir_function *kernel, enum together together)
{
    uniformity_find_where(u, arena, kernel, together, NULL);
}

void uniformity_find_where(struct uniformity *u, struct arena *arena, struct ir_function *kernel,
                           enum together together, const struct assumed *assumed)
{
    *u = (struct uniformity){0};
    for (uint32_t i = 0; i < kernel->n_params; i++) number_value(u, kernel->params[i].value);
    ir_walk(kernel->body, number_inst, u);
    u->values = arena_alloc(arena, u->n_values * sizeof *u->values);
    u->divergent = arena_alloc(arena, u->n_insts * sizeof *u->divergent);
    if (together == TOGETHER_ONE) return; /* all zeros: uniform, nothing divergent */
    for (uint32_t i = kernel->n_params; i < u->n_values; i++) u->values[i] = unknown_shape;
    u->small = small_memory_find(arena, kernel, u->n_values);
    struct finder f = {.u = u, .module = kernel->module, .together = together, .assumed = assumed, .changed = true};
    while (f.changed) {
        f.changed = false;
        ir_walk(kernel->body, visit_inst, &f);
    }
    for (uint32_t i = 0; i < u->n_values; i++) /* control never comes there */
        if (!is_known(u->values[i])) u->values[i] = varying_shape;
}
