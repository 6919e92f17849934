/* Records of images. */
#include "fuser/spirv/abi/image.h"

#include "ir/image/format.h"

static uint32_t packed(const uint8_t bytes[4], uint32_t n)
{
    uint32_t r = 0;
    for (uint32_t i = 0; i < n; i++) r |= (uint32_t)bytes[i] << 8 * i;
    return r;
}

void spirv_image_fill(struct spirv_image *record, const struct ir_image *image, uint64_t address)
{
    struct ir_image_format f;
    *record = (struct spirv_image){.data = address,
                                   .slice_pitch = image->slice_pitch,
                                   .width = image->width,
                                   .height = image->height,
                                   .slices = image->slices ? image->slices : 1,
                                   .row_pitch = image->row_pitch,
                                   .channel_order = image->channel_order,
                                   .channel_type = image->channel_type,
                                   .layers = image->slices};
    if (!ir_image_format(image, &f) || !address || !image->width || !image->height) return;
    record->texel_bytes = ir_texel_bytes(&f);
    record->channels = f.channels;
    record->channel_bytes = f.bytes;
    record->channel_class = f.channel_class;
    record->components = packed(f.component, f.channels);
    record->bits = f.packed ? packed(f.bits, f.channels) : 0;
    record->flags = (f.opaque_border ? SPIRV_IMAGE_OPAQUE_BORDER : 0) |
                    (ir_format_is_integer(&f) ? SPIRV_IMAGE_INTEGER : 0) | (f.srgb ? SPIRV_IMAGE_SRGB : 0);
    record->copies = f.copies;
}
