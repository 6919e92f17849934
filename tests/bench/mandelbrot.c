/* The Mandelbrot set: a loop that each pixel leaves when it likes. */
#include "tests/bench/work.h"

enum { SIDE = 1024 };

/* Products and sums may become fused, as OpenCL C allows by itself. */
static const char kernel[] =
    "kernel @mandelbrot(%o: ptr.global i32 write) {\n"
    "  %px = global_id x\n  %py = global_id y\n"
    "  %fx = utof f32 %px\n  %fy = utof f32 %py\n"
    "  %sx = fmul f32 %fx, 0.0029296875, contract\n  %sy = fmul f32 %fy, 0.0029296875, contract\n"
    "  %cx = fadd f32 %sx, -2.0, contract\n  %cy = fadd f32 %sy, -1.5, contract\n"
    "  %n = loop (%x: f32 = 0.0, %y: f32 = 0.0, %i: i32 = 0) -> i32 {\n"
    "    %more = slt i32 %i, 256\n"
    "    if %more { } else { break %i }\n"
    "    %x2 = fmul f32 %x, %x, contract\n    %y2 = fmul f32 %y, %y, contract\n"
    "    %m = fadd f32 %x2, %y2, contract\n"
    "    %out = fogt f32 %m, 4.0\n"
    "    if %out { break %i }\n"
    "    %xx = fmul f32 %x, 2.0, contract\n    %xy = fmul f32 %xx, %y, contract\n"
    "    %y3 = fadd f32 %xy, %cy, contract\n"
    "    %d = fsub f32 %x2, %y2, contract\n    %x3 = fadd f32 %d, %cx, contract\n"
    "    %j = add i32 %i, 1\n"
    "    continue %x3, %y3, %j\n"
    "  }\n"
    "  %row = mul i64 %py, 1024\n  %at = add i64 %row, %px\n"
    "  store i32 %o[%at], %n\n  return\n}\n";

static const char opencl[] =
    "kernel void mandelbrot(global int *o) {\n"
    "  size_t px = get_global_id(0), py = get_global_id(1);\n"
    "  float cx = (float)px * 0.0029296875f - 2.0f, cy = (float)py * 0.0029296875f - 1.5f, x = 0, y = 0;\n"
    "  int i = 0;\n"
    "  for (; i < 256; i++) {\n"
    "    float x2 = x * x, y2 = y * y;\n"
    "    if (x2 + y2 > 4.0f) break;\n"
    "    y = 2.0f * x * y + cy;\n    x = x2 - y2 + cx;\n"
    "  }\n"
    "  o[py * 1024 + px] = i;\n}\n";

fusion_graph *mandelbrot_graph(fusion_session *s, const struct work *w, const struct work_buffers *b)
{
    fusion_module *m;
    fusion_graph *g;
    bench_check(fusion_module_load(s, "mandelbrot.fk", kernel, sizeof kernel - 1, &m));
    bench_check(fusion_graph_create(s, &g));
    const fusion_arg args[] = {fusion_arg_write(b->out[0])};
    fusion_kernel_node node = {
        .module = m, .kernel = "mandelbrot", .dims = 2, .global = {w->columns, w->rows}, .n_args = 1, .args = args};
    bench_check(fusion_graph_add_kernel(g, &node, NULL));
    return g;
}

void bench_mandelbrot(fusion_session *s, json_object *rows)
{
    struct work w = {
        .name = "mandelbrot 1024 x 1024, 256 rounds",
        .rows = SIDE,
        .columns = SIDE,
        .n_out = 1,
        .out_count = SIDE * SIDE,
        .counts = true,
        .bound = 0.01, /* at the border, a fused product shows */
        .repeat = 3,
        .graph = mandelbrot_graph,
        .c_strict = mandelbrot_strict,
        .c_fast = mandelbrot_fast,
        .c_vector = mandelbrot_vector,
        .opencl = {opencl, {"mandelbrot", 2, {SIDE, SIDE}, {0}, {{0}}}},
    };
    work_measure(s, &w, rows);
}
