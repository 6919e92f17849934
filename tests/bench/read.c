/* How long modules of SPIR-V take to read: bench_read FILE.spv... prints medians, scaled to 100 kB, beside 20 ms. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ir/spirv/spirv.h"

enum { RUNS = 15, SCALE = 100000 /* bytes */, LARGE = 50000 /* so large that fixed costs do not count */ };
static const double TARGET_MS = 20;

static double milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static uint8_t *load(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *bytes = malloc(*size + 1);
    if (fread(bytes, 1, *size, f) != *size) *size = 0;
    fclose(f);
    return bytes;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of some runs; negative where the module is refused. */
static double time_reading(const uint8_t *bytes, size_t size)
{
    double times[RUNS];
    for (int k = 0; k < RUNS; k++) {
        double start = milliseconds();
        struct ir_module *m = ir_read_spirv(bytes, size, "bench", NULL);
        times[k] = milliseconds() - start;
        if (!m) return -1;
        ir_module_free(m);
    }
    qsort(times, RUNS, sizeof *times, compare);
    return times[RUNS / 2];
}

int main(int argc, char **argv)
{
    double all_ms = 0, all_bytes = 0, worst = 0;
    for (int k = 1; k < argc; k++) {
        size_t size = 0;
        uint8_t *bytes = load(argv[k], &size);
        double ms = size ? time_reading(bytes, size) : -1;
        free(bytes);
        if (ms < 0) {
            fprintf(stderr, "%s: cannot be read\n", argv[k]);
            return 1;
        }
        double scaled = ms * SCALE / (double)size;
        printf("%7zu bytes %7.2f ms %6.1f ms per 100 kB  %s\n", size, ms, scaled, argv[k]);
        all_ms += ms;
        all_bytes += (double)size;
        if (size >= LARGE && scaled > worst) worst = scaled;
    }
    if (!all_bytes) return 2;
    double mean = all_ms * SCALE / all_bytes;
    printf("reading SPIR-V: %.1f ms per 100 kB, %.2f of %.0f ms; the slowest module of 50 kB or more %.1f ms, %.2f\n",
           mean, mean / TARGET_MS, TARGET_MS, worst, worst / TARGET_MS);
    return worst > TARGET_MS;
}
