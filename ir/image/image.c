/* Images: sampling, and where in memory blocks lie. */
#include "ir/image/image.h"

#include <math.h>
#include <string.h>

static float bits_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t float_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* ---- places ---- */

void ir_image_place(enum ir_image_form form, const uint32_t coordinates[3], uint32_t place[3])
{
    unsigned n = ir_image_coordinates(form);
    bool layers = ir_image_is_array(form);
    place[0] = coordinates[0];
    place[1] = n - layers > 1 ? coordinates[1] : 0;
    place[2] = layers || n == 3 ? coordinates[n - 1] : 0;
}

bool ir_image_has(const struct ir_image *image, int64_t x, int64_t y, int64_t z)
{
    return x >= 0 && y >= 0 && z >= 0 && x < image->width && y < image->height && z < ir_image_slices(image);
}

/* ---- sampling ---- */

struct axis {
    int64_t low, high; /* the two texels that a linear filter mixes; low alone for the nearest one */
    float weight;      /* of high */
};

static const int64_t border = -1;

static int64_t addressed(int64_t i, uint32_t size, uint32_t mode)
{
    int64_t last = (int64_t)size - 1;
    if (i >= 0 && i <= last) return i;
    switch (mode) {
    case IR_SAMPLER_CLAMP: return border;
    case IR_SAMPLER_REPEAT: return (i % (int64_t)size + size) % size;
    default: return i < 0 ? 0 : last;
    }
}

/* A coordinate in texels; where the sampler repeats the image it comes from 0 to 1 and is wrapped first. */
static float to_texels(float c, uint32_t size, uint32_t sampler)
{
    uint32_t mode = sampler & IR_SAMPLER_ADDRESS;
    if (mode == IR_SAMPLER_REPEAT)
        c -= floorf(c);
    else if (mode == IR_SAMPLER_MIRRORED_REPEAT)
        c = fabsf(c - 2 * rintf(0.5f * c));
    return sampler & IR_SAMPLER_NORMALIZED ? c * (float)size : c;
}

static struct axis float_axis(float c, uint32_t size, uint32_t sampler, bool linear)
{
    uint32_t mode = sampler & IR_SAMPLER_ADDRESS;
    float u = to_texels(c, size, sampler) - (linear ? 0.5f : 0);
    float limit = (float)size + 1;
    if (!(u > -2)) u = -2; /* NaN too: what is sampled then is undefined */
    if (u > limit) u = limit;
    int64_t i = (int64_t)u;
    if ((float)i > u) i--; /* now the floor */
    return (struct axis){addressed(i, size, mode), addressed(i + 1, size, mode), u - (float)i};
}

static struct axis int_axis(uint32_t c, uint32_t size, uint32_t sampler)
{
    return (struct axis){.low = addressed((int32_t)c, size, sampler & IR_SAMPLER_ADDRESS)};
}

/* The layer that a coordinate counts, to nearest even. NaN: the first. */
static struct axis layer_axis(uint32_t c, uint32_t n, bool floats)
{
    float last = (float)(n - 1), f = floats ? rintf(bits_float(c)) : 0;
    int32_t i = (int32_t)c;
    if (floats) return (struct axis){.low = f >= last ? n - 1 : f > 0 ? (int64_t)f : 0};
    return (struct axis){.low = i < 0 ? 0 : (uint32_t)i >= n ? n - 1 : (uint32_t)i};
}

static void sample_at(const struct ir_sampling *s, int64_t x, int64_t y, int64_t z, uint32_t rgba[4])
{
    if (x == border || y == border || z == border) {
        ir_texel_border(s->format, rgba);
        return;
    }
    memset(rgba, 0, 4 * sizeof *rgba);
    const uint8_t *bytes = s->source(s->data, x, y, z);
    if (bytes) ir_texel_decode(s->format, bytes, rgba);
}

/* Of two texels for each axis that is filtered, which come first. */
static void sample_linear(const struct ir_sampling *s, const struct axis axes[3], unsigned filtered, uint32_t rgba[4])
{
    float sum[4] = {0};
    for (unsigned corner = 0; corner < 1u << filtered; corner++) {
        uint32_t texel[4];
        int64_t at[3];
        float weight = 1;
        for (unsigned i = 0; i < 3; i++) {
            bool high = corner >> i & 1;
            at[i] = high ? axes[i].high : axes[i].low;
            if (i < filtered) weight *= high ? axes[i].weight : 1 - axes[i].weight;
        }
        sample_at(s, at[0], at[1], at[2], texel);
        for (int i = 0; i < 4; i++)
            if (weight != 0) sum[i] += weight * bits_float(texel[i]);
    }
    for (int i = 0; i < 4; i++) rgba[i] = float_bits(sum[i]);
}

void ir_image_sample(const struct ir_sampling *s, const uint32_t coordinates[3], uint32_t rgba[4])
{
    bool linear = s->floats && s->sampler & IR_SAMPLER_LINEAR && !ir_format_is_integer(s->format);
    bool layers = ir_image_is_array(s->form);
    unsigned filtered = ir_image_coordinates(s->form) - layers;
    uint32_t sizes[3] = {s->image->width, s->image->height, ir_image_slices(s->image)};
    struct axis axes[3] = {{0}, {0}, {0}};
    for (unsigned i = 0; i < filtered; i++)
        axes[i] = s->floats ? float_axis(bits_float(coordinates[i]), sizes[i], s->sampler, linear)
                            : int_axis(coordinates[i], sizes[i], s->sampler);
    if (layers) axes[2] = layer_axis(coordinates[filtered], sizes[2], s->floats);
    if (linear)
        sample_linear(s, axes, filtered, rgba);
    else
        sample_at(s, axes[0].low, axes[1].low, axes[2].low, rgba);
}

/* ---- blocks ---- */

bool ir_image_has_byte(const struct ir_image *image, const struct ir_image_format *f, int64_t x, int64_t y)
{
    return x >= 0 && y >= 0 && y < image->height && x < (int64_t)image->width * ir_texel_bytes(f);
}

static int64_t clamped(int64_t v, int64_t last)
{
    return v < 0 ? 0 : v > last ? last : v;
}

uint64_t ir_image_nearest_byte(const struct ir_image *image, const struct ir_image_format *f, int64_t x, int64_t y)
{
    int64_t unit = ir_texel_bytes(f) < 4 ? ir_texel_bytes(f) : 4, row = (int64_t)image->width * ir_texel_bytes(f);
    int64_t in_unit = x & (unit - 1), column = clamped((x - in_unit) / unit, row / unit - 1);
    return (uint64_t)(clamped(y, (int64_t)image->height - 1) * image->row_pitch + column * unit + in_unit);
}
