/* Images as they lie in memory, and what reading and writing a texel of them means: the same for the
   interpreter, compiled code and the client API. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ir/core/type.h"
#include "ir/image/format.h"
#include "ir/image/layout.h"

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

/* ---- blocks: bytes by their place in a row ---- */

bool ir_image_has_byte(const struct ir_image *image, const struct ir_image_format *f, int64_t x, int64_t y);
/* Where in the data byte x of row y is read: outside the image it is that of the texel at the edge; of a texel larger
   than four bytes, of the four at the edge. */
uint64_t ir_image_nearest_byte(const struct ir_image *image, const struct ir_image_format *f, int64_t x, int64_t y);

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
