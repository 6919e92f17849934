/* 256 bins of 2^26 bytes, and sums of all before: what work-groups share. */
#include <stdlib.h>
#include <string.h>

#include "tests/bench/forms/form.h"

enum { BYTES = 1 << 26, BINS = 256, GROUPS = 1024 };

/* Four tables for each thread, so that equal neighbours do not wait for each other. */
static void histogram(void *const *memory)
{
    const uint8_t *restrict data = memory[0];
    uint32_t *restrict bins = memory[1];
    memset(bins, 0, BINS * sizeof *bins);
#pragma omp parallel
    {
        uint32_t mine[4][BINS] = {{0}};
#pragma omp for schedule(static) nowait
        for (size_t i = 0; i < BYTES; i += 4)
            for (int k = 0; k < 4; k++) mine[k][data[i + k]]++;
#pragma omp critical
        for (int b = 0; b < BINS; b++) bins[b] += mine[0][b] + mine[1][b] + mine[2][b] + mine[3][b];
    }
}

static const struct form_memory arrays[] = {{FORM_INPUT, FORM_U8, BYTES, form_fill_bytes},
                                            {FORM_RESULT, FORM_I32, BINS, NULL}};
static const struct launch launches[] = {
    {"clear_bins", 1, {BINS}, {0}, {WRITE(1)}},
    {"histogram", 1, {GROUPS * BINS}, {BINS}, {READ(0), UPDATE(1), INT(BYTES)}},
};

const struct form form_histogram = {.work = "histogram",
                                    .title = "OpenCL C: histogram of 256 bins, 2^26 bytes",
                                    .kernels = "histogram",
                                    FORM_TABLES(arrays, launches),
                                    .c = histogram,
                                    .counts = true,
                                    .repeat = 1};

/* ---- prefix sums ---- */

enum { N = 1 << 24, BLOCK = 512, PARTS = 64 };

/* Sums of 64 parts, then each part from what is before it. */
static void prefix_sum(void *const *memory)
{
    const int32_t *restrict in = memory[0];
    int32_t *restrict out = memory[1];
    int32_t before[PARTS], sum = 0;
#pragma omp parallel for schedule(static)
    for (int p = 0; p < PARTS; p++) {
        int32_t s = 0;
        for (size_t i = (size_t)p * (N / PARTS); i < (size_t)(p + 1) * (N / PARTS); i++) s += in[i];
        before[p] = s;
    }
    for (int p = 0; p < PARTS; p++) {
        int32_t s = before[p];
        before[p] = sum;
        sum += s;
    }
#pragma omp parallel for schedule(static)
    for (int p = 0; p < PARTS; p++) {
        int32_t s = before[p];
        for (size_t i = (size_t)p * (N / PARTS); i < (size_t)(p + 1) * (N / PARTS); i++) {
            int32_t v = in[i];
            out[i] = s;
            s += v;
        }
    }
}

static const struct form_memory arrays_sums[] = {{FORM_INPUT, FORM_I32, N, form_fill_small},
                                                 {FORM_RESULT, FORM_I32, N, NULL},
                                                 {FORM_BETWEEN, FORM_I32, N / BLOCK, NULL}};
static const struct launch launches_sums[] = {
    {"scan_blocks", 1, {N / 2}, {BLOCK / 2}, {READ(0), WRITE(1), WRITE(2)}},
    {"scan_sums", 1, {256}, {256}, {UPDATE(2), INT(N / BLOCK)}},
    {"add_sums", 1, {N}, {0}, {UPDATE(1), READ(2), INT(N)}},
};

const struct form form_prefix_sum = {.work = "prefix_sum",
                                     .title = "OpenCL C: prefix sum in three kernels, 2^24 i32",
                                     .kernels = "prefix_sum",
                                     FORM_TABLES(arrays_sums, launches_sums),
                                     .c = prefix_sum,
                                     .counts = true,
                                     .repeat = 1};
