/* Instructions that depend on their operands alone, part by part. */
#include "fuser/spirv/numbers/pure.h"

#include <spirv/unified1/OpenCL.std.h>
#include <spirv/unified1/spirv.h>
#include <string.h>

#include "fuser/spirv/numbers/by_pointer.h"
#include "fuser/spirv/numbers/convert.h"
#include "fuser/spirv/numbers/opencl.h"
#include "fuser/spirv/numbers/operation.h"
#include "fuser/spirv/numbers/vector.h"
#include "ir/formula/formula.h"

typedef struct formula_value value;

/* ---- part by part ---- */

/* The kind that an operation computes in: its result's, or bool. */
static enum ir_kind result_kind(const struct ir_inst *inst)
{
    return ir_type_kind(inst->results[0]->type);
}

/* A part of an operand; one that is the same for all lanes is repeated where parts have several. */
static value operand_part(struct spw *w, const struct ir_value *v, unsigned part, unsigned lanes)
{
    enum ir_kind kind = ir_type_kind(v->type);
    uint32_t id = spw_value(w, v)[spw_parts(w, v->type) == 1 ? 0 : part];
    if (spw_part_lanes(w, v->type) == 1 && lanes > 1) {
        uint32_t all[IR_MAX_LANES];
        for (unsigned i = 0; i < lanes; i++) all[i] = id;
        id = spw_construct(w, spw_number_type(w, kind, lanes), all, lanes);
    }
    return (value){kind, id, NULL};
}

static void by_parts(struct spw *w, const struct ir_inst *inst)
{
    const struct ir_value *out = inst->results[0];
    uint32_t parts[IR_MAX_LANES];
    w->lanes = spw_part_lanes(w, out->type);
    for (unsigned p = 0; p < spw_parts(w, out->type); p++) {
        value args[4] = {{0}};
        for (uint32_t i = 0; i < inst->n_operands; i++) args[i] = operand_part(w, inst->operands[i], p, w->lanes);
        value r = spw_is_conversion(inst)
                      ? spw_convert(w, inst, args[0])
                      : spw_compute(&w->formula, inst->op, result_kind(inst), inst->n_operands, args);
        parts[p] = (uint32_t)r.bits;
    }
    spw_set(w, out, parts);
}

/* ---- pointers ---- */

static uint32_t pointer_bits(struct spw *w, const struct ir_value *v)
{
    uint32_t id = spw_value1(w, v);
    return w->vulkan ? id : SPW_EMIT(w, SpvOpConvertPtrToU, spw_type_int(&w->m, 64, 1), id);
}

static bool pointers(struct spw *w, const struct ir_inst *inst)
{
    const struct ir_value *x = inst->operands[0];
    if ((inst->op == IR_OP_IEQ || inst->op == IR_OP_INE) && ir_type_is_ptr(x->type)) {
        uint32_t a = pointer_bits(w, x), b = pointer_bits(w, inst->operands[1]);
        unsigned opcode = inst->op == IR_OP_IEQ ? SpvOpIEqual : SpvOpINotEqual;
        spw_set1(w, inst->results[0], SPW_EMIT(w, opcode, spw_type_bool(&w->m, 1), a, b));
        return true;
    }
    if (inst->op == IR_OP_SELECT && ir_type_is_ptr(inst->type)) {
        uint32_t type = spw_part_type(w, inst->type), c = spw_value1(w, x);
        uint32_t a = spw_value1(w, inst->operands[1]), b = spw_value1(w, inst->operands[2]);
        spw_set1(w, inst->results[0], SPW_EMIT(w, SpvOpSelect, type, c, a, b));
        return true;
    }
    return false;
}

/* ---- all lanes together ---- */

/* All scalars of a value, each reduced with the next; a tree would round differently, and bools do not mind. */
static void any_or_all(struct spw *w, const struct ir_inst *inst)
{
    const struct ir_value *x = inst->operands[0];
    const struct formula *f = &w->formula;
    uint32_t lanes[IR_MAX_LANES];
    spw_split(w, x->type, spw_value(w, x), lanes);
    w->lanes = 1;
    value r = {0};
    enum ir_kind kind = ir_type_kind(x->type);
    for (unsigned i = 0; i < ir_type_lanes(x->type); i++) {
        value lane = {kind, lanes[i], NULL};
        if (kind != IR_KIND_BOOL)
            lane = spw_compute(f, IR_OP_SLT, IR_KIND_BOOL, 2, (value[]){lane, f->number(f, kind, 0)});
        enum ir_op op = inst->op == IR_OP_ANY ? IR_OP_OR : IR_OP_AND;
        r = i ? spw_compute(f, op, IR_KIND_BOOL, 2, (value[]){r, lane}) : lane;
    }
    spw_set1(w, inst->results[0], (uint32_t)r.bits);
}

static void geometric_by_formula(struct spw *w, const struct ir_inst *inst)
{
    enum ir_kind kind = result_kind(inst);
    unsigned n = ir_type_lanes(inst->operands[0]->type);
    value in[2][IR_MAX_LANES] = {{{0}}}, out[IR_MAX_LANES];
    for (uint32_t i = 0; i < inst->n_operands; i++)
        for (unsigned c = 0; c < n; c++) in[i][c] = (value){kind, spw_value(w, inst->operands[i])[c], NULL};
    w->lanes = 1;
    formula_geometric(&w->formula, inst->op, kind, n, in[0], in[1], out);
    uint32_t parts[IR_MAX_LANES];
    for (unsigned c = 0; c < ir_type_lanes(inst->results[0]->type); c++) parts[c] = (uint32_t)out[c].bits;
    spw_set(w, inst->results[0], parts);
}

static void geometric_by_library(struct spw *w, const struct ir_inst *inst)
{
    uint32_t operands[2], type = spw_part_type(w, inst->results[0]->type), function, r;
    for (uint32_t i = 0; i < inst->n_operands; i++) operands[i] = spw_value1(w, inst->operands[i]);
    bool scalar = ir_type_lanes(inst->operands[0]->type) == 1;
    if (spw_opencl_function(inst->op, &function))
        r = spw_emit_ext(w, "OpenCL.std", function, type, operands, inst->n_operands);
    else
        r = spw_emit_n(w, scalar ? SpvOpFMul : SpvOpDot, type, operands, inst->n_operands);
    spw_set1(w, inst->results[0], r);
}

void spw_pure(struct spw *w, const struct ir_inst *inst)
{
    if (pointers(w, inst) || spw_vector(w, inst) || spw_reinterpret(w, inst) || spw_by_pointer(w, inst)) return;
    switch (inst->op) {
    case IR_OP_ANY:
    case IR_OP_ALL: any_or_all(w, inst); break;
    case IR_OP_DOT ... IR_OP_NORMALIZE:
        if (w->vulkan)
            geometric_by_formula(w, inst);
        else
            geometric_by_library(w, inst);
        break;
    default: by_parts(w, inst); break;
    }
}
