/* Rows by work-groups: softmax, and the root mean square after a sum. */
#include <math.h>

#include "tests/bench/forms/form.h"

enum { ROWS = 8192, COLUMNS = 1024, ALL = ROWS * COLUMNS, GROUP = 256 };

static void softmax(void *const *memory)
{
#pragma omp parallel for schedule(static)
    for (size_t row = 0; row < ROWS; row++) {
        const float *restrict x = (const float *)memory[0] + row * COLUMNS;
        float *restrict o = (float *)memory[1] + row * COLUMNS;
        float largest = x[0], sum = 0;
        for (size_t i = 1; i < COLUMNS; i++) largest = x[i] > largest ? x[i] : largest;
        for (size_t i = 0; i < COLUMNS; i++) o[i] = expf(x[i] - largest);
        for (size_t i = 0; i < COLUMNS; i++) sum += o[i];
        float factor = 1.0f / sum;
        for (size_t i = 0; i < COLUMNS; i++) o[i] *= factor;
    }
}

static void fill_scores(void *memory, size_t count)
{
    form_fill_signed(memory, count);
    for (size_t i = 0; i < count; i++) ((float *)memory)[i] *= 8;
}

static const struct form_memory arrays[] = {{FORM_INPUT, FORM_F32, ALL, fill_scores},
                                            {FORM_RESULT, FORM_F32, ALL, NULL}};
static const struct launch launches[] = {
    {"softmax", 1, {ROWS * GROUP}, {GROUP}, {READ(0), WRITE(1), INT(COLUMNS), LOCAL(GROUP * 4)}},
};

const struct form form_softmax = {.work = "softmax",
                                  .title = "OpenCL C: softmax of 8192 rows of 1024",
                                  .kernels = "softmax",
                                  FORM_TABLES(arrays, launches),
                                  .c = softmax,
                                  .memory_bound = true,
                                  .bound = 1e-5,
                                  .repeat = 2};

/* ---- after a sum ---- */

static void rms_norm(void *const *memory)
{
    const float *restrict weight = memory[2];
#pragma omp parallel for schedule(static)
    for (size_t row = 0; row < ROWS; row++) {
        const float *restrict x = (const float *)memory[0] + row * COLUMNS;
        const float *restrict residual = (const float *)memory[1] + row * COLUMNS;
        float *restrict sum = (float *)memory[3] + row * COLUMNS, *restrict o = (float *)memory[4] + row * COLUMNS;
        float squares = 0;
        for (size_t i = 0; i < COLUMNS; i++) {
            float v = x[i] + residual[i];
            sum[i] = v;
            squares += v * v;
        }
        float factor = 1.0f / sqrtf(squares / COLUMNS + 1e-6f);
        for (size_t i = 0; i < COLUMNS; i++) o[i] = sum[i] * factor * weight[i];
    }
}

static const struct form_memory arrays_rms[] = {
    {FORM_INPUT, FORM_F32, ALL, form_fill_signed},
    {FORM_INPUT, FORM_F32, ALL, form_fill_unit},
    {FORM_INPUT, FORM_F32, COLUMNS, form_fill_unit},
    {FORM_RESULT, FORM_F32, ALL, NULL},
    {FORM_RESULT, FORM_F32, ALL, NULL},
};
static const struct launch launches_rms[] = {
    {"add_residual", 1, {ALL}, {0}, {READ(0), READ(1), WRITE(3), INT(ALL)}},
    {"rms_norm", 1, {ROWS * GROUP}, {GROUP}, {READ(3), READ(2), WRITE(4), INT(COLUMNS), FLOAT(1e-6f)}},
};

const struct form form_rms_norm = {.work = "rms_norm",
                                   .title = "OpenCL C: RMSNorm of a residual sum, 8192 rows of 1024",
                                   .kernels = "rms_norm",
                                   FORM_TABLES(arrays_rms, launches_rms),
                                   .c = rms_norm,
                                   .memory_bound = true,
                                   .bound = 1e-4,
                                   .repeat = 2};
