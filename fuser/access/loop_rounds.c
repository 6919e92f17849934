/*
 * A counter that begins at an id and grows by a constant is the id and a multiple of the constant, as long as it does
 * not wrap. What tells that it does not is memory: where each round touches an element of a parameter by this number,
 * all of these lie within memory. So nothing has to be known of where the loop ends.
 */
#include "fuser/access/loop_rounds.h"

#include "fuser/access/affine_value.h"
#include "ir/core/assumptions.h"

enum { MAX_FACTOR = 4096 };

static const int64_t SMALL_MEMORY = IR_SMALL_MEMORY, LARGE_MEMORY = (int64_t)1 << 46; /* no buffer has more bytes */

static const struct ir_inst *maker(const struct ir_value *v)
{
    return v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
}

static const struct ir_value *unextended(const struct ir_value *v)
{
    const struct ir_inst *inst = maker(v);
    return inst && (inst->op == IR_OP_SEXT || inst->op == IR_OP_ZEXT) ? inst->operands[0] : v;
}

/* What is added to the counter, which may be done in more bits; 0: it is something else. */
static int64_t step_of(const struct access_walk *w, const struct ir_value *next, const struct ir_value *counter)
{
    const struct ir_inst *inst = maker(next);
    if (inst && inst->op == IR_OP_ITRUNC) inst = maker(inst->operands[0]);
    if (!inst || inst->op != IR_OP_ADD) return 0;
    for (unsigned i = 0; i < 2; i++) {
        struct affine by = affine_value(w, inst->operands[1 - i]);
        if (unextended(inst->operands[i]) == counter && affine_is_constant(&by)) return by.constant;
    }
    return 0;
}

/* Of each continue; -1: they are not the same. 0: none was seen. */
static int64_t step_of_all(const struct access_walk *w, const struct ir_block *block, uint32_t index,
                           const struct ir_value *counter)
{
    int64_t step = 0;
    for (const struct ir_inst *inst = block->first; inst && step >= 0; inst = inst->next) {
        int64_t found[2] = {0, 0};
        if (inst->op == IR_OP_CONTINUE) {
            found[0] = step_of(w, inst->operands[index], counter);
            if (found[0] <= 0) return -1;
        }
        for (unsigned b = 0; b < 2 && inst->op == IR_OP_IF; b++)
            found[b] = step_of_all(w, inst->blocks[b], index, counter);
        for (unsigned b = 0; b < 2; b++) {
            if (!found[b]) continue;
            step = !step || step == found[b] ? found[b] : -1;
        }
    }
    return step;
}

static bool goes_on(const struct ir_block *block)
{
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) {
        if (inst->op == IR_OP_CONTINUE) return true;
        if (inst->op == IR_OP_IF && (goes_on(inst->blocks[0]) || goes_on(inst->blocks[1]))) return true;
    }
    return false;
}

/* The factor of the counter in an index that is a multiple of it and perhaps a constant; 0: it is something else. */
static int64_t factor_in(const struct access_walk *w, const struct ir_value *index, const struct ir_value *counter)
{
    const struct ir_inst *inst = maker(index = unextended(index));
    if (index == counter) return 1;
    if (!inst || inst->n_operands != 2) return 0;
    struct affine by = affine_value(w, inst->operands[1]);
    int64_t factor = factor_in(w, inst->operands[0], counter), low_bits = factor & -factor;
    if (!factor || !affine_is_constant(&by)) return 0;
    bool is_small = by.constant > 0 && by.constant <= MAX_FACTOR;
    switch (inst->op) {
    case IR_OP_ADD: return factor;
    case IR_OP_OR: return by.constant >= 0 && by.constant < low_bits ? factor : 0;
    case IR_OP_SHL: return by.constant >= 0 && by.constant < 12 ? factor << by.constant : 0;
    case IR_OP_MUL: return is_small ? factor * by.constant : 0;
    default: return 0;
    }
}

static bool is_parameter(const struct ir_value *v)
{
    while (maker(v) && maker(v)->op == IR_OP_SPACECAST) v = maker(v)->operands[0];
    return v->kind == IR_VALUE_PARAM;
}

/* Each round that is followed by another one touches an element whose number is a multiple of the counter. In between
   elements move by less than half of what 32 bits can say, so that those inside of memory do not wrap. */
static bool touches_memory(const struct access_walk *w, const struct ir_block *body, const struct ir_value *counter,
                           int64_t step)
{
    for (const struct ir_inst *inst = body->first; inst && inst->op != IR_OP_CONTINUE; inst = inst->next) {
        if (inst->op == IR_OP_IF && (goes_on(inst->blocks[0]) || goes_on(inst->blocks[1]))) return false;
        if (inst->op != IR_OP_LOAD && inst->op != IR_OP_STORE) continue;
        const struct ir_inst *elem = maker(inst->operands[0]);
        if (!elem || elem->op != IR_OP_ELEM || !is_parameter(elem->operands[0])) continue;
        int64_t factor = factor_in(w, elem->operands[1], counter);
        if (factor > 0 && factor <= MAX_FACTOR && factor * step < SMALL_MEMORY &&
            ir_type_size(w->kernel->module, elem->type))
            return true;
    }
    return false;
}

static bool has_global_id(const struct affine *a)
{
    return a->factor[AFFINE_GLOBAL] || a->factor[AFFINE_GLOBAL + 1] || a->factor[AFFINE_GLOBAL + 2];
}

static void find_rounds(struct access_walk *w, const struct ir_inst *loop, uint32_t index)
{
    const struct ir_block *body = loop->blocks[0];
    const struct ir_value *counter = body->args[index];
    struct affine start = affine_value(w, loop->operands[index]);
    int64_t low, high, step = step_of_all(w, body, index, counter),
                       memory = w->small_memory ? SMALL_MEMORY : LARGE_MEMORY;
    unsigned bits = ir_type_bits(counter->type);
    if (step <= 0 || step >= SMALL_MEMORY || !affine_is_exact(&start) || !has_global_id(&start)) return;
    if (!affine_range(&start, &w->bounds, &low, &high) || low < 0 || high >= SMALL_MEMORY) return;
    if ((bits != 64 && !(bits == 32 && w->small_memory)) || !touches_memory(w, body, counter, step)) return;
    /* A round that touches its element, or the one behind it. */
    struct affine rounds = {.known = true, .high = memory + step, .step = step};
    w->sums[access_value_number(counter)] = affine_add(&start, &rounds);
}

void loop_rounds_find(struct access_walk *w, const struct ir_inst *loop)
{
    const struct ir_block *body = loop->blocks[0];
    for (uint32_t i = 0; i < body->n_args; i++)
        if (ir_type_is_int(body->args[i]->type) && !ir_type_is_vector(body->args[i]->type)) find_rounds(w, loop, i);
}
