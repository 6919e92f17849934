/* What is gained where work-items run as one: counted by operations. */
#include "fuser/cpu/rows/joined_cost.h"

#include "fuser/passes/util.h"
#include "ir/core/facts.h"

/* ---- operations ---- */

enum { SCALAR_LOAD = 1, VECTOR_MOVE = 2, GATHER = 16, OPERATION = 1, FUNCTION = 16, ROUNDS = 8, DEEPEST = 3 };

struct cost {
    const struct joined *j;
    const struct uniformity *row;
    struct joined_cost *sum;
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
    bool shared = joined_is_shared(c->j, inst) && !joined_is_in_difference(c->j, inst);
    bool is_vector = inst->n_results && shape_of(c->row, inst->results[0]).kind == SHAPE_VARYING;
    if (inst->op == IR_OP_LOAD || inst->op == IR_OP_STORE) {
        int64_t bytes = (int64_t)ir_type_size(c->j->kernel->module, inst->type);
        c->sum->along_row += weight * cost;
        c->sum->along_next += weight * access_cost(shape_of(&c->j->between, inst->operands[0]), bytes);
    }
    bool scalar = shared && !is_vector;
    if (scalar) c->sum->scalars += weight * cost;
    if (!scalar) c->sum->all += weight * cost;
    if (shared && !scalar) c->sum->shared += weight * cost;
}

/* ---- registers ---- */

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
        shape_of(s->l->c->row, v).kind == SHAPE_VARYING && !joined_is_same(s->l->c->j, v) && !ir_type_is_ptr(v->type);
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

/* Of one of those that run as one. */
static unsigned most_alive(const struct cost *c)
{
    const struct uniformity *u = &c->j->between;
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

struct joined_cost joined_cost_find(const struct joined *j)
{
    struct uniformity row;
    struct joined_cost sum = {0};
    uniformity_find(&row, j->arena, j->kernel, TOGETHER_ROW);
    struct cost c = {.j = j, .row = &row, .sum = &sum};
    ir_walk(j->kernel->body, see_cost, &c);
    sum.alive = most_alive(&c);
    return sum;
}
