/* Unsharp mask in six stages, 4 million pixels in three planes. */
#include <string.h>

#include "tests/bench/forms/form.h"

enum { WIDTH = 2048, HEIGHT = 2048, ALL = WIDTH * HEIGHT, RADIUS = 3, TAPS = 2 * RADIUS + 1 };
static const float weights[TAPS] = {0.0702f, 0.1311f, 0.1907f, 0.2160f, 0.1907f, 0.1311f, 0.0702f};
static const float amount = 1.5f;

static int within(int v, int n)
{
    return v < 0 ? 0 : v >= n ? n - 1 : v;
}

/* Along the row, with its ends repeated. */
static void blur_row(const float *restrict in, float *restrict out)
{
    float padded[WIDTH + 2 * RADIUS];
    memcpy(padded + RADIUS, in, WIDTH * sizeof *in);
    for (int k = 0; k < RADIUS; k++) {
        padded[k] = in[0];
        padded[WIDTH + RADIUS + k] = in[WIDTH - 1];
    }
    for (int x = 0; x < WIDTH; x++) {
        float sum = 0;
        for (int k = 0; k < TAPS; k++) sum += weights[k] * padded[x + k];
        out[x] = sum;
    }
}

/* Of a row that is about to be needed: its brightness, and that blurred along it. */
static void begin_row(const float *restrict in, int y, float *restrict gray, float *restrict blurred)
{
    const float *restrict p = in + (size_t)y * WIDTH;
    for (int x = 0; x < WIDTH; x++) gray[x] = 0.299f * p[x] + 0.587f * p[x + ALL] + 0.114f * p[x + 2 * ALL];
    blur_row(gray, blurred);
}

static void end_row(const float *restrict in, int y, const float *restrict gray, const float *const *rows,
                    float *restrict out)
{
    const float *restrict p = in + (size_t)y * WIDTH;
    float *restrict o = out + (size_t)y * WIDTH;
    for (int x = 0; x < WIDTH; x++) {
        float sum = 0;
        for (int k = 0; k < TAPS; k++) sum += weights[k] * rows[k][x];
        float gain = (gray[x] + amount * (gray[x] - sum)) / gray[x];
        for (int c = 0; c < 3; c++) o[x + c * ALL] = p[x + c * ALL] * gain;
    }
}

/* The rows that seven lines of output share are kept from one to the next. */
static void unsharp(void *const *memory)
{
    const float *in = memory[0];
    float *out = memory[1];
    enum { PARTS = 32, ROWS = HEIGHT / PARTS, KEPT = 8 };
#pragma omp parallel for schedule(static)
    for (int part = 0; part < PARTS; part++) {
        static _Thread_local float gray[KEPT][WIDTH], blurred[KEPT][WIDTH];
        int first = part * ROWS;
        for (int y = first - RADIUS; y < first + ROWS + RADIUS; y++) {
            if (y >= 0 && y < HEIGHT) begin_row(in, y, gray[y % KEPT], blurred[y % KEPT]);
            int done = y - RADIUS;
            if (done < first) continue;
            const float *rows[TAPS];
            for (int k = 0; k < TAPS; k++) rows[k] = blurred[within(done + k - RADIUS, HEIGHT) % KEPT];
            end_row(in, done, gray[done % KEPT], rows, out);
        }
    }
}

enum { IN, OUT, GRAY, ALONG, BLURRED, SHARP, GAIN };
#define SIZE INT(WIDTH), INT(HEIGHT)

static void fill_picture(void *memory, size_t count)
{
    form_fill_unit(memory, count);
    for (size_t i = 0; i < count; i++) ((float *)memory)[i] = 0.1f + 0.8f * ((float *)memory)[i];
}

static const struct form_memory arrays[] = {
    [IN] = {FORM_INPUT, FORM_F32, 3 * ALL, fill_picture}, [OUT] = {FORM_RESULT, FORM_F32, 3 * ALL, NULL},
    [GRAY] = {FORM_BETWEEN, FORM_F32, ALL, NULL},         [ALONG] = {FORM_BETWEEN, FORM_F32, ALL, NULL},
    [BLURRED] = {FORM_BETWEEN, FORM_F32, ALL, NULL},      [SHARP] = {FORM_BETWEEN, FORM_F32, ALL, NULL},
    [GAIN] = {FORM_BETWEEN, FORM_F32, ALL, NULL},
};
static const struct launch launches[] = {
    {"brightness", 2, {WIDTH, HEIGHT}, {0}, {READ(IN), WRITE(GRAY), SIZE}},
    {"gauss_x", 2, {WIDTH, HEIGHT}, {0}, {READ(GRAY), WRITE(ALONG), SIZE}},
    {"gauss_y", 2, {WIDTH, HEIGHT}, {0}, {READ(ALONG), WRITE(BLURRED), SIZE}},
    {"sharpen", 2, {WIDTH, HEIGHT}, {0}, {READ(GRAY), READ(BLURRED), WRITE(SHARP), SIZE, FLOAT(1.5f)}},
    {"gain_of", 2, {WIDTH, HEIGHT}, {0}, {READ(GRAY), READ(SHARP), WRITE(GAIN), SIZE}},
    {"apply_gain", 2, {WIDTH, HEIGHT}, {0}, {READ(IN), READ(GAIN), WRITE(OUT), SIZE}},
};

const struct form form_unsharp = {.work = "unsharp",
                                  .title = "OpenCL C: unsharp mask in six stages, 2048 x 2048 in three planes",
                                  .kernels = "unsharp",
                                  FORM_TABLES(arrays, launches),
                                  .c = unsharp,
                                  .memory_bound = true,
                                  .pipeline = true,
                                  .bound = 1e-3,
                                  .repeat = 1};
