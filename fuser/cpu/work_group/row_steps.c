/*
 * A tree of sums may be gone up by work-items that are further apart with each step. In vectors all lanes but some
 * would be masked off, and what is stored under a mask the next step waits for. So those work-items run one by one, and
 * the others not at all.
 */
#include "fuser/cpu/work_group/row_steps.h"

#include "fuser/cpu/emit/ids.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/work_group/local_value.h"
#include "fuser/cpu/work_group/row_tests.h"
#include "ir/core/edit.h"
#include "ir/core/facts.h"

/* What a vector costs under masks, in operations: each of its own twice, and waiting for what was stored so. */
enum { MASKED = 2, WAITING = 40, FUNCTION = 16 };

static bool does_nothing(const struct ir_inst *inst)
{
    if (inst->op == IR_OP_BARRIER || ir_op_info(inst->op)->flags & IR_FLAG_PURE) return true;
    return ir_op_class(inst->op) == IR_CLASS_ND_RANGE || (inst->op == IR_OP_LOAD && !inst->attrs.is_volatile);
}

/* The one if that does what the region does, and only where its condition holds. */
static const struct ir_inst *only_if(const struct ir_inst *first, const struct ir_inst *end)
{
    const struct ir_inst *found = NULL;
    for (const struct ir_inst *i = first; i && i != end; i = i->next) {
        if (does_nothing(i)) continue;
        if (found || i->op != IR_OP_IF || i->n_results || i->blocks[1]->first->op != IR_OP_YIELD) return NULL;
        found = i;
    }
    return found && found->operands[0]->kind == IR_VALUE_RESULT ? found : NULL;
}

/* For whom it holds: the first, and at even distances others up to the row's end. */
static bool find_items(const struct ir_value *condition, uint32_t extent, struct row_steps *s)
{
    uint32_t n = 0, last = 0;
    for (uint32_t item = 0; item < extent; item++) {
        uint64_t holds;
        if (!local_value_at(condition, 0, item, &holds)) return false;
        if (!(holds & 1)) continue;
        if (!n) s->from = item;
        if (n == 1) s->step = item - last;
        if (n > 1 && item - last != s->step) return false;
        last = item;
        n++;
    }
    s->to = last + 1;
    return n > 1 && s->step > 1;
}

static void add_cost(struct ir_inst *inst, void *data)
{
    *(unsigned *)data += ir_op_is_function(inst->op) ? FUNCTION : 1;
}

static bool pays(const struct emit *e, const struct ir_inst *branch, uint32_t extent, const struct row_steps *s)
{
    unsigned cost = 0;
    ir_walk(branch->blocks[0], add_cost, &cost);
    uint64_t items = (s->to - s->from - 1) / s->step + 1, vectors = (extent + e->width - 1) / e->width;
    return items * cost <= vectors * (MASKED * cost + WAITING);
}

struct row_steps row_steps_find(struct emit *e, const struct ir_inst *first, const struct ir_inst *end)
{
    struct row_steps s = {0}, none = {0};
    const struct ir_inst *branch = only_if(first, end);
    uint32_t extent = e->ids->known_extent[0];
    if (!branch || e->width == 1 || !extent || extent > LONGEST_KNOWN_ROW) return none;
    const struct ir_value *condition = branch->operands[0];
    if (value_shape(e, condition).kind == SHAPE_UNIFORM) return none;
    if (!find_items(condition, extent, &s) || !pays(e, branch, extent, &s)) return none;
    s.decided = arena_alloc(e->arena, e->values->uniformity.n_insts * sizeof *s.decided);
    s.decided[condition->of.inst->scratch] = 1;
    return s;
}
