/* Images as they lie in memory, and what reading and writing a texel of them means: the same for the
   interpreter, compiled code and the client API. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ir/core/type.h"

/* Rows of texels, and slices of rows where there are several. */
struct ir_image {
    void *data;
    uint32_t width, height, row_pitch;    /* texels, texels (of 1-D images 1), bytes */
    uint32_t channel_order, channel_type; /* OpenCL's constants */
    uint32_t slices;                      /* depth of a 3-D image, layers of an array; of others 0 */
    uint64_t slice_pitch;                 /* bytes */
};

static inline uint32_t ir_image_slices(const struct ir_image *image)
{
    return image->slices ? image->slices : 1;
}

/* x, y and slice of an image's coordinates, those that it has not 0. */
void ir_image_place(enum ir_image_form form, const uint32_t coordinates[3], uint32_t place[3]);
bool ir_image_has(const struct ir_image *image, int64_t x, int64_t y, int64_t z);
/* Of a texel, in bytes from data. */
static inline uint64_t ir_image_offset(const struct ir_image *image, uint32_t texel_bytes, uint64_t x, uint64_t y,
                                       uint64_t z)
{
    return z * image->slice_pitch + y * image->row_pitch + x * texel_bytes;
}

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

/* ---- blocks: bytes by their place in a row ---- */

bool ir_image_has_byte(const struct ir_image *image, const struct ir_image_format *f, int64_t x, int64_t y);
/* Where in the data byte x of row y is read: outside the image it is that of the texel at the edge; of a texel larger
   than four bytes, of the four at the edge. */
uint64_t ir_image_nearest_byte(const struct ir_image *image, const struct ir_image_format *f, int64_t x, int64_t y);

/* ---- texels: red, green, blue, alpha as the bits of f32 or i32 ---- */

/* Components that the format has not: 0, alpha 1. */
void ir_texel_decode(const struct ir_image_format *f, const uint8_t *bytes, uint32_t rgba[4]);
/* Rounded to nearest even and saturated, as OpenCL's convert_..._sat_rte(); of copies red counts. */
void ir_texel_encode(const struct ir_image_format *f, const uint32_t rgba[4], uint8_t *bytes);
/* What lies outside, where the sampler says so. */
void ir_texel_border(const struct ir_image_format *f, uint32_t rgba[4]);

/* Gives the bytes of the texel at (x, y) of slice z, which lies in the image; NULL: it reads as 0. */
typedef const uint8_t *ir_texel_source(void *data, int64_t x, int64_t y, int64_t z);

struct ir_sampling {
    const struct ir_image *image;
    const struct ir_image_format *format;
    enum ir_image_form form;
    ir_texel_source *source;
    void *data;
    uint32_t sampler;
    bool floats; /* coordinates are f32; else i32, which count texels whatever the sampler says */
};

/* The texel that a sampler makes of coordinates, whatever these are: OpenCL's "Image addressing and filtering". */
void ir_image_sample(const struct ir_sampling *s, const uint32_t coordinates[3], uint32_t rgba[4]);
