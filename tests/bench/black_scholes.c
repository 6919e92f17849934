/* Prices of options after Black and Scholes: a graph of 21 small kernels, one operation each, as an array library would
   run them. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/work.h"

enum { COUNT = 1 << 22, STEPS = 21, VALUES = 3 + STEPS };

/* o = a op b, o = op a, o = a * k, o = 0.5 + 0.5 * a, o = a - b + c */
static const char binary[] =
    "kernel @%s(%%a: ptr.global f32 read, %%b: ptr.global f32 read, %%o: ptr.global f32 write) {\n  %%i = global_id x\n"
    "  %%x = load f32 %%a[%%i]\n  %%y = load f32 %%b[%%i]\n  %%r = %s f32 %%x, %%y\n  store f32 %%o[%%i], %%r\n  "
    "return\n}\n";
static const char unary[] = "kernel @%s(%%a: ptr.global f32 read, %%o: ptr.global f32 write) {\n  %%i = global_id x\n"
                            "  %%x = load f32 %%a[%%i]\n  %%r = %s f32 %%x\n  store f32 %%o[%%i], %%r\n  return\n}\n";
static const char others[] =
    "kernel @scale(%a: ptr.global f32 read, %o: ptr.global f32 write, %k: f32) {\n  %i = global_id x\n"
    "  %x = load f32 %a[%i]\n  %r = fmul f32 %x, %k\n  store f32 %o[%i], %r\n  return\n}\n"
    "kernel @half(%a: ptr.global f32 read, %o: ptr.global f32 write) {\n  %i = global_id x\n  %x = load f32 %a[%i]\n"
    "  %h = fmul f32 %x, 0.5\n  %r = fadd f32 %h, 0.5\n  store f32 %o[%i], %r\n  return\n}\n"
    "kernel @parity(%a: ptr.global f32 read, %b: ptr.global f32 read, %c: ptr.global f32 read,\n"
    "               %o: ptr.global f32 write) {\n  %i = global_id x\n  %x = load f32 %a[%i]\n  %y = load f32 %b[%i]\n"
    "  %z = load f32 %c[%i]\n  %d = fsub f32 %x, %y\n  %r = fadd f32 %d, %z\n  store f32 %o[%i], %r\n  return\n}\n";

/* Values by name: the inputs S, K, T, then each step's result. */
enum value {
    S,
    K,
    T,
    RATIO,
    LOG,
    DRIFT,
    SUM,
    ROOT,
    SPREAD,
    D1,
    D2,
    E1,
    E2,
    F1,
    F2,
    N1,
    N2,
    DUE,
    DISCOUNT,
    PRESENT,
    GAIN,
    COST,
    CALL,
    PUT
};

struct step {
    const char *kernel;
    enum value out, in[3];
    unsigned n_in;
    float scale; /* of "scale" */
};

static const float drift = BLACK_SCHOLES_RATE + BLACK_SCHOLES_VOLATILITY * BLACK_SCHOLES_VOLATILITY / 2;

static const struct step steps[STEPS] = {
    {"div", RATIO, {S, K}, 2, 0},
    {"log", LOG, {RATIO}, 1, 0},
    {"scale", DRIFT, {T}, 1, drift},
    {"add", SUM, {LOG, DRIFT}, 2, 0},
    {"sqrt", ROOT, {T}, 1, 0},
    {"scale", SPREAD, {ROOT}, 1, BLACK_SCHOLES_VOLATILITY},
    {"div", D1, {SUM, SPREAD}, 2, 0},
    {"sub", D2, {D1, SPREAD}, 2, 0},
    {"scale", E1, {D1}, 1, (float)M_SQRT1_2},
    {"scale", E2, {D2}, 1, (float)M_SQRT1_2},
    {"erf", F1, {E1}, 1, 0},
    {"erf", F2, {E2}, 1, 0},
    {"half", N1, {F1}, 1, 0},
    {"half", N2, {F2}, 1, 0},
    {"scale", DUE, {T}, 1, -BLACK_SCHOLES_RATE},
    {"exp", DISCOUNT, {DUE}, 1, 0},
    {"mul", PRESENT, {K, DISCOUNT}, 2, 0},
    {"mul", GAIN, {S, N1}, 2, 0},
    {"mul", COST, {PRESENT, N2}, 2, 0},
    {"sub", CALL, {GAIN, COST}, 2, 0},
    {"parity", PUT, {CALL, S, PRESENT}, 3, 0},
};

static const char opencl[] =
    "kernel void black_scholes(global const float *restrict s, global const float *restrict k,\n"
    "                          global const float *restrict t, global float *restrict call, global float *restrict "
    "put) {\n"
    "  size_t i = get_global_id(0);\n"
    "  float root = 0.3f * sqrt(t[i]), d1 = (log(s[i] / k[i]) + (0.03f + 0.3f * 0.3f / 2) * t[i]) / root;\n"
    "  float d2 = d1 - root, n1 = 0.5f + 0.5f * erf(d1 * 0.70710678f), n2 = 0.5f + 0.5f * erf(d2 * 0.70710678f);\n"
    "  float present = k[i] * exp(-0.03f * t[i]), c = s[i] * n1 - present * n2;\n"
    "  call[i] = c; put[i] = c - s[i] + present;\n}\n";

static fusion_module *load_module(fusion_session *s)
{
    static const char *const two[][2] = {{"add", "fadd"}, {"sub", "fsub"}, {"mul", "fmul"}, {"div", "fdiv"}};
    static const char *const one[] = {"sqrt", "log", "exp", "erf"};
    char source[8192];
    size_t at = 0;
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        at += (size_t)snprintf(source + at, sizeof source - at, binary, two[i][0], two[i][1]);
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        at += (size_t)snprintf(source + at, sizeof source - at, unary, one[i], one[i]);
    at += (size_t)snprintf(source + at, sizeof source - at, "%s", others);
    fusion_module *m;
    bench_check(fusion_module_load(s, "black_scholes.fk", source, at, &m));
    return m;
}

fusion_graph *black_scholes_graph(fusion_session *s, const struct work *w, const struct work_buffers *b)
{
    const unsigned internal = FUSION_ACCESS_SCOPE_WORK_ITEM | FUSION_INTERNAL_MEMORY | FUSION_NO_INIT;
    fusion_module *m = load_module(s);
    fusion_buffer *values[VALUES];
    fusion_graph *g;
    bench_check(fusion_graph_create(s, &g));
    for (int i = 0; i < VALUES; i++) {
        if (i <= T)
            values[i] = b->in[i];
        else if (i >= CALL)
            values[i] = b->out[i - CALL];
        else
            bench_check(fusion_buffer_create(s, NULL, FUSION_F32, w->columns, internal, &values[i]));
    }
    for (int i = 0; i < STEPS; i++) {
        const struct step *step = &steps[i];
        fusion_arg args[5];
        uint32_t n = 0;
        for (; n < step->n_in; n++) args[n] = fusion_arg_read(values[step->in[n]]);
        args[n++] = fusion_arg_write(values[step->out]);
        if (step->scale != 0) args[n++] = fusion_arg_f32(step->scale);
        fusion_kernel_node node = {
            .module = m, .kernel = step->kernel, .dims = 1, .global = {w->columns}, .n_args = n, .args = args};
        bench_check(fusion_graph_add_kernel(g, &node, NULL));
    }
    return g;
}

static float input(unsigned index, size_t i)
{
    uint32_t x = (uint32_t)i * 2654435761u + index * 97u;
    float share = (float)(x >> 8) / (1 << 24);
    return index == T ? 0.25f + 9.75f * share : 10 + 90 * share;
}

void bench_black_scholes(fusion_session *s, json_object *rows)
{
    const size_t n = COUNT;
    struct work w = {
        .name = "Black-Scholes, 21 kernels, 2^22 f32",
        .rows = 1,
        .columns = n,
        .n_in = 3,
        .n_out = 2,
        .in_count = {n, n, n},
        .out_count = n,
        .bound = 1e-4,
        .repeat = 3,
        .input = input,
        .graph = black_scholes_graph,
        .unfused = true,
        .c_strict = black_scholes_strict,
        .c_fast = black_scholes_fast,
        .c_vector = black_scholes_vector,
        .opencl = {opencl, {"black_scholes", 1, {n}, {0}, {{0}}}},
        .numexpr = "black_scholes",
    };
    work_measure(s, &w, rows);
}
