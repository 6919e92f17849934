/* An image as it lies in memory. */
#pragma once

#include <stdint.h>

/* Rows of texels, and slices of rows where there are several. */
struct ir_image {
    void *data;
    uint32_t width, height, row_pitch;    /* texels, texels (of 1-D images 1), bytes */
    uint32_t channel_order, channel_type; /* OpenCL's constants */
    uint32_t slices;                      /* depth of a 3-D image, layers of an array; of others 0 */
    uint64_t slice_pitch;                 /* bytes */
};
