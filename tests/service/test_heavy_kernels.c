/* Kernels that keep much in registers (tests/corpus/heavy.cl), as their users bring them: with the usual limits they
   get code, alone and one behind the other, no compiler is lost for it, and what they compute is to the bit what the
   reference device computes, and near what plain C does. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"
#include "tools/clc/toolchain.h"

enum {
    POINTS = 512,
    SIDE = 64,
    DEPTH = 32,
    GRID = 8,
    CELLS = GRID * GRID * GRID,
    DIRECTIONS = 19,
    PATIENCE_MS = 120000
};

static struct service service;
static fusion_session *session;
static fusion_module *module;

static int start(void **state)
{
    (void)state;
    char path[500];
    service_start(&service, NULL);
    session = service_connect(&service);
    snprintf(path, sizeof path, "%s/tests/corpus/heavy.cl", getenv("FUSIOND_SOURCE_ROOT"));
    expect_ok(fusion_module_load_file(session, path, &module));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    return 0;
}

static float *map(fusion_buffer *buffer)
{
    void *memory;
    expect_ok(fusion_buffer_map(buffer, &memory));
    return memory;
}

/* With numbers from 0.1 to 1.1. */
static fusion_buffer *floats(const char *name, uint64_t count)
{
    fusion_buffer *buffer;
    uint32_t seed = 1;
    expect_ok(fusion_buffer_create(session, name, FUSION_F32, count, 0, &buffer));
    float *at = map(buffer);
    for (uint64_t i = 0; i < count; i++) at[i] = 0.1f + (float)((seed = seed * 1664525 + 1013904223) >> 8) * 0x1p-24f;
    return buffer;
}

static void add(fusion_graph *graph, const char *kernel, const uint64_t global[3], const uint64_t local[3],
                const fusion_arg *args, uint32_t n)
{
    fusion_kernel_node node = {.module = module,
                               .kernel = kernel,
                               .dims = 3,
                               .global = {global[0], global[1], global[2]},
                               .local = {local[0], local[1], local[2]},
                               .args = args,
                               .n_args = n};
    expect_ok(fusion_graph_add_kernel(graph, &node, NULL));
}

static void run(fusion_graph *graph, const char *device)
{
    fusion_exec *exec;
    fusion_event done;
    long long lost = service_counter(session, "compilers_lost"), repeated = service_counter(session, "jobs_repeated");
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.device = device, .tier = FUSION_TIER_COMPILED},
                                    &exec));
    const fusion_report *report = fusion_exec_report(exec);
    for (uint32_t i = 0; i < report->launches && strcmp(device, "cpu") == 0; i++)
        assert_string_not_equal(report->groups[i].effort, "interpreted"); /* fewer lanes or less effort, but code */
    assert_int_equal(service_counter(session, "compilers_lost"), lost);
    assert_int_equal(service_counter(session, "jobs_repeated"), repeated);
    expect_ok(fusion_exec_submit(exec, NULL, 0, &done));
    expect_ok(fusion_event_wait(session, done, PATIENCE_MS, NULL));
    fusion_exec_destroy(exec);
}

/* Runs the graph on both devices; the second result is compared with the first, and stays in the buffer. */
static void run_on_both(fusion_graph *graph, fusion_buffer *out, uint64_t count)
{
    float *first = malloc(count * sizeof *first);
    run(graph, "cpu");
    memcpy(first, map(out), count * sizeof *first);
    memset(map(out), 0, count * sizeof *first);
    run(graph, "reference");
    assert_memory_equal(first, map(out), count * sizeof *first);
    free(first);
}

static void test_transform(void **state)
{
    (void)state;
    fusion_graph *graph;
    fusion_buffer *in = floats("in", 2 * POINTS), *out = floats("out", 2 * POINTS);
    const fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(out)};
    expect_ok(fusion_graph_create(session, &graph));
    add(graph, "fft512", (uint64_t[]){64, 1, 1}, (uint64_t[]){64, 1, 1}, args, 2);
    run_on_both(graph, out, 2 * POINTS);
    for (int k = 0; k < POINTS; k++) {
        double re = 0, im = 0;
        for (int t = 0; t < POINTS; t++) {
            double c = cos(-2 * M_PI * k * t / POINTS), s = sin(-2 * M_PI * k * t / POINTS);
            re += map(in)[2 * t] * c - map(in)[2 * t + 1] * s;
            im += map(in)[2 * t] * s + map(in)[2 * t + 1] * c;
        }
        assert_true(fabs(map(out)[2 * k] - re) < 1e-3 && fabs(map(out)[2 * k + 1] - im) < 1e-3);
    }
}

static void test_product(void **state)
{
    (void)state;
    fusion_graph *graph;
    fusion_buffer *a = floats("a", SIDE * DEPTH), *b = floats("b", SIDE * DEPTH), *c = floats("c", SIDE * SIDE);
    const fusion_arg args[] = {fusion_arg_read(a), fusion_arg_read(b), fusion_arg_write(c), fusion_arg_i32(DEPTH)};
    expect_ok(fusion_graph_create(session, &graph));
    add(graph, "matmul_registers", (uint64_t[]){8, 8, 1}, (uint64_t[]){8, 8, 1}, args, 4);
    run_on_both(graph, c, SIDE * SIDE);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            double sum = 0;
            for (int k = 0; k < DEPTH; k++) sum += (double)map(a)[y * DEPTH + k] * map(b)[k * SIDE + x];
            assert_true(fabs(map(c)[y * SIDE + x] - sum) < 1e-3);
        }
}

/* Two steps in one graph: what is there of the fluid stays. */
static void test_lattice(void **state)
{
    (void)state;
    enum { N = DIRECTIONS * CELLS };
    fusion_graph *graph;
    fusion_buffer *first = floats("first", N), *second = floats("second", N), *third = floats("third", N),
                  *open = index_buffer(session, "open", CELLS, 1, 0);
    const fusion_arg one[] = {fusion_arg_read(first), fusion_arg_write(second), fusion_arg_read(open),
                              fusion_arg_f32(1.2f)};
    const fusion_arg two[] = {fusion_arg_read(second), fusion_arg_write(third), fusion_arg_read(open),
                              fusion_arg_f32(1.2f)};
    double before = 0, after = 0;
    expect_ok(fusion_graph_create(session, &graph));
    add(graph, "boltzmann", (uint64_t[]){GRID, GRID, GRID}, (uint64_t[]){GRID, 2, 2}, one, 4);
    add(graph, "boltzmann", (uint64_t[]){GRID, GRID, GRID}, (uint64_t[]){GRID, 2, 2}, two, 4);
    run_on_both(graph, third, N);
    for (int i = 0; i < N; i++) {
        before += map(first)[i];
        after += map(third)[i];
    }
    assert_true(fabs(before - after) < 1e-5 * before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transform),
        cmocka_unit_test(test_product),
        cmocka_unit_test(test_lattice),
    };
    struct toolchain tools;
    const char *missing;
    if (!toolchain_find(&tools, &missing)) {
        printf("1..0 # SKIP %s\n", missing);
        return 0;
    }
    return cmocka_run_group_tests_name("heavy_kernels", tests, start, stop);
}
