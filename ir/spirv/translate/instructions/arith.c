/* Instructions that are one operation of ir. */
#include "ir/spirv/translate/instructions/arith.h"

#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/simple_ops.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/values/fp_flags.h"
#include "ir/spirv/translate/values/values.h"

/* ---- instructions of several operations ---- */

/* The remainder with the divisor's sign. */
static struct ir_value *fmod_floor(struct spirv_body *s, ir_type t, struct ir_value *x, struct ir_value *y)
{
    struct ir_value *r = ir_build2(&s->b, IR_OP_FREM, t, x, y);
    struct ir_value *zero = ir_const_float(s->r->module, t, 0);
    struct ir_value *differ = ir_build2(&s->b, IR_OP_INE, ir_type_with_lanes(IR_BOOL, ir_type_lanes(t)),
                                        ir_build1(&s->b, IR_OP_SIGNBIT, t, r), ir_build1(&s->b, IR_OP_SIGNBIT, t, y));
    struct ir_value *some = ir_build2(&s->b, IR_OP_FUNE, t, r, zero);
    struct ir_value *moved = ir_build2(&s->b, IR_OP_FADD, t, r, y);
    struct ir_value *both = ir_build2(&s->b, IR_OP_AND, differ->type, differ, some);
    return ir_build3(&s->b, IR_OP_SELECT, t, both, moved, r);
}

static void emit_pair(struct spirv_body *s, const struct spirv_inst *i, enum ir_op low, enum ir_op high)
{
    struct ir_value *x = spirv_value(s, i, i->words[3]), *y = spirv_value(s, i, i->words[4]), *pair[2];
    ir_type t = x->type;
    pair[0] = ir_build2(&s->b, low, t, x, y);
    if (low == IR_OP_MUL) {
        pair[1] = ir_build2(&s->b, high, t, x, y);
    } else { /* a carry out of the sum, or a borrow */
        struct ir_value *carry =
            ir_build2(&s->b, IR_OP_ULT, t, low == IR_OP_ADD ? pair[0] : x, low == IR_OP_ADD ? x : y);
        pair[1] = ir_build1(&s->b, IR_OP_ZEXT, t, carry);
    }
    spirv_set_all(s, i->id, pair);
}

static void emit_select(struct spirv_body *s, const struct spirv_inst *i)
{
    struct ir_value *cond = spirv_value(s, i, i->words[3]);
    struct ir_value *const *x = spirv_values(s, i, i->words[4]), *const *y = spirv_values(s, i, i->words[5]);
    uint32_t n = spirv_leaves(s->r, i->type);
    struct ir_value **r = arena_alloc(s->r->arena, (n + 1) * sizeof(*r));
    for (uint32_t k = 0; k < n; k++) r[k] = ir_build3(&s->b, IR_OP_SELECT, x[k]->type, cond, x[k], y[k]);
    if (n) spirv_set_all(s, i->id, r);
}

static bool emit_special(struct spirv_body *s, const struct spirv_inst *i)
{
    ir_type t = i->type ? spirv_result_type(s->r, i) : IR_VOID;
    switch (i->op) {
    case SpvOpFMod:
        spirv_set(s, i, fmod_floor(s, t, spirv_value(s, i, i->words[3]), spirv_value(s, i, i->words[4])));
        return true;
    case SpvOpVectorTimesScalar: {
        struct ir_value *splat = ir_build1(&s->b, IR_OP_SPLAT, t, spirv_value(s, i, i->words[4]));
        spirv_set(s, i, ir_build2(&s->b, IR_OP_FMUL, t, spirv_value(s, i, i->words[3]), splat));
        return true;
    }
    case SpvOpDot: {
        struct ir_value *x = spirv_value(s, i, i->words[3]);
        if (ir_type_lanes(x->type) > 4) {
            spirv_fail(s->r, i, "of %u components; 4 are the most", ir_type_lanes(x->type));
        } else {
            spirv_set(s, i, ir_build2(&s->b, IR_OP_DOT, x->type, x, spirv_value(s, i, i->words[4])));
        }
        return true;
    }
    case SpvOpIAddCarry: emit_pair(s, i, IR_OP_ADD, IR_OP_ADD); return true;
    case SpvOpISubBorrow: emit_pair(s, i, IR_OP_SUB, IR_OP_SUB); return true;
    case SpvOpUMulExtended: emit_pair(s, i, IR_OP_MUL, IR_OP_UMUL_HI); return true;
    case SpvOpSMulExtended: emit_pair(s, i, IR_OP_MUL, IR_OP_SMUL_HI); return true;
    case SpvOpBitFieldInsert: {
        struct ir_value *o[4] = {spirv_value(s, i, i->words[3]), spirv_value(s, i, i->words[4]),
                                 spirv_as_int(s, spirv_value(s, i, i->words[5]), IR_I32),
                                 spirv_as_int(s, spirv_value(s, i, i->words[6]), IR_I32)};
        spirv_set(s, i, ir_build(&s->b, IR_OP_BITFIELD_INSERT, t, o, 4)->results[0]);
        return true;
    }
    case SpvOpBitFieldSExtract:
    case SpvOpBitFieldUExtract:
        spirv_set(s, i,
                  ir_build3(&s->b, i->op == SpvOpBitFieldSExtract ? IR_OP_SBITFIELD_EXTRACT : IR_OP_UBITFIELD_EXTRACT,
                            t, spirv_value(s, i, i->words[3]), spirv_as_int(s, spirv_value(s, i, i->words[4]), IR_I32),
                            spirv_as_int(s, spirv_value(s, i, i->words[5]), IR_I32)));
        return true;
    case SpvOpSelect: emit_select(s, i); return true;
    case SpvOpExpectKHR: spirv_set_all(s, i->id, spirv_values(s, i, i->words[3])); return true;
    default: return false;
    }
}

bool spirv_emit_arith(struct spirv_body *s, const struct spirv_inst *i)
{
    if (emit_special(s, i)) return true;
    enum spirv_shape shape;
    if (!spirv_simple_shape(i->op, &shape) || shape == SPIRV_NUMBERS) return false;
    struct ir_value *operands[2];
    uint32_t n = i->n - 3u;
    if (n < 1 || n > 2) return false;
    for (uint32_t k = 0; k < n; k++) operands[k] = spirv_value(s, i, i->words[3 + k]);
    if (shape == SPIRV_SHIFT) operands[1] = spirv_as_int(s, operands[1], operands[0]->type);
    enum ir_op op;
    ir_type t;
    if (spirv_failed(s->r) || !spirv_simple(i->op, spirv_result_type(s->r, i), operands, n, &op, &t)) return false;
    struct ir_inst *inst = ir_build(&s->b, op, t, operands, n);
    for (const char *a = ir_op_info(op)->attrs; *a; a++)
        if (*a == 'f') inst->attrs.fp = spirv_fp_flags(s, i->id);
    spirv_set(s, i,
              i->op == SpvOpBitCount ? spirv_as_int(s, inst->results[0], spirv_result_type(s->r, i))
                                     : inst->results[0]);
    return true;
}
