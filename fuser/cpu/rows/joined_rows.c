/*
 * Rows that run as one. Where work-groups have rows in y, much of what a kernel loads and computes is often the same
 * for all rows, as one matrix's numbers are for all rows of the product. Here a work-item becomes several that follow
 * one another in y: what is the same for them is there once, all else once for each,
 *
 *     b = load B[k * n + x]
 *     s0 = fma A[(4 y) * n + k], b, s0   ...   s3 = fma A[(4 y + 3) * n + k], b, s3
 *
 * and a work-group has as many times fewer rows. Control flow that is the same for the rows is there once; an if or
 * loop in which they may differ is copied for each. Work-items may be in any order between barriers, and each has its
 * own operations in theirs, so that nothing is computed otherwise than before.
 */
#include "fuser/cpu/rows/joined_rows.h"

#include "fuser/cpu/prepare/group_operation.h"
#include "fuser/cpu/prepare/uniformity.h"
#include "fuser/passes/passes.h"
#include "fuser/passes/util.h"
#include "ir/core/facts.h"

enum { MOST_ROWS = 4, Y = 1 };

struct joined {
    struct ir_function *kernel;
    struct arena *arena;
    struct uniformity column; /* what is the same for the rows */
    struct ir_value **of;     /* by value number times MOST_ROWS: what it is in each row; NULL: the same in all */
    unsigned rows;
};

static bool is_same(const struct joined *j, const struct ir_value *v)
{
    return v->kind <= IR_VALUE_PARAM || j->column.values[v->scratch].kind == SHAPE_UNIFORM;
}

static struct ir_value *in_row(const struct joined *j, struct ir_value *v, unsigned row)
{
    struct ir_value *there = v->kind <= IR_VALUE_PARAM ? NULL : j->of[v->scratch * MOST_ROWS + row];
    return there ? there : v;
}

static void set_in_row(const struct joined *j, const struct ir_value *v, unsigned row, struct ir_value *to)
{
    j->of[v->scratch * MOST_ROWS + row] = to;
}

/* ---- ids and sizes ---- */

/* Of the first of the rows; ids of groups and their numbers are what they were. */
static struct ir_value *first_row(const struct joined *j, struct ir_builder *b, struct ir_inst *id)
{
    struct ir_value *n = ir_const_int(b->module, IR_I64, j->rows);
    struct ir_value *at = ir_build2(b, IR_OP_MUL, IR_I64, id->results[0], n);
    if (id->op == IR_OP_LOCAL_ID) return at;
    struct ir_value *rest = ir_const_int(b->module, IR_I64, j->rows - 1),
                    *offset = ir_build_id(b, IR_OP_GLOBAL_OFFSET, Y);
    return ir_build2(b, IR_OP_SUB, IR_I64, at, ir_build2(b, IR_OP_MUL, IR_I64, offset, rest));
}

static void join_id(const struct joined *j, struct ir_inst *id)
{
    struct ir_builder b = ir_builder_before(id->next);
    struct ir_value *first = first_row(j, &b, id);
    for (unsigned row = 0; row < j->rows; row++) {
        struct ir_value *n = ir_const_int(b.module, IR_I64, row);
        set_in_row(j, id->results[0], row, row ? ir_build2(&b, IR_OP_ADD, IR_I64, first, n) : first);
    }
}

static void keep_size(struct ir_inst *inst, void *data)
{
    const struct joined *j = data;
    bool of_group = inst->op == IR_OP_LOCAL_SIZE || inst->op == IR_OP_ENQUEUED_LOCAL_SIZE;
    if (!of_group || inst->attrs.dim != Y) return;
    struct ir_value *size = ir_const_int(j->kernel->module, IR_I64, j->kernel->work_group_size[Y]);
    ir_replace_uses(j->kernel->body, inst->results[0], size);
}

/* ---- what differs: once for each row ---- */

static void copy_block(const struct joined *j, const struct ir_block *from, struct ir_block *to, unsigned row);

static void copy_inst(const struct joined *j, struct ir_builder *b, const struct ir_inst *inst, unsigned row)
{
    struct ir_value **operands = arena_alloc(j->arena, (inst->n_operands + 1) * sizeof *operands);
    ir_type *types = arena_alloc(j->arena, (inst->n_results + 1) * sizeof *types);
    struct ir_inst *copy;
    for (uint32_t i = 0; i < inst->n_operands; i++) operands[i] = in_row(j, inst->operands[i], row);
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
        if (inst->blocks[i]) copy_block(j, inst->blocks[i], copy->blocks[i], row);
    for (uint32_t i = 0; i < inst->n_results; i++) set_in_row(j, inst->results[i], row, copy->results[i]);
}

static void copy_block(const struct joined *j, const struct ir_block *from, struct ir_block *to, unsigned row)
{
    struct ir_builder b = ir_builder_at_end(to);
    for (uint32_t i = 0; i < from->n_args; i++) set_in_row(j, from->args[i], row, to->args[i]);
    for (const struct ir_inst *i = from->first; i; i = i->next) copy_inst(j, &b, i, row);
}

/* What is there already is the first row's. */
static void make_first(struct ir_inst *inst, void *data)
{
    const struct joined *j = data;
    for (uint32_t i = 0; i < inst->n_operands; i++) inst->operands[i] = in_row(j, inst->operands[i], 0);
}

static void copy_for_rows(struct joined *j, struct ir_inst *inst)
{
    struct ir_builder b = ir_builder_before(inst->next);
    for (unsigned row = 1; row < j->rows; row++) copy_inst(j, &b, inst, row);
    make_first(inst, j);
    for (int i = 0; i < 2; i++)
        if (inst->blocks[i]) ir_walk(inst->blocks[i], make_first, j);
}

/* ---- control flow that is the same ---- */

/* Operands that arrive as values: those that differ also for the other rows. */
static void bring_rows(const struct joined *j, struct ir_inst *inst, struct ir_value *const *to)
{
    uint32_t n = inst->n_operands, all = n;
    struct ir_value **operands = arena_alloc(j->arena, (n * MOST_ROWS + 1) * sizeof *operands);
    for (uint32_t i = 0; i < n; i++) operands[i] = in_row(j, inst->operands[i], 0);
    for (uint32_t i = 0; i < n; i++)
        for (unsigned row = 1; row < j->rows && !is_same(j, to[i]); row++)
            operands[all++] = in_row(j, inst->operands[i], row);
    pass_operands_set(inst, operands, all);
}

static void add_results(const struct joined *j, struct ir_inst *inst)
{
    for (uint32_t i = 0, n = inst->n_results; i < n; i++)
        for (unsigned row = 1; row < j->rows && !is_same(j, inst->results[i]); row++)
            set_in_row(j, inst->results[i], row, pass_result_add(inst, inst->results[i]->type));
}

static void add_args(const struct joined *j, struct ir_block *body)
{
    for (uint32_t i = 0, n = body->n_args; i < n; i++)
        for (unsigned row = 1; row < j->rows && !is_same(j, body->args[i]); row++)
            set_in_row(j, body->args[i], row, pass_arg_add(body, body->args[i]->type));
}

static void join_terminator(const struct joined *j, struct ir_inst *inst)
{
    if (inst->op != IR_OP_YIELD && inst->op != IR_OP_BREAK && inst->op != IR_OP_CONTINUE) return;
    const struct ir_inst *target = ir_terminator_target(inst);
    bring_rows(j, inst, inst->op == IR_OP_CONTINUE ? target->blocks[0]->args : target->results);
}

/* Whether one does for all rows. */
static bool is_shared(const struct joined *j, const struct ir_inst *inst)
{
    if (inst->blocks[0]) return !j->column.divergent[inst->scratch];
    return inst->op == IR_OP_BARRIER || (inst->n_results && is_same(j, inst->results[0]));
}

static void join_block(struct joined *j, struct ir_block *block)
{
    for (struct ir_inst *inst = block->first, *next; inst; inst = next) {
        next = inst->next;
        if (!next) {
            join_terminator(j, inst);
        } else if (!is_shared(j, inst)) {
            bool id = inst->op == IR_OP_GLOBAL_ID || inst->op == IR_OP_LOCAL_ID;
            if (id)
                join_id(j, inst);
            else
                copy_for_rows(j, inst);
        } else if (inst->blocks[0]) {
            if (inst->op == IR_OP_LOOP) bring_rows(j, inst, inst->blocks[0]->args);
            if (inst->op == IR_OP_LOOP) add_args(j, inst->blocks[0]);
            add_results(j, inst);
            for (int i = 0; i < 2; i++)
                if (inst->blocks[i]) join_block(j, inst->blocks[i]);
        }
    }
}

/* ---- where it is possible ---- */

static bool is_in_difference(const struct joined *j, const struct ir_inst *inst)
{
    for (const struct ir_inst *i = inst->parent->parent; i; i = i->parent->parent)
        if (j->column.divergent[i->scratch]) return true;
    return false;
}

struct check {
    const struct joined *j;
    bool prevented;
};

static void see_obstacle(struct ir_inst *inst, void *data)
{
    struct check *c = data;
    bool can = ir_op_info(inst->op)->flags & (IR_FLAG_PURE | IR_FLAG_TERMINATOR);
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
    case IR_OP_RETURN: can = !is_in_difference(c->j, inst); break;
    default: break;
    }
    if (!can) c->prevented = true;
}

/* ---- where it pays ---- */

/* Of a vector of work-items in half cycles, in loops for more. */
enum { SCALAR_LOAD = 1, VECTOR_MOVE = 2, GATHER = 16, OPERATION = 1, FUNCTION = 16, ROUNDS = 8, DEEPEST = 3 };
enum { LEAST_SHARED = 4, MOST_REGISTERS = 12 };

struct cost {
    const struct joined *j;
    const struct uniformity *row;
    uint64_t shared, all;
    uint64_t along_row, along_column; /* accesses alone, by where neighbours are */
};

static struct shape shape_of(const struct uniformity *u, const struct ir_value *v)
{
    return v->kind < IR_VALUE_PARAM ? (struct shape){SHAPE_UNIFORM, 0, false} : u->values[v->scratch];
}

static unsigned access_cost(struct shape s, int64_t bytes)
{
    if (s.kind == SHAPE_UNIFORM) return SCALAR_LOAD;
    return s.kind == SHAPE_LINEAR && s.stride == bytes ? VECTOR_MOVE : GATHER;
}

static unsigned cost_of(const struct cost *c, const struct ir_inst *inst)
{
    if (inst->op == IR_OP_LOAD || inst->op == IR_OP_STORE)
        return access_cost(shape_of(c->row, inst->operands[0]),
                           (int64_t)ir_type_size(c->j->kernel->module, inst->type)) *
               ir_type_lanes(inst->type);
    bool vector = inst->n_results == 1 && !inst->blocks[0] && shape_of(c->row, inst->results[0]).kind == SHAPE_VARYING;
    if (!vector) return 0;
    return ir_type_lanes(inst->results[0]->type) * (ir_op_is_function(inst->op) ? FUNCTION
                                                    : inst->op == IR_OP_MAD     ? 2
                                                                                : OPERATION);
}

static void see_cost(struct ir_inst *inst, void *data)
{
    struct cost *c = data;
    uint64_t weight = 1, cost = cost_of(c, inst);
    const struct ir_inst *loop = inst;
    for (unsigned depth = 0; depth < DEEPEST && (loop = ir_enclosing_loop(loop)); depth++) weight *= ROUNDS;
    bool shared = is_shared(c->j, inst) && !is_in_difference(c->j, inst);
    bool is_vector = inst->n_results && shape_of(c->row, inst->results[0]).kind == SHAPE_VARYING;
    if (inst->op == IR_OP_LOAD || inst->op == IR_OP_STORE) {
        int64_t bytes = (int64_t)ir_type_size(c->j->kernel->module, inst->type);
        c->along_row += weight * cost;
        c->along_column += weight * access_cost(shape_of(&c->j->column, inst->operands[0]), bytes);
    }
    if (shared && !is_vector) return; /* a scalar */
    c->all += weight * cost;
    if (shared) c->shared += weight * cost;
}

/* ---- how many registers a row takes ---- */

struct lives {
    const struct cost *c;
    uint32_t *last; /* by value number: the last instruction that uses it */
};

static uint32_t last_inside(const struct ir_inst *inst)
{
    const struct ir_block *block = inst->blocks[1] ? inst->blocks[1] : inst->blocks[0];
    return block && block->last ? last_inside(block->last) : inst->scratch;
}

static void see_use(struct ir_inst *inst, void *data)
{
    const struct lives *l = data;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        const struct ir_value *v = inst->operands[i];
        if (v->kind <= IR_VALUE_PARAM) continue;
        uint32_t at = inst->scratch;
        for (const struct ir_inst *loop = inst; (loop = ir_enclosing_loop(loop)) && !pass_is_inside(v, loop);)
            at = last_inside(loop);
        if (l->last[v->scratch] < at) l->last[v->scratch] = at;
    }
}

struct levels {
    const struct lives *l;
    int *change; /* by instruction number: values that begin there, less those that ended before */
};

static void begin_value(const struct levels *s, const struct ir_value *v, uint32_t at)
{
    bool vector =
        shape_of(s->l->c->row, v).kind == SHAPE_VARYING && !is_same(s->l->c->j, v) && !ir_type_is_ptr(v->type);
    uint32_t last = s->l->last[v->scratch];
    if (!vector || ir_type_is_bool(v->type) || last <= at) return;
    s->change[at] += (int)ir_type_lanes(v->type);
    s->change[last] -= (int)ir_type_lanes(v->type);
}

static void see_definition(struct ir_inst *inst, void *data)
{
    const struct levels *s = data;
    for (uint32_t i = 0; i < inst->n_results; i++) begin_value(s, inst->results[i], last_inside(inst));
    for (uint32_t i = 0; inst->op == IR_OP_LOOP && i < inst->blocks[0]->n_args; i++)
        begin_value(s, inst->blocks[0]->args[i], inst->scratch);
}

/* The most vectors of one row that are needed at the same time. */
static unsigned most_alive(const struct cost *c)
{
    const struct uniformity *u = &c->j->column;
    struct lives l = {c, arena_alloc(c->j->arena, (u->n_values + 1) * sizeof *l.last)};
    struct levels s = {&l, arena_alloc(c->j->arena, (u->n_insts + 1) * sizeof *s.change)};
    int alive = 0, most = 1;
    ir_walk(c->j->kernel->body, see_use, &l);
    ir_walk(c->j->kernel->body, see_definition, &s);
    for (uint32_t i = 0; i < u->n_insts; i++) {
        alive += s.change[i];
        if (alive > most) most = alive;
    }
    return (unsigned)most;
}

/* How many rows are best run as one. */
static unsigned best_rows(const struct joined *j)
{
    struct uniformity row;
    struct check check = {j, false};
    ir_walk(j->kernel->body, see_obstacle, &check);
    if (check.prevented) return 1;
    uniformity_find(&row, j->arena, j->kernel, TOGETHER_ROW);
    struct cost c = {.j = j, .row = &row};
    ir_walk(j->kernel->body, see_cost, &c);
    if (2 * c.along_column <= c.along_row || c.shared * LEAST_SHARED < c.all || !c.shared) return 1;
    unsigned rows = MOST_ROWS, each = most_alive(&c);
    while (rows > 1 && (rows * each > MOST_REGISTERS || j->kernel->work_group_size[Y] % rows)) rows /= 2;
    return rows;
}

/* ---- the pass ---- */

static bool run_joined_rows(struct ir_function *kernel)
{
    const uint32_t *size = kernel->work_group_size;
    if (size[0] < 4 || size[Y] < 2 || uses_sub_groups(kernel) || !(kernel->assumes & IR_ASSUME_WHOLE_GROUPS))
        return false;
    struct joined j = {.kernel = kernel, .arena = arena_new()};
    uniformity_find(&j.column, j.arena, kernel, TOGETHER_COLUMN);
    j.rows = best_rows(&j);
    if (j.rows > 1) {
        j.of = arena_alloc(j.arena, (j.column.n_values + 1) * MOST_ROWS * sizeof *j.of);
        join_block(&j, kernel->body);
        ir_walk(kernel->body, keep_size, &j);
        kernel->work_group_size[Y] /= j.rows;
        pass_fold.run(kernel);
        pass_cse.run(kernel);
        pass_dce.run(kernel);
    }
    arena_free(j.arena);
    return j.rows > 1;
}

const struct pass pass_joined_rows = {"joined_rows", "what is the same along y is there once for several rows",
                                      run_joined_rows};

static const struct pass *const passes[] = {&pass_joined_rows, NULL};
const struct pipeline pipeline_rows = {"rows", .first = passes};
