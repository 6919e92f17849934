/* Images. */
#include "ir/spirv/translate/instructions/image.h"

#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/values/values.h"

enum { CHANNEL_TYPE_BASE = 0x10d0, CHANNEL_ORDER_BASE = 0x10b0 /* OpenCL's constants, SPIR-V counts from 0 */ };

static ir_type result_type(const struct spirv_body *s, const struct spirv_inst *i)
{
    return spirv_result_type(s->r, i);
}

static enum ir_image_form form_of(const struct ir_value *image)
{
    return ir_type_image_form(image->type);
}

/* ---- texels ---- */

/* The type of texels that the operation has for those of SPIR-V: of halves and of depth images that of floats. IR_VOID,
   with a finding: there is none. */
static ir_type texel_type(struct spirv_body *s, const struct spirv_inst *i, ir_type t)
{
    ir_type f32x4 = ir_type_with_lanes(IR_F32, 4);
    if (t == f32x4 || t == ir_type_with_lanes(IR_I32, 4)) return t;
    if (t == IR_F32 || t == ir_type_with_lanes(IR_F16, 4)) return f32x4;
    spirv_fail(s->r, i, "of texels that are neither four floats, halves or ints, nor the depth as one float");
    return IR_VOID;
}

static struct ir_value *from_texel(struct spirv_body *s, struct ir_value *texel, ir_type t)
{
    if (t == IR_F32) return ir_build2(&s->b, IR_OP_EXTRACT, texel->type, texel, spirv_int(s, IR_I32, 0));
    return t == texel->type ? texel : ir_build1(&s->b, IR_OP_FPCONV, t, texel);
}

/* A depth is the first component. */
static struct ir_value *to_texel(struct spirv_body *s, struct ir_value *v, ir_type texel)
{
    if (v->type == texel) return v;
    if (v->type != IR_F32) return ir_build1(&s->b, IR_OP_FPCONV, texel, v);
    struct ir_value *zero = ir_const_float(s->ir->module, IR_F32, 0), *parts[] = {v, zero, zero, zero};
    return ir_build(&s->b, IR_OP_VEC, texel, parts, 4)->results[0];
}

/* ---- coordinates ---- */

/* As many as the image has: translators give four where three are needed. */
static struct ir_value *coordinates(struct spirv_body *s, const struct spirv_inst *i, const struct ir_value *image,
                                    struct ir_value *at)
{
    unsigned n = ir_image_coordinates(form_of(image)), lanes = ir_type_lanes(at->type);
    ir_type element = ir_type_element(at->type);
    if ((element != IR_I32 && element != IR_F32) || lanes < n) {
        spirv_fail(s->r, i, "has coordinates that are not %u floats or ints", n);
        return at;
    }
    if (lanes == n) return at;
    struct ir_value *parts[3];
    for (unsigned k = 0; k < n; k++) parts[k] = ir_build2(&s->b, IR_OP_EXTRACT, at->type, at, spirv_int(s, IR_I32, k));
    return n == 1 ? parts[0] : ir_build(&s->b, IR_OP_VEC, ir_type_with_lanes(element, n), parts, n)->results[0];
}

static struct ir_value *int_coordinates(struct spirv_body *s, const struct spirv_inst *i, const struct ir_value *image,
                                        uint32_t id)
{
    struct ir_value *at = coordinates(s, i, image, spirv_value(s, i, id));
    if (!ir_type_is_int(at->type)) spirv_fail(s->r, i, "has coordinates that are not ints");
    return at;
}

/* Images have one level, so that levels and gradients say nothing; offsets would. */
static void check_operands(struct spirv_body *s, const struct spirv_inst *i, uint32_t at)
{
    const uint32_t known = SpvImageOperandsLodMask | SpvImageOperandsGradMask | SpvImageOperandsSignExtendMask |
                           SpvImageOperandsZeroExtendMask;
    if (at < i->n && i->words[at] & ~known)
        spirv_fail(s->r, i, "has image operands (mask %#x) other than Lod and Grad", i->words[at]);
}

/* ---- reads and writes ---- */

static void emit_sample(struct spirv_body *s, const struct spirv_inst *i)
{
    ir_type t = result_type(s, i), texel = texel_type(s, i, t);
    struct ir_value *const *pair = spirv_values(s, i, i->words[3]);
    struct ir_value *at = coordinates(s, i, pair[0], spirv_value(s, i, i->words[4]));
    check_operands(s, i, 5);
    if (spirv_failed(s->r)) return;
    if (ir_type_is_int(at->type))
        at = ir_build1(&s->b, IR_OP_STOF, ir_type_with_lanes(IR_F32, ir_type_lanes(at->type)), at);
    if (form_of(pair[0]) == IR_IMAGE_1D_BUFFER) {
        spirv_fail(s->r, i, "samples an image of a buffer");
        return;
    }
    spirv_set(s, i, from_texel(s, ir_build3(&s->b, IR_OP_IMAGE_READ, texel, pair[0], at, pair[1]), t));
}

static void emit_read(struct spirv_body *s, const struct spirv_inst *i)
{
    ir_type t = result_type(s, i), texel = texel_type(s, i, t);
    struct ir_value *image = spirv_value(s, i, i->words[3]);
    struct ir_value *at = int_coordinates(s, i, image, i->words[4]);
    check_operands(s, i, 5);
    if (spirv_failed(s->r)) return;
    spirv_set(s, i, from_texel(s, ir_build2(&s->b, IR_OP_IMAGE_READ, texel, image, at), t));
}

static void emit_write(struct spirv_body *s, const struct spirv_inst *i)
{
    struct ir_value *image = spirv_value(s, i, i->words[1]), *v = spirv_value(s, i, i->words[3]);
    struct ir_value *at = int_coordinates(s, i, image, i->words[2]);
    ir_type texel = texel_type(s, i, v->type);
    check_operands(s, i, 4);
    if (spirv_failed(s->r)) return;
    struct ir_value *o[3] = {image, at, to_texel(s, v, texel)};
    ir_build(&s->b, IR_OP_IMAGE_WRITE, texel, o, 3);
}

/* ---- questions ---- */

static void emit_size(struct spirv_body *s, const struct spirv_inst *i)
{
    ir_type t = result_type(s, i);
    struct ir_value *image = spirv_value(s, i, i->words[3]), *size[3];
    unsigned n = ir_image_coordinates(form_of(image));
    bool layers = ir_image_is_array(form_of(image));
    if (!ir_type_is_int(t) || ir_type_lanes(t) != n) spirv_fail(s->r, i, "of other than %u integers", n);
    if (spirv_failed(s->r)) return;
    for (unsigned k = 0; k < n; k++) {
        enum ir_op op = k == 0                 ? IR_OP_IMAGE_WIDTH
                        : layers && k == n - 1 ? IR_OP_IMAGE_ARRAY_SIZE
                        : k == 1               ? IR_OP_IMAGE_HEIGHT
                                               : IR_OP_IMAGE_DEPTH;
        size[k] = spirv_as_int(s, ir_build1(&s->b, op, IR_VOID, image), ir_type_element(t));
    }
    spirv_set(s, i, n == 1 ? size[0] : ir_build(&s->b, IR_OP_VEC, t, size, n)->results[0]);
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
    case SpvOpImageQueryLevels: spirv_set(s, i, spirv_int(s, result_type(s, i), 1)); return true;
    case SpvOpImageQueryFormat: emit_format(s, i, IR_OP_IMAGE_CHANNEL_TYPE, CHANNEL_TYPE_BASE); return true;
    case SpvOpImageQueryOrder: emit_format(s, i, IR_OP_IMAGE_CHANNEL_ORDER, CHANNEL_ORDER_BASE); return true;
    default: return false;
    }
}
