/* Makes work-items that run as one: copies what differs, and passes on what arrives as a value for each of them. */
#include "fuser/cpu/rows/joined.h"

#include "fuser/cpu/rows/linear_ids.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"
#include "ir/core/edit.h"
#include "ir/core/facts.h"

bool joined_is_same(const struct joined *j, const struct ir_value *v)
{
    return v->kind <= IR_VALUE_PARAM || j->between.values[v->scratch].kind == SHAPE_UNIFORM;
}

static struct ir_value *value_of(const struct joined *j, struct ir_value *v, unsigned which)
{
    struct ir_value *there = v->kind <= IR_VALUE_PARAM ? NULL : j->of[v->scratch * MOST_JOINED + which];
    return there ? there : v;
}

void joined_set(const struct joined *j, const struct ir_value *v, unsigned which, struct ir_value *to)
{
    j->of[v->scratch * MOST_JOINED + which] = to;
}

/* ---- what differs: once for each ---- */

static void copy_block(const struct joined *j, const struct ir_block *from, struct ir_block *to, unsigned which);

static void copy_inst(const struct joined *j, struct ir_builder *b, const struct ir_inst *inst, unsigned which)
{
    struct ir_value **operands = arena_alloc(j->arena, (inst->n_operands + 1) * sizeof *operands);
    ir_type *types = arena_alloc(j->arena, (inst->n_results + 1) * sizeof *types);
    struct ir_inst *copy;
    for (uint32_t i = 0; i < inst->n_operands; i++) operands[i] = value_of(j, inst->operands[i], which);
    for (uint32_t i = 0; i < inst->n_results; i++) types[i] = inst->results[i]->type;
    b->loc = inst->loc;
    if (inst->op == IR_OP_IF)
        copy = ir_build_if(b, operands[0], types, inst->n_results);
    else if (inst->op == IR_OP_LOOP)
        copy = ir_build_loop(b, operands, inst->n_operands, types, inst->n_results);
    else
        copy = ir_build_ptr(b, inst->op, inst->type, (enum ir_space)inst->attrs.space, operands, inst->n_operands);
    copy->attrs = inst->attrs;
    for (int i = 0; i < 2; i++)
        if (inst->blocks[i]) copy_block(j, inst->blocks[i], copy->blocks[i], which);
    for (uint32_t i = 0; i < inst->n_results; i++) joined_set(j, inst->results[i], which, copy->results[i]);
}

static void copy_block(const struct joined *j, const struct ir_block *from, struct ir_block *to, unsigned which)
{
    struct ir_builder b = ir_builder_at_end(to);
    for (uint32_t i = 0; i < from->n_args; i++) joined_set(j, from->args[i], which, to->args[i]);
    for (const struct ir_inst *i = from->first; i; i = i->next) copy_inst(j, &b, i, which);
}

/* What is there already is the first's. */
static void make_first(struct ir_inst *inst, void *data)
{
    const struct joined *j = data;
    for (uint32_t i = 0; i < inst->n_operands; i++) inst->operands[i] = value_of(j, inst->operands[i], 0);
}

static void copy_for_each(struct joined *j, struct ir_inst *inst)
{
    struct ir_builder b = ir_builder_before(inst->next);
    for (unsigned which = 1; which < j->n; which++) copy_inst(j, &b, inst, which);
    make_first(inst, j);
    for (int i = 0; i < 2; i++)
        if (inst->blocks[i]) ir_walk(inst->blocks[i], make_first, j);
}

/* ---- control flow that is the same ---- */

/* Operands that arrive as values: those that differ also for the others. */
static void bring_all(const struct joined *j, struct ir_inst *inst, struct ir_value *const *to)
{
    uint32_t n = inst->n_operands, all = n;
    struct ir_value **operands = arena_alloc(j->arena, (n * MOST_JOINED + 1) * sizeof *operands);
    for (uint32_t i = 0; i < n; i++) operands[i] = value_of(j, inst->operands[i], 0);
    for (uint32_t i = 0; i < n; i++)
        for (unsigned which = 1; which < j->n && !joined_is_same(j, to[i]); which++)
            operands[all++] = value_of(j, inst->operands[i], which);
    pass_operands_set(inst, operands, all);
}

static void add_results(const struct joined *j, struct ir_inst *inst)
{
    for (uint32_t i = 0, n = inst->n_results; i < n; i++)
        for (unsigned which = 1; which < j->n && !joined_is_same(j, inst->results[i]); which++)
            joined_set(j, inst->results[i], which, pass_result_add(inst, inst->results[i]->type));
}

static void add_args(const struct joined *j, struct ir_block *body)
{
    for (uint32_t i = 0, n = body->n_args; i < n; i++)
        for (unsigned which = 1; which < j->n && !joined_is_same(j, body->args[i]); which++)
            joined_set(j, body->args[i], which, pass_arg_add(body, body->args[i]->type));
}

static void join_terminator(const struct joined *j, struct ir_inst *inst)
{
    if (inst->op != IR_OP_YIELD && inst->op != IR_OP_BREAK && inst->op != IR_OP_CONTINUE) return;
    const struct ir_inst *target = ir_terminator_target(inst);
    bring_all(j, inst, inst->op == IR_OP_CONTINUE ? target->blocks[0]->args : target->results);
}

/* It puts in memory what all of them would, where they would. */
static bool stores_the_same(const struct joined *j, const struct ir_inst *inst)
{
    if (inst->op != IR_OP_STORE) return false;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (!joined_is_same(j, inst->operands[i])) return false;
    return true;
}

bool joined_is_shared(const struct joined *j, const struct ir_inst *inst)
{
    if (inst->blocks[0]) return !j->between.divergent[inst->scratch];
    if (inst->op == IR_OP_BARRIER || stores_the_same(j, inst)) return true;
    return inst->n_results && joined_is_same(j, inst->results[0]);
}

static void join_block(struct joined *j, struct ir_block *block)
{
    for (struct ir_inst *inst = block->first, *next; inst; inst = next) {
        next = inst->next;
        if (!next) {
            join_terminator(j, inst);
        } else if (!joined_is_shared(j, inst)) {
            if (!j->ask(j, inst)) copy_for_each(j, inst);
        } else if (inst->blocks[0]) {
            if (inst->op == IR_OP_LOOP) bring_all(j, inst, inst->blocks[0]->args);
            if (inst->op == IR_OP_LOOP) add_args(j, inst->blocks[0]);
            add_results(j, inst);
            for (int i = 0; i < 2; i++)
                if (inst->blocks[i]) join_block(j, inst->blocks[i]);
        } else {
            make_first(inst, j); /* of differences that cancel out */
        }
    }
}

/* ---- where it is possible ---- */

bool joined_is_in_difference(const struct joined *j, const struct ir_inst *inst)
{
    for (const struct ir_inst *i = inst->parent->parent; i; i = i->parent->parent)
        if (j->between.divergent[i->scratch]) return true;
    return false;
}

struct check {
    const struct joined *j;
    bool prevented;
};

static void see_obstacle(struct ir_inst *inst, void *data)
{
    struct check *c = data;
    bool computes = ir_op_info(inst->op)->flags & (IR_FLAG_PURE | IR_FLAG_TERMINATOR);
    bool can = computes && ir_op_class(inst->op) != IR_CLASS_ND_RANGE;
    switch (inst->op) {
    case IR_OP_IF:
    case IR_OP_LOOP:
    case IR_OP_GLOBAL:
    case IR_OP_GLOBAL_ID:
    case IR_OP_LOCAL_ID:
    case IR_OP_GROUP_ID:
    case IR_OP_GLOBAL_SIZE:
    case IR_OP_LOCAL_SIZE:
    case IR_OP_ENQUEUED_LOCAL_SIZE:
    case IR_OP_NUM_GROUPS:
    case IR_OP_GLOBAL_OFFSET:
    case IR_OP_WORK_DIM: can = true; break;
    case IR_OP_LOAD:
    case IR_OP_STORE: can = !inst->attrs.is_volatile; break;
    case IR_OP_BARRIER:
    case IR_OP_RETURN: can = !joined_is_in_difference(c->j, inst); break;
    default: break;
    }
    if (!can) c->prevented = true;
}

bool joined_is_possible(const struct joined *j)
{
    struct check check = {j, false};
    ir_walk(j->kernel->body, see_obstacle, &check);
    return !check.prevented;
}

/* ---- the kernel's start ---- */

struct asked {
    struct ir_block *start;
    bool moved;
};

static void see_asked(struct ir_inst *inst, void *data)
{
    struct asked *a = data;
    bool asked = inst->op == IR_OP_GLOBAL_ID || inst->op == IR_OP_LOCAL_ID || inst->op == IR_OP_GROUP_ID ||
                 inst->op == IR_OP_GLOBAL;
    if (!asked || inst->parent == a->start) return;
    ir_inst_move_before(inst, a->start->first);
    a->moved = true;
}

bool joined_begin(struct joined *j, struct ir_function *kernel, enum together together)
{
    struct asked asked = {.start = kernel->body, .moved = linear_ids_take_apart(kernel)};
    *j = (struct joined){.kernel = kernel, .arena = arena_new()};
    ir_walk(kernel->body, see_asked, &asked);
    if (asked.moved) pass_cse.run(kernel);
    uniformity_find(&j->between, j->arena, kernel, together);
    return asked.moved;
}

void joined_make(struct joined *j)
{
    j->of = arena_alloc(j->arena, (j->between.n_values + 1) * MOST_JOINED * sizeof *j->of);
    join_block(j, j->kernel->body);
    pass_fold.run(j->kernel);
    pass_cse.run(j->kernel);
    pass_dce.run(j->kernel);
}

void joined_end(struct joined *j)
{
    arena_free(j->arena);
}
