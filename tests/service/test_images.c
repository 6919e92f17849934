/* Images and samplers through the whole service, on both devices. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { W = 37, H = 21 }; /* odd, so that work-groups and vectors are incomplete */

static const char *const devices[] = {"reference", "cpu"};

#define AT                                                                                                             \
    "  %gx = global_id x\n  %gy = global_id y\n  %x = trunc i32 %gx\n  %y = trunc i32 %gy\n  %at = vec i32x2 %x, %y\n"
#define LINEAR "  %w = global_size x\n  %row = mul i64 %gy, %w\n  %i = add i64 %row, %gx\n"

static const char kernels[] =
    "kernel @invert(%in: image2d.read, %out: image2d.write) {\n" AT
    "  %p = image_read f32x4 %in, %at\n  %q = fsub f32x4 1.0, %p\n  image_write f32x4 %out, %at, %q\n}\n"
    "kernel @halve(%m: image2d.read_write) {\n" AT
    "  %p = image_read f32x4 %m, %at\n  %q = fmul f32x4 %p, 0.5\n  image_write f32x4 %m, %at, %q\n}\n"
    "kernel @add_one(%in: image2d.read, %out: image2d.write) {\n" AT
    "  %p = image_read i32x4 %in, %at\n  %q = add i32x4 %p, 1\n  image_write i32x4 %out, %at, %q\n}\n"
    "kernel @red(%in: image2d.read, %o: ptr.global f32 write) {\n" AT LINEAR
    "  %p = image_read f32x4 %in, %at\n  %r = extract f32x4 %p, 0\n  store f32 %o[%i], %r\n}\n"
    "kernel @twice(%a: ptr.global f32 read, %o: ptr.global f32 write) {\n"
    "  %gx = global_id x\n  %gy = global_id y\n" LINEAR
    "  %v = load f32 %a[%i]\n  %d = fadd f32 %v, %v\n  store f32 %o[%i], %d\n}\n"
    "kernel @sample(%in: image2d.read, %o: ptr.global f32 write, %s: sampler, %step: f32) {\n" AT LINEAR
    "  %fx = stof f32 %x\n  %fy = stof f32 %y\n  %cx = fmul f32 %fx, %step\n  %cy = fmul f32 %fy, %step\n"
    "  %c = vec f32x2 %cx, %cy\n  %p = image_read f32x4 %in, %c, %s\n  %r = extract f32x4 %p, 0\n"
    "  store f32 %o[%i], %r\n}\n"
    "kernel @size(%in: image2d.read, %o: ptr.global i32 write) {\n"
    "  %w = image_width %in\n  store i32 %o, %w\n  %h = image_height %in\n  store i32 %o[1], %h\n"
    "  %t = image_channel_type %in\n  store i32 %o[2], %t\n  %r = image_channel_order %in\n  store i32 %o[3], %r\n}\n"
    /* Two bytes for each work-item of a sub-group, from two rows; byte coordinates. */
    "kernel @blocks(%in: image2d.read, %o: ptr.global i8x2 write, %x: i32, %y: i32) sub_group_size(8) {\n"
    "  %i = global_id x\n  %at = vec i32x2 %x, %y\n  %v = image_block_read i8x2 %in, %at\n"
    "  store i8x2 %o[%i], %v\n}\n"
    "kernel @stamp(%out: image2d.write, %x: i32, %y: i32) sub_group_size(8) {\n"
    "  %l = sub_group_local_id\n  %at = vec i32x2 %x, %y\n  %n = add i32 %l, 100\n"
    "  %m = add i32 %l, 200\n  %v = vec i32x2 %n, %m\n  %b = trunc i8x2 %v\n"
    "  image_block_write i8x2 %out, %at, %b\n}\n"
    "kernel @beyond(%out: image2d.write) {\n  image_write f32x4 %out, <1000, 0>, 1.0\n}\n"
    "kernel @number(%o: ptr.global i32 write, %n: i32) {\n  store i32 %o, %n\n}\n";

static struct service service;
static fusion_session *session;
static fusion_module *module;

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    session = service_connect(&service);
    expect_ok(fusion_module_load(session, "images", kernels, sizeof kernels - 1, &module));
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

static fusion_image *make_image(const char *name, uint32_t w, uint32_t h, fusion_channel_order order,
                                fusion_channel_type type)
{
    fusion_image *image;
    fusion_image_desc desc = {.width = w, .height = h, .channel_order = order, .channel_type = type};
    expect_ok(fusion_image_create(session, name, &desc, &image));
    return image;
}

/* RGBA of 8 bits with a gap behind each row. */
static fusion_image *make_photo(const char *name)
{
    fusion_image *image;
    fusion_image_desc desc = {
        FUSION_SIZED(fusion_image_desc), W, H, W * 4 + 12, FUSION_CHANNEL_RGBA, FUSION_UNORM_INT8};
    expect_ok(fusion_image_create(session, name, &desc, &image));
    return image;
}

static uint8_t pixel_value(uint32_t x, uint32_t y, uint32_t c)
{
    return (uint8_t)(x * 7 + y * 11 + c * 50);
}

static fusion_image *make_filled_photo(const char *name)
{
    fusion_image *image = make_photo(name);
    uint8_t bytes[H][W][4];
    for (uint32_t y = 0; y < H; y++)
        for (uint32_t x = 0; x < W; x++)
            for (uint32_t c = 0; c < 4; c++) bytes[y][x][c] = pixel_value(x, y, c);
    expect_ok(fusion_image_write(image, NULL, bytes, 0));
    return image;
}

static fusion_graph *new_graph(void)
{
    fusion_graph *graph;
    expect_ok(fusion_graph_create(session, &graph));
    return graph;
}

static void add(fusion_graph *graph, const char *kernel, uint64_t w, uint64_t h, const fusion_arg *args, uint32_t n)
{
    fusion_kernel_node node = {
        .module = module, .kernel = kernel, .dims = 2, .global = {w, h}, .n_args = n, .args = args};
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

static bool has_remark(const fusion_exec *exec, const char *code)
{
    const fusion_report *r = fusion_exec_report(exec);
    for (uint32_t i = 0; i < r->n_remarks; i++)
        if (strcmp(r->remarks[i].code, code) == 0) return true;
    return false;
}

static void clear(fusion_exec *exec, fusion_graph *graph)
{
    fusion_exec_destroy(exec);
    fusion_graph_destroy(graph);
}

/* ---- the objects ---- */

static void refuse(fusion_image_desc desc, fusion_status status, const char *reason)
{
    fusion_image *image = NULL;
    expect_error(fusion_image_create(session, "odd", &desc, &image), status);
    expect_in_reason("odd");
    expect_in_reason(reason);
    assert_null(image);
}

static void test_descriptions(void **state)
{
    (void)state;
    const fusion_channel_order rgba = FUSION_CHANNEL_RGBA;
    const fusion_channel_type unorm = FUSION_UNORM_INT8;
    refuse((fusion_image_desc){FUSION_SIZED(fusion_image_desc), 0, 4, 0, rgba, unorm}, FUSION_INVALID,
           "0 x 4 pixels; each side has 1 to 16384");
    refuse((fusion_image_desc){FUSION_SIZED(fusion_image_desc), 4, 16385, 0, rgba, unorm}, FUSION_INVALID, "4 x 16385");
    refuse((fusion_image_desc){FUSION_SIZED(fusion_image_desc), UINT32_MAX, 1, 0, rgba, unorm}, FUSION_INVALID,
           "4294967295 x 1");
    refuse((fusion_image_desc){FUSION_SIZED(fusion_image_desc), 10, 1, 39, rgba, unorm}, FUSION_INVALID,
           "a row of 10 pixels has 40");
    refuse((fusion_image_desc){FUSION_SIZED(fusion_image_desc), 10, 1, 42, rgba, unorm}, FUSION_INVALID,
           "42 bytes is no multiple of a pixel's 4");
    refuse((fusion_image_desc){FUSION_SIZED(fusion_image_desc), 10, 1, 2000000, rgba, unorm}, FUSION_INVALID,
           "at most 1048576");
    refuse((fusion_image_desc){FUSION_SIZED(fusion_image_desc), 4, 4, 0, 7, unorm}, FUSION_INVALID,
           "channel order 0x7 is none");
    refuse((fusion_image_desc){FUSION_SIZED(fusion_image_desc), 4, 4, 0, rgba, 7}, FUSION_INVALID,
           "channel type 0x7 is none");
    refuse((fusion_image_desc){FUSION_SIZED(fusion_image_desc), 4, 4, 0, FUSION_CHANNEL_BGRA, FUSION_FLOAT},
           FUSION_INVALID, "BGRA needs a channel type of 8 bits, not FLOAT");
    refuse((fusion_image_desc){FUSION_SIZED(fusion_image_desc), 4, 4, 0, FUSION_CHANNEL_DEPTH, unorm}, FUSION_INVALID,
           "DEPTH needs UNORM_INT16 or FLOAT");
    refuse((fusion_image_desc){FUSION_SIZED(fusion_image_desc), 4, 4, 0, FUSION_CHANNEL_SRGBA, FUSION_FLOAT},
           FUSION_INVALID, "sRGBA needs UNORM_INT8");
    refuse((fusion_image_desc){FUSION_SIZED(fusion_image_desc), 4, 4, 0, rgba, 0x10d4}, FUSION_INVALID,
           "UNORM_SHORT_565 needs the order RGB");
    refuse((fusion_image_desc){FUSION_SIZED(fusion_image_desc), 4, 4, 0, 0x10bf, unorm}, FUSION_FEATURE_NOT_SUPPORTED,
           "channel order sRGB is not supported");
    fusion_image *image = make_image(NULL, 5, 3, FUSION_CHANNEL_RG, FUSION_HALF_FLOAT);
    assert_int_equal(fusion_image_describe(image)->row_pitch, 20);
    assert_int_equal(fusion_image_pixel_bytes(image), 4);
    fusion_image_destroy(image);
    fusion_image_destroy(NULL);
}

static void test_regions(void **state)
{
    (void)state;
    fusion_image *image = make_filled_photo("photo");
    uint8_t *map, some[3][32];
    void *memory;
    expect_ok(fusion_image_map(image, &memory));
    map = memory;
    assert_int_equal(map[2 * (W * 4 + 12) + 5 * 4 + 1], pixel_value(5, 2, 1));
    memset(some, 0xee, sizeof some);
    expect_ok(fusion_image_read(image, &(fusion_region){4, 6, 5, 3}, some, sizeof some[0]));
    for (uint32_t y = 0; y < 3; y++) {
        for (uint32_t x = 0; x < 5; x++)
            for (uint32_t c = 0; c < 4; c++) assert_int_equal(some[y][x * 4 + c], pixel_value(4 + x, 6 + y, c));
        assert_int_equal(some[y][20], 0xee); /* nothing beyond the row */
    }
    const uint32_t one = 0x04030201;
    expect_ok(fusion_image_write(image, &(fusion_region){W - 1, H - 1, 1, 1}, &one, 0));
    assert_memory_equal(map + (H - 1) * (W * 4 + 12) + (W - 1) * 4, &one, 4);
    expect_error(fusion_image_read(image, &(fusion_region){W - 4, 0, 5, 1}, some, 0), FUSION_INVALID);
    expect_in_reason("a region of 5 x 1 pixels at (33, 0); the image has 37 x 21");
    expect_error(fusion_image_read(image, &(fusion_region){0, 0, 0, 1}, some, 0), FUSION_INVALID);
    expect_error(fusion_image_read(image, &(fusion_region){0, UINT32_MAX, 1, 2}, some, 0), FUSION_INVALID);
    expect_error(fusion_image_write(image, &(fusion_region){0, 0, 5, 1}, some, 19), FUSION_INVALID);
    expect_in_reason("a row of 5 pixels has 20");
    fusion_image_destroy(image);
}

/* ---- kernels ---- */

static void expect_photo(fusion_image *image, bool inverted)
{
    uint8_t bytes[H][W][4];
    expect_ok(fusion_image_read(image, NULL, bytes, 0));
    for (uint32_t y = 0; y < H; y++)
        for (uint32_t x = 0; x < W; x++)
            for (uint32_t c = 0; c < 4; c++) {
                int want = pixel_value(x, y, c);
                assert_int_equal(bytes[y][x][c], inverted ? 255 - want : want);
            }
}

static void test_pixels(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        fusion_image *in = make_filled_photo("in"), *out = make_photo("out");
        fusion_graph *graph = new_graph();
        add(graph, "invert", W, H,
            (fusion_arg[]){fusion_arg_image(in, FUSION_ACCESS_READ), fusion_arg_image(out, FUSION_ACCESS_WRITE)}, 2);
        fusion_exec *exec = finalize(graph, FUSION_NONE, devices[d]);
        run(exec, NULL, 0);
        expect_photo(out, true);
        expect_photo(in, false);
        assert_int_equal(fusion_exec_report(exec)->bytes_fused, 2 * H * (W * 4 + 12));
        clear(exec, graph);
        fusion_image_destroy(in);
        fusion_image_destroy(out);
    }
}

/* What one kernel writes another reads: in order, as one launch at one's own pixel, and never without memory. */
static void test_chain(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        fusion_image *in = make_filled_photo("in"), *mid = make_photo("mid"), *out = make_photo("out");
        fusion_graph *graph = new_graph();
        add(graph, "invert", W, H,
            (fusion_arg[]){fusion_arg_image(in, FUSION_ACCESS_READ), fusion_arg_image(mid, FUSION_ACCESS_WRITE)}, 2);
        add(graph, "invert", W, H,
            (fusion_arg[]){fusion_arg_image(mid, FUSION_ACCESS_READ), fusion_arg_image(out, FUSION_ACCESS_WRITE)}, 2);
        fusion_exec *exec = finalize(graph, FUSION_ENABLE, devices[d]);
        run(exec, NULL, 0);
        expect_photo(out, false);
        expect_photo(mid, true);
        assert_int_equal(fusion_exec_report(exec)->launches, 1);
        assert_int_equal(fusion_exec_report(exec)->n_internalized, 0);
        assert_false(has_remark(exec, "not_fused_image"));
        clear(exec, graph);
        fusion_image_destroy(in);
        fusion_image_destroy(mid);
        fusion_image_destroy(out);
    }
}

/* Kernels that only read an image share a launch with each other and with those on buffers. */
static void test_fused(void **state)
{
    (void)state;
    const unsigned internal = FUSION_ACCESS_SCOPE_WORK_ITEM | FUSION_INTERNAL_MEMORY | FUSION_NO_INIT;
    for (int d = 0; d < 2; d++) {
        fusion_image *in = make_filled_photo("in"), *out = make_photo("out");
        fusion_buffer *t, *o;
        expect_ok(fusion_buffer_create(session, "t", FUSION_F32, W * H, internal, &t));
        expect_ok(fusion_buffer_create(session, "o", FUSION_F32, W * H, 0, &o));
        fusion_graph *graph = new_graph();
        fusion_arg read = fusion_arg_image(in, FUSION_ACCESS_READ);
        add(graph, "red", W, H, (fusion_arg[]){read, fusion_arg_write(t)}, 2);
        add(graph, "twice", W, H, (fusion_arg[]){fusion_arg_read(t), fusion_arg_write(o)}, 2);
        add(graph, "invert", W, H, (fusion_arg[]){read, fusion_arg_image(out, FUSION_ACCESS_WRITE)}, 2);
        fusion_exec *exec = finalize(graph, FUSION_REQUIRE, devices[d]);
        run(exec, NULL, 0);
        assert_int_equal(fusion_exec_report(exec)->launches, 1);
        assert_int_equal(fusion_exec_report(exec)->n_internalized, 1);
        void *memory;
        expect_ok(fusion_buffer_map(o, &memory));
        for (uint32_t i = 0; i < W * H; i++)
            assert_true(((float *)memory)[i] == 2 * ((float)pixel_value(i % W, i / W, 0) / 255.0f));
        expect_photo(out, true);
        clear(exec, graph);
        fusion_buffer_destroy(t);
        fusion_buffer_destroy(o);
        fusion_image_destroy(in);
        fusion_image_destroy(out);
    }
}

static void test_formats(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        fusion_image *in = make_image("in", 3, 2, FUSION_CHANNEL_RG, FUSION_SIGNED_INT16);
        fusion_image *out = make_image("out", 3, 2, FUSION_CHANNEL_BGRA, FUSION_UNSIGNED_INT8);
        fusion_image *half = make_image("half", 3, 2, FUSION_CHANNEL_R, FUSION_HALF_FLOAT);
        const int16_t numbers[12] = {0, 1, 2, 3, -5, 300, 7, 8, 9, 254, 255, 12};
        const uint16_t halves[6] = {0x3c00, 0x4000, 0x4400, 0xc000, 0x0000, 0x7bff};
        uint8_t bytes[6][4];
        uint16_t got[6];
        expect_ok(fusion_image_write(in, NULL, numbers, 0));
        expect_ok(fusion_image_write(half, NULL, halves, 0));
        fusion_graph *graph = new_graph();
        add(graph, "add_one", 3, 2,
            (fusion_arg[]){fusion_arg_image(in, FUSION_ACCESS_READ), fusion_arg_image(out, FUSION_ACCESS_WRITE)}, 2);
        add(graph, "halve", 3, 2, (fusion_arg[]){fusion_arg_image(half, FUSION_ACCESS_READ_WRITE)}, 1);
        fusion_exec *exec = finalize(graph, FUSION_ENABLE, devices[d]);
        run(exec, NULL, 0);
        expect_ok(fusion_image_read(out, NULL, bytes, 0));
        for (int i = 0; i < 6; i++)
            for (int c = 0; c < 4; c++) { /* blue, green, red, alpha; saturated, -4 as unsigned too */
                int n = c == 3 ? 2 : c == 0 ? 1 : numbers[2 * i + (c == 1)] + 1;
                assert_int_equal(bytes[i][c], n < 0 || n > 255 ? 255 : n);
            }
        const uint16_t expected[6] = {0x3800, 0x3c00, 0x4000, 0xbc00, 0x0000, 0x77ff};
        expect_ok(fusion_image_read(half, NULL, got, 0));
        assert_memory_equal(got, expected, sizeof got);
        clear(exec, graph);
        fusion_image_destroy(in);
        fusion_image_destroy(out);
        fusion_image_destroy(half);
    }
}

static void test_size(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        fusion_image *in = make_photo("in");
        fusion_buffer *o = index_buffer(session, "o", 4, 0, 0);
        fusion_graph *graph = new_graph();
        add(graph, "size", 1, 1, (fusion_arg[]){fusion_arg_image(in, FUSION_ACCESS_READ), fusion_arg_write(o)}, 2);
        fusion_exec *exec = finalize(graph, FUSION_NONE, devices[d]);
        run(exec, NULL, 0);
        const int expected[4] = {W, H, FUSION_UNORM_INT8, FUSION_CHANNEL_RGBA};
        void *memory;
        expect_ok(fusion_buffer_map(o, &memory));
        assert_memory_equal(memory, expected, sizeof expected);
        clear(exec, graph);
        fusion_buffer_destroy(o);
        fusion_image_destroy(in);
    }
}

/* ---- samplers ---- */

static const float ramp[8] = {0, 10, 20, 30, 40, 50, 60, 70}; /* of 4 x 2 pixels */

static float pixel_at(int x, int y)
{
    x = x < 0 ? 0 : x > 3 ? 3 : x;
    y = y < 0 ? 0 : y > 1 ? 1 : y;
    return ramp[y * 4 + x];
}

/* What the OpenCL specification says of a linear filter that clamps to the edge, in pixels. */
static float linear_at(float cx, float cy)
{
    float u = cx - 0.5f, v = cy - 0.5f, a = u - floorf(u), b = v - floorf(v);
    int x = (int)floorf(u), y = (int)floorf(v);
    return (1 - a) * (1 - b) * pixel_at(x, y) + a * (1 - b) * pixel_at(x + 1, y) + (1 - a) * b * pixel_at(x, y + 1) +
           a * b * pixel_at(x + 1, y + 1);
}

static void test_samplers(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        fusion_image *in = make_image("in", 4, 2, FUSION_CHANNEL_R, FUSION_FLOAT);
        fusion_buffer *o;
        expect_ok(fusion_image_write(in, NULL, ramp, 0));
        expect_ok(fusion_buffer_create(session, "o", FUSION_F32, 20 * 8, 0, &o));
        fusion_graph *graph = new_graph();
        fusion_sampler linear = {false, FUSION_ADDRESS_CLAMP_TO_EDGE, FUSION_FILTER_LINEAR};
        add(graph, "sample", 20, 8,
            (fusion_arg[]){fusion_arg_image(in, FUSION_ACCESS_READ), fusion_arg_write(o), fusion_arg_sampler(linear),
                           fusion_arg_f32(0.25f)},
            4);
        fusion_exec *exec = finalize(graph, FUSION_NONE, devices[d]);
        run(exec, NULL, 0);
        void *memory;
        expect_ok(fusion_buffer_map(o, &memory));
        for (int y = 0; y < 8; y++)
            for (int x = 0; x < 20; x++) {
                float got = ((float *)memory)[y * 20 + x], want = linear_at((float)x * 0.25f, (float)y * 0.25f);
                if (fabsf(got - want) > 1e-4f)
                    fail_msg("%s: (%d, %d) is %g, not %g", devices[d], x, y, (double)got, (double)want);
            }
        /* Another sampler is another value, no other code: normalized, the nearest pixel, the image again and again. */
        uint64_t bits;
        long long compiles = service_counter(session, "compiles");
        expect_ok(fusion_sampler_value(&(fusion_sampler){true, FUSION_ADDRESS_REPEAT, FUSION_FILTER_NEAREST}, &bits));
        fusion_rebind rebind = {.node = 0, .arg = 2, .value = &bits, .value_bytes = sizeof bits};
        run(exec, &rebind, 1);
        expect_ok(fusion_buffer_map(o, &memory));
        for (int y = 0; y < 8; y++)
            for (int x = 0; x < 20; x++) assert_true(((float *)memory)[y * 20 + x] == pixel_at(x % 4, y % 4 / 2));
        assert_int_equal(service_counter(session, "compiles"), compiles);
        clear(exec, graph);
        fusion_buffer_destroy(o);
        fusion_image_destroy(in);
    }
    uint64_t bits;
    expect_error(fusion_sampler_value(&(fusion_sampler){false, FUSION_ADDRESS_REPEAT, FUSION_FILTER_NEAREST}, &bits),
                 FUSION_INVALID);
    expect_in_reason("needs normalized coordinates");
}

/* ---- blocks of sub-groups ---- */

static bool has_sub_groups(const char *device)
{
    uint32_t n;
    expect_ok(fusion_device_count(session, &n));
    for (uint32_t i = 0; i < n; i++) {
        fusion_device_info info = {FUSION_SIZED(fusion_device_info)};
        expect_ok(fusion_device_get(session, i, &info));
        if (strcmp(info.name, device) == 0) return strstr(info.aspects, "sub_groups") != NULL;
    }
    return false;
}

static fusion_exec *block_graph(const char *kernel, const char *device, const fusion_arg *args, uint32_t n)
{
    fusion_graph *graph = new_graph();
    fusion_kernel_node node = {
        .module = module, .kernel = kernel, .dims = 1, .global = {8}, .local = {8}, .n_args = n, .args = args};
    expect_ok(fusion_graph_add_kernel(graph, &node, NULL));
    fusion_exec *exec = finalize(graph, FUSION_NONE, device);
    fusion_graph_destroy(graph);
    return exec;
}

static int clamp(int x, int most)
{
    return x < 0 ? 0 : x > most ? most : x;
}

/* Reads inside and across the edges, whose bytes are read again; writes inside, and dropped outside. */
static void test_blocks(void **state)
{
    (void)state;
    static const int places[][2] = {{3, 1}, {0, 0}, {-4, 2}, {20, 3}, {12, -1}, {100, 100}};
    enum { WIDTH = 24, HEIGHT = 5 };
    for (int d = 0; d < 2; d++) {
        if (!has_sub_groups(devices[d])) continue;
        fusion_image *image = make_image("bytes", WIDTH, HEIGHT, FUSION_CHANNEL_R, FUSION_UNSIGNED_INT8);
        fusion_buffer *o;
        uint8_t bytes[HEIGHT][WIDTH];
        for (int i = 0; i < WIDTH * HEIGHT; i++) bytes[i / WIDTH][i % WIDTH] = (uint8_t)i;
        expect_ok(fusion_image_write(image, NULL, bytes, 0));
        expect_ok(fusion_buffer_create(session, "o", FUSION_BYTES, 16, 0, &o));
        fusion_exec *exec = block_graph("blocks", devices[d],
                                        (fusion_arg[]){fusion_arg_image(image, FUSION_ACCESS_READ), fusion_arg_write(o),
                                                       fusion_arg_i32(0), fusion_arg_i32(0)},
                                        4);
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            void *memory;
            fusion_rebind rebind[] = {{.node = 0, .arg = 2, .value = &places[i][0], .value_bytes = 4},
                                      {.node = 0, .arg = 3, .value = &places[i][1], .value_bytes = 4}};
            run(exec, rebind, 2);
            expect_ok(fusion_buffer_map(o, &memory));
            for (int item = 0; item < 8; item++)
                for (int row = 0; row < 2; row++) {
                    int x = clamp(places[i][0] + item, WIDTH - 1), y = clamp(places[i][1] + row, HEIGHT - 1);
                    assert_int_equal(((uint8_t *)memory)[item * 2 + row], bytes[y][x]);
                }
        }
        fusion_exec_destroy(exec);
        exec = block_graph("stamp", devices[d],
                           (fusion_arg[]){fusion_arg_image(image, FUSION_ACCESS_WRITE), fusion_arg_i32(20),
                                          fusion_arg_i32(HEIGHT - 1)},
                           3);
        run(exec, NULL, 0);
        for (int x = 0; x < 4; x++) bytes[HEIGHT - 1][20 + x] = (uint8_t)(100 + x);
        uint8_t got[HEIGHT][WIDTH];
        expect_ok(fusion_image_read(image, NULL, got, 0));
        assert_memory_equal(got, bytes, sizeof got);
        fusion_exec_destroy(exec);
        fusion_buffer_destroy(o);
        fusion_image_destroy(image);
    }
}

/* ---- copies and fills ---- */

static void test_copies(void **state)
{
    (void)state;
    fusion_image *photo = make_filled_photo("photo"), *other = make_photo("other");
    fusion_buffer *b;
    uint8_t bytes[H][W][4];
    void *memory;
    const uint8_t white[4] = {255, 254, 253, 252};
    expect_ok(fusion_buffer_create(session, "b", FUSION_BYTES, 16 + 4 * 64, 0, &b));
    fusion_graph *graph = new_graph();
    /* All of other is filled, then gets a rectangle of the photo, which then goes on to the buffer: 7 x 4 pixels. */
    expect_ok(fusion_graph_add_fill_image(graph, NULL, other, NULL, white, NULL, 0, NULL));
    expect_ok(fusion_graph_add_copy_pixels(graph, NULL, (fusion_pixels){.image = photo, .x = 10, .y = 2},
                                           (fusion_pixels){.image = other, .x = 20, .y = 11}, 7, 4, NULL, 0, NULL));
    expect_ok(fusion_graph_add_copy_pixels(graph, NULL, (fusion_pixels){.image = other, .x = 20, .y = 11},
                                           (fusion_pixels){.memory = {.buffer = b, .offset = 16}, .row_pitch = 64}, 7,
                                           4, NULL, 0, NULL));
    /* And from the buffer to the photo's corner. */
    expect_ok(fusion_graph_add_copy_pixels(
        graph, NULL, (fusion_pixels){.memory = {.buffer = b, .offset = 16}, .row_pitch = 64},
        (fusion_pixels){.image = photo, .x = W - 7, .y = H - 4}, 7, 4, NULL, 0, NULL));
    fusion_exec *exec = finalize(graph, FUSION_ENABLE, "reference");
    assert_int_equal(fusion_exec_report(exec)->bytes_fused, H * W * 4 + 3 * 2 * 7 * 4 * 4);
    run(exec, NULL, 0);
    expect_ok(fusion_buffer_map(b, &memory));
    for (uint32_t y = 0; y < 4; y++)
        for (uint32_t x = 0; x < 16; x++)
            for (uint32_t c = 0; c < 4 && y * 64 + x * 4 + c < 4 * 64 - 16; c++)
                assert_int_equal(((uint8_t *)memory)[16 + y * 64 + x * 4 + c],
                                 x < 7 ? pixel_value(10 + x, 2 + y, c) : 0);
    expect_ok(fusion_image_read(other, NULL, bytes, 0));
    for (uint32_t y = 0; y < H; y++)
        for (uint32_t x = 0; x < W; x++) {
            bool inside = x >= 20 && x < 27 && y >= 11 && y < 15;
            for (uint32_t c = 0; c < 4; c++)
                assert_int_equal(bytes[y][x][c], inside ? pixel_value(x - 10, y - 9, c) : white[c]);
        }
    expect_ok(fusion_image_read(photo, NULL, bytes, 0));
    for (uint32_t y = 0; y < H; y++)
        for (uint32_t x = 0; x < W; x++) {
            bool inside = x >= W - 7 && y >= H - 4;
            assert_int_equal(bytes[y][x][0], inside ? pixel_value(x - W + 17, y - H + 6, 0) : pixel_value(x, y, 0));
        }
    clear(exec, graph);
    fusion_buffer_destroy(b);
    fusion_image_destroy(photo);
    fusion_image_destroy(other);
}

/* Inside one image rectangles may lie side by side, but not overlap. */
static void test_copies_inside(void **state)
{
    (void)state;
    static const struct {
        uint32_t x, y;
        fusion_status status;
    } cases[] = {{8, 0, FUSION_SUCCESS}, {7, 0, FUSION_INVALID}, {0, 6, FUSION_SUCCESS},
                 {3, 5, FUSION_INVALID}, {0, 0, FUSION_INVALID}, {29, 15, FUSION_SUCCESS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fusion_image *photo = make_filled_photo("photo");
        fusion_graph *graph = new_graph();
        fusion_exec *exec = NULL;
        expect_ok(fusion_graph_add_copy_pixels(graph, NULL, (fusion_pixels){.image = photo},
                                               (fusion_pixels){.image = photo, .x = cases[i].x, .y = cases[i].y}, 8, 6,
                                               NULL, 0, NULL));
        expect_error(fusion_graph_finalize(graph, NULL, &exec), cases[i].status);
        if (exec) {
            uint8_t bytes[6][8][4];
            run(exec, NULL, 0);
            expect_ok(fusion_image_read(photo, &(fusion_region){cases[i].x, cases[i].y, 8, 6}, bytes, 0));
            for (uint32_t y = 0; y < 6; y++)
                for (uint32_t x = 0; x < 8; x++) assert_int_equal(bytes[y][x][2], pixel_value(x, y, 2));
        } else {
            expect_in_reason("overlaps itself");
        }
        clear(exec, graph);
        fusion_image_destroy(photo);
    }
}

static void test_wrong_copies(void **state)
{
    (void)state;
    fusion_image *photo = make_photo("photo"), *grey = make_image("grey", W, H, FUSION_CHANNEL_R, FUSION_UNORM_INT8);
    fusion_buffer *b = index_buffer(session, "b", 10, 0, 0);
    fusion_graph *graph = new_graph();
    fusion_pixels p = {.image = photo}, g = {.image = grey}, m = {.memory = {.buffer = b}};
    expect_error(fusion_graph_add_copy_pixels(graph, NULL, p, g, 2, 2, NULL, 0, NULL), FUSION_INVALID);
    expect_in_reason("images photo and grey have different formats");
    expect_error(fusion_graph_add_copy_pixels(graph, NULL, m, m, 2, 2, NULL, 0, NULL), FUSION_INVALID);
    expect_error(fusion_graph_add_copy_pixels(graph, NULL, p, m, 0, 2, NULL, 0, NULL), FUSION_INVALID);
    expect_error(fusion_graph_add_copy_pixels(graph, NULL, p, m, 4, 3, NULL, 0, NULL), FUSION_INVALID);
    expect_in_reason("48 bytes from offset 0 reach beyond its 40 bytes");
    expect_error(fusion_graph_add_copy_pixels(graph, NULL, p, m, W + 1, 1, NULL, 0, NULL), FUSION_INVALID);
    m.row_pitch = UINT64_MAX;
    expect_error(fusion_graph_add_copy_pixels(graph, NULL, p, m, 1, 3, NULL, 0, NULL), FUSION_INVALID);
    m.row_pitch = 3;
    expect_error(fusion_graph_add_copy_pixels(graph, NULL, p, m, 1, 3, NULL, 0, NULL), FUSION_INVALID);
    const uint32_t pixel = 0;
    expect_error(fusion_graph_add_fill_image(graph, NULL, photo, &(fusion_region){0, H, 1, 1}, &pixel, NULL, 0, NULL),
                 FUSION_INVALID);
    expect_error(fusion_graph_add_fill_image(graph, NULL, photo, NULL, NULL, NULL, 0, NULL), FUSION_INVALID);
    fusion_graph_destroy(graph);
    fusion_buffer_destroy(b);
    fusion_image_destroy(photo);
    fusion_image_destroy(grey);
}

/* Nodes of copies, fills and kernels on one image run in the order in which they were recorded. */
static void test_order(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        const uint8_t grey[4] = {100, 100, 100, 100};
        uint8_t bytes[H][W][4];
        fusion_image *in = make_photo("in"), *out = make_photo("out");
        fusion_queue *queue;
        fusion_graph *graph = new_graph();
        expect_ok(fusion_queue_create(session, &queue));
        expect_ok(fusion_graph_begin_recording(graph, queue));
        expect_ok(fusion_queue_fill_image(queue, in, NULL, grey, NULL));
        add(graph, "invert", W, H,
            (fusion_arg[]){fusion_arg_image(in, FUSION_ACCESS_READ), fusion_arg_image(out, FUSION_ACCESS_READ_WRITE)},
            2);
        expect_ok(fusion_queue_fill_image(queue, in, &(fusion_region){0, 0, W, 1}, (uint8_t[]){1, 2, 3, 4}, NULL));
        expect_ok(
            fusion_queue_copy_pixels(queue, (fusion_pixels){.image = in}, (fusion_pixels){.image = out}, W, 1, NULL));
        expect_ok(fusion_graph_end_recording(graph));
        fusion_exec *exec = finalize(graph, FUSION_ENABLE, devices[d]);
        run(exec, NULL, 0);
        expect_ok(fusion_image_read(out, NULL, bytes, 0));
        for (uint32_t y = 0; y < H; y++)
            for (uint32_t x = 0; x < W; x++) assert_int_equal(bytes[y][x][1], y ? 155 : 2);
        /* At once, too. */
        expect_ok(fusion_queue_fill_image(queue, out, NULL, grey, NULL));
        expect_ok(fusion_queue_wait(queue));
        expect_ok(fusion_image_read(out, NULL, bytes, 0));
        assert_int_equal(bytes[H - 1][W - 1][3], 100);
        fusion_queue_destroy(queue);
        clear(exec, graph);
        fusion_image_destroy(in);
        fusion_image_destroy(out);
    }
}

/* ---- with functions of the client, and graphs as nodes ---- */

static void look(void *data)
{
    uint8_t pixel[4];
    fusion_image **image = data;
    if (*image && fusion_image_read(*image, &(fusion_region){3, 4, 1, 1}, pixel, 0) == FUSION_SUCCESS &&
        pixel[1] == 255 - pixel_value(3, 4, 1))
        *image = NULL; /* seen */
}

/* The photo comes from the client's memory, goes through a graph, is looked at, and goes back. */
static void test_host_and_graphs(void **state)
{
    (void)state;
    for (int d = 0; d < 4; d++) {
        uint8_t in[H][W][4], out[H][W + 2][4];
        for (uint32_t i = 0; i < W * H * 4; i++)
            in[i / 4 / W][i / 4 % W][i % 4] = pixel_value(i / 4 % W, i / 4 / W, i % 4);
        memset(out, 7, sizeof out);
        fusion_image *a = make_photo("a"), *b = make_photo("b"), *seen = b; /* look() clears it */
        fusion_graph *graph = new_graph(), *inner = new_graph();
        add(inner, "invert", W, H,
            (fusion_arg[]){fusion_arg_image(a, FUSION_ACCESS_READ), fusion_arg_image(b, FUSION_ACCESS_WRITE)}, 2);
        fusion_arg read = fusion_arg_image(b, FUSION_ACCESS_READ);
        expect_ok(fusion_graph_add_copy_pixels(graph, NULL, (fusion_pixels){.memory = {.host = in}},
                                               (fusion_pixels){.image = a}, W, H, NULL, 0, NULL));
        expect_ok(fusion_graph_add_graph(graph, NULL, inner, NULL, NULL, 0, NULL));
        expect_ok(fusion_graph_add_host_task(graph, NULL, &read, 1, look, &seen, NULL, 0, NULL));
        expect_ok(fusion_graph_add_copy_pixels(graph, NULL, (fusion_pixels){.image = b, .x = 1, .y = 1},
                                               (fusion_pixels){.memory = {.host = out}, .row_pitch = sizeof out[0]},
                                               W - 1, H - 1, NULL, 0, NULL));
        fusion_exec *exec = finalize(graph, d < 2 ? FUSION_NONE : FUSION_ENABLE, devices[d % 2]);
        run(exec, NULL, 0);
        assert_null(seen);
        for (uint32_t y = 0; y < H; y++)
            for (uint32_t x = 0; x < W + 2; x++) {
                bool inside = y < H - 1 && x < W - 1;
                assert_int_equal(out[y][x][2], inside ? 255 - pixel_value(x + 1, y + 1, 2) : 7);
            }
        /* Another image in place of b: the inner graph writes it, and the copy reads it. */
        fusion_image *c = make_photo("c");
        memset(out, 7, sizeof out);
        run(exec, &(fusion_rebind){.from_image = b, .to_image = c}, 1);
        expect_photo(c, true);
        assert_int_equal(out[2][3][0], 255 - pixel_value(4, 3, 0));
        clear(exec, graph);
        fusion_graph_destroy(inner);
        fusion_image_destroy(a);
        fusion_image_destroy(b);
        fusion_image_destroy(c);
    }
}

/* ---- rebinding ---- */

static void test_rebind(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        fusion_image *in = make_filled_photo("in"), *out = make_photo("out"), *new = make_photo("new");
        fusion_image *tight = make_image("tight", W, H, FUSION_CHANNEL_RGBA, FUSION_UNORM_INT8);
        fusion_graph *graph = new_graph();
        add(graph, "invert", W, H,
            (fusion_arg[]){fusion_arg_image(in, FUSION_ACCESS_READ), fusion_arg_image(out, FUSION_ACCESS_WRITE)}, 2);
        fusion_exec *exec = finalize(graph, FUSION_NONE, devices[d]);
        run(exec, &(fusion_rebind){.from_image = out, .to_image = new}, 1);
        expect_photo(new, true);
        expect_error(fusion_exec_submit(exec, &(fusion_rebind){.from_image = out, .to_image = tight}, 1, NULL),
                     FUSION_INVALID);
        expect_in_reason("image tight has another size, row pitch or format");
        expect_error(fusion_exec_submit(exec, &(fusion_rebind){.from_image = new, .to_image = out}, 1, NULL),
                     FUSION_NOT_FOUND);
        expect_error(fusion_exec_submit(exec, &(fusion_rebind){.from_image = out}, 1, NULL), FUSION_INVALID);
        fusion_event event;
        expect_ok(fusion_exec_submit(exec, &(fusion_rebind){.from_image = out, .to_image = in}, 1, &event));
        expect_error(fusion_event_wait(session, event, 20000, NULL), FUSION_INVALID);
        expect_in_reason("overlap in memory now");
        clear(exec, graph);
        fusion_image_destroy(in);
        fusion_image_destroy(out);
        fusion_image_destroy(new);
        fusion_image_destroy(tight);
    }
}

/* ---- what is wrong ---- */

static void expect_wrong(const char *kernel, const fusion_arg *args, uint32_t n, const char *reason)
{
    fusion_graph *graph = new_graph();
    fusion_exec *exec = NULL;
    fusion_kernel_node node = {
        .module = module, .kernel = kernel, .dims = 2, .global = {4, 4}, .n_args = n, .args = args};
    fusion_status status = fusion_graph_add_kernel(graph, &node, NULL);
    if (status == FUSION_SUCCESS)
        status = fusion_graph_finalize(graph, &(fusion_finalize_options){.device = "reference"}, &exec);
    expect_error(status, FUSION_INVALID);
    expect_in_reason(kernel);
    expect_in_reason(reason);
    fusion_graph_destroy(graph);
}

static void test_wrong_arguments(void **state)
{
    (void)state;
    fusion_image *photo = make_photo("photo");
    fusion_buffer *b = index_buffer(session, "b", 16, 0, 0), *f;
    expect_ok(fusion_buffer_create(session, "f", FUSION_F32, 16, 0, &f));
    fusion_arg read = fusion_arg_image(photo, FUSION_ACCESS_READ), write = fusion_arg_image(photo, FUSION_ACCESS_WRITE);
    fusion_arg sampler = fusion_arg_sampler((fusion_sampler){false, FUSION_ADDRESS_CLAMP, FUSION_FILTER_NEAREST});
    expect_wrong("invert", (fusion_arg[]){fusion_arg_read(b), write}, 2,
                 "it is of type image2d.read and takes an image, but a buffer was given");
    expect_wrong("number", (fusion_arg[]){write, fusion_arg_i32(1)}, 2,
                 "takes a buffer or USM pointer, but an image was given");
    expect_wrong("number", (fusion_arg[]){fusion_arg_write(b), read}, 2, "takes a value, but an image was given");
    expect_wrong("number", (fusion_arg[]){fusion_arg_write(b), sampler}, 2, "takes a value, but a sampler was given");
    expect_wrong("sample", (fusion_arg[]){read, fusion_arg_write(f), fusion_arg_write(f), fusion_arg_f32(1)}, 4,
                 "takes a sampler, but a buffer was given");
    expect_wrong("invert", (fusion_arg[]){write, fusion_arg_image(photo, FUSION_ACCESS_READ_WRITE)}, 2,
                 "argument 0 (image photo) was declared to be written only, but parameter in of kernel invert is an "
                 "image that is read");
    expect_wrong("halve", (fusion_arg[]){read}, 1, "declared to be read only");
    expect_wrong("invert", (fusion_arg[]){read, write}, 2,
                 "arguments 0 and 1 are both image photo, and one of them is written");
    fusion_graph *graph = new_graph();
    fusion_kernel_node node = {.module = module,
                               .kernel = "halve",
                               .dims = 1,
                               .global = {1},
                               .n_args = 1,
                               .args = &(fusion_arg){FUSION_ARG_IMAGE}};
    expect_error(fusion_graph_add_kernel(graph, &node, NULL), FUSION_INVALID);
    expect_in_reason("the image is NULL");
    fusion_graph_destroy(graph);
    fusion_buffer_destroy(b);
    fusion_buffer_destroy(f);
    fusion_image_destroy(photo);
}

/* The checking device says who leaves the image; compiled code leaves nothing but the pixels alone. */
static void test_beyond(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        fusion_image *photo = make_filled_photo("photo");
        fusion_event event;
        fusion_graph *graph = new_graph();
        add(graph, "beyond", 1, 1, (fusion_arg[]){fusion_arg_image(photo, FUSION_ACCESS_WRITE)}, 1);
        fusion_exec *exec = finalize(graph, FUSION_NONE, devices[d]);
        expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
        expect_error(fusion_event_wait(session, event, 20000, NULL), d ? FUSION_SUCCESS : FUSION_KERNEL_FAULT);
        if (!d) expect_in_reason("image_write at (1000, 0) of an image of 37 x 21");
        expect_photo(photo, false);
        clear(exec, graph);
        fusion_image_destroy(photo);
    }
}

static void test_limits(void **state)
{
    (void)state;
    uint32_t n;
    expect_ok(fusion_device_count(session, &n));
    for (uint32_t i = 0; i < n; i++) {
        fusion_device_info info = {FUSION_SIZED(fusion_device_info)};
        expect_ok(fusion_device_get(session, i, &info));
        if (strcmp(info.name, "cpu") != 0 && strcmp(info.name, "reference") != 0) continue;
        assert_non_null(strstr(info.aspects, "image"));
        assert_int_equal(info.image_max_width, 16384);
        assert_int_equal(info.image_max_height, 16384);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descriptions), cmocka_unit_test(test_regions),
        cmocka_unit_test(test_pixels),       cmocka_unit_test(test_chain),
        cmocka_unit_test(test_fused),        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_size),         cmocka_unit_test(test_samplers),
        cmocka_unit_test(test_blocks),       cmocka_unit_test(test_host_and_graphs),
        cmocka_unit_test(test_copies),       cmocka_unit_test(test_copies_inside),
        cmocka_unit_test(test_wrong_copies), cmocka_unit_test(test_order),
        cmocka_unit_test(test_rebind),       cmocka_unit_test(test_wrong_arguments),
        cmocka_unit_test(test_beyond),       cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests_name("images", tests, start, stop);
}
