/* Dot products of integers, of vectors and of four bytes in a word, with and without an accumulator. */
#include "ir/spirv/translate/instructions/dot.h"

#include <string.h>

#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/values/values.h"

static bool find_dot(unsigned op, struct spirv_dot *f)
{
    switch (op) {
    case SpvOpSDot: *f = (struct spirv_dot){IR_OP_SEXT, IR_OP_SEXT, IR_OP_COUNT}; return true;
    case SpvOpUDot: *f = (struct spirv_dot){IR_OP_ZEXT, IR_OP_ZEXT, IR_OP_COUNT}; return true;
    case SpvOpSUDot: *f = (struct spirv_dot){IR_OP_SEXT, IR_OP_ZEXT, IR_OP_COUNT}; return true;
    case SpvOpSDotAccSat: *f = (struct spirv_dot){IR_OP_SEXT, IR_OP_SEXT, IR_OP_SADD_SAT}; return true;
    case SpvOpUDotAccSat: *f = (struct spirv_dot){IR_OP_ZEXT, IR_OP_ZEXT, IR_OP_UADD_SAT}; return true;
    case SpvOpSUDotAccSat: *f = (struct spirv_dot){IR_OP_SEXT, IR_OP_ZEXT, IR_OP_SADD_SAT}; return true;
    default: return false;
    }
}

/* An operand's components, each as wide as t; a scalar is four bytes in a word. */
static struct ir_value *widened(struct spirv_body *s, const struct spirv_inst *i, uint32_t id, enum ir_op extend,
                                ir_type t)
{
    struct ir_value *v = spirv_value(s, i, id);
    if (spirv_failed(s->r)) return v;
    if (v->type == IR_I32) v = ir_build1(&s->b, IR_OP_BITCAST, IR_TYPE(IR_KIND_I8, 4, 0), v);
    if (ir_type_bits(v->type) == ir_type_bits(t)) return v;
    return ir_build1(&s->b, extend, ir_type_with_lanes(t, ir_type_lanes(v->type)), v);
}

static struct ir_value *sum_of(struct spirv_body *s, struct ir_value *v)
{
    ir_type t = ir_type_element(v->type);
    struct ir_value *sum = NULL;
    for (unsigned k = 0; k < ir_type_lanes(v->type); k++) {
        struct ir_value *one = ir_build2(&s->b, IR_OP_EXTRACT, v->type, v, spirv_int(s, IR_I32, k));
        sum = sum ? ir_build2(&s->b, IR_OP_ADD, t, sum, one) : one;
    }
    return sum;
}

void spirv_build_dot(struct spirv_body *s, const struct spirv_inst *i, const struct spirv_dot *f, const uint32_t *words)
{
    ir_type t = spirv_result_type(s->r, i);
    struct ir_value *x = widened(s, i, words[0], f->first, t), *y = widened(s, i, words[1], f->second, t);
    if (spirv_failed(s->r)) return;
    if (x->type != y->type) {
        spirv_fail(s->r, i, "has vectors of %u and %u components", ir_type_lanes(x->type), ir_type_lanes(y->type));
        return;
    }
    struct ir_value *sum = sum_of(s, ir_build2(&s->b, IR_OP_MUL, x->type, x, y));
    if (f->accumulate != IR_OP_COUNT) sum = ir_build2(&s->b, f->accumulate, t, sum, spirv_value(s, i, words[2]));
    if (!spirv_failed(s->r)) spirv_set(s, i, sum);
}

bool spirv_emit_dot(struct spirv_body *s, const struct spirv_inst *i)
{
    struct spirv_dot f;
    if (!find_dot(i->op, &f)) return false;
    spirv_build_dot(s, i, &f, i->words + 3);
    return true;
}
