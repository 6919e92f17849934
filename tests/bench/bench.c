/*
 * Times of the service and of its code, against hand-fused C in the same interleaved run. Prints medians and
 * ratios; asserts nothing.
 *
 * bench [--json FILE]
 */
#include <fusiond/fusiond.h>
#include <json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "peers.h"

enum { ROUNDS = 21, COLD_ROUNDS = 11, LATENCY_ROUNDS = 5001 };

static const char kernels[] =
    "kernel @add(%a: ptr.global f32 read, %b: ptr.global f32 read, %o: ptr.global f32 write) {\n"
    "  %i = global_id x\n  %x = load f32 %a[%i]\n  %y = load f32 %b[%i]\n  %s = fadd f32 %x, %y\n  store f32 %o[%i], "
    "%s\n  return\n}\n"
    "kernel @multiply(%a: ptr.global f32 read, %b: ptr.global f32 read, %o: ptr.global f32 write) {\n"
    "  %i = global_id x\n  %x = load f32 %a[%i]\n  %y = load f32 %b[%i]\n  %s = fmul f32 %x, %y\n  store f32 %o[%i], "
    "%s\n  return\n}\n"
    "kernel @scale(%a: ptr.global f32 read, %o: ptr.global f32 write, %k: f32) {\n"
    "  %i = global_id x\n  %x = load f32 %a[%i]\n  %s = fmul f32 %x, %k\n  store f32 %o[%i], %s\n  return\n}\n";

static void check(fusion_status status)
{
    if (status == FUSION_SUCCESS) return;
    const fusion_error *e = fusion_last_error();
    fprintf(stderr, "bench: %s: %s: %s\n", fusion_status_name(status), e->object, e->reason);
    exit(1);
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *times, int n)
{
    qsort(times, (size_t)n, sizeof *times, compare);
    return times[n / 2];
}

/* ---- graphs ---- */

struct four {
    fusion_graph *graph;
    fusion_buffer *in[3], *tmp[3], *out;
};

/* The four kernels over n floats. salt makes another module of it, so that nothing is cached. */
static void build_four(fusion_session *s, uint64_t n, int salt, struct four *f)
{
    const unsigned internal = FUSION_ACCESS_SCOPE_WORK_ITEM | FUSION_INTERNAL_MEMORY | FUSION_NO_INIT;
    char source[4096];
    fusion_module *m;
    int length = snprintf(source, sizeof source, "%s", kernels);
    if (salt)
        length += snprintf(source + length, sizeof source - (size_t)length,
                           "kernel @last(%%a: ptr.global f32 read, %%b: ptr.global f32 read, %%o: ptr.global f32 "
                           "write) {\n  %%i = global_id x\n"
                           "  %%x = load f32 %%a[%%i]\n  %%y = load f32 %%b[%%i]\n  %%s = fadd f32 %%x, %%y\n  %%t = "
                           "fadd f32 %%s, %d.0\n"
                           "  store f32 %%o[%%i], %%t\n  return\n}\n",
                           salt);
    check(fusion_module_load(s, "four.fk", source, (size_t)length, &m));
    for (int i = 0; i < 3; i++) {
        void *memory;
        check(fusion_buffer_create(s, NULL, FUSION_F32, n, 0, &f->in[i]));
        check(fusion_buffer_create(s, NULL, FUSION_F32, n, internal, &f->tmp[i]));
        check(fusion_buffer_map(f->in[i], &memory));
        for (uint64_t k = 0; k < n; k++) ((float *)memory)[k] = (float)(k % 1000) * 0.25f + (float)i;
    }
    check(fusion_buffer_create(s, NULL, FUSION_F32, n, 0, &f->out));
    check(fusion_graph_create(s, &f->graph));
    const fusion_arg add[] = {fusion_arg_read(f->in[0]), fusion_arg_read(f->in[1]), fusion_arg_write(f->tmp[0])};
    const fusion_arg multiply[] = {fusion_arg_read(f->tmp[0]), fusion_arg_read(f->in[2]), fusion_arg_write(f->tmp[1])};
    const fusion_arg scale[] = {fusion_arg_read(f->tmp[0]), fusion_arg_write(f->tmp[2]), fusion_arg_f32(5)};
    const fusion_arg last[] = {fusion_arg_read(f->tmp[1]), fusion_arg_read(f->tmp[2]), fusion_arg_write(f->out)};
    const struct {
        const char *kernel;
        const fusion_arg *args;
    } nodes[] = {{"add", add}, {"multiply", multiply}, {"scale", scale}, {salt ? "last" : "add", last}};
    for (int i = 0; i < 4; i++)
        check(fusion_graph_add_kernel(
            f->graph,
            &(fusion_kernel_node){
                .module = m, .kernel = nodes[i].kernel, .dims = 1, .global = {n}, .n_args = 3, .args = nodes[i].args},
            NULL));
}

static double finalize_ms(struct four *f, fusion_mode mode, fusion_exec **exec)
{
    double start = now_ms();
    check(fusion_graph_finalize(f->graph, &(fusion_finalize_options){.mode = mode}, exec));
    return now_ms() - start;
}

static double submit_ms(fusion_session *s, fusion_exec *exec)
{
    fusion_event event;
    double start = now_ms();
    check(fusion_exec_submit(exec, NULL, 0, &event));
    check(fusion_event_wait(s, event, -1, NULL));
    return now_ms() - start;
}

/* ---- rows ---- */

struct peer {
    const char *name;
    double ms;
};

static void row(json_object *rows, const char *work, double ours, const struct peer *peers, int n)
{
    json_object *o = json_object_new_object(), *p = json_object_new_object();
    printf("%-44s %10.4f ms", work, ours);
    for (int i = 0; i < n; i++) {
        printf("   %s %.4f ms (ours/its %.2f)", peers[i].name, peers[i].ms, ours / peers[i].ms);
        json_object_object_add(p, peers[i].name, json_object_new_double(peers[i].ms));
    }
    putchar('\n');
    json_object_object_add(o, "work", json_object_new_string(work));
    json_object_object_add(o, "ours_ms", json_object_new_double(ours));
    json_object_object_add(o, "peers", p);
    json_object_array_add(rows, o);
}

static void bench_finalize(fusion_session *s, json_object *rows)
{
    double cold[COLD_ROUNDS], warm[COLD_ROUNDS];
    for (int i = 0; i < COLD_ROUNDS; i++) {
        struct four f;
        fusion_exec *exec;
        build_four(s, 4096, (int)(now_ms() * 10) % 1000000 + i + 1, &f);
        cold[i] = finalize_ms(&f, FUSION_REQUIRE, &exec);
        warm[i] = finalize_ms(&f, FUSION_REQUIRE, &exec);
    }
    row(rows, "finalize, 4 kernels, cold", median(cold, COLD_ROUNDS), NULL, 0);
    row(rows, "finalize, 4 kernels, warm", median(warm, COLD_ROUNDS), NULL, 0);
}

static void bench_latency(fusion_session *s, json_object *rows)
{
    static double times[LATENCY_ROUNDS];
    struct four f;
    fusion_exec *exec;
    build_four(s, 64, 0, &f);
    finalize_ms(&f, FUSION_REQUIRE, &exec);
    for (int i = 0; i < LATENCY_ROUNDS; i++) times[i] = submit_ms(s, exec);
    row(rows, "submit and wait, 64 elements", median(times, LATENCY_ROUNDS), NULL, 0);
}

/* Largest difference to the peer's result, relative. */
static double difference(const float *ours, const float *theirs, uint64_t n)
{
    double worst = 0;
    for (uint64_t i = 0; i < n; i++)
        worst = fmax(worst, fabs((double)ours[i] - theirs[i]) / fmax(1, fabs((double)theirs[i])));
    return worst;
}

static void bench_four(fusion_session *s, uint64_t n, json_object *rows)
{
    struct four f;
    fusion_exec *fused, *unfused;
    float *in[3], *ours;
    double t_fused[ROUNDS], t_unfused[ROUNDS], t_strict[ROUNDS], t_fast[ROUNDS];
    build_four(s, n, 0, &f);
    finalize_ms(&f, FUSION_REQUIRE, &fused);
    finalize_ms(&f, FUSION_NONE, &unfused);
    for (int i = 0; i < 3; i++) check(fusion_buffer_map(f.in[i], (void **)&in[i]));
    check(fusion_buffer_map(f.out, (void **)&ours));
    float *out = aligned_alloc(64, (n * 4 + 63) / 64 * 64);
    if (!out) exit(1);
    int repeat = n >= 1 << 22 ? 1 : 200;
    for (int i = 0; i < ROUNDS; i++) {
        t_fused[i] = t_unfused[i] = t_strict[i] = t_fast[i] = 0;
        for (int k = 0; k < repeat; k++) t_unfused[i] += submit_ms(s, unfused) / repeat;
        for (int k = 0; k < repeat; k++) t_fused[i] += submit_ms(s, fused) / repeat;
        double a = now_ms();
        for (int k = 0; k < repeat; k++) four_kernels_strict(n, in[0], in[1], in[2], out);
        double b = now_ms();
        for (int k = 0; k < repeat; k++) four_kernels_fast(n, in[0], in[1], in[2], out);
        double c = now_ms();
        t_strict[i] = (b - a) / repeat;
        t_fast[i] = (c - b) / repeat;
    }
    char work[64];
    snprintf(work, sizeof work, "4 element-wise kernels, 2^%d f32, fused", (int)log2((double)n));
    struct peer peers[] = {{"unfused", median(t_unfused, ROUNDS)},
                           {"c_fused", median(t_strict, ROUNDS)},
                           {"c_fused_fast", median(t_fast, ROUNDS)}};
    row(rows, work, median(t_fused, ROUNDS), peers, 3);
    printf("    largest relative difference to C: %g\n", difference(ours, out, n));
    free(out);
}

int main(int argc, char **argv)
{
    const char *json_file = argc == 3 && strcmp(argv[1], "--json") == 0 ? argv[2] : NULL;
    if (argc != 1 && !json_file) return fprintf(stderr, "usage: bench [--json FILE]\n"), 2;
    fusion_session *s;
    json_object *out = json_object_new_object(), *rows = json_object_new_array();
    json_object_object_add(out, "rows", rows);
    check(fusion_connect(NULL, NULL, &s));
    bench_finalize(s, rows);
    bench_latency(s, rows);
    bench_four(s, 1 << 16, rows);
    bench_four(s, 1 << 24, rows);
    fusion_disconnect(s);
    if (json_file && json_object_to_file_ext(json_file, out, JSON_C_TO_STRING_PRETTY) < 0) perror(json_file);
    json_object_put(out);
    return 0;
}
