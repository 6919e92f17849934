/* Five points with a guard, then three kernels on each point; and seven points in space. */
#include "tests/bench/forms/form.h"

enum { SIDE = 4096, ALL = SIDE * SIDE, EDGE = 256, SPACE = EDGE * EDGE * EDGE };

static inline float finish(float v, float source)
{
    v = (v + 0.1f * source) * (1.0f - 0.05f);
    return v < -0.5f ? -0.5f : v > 0.5f ? 0.5f : v;
}

static void stencil(void *const *memory)
{
    const float *restrict a = memory[0], *restrict source = memory[1];
    float *restrict o = memory[2];
#pragma omp parallel for schedule(static)
    for (int y = 0; y < SIDE; y++) {
        const float *restrict p = a + (size_t)y * SIDE, *restrict s = source + (size_t)y * SIDE;
        float *restrict q = o + (size_t)y * SIDE;
        if (y == 0 || y == SIDE - 1) {
            for (int x = 0; x < SIDE; x++) q[x] = finish(p[x], s[x]);
            continue;
        }
        q[0] = finish(p[0], s[0]);
        for (int x = 1; x < SIDE - 1; x++)
            q[x] = finish(p[x] + 0.2f * (p[x - 1] + p[x + 1] + p[x - SIDE] + p[x + SIDE] - 4.0f * p[x]), s[x]);
        q[SIDE - 1] = finish(p[SIDE - 1], s[SIDE - 1]);
    }
}

static const struct form_memory arrays[] = {
    {FORM_INPUT, FORM_F32, ALL, form_fill_signed},
    {FORM_INPUT, FORM_F32, ALL, form_fill_signed},
    {FORM_RESULT, FORM_F32, ALL, NULL},
    {FORM_BETWEEN, FORM_F32, ALL, NULL},
    {FORM_BETWEEN, FORM_F32, ALL, NULL},
    {FORM_BETWEEN, FORM_F32, ALL, NULL},
};
static const struct launch launches[] = {
    {"diffuse", 2, {SIDE, SIDE}, {0}, {READ(0), WRITE(3), FLOAT(0.2f), INT(SIDE), INT(SIDE)}},
    {"add_source", 2, {SIDE, SIDE}, {0}, {READ(3), READ(1), WRITE(4), FLOAT(0.1f), INT(SIDE), INT(SIDE)}},
    {"cool", 2, {SIDE, SIDE}, {0}, {READ(4), WRITE(5), FLOAT(0.05f), INT(SIDE), INT(SIDE)}},
    {"limit", 2, {SIDE, SIDE}, {0}, {READ(5), WRITE(2), FLOAT(-0.5f), FLOAT(0.5f), INT(SIDE), INT(SIDE)}},
};

const struct form form_stencil = {.work = "stencil",
                                  .title = "OpenCL C: stencil of 5 points with guards and 3 pointwise, 4096 x 4096 f32",
                                  .kernels = "stencil",
                                  FORM_TABLES(arrays, launches),
                                  .c = stencil,
                                  .memory_bound = true,
                                  .bound = 1e-5,
                                  .repeat = 1};

/* ---- in space ---- */

static void heat(void *const *memory)
{
    const float *restrict a = memory[0];
    float *restrict o = memory[1];
    const size_t row = EDGE, slice = EDGE * EDGE;
#pragma omp parallel for schedule(static)
    for (size_t z = 1; z < EDGE - 1; z++)
        for (size_t y = 1; y < EDGE - 1; y++) {
            const float *restrict p = a + z * slice + y * row;
            float *restrict q = o + z * slice + y * row;
            for (size_t x = 1; x < EDGE - 1; x++)
                q[x] = 0.4f * p[x] +
                       0.1f * (p[x - 1] + p[x + 1] + *(p + x - row) + p[x + row] + *(p + x - slice) + p[x + slice]);
        }
}

static const struct form_memory arrays_3d[] = {{FORM_INPUT, FORM_F32, SPACE, form_fill_signed},
                                               {FORM_RESULT, FORM_F32, SPACE, NULL}};
static const struct launch launches_3d[] = {
    {"heat",
     3,
     {EDGE, EDGE, EDGE},
     {0},
     {READ(0), WRITE(1), FLOAT(0.4f), FLOAT(0.1f), INT(EDGE), INT(EDGE), INT(EDGE)}},
};

const struct form form_stencil_3d = {.work = "stencil_3d",
                                     .title = "OpenCL C: stencil of 7 points with guards, 256 x 256 x 256 f32",
                                     .kernels = "stencil_3d",
                                     FORM_TABLES(arrays_3d, launches_3d),
                                     .c = heat,
                                     .memory_bound = true,
                                     .bound = 1e-5,
                                     .repeat = 1};
