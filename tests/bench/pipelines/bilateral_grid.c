/* Bilateral filter by a grid, 4 million pixels, cells of 8 x 8 pixels and a tenth of the brightness. */
#include "tests/bench/forms/form.h"

enum { WIDTH = 2048, HEIGHT = 2048, CELL = 8, LEVELS = 10, COLUMNS = WIDTH / CELL + 1, ROWS = HEIGHT / CELL + 1 };
enum { DEPTH = LEVELS + 1, ALL = WIDTH * HEIGHT, NUMBERS = 2 * COLUMNS * ROWS * DEPTH };
enum { IN, OUT, GRID, BLUR_1, BLUR_2, BLUR_3 };
#define GRID_SIZE INT(COLUMNS), INT(ROWS)

static const struct form_memory arrays[] = {
    [IN] = {FORM_INPUT, FORM_F32, ALL, form_fill_unit}, [OUT] = {FORM_RESULT, FORM_F32, ALL, NULL},
    [GRID] = {FORM_BETWEEN, FORM_F32, NUMBERS, NULL},   [BLUR_1] = {FORM_BETWEEN, FORM_F32, NUMBERS, NULL},
    [BLUR_2] = {FORM_BETWEEN, FORM_F32, NUMBERS, NULL}, [BLUR_3] = {FORM_BETWEEN, FORM_F32, NUMBERS, NULL},
};
#define BLUR(from, to, dx, dy, dz)                                                                                     \
    {                                                                                                                  \
        "blur_grid", 3, {COLUMNS, ROWS, DEPTH}, {0},                                                                   \
        {                                                                                                              \
            READ(from), WRITE(to), GRID_SIZE, INT(DEPTH), INT(dx), INT(dy), INT(dz)                                    \
        }                                                                                                              \
    }
static const struct launch launches[] = {
    {"clear_grid", 3, {COLUMNS, ROWS, DEPTH}, {0}, {WRITE(GRID), GRID_SIZE, INT(DEPTH)}},
    {"count_pixels",
     2,
     {COLUMNS, ROWS},
     {0},
     {READ(IN), UPDATE(GRID), INT(WIDTH), INT(HEIGHT), GRID_SIZE, INT(CELL), FLOAT(LEVELS)}},
    BLUR(GRID, BLUR_1, 0, 0, 1),
    BLUR(BLUR_1, BLUR_2, 1, 0, 0),
    BLUR(BLUR_2, BLUR_3, 0, 1, 0),
    {"slice_grid",
     2,
     {WIDTH, HEIGHT},
     {0},
     {READ(IN), READ(BLUR_3), WRITE(OUT), INT(WIDTH), INT(HEIGHT), GRID_SIZE, INT(CELL), FLOAT(LEVELS)}},
};

const struct form form_bilateral_grid = {.work = "bilateral_grid",
                                         .title = "OpenCL C: bilateral grid, 2048 x 2048",
                                         .kernels = "bilateral_grid",
                                         FORM_TABLES(arrays, launches),
                                         .pipeline = true,
                                         .bound = 1e-4,
                                         .repeat = 1};
