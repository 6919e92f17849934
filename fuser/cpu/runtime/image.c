/* Texels for compiled kernels: those of several work-items at a call, none outside the image. */
#include "fuser/cpu/runtime/image.h"

#include <string.h>

/* False where the operation cannot be: no image, or one whose channels are not of that kind. */
static bool usable(const struct ir_image *image, struct ir_image_format *format)
{
    return image && image->data && image->width && image->height && ir_image_format(image, format);
}

static uint8_t *byte_at(const struct ir_image *image, int64_t x, int64_t y)
{
    return (uint8_t *)image->data + (uint64_t)y * image->row_pitch + (uint64_t)x;
}

static const uint8_t *texel_at(void *data, int64_t x, int64_t y, int64_t z)
{
    const struct ir_sampling *s = data;
    uint32_t bytes = ir_texel_bytes(s->format);
    return (const uint8_t *)s->image->data + ir_image_offset(s->image, bytes, (uint64_t)x, (uint64_t)y, (uint64_t)z);
}

static enum ir_image_form form_of(uint32_t mode)
{
    return (enum ir_image_form)(mode >> KERNEL_TEXEL_FORM & 7);
}

static void coordinates_of(enum ir_image_form form, const uint32_t *coordinates, uint32_t stride, uint32_t lane,
                           uint32_t to[3])
{
    for (uint32_t i = 0; i < ir_image_coordinates(form); i++) to[i] = coordinates[i * stride + lane];
}

/* Where the texel that integers name lies; NULL: outside. */
static uint8_t *texel_or_null(const struct ir_image *image, const struct ir_image_format *format,
                              enum ir_image_form form, const uint32_t coordinates[3])
{
    uint32_t p[3];
    ir_image_place(form, coordinates, p);
    if (!ir_image_has(image, (int32_t)p[0], (int32_t)p[1], (int32_t)p[2])) return NULL;
    return (uint8_t *)image->data + ir_image_offset(image, ir_texel_bytes(format), p[0], p[1], p[2]);
}

/* The next lane of those left, which it is taken out of. */
static uint32_t next_lane(uint64_t *lanes)
{
    uint32_t lane = (uint32_t)__builtin_ctzll(*lanes);
    *lanes &= *lanes - 1;
    return lane;
}

void kernel_image_read(const struct ir_image *image, uint32_t mode, uint64_t lanes, uint32_t stride,
                       const uint32_t *coordinates, uint32_t *texels)
{
    struct ir_image_format format;
    bool can = usable(image, &format) && ir_format_is_integer(&format) == !!(mode & KERNEL_TEXEL_INTS);
    struct ir_sampling sampling = {.image = image,
                                   .format = &format,
                                   .form = form_of(mode),
                                   .source = texel_at,
                                   .data = &sampling,
                                   .sampler = mode,
                                   .floats = mode & KERNEL_TEXEL_FLOATS};
    while (lanes) {
        uint32_t lane = next_lane(&lanes);
        uint32_t c[3], rgba[4] = {0};
        coordinates_of(sampling.form, coordinates, stride, lane, c);
        bool sampled = mode & KERNEL_TEXEL_SAMPLED;
        const uint8_t *bytes = can && !sampled ? texel_or_null(image, &format, sampling.form, c) : NULL;
        if (can && sampled) ir_image_sample(&sampling, c, rgba);
        if (bytes) ir_texel_decode(&format, bytes, rgba);
        for (uint32_t i = 0; i < 4; i++) texels[i * stride + lane] = rgba[i];
    }
}

void kernel_image_write(const struct ir_image *image, uint32_t mode, uint64_t lanes, uint32_t stride,
                        const uint32_t *coordinates, const uint32_t *texels)
{
    struct ir_image_format format;
    if (!usable(image, &format) || ir_format_is_integer(&format) != !!(mode & KERNEL_TEXEL_INTS)) return;
    while (lanes) {
        uint32_t lane = next_lane(&lanes), c[3], rgba[4];
        coordinates_of(form_of(mode), coordinates, stride, lane, c);
        uint8_t *bytes = texel_or_null(image, &format, form_of(mode), c);
        for (uint32_t i = 0; i < 4; i++) rgba[i] = texels[i * stride + lane];
        if (bytes) ir_texel_encode(&format, rgba, bytes);
    }
}

/* ---- blocks: rows of bytes, the work-items of a sub-group side by side ---- */

struct block {
    const struct ir_image *image;
    struct ir_image_format format;
    int64_t bytes; /* of a number */
    int64_t x, y;  /* of this lane's first number, which need not lie in the image */
};

/* False: there is no image. */
static bool block_begin(struct block *b, const struct ir_image *image, uint32_t bytes)
{
    *b = (struct block){.image = image, .bytes = bytes};
    return usable(image, &b->format);
}

static void block_lane(struct block *b, uint32_t lane, uint32_t stride, const uint32_t *coordinates)
{
    b->x = (int32_t)coordinates[lane] + (int64_t)coordinates[2 * stride + lane] * b->bytes;
    b->y = (int32_t)coordinates[stride + lane];
}

static bool has_number(const struct block *b, uint32_t k)
{
    return ir_image_has_byte(b->image, &b->format, b->x, b->y + k) &&
           ir_image_has_byte(b->image, &b->format, b->x + b->bytes - 1, b->y + k);
}

static void block_get(const struct block *b, uint32_t k, uint8_t *number)
{
    if (has_number(b, k)) {
        memcpy(number, byte_at(b->image, b->x, b->y + k), (size_t)b->bytes);
        return;
    }
    const uint8_t *data = b->image->data;
    for (int64_t i = 0; i < b->bytes; i++)
        number[i] = data[ir_image_nearest_byte(b->image, &b->format, b->x + i, b->y + k)];
}

static void block_put(const struct block *b, uint32_t k, const uint8_t *number)
{
    if (has_number(b, k)) {
        memcpy(byte_at(b->image, b->x, b->y + k), number, (size_t)b->bytes);
        return;
    }
    for (int64_t i = 0; i < b->bytes; i++)
        if (ir_image_has_byte(b->image, &b->format, b->x + i, b->y + k))
            *byte_at(b->image, b->x + i, b->y + k) = number[i];
}

void kernel_image_block_read(const struct ir_image *image, uint32_t bytes, uint32_t n, uint64_t lanes, uint32_t stride,
                             const uint32_t *coordinates, void *numbers)
{
    struct block b = {0};
    bool can = block_begin(&b, image, bytes);
    while (lanes) {
        uint32_t lane = next_lane(&lanes);
        if (can) block_lane(&b, lane, stride, coordinates);
        for (uint32_t k = 0; k < n; k++) {
            uint8_t *number = (uint8_t *)numbers + ((uint64_t)k * stride + lane) * bytes;
            if (can)
                block_get(&b, k, number);
            else
                memset(number, 0, bytes);
        }
    }
}

void kernel_image_block_write(const struct ir_image *image, uint32_t bytes, uint32_t n, uint64_t lanes, uint32_t stride,
                              const uint32_t *coordinates, const void *numbers)
{
    struct block b;
    if (!block_begin(&b, image, bytes)) return;
    while (lanes) {
        uint32_t lane = next_lane(&lanes);
        block_lane(&b, lane, stride, coordinates);
        for (uint32_t k = 0; k < n; k++)
            block_put(&b, k, (const uint8_t *)numbers + ((uint64_t)k * stride + lane) * bytes);
    }
}
