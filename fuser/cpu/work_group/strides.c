/*
 * Strides that only the run knows. In a tree of sums over twice the distance each time, `part[d * (2 * l + 1) - 1]`,
 * half of the work is in the first step and a quarter in the second: there lanes are near each other, and registers
 * full of numbers are moved and shuffled. Where they are far apart nothing is better than one by one.
 */
#include "fuser/cpu/work_group/strides.h"

#include <string.h>

#include "fuser/cpu/emit/memory.h"
#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/work_group/one_by_one.h"

struct finder {
    const struct emit *e;
    const struct uniformity *rows;
    struct assumed *assumed;
    const struct ir_value *factor;
    bool shifts, differs;
};

static struct shape shape_of(const struct finder *f, const struct ir_value *v)
{
    return v->kind < IR_VALUE_PARAM ? (struct shape){SHAPE_UNIFORM, 0, false} : f->rows->values[v->scratch];
}

/* Whether it is there before the row. */
static bool is_known_before(const struct finder *f, const struct ir_value *v)
{
    return v->kind == IR_VALUE_PARAM || (v->kind > IR_VALUE_PARAM && f->e->values->shared[v->scratch]);
}

/* The operand that something growing is multiplied with; NULL: it is no such product. */
static const struct ir_value *factor_of(const struct finder *f, const struct ir_inst *inst)
{
    if (inst->op != IR_OP_MUL && inst->op != IR_OP_SHL) return NULL;
    if (ir_type_lanes(inst->type) > 1 || ir_type_bits(inst->type) < 32) return NULL;
    for (int k = 0; k < (inst->op == IR_OP_MUL ? 2 : 1); k++) {
        const struct ir_value *factor = inst->operands[1 - k];
        struct shape grows = shape_of(f, inst->operands[k]);
        if (grows.kind == SHAPE_LINEAR && shape_of(f, factor).kind == SHAPE_UNIFORM && is_known_before(f, factor))
            return factor;
    }
    return NULL;
}

static void see_inst(struct ir_inst *inst, void *data)
{
    struct finder *f = data;
    const struct ir_value *factor = factor_of(f, inst);
    if (!factor) return;
    bool shifts = inst->op == IR_OP_SHL;
    if (f->factor && (f->factor != factor || f->shifts != shifts)) f->differs = true;
    f->factor = factor;
    f->shifts = shifts;
    f->assumed[inst->scratch].factor = 1;
}

/* Whether it changes from round to round of a loop around the row: else one case would do. */
static bool is_in_loop(const struct ir_inst *first)
{
    const struct ir_inst *around = first->parent->parent;
    while (around && around->op != IR_OP_LOOP) around = around->parent->parent;
    return around;
}

struct strides strides_find(const struct emit *e, const struct ir_inst *first, const struct ir_inst *end,
                            const struct row_tests *tests)
{
    uint32_t n = e->values->uniformity.n_insts;
    struct strides s = {0};
    struct finder f = {.e = e, .rows = tests->n ? &tests->uniformity : &e->values->uniformity};
    if (e->compact || !is_in_loop(first)) return s;
    f.assumed = arena_alloc(e->arena, n * sizeof *f.assumed);
    memcpy(f.assumed, tests->assumed, n * sizeof *f.assumed);
    for (const struct ir_inst *i = first; i && i != end; i = i->next) {
        see_inst((struct ir_inst *)i, &f);
        for (int b = 0; b < 2; b++)
            if (i->blocks[b]) ir_walk(i->blocks[b], see_inst, &f);
    }
    if (!f.factor || f.differs) return s;
    for (; s.n < MOST_STRIDES; s.n++) {
        struct assumed *assumed = arena_alloc(e->arena, n * sizeof *assumed);
        memcpy(assumed, f.assumed, n * sizeof *assumed);
        for (uint32_t i = 0; i < n; i++) assumed[i].factor <<= s.n;
        s.is[s.n] = f.shifts ? s.n : 1u << s.n;
        s.assumed[s.n] = assumed;
        uniformity_find_where(&s.uniformity[s.n], e->arena, e->kernel, TOGETHER_ROW, assumed);
        e->memory->products = assumed;
        bool far = runs_one_by_one(e, first, end, &s.uniformity[s.n]);
        e->memory->products = NULL;
        if (far) break;
    }
    s.factor = f.factor;
    return s;
}
