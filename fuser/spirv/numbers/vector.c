/* Vectors. Where values are scalars side by side most of this is no instruction at all. */
#include "fuser/spirv/numbers/vector.h"

#include <spirv/unified1/OpenCL.std.h>
#include <spirv/unified1/spirv.h>
#include <string.h>

#include "fuser/spirv/numbers/operation.h"

typedef struct formula_value value;

static unsigned scalars_of(struct spw *w, const struct ir_value *v, uint32_t *scalars)
{
    spw_split(w, v->type, spw_value(w, v), scalars);
    return ir_type_lanes(v->type);
}

static void set_scalars(struct spw *w, const struct ir_inst *inst, const uint32_t *scalars)
{
    uint32_t parts[IR_MAX_LANES];
    spw_join(w, inst->results[0]->type, scalars, parts);
    spw_set(w, inst->results[0], parts);
}

static void put_together(struct spw *w, const struct ir_inst *inst)
{
    uint32_t scalars[2 * IR_MAX_LANES];
    unsigned n = 0;
    for (uint32_t i = 0; i < inst->n_operands; i++) n += scalars_of(w, inst->operands[i], scalars + n);
    set_scalars(w, inst, scalars);
}

static void splat(struct spw *w, const struct ir_inst *inst)
{
    uint32_t scalars[IR_MAX_LANES], x = spw_value1(w, inst->operands[0]);
    for (unsigned i = 0; i < ir_type_lanes(inst->type); i++) scalars[i] = x;
    set_scalars(w, inst, scalars);
}

static void shuffle(struct spw *w, const struct ir_inst *inst)
{
    uint32_t scalars[2 * IR_MAX_LANES], picked[IR_MAX_LANES];
    unsigned n = scalars_of(w, inst->operands[0], scalars);
    scalars_of(w, inst->operands[1], scalars + n);
    for (unsigned i = 0; i < ir_type_lanes(inst->type); i++)
        picked[i] = scalars[inst->attrs.mask[i] < 0 ? 0 : inst->attrs.mask[i]];
    set_scalars(w, inst, picked);
}

/* ---- a lane that is not known ---- */

static value is_lane(struct spw *w, const struct ir_value *index, uint32_t id, uint64_t lane)
{
    const struct formula *f = &w->formula;
    enum ir_kind kind = ir_type_kind(index->type);
    return spw_compute(f, IR_OP_IEQ, IR_KIND_BOOL, 2, (value[]){{kind, id, NULL}, f->number(f, kind, lane)});
}

static uint32_t choose(struct spw *w, enum ir_kind kind, value condition, uint32_t x, uint32_t y)
{
    value args[3] = {condition, {kind, x, NULL}, {kind, y, NULL}};
    return (uint32_t)spw_compute(&w->formula, IR_OP_SELECT, kind, 3, args).bits;
}

/* One of several scalars, by a number. */
static uint32_t pick(struct spw *w, enum ir_kind kind, const uint32_t *scalars, unsigned n,
                     const struct ir_value *index, uint32_t id)
{
    uint32_t r = scalars[0];
    for (unsigned i = 1; i < n; i++) r = choose(w, kind, is_lane(w, index, id, i), scalars[i], r);
    return r;
}

static void extract(struct spw *w, const struct ir_inst *inst)
{
    const struct ir_value *v = inst->operands[0], *index = inst->operands[1];
    unsigned lanes = ir_type_lanes(v->type);
    uint64_t lane;
    uint32_t scalars[IR_MAX_LANES], type = spw_part_type(w, inst->results[0]->type), r;
    w->lanes = 1;
    if (ir_value_uint(index, &lane)) {
        r = spw_lane(w, v, lane < lanes ? (unsigned)lane : 0);
    } else if (!w->vulkan) {
        r = SPW_EMIT(w, SpvOpVectorExtractDynamic, type, spw_value1(w, v), spw_value1(w, index));
    } else {
        scalars_of(w, v, scalars);
        r = pick(w, ir_type_kind(v->type), scalars, lanes, index, spw_value1(w, index));
    }
    spw_set1(w, inst->results[0], r);
}

static void insert(struct spw *w, const struct ir_inst *inst)
{
    const struct ir_value *v = inst->operands[0], *index = inst->operands[2];
    uint32_t scalars[IR_MAX_LANES], x = spw_value1(w, inst->operands[1]), parts[IR_MAX_LANES];
    uint32_t type = spw_part_type(w, v->type);
    unsigned lanes = ir_type_lanes(v->type), known = spw_parts(w, v->type);
    uint64_t lane;
    w->lanes = 1;
    memcpy(parts, spw_value(w, v), known * sizeof *parts);
    bool constant = ir_value_uint(index, &lane);
    if (constant && lane >= lanes) lane = 0;
    if (!w->vulkan) {
        parts[0] = constant ? SPW_EMIT(w, SpvOpCompositeInsert, type, x, parts[0], (uint32_t)lane)
                            : SPW_EMIT(w, SpvOpVectorInsertDynamic, type, parts[0], x, spw_value1(w, index));
    } else if (constant) {
        parts[lane] = x;
    } else {
        scalars_of(w, v, scalars);
        for (unsigned i = 0; i < lanes; i++)
            parts[i] = choose(w, ir_type_kind(v->type), is_lane(w, index, spw_value1(w, index), i), x, scalars[i]);
    }
    spw_set(w, inst->results[0], parts);
}

/* By the low bits of a vector of numbers. */
static void shuffle_by_numbers(struct spw *w, const struct ir_inst *inst)
{
    uint32_t operands[3], scalars[2 * IR_MAX_LANES], numbers[IR_MAX_LANES], picked[IR_MAX_LANES];
    const struct ir_value *mask = inst->operands[inst->n_operands - 1];
    if (!w->vulkan) {
        for (uint32_t i = 0; i < inst->n_operands; i++) operands[i] = spw_value1(w, inst->operands[i]);
        uint32_t function = inst->op == IR_OP_VSHUFFLE ? OpenCLstd_Shuffle : OpenCLstd_Shuffle2;
        uint32_t type = spw_part_type(w, inst->type);
        spw_set1(w, inst->results[0], spw_emit_ext(w, "OpenCL.std", function, type, operands, inst->n_operands));
        return;
    }
    unsigned n = 0;
    for (uint32_t i = 0; i + 1 < inst->n_operands; i++) {
        /* A vector of three counts as one of four. */
        unsigned lanes = scalars_of(w, inst->operands[i], scalars + n);
        if (lanes == 3) scalars[n + 3] = scalars[n];
        n += lanes == 3 ? 4 : lanes;
    }
    scalars_of(w, mask, numbers);
    enum ir_kind kind = ir_type_kind(mask->type);
    const struct formula *f = &w->formula;
    w->lanes = 1;
    for (unsigned i = 0; i < ir_type_lanes(inst->type); i++) {
        value low = spw_compute(f, IR_OP_AND, kind, 2, (value[]){{kind, numbers[i], NULL}, f->number(f, kind, n - 1)});
        picked[i] = pick(w, ir_type_kind(inst->type), scalars, n, mask, (uint32_t)low.bits);
    }
    set_scalars(w, inst, picked);
}

bool spw_vector(struct spw *w, const struct ir_inst *inst)
{
    switch (inst->op) {
    case IR_OP_VEC: put_together(w, inst); return true;
    case IR_OP_SPLAT: splat(w, inst); return true;
    case IR_OP_EXTRACT: extract(w, inst); return true;
    case IR_OP_INSERT: insert(w, inst); return true;
    case IR_OP_SHUFFLE: shuffle(w, inst); return true;
    case IR_OP_VSHUFFLE:
    case IR_OP_VSHUFFLE2: shuffle_by_numbers(w, inst); return true;
    default: return false;
    }
}
