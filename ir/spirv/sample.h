/* Reading an image with a sampler that is known: as arithmetic on coordinates. */
#pragma once

#include "ir/spirv/body.h"

/* A known sampler as a number: SPIR-V's addressing mode, normalized coordinates, linear filter. */
enum { SAMPLE_MODE = 7, SAMPLE_NORMALIZED = 8, SAMPLE_LINEAR = 16 };

/* The texel (or mixture of texels) at coordinates of type f32x2. */
struct ir_value *spirv_sample(struct spirv_body *s, ir_type t, struct ir_value *image, struct ir_value *at,
                              unsigned sampler);
