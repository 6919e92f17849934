/* Matrices: a dense product with what follows it in a layer, a sparse one times a vector, transposes. */
#include <string.h>

#include "tests/bench/forms/form.h"

enum { N = 1024, TILE = 16 };

/* A block of 8 rows and 64 columns stays in registers, over rows of b that are in the cache. */
static void matmul(void *const *memory)
{
    enum { ROWS = 8, COLUMNS = 48 };
    const float *restrict a = memory[0], *restrict b = memory[1], *restrict bias = memory[2];
    float *restrict o = memory[3];
    typedef float floats __attribute__((vector_size(64), aligned(4)));
    enum { VECTORS = COLUMNS / 16 };
#pragma omp parallel for schedule(static)
    for (int row = 0; row < N; row += ROWS)
        for (int column = 0; column < N; column += COLUMNS) {
            floats sums[ROWS][VECTORS];
            int at = column + COLUMNS <= N ? column : N - COLUMNS;
            for (int r = 0; r < ROWS; r++)
                for (int v = 0; v < VECTORS; v++) sums[r][v] = (floats){0};
            for (int k = 0; k < N; k++) {
                const floats *line = (const floats *)(b + (size_t)k * N + at);
                for (int r = 0; r < ROWS; r++)
                    for (int v = 0; v < VECTORS; v++) sums[r][v] += a[(size_t)(row + r) * N + k] * line[v];
            }
            for (int r = 0; r < ROWS; r++)
                for (int c = 0; c < COLUMNS; c++) {
                    float s = sums[r][c / 16][c % 16] + bias[at + c];
                    o[(size_t)(row + r) * N + at + c] = s > 0 ? s : 0;
                }
        }
}

static const struct form_memory arrays[] = {
    {FORM_INPUT, FORM_F32, N *N, form_fill_signed}, {FORM_INPUT, FORM_F32, N *N, form_fill_signed},
    {FORM_INPUT, FORM_F32, N, form_fill_signed},    {FORM_RESULT, FORM_F32, N *N, NULL},
    {FORM_BETWEEN, FORM_F32, N *N, NULL},
};
static const struct launch launches[] = {
    {"matmul", 2, {N, N}, {TILE, TILE}, {READ(0), READ(1), WRITE(4), INT(N), INT(N)}},
    {"bias_relu", 2, {N, N}, {0}, {READ(4), READ(2), WRITE(3), INT(N), INT(N)}},
};

const struct form form_matmul = {.work = "matmul",
                                 .title = "OpenCL C: matrix product by tiles of 16 x 16, bias and ReLU, 1024 f32",
                                 .kernels = "matmul",
                                 FORM_TABLES(arrays, launches),
                                 .c = matmul,
                                 .bound = 1e-4,
                                 .repeat = 1};

/* ---- sparse ---- */

enum { ROWS = 1 << 18, PER_ROW = 24, ENTRIES = ROWS * PER_ROW };

static uint32_t scrambled(size_t i)
{
    uint32_t x = (uint32_t)i * 2246822519u;
    x ^= x >> 15;
    return x * 3266489917u >> 8;
}

/* Rows of 8 to 40 entries. */
static void fill_starts(void *memory, size_t count)
{
    int32_t *starts = memory;
    starts[0] = 0;
    for (size_t i = 1; i < count; i++) {
        int32_t length = 8 + (int32_t)(scrambled(i) % 33), most = ENTRIES - starts[i - 1];
        starts[i] = starts[i - 1] + (length < most ? length : most);
    }
}

/* Near a diagonal, as of a grid's neighbours. */
static void fill_columns(void *memory, size_t count)
{
    int32_t *columns = memory;
    for (size_t i = 0; i < count; i++) {
        int32_t at = (int32_t)(i / PER_ROW) + (int32_t)(scrambled(i) % 4096) - 2048;
        columns[i] = at < 0 ? at + ROWS : at % ROWS;
    }
}

static void multiply_rows(void *const *memory)
{
    const float *restrict values = memory[0], *restrict x = memory[3];
    const int32_t *restrict columns = memory[1], *restrict starts = memory[2];
    float *restrict y = memory[4];
#pragma omp parallel for schedule(static)
    for (int row = 0; row < ROWS; row++) {
        float sum = 0;
        for (int k = starts[row]; k < starts[row + 1]; k++) sum += values[k] * x[columns[k]];
        y[row] = sum;
    }
}

static const struct form_memory arrays_sparse[] = {
    {FORM_INPUT, FORM_F32, ENTRIES, form_fill_signed},
    {FORM_INPUT, FORM_I32, ENTRIES, fill_columns},
    {FORM_INPUT, FORM_I32, ROWS + 1, fill_starts},
    {FORM_INPUT, FORM_F32, ROWS, form_fill_signed},
    {FORM_RESULT, FORM_F32, ROWS, NULL},
};
static const struct launch launches_sparse[] = {
    {"multiply_rows", 1, {ROWS}, {0}, {READ(0), READ(1), READ(2), READ(3), WRITE(4), INT(ROWS)}},
};

const struct form form_sparse = {.work = "sparse",
                                 .title = "OpenCL C: sparse matrix in compressed rows times a vector, 2^18 rows",
                                 .kernels = "sparse",
                                 FORM_TABLES(arrays_sparse, launches_sparse),
                                 .c = multiply_rows,
                                 .memory_bound = true,
                                 .bound = 1e-4,
                                 .repeat = 2};

/* ---- transposes ---- */

enum { SIDE = 4096, GROUP = 16 };

/* Whole lines of the result, from lines that are read in full. */
static void transpose(void *const *memory)
{
    enum { WIDE = 64, HIGH = 16 };
    const float *restrict a = memory[0];
    float *restrict o = memory[1];
#pragma omp parallel for schedule(static)
    for (int column = 0; column < SIDE; column += WIDE)
        for (int row = 0; row < SIDE; row += HIGH) {
            float tile[WIDE][HIGH];
            for (int y = 0; y < HIGH; y++)
                for (int x = 0; x < WIDE; x++) tile[x][y] = a[(size_t)(row + y) * SIDE + column + x];
            for (int x = 0; x < WIDE; x++) memcpy(o + (size_t)(column + x) * SIDE + row, tile[x], sizeof tile[x]);
        }
}

static const struct form_memory arrays_transpose[] = {{FORM_INPUT, FORM_F32, SIDE *SIDE, form_fill_signed},
                                                      {FORM_RESULT, FORM_F32, SIDE *SIDE, NULL}};
static const struct launch launches_naive[] = {
    {"transpose_naive", 2, {SIDE, SIDE}, {0}, {READ(0), WRITE(1), INT(SIDE), INT(SIDE)}},
};
static const struct launch launches_tiles[] = {
    {"transpose_tiles", 2, {SIDE, SIDE}, {GROUP, GROUP}, {READ(0), WRITE(1), INT(SIDE), INT(SIDE)}},
};

const struct form form_transpose_naive = {.work = "transpose",
                                          .title = "OpenCL C: transpose, straight, 4096 x 4096 f32",
                                          .kernels = "transpose",
                                          FORM_TABLES(arrays_transpose, launches_naive),
                                          .c = transpose,
                                          .memory_bound = true,
                                          .repeat = 1};
const struct form form_transpose_tiles = {.work = "transpose",
                                          .title = "OpenCL C: transpose by tiles in local memory, 4096 x 4096 f32",
                                          .kernels = "transpose",
                                          FORM_TABLES(arrays_transpose, launches_tiles),
                                          .c = transpose,
                                          .memory_bound = true,
                                          .repeat = 1};
