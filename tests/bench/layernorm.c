/* Layer normalization, a row by a work-group of 256: once with a tree of sums in local memory and a barrier after each
   level, once with the reduction of a work-group. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/bench/work.h"

enum { ROWS = 8192, COLUMNS = 1024, GROUP = 256 };

#define BEGIN                                                                                                          \
    "kernel @layernorm(%a: ptr.global f32 read, %scale: ptr.global f32 read, %shift: ptr.global f32 read, "            \
    "%o: ptr.global f32 write) work_group_size(256) {\n"                                                               \
    "  %l = local_id x\n  %g = group_id x\n  %row = mul i64 %g, 1024\n"                                                \
    "  %i0 = add i64 %row, %l\n  %i1 = add i64 %i0, 256\n  %i2 = add i64 %i0, 512\n  %i3 = add i64 %i0, 768\n"         \
    "  %x0 = load f32 %a[%i0]\n  %x1 = load f32 %a[%i1]\n  %x2 = load f32 %a[%i2]\n  %x3 = load f32 %a[%i3]\n"         \
    "  %u = fadd f32 %x0, %x1\n  %v = fadd f32 %x2, %x3\n  %mine = fadd f32 %u, %v\n"
#define CENTER                                                                                                         \
    "  %mean = fmul f32 %sum, 0.0009765625\n"                                                                          \
    "  %c0 = fsub f32 %x0, %mean\n  %c1 = fsub f32 %x1, %mean\n  %c2 = fsub f32 %x2, %mean\n"                          \
    "  %c3 = fsub f32 %x3, %mean\n"                                                                                    \
    "  %q0 = fmul f32 %c0, %c0\n  %q1 = fmul f32 %c1, %c1\n  %q2 = fmul f32 %c2, %c2\n  %q3 = fmul f32 %c3, %c3\n"     \
    "  %p = fadd f32 %q0, %q1\n  %q = fadd f32 %q2, %q3\n  %square = fadd f32 %p, %q\n"
#define ELEMENT(k, j)                                                                                                  \
    "  %j" k " = add i64 %l, " j "\n  %n" k " = fmul f32 %c" k ", %factor\n  %w" k " = load f32 %scale[%j" k "]\n"     \
    "  %h" k " = load f32 %shift[%j" k "]\n  %m" k " = fmul f32 %n" k ", %w" k "\n"                                    \
    "  %r" k " = fadd f32 %m" k ", %h" k "\n  store f32 %o[%i" k "], %r" k "\n"
#define END                                                                                                            \
    "  %variance = fmul f32 %squares, 0.0009765625\n  %safe = fadd f32 %variance, 1e-5\n"                              \
    "  %root = sqrt f32 %safe\n  %factor = fdiv f32 1.0, %root\n" ELEMENT("0", "0") ELEMENT("1", "256")                \
        ELEMENT("2", "512") ELEMENT("3", "768") "  return\n}\n"
#define TREE(name, value)                                                                                              \
    "  store f32 %part[%l], %" value "\n  barrier local\n"                                                             \
    "  loop (%s." name ": i64 = 128) {\n"                                                                              \
    "    %done." name " = ieq i64 %s." name ", 0\n    if %done." name " { break }\n"                                   \
    "    %inside." name " = ult i64 %l, %s." name "\n"                                                                 \
    "    if %inside." name " {\n"                                                                                      \
    "      %k." name " = add i64 %l, %s." name "\n      %p." name " = load f32 %part[%l]\n"                            \
    "      %q." name " = load f32 %part[%k." name "]\n"                                                                \
    "      %r." name " = fadd f32 %p." name ", %q." name "\n      store f32 %part[%l], %r." name "\n"                  \
    "    }\n    barrier local\n"                                                                                       \
    "    %next." name " = lshr i64 %s." name ", 1\n    continue %next." name "\n  }\n"                                 \
    "  %" name " = load f32 %part\n  barrier local\n"

static const char tree[] = "local @memory: [256 x f32]\n" BEGIN "  %part = global @memory\n" TREE("sum", "mine")
    CENTER TREE("squares", "square") END;
static const char reduce[] = BEGIN "  %sum = group_reduce f32 %mine, work_group, add\n" CENTER
                                   "  %squares = group_reduce f32 %square, work_group, add\n" END;

static const char opencl[] = "float total(local float *part, size_t l, float v) {\n"
                             "  part[l] = v;\n  barrier(CLK_LOCAL_MEM_FENCE);\n"
                             "  for (size_t s = 128; s > 0; s >>= 1) {\n"
                             "    if (l < s) part[l] += part[l + s];\n    barrier(CLK_LOCAL_MEM_FENCE);\n"
                             "  }\n"
                             "  float sum = part[0];\n  barrier(CLK_LOCAL_MEM_FENCE);\n  return sum;\n}\n"
                             "kernel __attribute__((reqd_work_group_size(256, 1, 1)))\n"
                             "void layernorm(global const float *restrict a, global const float *restrict scale,\n"
                             "               global const float *restrict shift, global float *restrict o) {\n"
                             "  local float part[256];\n"
                             "  size_t l = get_local_id(0), i = get_group_id(0) * 1024 + l;\n"
                             "  float x0 = a[i], x1 = a[i + 256], x2 = a[i + 512], x3 = a[i + 768];\n"
                             "  float mean = total(part, l, (x0 + x1) + (x2 + x3)) * (1.0f / 1024);\n"
                             "  x0 -= mean; x1 -= mean; x2 -= mean; x3 -= mean;\n"
                             "  float squares = total(part, l, (x0 * x0 + x1 * x1) + (x2 * x2 + x3 * x3));\n"
                             "  float factor = 1.0f / sqrt(squares * (1.0f / 1024) + 1e-5f);\n"
                             "  o[i] = x0 * factor * scale[l] + shift[l];\n"
                             "  o[i + 256] = x1 * factor * scale[l + 256] + shift[l + 256];\n"
                             "  o[i + 512] = x2 * factor * scale[l + 512] + shift[l + 512];\n"
                             "  o[i + 768] = x3 * factor * scale[l + 768] + shift[l + 768];\n}\n";

static fusion_graph *graph(fusion_session *s, const struct work_buffers *b, const char *source, size_t size)
{
    fusion_module *m;
    fusion_graph *g;
    bench_check(fusion_module_load(s, "layernorm.fk", source, size, &m));
    bench_check(fusion_graph_create(s, &g));
    const fusion_arg args[] = {fusion_arg_read(b->in[0]), fusion_arg_read(b->in[1]), fusion_arg_read(b->in[2]),
                               fusion_arg_write(b->out[0])};
    fusion_kernel_node node = {.module = m,
                               .kernel = "layernorm",
                               .dims = 1,
                               .global = {(uint64_t)ROWS * GROUP},
                               .local = {GROUP},
                               .n_args = 4,
                               .args = args};
    bench_check(fusion_graph_add_kernel(g, &node, NULL));
    return g;
}

fusion_graph *layernorm_graph(fusion_session *s, const struct work *w, const struct work_buffers *b)
{
    (void)w;
    return graph(s, b, tree, sizeof tree - 1);
}

static fusion_graph *reduce_graph(fusion_session *s, const struct work *w, const struct work_buffers *b)
{
    (void)w;
    return graph(s, b, reduce, sizeof reduce - 1);
}

static float input(unsigned index, size_t i)
{
    uint32_t x = (uint32_t)i * 2654435761u + index * 40503u;
    return (float)(x >> 16 & 0xfff) / 2048 - 1;
}

void bench_layernorm(fusion_session *s, json_object *rows)
{
    const size_t n = (size_t)ROWS * COLUMNS;
    struct work w = {
        .name = "layernorm 8192 x 1024, work-groups of 256, tree in local memory",
        .rows = ROWS,
        .columns = COLUMNS,
        .n_in = 3,
        .n_out = 1,
        .in_count = {n, COLUMNS, COLUMNS},
        .out_count = n,
        .bound = 1e-4,
        .repeat = 3,
        .input = input,
        .graph = layernorm_graph,
        .c_strict = layernorm_strict,
        .c_fast = layernorm_fast,
        .c_vector = layernorm_vector,
        .opencl = {opencl, {"layernorm", 1, {(size_t)ROWS * GROUP}, {GROUP}, {{0}}}},
    };
    work_measure(s, &w, rows);
    w.name = "layernorm 8192 x 1024, work-groups of 256, group_reduce";
    w.graph = reduce_graph;
    w.opencl.source = NULL;
    work_measure(s, &w, rows);
}
