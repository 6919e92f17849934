/* Shuffles, and masks of lanes. */
#include "ir/spirv/translate/instructions/lanes.h"

#include "ir/spirv/translate/values/values.h"

struct ir_value *spirv_low_bits(struct spirv_body *s, struct ir_value *n, unsigned k)
{
    struct ir_value *in_word = ir_build2(&s->b, IR_OP_USUB_SAT, IR_I32, n, spirv_int(s, IR_I32, 32 * k));
    in_word = ir_build2(&s->b, IR_OP_UMIN, IR_I32, in_word, spirv_int(s, IR_I32, 32));
    struct ir_value *one = spirv_int(s, IR_I64, 1), *wide = ir_build1(&s->b, IR_OP_ZEXT, IR_I64, in_word);
    struct ir_value *power = ir_build2(&s->b, IR_OP_SHL, IR_I64, one, wide);
    return ir_build1(&s->b, IR_OP_ITRUNC, IR_I32, ir_build2(&s->b, IR_OP_SUB, IR_I64, power, one));
}

struct ir_value *spirv_shuffle(struct spirv_body *s, enum ir_op op, struct ir_value *x, struct ir_value *id)
{
    return ir_build2(&s->b, op, x->type, x, spirv_as_int(s, id, IR_I32));
}

struct ir_value *spirv_shift(struct spirv_body *s, enum ir_op op, struct ir_value *x, struct ir_value *y,
                             struct ir_value *delta)
{
    return ir_build3(&s->b, op, x->type, x, y, spirv_as_int(s, delta, IR_I32));
}
