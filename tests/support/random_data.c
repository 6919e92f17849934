/* Contents of the buffers of random kernels: made, and compared. */
#include <math.h>
#include <string.h>

#include "ir/core/float.h"
#include "tests/support/random_kernel.h"
#include "tests/support/rng.h"

/* Bytes from one element to the next, and of one lane. */
static uint64_t stride_of(ir_type t)
{
    unsigned lanes = ir_type_lanes(t) == 3 ? 4 : ir_type_lanes(t);
    return (uint64_t)ir_type_bits(t) / 8 * lanes;
}

static uint64_t random_float(struct rng *r, enum ir_kind kind)
{
    static const double edges[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, 1e-7, 65504.0, 2147483648.0, 0x1p-140};
    double v = (double)rng_below(r, 1u << 20) / 4096 - 128;
    if (rng_chance(r, 8)) v = edges[rng_below(r, sizeof edges / sizeof *edges)];
    if (rng_chance(r, 1)) v = NAN;
    return ir_float_bits(kind, v);
}

static uint64_t random_int(struct rng *r, unsigned bits)
{
    uint64_t v = rng_next(r);
    if (rng_chance(r, 40)) return v & 15;
    if (rng_chance(r, 10)) return ((uint64_t)1 << (bits - 1)) - (v & 1);
    return v;
}

void random_kernel_fill(const struct random_arg *arg, uint64_t seed, void *memory)
{
    struct rng r = {seed};
    unsigned size = ir_type_bits(arg->type) / 8;
    memset(memory, 0, arg->size);
    for (uint64_t i = 0; i < arg->count; i++) {
        uint8_t *at = (uint8_t *)memory + i * stride_of(arg->type);
        for (unsigned lane = 0; lane < ir_type_lanes(arg->type); lane++, at += size) {
            uint64_t bits = ir_type_is_float(arg->type) ? random_float(&r, ir_type_kind(arg->type))
                                                        : random_int(&r, ir_type_bits(arg->type));
            memcpy(at, &bits, size); /* little-endian, like all targets */
        }
    }
}

static bool same_lane(const struct random_arg *arg, uint64_t a, uint64_t b, double tolerance)
{
    if (a == b) return true;
    if (!ir_type_is_float(arg->type)) return false;
    double x = ir_float_value(ir_type_kind(arg->type), a), y = ir_float_value(ir_type_kind(arg->type), b);
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
    return arg->inexact && fabs(x - y) <= tolerance * fmax(1e-30, fmax(fabs(x), fabs(y)));
}

int64_t random_kernel_compare(const struct random_arg *arg, const void *a, const void *b, double tolerance)
{
    unsigned size = ir_type_bits(arg->type) / 8;
    for (uint64_t i = 0; i < arg->count; i++) {
        for (unsigned lane = 0; lane < ir_type_lanes(arg->type); lane++) {
            uint64_t at = i * stride_of(arg->type) + (uint64_t)lane * size, x = 0, y = 0;
            memcpy(&x, (const uint8_t *)a + at, size);
            memcpy(&y, (const uint8_t *)b + at, size);
            if (!same_lane(arg, x, y, tolerance)) return (int64_t)i;
        }
    }
    return -1;
}
