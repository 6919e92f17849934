/* GPUs find by tables what ir/image computes with powers: for each byte what it reads as, and the least float that is
   written as it. */
#include "fuser/spirv/library/srgb.h"

#include <stdlib.h>
#include <string.h>

#include "ir/image/format.h"
#include "ir/image/layout.h"

enum { BYTES = 256, SRGBA = 0x10c1, UNORM_INT8 = 0x10d2, ONE = 0x3f800000 };

static struct ir_image_format srgb_format(void)
{
    const struct ir_image image = {.channel_order = SRGBA, .channel_type = UNORM_INT8};
    struct ir_image_format f;
    if (!ir_image_format(&image, &f)) abort();
    return f;
}

static uint8_t byte_of(const struct ir_image_format *f, uint32_t bits)
{
    uint8_t texel[4];
    ir_texel_encode(f, (const uint32_t[]){bits, 0, 0, 0}, texel);
    return texel[0];
}

/* Bits of floats from 0 to 1 are in their order. */
static uint32_t least_of(const struct ir_image_format *f, uint32_t byte)
{
    uint32_t low = 0, high = ONE;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (byte_of(f, middle) >= byte)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void set(struct ir_module *library, const char *name, const uint32_t *values)
{
    uint8_t *init = ir_alloc(library, BYTES * sizeof *values);
    memcpy(init, values, BYTES * sizeof *values);
    ir_module_find_global(library, name)->init = init;
}

void library_fill_srgb(struct ir_module *library)
{
    const struct ir_image_format f = srgb_format();
    uint32_t linear[BYTES], least[BYTES];
    for (uint32_t i = 0; i < BYTES; i++) {
        const uint8_t texel[4] = {(uint8_t)i};
        uint32_t rgba[4];
        ir_texel_decode(&f, texel, rgba);
        linear[i] = rgba[0];
        least[i] = least_of(&f, i);
    }
    set(library, "image_linear", linear);
    set(library, "image_least", least);
}
