/* The hand-fused C peers: plain loops, one pass over memory where one will do. PEER(name) gives the variant's symbol.
 */
#include <math.h>
#include <stdint.h>

#include "peers.h"

#ifdef __FAST_MATH__
#define PEER(name) name##_fast
#else
#define PEER(name) name##_strict
#endif

/* t1 = a + b, t2 = t1 * c, t3 = t1 * 5, out = t2 + t3. */
void PEER(chain)(const struct peer_data *d)
{
    const float *restrict a = d->in[0], *restrict b = d->in[1], *restrict c = d->in[2];
    float *restrict out = d->out[0];
    size_t n = d->columns;
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++) {
        float t1 = a[i] + b[i];
        out[i] = t1 * c[i] + t1 * 5.0f;
    }
}

static int32_t escape(float cx, float cy)
{
    float x = 0, y = 0;
    int32_t i = 0;
    for (; i < MANDELBROT_ROUNDS; i++) {
        float x2 = x * x, y2 = y * y;
        if (x2 + y2 > 4.0f) break;
        y = 2.0f * x * y + cy;
        x = x2 - y2 + cx;
    }
    return i;
}

void PEER(mandelbrot)(const struct peer_data *d)
{
    int32_t *out = d->out[0];
#pragma omp parallel for schedule(dynamic, 8)
    for (size_t row = 0; row < d->rows; row++)
        for (size_t column = 0; column < d->columns; column++)
            out[row * d->columns + column] = escape(MANDELBROT_LEFT + (float)column * MANDELBROT_STEP,
                                                    MANDELBROT_TOP + (float)row * MANDELBROT_STEP);
}

void PEER(layernorm)(const struct peer_data *d)
{
    const float *restrict scale = d->in[1], *restrict shift = d->in[2];
    size_t n = d->columns;
#pragma omp parallel for schedule(static)
    for (size_t row = 0; row < d->rows; row++) {
        const float *restrict x = d->in[0] + row * n;
        float *restrict out = (float *)d->out[0] + row * n;
        float sum = 0, squares = 0;
        /* A sum is in any order here, as it is in a work-group. */
#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < n; i++) sum += x[i];
        float mean = sum / (float)n;
#pragma omp simd reduction(+ : squares)
        for (size_t i = 0; i < n; i++) squares += (x[i] - mean) * (x[i] - mean);
        float factor = 1.0f / sqrtf(squares / (float)n + LAYERNORM_EPSILON);
#pragma omp simd
        for (size_t i = 0; i < n; i++) out[i] = (x[i] - mean) * factor * scale[i] + shift[i];
    }
}

void PEER(black_scholes)(const struct peer_data *d)
{
    const float *restrict spot = d->in[0], *restrict strike = d->in[1], *restrict years = d->in[2];
    float *restrict call = d->out[0], *restrict put = d->out[1];
    const float rate = BLACK_SCHOLES_RATE, volatility = BLACK_SCHOLES_VOLATILITY;
    size_t n = d->columns;
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++) {
        float root = volatility * sqrtf(years[i]);
        float d1 = (logf(spot[i] / strike[i]) + (rate + volatility * volatility / 2) * years[i]) / root;
        float d2 = d1 - root;
        float n1 = 0.5f + 0.5f * erff(d1 * (float)M_SQRT1_2), n2 = 0.5f + 0.5f * erff(d2 * (float)M_SQRT1_2);
        float present = strike[i] * expf(-rate * years[i]);
        float c = spot[i] * n1 - present * n2;
        call[i] = c;
        put[i] = c - spot[i] + present;
    }
}
