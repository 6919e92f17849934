/* Images: formats, sampling, reads and writes of texels and of blocks. */
#include "ir/interp/internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ir/eval/internal.h"

/* ---- formats (OpenCL's constants) ---- */

enum channel_class { CHANNEL_SNORM, CHANNEL_UNORM, CHANNEL_SIGNED, CHANNEL_UNSIGNED, CHANNEL_FLOAT };

struct channel_type {
    uint32_t code;
    enum channel_class class;
    ir_type lane;
};

struct channel_order {
    uint32_t code;
    unsigned n;
    unsigned component[4]; /* of the i-th channel in memory */
};

static const struct channel_type channel_types[] = {
    {0x10d0, CHANNEL_SNORM, IR_I8},     {0x10d1, CHANNEL_SNORM, IR_I16},   {0x10d2, CHANNEL_UNORM, IR_I8},
    {0x10d3, CHANNEL_UNORM, IR_I16},    {0x10d7, CHANNEL_SIGNED, IR_I8},   {0x10d8, CHANNEL_SIGNED, IR_I16},
    {0x10d9, CHANNEL_SIGNED, IR_I32},   {0x10da, CHANNEL_UNSIGNED, IR_I8}, {0x10db, CHANNEL_UNSIGNED, IR_I16},
    {0x10dc, CHANNEL_UNSIGNED, IR_I32}, {0x10dd, CHANNEL_FLOAT, IR_F16},   {0x10de, CHANNEL_FLOAT, IR_F32},
};

static const struct channel_order channel_orders[] = {
    {0x10b0, 1, {0}},          /* R */
    {0x10b2, 2, {0, 1}},       /* RG */
    {0x10b5, 4, {0, 1, 2, 3}}, /* RGBA */
    {0x10b6, 4, {2, 1, 0, 3}}, /* BGRA */
};

static const struct channel_type *find_type(uint32_t code)
{
    for (size_t i = 0; i < sizeof channel_types / sizeof *channel_types; i++)
        if (channel_types[i].code == code) return &channel_types[i];
    return NULL;
}

static const struct channel_order *find_order(uint32_t code)
{
    for (size_t i = 0; i < sizeof channel_orders / sizeof *channel_orders; i++)
        if (channel_orders[i].code == code) return &channel_orders[i];
    return NULL;
}

static bool is_integer(const struct channel_type *t)
{
    return t->class == CHANNEL_SIGNED || t->class == CHANNEL_UNSIGNED;
}

static float decode_float(const struct channel_type *t, uint64_t bits)
{
    unsigned width = ir_type_bits(t->lane);
    switch (t->class) {
    case CHANNEL_FLOAT: return (float)ir_float_value(ir_type_kind(t->lane), bits);
    case CHANNEL_UNORM: return (float)((double)bits / (double)eval_mask(width));
    default: return fmaxf(-1, (float)((double)eval_sext(bits, width) / (double)eval_mask(width - 1)));
    }
}

/* Rounded to nearest even and saturated, as OpenCL's convert_..._sat_rte(). */
static uint64_t encode_float(const struct channel_type *t, float f)
{
    unsigned width = ir_type_bits(t->lane);
    if (t->class == CHANNEL_FLOAT) return eval_from_double(ir_type_kind(t->lane), f, IR_ROUND_RTE);
    double max = (double)eval_mask(t->class == CHANNEL_UNORM ? width : width - 1);
    double min = t->class == CHANNEL_UNORM ? 0 : -max - 1, scaled = rint((double)f * max);
    if (isnan(scaled)) return 0;
    return (uint64_t)(int64_t)fmin(fmax(scaled, min), max) & eval_mask(width);
}

static uint64_t encode_int(const struct channel_type *t, uint64_t x)
{
    unsigned width = ir_type_bits(t->lane);
    int64_t s = eval_sext(x, 32), max = (int64_t)eval_mask(width - 1);
    if (t->class == CHANNEL_UNSIGNED) return x > eval_mask(width) ? eval_mask(width) : x;
    return (uint64_t)(s > max ? max : s < -max - 1 ? -max - 1 : s) & eval_mask(width);
}

static uint64_t float_bits(float f)
{
    return eval_from_double(IR_KIND_F32, f, IR_ROUND_RTE);
}

static float bits_float(uint64_t bits)
{
    return (float)ir_float_value(IR_KIND_F32, bits);
}

/* ---- binding ---- */

static uint64_t pixel_size(const struct image *image)
{
    return (uint64_t)image->order->n * interp_lane_size(image->type->lane);
}

static const char *wrong_image(const struct image *image)
{
    const struct ir_image *info = &image->info;
    if (!image->order) return "has a channel order that the interpreter does not know";
    if (!image->type) return "has a channel type that the interpreter does not know";
    if (!info->width || !info->height || !info->data) return "is empty";
    if (info->row_pitch < info->width * pixel_size(image)) return "has a row pitch smaller than its rows";
    return NULL;
}

bool interp_image_bind(struct machine *m, const struct interp_arg *arg, uint32_t param, uint64_t *handle,
                       const char **why)
{
    const struct ir_param *p = &m->kernel->params[param];
    struct image image = {.info = *(const struct ir_image *)arg->data};
    image.order = find_order(image.info.channel_order);
    image.type = find_type(image.info.channel_type);
    *why = wrong_image(&image);
    if (*why) return false;
    uint64_t size = (uint64_t)image.info.row_pitch * (image.info.height - 1) + image.info.width * pixel_size(&image);
    struct allocation a = {.data = image.info.data,
                           .size = size,
                           .space = IR_SPACE_GLOBAL,
                           .fence = IR_FENCE_IMAGE,
                           .no_read = ir_type_detail(p->value->type) == 1,
                           .no_write = ir_type_detail(p->value->type) == 0,
                           .origin = MEMORY_IMAGE,
                           .index = param,
                           .name = p->value->name};
    if (m->options.check_races) a.cells = interp_shadow(m, size, sizeof *a.cells);
    image.address = interp_memory_add(&m->memory, &a);
    m->images = arena_grow(m->arena, m->images, m->n_images, sizeof *m->images);
    m->images[m->n_images++] = image;
    *handle = m->n_images;
    return true;
}

static const struct image *image_of(const struct machine *m, const struct item *item)
{
    return &m->images[interp_item_operand(item, 0)[0] - 1];
}

/* An undefined value is no image; operations on it end the run. */
static bool is_image(struct machine *m, const struct item *item, const struct code_inst *at)
{
    uint64_t handle = interp_item_operand(item, 0)[0];
    if (handle > 0 && handle <= m->n_images) return true;
    interp_report(m, INTERP_INVALID, item, at, "%s of an undefined image", ir_op_info(at->ir->op)->text);
    m->stopped = true;
    return false;
}

/* ---- texels ---- */

static uint8_t *texel(struct machine *m, struct item *item, const struct code_inst *at, const struct image *image,
                      int64_t x, int64_t y, unsigned flags)
{
    if (x < 0 || y < 0 || x >= image->info.width || y >= image->info.height) {
        interp_report(m, INTERP_OUT_OF_BOUNDS, item, at, "%s at (%" PRId64 ", %" PRId64 ") of an image of %u x %u",
                      ir_op_info(at->ir->op)->text, x, y, image->info.width, image->info.height);
        return NULL;
    }
    uint64_t size = pixel_size(image);
    struct access a = {image->address + (uint64_t)y * image->info.row_pitch + (uint64_t)x * size,
                       size,
                       IR_SPACE_GLOBAL,
                       1,
                       flags,
                       NULL};
    return interp_memory_access(m, item, at, &a);
}

/* Components that the image has not: 0, alpha 1. Components as f32 bits or as integers. */
static void decode(const struct image *image, const uint8_t *bytes, uint64_t rgba[4])
{
    const struct channel_type *t = image->type;
    unsigned size = interp_lane_size(t->lane);
    for (unsigned i = 0; i < 3; i++) rgba[i] = 0;
    rgba[3] = is_integer(t) ? 1 : float_bits(1);
    for (unsigned i = 0; i < image->order->n; i++) {
        uint64_t bits;
        interp_value_read(t->lane, bytes + i * size, &bits);
        uint64_t value = is_integer(t) ? bits : float_bits(decode_float(t, bits));
        if (t->class == CHANNEL_SIGNED) value = (uint32_t)eval_sext(bits, ir_type_bits(t->lane));
        rgba[image->order->component[i]] = value;
    }
}

static void encode(const struct image *image, const uint64_t rgba[4], uint8_t *bytes)
{
    const struct channel_type *t = image->type;
    unsigned size = interp_lane_size(t->lane);
    for (unsigned i = 0; i < image->order->n; i++) {
        uint64_t component = rgba[image->order->component[i]];
        uint64_t bits = is_integer(t) ? encode_int(t, component) : encode_float(t, bits_float(component));
        interp_value_write(t->lane, bytes + i * size, &bits);
    }
}

static void read_texel(struct machine *m, struct item *item, const struct code_inst *at, const struct image *image,
                       int64_t x, int64_t y, uint64_t rgba[4])
{
    const uint8_t *bytes = texel(m, item, at, image, x, y, ACCESS_READ);
    if (bytes) decode(image, bytes, rgba);
}

/* ---- sampling, as in the OpenCL specification, "Image addressing and filtering" ---- */

struct axis {
    int64_t low, high; /* the two texels that a linear filter mixes; low alone for the nearest one */
    float weight;      /* of high */
};

static const int64_t border = -1;

static int64_t addressed(int64_t i, uint32_t size, uint32_t mode)
{
    int64_t last = (int64_t)size - 1;
    if (i >= 0 && i <= last) return i;
    switch (mode) {
    case IR_SAMPLER_CLAMP: return border;
    case IR_SAMPLER_REPEAT: return (i % (int64_t)size + size) % size;
    default: return i < 0 ? 0 : last;
    }
}

/* A coordinate in texels; where the sampler repeats the image it comes from 0 to 1 and is wrapped first. */
static float to_texels(float c, uint32_t size, uint32_t sampler)
{
    uint32_t mode = sampler & IR_SAMPLER_ADDRESS;
    if (mode == IR_SAMPLER_REPEAT)
        c -= floorf(c);
    else if (mode == IR_SAMPLER_MIRRORED_REPEAT)
        c = fabsf(c - 2 * rintf(0.5f * c));
    return sampler & IR_SAMPLER_NORMALIZED ? c * (float)size : c;
}

static struct axis sample_axis(float c, uint32_t size, uint32_t sampler, bool linear)
{
    uint32_t mode = sampler & IR_SAMPLER_ADDRESS;
    float u = to_texels(c, size, sampler) - (linear ? 0.5f : 0);
    float limit = (float)size + 1;
    if (!(u > -2)) u = -2; /* NaN too: what is sampled then is undefined */
    if (u > limit) u = limit;
    int64_t i = (int64_t)floorf(u);
    return (struct axis){addressed(i, size, mode), addressed(i + 1, size, mode), u - floorf(u)};
}

static void sample_at(struct machine *m, struct item *item, const struct code_inst *at, const struct image *image,
                      int64_t x, int64_t y, uint64_t rgba[4])
{
    if (x != border && y != border) {
        read_texel(m, item, at, image, x, y, rgba);
        return;
    }
    for (unsigned i = 0; i < 4; i++) rgba[i] = 0;
    if (image->order->n < 4) rgba[3] = is_integer(image->type) ? 1 : float_bits(1);
}

static void sample_linear(struct machine *m, struct item *item, const struct code_inst *at, const struct image *image,
                          struct axis x, struct axis y, uint64_t r[4])
{
    float sum[4] = {0};
    for (int corner = 0; corner < 4; corner++) {
        uint64_t rgba[4] = {0};
        bool right = corner & 1, below = corner & 2;
        sample_at(m, item, at, image, right ? x.high : x.low, below ? y.high : y.low, rgba);
        float weight = (right ? x.weight : 1 - x.weight) * (below ? y.weight : 1 - y.weight);
        for (int i = 0; i < 4; i++)
            if (weight != 0) sum[i] += weight * bits_float(rgba[i]);
    }
    for (int i = 0; i < 4; i++) r[i] = float_bits(sum[i]);
}

static void sample(struct machine *m, struct item *item, const struct code_inst *at, const struct image *image,
                   uint64_t r[4])
{
    uint32_t sampler = (uint32_t)interp_item_operand(item, 2)[0];
    const uint64_t *c = interp_item_operand(item, 1);
    bool floats = ir_type_is_float(at->ir->operands[1]->type);
    bool linear = floats && sampler & IR_SAMPLER_LINEAR && !is_integer(image->type);
    if (!floats) sampler &= ~(uint32_t)IR_SAMPLER_NORMALIZED; /* integers count texels */
    struct axis axes[2];
    for (int i = 0; i < 2; i++) {
        uint32_t size = i == 0 ? image->info.width : image->info.height;
        if (floats)
            axes[i] = sample_axis(bits_float(c[i]), size, sampler, linear);
        else
            axes[i] = (struct axis){.low = addressed(eval_sext(c[i], 32), size, sampler & IR_SAMPLER_ADDRESS)};
    }
    if (linear)
        sample_linear(m, item, at, image, axes[0], axes[1], r);
    else
        sample_at(m, item, at, image, axes[0].low, axes[1].low, r);
}

/* ---- instructions ---- */

static bool fits(struct machine *m, struct item *item, const struct code_inst *at, const struct image *image)
{
    if (ir_type_is_int(at->ir->type) == is_integer(image->type)) return true;
    interp_report(m, INTERP_INVALID, item, at, "%s of %s texels in an image whose channels are %s",
                  ir_op_info(at->ir->op)->text, ir_type_is_int(at->ir->type) ? "i32x4" : "f32x4",
                  is_integer(image->type) ? "integers" : "floats");
    return false;
}

static void image_read(struct machine *m, struct item *item, const struct code_inst *at, uint64_t *r)
{
    const struct image *image = image_of(m, item);
    if (!fits(m, item, at, image)) return;
    if (at->ir->n_operands > 2) {
        sample(m, item, at, image, r);
        return;
    }
    const uint64_t *c = interp_item_operand(item, 1);
    read_texel(m, item, at, image, eval_sext(c[0], 32), eval_sext(c[1], 32), r);
}

static void image_write(struct machine *m, struct item *item, const struct code_inst *at)
{
    const struct image *image = image_of(m, item);
    if (!fits(m, item, at, image)) return;
    const uint64_t *c = interp_item_operand(item, 1);
    uint8_t *bytes = texel(m, item, at, image, eval_sext(c[0], 32), eval_sext(c[1], 32), ACCESS_WRITE);
    if (bytes) encode(image, interp_item_operand(item, 2), bytes);
}

bool interp_image_exec(struct machine *m, struct item *item, const struct code_inst *at, uint64_t *r)
{
    if (at->ir->op < IR_OP_IMAGE_READ || at->ir->op > IR_OP_IMAGE_CHANNEL_ORDER) return false;
    if (!is_image(m, item, at)) return true;
    switch (at->ir->op) {
    case IR_OP_IMAGE_READ: image_read(m, item, at, r); return true;
    case IR_OP_IMAGE_WRITE: image_write(m, item, at); return true;
    case IR_OP_IMAGE_WIDTH: *r = image_of(m, item)->info.width; return true;
    case IR_OP_IMAGE_HEIGHT: *r = image_of(m, item)->info.height; return true;
    case IR_OP_IMAGE_CHANNEL_TYPE: *r = image_of(m, item)->info.channel_type; return true;
    case IR_OP_IMAGE_CHANNEL_ORDER: *r = image_of(m, item)->info.channel_order; return true;
    default: return false;
    }
}

static int64_t clamped(int64_t x, int64_t max)
{
    return x < 0 ? 0 : x > max ? max : x;
}

/* Component k lies in row y + k, at byte x + id * size: the work-items of a sub-group side by side. */
void interp_image_block_exec(struct machine *m, struct item *item)
{
    const struct code_inst *at = interp_item_at(item);
    if (!is_image(m, item, at)) return;
    const struct image *image = image_of(m, item);
    bool write = at->ir->op == IR_OP_IMAGE_BLOCK_WRITE;
    ir_type element = ir_type_element(at->ir->type);
    int64_t size = interp_lane_size(element), row = (int64_t)(image->info.width * pixel_size(image));
    const uint64_t *c = interp_item_operand(item, 1);
    int64_t x = eval_sext(c[0], 32) + item->sub_local * size, y = eval_sext(c[1], 32);
    for (unsigned k = 0; k < ir_type_lanes(at->ir->type); k++) {
        int64_t cx = clamped(x, row - size), cy = clamped(y + k, image->info.height - 1);
        if (write && (cx != x || cy != y + k)) continue;
        uint64_t address = image->address + (uint64_t)(cy * image->info.row_pitch + cx);
        struct access a = {address, (uint64_t)size, IR_SPACE_GLOBAL, 1, write ? ACCESS_WRITE : ACCESS_READ, NULL};
        uint8_t *bytes = interp_memory_access(m, item, at, &a);
        if (write && bytes) interp_value_write(element, bytes, &interp_item_operand(item, 2)[k]);
        if (!write) interp_item_result(item)[k] = 0;
        if (!write && bytes) interp_value_read(element, bytes, &interp_item_result(item)[k]);
    }
}
