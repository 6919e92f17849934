/* Pictures in stages: contrast and the slope of brightness; Harris' corners in nine stages. */
#include <math.h>

#include "tests/bench/forms/form.h"

enum { WIDTH = 2048, HEIGHT = 2048, ALL = WIDTH * HEIGHT };
static const float gain = 1.5f, trace_weight = 0.04f;

static float contrast(float v)
{
    v = (v - 0.5f) * gain + 0.5f;
    return v < 0.0f ? 0.0f : v > 1.0f ? 1.0f : v;
}

/* The rows that three lines of output share are kept from one to the next. */
static void edges(void *const *memory)
{
    const float *restrict in = memory[0];
    float *restrict out = memory[1];
    enum { PARTS = 64, ROWS = (HEIGHT - 2 + PARTS - 1) / PARTS };
#pragma omp parallel for schedule(static)
    for (int part = 0; part < PARTS; part++) {
        float rows[3][WIDTH];
        int first = 1 + part * ROWS, end = first + ROWS < HEIGHT - 1 ? first + ROWS : HEIGHT - 1;
        for (int y = first - 1; y <= end && first < end; y++) {
            float *restrict row = rows[y % 3];
            for (int x = 0; x < WIDTH; x++) row[x] = contrast(in[(size_t)y * WIDTH + x]);
            if (y < first + 1) continue;
            const float *restrict a = rows[(y - 2) % 3], *restrict b = rows[(y - 1) % 3];
            float *restrict o = out + (size_t)(y - 1) * WIDTH;
            for (int x = 1; x < WIDTH - 1; x++) {
                float gx = a[x + 1] - a[x - 1] + 2 * (b[x + 1] - b[x - 1]) + row[x + 1] - row[x - 1];
                float gy = row[x - 1] - a[x - 1] + 2 * (row[x] - a[x]) + row[x + 1] - a[x + 1];
                o[x] = sqrtf(gx * gx + gy * gy);
            }
        }
    }
}

static const struct form_memory edge_arrays[] = {{FORM_INPUT, FORM_F32, ALL, form_fill_unit},
                                                 {FORM_RESULT, FORM_F32, ALL, NULL},
                                                 {FORM_BETWEEN, FORM_F32, ALL, NULL}};
static const struct launch edge_launches[] = {
    {"contrast", 2, {WIDTH, HEIGHT}, {0}, {READ(0), WRITE(2), INT(WIDTH), INT(HEIGHT), FLOAT(1.5f)}},
    {"sobel", 2, {WIDTH, HEIGHT}, {0}, {READ(2), WRITE(1), INT(WIDTH), INT(HEIGHT)}},
};

const struct form form_edges = {.work = "edges",
                                .title = "OpenCL C: contrast and Sobel's operator, 2048 x 2048 f32",
                                .kernels = "edges",
                                FORM_TABLES(edge_arrays, edge_launches),
                                .c = edges,
                                .memory_bound = true,
                                .bound = 1e-3,
                                .repeat = 1};

/* ---- corners ---- */

struct products {
    float xx[WIDTH], xy[WIDTH], yy[WIDTH];
};

static int within(int v, int n)
{
    return v < 0 ? 0 : v >= n ? n - 1 : v;
}

static inline void product_at(const float *restrict a, const float *restrict b, const float *restrict c, int l, int x,
                              int r, struct products *restrict p)
{
    float gx = (a[r] - a[l] + 2 * (b[r] - b[l]) + c[r] - c[l]) * (1.0f / 12.0f);
    float gy = (c[l] - a[l] + 2 * (c[x] - a[x]) + c[r] - a[r]) * (1.0f / 12.0f);
    p->xx[x] = gx * gx;
    p->xy[x] = gx * gy;
    p->yy[x] = gy * gy;
}

static void find_products(const float *restrict in, int y, struct products *restrict p)
{
    const float *restrict a = in + (size_t)within(y - 1, HEIGHT) * WIDTH, *restrict b = in + (size_t)y * WIDTH,
                          *restrict c = in + (size_t)within(y + 1, HEIGHT) * WIDTH;
    product_at(a, b, c, 0, 0, 1, p);
    for (int x = 1; x < WIDTH - 1; x++) product_at(a, b, c, x - 1, x, x + 1, p);
    product_at(a, b, c, WIDTH - 2, WIDTH - 1, WIDTH - 1, p);
}

static inline float sum_at(const float *a, const float *b, const float *c, int l, int x, int r)
{
    return a[l] + a[x] + a[r] + b[l] + b[x] + b[r] + c[l] + c[x] + c[r];
}

static inline void response_at(const struct products *restrict a, const struct products *restrict b,
                               const struct products *restrict c, int l, int x, int r, float *restrict o)
{
    float xx = sum_at(a->xx, b->xx, c->xx, l, x, r), xy = sum_at(a->xy, b->xy, c->xy, l, x, r),
          yy = sum_at(a->yy, b->yy, c->yy, l, x, r), trace = xx + yy;
    o[x] = xx * yy - xy * xy - trace_weight * trace * trace;
}

/* Three rows of products at a time, from one line of output to the next. */
static void corners(void *const *memory)
{
    const float *restrict in = memory[0];
    float *restrict out = memory[1];
    enum { PARTS = 64, ROWS = HEIGHT / PARTS };
#pragma omp parallel for schedule(static)
    for (int part = 0; part < PARTS; part++) {
        struct products rows[3];
        int first = part * ROWS;
        for (int y = first - 1; y <= first + ROWS; y++) {
            find_products(in, within(y, HEIGHT), &rows[(y + 3) % 3]);
            if (y < first + 1) continue;
            const struct products *a = &rows[(y + 1) % 3], *b = &rows[(y + 2) % 3], *c = &rows[y % 3];
            float *restrict o = out + (size_t)(y - 1) * WIDTH;
            response_at(a, b, c, 0, 0, 1, o);
            for (int x = 1; x < WIDTH - 1; x++) response_at(a, b, c, x - 1, x, x + 1, o);
            response_at(a, b, c, WIDTH - 2, WIDTH - 1, WIDTH - 1, o);
        }
    }
}

enum { IN, OUT, IX, IY, XX, XY, YY, SXX, SXY, SYY };

static const struct form_memory corner_arrays[] = {
    [IN] = {FORM_INPUT, FORM_F32, ALL, form_fill_unit}, [OUT] = {FORM_RESULT, FORM_F32, ALL, NULL},
    [IX] = {FORM_BETWEEN, FORM_F32, ALL, NULL},         [IY] = {FORM_BETWEEN, FORM_F32, ALL, NULL},
    [XX] = {FORM_BETWEEN, FORM_F32, ALL, NULL},         [XY] = {FORM_BETWEEN, FORM_F32, ALL, NULL},
    [YY] = {FORM_BETWEEN, FORM_F32, ALL, NULL},         [SXX] = {FORM_BETWEEN, FORM_F32, ALL, NULL},
    [SXY] = {FORM_BETWEEN, FORM_F32, ALL, NULL},        [SYY] = {FORM_BETWEEN, FORM_F32, ALL, NULL},
};
static const struct launch corner_launches[] = {
    {"slope_x", 2, {WIDTH, HEIGHT}, {0}, {READ(IN), WRITE(IX), INT(WIDTH), INT(HEIGHT)}},
    {"slope_y", 2, {WIDTH, HEIGHT}, {0}, {READ(IN), WRITE(IY), INT(WIDTH), INT(HEIGHT)}},
    {"product", 2, {WIDTH, HEIGHT}, {0}, {READ(IX), READ(IX), WRITE(XX), INT(WIDTH), INT(HEIGHT)}},
    {"product", 2, {WIDTH, HEIGHT}, {0}, {READ(IX), READ(IY), WRITE(XY), INT(WIDTH), INT(HEIGHT)}},
    {"product", 2, {WIDTH, HEIGHT}, {0}, {READ(IY), READ(IY), WRITE(YY), INT(WIDTH), INT(HEIGHT)}},
    {"sum_3x3", 2, {WIDTH, HEIGHT}, {0}, {READ(XX), WRITE(SXX), INT(WIDTH), INT(HEIGHT)}},
    {"sum_3x3", 2, {WIDTH, HEIGHT}, {0}, {READ(XY), WRITE(SXY), INT(WIDTH), INT(HEIGHT)}},
    {"sum_3x3", 2, {WIDTH, HEIGHT}, {0}, {READ(YY), WRITE(SYY), INT(WIDTH), INT(HEIGHT)}},
    {"response",
     2,
     {WIDTH, HEIGHT},
     {0},
     {READ(SXX), READ(SXY), READ(SYY), WRITE(OUT), INT(WIDTH), INT(HEIGHT), FLOAT(0.04f)}},
};

const struct form form_corners = {.work = "corners",
                                  .title = "OpenCL C: Harris' corners in nine stages, 2048 x 2048 f32",
                                  .kernels = "edges",
                                  FORM_TABLES(corner_arrays, corner_launches),
                                  .c = corners,
                                  .memory_bound = true,
                                  .pipeline = true,
                                  .bound = 1e-2,
                                  .repeat = 1};
