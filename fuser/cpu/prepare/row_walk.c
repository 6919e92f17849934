/*
 * Loads by which lanes walk along rows: `a[row * n + j]` with a row for each lane, in a loop over j. In small memory an
 * index of 32 bits does not wrap on the way, for what lies on both sides is too far apart.
 */
#include "fuser/cpu/prepare/row_walk.h"

#include "fuser/cpu/prepare/parallel_regions.h"
#include "fuser/cpu/prepare/walk.h"
#include "fuser/passes/util.h"
#include "ir/core/facts.h"

static bool is_one_more(const struct ir_value *next, const struct ir_value *v)
{
    uint64_t one;
    if (next->kind != IR_VALUE_RESULT || next->of.inst->op != IR_OP_ADD) return false;
    struct ir_value *const *operands = next->of.inst->operands;
    return (operands[0] == v && ir_value_uint(operands[1], &one) && one == 1) ||
           (operands[1] == v && ir_value_uint(operands[0], &one) && one == 1);
}

static bool find_counter(struct row_walk *w)
{
    const struct ir_block *body = w->exit.loop->blocks[0];
    if (!less_of_loop(&w->exit, &w->less) || pass_is_inside(w->less.bound, w->exit.loop)) return false;
    for (w->counter = 0; w->counter < body->n_args; w->counter++) {
        const struct ir_value *v = body->args[w->counter], *next = w->exit.on->operands[w->counter];
        if (!is_one_more(next, v) || ir_type_bits(v->type) < 32) continue;
        w->tests_before = !w->exit.tests_first && w->less.value == v;
        if (w->exit.tests_first ? w->less.value == v : w->tests_before || w->less.value == next) return true;
    }
    return false;
}

bool row_walk_find(const struct uniformity *u, const struct ir_inst *load, struct row_walk *found)
{
    struct ir_inst *loop = ir_enclosing_loop(load);
    unsigned bits = ir_type_is_ptr(load->type) || ir_type_lanes(load->type) > 1 ? 0 : ir_type_bits(load->type);
    if (!loop || u->divergent[loop->scratch] || (bits != 32 && bits != 64) || !reads_constant_memory(load))
        return false;
    const struct ir_value *p = load->operands[0];
    if (p->kind != IR_VALUE_RESULT || u->values[p->scratch].kind != SHAPE_VARYING) return false;
    if (!u->small[p->scratch] || !loop_test_find(loop, &found->exit)) return false;
    if (pass_contains(loop, IR_OP_RETURN)) return false;
    if (load->parent != loop->blocks[0] && load->parent != found->exit.on->parent) return false;
    if (!find_counter(found)) return false;
    int64_t step;
    return walk_step(load->parent->function->module, load, &step) && step == (int64_t)bits / 8;
}
