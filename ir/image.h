/* 2-D images as they lie in memory, and samplers: the same for the interpreter, compiled code and the client API. */
#pragma once

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
    IR_SAMPLER_LINEAR = 32, /* else nearest (16) */
};
