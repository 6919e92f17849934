/*
 * Graphs as people write them, in OpenCL C through clang: how many launches they become, how many bytes these move, and
 * what has no memory, with nothing said but what is read afterwards. Each also computes what its kernels compute one by
 * one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"
#include "tests/support/spirv_make.h"

enum { N = 1024, WIDTH = 40, HEIGHT = 24, MAX_BUFFERS = 12, MAX_ARGS = 8, MAX_TEXT = 4096 };

/*
 * Kernels in order, each "kernel: arguments": X, Y and Z are images of WIDTH x HEIGHT pixels of four floats; a letter
 * is a buffer of N floats, p one of N different numbers below N, c and d hold 4 N bytes; n is N - 5, w and h the width
 * and height, s a float, all scalars of each node's own.
 */
struct row {
    const char *name, *source, *nodes, *outputs, *internalized;
    uint64_t global[2]; /* 1-D where the second is 0 */
    uint32_t launches;
    uint64_t numbers; /* of 4 bytes each, that go over memory */
};

static struct service service;
static fusion_session *session;

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    session = service_connect(&service);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    return 0;
}

/* ---- graphs ---- */

struct table_run {
    const struct row *row;
    fusion_module *module;
    fusion_buffer *buffers[128]; /* by letter */
    fusion_image *images[3];     /* X, Y, Z */
    fusion_graph *graph;
};

static void *map(fusion_buffer *buffer)
{
    void *memory;
    expect_ok(fusion_buffer_map(buffer, &memory));
    return memory;
}

static fusion_buffer *make_buffer(char letter)
{
    const char name[2] = {letter, 0};
    fusion_buffer *buffer;
    bool bytes = letter == 'c' || letter == 'd';
    expect_ok(fusion_buffer_create(session, name,
                                   bytes           ? FUSION_BYTES
                                   : letter == 'p' ? FUSION_I32
                                                   : FUSION_F32,
                                   bytes ? 4 * N : N, 0, &buffer));
    for (int i = 0; i < N; i++) {
        if (letter == 'p')
            ((int *)map(buffer))[i] = (i * 37 + 11) % N;
        else
            ((float *)map(buffer))[i] = (float)(i * 7 % 301) / 16 + (float)(letter - 'a') + 1;
    }
    return buffer;
}

static fusion_image *make_image(char letter)
{
    const char name[2] = {letter, 0};
    static float pixels[WIDTH * HEIGHT * 4];
    fusion_image *image;
    const fusion_image_desc desc = {
        .width = WIDTH, .height = HEIGHT, .channel_order = FUSION_CHANNEL_RGBA, .channel_type = FUSION_FLOAT};
    expect_ok(fusion_image_create(session, name, &desc, &image));
    for (int i = 0; i < WIDTH * HEIGHT * 4; i++) pixels[i] = (float)(i * 7 % 301) / 16 + (float)(letter - 'X');
    expect_ok(fusion_image_write(image, NULL, pixels, 0));
    return image;
}

/* Whether kernels write the image is said by their parameters: all have images in pairs, read and written. */
static fusion_arg image_argument(struct table_run *r, char letter, bool first)
{
    if (!r->images[letter - 'X']) r->images[letter - 'X'] = make_image(letter);
    return fusion_arg_image(r->images[letter - 'X'], first ? FUSION_ACCESS_READ : FUSION_ACCESS_WRITE);
}

static fusion_arg argument(struct table_run *r, char letter, bool first)
{
    switch (letter) {
    case 'n': return fusion_arg_i32(N - 5);
    case 'w': return fusion_arg_i32(WIDTH);
    case 'h': return fusion_arg_i32(HEIGHT);
    case 's': return fusion_arg_f32(1.5f);
    case 'X' ... 'Z': return image_argument(r, letter, first);
    default: break;
    }
    if (!r->buffers[(int)letter]) r->buffers[(int)letter] = make_buffer(letter);
    return fusion_arg_read_write(r->buffers[(int)letter]);
}

static void add_node_text(struct table_run *r, const char *text, uint32_t number)
{
    fusion_arg args[MAX_ARGS];
    char kernel[32], name[16];
    size_t length = strcspn(text, ":");
    uint32_t n = 0;
    snprintf(kernel, sizeof kernel, "%.*s", (int)length, text);
    snprintf(name, sizeof name, "k%u", number);
    for (const char *at = text + length + 1; *at && *at != ';'; at++)
        if (*at != ' ') {
            args[n] = argument(r, *at, n == 0);
            n++;
        }
    const fusion_kernel_node node = {.name = name,
                                     .module = r->module,
                                     .kernel = kernel,
                                     .dims = r->row->global[1] ? 2 : 1,
                                     .global = {r->row->global[0], r->row->global[1]},
                                     .n_args = n,
                                     .args = args};
    expect_ok(fusion_graph_add_kernel(r->graph, &node, NULL));
}

static void make(struct table_run *r, const struct row *row, fusion_module *module)
{
    *r = (struct table_run){.row = row, .module = module};
    expect_ok(fusion_graph_create(session, &r->graph));
    uint32_t n = 0;
    for (const char *at = row->nodes; at; at = strchr(at, ';') ? strchr(at, ';') + 2 : NULL) add_node_text(r, at, n++);
    fusion_arg outputs[MAX_ARGS];
    for (n = 0; row->outputs[n]; n++) outputs[n] = argument(r, row->outputs[n], true);
    expect_ok(fusion_graph_set_outputs(r->graph, outputs, n));
}

static void clear(struct table_run *r)
{
    fusion_graph_destroy(r->graph);
    for (int i = 0; i < 128; i++)
        if (r->buffers[i]) fusion_buffer_destroy(r->buffers[i]);
    for (int i = 0; i < 3; i++)
        if (r->images[i]) fusion_image_destroy(r->images[i]);
}

static fusion_exec *run(struct table_run *r, fusion_mode mode)
{
    fusion_exec *exec;
    fusion_event done;
    expect_ok(fusion_graph_finalize(r->graph, &(fusion_finalize_options){.mode = mode}, &exec));
    for (int i = 0; i < 2; i++) {
        expect_ok(fusion_exec_submit(exec, NULL, 0, &done));
        expect_ok(fusion_event_wait(session, done, -1, NULL));
    }
    return exec;
}

/* ---- what came out ---- */

static void check_report(const struct row *row, const char *level, const fusion_report *report)
{
    char internalized[MAX_TEXT] = "";
    for (uint32_t i = 0; i < report->n_internalized; i++) strcat(internalized, report->internalized[i].buffer);
    if (report->launches == row->launches && report->bytes_fused == 4 * row->numbers &&
        strcmp(internalized, row->internalized) == 0)
        return;
    for (uint32_t i = 0; i < report->n_remarks; i++)
        print_message("# %s: %s\n", report->remarks[i].code, report->remarks[i].text);
    fail_msg("%s, %s: %u launches, %llu numbers, without memory %s; not %u, %llu, %s", row->name, level,
             report->launches, (unsigned long long)report->bytes_fused / 4, internalized, row->launches,
             (unsigned long long)row->numbers, row->internalized);
}

static void check_same(struct table_run *a, struct table_run *b, char letter)
{
    static float x[WIDTH * HEIGHT * 4], y[WIDTH * HEIGHT * 4];
    if (letter < 'X' || letter > 'Z') {
        assert_memory_equal(map(a->buffers[(int)letter]), map(b->buffers[(int)letter]), N * 4);
        return;
    }
    expect_ok(fusion_image_read(a->images[letter - 'X'], NULL, x, 0));
    expect_ok(fusion_image_read(b->images[letter - 'X'], NULL, y, 0));
    assert_memory_equal(x, y, sizeof x);
}

static void check_level(const struct row *row, const char *level)
{
    size_t size;
    fusion_module *module;
    struct table_run fused, apart;
    uint8_t *bytes = spirv_make_compiled(row->source, level, &size);
    expect_ok(fusion_module_load(session, "kernels.spv", bytes, size, &module));
    free(bytes);
    make(&fused, row, module);
    make(&apart, row, module);
    fusion_exec *one = run(&fused, FUSION_ENABLE), *other = run(&apart, FUSION_NONE);
    check_report(row, level, fusion_exec_report(one));
    for (const char *o = row->outputs; *o; o++) check_same(&fused, &apart, *o);
    fusion_exec_destroy(one);
    fusion_exec_destroy(other);
    clear(&fused);
    clear(&apart);
    fusion_module_destroy(module);
}

/* ---- the table ---- */

#define IO "global const float *a, global float *o"
#define ID "int i = get_global_id(0); "

static const struct row rows[] = {
    {.name = "guarded chain",
     .source = "kernel void k0(" IO ", int n) { " ID "if (i < n) o[i] = a[i] * 2 + 1; }\n"
               "kernel void k1(" IO ", int n) { " ID "if (i >= n) return; o[i] = sqrt(a[i]); }\n"
               "kernel void k2(" IO ", int n) { " ID "if (i < n) o[i] = a[i] - 3; }\n",
     .nodes = "k0: atn; k1: tun; k2: uon",
     .outputs = "o",
     .internalized = "tu",
     .global = {N},
     .launches = 1,
     .numbers = 2 * N},
    {.name = "images as buffers",
     .source = "#define XY int x = get_global_id(0), y = get_global_id(1); if (x >= w || y >= h) return;\n"
               "kernel void k0(" IO ", int w, int h) { XY o[y * w + x] = a[y * w + x] * 2; }\n"
               "kernel void k1(" IO ", int w, int h) { XY o[y * w + x] = a[y * w + x] + 1; }\n",
     .nodes = "k0: atwh; k1: towh",
     .outputs = "o",
     .internalized = "t",
     .global = {WIDTH, HEIGHT},
     .launches = 1,
     .numbers = 2 * WIDTH * HEIGHT},
    {.name = "grid-stride loops",
     .source = "#define EACH int g = get_global_size(0); for (int i = get_global_id(0); i < n; i += g)\n"
               "kernel void k0(" IO ", int n) { EACH o[i] = a[i] * 2; }\n"
               "kernel void k1(" IO ", int n) { EACH o[i] = a[i] + 1; }\n"
               "kernel void k2(" IO ", int n) { EACH o[i] = a[i] * a[i]; }\n",
     .nodes = "k0: atn; k1: tun; k2: uon",
     .outputs = "o",
     .internalized = "tu",
     .global = {64},
     .launches = 1,
     .numbers = 2 * N},
    {.name = "offsets",
     .source = "kernel void k0(" IO ", int h) { " ID "o[i + h] = a[i + h] * 2; }\n"
               "kernel void k1(" IO ", int h) { " ID "o[i] = a[i + h] + 1; }\n",
     .nodes = "k0: ath; k1: toh",
     .outputs = "o",
     .internalized = "t",
     .global = {N - HEIGHT},
     .launches = 1,
     .numbers = 2 * (N - HEIGHT)},
    {.name = "matrix multiply, bias, ReLU",
     .source = "#define XY int x = get_global_id(0), y = get_global_id(1); if (x >= w || y >= h) return;\n"
               "kernel void mul(global const float *a, global const float *b, global float *o, int w, int h)\n"
               "{ XY float s = 0; for (int k = 0; k < h; k++) s += a[y * h + k] * b[k * w + x]; o[y * w + x] = s; }\n"
               "kernel void bias(" IO ", global const float *b, int w, int h)\n"
               "{ XY o[y * w + x] = fmax(a[y * w + x] + b[x], 0.0f); }\n",
     .nodes = "mul: abtwh; bias: toewh",
     .outputs = "o",
     .internalized = "t",
     .global = {WIDTH, HEIGHT},
     .launches = 1,
     .numbers = 2 * WIDTH * HEIGHT + HEIGHT * HEIGHT + WIDTH},
    {.name = "gather, multiply, scatter",
     .source = "kernel void take(" IO ", global const int *p, int n) { " ID "if (i < n) o[i] = a[p[i]]; }\n"
               "kernel void mul(" IO ", float s, int n) { " ID "if (i < n) o[i] = a[i] * s; }\n"
               "kernel void put(" IO ", global const int *p, int n) { " ID "if (i < n) o[p[i]] = a[i]; }\n",
     .nodes = "take: atpn; mul: tusn; put: uopn",
     .outputs = "o",
     .internalized = "tu",
     .global = {N},
     .launches = 1,
     .numbers = 3 * N},
    {.name = "Black-Scholes",
     .source = "kernel void d1(" IO ", global const float *b, int n)\n"
               "{ " ID "if (i < n) o[i] = (log(a[i] / b[i]) + 0.06f * 0.5f) / (0.3f * sqrt(0.5f)); }\n"
               "kernel void d2(" IO ", int n) { " ID "if (i < n) o[i] = a[i] - 0.3f * sqrt(0.5f); }\n"
               "kernel void cdf(" IO ", int n)\n"
               "{ " ID "if (i < n) { float k = 1 / (1 + 0.2316419f * fabs(a[i]));\n"
               "  float c = 0.39894228f * exp(-0.5f * a[i] * a[i]) * k * (0.31938153f + k * (-0.356563782f + k));\n"
               "  o[i] = a[i] > 0 ? 1 - c : c; } }\n"
               "kernel void price(global const float *a, global const float *b, global const float *c,\n"
               "                  global const float *d, global float *o, global float *q, int n)\n"
               "{ " ID "if (i < n) { float r = exp(-0.03f) * b[i]; o[i] = a[i] * c[i] - r * d[i];\n"
               "  q[i] = r * (1 - d[i]) - a[i] * (1 - c[i]); } }\n",
     .nodes = "d1: atbn; d2: tun; cdf: tvn; cdf: uxn; price: abvxoqn",
     .outputs = "oq",
     .internalized = "tuvx",
     .global = {N},
     .launches = 1,
     .numbers = 4 * N},
    {.name = "uchar4, float4, uchar4",
     .source = "kernel void open(global const uchar4 *a, global float4 *o, int w)\n"
               "{ " ID "if (i < w) o[i] = convert_float4(a[i]) / 255.0f; }\n"
               "kernel void dim(global const float4 *a, global float4 *o, int w)\n"
               "{ " ID "if (i < w) o[i] = (float4)(a[i].xyz * 0.5f, a[i].w); }\n"
               "kernel void shut(global const float4 *a, global uchar4 *o, int w)\n"
               "{ " ID "if (i < w) o[i] = convert_uchar4_sat_rte(a[i] * 255.0f); }\n",
     .nodes = "open: ctw; dim: tuw; shut: udw",
     .outputs = "d",
     .internalized = "tu",
     .global = {64},
     .launches = 1,
     .numbers = 2 * 64},
    {.name = "four elements a work-item",
     .source = "#define FOUR int i = 4 * get_global_id(0); if (i < n) for (int k = 0; k < 4; k++)\n"
               "kernel void k0(" IO ", int n) { FOUR o[i + k] = a[i + k] * 2; }\n"
               "kernel void k1(" IO ", int n) { FOUR o[i + k] = a[i + k] + 1; }\n",
     .nodes = "k0: atn; k1: ton",
     .outputs = "o",
     .internalized = "t",
     .global = {N / 4},
     .launches = 1,
     .numbers = 2 * N},
    {.name = "image2d, own pixel",
     .source = "constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
               "#define IMAGES read_only image2d_t a, write_only image2d_t o\n"
               "#define P int2 p = (int2)(get_global_id(0), get_global_id(1))\n"
               "kernel void k0(IMAGES) { P; write_imagef(o, p, read_imagef(a, s, p) * 2.0f); }\n"
               "kernel void k1(IMAGES) { P; if (p.x < get_image_width(o) && p.y < get_image_height(o))\n"
               "  write_imagef(o, p, read_imagef(a, p) + 1.0f); }\n",
     .nodes = "k0: XY; k1: YZ",
     .outputs = "Z",
     .internalized = "",
     .global = {WIDTH, HEIGHT},
     .launches = 1,
     .numbers = 4 * 4 * WIDTH * HEIGHT},
    {.name = "results that nobody asked for",
     .source = "kernel void k0(" IO ", int n) { " ID "if (i < n) o[i] = a[i] * 2; }\n"
               "kernel void k1(" IO ", int n) { " ID "if (i < n) o[i] = a[i] + 1; }\n",
     .nodes = "k0: atn; k1: txn; k1: ton; k0: xyn",
     .outputs = "o",
     .internalized = "t",
     .global = {N},
     .launches = 1,
     .numbers = 2 * N},
};

static void check(void **state)
{
    static const char *const levels[] = {"O0", "O2"};
    if (!spirv_make_can_compile()) skip();
    for (unsigned i = 0; i < 2; i++) check_level(*state, levels[i]);
}

int main(void)
{
    enum { ROWS = sizeof rows / sizeof *rows };
    struct CMUnitTest tests[ROWS];
    for (unsigned i = 0; i < ROWS; i++)
        tests[i] =
            (struct CMUnitTest){.name = rows[i].name, .test_func = check, .initial_state = (void *)(uintptr_t)&rows[i]};
    return cmocka_run_group_tests_name("fusion table", tests, start, stop);
}
