/* Images: formats, texels to and from bytes, and sampling. */
#include "ir/image.h"

#include <math.h>
#include <string.h>

#include "ir/ir.h"

/* ---- formats (OpenCL's constants) ---- */

enum {
    FIRST_TYPE = 0x10d0, /* CL_SNORM_INT8 */
    FIRST_ORDER = 0x10b0 /* CL_R */
};

struct channel_type {
    enum ir_channel_class channel_class;
    uint8_t bytes; /* 0: none that we have */
};

static const struct channel_type channel_types[] = {
    [0] = {IR_CHANNEL_SNORM, 1},     [1] = {IR_CHANNEL_SNORM, 2},     [2] = {IR_CHANNEL_UNORM, 1},
    [3] = {IR_CHANNEL_UNORM, 2},     [7] = {IR_CHANNEL_SIGNED, 1},    [8] = {IR_CHANNEL_SIGNED, 2},
    [9] = {IR_CHANNEL_SIGNED, 4},    [10] = {IR_CHANNEL_UNSIGNED, 1}, [11] = {IR_CHANNEL_UNSIGNED, 2},
    [12] = {IR_CHANNEL_UNSIGNED, 4}, [13] = {IR_CHANNEL_FLOAT, 2},    [14] = {IR_CHANNEL_FLOAT, 4},
};

struct channel_order {
    uint8_t channels; /* 0: none that we have */
    uint8_t component[4];
};

static const struct channel_order channel_orders[] = {
    [0] = {1, {0}},          /* R */
    [2] = {2, {0, 1}},       /* RG */
    [5] = {4, {0, 1, 2, 3}}, /* RGBA */
    [6] = {4, {2, 1, 0, 3}}, /* BGRA */
};

static const struct channel_type *find_type(uint32_t code)
{
    uint32_t i = code - FIRST_TYPE;
    return i < sizeof channel_types / sizeof *channel_types && channel_types[i].bytes ? &channel_types[i] : NULL;
}

static const struct channel_order *find_order(uint32_t code)
{
    uint32_t i = code - FIRST_ORDER;
    return i < sizeof channel_orders / sizeof *channel_orders && channel_orders[i].channels ? &channel_orders[i] : NULL;
}

bool ir_channel_type_known(uint32_t channel_type)
{
    return find_type(channel_type) != NULL;
}

bool ir_channel_order_known(uint32_t channel_order)
{
    return find_order(channel_order) != NULL;
}

bool ir_image_format(const struct ir_image *image, struct ir_image_format *format)
{
    const struct channel_type *type = find_type(image->channel_type);
    const struct channel_order *order = find_order(image->channel_order);
    if (!type || !order) return false;
    *format = (struct ir_image_format){type->channel_class, order->channels, type->bytes, {0}};
    memcpy(format->component, order->component, sizeof format->component);
    return true;
}

/* ---- channels ---- */

static uint32_t float_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static float bits_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static int32_t sign_extended(uint32_t bits, uint32_t bytes)
{
    unsigned up = 32 - 8 * bytes;
    return (int32_t)(bits << up) >> up;
}

/* The largest number of so many bytes, of those that count as 1 in a normalized channel. */
static uint32_t largest(const struct ir_image_format *f)
{
    bool has_sign = f->channel_class == IR_CHANNEL_SNORM || f->channel_class == IR_CHANNEL_SIGNED;
    return 0xffffffffu >> (32 - 8 * f->bytes + has_sign);
}

/* Channels as they lie in memory, zero-extended. */
static void read_channels(const struct ir_image_format *f, const uint8_t *bytes, uint32_t raw[4])
{
    uint16_t halves[4];
    switch (f->bytes) {
    case 1:
        for (uint32_t i = 0; i < f->channels; i++) raw[i] = bytes[i];
        break;
    case 2:
        memcpy(halves, bytes, 2 * f->channels);
        for (uint32_t i = 0; i < f->channels; i++) raw[i] = halves[i];
        break;
    default: memcpy(raw, bytes, 4 * f->channels);
    }
}

static void write_channels(const struct ir_image_format *f, uint8_t *bytes, const uint32_t raw[4])
{
    uint16_t halves[4];
    switch (f->bytes) {
    case 1:
        for (uint32_t i = 0; i < f->channels; i++) bytes[i] = (uint8_t)raw[i];
        break;
    case 2:
        for (uint32_t i = 0; i < f->channels; i++) halves[i] = (uint16_t)raw[i];
        memcpy(bytes, halves, 2 * f->channels);
        break;
    default: memcpy(bytes, raw, 4 * f->channels);
    }
}

/* From what lies in memory to components, in place. */
static void decode_channels(const struct ir_image_format *f, uint32_t raw[4])
{
    float max = (float)largest(f);
    switch (f->channel_class) {
    case IR_CHANNEL_UNSIGNED: break;
    case IR_CHANNEL_SIGNED:
        for (uint32_t i = 0; i < f->channels; i++) raw[i] = (uint32_t)sign_extended(raw[i], f->bytes);
        break;
    case IR_CHANNEL_UNORM:
        for (uint32_t i = 0; i < f->channels; i++) raw[i] = float_bits((float)raw[i] / max);
        break;
    case IR_CHANNEL_SNORM:
        for (uint32_t i = 0; i < f->channels; i++) {
            float v = (float)sign_extended(raw[i], f->bytes) / max;
            raw[i] = float_bits(v < -1 ? -1 : v);
        }
        break;
    case IR_CHANNEL_FLOAT:
        for (uint32_t i = 0; f->bytes == 2 && i < f->channels; i++)
            raw[i] = float_bits(ir_f16_to_float((uint16_t)raw[i]));
        break;
    }
}

/* Rounded by an addition: what is below 2^51 loses its fraction, to nearest even. (rint() is a call.) */
static uint32_t normalized(float v, double min, double max)
{
    double scaled = (double)v * max;
    if (isnan(v)) return 0;
    if (scaled < min) scaled = min;
    if (scaled > max) scaled = max;
    return (uint32_t)(int32_t)(scaled + 0x1.8p52 - 0x1.8p52);
}

static uint32_t saturated(uint32_t component, int32_t max)
{
    int32_t v = (int32_t)component;
    return (uint32_t)(v > max ? max : v < -max - 1 ? -max - 1 : v);
}

static void encode_channels(const struct ir_image_format *f, uint32_t raw[4])
{
    uint32_t max = largest(f);
    double min = f->channel_class == IR_CHANNEL_UNORM ? 0 : -(double)max - 1;
    switch (f->channel_class) {
    case IR_CHANNEL_UNSIGNED:
        for (uint32_t i = 0; i < f->channels; i++) raw[i] = raw[i] > max ? max : raw[i];
        break;
    case IR_CHANNEL_SIGNED:
        for (uint32_t i = 0; i < f->channels; i++) raw[i] = saturated(raw[i], (int32_t)max);
        break;
    case IR_CHANNEL_UNORM:
    case IR_CHANNEL_SNORM:
        for (uint32_t i = 0; i < f->channels; i++) raw[i] = normalized(bits_float(raw[i]), min, max);
        break;
    case IR_CHANNEL_FLOAT:
        for (uint32_t i = 0; f->bytes == 2 && i < f->channels; i++) raw[i] = ir_f16_from_float(bits_float(raw[i]));
        break;
    }
}

/* ---- texels ---- */

static uint32_t one(const struct ir_image_format *f)
{
    return ir_format_is_integer(f) ? 1 : float_bits(1);
}

void ir_texel_decode(const struct ir_image_format *f, const uint8_t *bytes, uint32_t rgba[4])
{
    uint32_t raw[4];
    read_channels(f, bytes, raw);
    decode_channels(f, raw);
    rgba[0] = rgba[1] = rgba[2] = 0;
    rgba[3] = one(f);
    for (uint32_t i = 0; i < f->channels; i++) rgba[f->component[i]] = raw[i];
}

void ir_texel_encode(const struct ir_image_format *f, const uint32_t rgba[4], uint8_t *bytes)
{
    uint32_t raw[4];
    for (uint32_t i = 0; i < f->channels; i++) raw[i] = rgba[f->component[i]];
    encode_channels(f, raw);
    write_channels(f, bytes, raw);
}

/* ---- sampling ---- */

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

static struct axis float_axis(float c, uint32_t size, uint32_t sampler, bool linear)
{
    uint32_t mode = sampler & IR_SAMPLER_ADDRESS;
    float u = to_texels(c, size, sampler) - (linear ? 0.5f : 0);
    float limit = (float)size + 1;
    if (!(u > -2)) u = -2; /* NaN too: what is sampled then is undefined */
    if (u > limit) u = limit;
    int64_t i = (int64_t)u;
    if ((float)i > u) i--; /* now the floor */
    return (struct axis){addressed(i, size, mode), addressed(i + 1, size, mode), u - (float)i};
}

static struct axis int_axis(uint32_t c, uint32_t size, uint32_t sampler)
{
    return (struct axis){.low = addressed((int32_t)c, size, sampler & IR_SAMPLER_ADDRESS)};
}

static void sample_at(const struct ir_sampling *s, int64_t x, int64_t y, uint32_t rgba[4])
{
    memset(rgba, 0, 4 * sizeof *rgba);
    if (x == border || y == border) {
        if (s->format->channels < 4) rgba[3] = one(s->format);
        return;
    }
    const uint8_t *bytes = s->source(s->data, x, y);
    if (bytes) ir_texel_decode(s->format, bytes, rgba);
}

static void sample_linear(const struct ir_sampling *s, struct axis x, struct axis y, uint32_t rgba[4])
{
    float sum[4] = {0};
    for (int corner = 0; corner < 4; corner++) {
        uint32_t texel[4];
        bool right = corner & 1, below = corner & 2;
        sample_at(s, right ? x.high : x.low, below ? y.high : y.low, texel);
        float weight = (right ? x.weight : 1 - x.weight) * (below ? y.weight : 1 - y.weight);
        for (int i = 0; i < 4; i++)
            if (weight != 0) sum[i] += weight * bits_float(texel[i]);
    }
    for (int i = 0; i < 4; i++) rgba[i] = float_bits(sum[i]);
}

void ir_image_sample(const struct ir_sampling *s, const uint32_t coordinates[2], uint32_t rgba[4])
{
    bool linear = s->floats && s->sampler & IR_SAMPLER_LINEAR && !ir_format_is_integer(s->format);
    uint32_t sizes[2] = {s->image->width, s->image->height};
    struct axis axes[2];
    for (int i = 0; i < 2; i++)
        axes[i] = s->floats ? float_axis(bits_float(coordinates[i]), sizes[i], s->sampler, linear)
                            : int_axis(coordinates[i], sizes[i], s->sampler);
    if (linear)
        sample_linear(s, axes[0], axes[1], rgba);
    else
        sample_at(s, axes[0].low, axes[1].low, rgba);
}

/* ---- blocks ---- */

bool ir_image_has_byte(const struct ir_image *image, const struct ir_image_format *f, int64_t x, int64_t y)
{
    return x >= 0 && y >= 0 && y < image->height && x < (int64_t)image->width * ir_texel_bytes(f);
}

static int64_t clamped(int64_t v, int64_t last)
{
    return v < 0 ? 0 : v > last ? last : v;
}

uint64_t ir_image_nearest_byte(const struct ir_image *image, const struct ir_image_format *f, int64_t x, int64_t y)
{
    int64_t unit = ir_texel_bytes(f) < 4 ? ir_texel_bytes(f) : 4, row = (int64_t)image->width * ir_texel_bytes(f);
    int64_t in_unit = x & (unit - 1), column = clamped((x - in_unit) / unit, row / unit - 1);
    return (uint64_t)(clamped(y, (int64_t)image->height - 1) * image->row_pitch + column * unit + in_unit);
}
