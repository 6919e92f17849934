/* Images as they cross a process border: sizes, pitches and format, with OpenCL's constants. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/error.h"
#include "proto/include/fusiond/status.h"

/* As enum ir_image_form counts them, and fusion_image_type. */
enum proto_image_type {
    PROTO_IMAGE_2D,
    PROTO_IMAGE_1D,
    PROTO_IMAGE_1D_ARRAY,
    PROTO_IMAGE_1D_BUFFER,
    PROTO_IMAGE_2D_ARRAY,
    PROTO_IMAGE_3D,
    PROTO_IMAGE_TYPE_COUNT
};

struct proto_image {
    uint32_t width, height, row_pitch;    /* pixels, pixels (of 1-D images 1), bytes; all 0: no image */
    uint32_t channel_order, channel_type; /* CL_RGBA, CL_UNORM_INT8 ... */
    uint32_t type;                        /* enum proto_image_type */
    uint32_t slices;                      /* depth of a 3-D image, layers of an array; of others 0 */
    uint64_t slice_pitch;                 /* bytes; 0 where there are no slices */
};

/* "image3d" ... */
const char *proto_image_type_name(uint32_t type);
bool proto_image_same(const struct proto_image *a, const struct proto_image *b);

/* Of a pixel; 0: a format that there is nothing for. */
uint32_t proto_pixel_bytes(uint32_t channel_order, uint32_t channel_type);
/* Of the memory it takes: whole rows, whole slices. */
uint64_t proto_image_bytes(const struct proto_image *image);
/* 0, or -1 with what of it is wrong: FUSION_INVALID where OpenCL allows no such image, FUSION_FEATURE_NOT_SUPPORTED
   where it does and we do not. */
int proto_image_check(const struct proto_image *image, struct error *e);
