/* 2-D images as they cross a process border: sizes, pitch and format, with OpenCL's constants. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/include/fusiond/status.h"

struct proto_image {
    uint32_t width, height, row_pitch;    /* pixels, pixels, bytes; all 0: no image */
    uint32_t channel_order, channel_type; /* CL_RGBA, CL_UNORM_INT8 ... */
};

/* Of a pixel; 0: a format that there is nothing for. */
uint32_t proto_pixel_bytes(uint32_t channel_order, uint32_t channel_type);
/* Of the memory it takes: whole rows. */
uint64_t proto_image_bytes(const struct proto_image *image);
/* What of it is wrong, as a sentence in reason: FUSION_INVALID where OpenCL allows no such image,
   FUSION_FEATURE_NOT_SUPPORTED where it does and we do not. */
fusion_status proto_image_check(const struct proto_image *image, char *reason, size_t size);
