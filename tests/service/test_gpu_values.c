/*
 * test_gpu_values DEVICE: what a device computes beside what the reference interpreter does, bit for bit: sums of
 * work-groups of many sizes, whose order shows in each, images of sRGB colours, and kernels that would keep too much
 * together.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { WAIT_MS = 60000, MOST = 1024, COLOURS = 256, TRIES = COLOURS * 8 };

static struct service service;
static fusion_session *session;
static const char *gpu;
static bool absent;

static int start(void **state)
{
    char name[64], reason[256];
    (void)state;
    service_start(&service, NULL);
    expect_ok(fusion_connect(service.socket, &(fusion_connect_options){.time_limit_ms = WAIT_MS}, &session));
    for (uint32_t i = 0; fusion_device_absent(session, i, name, reason) == FUSION_SUCCESS; i++)
        if (strcmp(name, gpu) == 0) {
            printf("# skipped: no device %s: %s\n", gpu, reason);
            absent = true;
        }
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    return 0;
}

static fusion_module *load(const char *name, const char *text)
{
    fusion_module *m;
    expect_ok(fusion_module_load(session, name, text, strlen(text), &m));
    return m;
}

static void run(fusion_graph *graph, const char *device)
{
    fusion_exec *exec;
    fusion_event event;
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.device = device}, &exec));
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(session, event, WAIT_MS, NULL));
    fusion_exec_destroy(exec);
}

static void add(fusion_graph *graph, fusion_module *m, const char *kernel, uint64_t global, uint64_t local,
                const fusion_arg *args, uint32_t n)
{
    const fusion_kernel_node node = {
        .module = m, .kernel = kernel, .dims = 1, .global = {global}, .local = {local}, .args = args, .n_args = n};
    expect_ok(fusion_graph_add_kernel(graph, &node, NULL));
}

/* ---- sums of work-groups ---- */

#define STORE(type, first, second)                                                                                     \
    "  %at = mul i64 %i, 2\n  %q = elem " type " %o, %at\n  store " type " %q, " first "\n  store " type               \
    " %q[1], " second "\n"

/* Of three work-groups; all work-items get what comes out. A second sum follows the first one at once. */
static const char sums[] =
    "kernel @sum(%x: ptr.global f32 read, %o: ptr.global f32 write) {\n"
    "  %i = global_id x\n  %v = load f32 %x[%i]\n  %s = group_reduce f32 %v, add\n  %d = fdiv f32 %v, %s\n"
    "  %t = group_reduce f32 %d, add\n  " STORE(
        "f32", "%s",
        "%t") "}\n"
              "kernel @largest(%x: ptr.global f32 read, %o: ptr.global f32 write) {\n"
              "  %i = global_id x\n  %v = load f32 %x[%i]\n  %m = group_reduce f32 %v, smax\n  %big = fogt f32 %v, "
              "0.999\n"
              "  %any = group_any %big\n  %a = select f32 %any, 1.0, 0.0\n  " STORE(
                  "f32", "%m",
                  "%a") "}\n"
                        "kernel @integers(%x: ptr.global f32 read, %o: ptr.global i32 write) {\n"
                        "  %i = global_id x\n  %v = load f32 %x[%i]\n  %b = bitcast i32 %v\n  %p = group_reduce i32 "
                        "%b, xor\n"
                        "  %c = trunc i8 %b\n  %s = group_reduce i8 %c, smin\n  %w = sext i32 %s\n  " STORE(
                            "i32", "%p", "%w") "}\n"
                                               "kernel @wide(%x: ptr.global f32 read, %o: ptr.global f64 write) {\n"
                                               "  %i = global_id x\n  %v = load f32 %x[%i]\n  %e = fpconv f64 %v\n  %r "
                                               "= group_reduce f64 %e, add\n"
                                               "  store f64 %o[%i], %r\n}\n";

static void compare_sums(fusion_module *m, const char *kernel, fusion_type type, uint64_t size)
{
    static uint8_t want[3 * MOST * 8];
    uint64_t n = 3 * size;
    fusion_buffer *x, *o;
    fusion_graph *graph;
    float *in;
    void *out;
    expect_ok(fusion_buffer_create(session, "x", FUSION_F32, n, 0, &x));
    expect_ok(fusion_buffer_create(session, "o", type, type == FUSION_F64 ? n : 2 * n, 0, &o));
    expect_ok(fusion_buffer_map(x, (void **)&in));
    for (uint64_t k = 0; k < n; k++) in[k] = (float)((k * 2654435761u + 12345) & 0xfffff) / 1048576.0f;
    expect_ok(fusion_graph_create(session, &graph));
    add(graph, m, kernel, n, size, (const fusion_arg[]){fusion_arg_read(x), fusion_arg_write(o)}, 2);
    expect_ok(fusion_buffer_map(o, &out));
    run(graph, "reference");
    memcpy(want, out, n * 8);
    memset(out, 0, n * 8);
    run(graph, gpu);
    if (memcmp(want, out, n * 8) != 0) fail_msg("%s in work-groups of %u", kernel, (unsigned)size);
    fusion_graph_destroy(graph);
    fusion_buffer_destroy(x);
    fusion_buffer_destroy(o);
}

static void test_sums(void **state)
{
    (void)state;
    static const uint64_t all[] = {1, 2, 3, 5, 8, 9, 16, 17, 33, 64, 100, 256, 1000}, some[] = {3, 33, 256};
    static const struct {
        const char *kernel;
        fusion_type type;
    } others[] = {{"largest", FUSION_F32}, {"integers", FUSION_I32}, {"wide", FUSION_F64}};
    if (absent) skip();
    fusion_module *m = load("sums.fk", sums);
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) compare_sums(m, "sum", FUSION_F32, all[i]);
    for (unsigned i = 0; i < sizeof some / sizeof *some; i++)
        for (unsigned k = 0; k < 3; k++) compare_sums(m, others[k].kernel, others[k].type, some[i]);
    fusion_module_destroy(m);
}

/* ---- sRGB ---- */

/* Colours are read, sampled half way between two, and written; alpha is linear. */
static const char colours[] =
    "kernel @read(%in: image2d.read, %o: ptr.global f32x4 write) {\n"
    "  %i = global_id x\n  %x = trunc i32 %i\n  %at = vec i32x2 %x, 0\n  %t = image_read f32x4 %in, %at\n"
    "  store f32x4 %o[%i], %t\n  %fx = utof f32 %x\n  %h = vec f32x2 %fx, 0.5\n  %s = make_sampler 34\n"
    "  %u = image_read f32x4 %in, %h, %s\n  %n = global_size x\n  %j = add i64 %i, %n\n  store f32x4 %o[%j], %u\n}\n"
    "kernel @write(%v: ptr.global f32 read, %out: image2d.write) {\n"
    "  %i = global_id x\n  %x = trunc i32 %i\n  %at = vec i32x2 %x, 0\n  %a = load f32 %v[%i]\n"
    "  %t = vec f32x4 %a, %a, %a, %a\n  image_write f32x4 %out, %at, %t\n}\n";

static fusion_image *make_image(fusion_channel_order order, uint32_t width)
{
    fusion_image *image;
    const fusion_image_desc desc = {
        .width = width, .height = 1, .channel_order = order, .channel_type = FUSION_UNORM_INT8};
    expect_ok(fusion_image_create(session, "colours", &desc, &image));
    return image;
}

static void test_reading(void **state)
{
    (void)state;
    static float want[2 * COLOURS * 4];
    if (absent) skip();
    fusion_module *m = load("colours.fk", colours);
    for (int bgra = 0; bgra < 2; bgra++) {
        fusion_image *image = make_image(bgra ? FUSION_CHANNEL_SBGRA : FUSION_CHANNEL_SRGBA, COLOURS);
        fusion_buffer *o;
        fusion_graph *graph;
        uint8_t *texels;
        void *out;
        expect_ok(fusion_image_map(image, (void **)&texels));
        for (int i = 0; i < COLOURS * 4; i++) texels[i] = (uint8_t)(i / 4 + 85 * (i % 4));
        expect_ok(fusion_buffer_create(session, "o", FUSION_F32, 2 * COLOURS * 4, 0, &o));
        expect_ok(fusion_buffer_map(o, &out));
        expect_ok(fusion_graph_create(session, &graph));
        add(graph, m, "read", COLOURS, 0,
            (const fusion_arg[]){fusion_arg_image(image, FUSION_ACCESS_READ), fusion_arg_write(o)}, 2);
        run(graph, "reference");
        memcpy(want, out, sizeof want);
        memset(out, 0, sizeof want);
        run(graph, gpu);
        assert_memory_equal(want, out, sizeof want);
        assert_true(bgra || (want[4 * 128] > 0.2f && want[4 * 128] < 0.22f)); /* not linear */
        fusion_graph_destroy(graph);
    }
}

/* Floats on both sides of each step from one byte to the next, and some that are no colours. */
static void test_writing(void **state)
{
    (void)state;
    static const float odd[] = {-1, -0.0f, 1.5f, 0x1p-149f, 1e30f, -1e-30f};
    static uint8_t want[TRIES * 4];
    if (absent) skip();
    fusion_module *m = load("colours.fk", colours);
    fusion_image *image = make_image(FUSION_CHANNEL_SRGBA, TRIES);
    fusion_buffer *v;
    fusion_graph *graph;
    float *in;
    void *texels;
    expect_ok(fusion_buffer_create(session, "v", FUSION_F32, TRIES, 0, &v));
    expect_ok(fusion_buffer_map(v, (void **)&in));
    expect_ok(fusion_image_map(image, &texels));
    expect_ok(fusion_graph_create(session, &graph));
    add(graph, m, "write", TRIES, 0,
        (const fusion_arg[]){fusion_arg_read(v), fusion_arg_image(image, FUSION_ACCESS_WRITE)}, 2);
    uint32_t low[COLOURS], high[COLOURS];
    for (int k = 0; k < COLOURS; k++) low[k] = 0, high[k] = 0x3f800000;
    for (int round = 0; round < 31; round++) { /* the interpreter says where the steps are */
        for (int k = 0; k < TRIES; k++) {
            uint32_t middle = low[k % COLOURS] + (high[k % COLOURS] - low[k % COLOURS]) / 2;
            memcpy(&in[k], &middle, 4);
        }
        run(graph, "reference");
        for (int k = 0; k < COLOURS; k++) {
            uint32_t middle = low[k] + (high[k] - low[k]) / 2;
            if (low[k] == high[k]) continue;
            if (((const uint8_t *)texels)[4 * k] >= k)
                high[k] = middle;
            else
                low[k] = middle + 1;
        }
    }
    for (int k = 0; k < TRIES; k++) {
        uint32_t bits = low[k % COLOURS] + (uint32_t)(k / COLOURS) - 4;
        if (low[k % COLOURS] >= 4) memcpy(&in[k], &bits, 4);
    }
    memcpy(in, odd, sizeof odd);
    run(graph, "reference");
    memcpy(want, texels, sizeof want);
    memset(texels, 0, sizeof want);
    run(graph, gpu);
    assert_memory_equal(want, texels, sizeof want);
    assert_int_equal(want[4 * (COLOURS * 3 + 200)], 199);
    assert_int_equal(want[4 * (COLOURS * 4 + 200)], 200);
    fusion_graph_destroy(graph);
}

/* ---- what a work-item keeps ---- */

enum { MAKERS = 20, ITEMS = 32, WIDE = 16 };

static const char makers[] = "kernel @make(%a: ptr.global f32x16 read, %o: ptr.global f32x16 write, %k: f32) {\n"
                             "  %i = global_id x\n  %x = load f32x16 %a[%i]\n  %v = splat f32x16 %k\n"
                             "  %y = fmul f32x16 %x, %v\n  store f32x16 %o[%i], %y\n}\n";

/* One that adds up what all of them made. */
static fusion_module *load_taker(void)
{
    char text[8192];
    size_t n = (size_t)snprintf(text, sizeof text, "%skernel @take(%%o: ptr.global f32x16 write", makers);
    for (int i = 0; i < MAKERS; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, ", %%t%d: ptr.global f32x16 read", i);
    n += (size_t)snprintf(text + n, sizeof text - n, ") {\n  %%i = global_id x\n  %%s0 = load f32x16 %%t0[%%i]\n");
    for (int i = 1; i < MAKERS; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "  %%x%d = load f32x16 %%t%d[%%i]\n  %%s%d = fadd f32x16 %%s%d, %%x%d\n", i, i, i, i - 1,
                              i);
    snprintf(text + n, sizeof text - n, "  store f32x16 %%o[%%i], %%s%d\n}\n", MAKERS - 1);
    return load("makers.fk", text);
}

/* Fused, a work-item would keep 1,280 bytes, more than a GPU has registers for: it is two launches or more. */
static void test_pressure(void **state)
{
    (void)state;
    const unsigned internal = FUSION_ACCESS_SCOPE_WORK_ITEM | FUSION_INTERNAL_MEMORY | FUSION_NO_INIT;
    static float want[ITEMS * WIDE];
    if (absent) skip();
    fusion_module *m = load_taker();
    fusion_graph *graph;
    fusion_buffer *a, *o, *t;
    fusion_arg take[MAKERS + 1];
    fusion_exec *exec;
    float *in;
    void *out;
    expect_ok(fusion_buffer_create(session, "a", FUSION_F32, ITEMS * WIDE, 0, &a));
    expect_ok(fusion_buffer_create(session, "o", FUSION_F32, ITEMS * WIDE, 0, &o));
    expect_ok(fusion_buffer_map(a, (void **)&in));
    expect_ok(fusion_buffer_map(o, &out));
    for (int i = 0; i < ITEMS * WIDE; i++) in[i] = (float)i * 0.37f;
    expect_ok(fusion_graph_create(session, &graph));
    take[0] = fusion_arg_write(o);
    for (int i = 0; i < MAKERS; i++) {
        expect_ok(fusion_buffer_create(session, NULL, FUSION_F32, ITEMS * WIDE, internal, &t));
        take[i + 1] = fusion_arg_read(t);
        add(graph, m, "make", ITEMS, 0,
            (const fusion_arg[]){fusion_arg_read(a), fusion_arg_write(t), fusion_arg_f32((float)i + 0.3f)}, 3);
    }
    add(graph, m, "take", ITEMS, 0, take, MAKERS + 1);
    run(graph, "reference");
    memcpy(want, out, sizeof want);
    memset(out, 0, sizeof want);
    run(graph, gpu);
    assert_memory_equal(want, out, sizeof want);
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.device = gpu, .mode = FUSION_ENABLE}, &exec));
    assert_in_range(fusion_exec_report(exec)->launches, 2, 4);
    fusion_exec_destroy(exec);
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.device = gpu, .mode = FUSION_REQUIRE}, &exec));
    assert_int_equal(fusion_exec_report(exec)->launches, 1);
    fusion_exec_destroy(exec);
    fusion_graph_destroy(graph);
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    gpu = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums), cmocka_unit_test(test_reading),
                                       cmocka_unit_test(test_writing), cmocka_unit_test(test_pressure)};
    return cmocka_run_group_tests_name("gpu values", tests, start, stop);
}
