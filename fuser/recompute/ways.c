/*
 * A copy of the function has its ids clamped to the box, integers as they are taken to be, a mark in the variable, and
 * in each branch of each if a store of its own. What the passes then leave says which branches are taken at all, and
 * whether the mark can come out.
 */
#include "fuser/recompute/ways.h"

#include "fuser/passes/manager/pipelines.h"
#include "fuser/recompute/copy.h"

/* ---- whether the mark comes out ---- */

/* What is known where a way through ifs leads. */
struct way {
    const struct ir_value *condition;
    bool holds;
    const struct way *before;
};

/* 0 or 1 where it is known, -1 where not. */
static int outcome(const struct way *way, const struct ir_value *condition)
{
    uint64_t bits;
    if (!ir_type_is_bool(condition->type) || ir_type_is_vector(condition->type)) return -1;
    if (ir_value_uint(condition, &bits)) return bits != 0;
    for (; way; way = way->before)
        if (way->condition == condition) return way->holds;
    if (condition->kind != IR_VALUE_RESULT || condition->of.inst->op != IR_OP_NOT) return -1;
    int of_operand = outcome(way, condition->of.inst->operands[0]);
    return of_operand < 0 ? -1 : !of_operand;
}

static bool is_written(const struct ir_value *v, const struct way *way);

/* Results of the if that are known say something of what the branch yields. False: no way leads through the branch. */
static bool follow_results(const struct ir_inst *inst, const struct ir_inst *end, struct way *steps,
                           const struct way **way)
{
    for (uint32_t i = 0; i < inst->n_results; i++) {
        int known = outcome(*way, inst->results[i]), yielded = outcome(*way, end->operands[i]);
        if (known >= 0 && yielded >= 0 && known != yielded) return false;
        if (known < 0) continue;
        const struct ir_inst *made = end->operands[i]->kind == IR_VALUE_RESULT ? end->operands[i]->of.inst : NULL;
        bool negated = made && made->op == IR_OP_NOT;
        *steps = (struct way){negated ? made->operands[0] : end->operands[i], known != negated, *way};
        *way = steps++;
    }
    return true;
}

/* v is a result of the if: what the branch yields was stored, or the branch is not taken. */
static bool is_written_by(const struct ir_value *v, int branch, const struct way *way)
{
    enum { MAX_RESULTS = 16 };
    const struct ir_inst *inst = v->of.inst, *end = inst->blocks[branch]->last;
    struct way steps[MAX_RESULTS], taken = {inst->operands[0], branch == 0, way};
    if (outcome(way, inst->operands[0]) == branch) return true;
    if (end->op != IR_OP_YIELD || inst->n_results > MAX_RESULTS) return false;
    way = &taken;
    return !follow_results(inst, end, steps, &way) || is_written(end->operands[v->index], way);
}

static bool is_mark(const struct ir_value *v)
{
    return v->kind == IR_VALUE_PARAM && v->index + 1 == v->of.function->n_params; /* the last one */
}

static bool has_mark(const struct ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (is_mark(inst->operands[i])) return true;
    return false;
}

/* On all ways to where it is used, v was stored. */
static bool is_written(const struct ir_value *v, const struct way *way)
{
    if (v->kind == IR_VALUE_PARAM) return !is_mark(v);
    if (v->kind != IR_VALUE_RESULT) return v->kind == IR_VALUE_CONST;
    const struct ir_inst *inst = v->of.inst;
    switch (inst->op) {
    case IR_OP_LOOP: return false;
    case IR_OP_IF: return is_written_by(v, 0, way) && is_written_by(v, 1, way);
    case IR_OP_SELECT: return is_written(inst->operands[1], way) && is_written(inst->operands[2], way);
    case IR_OP_LOAD: return ir_type_space(inst->operands[0]->type) != IR_SPACE_PRIVATE;
    default: return !has_mark(inst);
    }
}

/* ---- which branches are taken ---- */

struct marking {
    struct ir_value *taken; /* the parameter that branches store to */
    uint64_t n_branches;
    bool *is_taken; /* by branch, in the order of the walk */
};

static void mark_branches(struct ir_inst *inst, void *data)
{
    struct marking *m = data;
    for (int b = 0; b < 2 && inst->op == IR_OP_IF; b++) {
        struct ir_builder in = ir_builder_before(inst->blocks[b]->first);
        struct ir_value *at[2] = {m->taken, ir_const_int(in.module, IR_I64, m->n_branches++)};
        ir_build_store(&in, IR_I8, ir_build(&in, IR_OP_ELEM, IR_I8, at, 2)->results[0], NULL,
                       ir_const_int(in.module, IR_I8, 1));
    }
}

static void see_branch(struct ir_inst *inst, void *data)
{
    struct marking *m = data;
    uint64_t at = 0;
    if (inst->op != IR_OP_STORE) return;
    const struct ir_value *place = inst->operands[0];
    const struct ir_inst *elem = place->kind == IR_VALUE_RESULT ? place->of.inst : NULL;
    if (place == m->taken ||
        (elem && elem->op == IR_OP_ELEM && elem->operands[0] == m->taken && ir_value_uint(elem->operands[1], &at)))
        m->is_taken[at] = true;
}

static void decide(struct ir_inst *inst, void *data)
{
    struct marking *m = data;
    if (inst->op != IR_OP_IF) return;
    const bool *taken = &m->is_taken[m->n_branches];
    m->n_branches += 2;
    if (taken[0] != taken[1]) inst->operands[0] = ir_const_bool(inst->parent->function->module, taken[0]);
}

static void clamp_ids(struct ir_function *f, const struct access_items *box, uint32_t first)
{
    for (unsigned d = 0; d < 3; d++) {
        struct ir_builder b = ir_builder_before(f->body->first);
        struct ir_value *id = f->params[first + d].value;
        struct ir_value *low = ir_const_int(f->module, IR_I64, (uint64_t)box->first[d]);
        struct ir_value *high = ir_const_int(f->module, IR_I64, (uint64_t)box->last[d]);
        struct ir_value *clamped = ir_build3(&b, IR_OP_SCLAMP, IR_I64, id, low, high);
        ir_replace_uses(f->body, id, clamped);
        clamped->of.inst->operands[0] = id;
    }
}

bool recompute_decide_ways(struct ir_function *f, const struct access_items *box, const int64_t *numbers)
{
    struct ir_module *scratch = ir_module_new("ways");
    struct ir_function *copy = ir_function_copy(scratch, f, NULL);
    struct ir_inst *variable = copy->body->first;
    struct marking m = {.n_branches = 0};
    recompute_set_numbers(copy, numbers);
    clamp_ids(copy, box, copy->n_params - 3);
    m.taken = ir_function_add_param(copy, "taken", IR_PTR(IR_SPACE_GLOBAL));
    struct ir_value *mark = ir_function_add_param(copy, "unwritten", variable->type);
    struct ir_builder b = ir_builder_before(variable->next);
    ir_build_store(&b, variable->type, variable->results[0], NULL, mark);
    ir_walk(copy->body, mark_branches, &m);
    pipeline_run(&pipeline_cleanup, copy);
    m.is_taken = ir_alloc(scratch, m.n_branches + 1);
    ir_walk(copy->body, see_branch, &m);
    bool written = is_written(copy->body->last->operands[0], NULL);
    m.n_branches = 0;
    if (written) ir_walk(f->body, decide, &m);
    ir_module_free(scratch);
    return written;
}
