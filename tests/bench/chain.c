/* Four element-wise kernels: t1 = a + b, t2 = t1 * c, t3 = t1 * 5, out = t2 + t3. */
#include <math.h>
#include <stdio.h>

#include "tests/bench/work.h"

static const char kernels[] =
    "kernel @add(%a: ptr.global f32 read, %b: ptr.global f32 read, %o: ptr.global f32 write) {\n"
    "  %i = global_id x\n  %x = load f32 %a[%i]\n  %y = load f32 %b[%i]\n  %s = fadd f32 %x, %y\n"
    "  store f32 %o[%i], %s\n  return\n}\n"
    "kernel @multiply(%a: ptr.global f32 read, %b: ptr.global f32 read, %o: ptr.global f32 write) {\n"
    "  %i = global_id x\n  %x = load f32 %a[%i]\n  %y = load f32 %b[%i]\n  %s = fmul f32 %x, %y\n"
    "  store f32 %o[%i], %s\n  return\n}\n"
    "kernel @scale(%a: ptr.global f32 read, %o: ptr.global f32 write, %k: f32) {\n"
    "  %i = global_id x\n  %x = load f32 %a[%i]\n  %s = fmul f32 %x, %k\n  store f32 %o[%i], %s\n  return\n}\n";

static const char salted[] =
    "kernel @last(%%a: ptr.global f32 read, %%b: ptr.global f32 read, %%o: ptr.global f32 write) {\n"
    "  %%i = global_id x\n  %%x = load f32 %%a[%%i]\n  %%y = load f32 %%b[%%i]\n  %%s = fadd f32 %%x, %%y\n"
    "  %%t = fadd f32 %%s, %d.0\n  store f32 %%o[%%i], %%t\n  return\n}\n";

static const char opencl[] = "kernel void chain(global const float *restrict a, global const float *restrict b, global "
                             "const float *restrict c,\n"
                             "                  global float *restrict o) {\n"
                             "  size_t i = get_global_id(0); float t = a[i] + b[i]; o[i] = t * c[i] + t * 5.0f;\n}\n";

fusion_graph *chain_graph(fusion_session *s, size_t n, int salt, const struct work_buffers *b)
{
    const unsigned internal = FUSION_ACCESS_SCOPE_WORK_ITEM | FUSION_INTERNAL_MEMORY | FUSION_NO_INIT;
    char source[4096];
    int length = snprintf(source, sizeof source, "%s", kernels);
    if (salt) length += snprintf(source + length, sizeof source - (size_t)length, salted, salt);
    fusion_module *m;
    fusion_graph *g;
    fusion_buffer *t[3];
    bench_check(fusion_module_load(s, "chain.fk", source, (size_t)length, &m));
    bench_check(fusion_graph_create(s, &g));
    for (int i = 0; i < 3; i++) bench_check(fusion_buffer_create(s, NULL, FUSION_F32, n, internal, &t[i]));
    const fusion_arg add[] = {fusion_arg_read(b->in[0]), fusion_arg_read(b->in[1]), fusion_arg_write(t[0])};
    const fusion_arg multiply[] = {fusion_arg_read(t[0]), fusion_arg_read(b->in[2]), fusion_arg_write(t[1])};
    const fusion_arg scale[] = {fusion_arg_read(t[0]), fusion_arg_write(t[2]), fusion_arg_f32(5)};
    const fusion_arg last[] = {fusion_arg_read(t[1]), fusion_arg_read(t[2]), fusion_arg_write(b->out[0])};
    const struct {
        const char *kernel;
        const fusion_arg *args;
    } nodes[] = {{"add", add}, {"multiply", multiply}, {"scale", scale}, {salt ? "last" : "add", last}};
    for (int i = 0; i < 4; i++) {
        fusion_kernel_node node = {
            .module = m, .kernel = nodes[i].kernel, .dims = 1, .global = {n}, .n_args = 3, .args = nodes[i].args};
        bench_check(fusion_graph_add_kernel(g, &node, NULL));
    }
    return g;
}

static fusion_graph *graph(fusion_session *s, const struct work *w, const struct work_buffers *b)
{
    return chain_graph(s, w->columns, 0, b);
}

static float input(unsigned index, size_t i)
{
    return (float)(i % 1000) * 0.25f + (float)index;
}

void bench_chain(fusion_session *s, size_t n, unsigned repeat, json_object *rows)
{
    char name[64];
    snprintf(name, sizeof name, "4 element-wise kernels, 2^%d f32", (int)log2((double)n));
    struct work w = {
        .name = name,
        .rows = 1,
        .columns = n,
        .n_in = 3,
        .n_out = 1,
        .in_count = {n, n, n},
        .out_count = n,
        .bound = 1e-6,
        .repeat = repeat,
        .input = input,
        .graph = graph,
        .unfused = true,
        .c_strict = chain_strict,
        .c_fast = chain_fast,
        .c_vector = chain_vector,
        .opencl = {opencl, {"chain", 1, {n}, {0}, {{0}}}},
        .numexpr = "chain",
    };
    work_measure(s, &w, rows);
}
