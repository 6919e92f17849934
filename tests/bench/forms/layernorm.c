/* Layer normalization in four kernels. */
#include <math.h>

#include "tests/bench/forms/form.h"
#include "tests/bench/work.h"

enum { ROWS = 8192, COLUMNS = 1024, ALL = ROWS * COLUMNS, GROUP = 256 };

static fusion_graph *own(fusion_session *s, fusion_buffer *const *m)
{
    const struct work w = {.rows = ROWS, .columns = COLUMNS};
    return layernorm_graph(s, &w, &(struct work_buffers){.in = {m[0], m[1], m[2]}, .out = {m[3]}});
}

static void layernorm(void *const *memory)
{
    const float *restrict scale = memory[1], *restrict shift = memory[2];
#pragma omp parallel for schedule(static)
    for (size_t row = 0; row < ROWS; row++) {
        const float *restrict x = (const float *)memory[0] + row * COLUMNS;
        float *restrict o = (float *)memory[3] + row * COLUMNS;
        float sum = 0, squares = 0;
        for (size_t i = 0; i < COLUMNS; i++) sum += x[i];
        float mean = sum / COLUMNS;
        for (size_t i = 0; i < COLUMNS; i++) squares += (x[i] - mean) * (x[i] - mean);
        float factor = 1.0f / sqrtf(squares / COLUMNS + 1e-5f);
        for (size_t i = 0; i < COLUMNS; i++) o[i] = (x[i] - mean) * factor * scale[i] + shift[i];
    }
}

static const struct form_memory arrays[] = {
    {FORM_INPUT, FORM_F32, ALL, form_fill_signed},
    {FORM_INPUT, FORM_F32, COLUMNS, form_fill_unit},
    {FORM_INPUT, FORM_F32, COLUMNS, form_fill_signed},
    {FORM_RESULT, FORM_F32, ALL, NULL},
    {FORM_BETWEEN, FORM_F32, ROWS, NULL},
    {FORM_BETWEEN, FORM_F32, ROWS, NULL},
    {FORM_BETWEEN, FORM_F32, ALL, NULL},
};
static const struct launch launches[] = {
    {"means", 1, {ROWS * GROUP}, {GROUP}, {READ(0), WRITE(4), INT(COLUMNS)}},
    {"factors", 1, {ROWS * GROUP}, {GROUP}, {READ(0), READ(4), WRITE(5), INT(COLUMNS)}},
    {"normalize_rows", 1, {ROWS * GROUP}, {GROUP}, {READ(0), READ(4), READ(5), WRITE(6), INT(COLUMNS)}},
    {"scale_and_shift", 1, {ROWS * GROUP}, {GROUP}, {READ(6), READ(1), READ(2), WRITE(3), INT(COLUMNS)}},
};

const struct form form_layernorm = {.work = "layernorm",
                                    .title = "OpenCL C: layernorm 8192 x 1024 in four kernels",
                                    .kernels = "layernorm",
                                    FORM_TABLES(arrays, launches),
                                    .c = layernorm,
                                    .own = own,
                                    .memory_bound = true,
                                    .bound = 1e-4,
                                    .repeat = 2};
