/* Images. */
#include "ir/spirv/body.h"

enum { CHANNEL_TYPE_BASE = 0x10d0, CHANNEL_ORDER_BASE = 0x10b0 /* OpenCL's constants, SPIR-V counts from 0 */ };

static ir_type result_type(const struct spirv_body *s, const struct spirv_inst *i)
{
    return s->r->ids[i->type].type;
}

static bool check_texel(struct spirv_body *s, const struct spirv_inst *i, ir_type t)
{
    bool good = t == ir_type_with_lanes(IR_F32, 4) || t == ir_type_with_lanes(IR_I32, 4);
    if (!good) spirv_fail(s->r, i, "of texels that are neither four floats nor four ints");
    return good && !s->r->failed_function;
}

/* ---- reads and writes ---- */

static void emit_sample(struct spirv_body *s, const struct spirv_inst *i)
{
    ir_type t = result_type(s, i), f32x2 = ir_type_with_lanes(IR_F32, 2);
    struct ir_value *const *pair = spirv_values(s, i, i->words[3]), *at = spirv_value(s, i, i->words[4]);
    if (!check_texel(s, i, t)) return;
    if (ir_type_is_int(at->type)) at = ir_build1(&s->b, IR_OP_STOF, f32x2, at);
    if (at->type != f32x2) {
        spirv_fail(s->r, i, "has coordinates that are not two floats or ints");
    } else {
        spirv_set(s, i, ir_build3(&s->b, IR_OP_IMAGE_READ, t, pair[0], at, pair[1]));
    }
}

static bool check_coordinates(struct spirv_body *s, const struct spirv_inst *i, const struct ir_value *at)
{
    if (at->type != ir_type_with_lanes(IR_I32, 2)) spirv_fail(s->r, i, "has coordinates that are not two ints");
    return !s->r->failed_function;
}

static void emit_read(struct spirv_body *s, const struct spirv_inst *i)
{
    ir_type t = result_type(s, i);
    struct ir_value *image = spirv_value(s, i, i->words[3]), *at = spirv_value(s, i, i->words[4]);
    if (check_texel(s, i, t) && check_coordinates(s, i, at))
        spirv_set(s, i, ir_build2(&s->b, IR_OP_IMAGE_READ, t, image, at));
}

static void emit_write(struct spirv_body *s, const struct spirv_inst *i)
{
    struct ir_value *o[3] = {spirv_value(s, i, i->words[1]), spirv_value(s, i, i->words[2]),
                             spirv_value(s, i, i->words[3])};
    if (check_texel(s, i, o[2]->type) && check_coordinates(s, i, o[1]))
        ir_build(&s->b, IR_OP_IMAGE_WRITE, o[2]->type, o, 3);
}

/* ---- questions ---- */

static void emit_size(struct spirv_body *s, const struct spirv_inst *i)
{
    ir_type t = result_type(s, i);
    struct ir_value *image = spirv_value(s, i, i->words[3]);
    if (!ir_type_is_int(t) || ir_type_lanes(t) != 2) spirv_fail(s->r, i, "of other than two integers");
    if (s->r->failed_function) return;
    struct ir_value *size[2];
    size[0] = spirv_as_int(s, ir_build1(&s->b, IR_OP_IMAGE_WIDTH, IR_VOID, image), ir_type_element(t));
    size[1] = spirv_as_int(s, ir_build1(&s->b, IR_OP_IMAGE_HEIGHT, IR_VOID, image), ir_type_element(t));
    spirv_set(s, i, ir_build(&s->b, IR_OP_VEC, t, size, 2)->results[0]);
}

static void emit_format(struct spirv_body *s, const struct spirv_inst *i, enum ir_op op, uint32_t base)
{
    struct ir_value *code = ir_build1(&s->b, op, IR_VOID, spirv_value(s, i, i->words[3]));
    code = ir_build2(&s->b, IR_OP_SUB, IR_I32, code, spirv_int(s, IR_I32, base));
    spirv_set(s, i, spirv_as_int(s, code, result_type(s, i)));
}

bool spirv_emit_image(struct spirv_body *s, const struct spirv_inst *i)
{
    switch (i->op) {
    case SpvOpSampledImage: {
        struct ir_value *pair[2] = {spirv_value(s, i, i->words[3]), spirv_value(s, i, i->words[4])};
        spirv_set_all(s, i->id, pair);
        return true;
    }
    case SpvOpImage: spirv_set(s, i, spirv_values(s, i, i->words[3])[0]); return true;
    case SpvOpImageSampleExplicitLod: emit_sample(s, i); return true;
    case SpvOpImageRead: emit_read(s, i); return true;
    case SpvOpImageWrite: emit_write(s, i); return true;
    case SpvOpImageQuerySize:
    case SpvOpImageQuerySizeLod: emit_size(s, i); return true;
    case SpvOpImageQueryFormat: emit_format(s, i, IR_OP_IMAGE_CHANNEL_TYPE, CHANNEL_TYPE_BASE); return true;
    case SpvOpImageQueryOrder: emit_format(s, i, IR_OP_IMAGE_CHANNEL_ORDER, CHANNEL_ORDER_BASE); return true;
    default: return false;
    }
}
