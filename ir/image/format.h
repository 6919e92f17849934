/* Formats of images: texels to and from bytes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ir/image/layout.h"

enum ir_channel_class { IR_CHANNEL_SNORM, IR_CHANNEL_UNORM, IR_CHANNEL_SIGNED, IR_CHANNEL_UNSIGNED, IR_CHANNEL_FLOAT };

struct ir_image_format {
    enum ir_channel_class channel_class;
    uint32_t channels;    /* of a texel */
    uint32_t bytes;       /* of a channel; where they are packed, of the texel */
    uint8_t component[4]; /* which of red, green, blue, alpha the i-th channel in memory is */
    uint8_t bits[4];      /* of each channel, where they are packed, from the highest bits down */
    bool packed;
    bool srgb;          /* red, green and blue are not linear */
    bool opaque_border; /* alpha of the border colour is 1 */
    uint8_t copies;     /* components, from red on, that read as the one channel that there is */
};

/* False: a type or an order that there is nothing for, or that do not go together. */
bool ir_channel_type_known(uint32_t channel_type);
bool ir_channel_order_known(uint32_t channel_order);
bool ir_image_format(const struct ir_image *image, struct ir_image_format *format);

static inline uint32_t ir_texel_bytes(const struct ir_image_format *f)
{
    return f->packed ? f->bytes : f->channels * f->bytes;
}

/* Whether texels are i32x4; else f32x4. */
static inline bool ir_format_is_integer(const struct ir_image_format *f)
{
    return f->channel_class == IR_CHANNEL_SIGNED || f->channel_class == IR_CHANNEL_UNSIGNED;
}

/* ---- texels: red, green, blue, alpha as the bits of f32 or i32 ---- */

/* Components that the format has not: 0, alpha 1. */
void ir_texel_decode(const struct ir_image_format *f, const uint8_t *bytes, uint32_t rgba[4]);
/* Rounded to nearest even and saturated, as OpenCL's convert_..._sat_rte(); of copies red counts. */
void ir_texel_encode(const struct ir_image_format *f, const uint32_t rgba[4], uint8_t *bytes);
/* What lies outside, where the sampler says so. */
void ir_texel_border(const struct ir_image_format *f, uint32_t rgba[4]);
