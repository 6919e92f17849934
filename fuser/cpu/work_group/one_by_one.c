/*
 * Whether the work-items of a row are better run one by one. A gather or a scatter of a vector takes as long as many
 * scalar instructions for each of its lanes, with numbers put into registers and taken out again. Where a region does
 * little else, as the steps of a scan in work-group memory whose distances double, scalar code is faster and a fraction
 * of the size.
 */
#include "fuser/cpu/work_group/one_by_one.h"

#include "fuser/cpu/emit/memory.h"
#include "fuser/cpu/lower/interleaved.h"
#include "fuser/cpu/prepare/frame.h"
#include "fuser/cpu/prepare/read_back.h"
#include "fuser/cpu/target/isa.h"
#include "ir/core/facts.h"

/* In quarters of a cycle for each work-item. */
enum { GATHER = 6, SCATTER = 12, SCALAR = 1, ROUND = 4 };

struct costs {
    const struct emit *e;
    const struct uniformity *uniformity;
    const struct assumed *products;
    unsigned vector, scalar;
    bool prevented, has_far_vectors; /* of the kernel's own: of these accesses costs say nothing */
};

static struct shape shape_of(const struct costs *c, const struct ir_value *v)
{
    return v->kind < IR_VALUE_PARAM ? (struct shape){SHAPE_UNIFORM, 0, false} : c->uniformity->values[v->scratch];
}

/* Whether the numbers of neighbours are moved by whole registers, if with shuffles. */
static bool is_near(const struct costs *c, const struct ir_inst *inst)
{
    struct shape address = shape_of(c, inst->operands[0]);
    int64_t bytes = (int64_t)ir_type_size(c->e->module, inst->type), words = address.stride / 4;
    if (address.kind != SHAPE_LINEAR || address.stride == bytes) return address.kind != SHAPE_VARYING;
    if (address.stride <= 0 || address.stride % 4 || words & (words - 1)) return false;
    if (words > (int64_t)interleaved_most_own(c->e, (unsigned)bytes)) return false;
    return inst->op == IR_OP_LOAD || c->e->isa->bit_masks ||
           frame_place(c->uniformity, c->products, inst, (uint64_t)address.stride) >= 0;
}

static void see_access(struct costs *c, const struct ir_inst *inst)
{
    bool is_far = !is_near(c, inst);
    c->scalar += SCALAR * ir_type_lanes(inst->type);
    c->prevented |= inst->attrs.is_volatile && !is_read_back(inst);
    c->has_far_vectors |= is_far && ir_type_lanes(inst->type) > 1;
    if (is_far) c->vector += inst->op == IR_OP_LOAD ? GATHER : SCATTER;
}

static void see_inst(struct ir_inst *inst, void *data)
{
    struct costs *c = data;
    switch (inst->op) {
    case IR_OP_LOAD:
    case IR_OP_STORE: see_access(c, inst); return;
    case IR_OP_IF: c->prevented |= c->uniformity->divergent[inst->scratch] && !is_read_back(inst); return;
    case IR_OP_LOOP:
        c->prevented |= !loop_reads_back(inst);
        c->scalar += ROUND;
        return;
    case IR_OP_BARRIER:
    case IR_OP_YIELD:
    case IR_OP_BREAK:
    case IR_OP_CONTINUE: return;
    default: break;
    }
    bool is_simple =
        (ir_op_info(inst->op)->flags & IR_FLAG_PURE) && inst->n_results == 1 && ir_op_class(inst->op) != IR_CLASS_MATH;
    if (!is_simple)
        c->prevented = true;
    else if (shape_of(c, inst->results[0]).kind != SHAPE_UNIFORM)
        c->scalar += SCALAR * ir_type_lanes(inst->results[0]->type);
}

static struct costs costs_of(const struct emit *e, const struct ir_inst *first, const struct ir_inst *end,
                             const struct uniformity *uniformity)
{
    struct costs c = {.e = e, .uniformity = uniformity, .products = e->memory->products, .scalar = ROUND};
    c.prevented = !e->regions || e->sub_groups || e->width == 1;
    for (const struct ir_inst *i = first; i && i != end && !c.prevented; i = i->next) {
        see_inst((struct ir_inst *)i, &c);
        for (int b = 0; b < 2; b++)
            if (i->blocks[b]) ir_walk(i->blocks[b], see_inst, &c);
    }
    return c;
}

bool can_run_one_by_one(const struct emit *e, const struct ir_inst *first, const struct ir_inst *end,
                        const struct uniformity *uniformity)
{
    return !costs_of(e, first, end, uniformity).prevented;
}

bool runs_one_by_one(const struct emit *e, const struct ir_inst *first, const struct ir_inst *end,
                     const struct uniformity *uniformity)
{
    struct costs c = costs_of(e, first, end, uniformity);
    return !c.prevented && !c.has_far_vectors && c.vector > c.scalar;
}
