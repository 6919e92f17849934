/* The same loop as OpenCL C through us, and as C through gcc -O3: time and instructions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/compile/cost.h"

#define AXBY(type)                                                                                                     \
    "void f(const float *x, const float *y, float *restrict z, float a, float b, " type " n) {\n"                      \
    "  for (" type " i = 0; i < n; i++) z[i] = a * x[i] - b * y[i];\n}\n"

static const struct loop {
    const char *kernel, *c;
} loops[] = {
    {"axby_int", AXBY("int")},
    {"axby_unsigned", AXBY("unsigned")},
    {"axby_size", AXBY("unsigned long")},
    {"axby_guarded", AXBY("int")},
    {"stencil", "void f(const float *a, float *restrict b, int w, int h) {\n"
                "  for (int y = 1; y < h - 1; y++)\n    for (int x = 1; x < w - 1; x++)\n"
                "      b[y * w + x] = 0.2f * (a[y * w + x] + a[y * w + x - 1] + a[y * w + x + 1] + a[(y - 1) * w + x]\n"
                "                             + a[(y + 1) * w + x]);\n}\n"},
    {"row_scale", "void f(const float *x, const float *factor, float *restrict y, int rows, int n) {\n"
                  "  for (int row = 0; row < rows; row++)\n"
                  "    for (int j = 0; j < n; j++) y[row * n + j] = x[row * n + j] * factor[row];\n}\n"},
    {"row_sums", "void f(const float *x, float *restrict sums, int rows, int n) {\n"
                 "  for (int row = 0; row < rows; row++) {\n    float part[256] = {0};\n"
                 "    for (int j = 0; j < n; j += 256) for (int l = 0; l < 256; l++) part[l] += x[row * n + j + l];\n"
                 "    for (int s = 128; s > 0; s >>= 1) for (int l = 0; l < s; l++) part[l] += part[l + s];\n"
                 "    sums[row] = part[0];\n  }\n}\n"},
    {"sparse_rows", "void f(const float *values, const int *columns, const int *starts, const float *x,\n"
                    "       float *restrict y, int n) {\n"
                    "  for (int row = 0; row < n; row++) {\n    float sum = 0;\n"
                    "    for (int k = starts[row]; k < starts[row + 1]; k++) sum += values[k] * x[columns[k]];\n"
                    "    y[row] = sum;\n  }\n}\n"},
};

/* False: it ended badly. */
static bool run_gcc(const char *form, const char *in, const char *out)
{
    pid_t child = fork();
    if (child == 0) {
        execlp("gcc", "gcc", "-O3", "-march=native", "-fPIC", form, in, "-o", out, (char *)NULL);
        _exit(127);
    }
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static unsigned count_instructions(const char *path)
{
    char line[512];
    unsigned n = 0;
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) n += cost_instructions(line);
    if (f) fclose(f);
    return n;
}

/* Processor time of source to shared object, and instructions. */
static bool measure_gcc(const char *folder, const char *text, double *ms, unsigned *instructions)
{
    char source[64], object[64], assembly[64];
    snprintf(source, sizeof source, "%s/f.c", folder);
    snprintf(object, sizeof object, "%s/f.so", folder);
    snprintf(assembly, sizeof assembly, "%s/f.s", folder);
    FILE *f = fopen(source, "w");
    if (!f) return false;
    fputs(text, f);
    fclose(f);
    double start = cost_processor_ms();
    bool good = run_gcc("-shared", source, object);
    *ms = cost_processor_ms() - start;
    good = run_gcc("-S", source, assembly) && good;
    *instructions = count_instructions(assembly);
    remove(source);
    remove(object);
    remove(assembly);
    return good;
}

static const struct loop *find_loop(const char *kernel)
{
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
        if (strcmp(loops[i].kernel, kernel) == 0) return &loops[i];
    return NULL;
}

void loops_compare(const char *module, const struct cost_options *options)
{
    char folder[] = "/tmp/bench-loops-XXXXXX";
    if (!mkdtemp(folder)) return;
    printf("\n%-16s %12s %12s %14s %14s\n", "the same loop", "ours, ms", "gcc -O3, ms", "ours, instr.", "gcc, instr.");
    int n = cost_kernels(module);
    for (int i = 0; i < n; i++) {
        struct cost ours = cost_of_kernel(module, (unsigned)i, options);
        const struct loop *loop = find_loop(ours.kernel);
        double ms;
        unsigned instructions;
        if (!loop || !measure_gcc(folder, loop->c, &ms, &instructions)) continue;
        printf("%-16s %12.1f %12.1f %14u %14u\n", ours.kernel, ours.plan_ms + ours.code_ms, ms, ours.instructions,
               instructions);
        fflush(stdout);
    }
    rmdir(folder);
}
