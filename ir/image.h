/* 2-D images as they lie in memory, and what reading and writing a texel of them means: the same for the
   interpreter, compiled code and the client API. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct ir_image {
    void *data;
    uint32_t width, height, row_pitch;    /* texels, texels, bytes */
    uint32_t channel_order, channel_type; /* OpenCL's constants */
};

/* A sampler is an i32, with the bits that OpenCL C compilers give it. */
enum ir_sampler {
    IR_SAMPLER_NORMALIZED = 1, /* coordinates from 0 to 1 */
    IR_SAMPLER_ADDRESS = 14,   /* what lies outside the image: one of these five */
    IR_SAMPLER_ADDRESS_NONE = 0,
    IR_SAMPLER_CLAMP_TO_EDGE = 2,
    IR_SAMPLER_CLAMP = 4, /* the border colour */
    IR_SAMPLER_REPEAT = 6,
    IR_SAMPLER_MIRRORED_REPEAT = 8,
    IR_SAMPLER_NEAREST = 16,
    IR_SAMPLER_LINEAR = 32,
};

/* ---- formats ---- */

enum ir_channel_class { IR_CHANNEL_SNORM, IR_CHANNEL_UNORM, IR_CHANNEL_SIGNED, IR_CHANNEL_UNSIGNED, IR_CHANNEL_FLOAT };

struct ir_image_format {
    enum ir_channel_class channel_class;
    uint32_t channels;    /* of a texel */
    uint32_t bytes;       /* of a channel */
    uint8_t component[4]; /* which of red, green, blue, alpha the i-th channel in memory is */
};

/* False: a type or an order that there is nothing for. The pair is known where both are. */
bool ir_channel_type_known(uint32_t channel_type);
bool ir_channel_order_known(uint32_t channel_order);
bool ir_image_format(const struct ir_image *image, struct ir_image_format *format);

static inline uint32_t ir_texel_bytes(const struct ir_image_format *f)
{
    return f->channels * f->bytes;
}

/* Whether texels are i32x4; else f32x4. */
static inline bool ir_format_is_integer(const struct ir_image_format *f)
{
    return f->channel_class == IR_CHANNEL_SIGNED || f->channel_class == IR_CHANNEL_UNSIGNED;
}

/* ---- blocks: bytes by their place in a row ---- */

bool ir_image_has_byte(const struct ir_image *image, const struct ir_image_format *f, int64_t x, int64_t y);
/* Where in the data byte x of row y is read: outside the image it is that of the texel at the edge; of a texel larger
   than four bytes, of the four at the edge. */
uint64_t ir_image_nearest_byte(const struct ir_image *image, const struct ir_image_format *f, int64_t x, int64_t y);

/* ---- texels: red, green, blue, alpha as the bits of f32 or i32 ---- */

/* Components that the format has not: 0, alpha 1. */
void ir_texel_decode(const struct ir_image_format *f, const uint8_t *bytes, uint32_t rgba[4]);
/* Rounded to nearest even and saturated, as OpenCL's convert_..._sat_rte(). */
void ir_texel_encode(const struct ir_image_format *f, const uint32_t rgba[4], uint8_t *bytes);

/* Gives the bytes of the texel at (x, y), which lies in the image; NULL: it reads as 0. */
typedef const uint8_t *ir_texel_source(void *data, int64_t x, int64_t y);

struct ir_sampling {
    const struct ir_image *image;
    const struct ir_image_format *format;
    ir_texel_source *source;
    void *data;
    uint32_t sampler;
    bool floats; /* coordinates are f32; else i32, which count texels whatever the sampler says */
};

/* The texel that a sampler makes of coordinates, whatever these are: OpenCL's "Image addressing and filtering". */
void ir_image_sample(const struct ir_sampling *s, const uint32_t coordinates[2], uint32_t rgba[4]);
