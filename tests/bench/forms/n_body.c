/* Bodies that attract each other, all with all. */
#include <math.h>

#include "tests/bench/forms/form.h"

enum { BODIES = 4096, GROUP = 256 };
static const float softening = 0.01f;

/* By component, so that a vector has so many bodies. */
static void n_body(void *const *memory)
{
    const float *restrict bodies = memory[0];
    float *restrict out = memory[1];
    static float x[BODIES], y[BODIES], z[BODIES], mass[BODIES];
    for (int i = 0; i < BODIES; i++) {
        x[i] = bodies[4 * i];
        y[i] = bodies[4 * i + 1];
        z[i] = bodies[4 * i + 2];
        mass[i] = bodies[4 * i + 3];
    }
#pragma omp parallel for schedule(static)
    for (int i = 0; i < BODIES; i++) {
        float sx = 0, sy = 0, sz = 0;
        for (int j = 0; j < BODIES; j++) {
            float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
            float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + softening);
            float pull = mass[j] * inverse * inverse * inverse;
            sx += dx * pull;
            sy += dy * pull;
            sz += dz * pull;
        }
        out[4 * i] = sx;
        out[4 * i + 1] = sy;
        out[4 * i + 2] = sz;
        out[4 * i + 3] = 0;
    }
}

static void fill_bodies(void *memory, size_t count)
{
    float *b = memory;
    form_fill_signed(memory, count);
    for (size_t i = 3; i < count; i += 4) b[i] = b[i] * b[i];
}

static const struct form_memory arrays[] = {{FORM_INPUT, FORM_F32, BODIES * 4, fill_bodies},
                                            {FORM_RESULT, FORM_F32, BODIES * 4, NULL}};
static const struct launch launches[] = {
    {"n_body", 1, {BODIES}, {0}, {READ(0), WRITE(1), INT(BODIES), FLOAT(0.01f)}},
};
static const struct launch launches_tiles[] = {
    {"n_body_tiles", 1, {BODIES}, {GROUP}, {READ(0), WRITE(1), INT(BODIES), FLOAT(0.01f), LOCAL(GROUP * 16)}},
};

const struct form form_n_body = {.work = "n_body",
                                 .title = "OpenCL C: n-body, 4096",
                                 .kernels = "n_body",
                                 FORM_TABLES(arrays, launches),
                                 .c = n_body,
                                 .bound = 1e-3,
                                 .repeat = 1};
const struct form form_n_body_tiles = {.work = "n_body",
                                       .title = "OpenCL C: n-body by tiles in local memory, 4096",
                                       .kernels = "n_body",
                                       FORM_TABLES(arrays, launches_tiles),
                                       .c = n_body,
                                       .bound = 1e-3,
                                       .repeat = 1};
