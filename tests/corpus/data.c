/* What buffers hold before a kernel runs: random numbers, and the corners of each type. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "tests/corpus/corpus.h"
#include "tests/support/rng.h"

/* 32 each, so that `special 1` and `special 32` of 1024 elements make all pairs. */
enum { N_CORNERS = 32 };

/* clang-format off */
static const double corners_f64[N_CORNERS] = {
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 1.5, -2.5, INFINITY, -INFINITY, NAN, -NAN,
    DBL_MAX, -DBL_MAX, DBL_MIN, -DBL_MIN, DBL_TRUE_MIN, -DBL_TRUE_MIN, 0x1p-1030, -0x1.8p-1040,
    0x1.fffffffffffffp-1, -0x1.0000000000001p0, 0x1p52, -0x1p53, 7.25, -1e-5, 1e10, 100.0,
};
static const float corners_f32[N_CORNERS] = {
    0.0f, -0.0f, 1.0f, -1.0f, 0.5f, -0.5f, 2.0f, -2.0f, 3.0f, -3.0f, 1.5f, -2.5f, INFINITY, -INFINITY, NAN, -NAN,
    FLT_MAX, -FLT_MAX, FLT_MIN, -FLT_MIN, FLT_TRUE_MIN, -FLT_TRUE_MIN, 0x1p-130f, -0x1.8p-140f,
    0x1.fffffep-1f, -0x1.000002p0f, 0x1p23f, -0x1p24f, 7.25f, -1e-5f, 1e10f, 100.0f,
};
/* clang-format on */

/* Small numbers, powers of two and their neighbours, the extremes; bits says how wide the type is. */
static uint64_t integer_corner(uint32_t i, uint32_t bits)
{
    uint64_t top = 1ull << (bits - 1);
    /* clang-format off */
    const uint64_t values[N_CORNERS] = {
        0, 1, (uint64_t)-1, 2, (uint64_t)-2, 3, (uint64_t)-3, 7, 8, (uint64_t)-8, 31, 32, 33, 63, 64, (uint64_t)-64,
        127, 128, 255, top, top - 1, top + 1, top - 2, top >> 1, (top >> 1) - 1, top | top >> 1,
        0x5555555555555555, 0xaaaaaaaaaaaaaaaa, 0x0123456789abcdef, 100, (uint64_t)-100, bits,
    };
    /* clang-format on */
    return values[i];
}

static uint64_t corner(const struct corpus_type *t, uint32_t i)
{
    uint64_t bits = 0;
    if (!t->is_float) return integer_corner(i, t->size * 8);
    memcpy(&bits, t->size == 4 ? (const void *)&corners_f32[i] : (const void *)&corners_f64[i], t->size);
    return bits;
}

static uint64_t number_bits(const struct corpus_type *t, double v)
{
    float f = (float)v;
    uint64_t bits = 0;
    if (!t->is_float) return v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v;
    memcpy(&bits, t->size == 4 ? (void *)&f : (void *)&v, t->size);
    return bits;
}

static uint64_t uniform(const struct corpus_arg *a, struct rng *rng)
{
    double unit = (double)(rng_next(rng) >> 11) * 0x1p-53;
    double v = a->type->is_float ? a->low + unit * (a->high - a->low) : floor(a->low + unit * (a->high - a->low + 1));
    return number_bits(a->type, v);
}

static uint64_t element(const struct corpus_arg *a, uint64_t i, struct rng *rng)
{
    switch (a->data) {
    case CORPUS_ZERO: return 0;
    case CORPUS_IOTA: return number_bits(a->type, (double)i);
    case CORPUS_BITS: return rng_next(rng);
    case CORPUS_UNIFORM: return uniform(a, rng);
    case CORPUS_SPECIAL: return corner(a->type, (uint32_t)(i / (uint64_t)a->low % N_CORNERS));
    case CORPUS_MIXED: return i < N_CORNERS ? corner(a->type, (uint32_t)i) : uniform(a, rng);
    }
    return 0;
}

void corpus_fill(const struct corpus_arg *a, uint32_t index, void *to)
{
    struct rng rng = {1000 + index};
    uint8_t *bytes = to;
    for (uint64_t i = 0; i < a->size / a->type->size; i++) {
        uint64_t bits = element(a, i, &rng);
        memcpy(bytes + i * a->type->size, &bits, a->type->size);
    }
}
