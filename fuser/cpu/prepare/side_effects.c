/* What may run though no lane is active: operations on values do no harm; memory must not be touched, and a loop might
   not end. */
#include "fuser/cpu/prepare/side_effects.h"

struct survey {
    unsigned cost;
    bool effects;
};

static void survey_inst(struct ir_inst *inst, void *data)
{
    struct survey *s = data;
    unsigned flags = ir_op_info(inst->op)->flags;
    s->cost += ir_op_is_function(inst->op) ? 16 : 1;
    if (!(flags & (IR_FLAG_PURE | IR_FLAG_TERMINATOR)) && inst->op != IR_OP_IF) s->effects = true;
}

bool side_effects_none(const struct ir_inst *from, const struct ir_inst *end, unsigned most)
{
    struct survey s = {0, false};
    for (const struct ir_inst *i = from; i && i != end; i = i->next) {
        survey_inst((struct ir_inst *)i, &s);
        for (int b = 0; b < 2; b++)
            if (i->blocks[b]) ir_walk(i->blocks[b], survey_inst, &s);
    }
    return !s.effects && s.cost <= most;
}

bool side_effects_none_but_loads(const struct ir_inst *from, const struct ir_inst *end)
{
    for (const struct ir_inst *i = from; i && i != end; i = i->next) {
        bool is_id = ir_op_class(i->op) == IR_CLASS_ND_RANGE, loads = i->op == IR_OP_LOAD && !i->attrs.is_volatile;
        bool goes = i->op == IR_OP_YIELD || i->op == IR_OP_BREAK || i->op == IR_OP_CONTINUE, is_if = i->op == IR_OP_IF;
        if (!(ir_op_info(i->op)->flags & IR_FLAG_PURE) && !is_id && !loads && !goes && !is_if) return false;
        for (int b = 0; is_if && b < 2; b++)
            if (!side_effects_none_but_loads(i->blocks[b]->first, NULL)) return false;
    }
    return true;
}
