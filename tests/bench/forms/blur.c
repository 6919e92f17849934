/* A box of 5 x 5 and a curve, on pixels of four bytes. */
#include <math.h>

#include "tests/bench/forms/form.h"

enum { WIDTH = 2048, HEIGHT = 1536, RADIUS = 2, ALL = WIDTH * HEIGHT * 4 };
static const float exposure = 2;

/* Sums of columns first, then of each five of them: exact, as bytes add up to less than 2^24. */
static void blur(void *const *memory)
{
    const uint8_t *restrict in = memory[0];
    uint8_t *restrict out = memory[1];
#pragma omp parallel for schedule(static)
    for (int y = 0; y < HEIGHT; y++) {
        enum { PADDED = (WIDTH + 2 * RADIUS) * 4 };
        uint16_t columns[PADDED];
        const uint8_t *restrict rows[2 * RADIUS + 1];
        for (int k = -RADIUS; k <= RADIUS; k++) {
            int sy = y + k < 0 ? 0 : y + k >= HEIGHT ? HEIGHT - 1 : y + k;
            rows[k + RADIUS] = in + (size_t)sy * WIDTH * 4;
        }
        for (int i = 0; i < WIDTH * 4; i++)
            columns[i + RADIUS * 4] = (uint16_t)(rows[0][i] + rows[1][i] + rows[2][i] + rows[3][i] + rows[4][i]);
        for (int i = 0; i < RADIUS * 4; i++) {
            columns[i] = columns[RADIUS * 4 + i % 4];
            columns[PADDED - 1 - i] = columns[PADDED - 1 - RADIUS * 4 - i % 4];
        }
        uint8_t *restrict o = out + (size_t)y * WIDTH * 4;
        for (int i = 0; i < WIDTH * 4; i++) {
            const uint16_t *c = columns + i;
            int blurred = (int)(float)nearbyintf((float)(c[0] + c[4] + c[8] + c[12] + c[16]) / 25.0f);
            float v = (float)blurred * (exposure / 255.0f);
            float mapped = nearbyintf(v * (1.0f + v * 0.25f) / (1.0f + v) * 255.0f);
            int result = (int)(mapped < 255.0f ? mapped : 255.0f);
            o[i] = (uint8_t)((i & 3) == 3 ? blurred : result);
        }
    }
}

static const struct form_memory arrays[] = {
    {FORM_INPUT, FORM_U8, ALL, form_fill_bytes}, {FORM_RESULT, FORM_U8, ALL, NULL}, {FORM_BETWEEN, FORM_U8, ALL, NULL}};
static const struct launch launches[] = {
    {"box_blur", 2, {WIDTH, HEIGHT}, {0}, {READ(0), WRITE(2), INT(WIDTH), INT(HEIGHT), INT(RADIUS)}},
    {"tone_map", 2, {WIDTH, HEIGHT}, {0}, {READ(2), WRITE(1), INT(WIDTH), INT(HEIGHT), FLOAT(2)}},
};

const struct form form_blur = {.work = "blur",
                               .title = "OpenCL C: box blur of 5 x 5 and tone map, 2048 x 1536 uchar4",
                               .kernels = "blur",
                               FORM_TABLES(arrays, launches),
                               .c = blur,
                               .counts = true,
                               .bound = 0.01, /* halves */
                               .repeat = 1};
