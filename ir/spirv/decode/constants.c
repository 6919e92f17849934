/* Constants of numbers, and specialization constants computed from others. Those of structs and arrays are looked
 * into where they are used. */
#include "ir/spirv/decode/constants.h"

#include <string.h>

#include "ir/eval/eval.h"
#include "ir/spirv/decode/constant_values.h"
#include "ir/spirv/decode/simple_ops.h"
#include "ir/spirv/decode/specialize.h"

static void set_constant(struct spirv_reader *r, uint32_t id, struct ir_value *v)
{
    r->constants[id] = v;
}

/* ---- scalars ---- */

static void read_bool(struct spirv_reader *r, const struct spirv_inst *i)
{
    uint64_t v = i->op == SpvOpConstantTrue || i->op == SpvOpSpecConstantTrue;
    if (i->op == SpvOpSpecConstantTrue || i->op == SpvOpSpecConstantFalse) spirv_specialized(r, i, &v);
    set_constant(r, i->id, ir_const_bool(r->module, v != 0));
}

static void read_scalar(struct spirv_reader *r, const struct spirv_inst *i)
{
    ir_type t = r->types[i->type].ir;
    uint64_t bits = i->words[3];
    if (i->n > 4) bits |= (uint64_t)i->words[4] << 32;
    if (i->op == SpvOpSpecConstant) spirv_specialized(r, i, &bits);
    set_constant(r, i->id, ir_const_int(r->module, t, bits));
}

/* ---- vectors ---- */

static void read_vector(struct spirv_reader *r, const struct spirv_inst *i)
{
    uint64_t lanes[IR_MAX_LANES] = {0};
    bool all_undef = true;
    for (uint32_t k = 3; k < i->n; k++) {
        const struct ir_value *part = r->constants[i->words[k]];
        if (!part) return;
        if (part->kind == IR_VALUE_CONST) {
            lanes[k - 3] = part->of.lanes[0];
            all_undef = false;
        }
    }
    ir_type t = r->types[i->type].ir;
    set_constant(r, i->id, all_undef ? ir_undef(r->module, t) : ir_const(r->module, t, lanes));
}

/* ---- computed ones ---- */

/* Extraction, insertion and shuffles of vectors. */
static bool compute_lanes(struct spirv_reader *r, const struct spirv_inst *i, uint64_t lanes[IR_MAX_LANES])
{
    const uint32_t *w = i->words + 4;
    uint32_t n = i->n - 4u;
    const struct ir_value *x = spirv_constant_value(r, w[0]), *y = n > 1 ? spirv_constant_value(r, w[1]) : NULL;
    if (!x) return false;
    unsigned x_lanes = ir_type_lanes(x->type);
    switch (i->words[3]) {
    case SpvOpCompositeExtract:
        if (n != 2 || w[1] >= x_lanes) return false;
        lanes[0] = x->of.lanes[w[1]];
        return true;
    case SpvOpCompositeInsert:
        if (!y || n != 3 || w[2] >= ir_type_lanes(y->type)) return false;
        memcpy(lanes, y->of.lanes, ir_type_lanes(y->type) * sizeof *lanes);
        lanes[w[2]] = x->of.lanes[0];
        return true;
    case SpvOpVectorShuffle:
        if (!y || n > 2 + IR_MAX_LANES) return false;
        for (uint32_t k = 2; k < n; k++) {
            uint32_t lane = w[k];
            if (lane < x_lanes) {
                lanes[k - 2] = x->of.lanes[lane];
            } else if (lane - x_lanes < ir_type_lanes(y->type)) {
                lanes[k - 2] = y->of.lanes[lane - x_lanes];
            }
        }
        return true;
    default: return false;
    }
}

static bool compute_constant(struct spirv_reader *r, const struct spirv_inst *i, uint64_t lanes[IR_MAX_LANES])
{
    if (i->n < 5) return false;
    if (compute_lanes(r, i, lanes)) return true;
    struct ir_value *operands[3];
    const uint64_t *words[3];
    uint32_t n = i->n - 4u;
    if (n > 3) return false;
    for (uint32_t k = 0; k < n; k++) {
        operands[k] = (struct ir_value *)spirv_constant_value(r, i->words[4 + k]);
        if (!operands[k]) return false;
        words[k] = operands[k]->of.lanes;
    }
    struct ir_inst inst = {.n_operands = n, .operands = operands};
    if (!spirv_simple(i->words[3], r->types[i->type].ir, operands, n, &inst.op, &inst.type)) return false;
    return ir_eval(&inst, words, lanes);
}

void spirv_read_constant(struct spirv_reader *r, const struct spirv_inst *i)
{
    const struct spirv_type *t = &r->types[i->type];
    if (!t->known || t->leaves != 1 || !(ir_type_is_number(t->ir) || ir_type_is_ptr(t->ir))) return;
    uint64_t lanes[IR_MAX_LANES] = {0};
    switch (i->op) {
    case SpvOpUndef: set_constant(r, i->id, ir_undef(r->module, t->ir)); break;
    case SpvOpConstantNull: set_constant(r, i->id, ir_const(r->module, t->ir, lanes)); break;
    case SpvOpConstantTrue:
    case SpvOpConstantFalse:
    case SpvOpSpecConstantTrue:
    case SpvOpSpecConstantFalse: read_bool(r, i); break;
    case SpvOpConstant:
    case SpvOpSpecConstant: read_scalar(r, i); break;
    case SpvOpConstantComposite:
    case SpvOpSpecConstantComposite:
        if (ir_type_is_vector(t->ir)) read_vector(r, i);
        break;
    case SpvOpSpecConstantOp:
        if (ir_type_is_number(t->ir) && compute_constant(r, i, lanes))
            set_constant(r, i->id, ir_const(r->module, t->ir, lanes));
        break;
    default: break;
    }
}
