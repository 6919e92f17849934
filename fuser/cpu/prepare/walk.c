/* How an access goes on from round to round of the loop that it is in. */
#include "fuser/cpu/prepare/walk.h"

#include "fuser/passes/loops/loop_range.h"
#include "fuser/passes/util.h"
#include "ir/core/edit.h"
#include "ir/core/facts.h"

enum { DEEPEST = 12, LONGEST_STEP = 2048, FEW_ROUNDS = 8 };

static bool is_regular(const struct ir_value *v, unsigned depth)
{
    if (v->kind != IR_VALUE_RESULT) return true;
    const struct ir_inst *inst = v->of.inst;
    if (depth == DEEPEST || !(ir_op_info(inst->op)->flags & IR_FLAG_PURE)) return false;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (!is_regular(inst->operands[i], depth + 1)) return false;
    return true;
}

bool walk_is_regular(const struct ir_inst *access)
{
    return ir_enclosing_loop(access) && is_regular(access->operands[0], 0);
}

/* ---- steps ---- */

struct walk {
    const struct ir_module *module;
    const struct ir_inst *loop;
    const struct ir_inst *next; /* where the loop goes on; NULL: in several places */
    unsigned n_next;
    bool is_held;          /* at borders, where it stays as it is: so it grows by less at times */
    bool counts_units;     /* steps are multiples of a value that is known before the loop only ... */
    struct ir_value *unit; /* ... this one; NULL: none was found yet */
};

static void see_continue(struct ir_inst *inst, void *data)
{
    struct walk *w = data;
    if (inst->op != IR_OP_CONTINUE || ir_terminator_target(inst) != w->loop) return;
    w->next = w->n_next++ ? NULL : inst;
}

static bool find_step(struct walk *w, const struct ir_value *v, unsigned depth, int64_t *step);

/* Of two operands, the second one so many times. */
static bool sum_step(struct walk *w, const struct ir_inst *inst, int64_t times, unsigned depth, int64_t *step)
{
    int64_t first, second;
    if (!find_step(w, inst->operands[0], depth + 1, &first) || !find_step(w, inst->operands[1], depth + 1, &second))
        return false;
    *step = (int64_t)((uint64_t)first + (uint64_t)second * (uint64_t)times);
    return true;
}

/* What grows by a number in each round, times what is known before the loop, as row * n: that is the unit. */
static bool step_in_units(const struct walk *w, const struct ir_inst *inst, unsigned depth, int64_t *step,
                          struct ir_value **unit)
{
    struct walk numbers = *w;
    numbers.counts_units = false;
    for (uint32_t i = 0; w->counts_units && i < 2; i++) {
        struct ir_value *v = inst->operands[i];
        bool is_known = v->kind != IR_VALUE_CONST && !pass_is_inside(v, w->loop) && (!w->unit || w->unit == v);
        if (!is_known || !find_step(&numbers, inst->operands[1 - i], depth + 1, step) || !*step) continue;
        *unit = v;
        return true;
    }
    return false;
}

static bool scaled_step(struct walk *w, const struct ir_inst *inst, unsigned depth, int64_t *step)
{
    if (inst->op == IR_OP_MUL && step_in_units(w, inst, depth, step, &w->unit)) return true;
    uint64_t by;
    int64_t of;
    if (!ir_value_uint(inst->operands[1], &by) || !find_step(w, inst->operands[0], depth + 1, &of)) return false;
    *step = (int64_t)((uint64_t)of * (inst->op == IR_OP_SHL ? 1ull << (by & 63) : by));
    return true;
}

/* Whether a value is the unit that steps are counted in. */
static bool is_unit(struct walk *w, struct ir_value *v)
{
    if (!w->unit && v->type == IR_I64 && !pass_is_inside(v, w->loop)) w->unit = v;
    return w->unit == v;
}

/* What the loop carries: what is added to it. */
static bool carried_step(struct walk *w, const struct ir_value *v, int64_t *step)
{
    if (v->of.block->parent != w->loop || !w->next) return false;
    const struct ir_value *next = w->next->operands[v->index];
    uint64_t by = 1;
    if (next == v) return *step = 0, true;
    const struct ir_inst *inst = next->kind == IR_VALUE_RESULT ? next->of.inst : NULL;
    if (!inst || (inst->op != IR_OP_ADD && inst->op != IR_OP_ELEM) || inst->operands[0] != v) return false;
    if (w->counts_units ? !is_unit(w, inst->operands[1]) : !ir_value_uint(inst->operands[1], &by)) return false;
    if (inst->op == IR_OP_ELEM) by *= ir_type_size(w->module, inst->type);
    unsigned unused = inst->op == IR_OP_ELEM ? 0 : 64 - ir_type_bits(v->type);
    *step = (int64_t)(by << unused) >> unused;
    return true;
}

/* By how much a value grows from one round to the next; false: that is not known. */
static bool find_step(struct walk *w, const struct ir_value *v, unsigned depth, int64_t *step)
{
    *step = 0;
    if (!pass_is_inside(v, w->loop)) return true;
    if (depth == DEEPEST) return false;
    if (v->kind == IR_VALUE_BLOCK_ARG) return carried_step(w, v, step);
    const struct ir_inst *inst = v->of.inst;
    switch (inst->op) {
    case IR_OP_ADD: return sum_step(w, inst, 1, depth, step);
    case IR_OP_SUB: return sum_step(w, inst, -1, depth, step);
    case IR_OP_ELEM: return sum_step(w, inst, (int64_t)ir_type_size(w->module, inst->type), depth, step);
    case IR_OP_MUL:
    case IR_OP_SHL: return scaled_step(w, inst, depth, step);
    case IR_OP_SEXT:
    case IR_OP_ZEXT:
    case IR_OP_ITRUNC: /* fewer bits wrap */
        return ir_type_bits(inst->operands[0]->type) >= 32 && ir_type_bits(inst->type) >= 32 &&
               find_step(w, inst->operands[0], depth + 1, step);
    case IR_OP_SCLAMP:
    case IR_OP_UCLAMP:
    case IR_OP_SMIN:
    case IR_OP_SMAX: return w->is_held && find_step(w, inst->operands[0], depth + 1, step);
    case IR_OP_FIELD:
    case IR_OP_SPACECAST: return find_step(w, inst->operands[0], depth + 1, step);
    default: return ir_op_class(inst->op) == IR_CLASS_ND_RANGE;
    }
}

static bool step_of(const struct ir_module *module, const struct ir_inst *access, bool is_held, int64_t *step)
{
    struct walk w = {.module = module, .loop = ir_enclosing_loop(access), .is_held = is_held};
    ir_walk(w.loop->blocks[0], see_continue, &w);
    return find_step(&w, access->operands[0], 0, step);
}

bool walk_step(const struct ir_module *module, const struct ir_inst *access, int64_t *step)
{
    return step_of(module, access, false, step);
}

struct ir_value *walk_unit(const struct ir_module *module, const struct ir_inst *access, int64_t *times)
{
    struct walk w = {.module = module, .loop = ir_enclosing_loop(access), .counts_units = true};
    ir_walk(w.loop->blocks[0], see_continue, &w);
    return find_step(&w, access->operands[0], 0, times) ? w.unit : NULL;
}

/* Whether the loop ends soon, as that over the neighbours of a pixel does. */
static bool has_few_rounds(const struct ir_inst *loop)
{
    for (uint32_t i = 0; i < loop->blocks[0]->n_args; i++) {
        struct loop_range range;
        uint64_t first, bound;
        if (!loop_range_find(loop->blocks[0]->args[i], &range)) continue;
        if (!ir_value_uint(range.first, &first) || !ir_value_uint(range.bound, &bound)) continue;
        if ((bound - first) / range.step < FEW_ROUNDS) return true;
    }
    return false;
}

bool walk_leaps(const struct ir_module *module, const struct ir_inst *access)
{
    const struct ir_inst *loop = ir_enclosing_loop(access);
    int64_t step;
    if (!loop || has_few_rounds(loop)) return false;
    if (!step_of(module, access, true, &step)) return true;
    return step > LONGEST_STEP || step < -LONGEST_STEP;
}
