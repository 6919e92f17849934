/*
 * Parallel regions: a kernel with barriers or group operations is cut into what runs from one of them to the next. A
 * region is run for each work-item of the group in turn, so a value that one region defines and another uses must lie
 * in memory. Here it is stored to a private variable (emit/private_memory.c gives each work-item its own). Values that
 * are the same for the whole group need none and are kept once; ids, addresses and the like are computed again.
 *
 * An if or loop with a barrier inside is control flow of the whole group: its regions are inside of it.
 */
#include "fuser/cpu/prepare/parallel_regions.h"

#include <string.h>

#include "fuser/cpu/prepare/code_passes.h"
#include "fuser/cpu/prepare/group_operation.h"
#include "fuser/cpu/prepare/uniformity.h"
#include "ir/core/facts.h"

/* ---- control flow of the whole group ---- */

struct inside {
    const struct ir_inst *of;
    bool barriers, leaves, returns;
};

static bool lies_in(const struct ir_inst *inst, const struct ir_inst *outer)
{
    while (inst && inst != outer) inst = inst->parent->parent;
    return inst;
}

static void see_inside(struct ir_inst *inst, void *data)
{
    struct inside *s = data;
    if (ir_is_work_group_collective(inst)) s->barriers = true;
    if (inst->op == IR_OP_RETURN) s->returns = true;
    if ((inst->op == IR_OP_BREAK || inst->op == IR_OP_CONTINUE) && !lies_in(ir_enclosing_loop(inst), s->of))
        s->leaves = true;
}

static struct inside inside_of(const struct ir_inst *inst)
{
    struct inside s = {.of = inst};
    for (int b = 0; b < 2; b++)
        if (inst->blocks[b]) ir_walk(inst->blocks[b], see_inside, &s);
    return s;
}

/* Whether no barrier follows this instruction. */
static bool no_barrier_follows(const struct ir_inst *inst)
{
    if (inst->parent->parent) return false; /* in a block that is taken as one: not looked into */
    while ((inst = inst->next))
        if (ir_is_work_group_collective(inst) || inside_of(inst).barriers) return false;
    return true;
}

static void mark_block(const struct ir_block *block, bool *grouped)
{
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) {
        if (!inst->blocks[0]) continue;
        struct inside s = inside_of(inst);
        if (!s.barriers && !s.leaves && !(s.returns && !no_barrier_follows(inst))) continue;
        grouped[inst->scratch] = true;
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b]) mark_block(inst->blocks[b], grouped);
    }
}

static void count_inst(struct ir_inst *inst, void *data)
{
    uint32_t *n = data;
    if (inst->scratch >= *n) *n = inst->scratch + 1;
}

bool *parallel_regions_mark(struct arena *arena, struct ir_function *kernel)
{
    uint32_t n = 0;
    ir_walk(kernel->body, count_inst, &n);
    bool *grouped = arena_alloc(arena, n + 1);
    mark_block(kernel->body, grouped);
    return grouped;
}

/* ---- the regions ---- */

enum { VARIABLE = UINT32_MAX }; /* scratch of the variables that the cut adds */

struct cut {
    struct arena *arena;
    struct ir_function *kernel;
    struct uniformity group;
    const bool *grouped;    /* by the instruction's number, which number_regions() replaces by its region */
    struct ir_inst **first; /* by region */
    uint32_t n_regions;     /* region 0: between them */
    uint32_t *defined;      /* region of a value */
    struct ir_value **kept; /* the variable where a value is kept, or NULL */
    bool *in_place;         /* a value is kept where what it was a round before is: that is gone */
    struct ir_value **here; /* a value as it is known in the region being rewritten */
    uint32_t *here_region;  /* and whether it is */
};

/* An instruction's scratch: its region, and whether it is control flow of the whole group. */
static uint32_t region_of(const struct ir_inst *inst)
{
    return inst->scratch >> 1;
}

static bool is_grouped(const struct ir_inst *inst)
{
    return inst->scratch & 1;
}

static uint32_t new_region(struct cut *c)
{
    c->first = arena_grow(c->arena, c->first, c->n_regions, sizeof *c->first);
    return c->n_regions++;
}

static void enter_region(struct cut *c, struct ir_inst *inst, uint32_t region)
{
    inst->scratch = region << 1;
    if (!c->first[region]) c->first[region] = inst;
    for (uint32_t i = 0; i < inst->n_results; i++) c->defined[inst->results[i]->scratch] = region;
    for (int b = 0; b < 2; b++) {
        if (!inst->blocks[b]) continue;
        for (uint32_t i = 0; i < inst->blocks[b]->n_args; i++) c->defined[inst->blocks[b]->args[i]->scratch] = region;
        for (struct ir_inst *i = inst->blocks[b]->first; i; i = i->next) enter_region(c, i, region);
    }
}

static void number_regions(struct cut *c, struct ir_block *block)
{
    uint32_t region = new_region(c);
    for (struct ir_inst *inst = block->first; inst; inst = inst->next) {
        if (!inst->blocks[0] || !c->grouped[inst->scratch]) {
            enter_region(c, inst, region);
            if (synchronizes_work_group(inst)) region = new_region(c);
            continue;
        }
        inst->scratch = region << 1 | 1;
        if (!c->first[region]) c->first[region] = inst;
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b]) number_regions(c, inst->blocks[b]);
        region = new_region(c);
    }
}

/* ---- variables ---- */

static struct ir_value *variable_of(struct cut *c, const struct ir_value *v)
{
    struct ir_value **kept = &c->kept[v->scratch];
    if (*kept) return *kept;
    struct ir_builder b = ir_builder_before(c->kernel->body->first);
    struct ir_inst *var = ir_build_ptr(&b, IR_OP_VAR, v->type, IR_SPACE_PRIVATE, NULL, 0);
    var->results[0]->scratch = VARIABLE;
    var->scratch = 1 << 1;
    if (c->first[1] == var->next) c->first[1] = var;
    return *kept = var->results[0];
}

/* variable = v, before an instruction and in its region. */
static void store_before(struct cut *c, struct ir_value *variable, struct ir_value *v, struct ir_inst *before)
{
    struct ir_builder b = ir_builder_before(before);
    struct ir_inst *store = ir_build(&b, IR_OP_STORE, v->type, (struct ir_value *[]){variable, v}, 2);
    store->scratch = region_of(before) << 1;
    if (c->first[region_of(before)] == before) c->first[region_of(before)] = store;
}

static void store_after(struct ir_value *variable, struct ir_value *v)
{
    struct ir_inst *inst = v->of.inst;
    struct ir_builder b = ir_builder_before(inst->next);
    struct ir_inst *store = ir_build(&b, IR_OP_STORE, v->type, (struct ir_value *[]){variable, v}, 2);
    store->scratch = region_of(inst) << 1;
}

/* ---- what is computed again ---- */

bool leads_into(const struct ir_value *pointer, enum ir_access access)
{
    const struct ir_value *root = pointer;
    while (root->kind == IR_VALUE_RESULT && (root->of.inst->op == IR_OP_ELEM || root->of.inst->op == IR_OP_FIELD))
        root = root->of.inst->operands[0];
    if (root->kind != IR_VALUE_PARAM || ir_type_space(root->type) != IR_SPACE_GLOBAL) return false;
    return root->of.function->params[root->index].access == access;
}

bool reads_constant_memory(const struct ir_inst *inst)
{
    return inst->op == IR_OP_LOAD && !inst->attrs.is_volatile && leads_into(inst->operands[0], IR_ACCESS_READ);
}

enum { TOO_MUCH = 100 };

/* What computing it once more costs, against storing and loading it; more than there can be: too much. */
static unsigned recompute_cost(const struct ir_inst *inst)
{
    enum { LOAD_COST = 6 };
    unsigned flags = ir_op_info(inst->op)->flags;
    if (reads_constant_memory(inst)) return LOAD_COST;
    if (!(flags & IR_FLAG_PURE) || (flags & IR_FLAG_PARTIAL)) return TOO_MUCH;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (ir_type_is_float(inst->operands[i]->type) != ir_type_is_float(inst->results[0]->type)) return TOO_MUCH;
    if (!ir_type_is_float(inst->results[0]->type)) return 1;
    return inst->op == IR_OP_FADD || inst->op == IR_OP_FSUB || inst->op == IR_OP_FMUL || inst->op == IR_OP_FNEG
               ? 1
               : TOO_MUCH;
}

/* ---- values that joins define: loop arguments and results of ifs and loops ---- */

static bool is_shared(const struct cut *c, const struct ir_value *v)
{
    return c->group.values[v->scratch].kind == SHAPE_UNIFORM;
}

struct joins {
    struct cut *cut;
    struct ir_inst *of;
    enum ir_op op;
    struct ir_value **to;
};

/* Whether a value is kept where what it becomes is kept anyway. */
static bool is_kept_as(const struct cut *c, const struct ir_value *v, const struct ir_value *to)
{
    return v->kind == IR_VALUE_RESULT && c->kept[v->scratch] && c->kept[v->scratch] == c->kept[to->scratch];
}

static void store_operands(struct cut *c, struct ir_inst *inst, struct ir_value **to)
{
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        if (is_shared(c, to[i]) || is_kept_as(c, inst->operands[i], to[i])) continue;
        store_before(c, variable_of(c, to[i]), inst->operands[i], inst);
    }
}

static void see_terminator(struct ir_inst *inst, void *data)
{
    struct joins *j = data;
    if (inst->op != j->op) return;
    const struct ir_inst *target = inst->op == IR_OP_YIELD ? inst->parent->parent : ir_enclosing_loop(inst);
    if (target == j->of) store_operands(j->cut, inst, j->to);
}

static void store_ways(struct cut *c, struct ir_inst *inst, enum ir_op op, struct ir_value **to)
{
    struct joins j = {c, inst, op, to};
    for (int b = 0; b < 2; b++)
        if (inst->blocks[b]) ir_walk(inst->blocks[b], see_terminator, &j);
}

/* The uses of what a loop carries, and of what would be computed of it again. */
struct uses {
    const struct ir_inst *next; /* what it becomes is made by this */
    bool *of;                   /* by value number */
    uint32_t last;              /* the last region with one */
};

static void see_use(struct ir_inst *inst, void *data)
{
    struct uses *u = data;
    bool uses = false;
    for (uint32_t i = 0; i < inst->n_operands && !uses; i++) {
        const struct ir_value *v = inst->operands[i];
        uses = v->kind > IR_VALUE_PARAM && v->scratch != VARIABLE && u->of[v->scratch];
    }
    if (!uses) return;
    if (region_of(inst) > u->last) u->last = region_of(inst);
    if (inst != u->next && inst->n_results == 1 && !inst->blocks[0] && recompute_cost(inst) < TOO_MUCH)
        u->of[inst->results[0]->scratch] = true;
}

struct ways {
    const struct ir_inst *loop;
    struct ir_inst *on;
    unsigned n;
};

static void see_way(struct ir_inst *inst, void *data)
{
    struct ways *w = data;
    if (inst->op != IR_OP_CONTINUE || ir_enclosing_loop(inst) != w->loop) return;
    w->on = inst;
    w->n++;
}

/* What a round carries on is kept where the next one looks for it as soon as it is there, if nobody asks for the old
   value any more: a sum over tiles needs no copy of it for each round. */
static void keep_in_place(struct cut *c, struct ir_inst *loop)
{
    struct ways w = {.loop = loop};
    ir_walk(loop->blocks[0], see_way, &w);
    for (uint32_t i = 0; w.n == 1 && i < w.on->n_operands; i++) {
        struct ir_value *v = w.on->operands[i], *carried = loop->blocks[0]->args[i];
        if (v->kind != IR_VALUE_RESULT || v->of.inst->parent != loop->blocks[0]) continue;
        if (is_shared(c, v) || is_shared(c, carried) || c->kept[v->scratch] || is_grouped(v->of.inst)) continue;
        struct uses uses = {v->of.inst, arena_alloc(c->arena, (c->group.n_values + 1) * sizeof *uses.of), 0};
        uses.of[carried->scratch] = true;
        ir_walk(loop->blocks[0], see_use, &uses);
        if (uses.last > region_of(v->of.inst)) continue;
        c->kept[v->scratch] = variable_of(c, carried);
        c->in_place[v->scratch] = true;
        store_after(c->kept[v->scratch], v);
    }
}

static void store_joins(struct cut *c, struct ir_block *block)
{
    for (struct ir_inst *inst = block->first; inst; inst = inst->next) {
        if (!is_grouped(inst)) continue;
        if (inst->op == IR_OP_LOOP) {
            keep_in_place(c, inst);
            store_operands(c, inst, inst->blocks[0]->args);
            store_ways(c, inst, IR_OP_CONTINUE, inst->blocks[0]->args);
            store_ways(c, inst, IR_OP_BREAK, inst->results);
        } else {
            store_ways(c, inst, IR_OP_YIELD, inst->results);
        }
        for (int b = 0; b < 2; b++)
            if (inst->blocks[b]) store_joins(c, inst->blocks[b]);
    }
}

/* ---- values that other regions define ---- */

static bool is_available(const struct cut *c, const struct ir_value *v, uint32_t region)
{
    if (v->kind <= IR_VALUE_PARAM || v->scratch == VARIABLE) return true;
    if (c->defined[v->scratch] == region || is_shared(c, v)) return true;
    return v->kind == IR_VALUE_RESULT && v->of.inst->op == IR_OP_VAR;
}

/* Whether it is computed again from what is there, for at most *most. */
static bool is_cheap(const struct cut *c, const struct ir_value *v, uint32_t region, unsigned *most)
{
    if (is_available(c, v, region) || c->here_region[v->scratch] == region) return true;
    if (v->kind != IR_VALUE_RESULT || c->in_place[v->scratch]) return false;
    unsigned cost = recompute_cost(v->of.inst);
    if (cost > *most) return false;
    *most -= cost;
    for (uint32_t i = 0; i < v->of.inst->n_operands; i++)
        if (!is_cheap(c, v->of.inst->operands[i], region, most)) return false;
    return true;
}

static struct ir_value *value_in_region(struct cut *c, struct ir_value *v, uint32_t region);

static struct ir_value *recompute(struct cut *c, const struct ir_value *v, uint32_t region)
{
    const struct ir_inst *inst = v->of.inst;
    struct ir_value **operands = arena_alloc(c->arena, (inst->n_operands + 1) * sizeof *operands);
    for (uint32_t i = 0; i < inst->n_operands; i++) operands[i] = value_in_region(c, inst->operands[i], region);
    struct ir_builder b = ir_builder_before(c->first[region]);
    struct ir_inst *copy;
    if (ir_type_is_ptr(v->type))
        copy = ir_build_ptr(&b, inst->op, inst->type, ir_type_space(v->type), operands, inst->n_operands);
    else
        copy = ir_build(&b, inst->op, inst->type, operands, inst->n_operands);
    copy->attrs = inst->attrs;
    copy->scratch = region << 1;
    return copy->results[0];
}

static struct ir_value *reload(struct cut *c, struct ir_value *v, uint32_t region)
{
    bool is_new = !c->kept[v->scratch];
    struct ir_value *variable = variable_of(c, v);
    if (is_new) store_after(variable, v);
    struct ir_builder b = ir_builder_before(c->first[region]);
    struct ir_inst *load = ir_build(&b, IR_OP_LOAD, v->type, &variable, 1);
    load->scratch = region << 1;
    return load->results[0];
}

/* The value for use in a region: itself, computed again, or loaded. */
static struct ir_value *value_in_region(struct cut *c, struct ir_value *v, uint32_t region)
{
    if (is_available(c, v, region)) return v;
    if (c->here_region[v->scratch] == region) return c->here[v->scratch];
    unsigned most = 12;
    struct ir_value *r = is_cheap(c, v, region, &most) ? recompute(c, v, region) : reload(c, v, region);
    r->scratch = v->scratch; /* it is the same value to other regions that have it as an operand */
    c->here[v->scratch] = r;
    c->here_region[v->scratch] = region;
    return r;
}

static void rewrite_inst(struct cut *c, struct ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->n_operands; i++)
        inst->operands[i] = value_in_region(c, inst->operands[i], region_of(inst));
    for (int b = 0; b < 2; b++)
        for (struct ir_inst *i = inst->blocks[b] ? inst->blocks[b]->first : NULL; i; i = i->next) rewrite_inst(c, i);
}

static void rewrite_block(struct cut *c, struct ir_block *block)
{
    for (struct ir_inst *inst = block->first; inst; inst = inst->next) {
        if (is_grouped(inst)) {
            for (int b = 0; b < 2; b++)
                if (inst->blocks[b]) rewrite_block(c, inst->blocks[b]);
        } else if (!(ir_op_info(inst->op)->flags & IR_FLAG_TERMINATOR)) {
            rewrite_inst(c, inst);
        }
    }
}

static bool run_parallel_regions(struct ir_function *kernel)
{
    if (!uses_work_group_operations(kernel)) return false;
    struct cut c = {.arena = arena_new(), .kernel = kernel};
    uniformity_find(&c.group, c.arena, kernel, TOGETHER_GROUP);
    uint32_t n = c.group.n_values + 1;
    c.grouped = parallel_regions_mark(c.arena, kernel);
    c.defined = arena_alloc(c.arena, n * sizeof *c.defined);
    c.kept = arena_alloc(c.arena, n * sizeof *c.kept);
    c.in_place = arena_alloc(c.arena, n * sizeof *c.in_place);
    c.here = arena_alloc(c.arena, n * sizeof *c.here);
    c.here_region = arena_alloc(c.arena, n * sizeof *c.here_region);
    new_region(&c); /* 0 */
    number_regions(&c, kernel->body);
    store_joins(&c, kernel->body);
    rewrite_block(&c, kernel->body);
    arena_free(c.arena);
    return true;
}

const struct pass pass_parallel_regions = {
    "parallel_regions", "what a work-item takes over a barrier goes to private variables", run_parallel_regions};
