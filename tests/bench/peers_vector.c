/*
 * The peers that are vectors by hand: the widest that the machine has, two in flight, functions of libmvec by name.
 * Lanes that are done stay in the vector until all are.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "peers.h"

#if defined __AVX512F__
#define LANES 16
#define LIBMVEC(name) _ZGVeN16v_##name
#elif defined __AVX2__
#define LANES 8
#define LIBMVEC(name) _ZGVdN8v_##name
#else
#define LANES 4
#define LIBMVEC(name) _ZGVbN4v_##name
#endif

typedef float floats __attribute__((vector_size(LANES * 4)));
typedef int32_t ints __attribute__((vector_size(LANES * 4)));

static floats load(const float *p)
{
    floats v;
    memcpy(&v, p, sizeof v);
    return v;
}

static void store(void *p, floats v)
{
    memcpy(p, &v, sizeof v);
}

static floats splat(float v)
{
    return v - (floats){0};
}

/* 0, 1, 2, ... */
static floats steps(void)
{
    floats v;
    for (int i = 0; i < LANES; i++) v[i] = (float)i;
    return v;
}

static float sum_of(floats v)
{
    float sum = 0;
    for (int i = 0; i < LANES; i++) sum += v[i];
    return sum;
}

/* All lengths here are multiples of two vectors. */
void chain_vector(const struct peer_data *d)
{
    const float *a = d->in[0], *b = d->in[1], *c = d->in[2];
    float *out = d->out[0];
    size_t n = d->columns;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i += 2 * LANES) {
        floats s = load(a + i) + load(b + i), t = load(a + i + LANES) + load(b + i + LANES);
        store(out + i, s * load(c + i) + s * 5.0f);
        store(out + i + LANES, t * load(c + i + LANES) + t * 5.0f);
    }
}

/* ---- mandelbrot ---- */

#ifdef __AVX512F__
#include <immintrin.h>

/* Two vectors of pixels; a mask of each says which lanes go on. */
static void escape_two(floats cx1, floats cx2, float cy, int32_t *out)
{
    __m512 x1 = _mm512_setzero_ps(), y1 = x1, x2 = x1, y2 = x1;
    const __m512 a1 = (__m512)cx1, a2 = (__m512)cx2, b = _mm512_set1_ps(cy), four = _mm512_set1_ps(4.0f);
    const __m512i one = _mm512_set1_epi32(1);
    __m512i n1 = _mm512_setzero_si512(), n2 = n1;
    __mmask16 go1 = 0xffff, go2 = 0xffff;
    for (int i = 0; i < MANDELBROT_ROUNDS; i++) {
        __m512 xx1 = _mm512_mul_ps(x1, x1), xx2 = _mm512_mul_ps(x2, x2);
        __m512 yy1 = _mm512_mul_ps(y1, y1), yy2 = _mm512_mul_ps(y2, y2);
        go1 = _mm512_mask_cmp_ps_mask(go1, _mm512_add_ps(xx1, yy1), four, _CMP_LE_OQ);
        go2 = _mm512_mask_cmp_ps_mask(go2, _mm512_add_ps(xx2, yy2), four, _CMP_LE_OQ);
        if (!(go1 | go2)) break;
        n1 = _mm512_mask_add_epi32(n1, go1, n1, one);
        n2 = _mm512_mask_add_epi32(n2, go2, n2, one);
        y1 = _mm512_fmadd_ps(_mm512_add_ps(x1, x1), y1, b);
        y2 = _mm512_fmadd_ps(_mm512_add_ps(x2, x2), y2, b);
        x1 = _mm512_add_ps(_mm512_sub_ps(xx1, yy1), a1);
        x2 = _mm512_add_ps(_mm512_sub_ps(xx2, yy2), a2);
    }
    _mm512_storeu_si512(out, n1);
    _mm512_storeu_si512(out + LANES, n2);
}
#else
static int any(ints v)
{
    int64_t bits = 0, part[sizeof v / 8];
    memcpy(part, &v, sizeof v);
    for (size_t i = 0; i < sizeof v / 8; i++) bits |= part[i];
    return bits != 0;
}

static void escape_two(floats cx1, floats cx2, float cy, int32_t *out)
{
    floats x1 = {0}, y1 = x1, x2 = x1, y2 = x1;
    ints n1 = {0}, n2 = n1, go1 = ~n1, go2 = ~n1;
    for (int i = 0; i < MANDELBROT_ROUNDS; i++) {
        floats xx1 = x1 * x1, yy1 = y1 * y1, xx2 = x2 * x2, yy2 = y2 * y2;
        go1 &= xx1 + yy1 <= 4.0f;
        go2 &= xx2 + yy2 <= 4.0f;
        if (!any(go1 | go2)) break;
        n1 -= go1;
        n2 -= go2;
        y1 = 2.0f * x1 * y1 + cy;
        y2 = 2.0f * x2 * y2 + cy;
        x1 = xx1 - yy1 + cx1;
        x2 = xx2 - yy2 + cx2;
    }
    memcpy(out, &n1, sizeof n1);
    memcpy(out + LANES, &n2, sizeof n2);
}
#endif

void mandelbrot_vector(const struct peer_data *d)
{
    int32_t *out = d->out[0];
#pragma omp parallel for schedule(dynamic, 8)
    for (size_t row = 0; row < d->rows; row++)
        for (size_t column = 0; column < d->columns; column += 2 * LANES) {
            floats at = steps() + (float)column;
            escape_two(MANDELBROT_LEFT + at * MANDELBROT_STEP, MANDELBROT_LEFT + (at + LANES) * MANDELBROT_STEP,
                       MANDELBROT_TOP + (float)row * MANDELBROT_STEP, out + row * d->columns + column);
        }
}

/* ---- layernorm ---- */

void layernorm_vector(const struct peer_data *d)
{
    const float *scale = d->in[1], *shift = d->in[2];
    size_t n = d->columns;
#pragma omp parallel for schedule(static)
    for (size_t row = 0; row < d->rows; row++) {
        const float *x = d->in[0] + row * n;
        float *out = (float *)d->out[0] + row * n;
        floats sum[4] = {{0}}, squares[4] = {{0}};
        for (size_t i = 0; i < n; i += 4 * LANES)
            for (int k = 0; k < 4; k++) sum[k] += load(x + i + k * LANES);
        float mean = sum_of(sum[0] + sum[1] + (sum[2] + sum[3])) / (float)n;
        for (size_t i = 0; i < n; i += 4 * LANES)
            for (int k = 0; k < 4; k++) {
                floats c = load(x + i + k * LANES) - mean;
                squares[k] += c * c;
            }
        float variance = sum_of(squares[0] + squares[1] + (squares[2] + squares[3])) / (float)n;
        float factor = 1.0f / sqrtf(variance + LAYERNORM_EPSILON);
        for (size_t i = 0; i < n; i += LANES)
            store(out + i, (load(x + i) - mean) * factor * load(scale + i) + load(shift + i));
    }
}

/* ---- Black-Scholes ---- */

floats LIBMVEC(logf)(floats x), LIBMVEC(expf)(floats x), LIBMVEC(erff)(floats x);

static floats square_root(floats x)
{
#ifdef __AVX512F__
    return (floats)_mm512_sqrt_ps((__m512)x);
#else
    for (int i = 0; i < LANES; i++) x[i] = sqrtf(x[i]);
    return x;
#endif
}

static floats normal(floats x)
{
    return 0.5f + 0.5f * LIBMVEC(erff)(x * (float)M_SQRT1_2);
}

void black_scholes_vector(const struct peer_data *d)
{
    const float rate = BLACK_SCHOLES_RATE, volatility = BLACK_SCHOLES_VOLATILITY;
    float *call = d->out[0], *put = d->out[1];
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < d->columns; i += LANES) {
        floats spot = load(d->in[0] + i), strike = load(d->in[1] + i), years = load(d->in[2] + i);
        floats root = volatility * square_root(years);
        floats d1 = (LIBMVEC(logf)(spot / strike) + (rate + volatility * volatility / 2) * years) / root;
        floats n1 = normal(d1), n2 = normal(d1 - root);
        floats present = strike * LIBMVEC(expf)(splat(-rate) * years);
        floats c = spot * n1 - present * n2;
        store(call + i, c);
        store(put + i, c - spot + present);
    }
}
