/* Conversions between the float formats. */
#include "ir/core/float.h"

#include <string.h>

uint16_t ir_f16_from_float(float f)
{
    return (uint16_t)ir_float_bits(IR_KIND_F16, (double)f);
}

float ir_f16_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ff, bits;
    if (exponent == 31) {
        bits = sign | 0x7f800000 | fraction << 13 | (fraction ? 0x400000 : 0);
    } else if (exponent) {
        bits = sign | (exponent + 112) << 23 | fraction << 13;
    } else {
        float small = (float)fraction * 0x1p-24f; /* exact */
        memcpy(&bits, &small, sizeof bits);
        bits |= sign;
    }
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* From the double's bits to binary16 in one rounding: through float there would be two. */
static uint16_t f16_from_double(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    uint64_t fraction = bits & (UINT64_MAX >> 12);
    if (exponent == 1024) return sign | 0x7c00 | (uint16_t)(fraction ? 0x200 | fraction >> 42 : 0);
    if (exponent > 15) return sign | 0x7c00;
    if (exponent < -25) return sign;
    /* Keep 10 fraction bits, fewer where the result is denormal. */
    int drop = exponent < -14 ? 42 + (-14 - exponent) : 42;
    uint64_t whole = fraction | 1ull << 52;
    uint64_t kept = whole >> drop, rest = whole & ((1ull << drop) - 1), half = 1ull << (drop - 1);
    if (rest > half || (rest == half && kept & 1)) kept++;
    /* A carry out of the fraction goes into the exponent, as it should; 65520 and more become infinity. */
    if (exponent < -14) return sign | (uint16_t)kept;
    return sign | (uint16_t)(((uint64_t)(exponent + 14) << 10) + kept);
}

uint64_t ir_float_bits(enum ir_kind kind, double v)
{
    if (kind == IR_KIND_F16) return f16_from_double(v);
    if (kind == IR_KIND_F32) {
        float f = (float)v;
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        return bits;
    }
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

double ir_float_value(enum ir_kind kind, uint64_t bits)
{
    if (kind == IR_KIND_F16) return (double)ir_f16_to_float((uint16_t)bits);
    if (kind == IR_KIND_F32) {
        uint32_t narrow = (uint32_t)bits;
        float f;
        memcpy(&f, &narrow, sizeof f);
        return (double)f;
    }
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}
