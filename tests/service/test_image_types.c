/* Images of all types through the whole service, on both devices: 1-D, 3-D, arrays, of buffers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"

static const char *const devices[] = {"reference", "cpu"};

#define IDS                                                                                                            \
    "  %gx = global_id x\n  %gy = global_id y\n  %gz = global_id z\n"                                                  \
    "  %x = trunc i32 %gx\n  %y = trunc i32 %gy\n  %z = trunc i32 %gz\n"
#define TWICE(form, coordinates, at)                                                                                   \
    "kernel @twice_" form "(%in: image" form ".read, %out: image" form ".write) {\n" IDS coordinates                   \
    "  %p = image_read i32x4 %in, " at "\n  %q = add i32x4 %p, %p\n  image_write i32x4 %out, " at ", %q\n}\n"

static const char kernels[] = TWICE("1d", "", "%x") TWICE("1d_array", "  %at = vec i32x2 %x, %z\n", "%at") TWICE(
    "1d_buffer", "", "%x") TWICE("2d_array", "  %at = vec i32x3 %x, %y, %z\n",
                                 "%at") TWICE("3d", "  %at = vec i32x3 %x, %y, %z\n", "%at")
    TWICE("2d", "  %at = vec i32x2 %x, %y\n",
          "%at") "kernel @sizes(%a: image1d_array.read, %b: image2d_array.read, %c: image3d.read, %o: ptr.global i32 "
                 "write) {\n"
                 "  %0 = image_width %a\n  store i32 %o, %0\n  %1 = image_array_size %a\n  store i32 %o[1], %1\n"
                 "  %2 = image_width %b\n  store i32 %o[2], %2\n  %3 = image_height %b\n  store i32 %o[3], %3\n"
                 "  %4 = image_array_size %b\n  store i32 %o[4], %4\n  %5 = image_width %c\n  store i32 %o[5], %5\n"
                 "  %6 = image_height %c\n  store i32 %o[6], %6\n  %7 = image_depth %c\n  store i32 %o[7], %7\n}\n"
                 "kernel @count(%o: ptr.global i32 write) {\n"
                 "  %i = global_id x\n  %n = trunc i32 %i\n  store i32 %o[%i], %n\n}\n"
                 "kernel @more(%a: ptr.global i32 read, %o: ptr.global i32 write) {\n"
                 "  %i = global_id x\n  %n = load i32 %a[%i]\n  %m = add i32 %n, 100\n  store i32 %o[%i], %m\n}\n"
                 "kernel @both(%m: image1d_buffer.read, %o: ptr.global i32 write) {\n"
                 "  %i = global_id x\n  %x = trunc i32 %i\n  %p = image_read i32x4 %m, %x\n  %r = extract i32x4 %p, 0\n"
                 "  store i32 %o[%i], %r\n}\n"
                 "kernel @middle(%in: image3d.read, %o: ptr.global f32x4 write, %s: sampler) {\n"
                 "  %p = image_read f32x4 %in, f32x3 <0.5, 0.5, 0.5>, %s\n  store f32x4 %o, %p\n}\n"
                 "kernel @beyond(%out: image3d.write) {\n  image_write i32x4 %out, <0, 0, 9>, 1\n}\n";

static struct service service;
static fusion_session *session;
static fusion_module *module;

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    session = service_connect(&service);
    expect_ok(fusion_module_load(session, "types", kernels, sizeof kernels - 1, &module));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    return 0;
}

/* ---- helpers ---- */

enum { W = 5, H = 3, D = 4 };

/* With gaps behind rows and slices. */
static fusion_image_desc describe(fusion_image_type type)
{
    bool array = type == FUSION_IMAGE_1D_ARRAY || type == FUSION_IMAGE_2D_ARRAY, deep = type == FUSION_IMAGE_3D;
    bool flat = type == FUSION_IMAGE_1D || type == FUSION_IMAGE_1D_ARRAY;
    return (fusion_image_desc){.width = W,
                               .height = flat ? 0 : H,
                               .row_pitch = 2 * W + 4,
                               .channel_order = FUSION_CHANNEL_R,
                               .channel_type = FUSION_SIGNED_INT16,
                               .type = type,
                               .depth = deep ? D : 0,
                               .array_size = array ? D : 0,
                               .slice_pitch = array || deep ? (2 * W + 4) * 4 : 0};
}

static fusion_image *make_image(const char *name, fusion_image_type type)
{
    fusion_image *image;
    fusion_image_desc desc = describe(type);
    expect_ok(fusion_image_create(session, name, &desc, &image));
    return image;
}

static uint32_t rows_of(fusion_image_type type)
{
    return type == FUSION_IMAGE_1D || type == FUSION_IMAGE_1D_ARRAY ? 1 : H;
}

static uint32_t slices_of(fusion_image_type type)
{
    return type == FUSION_IMAGE_1D || type == FUSION_IMAGE_2D ? 1 : D;
}

static fusion_graph *new_graph(void)
{
    fusion_graph *graph;
    expect_ok(fusion_graph_create(session, &graph));
    return graph;
}

static void add(fusion_graph *graph, const char *kernel, uint64_t w, uint64_t h, uint64_t d, const fusion_arg *args,
                uint32_t n)
{
    fusion_kernel_node node = {
        .module = module, .kernel = kernel, .dims = 3, .global = {w, h, d}, .n_args = n, .args = args};
    expect_ok(fusion_graph_add_kernel(graph, &node, NULL));
}

static fusion_exec *finalize(fusion_graph *graph, fusion_mode mode, const char *device)
{
    fusion_exec *exec = NULL;
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.mode = mode, .device = device}, &exec));
    return exec;
}

static void run(fusion_exec *exec, const fusion_rebind *rebind, uint32_t n)
{
    fusion_event event;
    expect_ok(fusion_exec_submit(exec, rebind, n, &event));
    expect_ok(fusion_event_wait(session, event, 20000, NULL));
}

static void clear(fusion_exec *exec, fusion_graph *graph)
{
    fusion_exec_destroy(exec);
    fusion_graph_destroy(graph);
}

static bool has_remark(const fusion_exec *exec, const char *code, const char *buffer)
{
    const fusion_report *r = fusion_exec_report(exec);
    for (uint32_t i = 0; i < r->n_remarks; i++)
        if (strcmp(r->remarks[i].code, code) == 0 && strcmp(r->remarks[i].buffer, buffer) == 0) return true;
    return false;
}

static const fusion_arg *pair(fusion_image *in, fusion_image *out)
{
    static fusion_arg args[2];
    args[0] = fusion_arg_image(in, FUSION_ACCESS_READ);
    args[1] = fusion_arg_image(out, FUSION_ACCESS_WRITE);
    return args;
}

/* ---- what images are ---- */

static void refuse(fusion_image_desc desc, const char *reason)
{
    fusion_image *image = NULL;
    expect_error(fusion_image_create(session, "odd", &desc, &image), FUSION_INVALID);
    expect_in_reason(reason);
    assert_null(image);
}

static void test_descriptions(void **state)
{
    (void)state;
    fusion_buffer *b = index_buffer(session, "b", 16, 0, 0);
#define DESC(...) ((fusion_image_desc){.channel_order = FUSION_CHANNEL_R, .channel_type = FUSION_FLOAT, __VA_ARGS__})
    refuse(DESC(.type = FUSION_IMAGE_1D, .width = 4, .height = 2), "2 rows, but an image1d has one");
    refuse(DESC(.type = FUSION_IMAGE_3D, .width = 4, .height = 2), "0 slices; an image3d has 1 to 16384");
    refuse(DESC(.type = FUSION_IMAGE_2D_ARRAY, .width = 4, .height = 2), "0 layers; an image2d_array has 1 to 16384");
    refuse(DESC(.type = FUSION_IMAGE_3D, .width = 4, .height = 2, .depth = 16385), "16385 slices");
    refuse(DESC(.type = FUSION_IMAGE_3D, .width = 4, .height = 2, .depth = 2, .array_size = 2), "but it is an image3d");
    refuse(DESC(.width = 4, .height = 2, .depth = 2), "a depth of 2 and 0 layers, but it is an image2d");
    refuse(DESC(.width = 4, .height = 2, .array_size = 2), "an image2d has none");
    refuse(DESC(.type = FUSION_IMAGE_3D, .width = 4, .height = 2, .depth = 2, .slice_pitch = 16),
           "a slice pitch of 16 bytes, but the rows of a slice have 32");
    refuse(DESC(.type = FUSION_IMAGE_3D, .width = 4, .height = 2, .depth = 2, .slice_pitch = 40),
           "40 bytes is no multiple of the row pitch, 16");
    refuse(DESC(.type = 9, .width = 4, .height = 2), "unknown type 9");
    refuse(DESC(.type = FUSION_IMAGE_1D_BUFFER, .width = 4), "needs a buffer");
    refuse(DESC(.width = 4, .height = 1, .buffer = b), "an image2d has memory of its own");
    refuse(DESC(.type = FUSION_IMAGE_1D_BUFFER, .width = 17, .buffer = b),
           "68 bytes from offset 0 reach beyond the 64 bytes of buffer b");
    refuse(DESC(.type = FUSION_IMAGE_1D_BUFFER, .width = 4, .buffer = b, .offset = 52), "16 bytes from offset 52");
    refuse(DESC(.type = FUSION_IMAGE_1D_BUFFER, .width = 4, .buffer = b, .offset = 2), "not the first of a pixel");
    refuse(DESC(.type = FUSION_IMAGE_1D_BUFFER, .width = (1 << 27) + 1, .buffer = b), "1 to 134217728");
    fusion_image *image;
    expect_ok(fusion_image_create(
        session, NULL, &DESC(.type = FUSION_IMAGE_2D_ARRAY, .width = 4, .height = 2, .array_size = 3), &image));
    assert_int_equal(fusion_image_describe(image)->row_pitch, 16);
    assert_int_equal(fusion_image_describe(image)->slice_pitch, 32);
    fusion_image_destroy(image);
    fusion_buffer_destroy(b);
}

static void test_regions(void **state)
{
    (void)state;
    int16_t in[D][H][W], out[2][2][3];
    for (int i = 0; i < D * H * W; i++) (&in[0][0][0])[i] = (int16_t)i;
    fusion_image *image = make_image("box", FUSION_IMAGE_3D);
    expect_ok(fusion_image_write(image, NULL, in, 0));
    expect_ok(fusion_image_read(image, &(fusion_region){1, 1, 3, 2, 2, 2}, out, 0));
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 2; y++)
            for (int x = 0; x < 3; x++) assert_int_equal(out[z][y][x], in[2 + z][1 + y][1 + x]);
    void *map;
    expect_ok(fusion_image_map(image, &map));
    assert_int_equal(((int16_t *)map)[3 * (W + 2) * 4 + 2 * (W + 2) + 1], in[3][2][1]);
    expect_error(fusion_image_read(image, &(fusion_region){0, 0, 1, 1, 3, 2}, out, 0), FUSION_INVALID);
    expect_in_reason("1 x 1 x 2 pixels at (0, 0, 3); the image has 5 x 3 x 4");
    fusion_image_destroy(image);
}

/* ---- kernels ---- */

static void test_types(void **state)
{
    (void)state;
    static const struct {
        fusion_image_type type;
        const char *kernel;
    } cases[] = {{FUSION_IMAGE_1D, "twice_1d"},
                 {FUSION_IMAGE_1D_ARRAY, "twice_1d_array"},
                 {FUSION_IMAGE_2D, "twice_2d"},
                 {FUSION_IMAGE_2D_ARRAY, "twice_2d_array"},
                 {FUSION_IMAGE_3D, "twice_3d"}};
    for (size_t c = 0; c < 2 * sizeof cases / sizeof *cases; c++) {
        fusion_image_type type = cases[c / 2].type;
        fusion_image *in = make_image("in", type), *mid = make_image("mid", type), *out = make_image("out", type);
        int16_t numbers[W * H * D], got[W * H * D];
        uint32_t n = W * rows_of(type) * slices_of(type);
        for (uint32_t i = 0; i < n; i++) numbers[i] = (int16_t)(i * 7 - 50);
        expect_ok(fusion_image_write(in, NULL, numbers, 0));
        fusion_graph *graph = new_graph();
        add(graph, cases[c / 2].kernel, W, rows_of(type), slices_of(type), pair(in, mid), 2);
        add(graph, cases[c / 2].kernel, W, rows_of(type), slices_of(type), pair(mid, out), 2);
        fusion_exec *exec = finalize(graph, FUSION_ENABLE, devices[c % 2]);
        bool is_array = type == FUSION_IMAGE_1D_ARRAY || type == FUSION_IMAGE_2D_ARRAY; /* not followed */
        assert_int_equal(fusion_exec_report(exec)->launches, is_array ? 2 : 1);
        run(exec, NULL, 0);
        expect_ok(fusion_image_read(out, NULL, got, 0));
        for (uint32_t i = 0; i < n; i++) assert_int_equal(got[i], 4 * numbers[i]);
        clear(exec, graph);
        fusion_image_destroy(in);
        fusion_image_destroy(mid);
        fusion_image_destroy(out);
    }
}

static void test_sizes(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        fusion_image *a = make_image("a", FUSION_IMAGE_1D_ARRAY), *b = make_image("b", FUSION_IMAGE_2D_ARRAY);
        fusion_image *c = make_image("c", FUSION_IMAGE_3D);
        fusion_buffer *o = index_buffer(session, "o", 8, 0, 0);
        fusion_graph *graph = new_graph();
        add(graph, "sizes", 1, 1, 1,
            (fusion_arg[]){fusion_arg_image(a, FUSION_ACCESS_READ), fusion_arg_image(b, FUSION_ACCESS_READ),
                           fusion_arg_image(c, FUSION_ACCESS_READ), fusion_arg_write(o)},
            4);
        fusion_exec *exec = finalize(graph, FUSION_NONE, devices[d]);
        run(exec, NULL, 0);
        void *memory;
        expect_ok(fusion_buffer_map(o, &memory));
        assert_memory_equal(memory, ((int32_t[]){W, D, W, H, D, W, H, D}), 32);
        clear(exec, graph);
        fusion_buffer_destroy(o);
        fusion_image_destroy(a);
        fusion_image_destroy(b);
        fusion_image_destroy(c);
    }
}

/* The middle of all pixels. */
static void test_sampled(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        fusion_image *in;
        fusion_buffer *o;
        float *p, corner[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        fusion_image_desc desc = {FUSION_SIZED(fusion_image_desc), 2,         2, 0, FUSION_CHANNEL_DEPTH, FUSION_FLOAT,
                                  .type = FUSION_IMAGE_3D,         .depth = 2};
        expect_ok(fusion_image_create(session, "in", &desc, &in));
        expect_ok(fusion_image_write(in, NULL, corner, 0));
        expect_ok(fusion_buffer_create(session, "o", FUSION_F32, 4, 0, &o));
        fusion_sampler linear = {true, FUSION_ADDRESS_CLAMP_TO_EDGE, FUSION_FILTER_LINEAR};
        fusion_graph *graph = new_graph();
        add(graph, "middle", 1, 1, 1,
            (fusion_arg[]){fusion_arg_image(in, FUSION_ACCESS_READ), fusion_arg_write(o), fusion_arg_sampler(linear)},
            3);
        fusion_exec *exec = finalize(graph, FUSION_NONE, devices[d]);
        run(exec, NULL, 0);
        expect_ok(fusion_buffer_map(o, (void **)&p));
        assert_true(p[0] == 3.5f && p[1] == 0 && p[3] == 1);
        clear(exec, graph);
        fusion_buffer_destroy(o);
        fusion_image_destroy(in);
    }
}

/* ---- images of buffers ---- */

static fusion_image *view_of(fusion_buffer *b, uint32_t width, uint64_t offset)
{
    fusion_image *image;
    fusion_image_desc desc = {.width = width,
                              .channel_order = FUSION_CHANNEL_R,
                              .channel_type = FUSION_SIGNED_INT32,
                              .type = FUSION_IMAGE_1D_BUFFER,
                              .buffer = b,
                              .offset = offset};
    expect_ok(fusion_image_create(session, "view", &desc, &image));
    return image;
}

/* One kernel writes a buffer, another reads it as an image: in this order, in memory, whatever is asked of the buffer.
   Then the other way round. */
static void test_buffers(void **state)
{
    (void)state;
    const unsigned internal = FUSION_ACCESS_SCOPE_WORK_ITEM | FUSION_INTERNAL_MEMORY | FUSION_NO_INIT;
    enum { N = 40 };
    for (int d = 0; d < 2; d++) {
        fusion_buffer *a, *b, *o = index_buffer(session, "o", N, 0, 0);
        int32_t *p;
        expect_ok(fusion_buffer_create(session, "a", FUSION_I32, N, internal, &a));
        expect_ok(fusion_buffer_create(session, "b", FUSION_I32, N, internal, &b));
        fusion_image *in = view_of(a, N - 4, 16), *out = view_of(b, N - 4, 16);
        fusion_graph *graph = new_graph();
        add(graph, "count", N, 1, 1, (fusion_arg[]){fusion_arg_write(a)}, 1);
        add(graph, "count", N, 1, 1, (fusion_arg[]){fusion_arg_write(b)}, 1);
        add(graph, "twice_1d_buffer", N - 4, 1, 1, pair(in, out), 2);
        add(graph, "more", N, 1, 1, (fusion_arg[]){fusion_arg_read(b), fusion_arg_write(o)}, 2);
        fusion_exec *exec = finalize(graph, FUSION_ENABLE, devices[d]);
        assert_int_equal(fusion_exec_report(exec)->n_internalized, 0);
        assert_true(has_remark(exec, "not_internalized_image", "a") && has_remark(exec, "not_internalized_image", "b"));
        run(exec, NULL, 0);
        expect_ok(fusion_buffer_map(o, (void **)&p));
        for (int i = 0; i < N; i++) assert_int_equal(p[i], 100 + (i < 4 ? i : 2 * i));
        int32_t some[2];
        expect_ok(fusion_image_read(out, &(fusion_region){3, 0, 2, 1}, some, 0));
        assert_int_equal(some[1], 16);
        /* Other memory in place of the buffer is other memory of the image. */
        fusion_buffer *c = index_buffer(session, "c", N, 0, 0);
        run(exec, &(fusion_rebind){.from = b, .to = c}, 1);
        expect_ok(fusion_buffer_map(c, (void **)&p));
        assert_int_equal(p[N - 1], 2 * (N - 1));
        expect_error(fusion_exec_submit(exec, &(fusion_rebind){.from_image = in, .to_image = out}, 1, NULL),
                     FUSION_INVALID);
        expect_in_reason("bind another buffer in place of the buffer");
        clear(exec, graph);
        fusion_image_destroy(in);
        fusion_image_destroy(out);
        fusion_buffer_destroy(a);
        fusion_buffer_destroy(b);
        fusion_buffer_destroy(c);
        fusion_buffer_destroy(o);
    }
}

/* A kernel gets a buffer and an image of it only where neither is written, or their bytes differ. */
static void test_aliases(void **state)
{
    (void)state;
    fusion_buffer *b = index_buffer(session, "b", 16, 0, 0);
    fusion_image *low = view_of(b, 8, 0);
    fusion_exec *exec = NULL;
    fusion_graph *graph = new_graph();
    add(graph, "both", 8, 1, 1, (fusion_arg[]){fusion_arg_image(low, FUSION_ACCESS_READ), fusion_arg_write(b)}, 2);
    expect_error(fusion_graph_finalize(graph, &(fusion_finalize_options){.device = "cpu"}, &exec), FUSION_INVALID);
    expect_in_reason("arguments 0 and 1 are both memory of buffer b, and one of them is written");
    fusion_graph_destroy(graph);
    graph = new_graph();
    fusion_arg high = fusion_arg_write(b);
    high.offset = 32;
    high.bytes = 32;
    add(graph, "both", 8, 1, 1, (fusion_arg[]){fusion_arg_image(low, FUSION_ACCESS_READ), high}, 2);
    exec = finalize(graph, FUSION_NONE, "cpu");
    int32_t *p;
    expect_ok(fusion_buffer_map(b, (void **)&p));
    for (int i = 0; i < 8; i++) p[i] = i * i;
    run(exec, NULL, 0);
    expect_ok(fusion_buffer_map(b, (void **)&p));
    for (int i = 0; i < 8; i++) assert_int_equal(p[8 + i], i * i);
    clear(exec, graph);
    fusion_image_destroy(low);
    fusion_buffer_destroy(b);
}

/* ---- copies and fills ---- */

/* A box goes from one image to another, to a buffer, and to memory of this process and back. */
static void test_boxes(void **state)
{
    (void)state;
    int16_t in[D][H][W], got[D][H][W], host[2][2][4];
    memset(host, 0, sizeof host);
    for (int i = 0; i < D * H * W; i++) (&in[0][0][0])[i] = (int16_t)(1000 + i);
    fusion_image *a = make_image("a", FUSION_IMAGE_3D), *b = make_image("b", FUSION_IMAGE_2D_ARRAY);
    fusion_buffer *m;
    expect_ok(fusion_buffer_create(session, "m", FUSION_I16, 64, 0, &m));
    expect_ok(fusion_image_write(a, NULL, in, 0));
    fusion_graph *graph = new_graph();
    const int16_t minus = -1;
    fusion_pixels from = {.image = a, .x = 1, .y = 1, .z = 2}, to = {.image = b, .x = 2, .y = 0, .z = 1};
    expect_ok(fusion_graph_add_fill_image(graph, NULL, b, NULL, &minus, NULL, 0, NULL));
    expect_ok(fusion_graph_add_copy_pixels_3d(graph, NULL, from, to, 3, 2, 2, NULL, 0, NULL));
    expect_ok(fusion_graph_add_copy_pixels_3d(
        graph, NULL, to, (fusion_pixels){.memory = {.buffer = m}, .row_pitch = 8, .slice_pitch = 24}, 3, 2, 2, NULL, 0,
        NULL));
    expect_ok(fusion_graph_add_copy_pixels_3d(
        graph, NULL, from, (fusion_pixels){.memory = {.host = host}, .row_pitch = 8}, 3, 2, 2, NULL, 0, NULL));
    expect_ok(fusion_graph_add_copy_pixels_3d(graph, NULL, (fusion_pixels){.memory = {.host = host}, .row_pitch = 8},
                                              (fusion_pixels){.image = a}, 3, 2, 2, NULL, 0, NULL));
    expect_ok(fusion_graph_add_fill_image(graph, NULL, a, &(fusion_region){4, 2, 1, 1, 0, D}, &minus, NULL, 0, NULL));
    fusion_exec *exec = finalize(graph, FUSION_ENABLE, "cpu");
    run(exec, NULL, 0);
    expect_ok(fusion_image_read(b, NULL, got, 0));
    int16_t *p;
    expect_ok(fusion_buffer_map(m, (void **)&p));
    for (int z = 0; z < D; z++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                bool inside = z >= 1 && z < 3 && y < 2 && x >= 2;
                assert_int_equal(got[z][y][x], inside ? in[z + 1][y + 1][x - 1] : -1);
                if (inside) assert_int_equal(p[(z - 1) * 12 + y * 4 + x - 2], in[z + 1][y + 1][x - 1]);
            }
    expect_ok(fusion_image_read(a, NULL, got, 0));
    for (int z = 0; z < D; z++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                bool box = z < 2 && y < 2 && x < 3;
                int want = box ? in[z + 2][y + 1][x + 1] : y == 2 && x == 4 ? -1 : in[z][y][x];
                assert_int_equal(got[z][y][x], want);
            }
    clear(exec, graph);
    fusion_buffer_destroy(m);
    fusion_image_destroy(a);
    fusion_image_destroy(b);
}

/* Inside one image boxes may lie side by side, but not overlap. */
static void test_boxes_inside(void **state)
{
    (void)state;
    static const struct {
        uint32_t x, y, z;
        fusion_status status;
    } cases[] = {{0, 0, 2, FUSION_SUCCESS}, {0, 0, 1, FUSION_INVALID}, {3, 0, 1, FUSION_SUCCESS},
                 {0, 1, 0, FUSION_SUCCESS}, {2, 0, 1, FUSION_INVALID}, {3, 1, 2, FUSION_SUCCESS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int16_t in[D][H][W], got[2][1][2];
        for (int k = 0; k < D * H * W; k++) (&in[0][0][0])[k] = (int16_t)k;
        fusion_image *a = make_image("a", FUSION_IMAGE_3D);
        expect_ok(fusion_image_write(a, NULL, in, 0));
        fusion_graph *graph = new_graph();
        fusion_exec *exec = NULL;
        fusion_pixels to = {.image = a, .x = cases[i].x, .y = cases[i].y, .z = cases[i].z};
        uint32_t width = cases[i].x == 2 ? 3 : 2;
        expect_ok(
            fusion_graph_add_copy_pixels_3d(graph, NULL, (fusion_pixels){.image = a}, to, width, 1, 2, NULL, 0, NULL));
        expect_error(fusion_graph_finalize(graph, NULL, &exec), cases[i].status);
        if (exec) {
            run(exec, NULL, 0);
            expect_ok(fusion_image_read(a, &(fusion_region){to.x, to.y, 2, 1, to.z, 2}, got, 0));
            for (int z = 0; z < 2; z++)
                for (int x = 0; x < 2; x++) assert_int_equal(got[z][0][x], in[z][0][x]);
        } else {
            expect_in_reason("overlaps itself");
        }
        clear(exec, graph);
        fusion_image_destroy(a);
    }
    fusion_image *a = make_image("a", FUSION_IMAGE_3D);
    fusion_graph *graph = new_graph();
    expect_error(fusion_graph_add_copy_pixels_3d(graph, NULL, (fusion_pixels){.image = a, .z = 3},
                                                 (fusion_pixels){.image = a}, 1, 1, 2, NULL, 0, NULL),
                 FUSION_INVALID);
    expect_in_reason("the image has 5 x 3 x 4");
    fusion_graph_destroy(graph);
    fusion_image_destroy(a);
}

/* ---- what is wrong ---- */

static void test_wrong_types(void **state)
{
    (void)state;
    fusion_image *deep = make_image("deep", FUSION_IMAGE_3D), *layers = make_image("layers", FUSION_IMAGE_2D_ARRAY);
    fusion_graph *graph = new_graph();
    fusion_exec *exec = NULL;
    add(graph, "twice_3d", 1, 1, 1, pair(deep, layers), 2);
    expect_error(fusion_graph_finalize(graph, NULL, &exec), FUSION_INVALID);
    expect_in_reason(
        "argument 1 (out) of kernel twice_3d is an image3d.write, but image layers is an image2d_array.write");
    fusion_graph_destroy(graph);
    graph = new_graph();
    add(graph, "beyond", 1, 1, 1, (fusion_arg[]){fusion_arg_image(deep, FUSION_ACCESS_WRITE)}, 1);
    exec = finalize(graph, FUSION_NONE, "reference");
    fusion_event event;
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_error(fusion_event_wait(session, event, 20000, NULL), FUSION_KERNEL_FAULT);
    expect_in_reason("of slice or layer 9 of an image of 5 x 3 x 4");
    clear(exec, graph);
    fusion_image_destroy(deep);
    fusion_image_destroy(layers);
}

static void test_limits(void **state)
{
    (void)state;
    fusion_device_info info = {FUSION_SIZED(fusion_device_info)};
    expect_ok(fusion_device_get(session, 0, &info));
    assert_int_equal(info.image_max_slices, 16384);
    assert_int_equal(info.image_max_buffer_size, 1 << 27);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descriptions), cmocka_unit_test(test_regions), cmocka_unit_test(test_types),
        cmocka_unit_test(test_sizes),        cmocka_unit_test(test_sampled), cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_aliases),      cmocka_unit_test(test_boxes),   cmocka_unit_test(test_boxes_inside),
        cmocka_unit_test(test_wrong_types),  cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests_name("image_types", tests, start, stop);
}
