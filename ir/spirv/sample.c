/* Sampling as arithmetic, by the formulas of the OpenCL C specification, 8.2 and 8.3. */
#include "ir/spirv/sample.h"

#define F32X2 ir_type_with_lanes(IR_F32, 2)
#define I32X2 ir_type_with_lanes(IR_I32, 2)

enum { ORDER_R = 0x10b0, ORDER_RG = 0x10b2 /* OpenCL's constants */ };

struct sample {
    struct spirv_body *s;
    struct ir_builder *b;
    ir_type t;
    struct ir_value *image;
    unsigned mode;
    struct ir_value *size, *last; /* i32x2: of the image, and of its last texel */
};

static struct ir_value *floats(struct sample *c, double v)
{
    return ir_const_float(c->s->r->module, F32X2, v);
}

static struct ir_value *ints(struct sample *c, int v)
{
    return ir_const_int(c->s->r->module, I32X2, (uint64_t)(int64_t)v);
}

static struct ir_value *to_ints(struct sample *c, struct ir_value *v)
{
    struct ir_inst *inst = ir_build(c->b, IR_OP_FTOS, I32X2, &v, 1);
    inst->attrs.saturate = true;
    return inst->results[0];
}

/* Outside the image: black, opaque where the image has no alpha. */
static struct ir_value *border(struct sample *c)
{
    struct ir_value *order = ir_build1(c->b, IR_OP_IMAGE_CHANNEL_ORDER, IR_VOID, c->image);
    struct ir_value *r = ir_build2(c->b, IR_OP_IEQ, IR_I32, order, spirv_int(c->s, IR_I32, ORDER_R));
    struct ir_value *rg = ir_build2(c->b, IR_OP_IEQ, IR_I32, order, spirv_int(c->s, IR_I32, ORDER_RG));
    struct ir_value *opaque = ir_build2(c->b, IR_OP_OR, IR_BOOL, r, rg);
    ir_type e = ir_type_element(c->t);
    struct ir_module *m = c->s->r->module;
    struct ir_value *zero = ir_const_int(m, e, 0);
    struct ir_value *one = ir_type_is_float(e) ? ir_const_float(m, e, 1) : ir_const_int(m, e, 1);
    struct ir_value *alpha = ir_build3(c->b, IR_OP_SELECT, e, opaque, one, zero);
    return ir_build(c->b, IR_OP_VEC, c->t, (struct ir_value *[]){zero, zero, zero, alpha}, 4)->results[0];
}

/* The texel at whole coordinates, which the addressing mode brings into the image. */
static struct ir_value *texel(struct sample *c, struct ir_value *at)
{
    struct ir_value *inside = ir_build3(c->b, IR_OP_SCLAMP, I32X2, at, ints(c, 0), c->last);
    struct ir_value *v = ir_build2(c->b, IR_OP_IMAGE_READ, c->t, c->image, inside);
    if (c->mode != SpvSamplerAddressingModeClamp) return v;
    struct ir_value *same = ir_build2(c->b, IR_OP_IEQ, I32X2, at, inside);
    struct ir_value *is = ir_build1(c->b, IR_OP_ALL, ir_type_with_lanes(IR_BOOL, 2), same);
    return ir_build3(c->b, IR_OP_SELECT, c->t, is, v, border(c));
}

/* Coordinates in texels. With repetition they come as fractions of the image and are folded into it first. */
static struct ir_value *unnormalized(struct sample *c, struct ir_value *at, bool normalized)
{
    struct ir_value *size = ir_build1(c->b, IR_OP_STOF, F32X2, c->size);
    if (c->mode == SpvSamplerAddressingModeRepeat) {
        at = ir_build2(c->b, IR_OP_FSUB, F32X2, at, ir_build1(c->b, IR_OP_FLOOR, F32X2, at));
    } else if (c->mode == SpvSamplerAddressingModeRepeatMirrored) {
        struct ir_value *half = ir_build2(c->b, IR_OP_FMUL, F32X2, at, floats(c, 0.5));
        half = ir_build2(c->b, IR_OP_FMUL, F32X2, ir_build1(c->b, IR_OP_RINT, F32X2, half), floats(c, 2));
        at = ir_build1(c->b, IR_OP_FABS, F32X2, ir_build2(c->b, IR_OP_FSUB, F32X2, at, half));
    }
    return normalized ? ir_build2(c->b, IR_OP_FMUL, F32X2, at, size) : at;
}

/* With repetition, what lies over one edge is at the other. */
static struct ir_value *wrap(struct sample *c, struct ir_value *at)
{
    if (c->mode != SpvSamplerAddressingModeRepeat) return at;
    struct ir_value *below = ir_build2(c->b, IR_OP_SLT, I32X2, at, ints(c, 0));
    at = ir_build3(c->b, IR_OP_SELECT, I32X2, below, ir_build2(c->b, IR_OP_ADD, I32X2, at, c->size), at);
    struct ir_value *above = ir_build2(c->b, IR_OP_SGT, I32X2, at, c->last);
    return ir_build3(c->b, IR_OP_SELECT, I32X2, above, ir_build2(c->b, IR_OP_SUB, I32X2, at, c->size), at);
}

static struct ir_value *mixed(struct sample *c, struct ir_value *x, struct ir_value *y, struct ir_value *a)
{
    struct ir_value *weight = ir_build1(c->b, IR_OP_SPLAT, c->t, a);
    return ir_build3(c->b, IR_OP_MIX, c->t, x, y, weight);
}

static struct ir_value *component(struct sample *c, struct ir_value *v, unsigned k)
{
    return ir_build2(c->b, IR_OP_EXTRACT, v->type, v, spirv_int(c->s, IR_I32, k));
}

static struct ir_value *pair(struct sample *c, struct ir_value *x, struct ir_value *y)
{
    return ir_build(c->b, IR_OP_VEC, I32X2, (struct ir_value *[]){x, y}, 2)->results[0];
}

/* The four texels around, weighted. */
static struct ir_value *linear(struct sample *c, struct ir_value *at)
{
    at = ir_build2(c->b, IR_OP_FSUB, F32X2, at, floats(c, 0.5));
    struct ir_value *whole = ir_build1(c->b, IR_OP_FLOOR, F32X2, at);
    struct ir_value *weight = ir_build2(c->b, IR_OP_FSUB, F32X2, at, whole);
    struct ir_value *low = to_ints(c, whole), *high = ir_build2(c->b, IR_OP_ADD, I32X2, low, ints(c, 1));
    low = wrap(c, low);
    high = wrap(c, high);
    struct ir_value *x0 = component(c, low, 0), *y0 = component(c, low, 1);
    struct ir_value *x1 = component(c, high, 0), *y1 = component(c, high, 1);
    struct ir_value *a = component(c, weight, 0), *b = component(c, weight, 1);
    struct ir_value *top = mixed(c, texel(c, low), texel(c, pair(c, x1, y0)), a);
    struct ir_value *bottom = mixed(c, texel(c, pair(c, x0, y1)), texel(c, high), a);
    return mixed(c, top, bottom, b);
}

struct ir_value *spirv_sample(struct spirv_body *s, ir_type t, struct ir_value *image, struct ir_value *at,
                              unsigned sampler)
{
    struct sample c = {.s = s, .b = &s->b, .t = t, .image = image, .mode = sampler & SAMPLE_MODE};
    c.size =
        pair(&c, ir_build1(c.b, IR_OP_IMAGE_WIDTH, IR_VOID, image), ir_build1(c.b, IR_OP_IMAGE_HEIGHT, IR_VOID, image));
    c.last = ir_build2(c.b, IR_OP_SUB, I32X2, c.size, ints(&c, 1));
    at = unnormalized(&c, at, sampler & SAMPLE_NORMALIZED);
    if (sampler & SAMPLE_LINEAR && ir_type_is_float(t)) return linear(&c, at);
    return texel(&c, wrap(&c, to_ints(&c, ir_build1(c.b, IR_OP_FLOOR, F32X2, at))));
}
