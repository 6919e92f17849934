/* Images as kernels see them: records in memory, which devices without any images know nothing of. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ir/image/layout.h"

/* What the 8 bytes of an image among the arguments are the address of. fuser/spirv/library/images.fk counts its words.
 */
struct spirv_image {
    uint64_t data, slice_pitch;                    /* an address; bytes */
    uint32_t width, height, slices, row_pitch;     /* slices: at least 1 */
    uint32_t texel_bytes, channels, channel_bytes; /* no channels: it cannot be used */
    uint32_t channel_class;                        /* enum ir_channel_class */
    uint32_t components, bits;                     /* a byte for each channel: as in struct ir_image_format */
    uint32_t flags;                                /* enum spirv_image_flag */
    uint32_t copies, channel_order, channel_type;
    uint32_t layers; /* as asked for: 0 where there are none */
    uint32_t unused;
};

enum spirv_image_flag { SPIRV_IMAGE_OPAQUE_BORDER = 2, SPIRV_IMAGE_INTEGER = 4, SPIRV_IMAGE_SRGB = 8 };

/* Of an image whose data have that address for the device. */
void spirv_image_fill(struct spirv_image *record, const struct ir_image *image, uint64_t address);

/* How a texel is read and written; above the bits of a sampler (enum ir_sampler). */
enum spirv_texel_flag { SPIRV_TEXEL_FLOATS = 1 << 17, SPIRV_TEXEL_INTS = 1 << 18 };
