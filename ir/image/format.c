/* Formats of images: texels to and from bytes. */
#include <math.h>
#include <string.h>

#include "ir/core/float.h"
#include "ir/core/ir.h"
#include "ir/image/format.h"

/* ---- OpenCL's constants ---- */

enum {
    FIRST_TYPE = 0x10d0, /* CL_SNORM_INT8 */
    FIRST_ORDER = 0x10b0 /* CL_R */
};

struct channel_type {
    enum ir_channel_class channel_class;
    uint8_t bytes;   /* of a channel, or of a packed texel; 0: none that we have */
    uint8_t bits[4]; /* of the channels of a packed texel, from the highest down */
};

static const struct channel_type channel_types[] = {
    [0] = {IR_CHANNEL_SNORM, 1, {0}},          [1] = {IR_CHANNEL_SNORM, 2, {0}},
    [2] = {IR_CHANNEL_UNORM, 1, {0}},          [3] = {IR_CHANNEL_UNORM, 2, {0}},
    [4] = {IR_CHANNEL_UNORM, 2, {5, 6, 5}},    [5] = {IR_CHANNEL_UNORM, 2, {5, 5, 5}},
    [6] = {IR_CHANNEL_UNORM, 4, {10, 10, 10}}, [7] = {IR_CHANNEL_SIGNED, 1, {0}},
    [8] = {IR_CHANNEL_SIGNED, 2, {0}},         [9] = {IR_CHANNEL_SIGNED, 4, {0}},
    [10] = {IR_CHANNEL_UNSIGNED, 1, {0}},      [11] = {IR_CHANNEL_UNSIGNED, 2, {0}},
    [12] = {IR_CHANNEL_UNSIGNED, 4, {0}},      [13] = {IR_CHANNEL_FLOAT, 2, {0}},
    [14] = {IR_CHANNEL_FLOAT, 4, {0}},         [16] = {IR_CHANNEL_UNORM, 4, {10, 10, 10, 2}},
};

struct channel_order {
    uint8_t channels; /* 0: none that we have */
    uint8_t component[4];
    uint8_t more; /* enum order_more */
};

enum order_more { OPAQUE_BORDER = 1, SRGB = 2, LUMINANCE = 4, INTENSITY = 8, PACKED_ONLY = 16 };

static const struct channel_order channel_orders[] = {
    [0] = {1, {0}, OPAQUE_BORDER},                     /* R */
    [1] = {1, {3}, 0},                                 /* A */
    [2] = {2, {0, 1}, OPAQUE_BORDER},                  /* RG */
    [3] = {2, {0, 3}, 0},                              /* RA */
    [4] = {3, {0, 1, 2}, OPAQUE_BORDER | PACKED_ONLY}, /* RGB */
    [5] = {4, {0, 1, 2, 3}, 0},                        /* RGBA */
    [6] = {4, {2, 1, 0, 3}, 0},                        /* BGRA */
    [7] = {4, {3, 0, 1, 2}, 0},                        /* ARGB */
    [8] = {1, {0}, INTENSITY},
    [9] = {1, {0}, LUMINANCE | OPAQUE_BORDER},
    [10] = {1, {0}, 0},                 /* Rx */
    [11] = {2, {0, 1}, 0},              /* RGx */
    [12] = {3, {0, 1, 2}, PACKED_ONLY}, /* RGBx */
    [13] = {1, {0}, OPAQUE_BORDER},     /* DEPTH */
    [17] = {4, {0, 1, 2, 3}, SRGB},     /* sRGBA */
    [18] = {4, {2, 1, 0, 3}, SRGB},     /* sBGRA */
    [19] = {4, {3, 2, 1, 0}, 0},        /* ABGR */
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

static uint32_t packed_channels(const struct channel_type *type)
{
    return (type->bits[0] > 0) * (3u + (type->bits[3] > 0));
}

bool ir_image_format(const struct ir_image *image, struct ir_image_format *format)
{
    const struct channel_type *type = find_type(image->channel_type);
    const struct channel_order *order = find_order(image->channel_order);
    if (!type || !order) return false;
    uint32_t packed = packed_channels(type);
    if (packed ? packed != order->channels : (order->more & PACKED_ONLY) != 0) return false;
    *format = (struct ir_image_format){.channel_class = type->channel_class,
                                       .channels = order->channels,
                                       .bytes = type->bytes,
                                       .packed = packed != 0,
                                       .opaque_border = order->more & OPAQUE_BORDER,
                                       .srgb = order->more & SRGB,
                                       .copies = order->more & INTENSITY   ? 4
                                                 : order->more & LUMINANCE ? 3
                                                                           : 1};
    memcpy(format->component, order->component, sizeof format->component);
    memcpy(format->bits, type->bits, sizeof format->bits);
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

/* The largest number of channel i, of those that count as 1 in a normalized channel. */
static uint32_t largest(const struct ir_image_format *f, uint32_t i)
{
    bool has_sign = f->channel_class == IR_CHANNEL_SNORM || f->channel_class == IR_CHANNEL_SIGNED;
    uint32_t bits = f->packed ? f->bits[i] : 8 * f->bytes;
    return 0xffffffffu >> (32 - bits + has_sign);
}

/* ---- channels in memory, zero-extended ---- */

static void read_packed(const struct ir_image_format *f, const uint8_t *bytes, uint32_t raw[4])
{
    uint32_t word = 0, left = 0;
    memcpy(&word, bytes, f->bytes);
    for (uint32_t i = 0; i < f->channels; i++) left += f->bits[i];
    for (uint32_t i = 0; i < f->channels; i++) {
        left -= f->bits[i];
        raw[i] = word >> left & largest(f, i);
    }
}

static void write_packed(const struct ir_image_format *f, uint8_t *bytes, const uint32_t raw[4])
{
    uint32_t word = 0;
    for (uint32_t i = 0; i < f->channels; i++) word = word << f->bits[i] | raw[i];
    memcpy(bytes, &word, f->bytes);
}

static void read_channels(const struct ir_image_format *f, const uint8_t *bytes, uint32_t raw[4])
{
    uint16_t halves[4];
    if (f->packed) {
        read_packed(f, bytes, raw);
        return;
    }
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
    if (f->packed) {
        write_packed(f, bytes, raw);
        return;
    }
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

/* ---- sRGB: its red, green and blue, from 0 to 1 ---- */

static float from_srgb(float v)
{
    return (float)(v <= 0.04045f ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
}

static float to_srgb(float v)
{
    if (isnan(v) || v < 0) return 0;
    if (v > 1) return 1;
    return (float)(v < 0.0031308f ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055);
}

static bool is_srgb(const struct ir_image_format *f, uint32_t i)
{
    return f->srgb && f->component[i] < 3;
}

/* ---- to components and back, in place ---- */

static void decode_channels(const struct ir_image_format *f, uint32_t raw[4])
{
    switch (f->channel_class) {
    case IR_CHANNEL_UNSIGNED: break;
    case IR_CHANNEL_SIGNED:
        for (uint32_t i = 0; i < f->channels; i++) raw[i] = (uint32_t)sign_extended(raw[i], f->bytes);
        break;
    case IR_CHANNEL_UNORM:
        for (uint32_t i = 0; i < f->channels; i++) {
            float v = (float)raw[i] / (float)largest(f, i);
            raw[i] = float_bits(is_srgb(f, i) ? from_srgb(v) : v);
        }
        break;
    case IR_CHANNEL_SNORM:
        for (uint32_t i = 0; i < f->channels; i++) {
            float v = (float)sign_extended(raw[i], f->bytes) / (float)largest(f, i);
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

static void encode_normalized(const struct ir_image_format *f, uint32_t raw[4])
{
    for (uint32_t i = 0; i < f->channels; i++) {
        float v = bits_float(raw[i]);
        double max = largest(f, i);
        raw[i] = normalized(is_srgb(f, i) ? to_srgb(v) : v, f->channel_class == IR_CHANNEL_UNORM ? 0 : -max - 1, max);
    }
}

static void encode_channels(const struct ir_image_format *f, uint32_t raw[4])
{
    uint32_t max = f->packed ? 0 : largest(f, 0);
    switch (f->channel_class) {
    case IR_CHANNEL_UNSIGNED:
        for (uint32_t i = 0; i < f->channels; i++) raw[i] = raw[i] > max ? max : raw[i];
        break;
    case IR_CHANNEL_SIGNED:
        for (uint32_t i = 0; i < f->channels; i++) raw[i] = saturated(raw[i], (int32_t)max);
        break;
    case IR_CHANNEL_UNORM:
    case IR_CHANNEL_SNORM: encode_normalized(f, raw); break;
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
    for (uint32_t i = 1; i < f->copies; i++) rgba[i] = raw[0];
}

void ir_texel_encode(const struct ir_image_format *f, const uint32_t rgba[4], uint8_t *bytes)
{
    uint32_t raw[4];
    for (uint32_t i = 0; i < f->channels; i++) raw[i] = rgba[f->component[i]];
    encode_channels(f, raw);
    write_channels(f, bytes, raw);
}

void ir_texel_border(const struct ir_image_format *f, uint32_t rgba[4])
{
    memset(rgba, 0, 4 * sizeof *rgba);
    if (f->opaque_border) rgba[3] = one(f);
}
