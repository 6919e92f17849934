/*
 * test_gpu DEVICE: a device that a driver gives, through the whole service, with its validation layer on: whatever that
 * finds becomes an error of the graph or submission (tests/service/meson.build). Where there is no driver, which the
 * service says why, all is skipped.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { SIZE = 512, WAIT_MS = 20000, TIME_LIMIT_MS = 5000 };
static const unsigned internal = FUSION_ACCESS_SCOPE_WORK_ITEM | FUSION_INTERNAL_MEMORY | FUSION_NO_INIT;

static struct service service;
static const char *gpu; /* the device's name */
static bool absent;

static int start(void **state)
{
    char name[64], reason[256];
    (void)state;
    service_start(&service, NULL);
    fusion_session *session = service_connect(&service);
    for (uint32_t i = 0; fusion_device_absent(session, i, name, reason) == FUSION_SUCCESS; i++)
        if (strcmp(name, gpu) == 0) {
            printf("# skipped: no device %s: %s\n", gpu, reason);
            absent = true;
        }
    fusion_disconnect(session);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    service_clear(&service);
    return 0;
}

/* ---- a chain of three kernels ---- */

struct chain {
    fusion_session *session;
    fusion_module *module;
    fusion_graph *graph;
    fusion_buffer *a, *b, *sum, *product, *out;
    fusion_node scale;
};

/* out = (a + b) * a * 5 */
static void chain_build(struct chain *c, fusion_session *session, uint64_t size)
{
    *c = (struct chain){.session = session, .module = load_test_kernels(session)};
    expect_ok(fusion_graph_create(session, &c->graph));
    c->a = index_buffer(session, "a", size, 1, 0);
    c->b = index_buffer(session, "b", size, 2, 0);
    expect_ok(fusion_buffer_create(session, "sum", FUSION_I32, size, internal, &c->sum));
    expect_ok(fusion_buffer_create(session, "product", FUSION_I32, size, internal, &c->product));
    expect_ok(fusion_buffer_create(session, "out", FUSION_I32, size, 0, &c->out));
    fusion_arg add[] = {fusion_arg_read(c->a), fusion_arg_read(c->b), fusion_arg_write(c->sum)};
    fusion_arg multiply[] = {fusion_arg_read(c->sum), fusion_arg_read(c->a), fusion_arg_write(c->product)};
    fusion_arg scale[] = {fusion_arg_read(c->product), fusion_arg_write(c->out), fusion_arg_i32(5)};
    add_node(c->graph, c->module, "add", size, add, 3);
    add_node(c->graph, c->module, "multiply", size, multiply, 3);
    c->scale = add_node(c->graph, c->module, "scale", size, scale, 3);
}

static fusion_exec *finalize(fusion_graph *graph, fusion_mode mode, const char *device)
{
    fusion_exec *exec = NULL;
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.mode = mode, .device = device}, &exec));
    return exec;
}

static void run(fusion_session *session, fusion_exec *exec, const fusion_rebind *rebind, uint32_t n)
{
    fusion_event event;
    expect_ok(fusion_exec_submit(exec, rebind, n, &event));
    expect_ok(fusion_event_wait(session, event, WAIT_MS, NULL));
}

static int *map(fusion_buffer *buffer)
{
    void *memory;
    expect_ok(fusion_buffer_map(buffer, &memory));
    return memory;
}

static void expect_chain(fusion_buffer *out, uint64_t size, int factor)
{
    const int *values = map(out);
    for (uint64_t i = 0; i < size; i++) {
        uint32_t n = (uint32_t)i; /* as the kernels: modulo 2^32 */
        assert_int_equal((uint32_t)values[i], 3 * n * n * (uint32_t)factor);
    }
}

/* ---- what graphs give ---- */

static void test_fused(void **state)
{
    (void)state;
    struct chain c;
    chain_build(&c, service_connect(&service), SIZE);
    fusion_exec *exec = finalize(c.graph, FUSION_REQUIRE, gpu);
    for (int i = 0; i < 3; i++) {
        memset(map(c.out), 0, SIZE * 4);
        run(c.session, exec, NULL, 0);
        expect_chain(c.out, SIZE, 5);
    }
    assert_int_equal(fusion_exec_report(exec)->launches, 1);
    assert_int_equal(fusion_exec_report(exec)->n_internalized, 2);
    assert_false(fusion_buffer_has_memory(c.sum));
    fusion_disconnect(c.session);
}

static void test_unfused(void **state)
{
    (void)state;
    struct chain c;
    chain_build(&c, service_connect(&service), SIZE);
    fusion_exec *exec = finalize(c.graph, FUSION_NONE, gpu);
    run(c.session, exec, NULL, 0);
    expect_chain(c.out, SIZE, 5);
    assert_int_equal(fusion_exec_report(exec)->launches, 3);
    fusion_disconnect(c.session);
}

/* Around the borders of work-groups; the last has more work-groups than a dispatch of some drivers may. */
static void test_sizes(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 2, 7, 31, 33, 1023, 1025, 4099, 100003, 1 << 20};
    fusion_session *session = service_connect(&service);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct chain c;
        chain_build(&c, session, sizes[i]);
        run(session, finalize(c.graph, FUSION_REQUIRE, gpu), NULL, 0);
        expect_chain(c.out, sizes[i], 5);
    }
    fusion_disconnect(session);
}

static void test_many_groups(void **state)
{
    (void)state;
    enum { ITEMS = 65536 * 3 + 5 };
    fusion_session *session = service_connect(&service);
    fusion_module *module = load_test_kernels(session);
    fusion_buffer *in = index_buffer(session, "in", ITEMS, 1, 0), *out = index_buffer(session, "out", ITEMS, 0, 0);
    fusion_graph *graph;
    fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(out), fusion_arg_i32(3)};
    const fusion_kernel_node node = {
        .module = module, .kernel = "scale", .dims = 1, .global = {ITEMS}, .local = {1}, .args = args, .n_args = 3};
    expect_ok(fusion_graph_create(session, &graph));
    expect_ok(fusion_graph_add_kernel(graph, &node, NULL));
    run(session, finalize(graph, FUSION_ENABLE, gpu), NULL, 0);
    for (int i = 0; i < ITEMS; i++) assert_int_equal(map(out)[i], 3 * i);
    fusion_disconnect(session);
}

/* Ranges of so many work-items that one may do several: rows of any length, parts of buffers from anywhere on. */
static void test_long_rows(void **state)
{
    (void)state;
    static const char kernel[] =
        "kernel @k(%a: ptr.global i32 read, %o: ptr.global i32 write, %w: i32) {\n"
        "  %gx = global_id x\n  %gy = global_id y\n  %x = trunc i32 %gx\n  %y = trunc i32 %gy\n"
        "  %r = mul i32 %y, %w\n  %i = add i32 %r, %x\n  %l = sub i32 %w, 1\n  %c0 = sgt i32 %x, 0\n"
        "  %c1 = slt i32 %x, %l\n  %c = and bool %c0, %c1\n  if %c {\n    %j = sub i32 %i, 1\n    %k = add i32 %i, 1\n"
        "    %p = load i32 %a[%j]\n    %q = load i32 %a[%i]\n    %s = load i32 %a[%k]\n    %t = mul i32 %p, %q\n"
        "    %u = add i32 %t, %s\n    store i32 %o[%i], %u\n  }\n  return\n}\n";
    enum { MOST = 2051 * 300, VIEWS = 3 };
    static const uint64_t widths[] = {1024, 1001, 2050, 1022};
    fusion_session *session = service_connect(&service);
    fusion_module *module = NULL;
    expect_ok(fusion_module_load(session, "k.fk", kernel, sizeof kernel - 1, &module));
    fusion_buffer *in = index_buffer(session, "in", MOST, 7, 0), *out = index_buffer(session, "out", MOST, 0, 0);
    for (unsigned i = 0; i < 4 * VIEWS; i++) {
        int w = (int)widths[i / VIEWS], from = (int)(i % VIEWS), to = from == 2 ? 3 : 0;
        fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(out), fusion_arg_i32(w)};
        args[0].offset = 4 * (uint64_t)from;
        args[1].offset = 4 * (uint64_t)to;
        const fusion_kernel_node node = {.module = module,
                                         .kernel = "k",
                                         .dims = 2,
                                         .global = {(uint64_t)w + (i & 1), 299},
                                         .args = args,
                                         .n_args = 3};
        fusion_graph *graph;
        expect_ok(fusion_graph_create(session, &graph));
        expect_ok(fusion_graph_add_kernel(graph, &node, NULL));
        memset(map(out), 0, MOST * 4);
        run(session, finalize(graph, FUSION_ENABLE, gpu), NULL, 0);
        const int *values = map(out), *read = map(in);
        for (int k = 0; k < w * 299; k++) {
            const int *a = read + from + k;
            uint32_t want = k % w && k % w < w - 1 ? (uint32_t)a[-1] * (uint32_t)a[0] + (uint32_t)a[1] : 0;
            assert_int_equal((uint32_t)values[to + k], want);
        }
    }
    fusion_disconnect(session);
}

static void test_rebinding(void **state)
{
    (void)state;
    struct chain c;
    chain_build(&c, service_connect(&service), SIZE);
    fusion_exec *exec = finalize(c.graph, FUSION_REQUIRE, gpu);
    fusion_buffer *other;
    int32_t factor = -9;
    expect_ok(fusion_buffer_create(c.session, "other", FUSION_I32, SIZE, 0, &other));
    const fusion_rebind rebind[] = {{.node = c.scale, .arg = 2, .value = &factor, .value_bytes = 4},
                                    {.from = c.out, .to = other}};
    run(c.session, exec, rebind, 2);
    expect_chain(other, SIZE, -9);
    run(c.session, exec, NULL, 0);
    expect_chain(c.out, SIZE, 5);
    expect_chain(other, SIZE, -9);
    fusion_disconnect(c.session);
}

/* One submission runs the graph many times, each on what the one before it left, with the same rebindings; what it does
   on memory that the host writes between two of them is found by the second. */
static void test_rounds(void **state)
{
    (void)state;
    enum { ROUNDS = 7 };
    fusion_session *session = service_connect(&service);
    fusion_module *module = load_test_kernels(session);
    fusion_buffer *x = index_buffer(session, "x", SIZE, 1, 0), *y = index_buffer(session, "y", SIZE, 0, 0);
    const fusion_arg there[] = {fusion_arg_read(x), fusion_arg_write(y), fusion_arg_i32(3)};
    const fusion_arg back[] = {fusion_arg_read(y), fusion_arg_write(x), fusion_arg_i32(5)};
    fusion_graph *graph;
    fusion_event event;
    uint32_t factor = 1;
    int32_t eleven = 11;
    expect_ok(fusion_graph_create(session, &graph));
    add_node(graph, module, "scale", SIZE, there, 3);
    const fusion_node second = add_node(graph, module, "scale", SIZE, back, 3);
    fusion_exec *exec = finalize(graph, FUSION_ENABLE, gpu);
    const fusion_rebind rebind = {.node = second, .arg = 2, .value = &eleven, .value_bytes = sizeof eleven};
    expect_ok(fusion_exec_submit_times(exec, ROUNDS, NULL, 0, NULL, &event));
    expect_ok(fusion_exec_submit_times(exec, ROUNDS, &rebind, 1, NULL, &event));
    expect_ok(fusion_event_wait(session, event, WAIT_MS, NULL));
    for (int i = 0; i < ROUNDS; i++) factor *= 15;
    for (int i = 0; i < ROUNDS; i++) factor *= 33;
    int *values = map(x);
    for (uint32_t i = 0; i < SIZE; i++) assert_int_equal((uint32_t)values[i], i * factor);
    for (uint32_t i = 0; i < SIZE; i++) values[i] = (int)(i + 1);
    fusion_buffer_unmap(x);
    expect_ok(fusion_exec_submit_times(exec, 2, NULL, 0, NULL, &event));
    expect_ok(fusion_event_wait(session, event, WAIT_MS, NULL));
    values = map(x);
    for (uint32_t i = 0; i < SIZE; i++) assert_int_equal((uint32_t)values[i], (i + 1) * 225);
    fusion_disconnect(session);
}

/* Submissions of both devices, one after the other without waiting, on the same memory: in order. */
static void test_both_devices(void **state)
{
    (void)state;
    enum { ROUNDS = 50 };
    fusion_session *session = service_connect(&service);
    fusion_module *module = load_test_kernels(session);
    fusion_buffer *even = index_buffer(session, "even", SIZE, 1, 0), *odd = index_buffer(session, "odd", SIZE, 0, 0);
    fusion_exec *there, *back;
    fusion_event event = 0;
    for (int i = 0; i < 2; i++) {
        fusion_graph *graph;
        fusion_arg args[] = {fusion_arg_read(i ? odd : even), fusion_arg_write(i ? even : odd),
                             fusion_arg_i32(i ? 5 : 3)};
        expect_ok(fusion_graph_create(session, &graph));
        add_node(graph, module, "scale", SIZE, args, 3);
        *(i ? &back : &there) = finalize(graph, FUSION_ENABLE, i ? "cpu" : gpu);
    }
    for (int i = 0; i < ROUNDS; i++) {
        expect_ok(fusion_exec_submit(there, NULL, 0, &event));
        expect_ok(fusion_exec_submit(back, NULL, 0, &event));
    }
    expect_ok(fusion_event_wait(session, event, WAIT_MS, NULL));
    uint32_t factor = 1;
    for (int i = 0; i < ROUNDS; i++) factor *= 15;
    for (int i = 0; i < SIZE; i++) assert_int_equal((uint32_t)map(even)[i], factor * (uint32_t)i);
    fusion_disconnect(session);
}

static void test_copies_and_fills(void **state)
{
    (void)state;
    fusion_session *session = service_connect(&service);
    fusion_module *module = load_test_kernels(session);
    fusion_graph *graph;
    fusion_buffer *in = index_buffer(session, "in", SIZE, 1, 0), *mid = index_buffer(session, "mid", SIZE, 0, 0);
    fusion_buffer *out = index_buffer(session, "out", SIZE, 0, 0), *last = index_buffer(session, "last", SIZE, 0, 0);
    fusion_node fill, scale, copy;
    int32_t value = 41;
    expect_ok(fusion_graph_create(session, &graph));
    expect_ok(
        fusion_graph_add_fill(graph, "fill", (fusion_memory){.buffer = out}, SIZE * 4, &value, 4, NULL, 0, &fill));
    fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(mid), fusion_arg_i32(2)};
    scale = add_node(graph, module, "scale", SIZE, args, 3);
    expect_ok(fusion_graph_add_copy(graph, "copy", (fusion_memory){.buffer = mid, .offset = SIZE * 2},
                                    (fusion_memory){.buffer = out, .offset = SIZE * 2}, SIZE * 2, &scale, 1, &copy));
    fusion_arg again[] = {fusion_arg_read(out), fusion_arg_write(last), fusion_arg_i32(-1)};
    add_node(graph, module, "scale", SIZE, again, 3);
    fusion_exec *exec = finalize(graph, FUSION_ENABLE, gpu);
    run(session, exec, NULL, 0);
    for (int i = 0; i < SIZE; i++) assert_int_equal(map(last)[i], i < SIZE / 2 ? -41 : -2 * i);
    fusion_disconnect(session);
}

static void test_usm(void **state)
{
    (void)state;
    fusion_session *session = service_connect(&service);
    fusion_module *module = load_test_kernels(session);
    fusion_graph *graph;
    void *in, *tmp, *out;
    expect_ok(fusion_malloc(session, FUSION_USM_HOST, SIZE * 4, &in));
    expect_ok(fusion_malloc(session, FUSION_USM_DEVICE, SIZE * 4, &tmp));
    expect_ok(fusion_malloc(session, FUSION_USM_SHARED, SIZE * 4, &out));
    for (int i = 0; i < SIZE; i++) ((int *)in)[i] = i;
    expect_ok(fusion_graph_create(session, &graph));
    fusion_arg first[] = {fusion_arg_pointer(in, FUSION_ACCESS_READ, 0),
                          fusion_arg_pointer(tmp, FUSION_ACCESS_WRITE, 0), fusion_arg_i32(3)};
    fusion_arg second[] = {fusion_arg_pointer(tmp, FUSION_ACCESS_READ, 0),
                           fusion_arg_pointer((char *)out + 8, FUSION_ACCESS_WRITE, 0), fusion_arg_i32(4)};
    add_node(graph, module, "scale", SIZE - 2, first, 3);
    add_node(graph, module, "scale", SIZE - 2, second, 3);
    run(session, finalize(graph, FUSION_NONE, gpu), NULL, 0);
    for (int i = 0; i < SIZE - 2; i++) assert_int_equal(((int *)out)[i + 2], 12 * i);
    fusion_disconnect(session);
}

/* Parts that know nothing of each other, each of which waits: some devices run them at the same time. Again and again
   with contents that are moved, and without. */
static void test_independent_parts(void **state)
{
    (void)state;
    enum { PARTS = 5, LENGTH = 4, ROUNDS = 20, MANY = 20000 };
    fusion_session *session = service_connect(&service);
    fusion_module *module = load_test_kernels(session);
    fusion_graph *graph;
    fusion_buffer *buffers[PARTS][LENGTH + 1], *input = index_buffer(session, "input", MANY, 1, 0);
    expect_ok(fusion_graph_create(session, &graph));
    for (int p = 0; p < PARTS; p++) buffers[p][0] = input;
    for (int i = 0; i < LENGTH; i++)
        for (int p = 0; p < PARTS; p++) {
            char name[16];
            snprintf(name, sizeof name, "b%d_%d", p, i);
            expect_ok(fusion_buffer_create(session, name, FUSION_I32, MANY, 0, &buffers[p][i + 1]));
            fusion_arg scale[] = {fusion_arg_read(buffers[p][i]), fusion_arg_write(buffers[p][i + 1]),
                                  fusion_arg_i32(p + 2)};
            add_node(graph, module, "scale", MANY, scale, 3);
        }
    fusion_exec *exec = finalize(graph, FUSION_NONE, gpu);
    for (int round = 0; round < ROUNDS; round++) {
        if (round % 3 == 1) fusion_buffer_unmap(input);
        run(session, exec, NULL, 0);
        if (round % 3 == 2) map(input)[0] = round;
        if (round % 3 != 0) continue;
        for (int p = 0; p < PARTS; p++) {
            int factor = (p + 2) * (p + 2) * (p + 2) * (p + 2);
            const int *out = map(buffers[p][LENGTH]);
            for (int i = 1; i < MANY; i++) assert_int_equal(out[i], factor * i);
            assert_int_equal(out[0], factor * map(input)[0]);
            fusion_buffer_unmap(buffers[p][LENGTH]);
        }
    }
    fusion_disconnect(session);
}

static void test_many_submissions(void **state)
{
    (void)state;
    struct chain c;
    fusion_event event = 0;
    chain_build(&c, service_connect(&service), SIZE);
    fusion_exec *exec = finalize(c.graph, FUSION_REQUIRE, gpu);
    for (int32_t i = 0; i < 2000; i++)
        expect_ok(fusion_exec_submit(exec, &(fusion_rebind){.node = c.scale, .arg = 2, .value = &i, .value_bytes = 4},
                                     1, &event));
    expect_ok(fusion_event_wait(c.session, event, WAIT_MS, NULL));
    expect_chain(c.out, SIZE, 1999);
    fusion_disconnect(c.session);
}

/* The second time nothing is compiled, in another session. */
static void test_cache(void **state)
{
    (void)state;
    struct chain c;
    for (int i = 0; i < 2; i++) {
        chain_build(&c, service_connect(&service), 1000 + SIZE);
        long long compiles = service_counter(c.session, "compiles");
        finalize(c.graph, FUSION_REQUIRE, gpu);
        if (i) assert_int_equal(service_counter(c.session, "compiles"), compiles);
        fusion_disconnect(c.session);
    }
}

/* Drivers of Vulkan are tried out by the process that looks for devices; executors are told what it found out, also
   those that take the place of a killed one. */
static void test_tried_once(void **state)
{
    (void)state;
    struct chain c;
    for (int i = 0; i < 3; i++) {
        chain_build(&c, service_connect(&service), SIZE);
        run(c.session, finalize(c.graph, FUSION_REQUIRE, gpu), NULL, 0);
        assert_int_equal(service_counter(c.session, "drivers_tested"), service_has_device(c.session, "vulkan"));
        fusion_disconnect(c.session);
    }
}

/* ---- what goes wrong ---- */

/* Follows a circle in memory, of which no compiler sees that it is one. llvmpipe ends loops after 65,535 rounds; so
   there are very many of them. */
static const char endless_kernel[] =
    "kernel @endless(%o: ptr.global i32 read_write) {\n"
    "  loop (%k: i32 = 0) {\n    %j = and i32 %k, 7\n    %w = zext i64 %j\n    %v = load i32 %o[%w]\n"
    "    %c = ieq i32 %v, -1\n    if %c { break }\n    store i32 %o[8], %v\n    continue %v\n  }\n  return\n}\n";

static fusion_module *load_endless(fusion_session *session)
{
    fusion_module *module = NULL;
    expect_ok(fusion_module_load(session, "endless.fk", endless_kernel, sizeof endless_kernel - 1, &module));
    return module;
}

static fusion_graph *one_kernel(fusion_module *module, fusion_session *session, const char *kernel, fusion_arg *args,
                                uint32_t n)
{
    fusion_graph *graph;
    expect_ok(fusion_graph_create(session, &graph));
    add_node(graph, module, kernel, strcmp(kernel, "endless") == 0 ? 1 << 20 : 1, args, n);
    return graph;
}

/* Another session, whose submissions are to go on whatever happens to the first. */
static void expect_others_go_on(struct chain *other, fusion_exec *exec)
{
    memset(map(other->out), 0, SIZE * 4);
    run(other->session, exec, NULL, 0);
    expect_chain(other->out, SIZE, 5);
}

/* The session gets the error, or where a GPU is lost by it the other; its next submission runs, in a new executor. */
static void expect_failure(struct chain *own, fusion_exec *good, fusion_exec *bad, fusion_status expected,
                           fusion_status where_lost)
{
    fusion_event event;
    expect_ok(fusion_exec_submit(bad, NULL, 0, &event));
    fusion_status status = fusion_event_wait(own->session, event, WAIT_MS, NULL);
    assert_true(status == expected || status == where_lost);
    memset(map(own->out), 0, SIZE * 4);
    run(own->session, good, NULL, 0);
    expect_chain(own->out, SIZE, 5);
}

static void test_faults(void **state)
{
    (void)state;
    struct chain other, own;
    chain_build(&other, service_connect(&service), SIZE);
    fusion_exec *others = finalize(other.graph, FUSION_REQUIRE, gpu);
    expect_others_go_on(&other, others);

    fusion_session *session;
    expect_ok(fusion_connect(service.socket, &(fusion_connect_options){.time_limit_ms = TIME_LIMIT_MS}, &session));
    chain_build(&own, session, SIZE);
    fusion_exec *good = finalize(own.graph, FUSION_REQUIRE, gpu);
    fusion_buffer *circle = index_buffer(session, "circle", 16, 1, 0), *out = index_buffer(session, "out", 16, 0, 0);
    for (int i = 0; i < 8; i++) map(circle)[i] = (i + 1) % 8;
    fusion_arg endless[] = {fusion_arg_read_write(circle)};
    fusion_arg beyond[] = {fusion_arg_write(out), fusion_arg_i64((int64_t)1 << 36)};
    fusion_graph *graphs[] = {one_kernel(load_endless(session), session, "endless", endless, 1),
                              one_kernel(own.module, session, "write_beyond", beyond, 2)};
    expect_failure(&own, good, finalize(graphs[0], FUSION_ENABLE, gpu), FUSION_TIMEOUT, FUSION_TIMEOUT);
    expect_others_go_on(&other, others);
    expect_failure(&own, good, finalize(graphs[1], FUSION_ENABLE, gpu), FUSION_KERNEL_FAULT, FUSION_EXECUTOR);
    expect_others_go_on(&other, others);
    fusion_disconnect(session);
    fusion_disconnect(other.session);
}

static void test_kill(void **state)
{
    (void)state;
    struct chain c;
    chain_build(&c, service_connect(&service), SIZE);
    fusion_exec *exec = finalize(c.graph, FUSION_REQUIRE, gpu);
    run(c.session, exec, NULL, 0);
    pid_t pid = service_gpu_executor(&service);
    assert_true(pid > 0);
    kill(pid, SIGKILL);
    fusion_event event;
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    fusion_status status = fusion_event_wait(c.session, event, WAIT_MS, NULL);
    assert_true(status == FUSION_SUCCESS || status == FUSION_EXECUTOR || status == FUSION_LOST);
    void *memory; /* what only the device had is lost: that is told once (test_residency.c) */
    status = fusion_buffer_map(c.out, &memory);
    assert_true(status == FUSION_SUCCESS || status == FUSION_LOST);
    memset(map(c.out), 0, SIZE * 4);
    run(c.session, exec, NULL, 0);
    expect_chain(c.out, SIZE, 5);
    fusion_disconnect(c.session);
}

static fusion_device_info description(fusion_session *session)
{
    uint32_t n = 0;
    fusion_device_info info = {FUSION_SIZED(fusion_device_info)};
    expect_ok(fusion_device_count(session, &n));
    for (uint32_t i = 0; i < n && strcmp(info.name, gpu) != 0; i++) expect_ok(fusion_device_get(session, i, &info));
    return info;
}

static bool has_aspect(fusion_session *session, const char *name)
{
    const fusion_device_info info = description(session);
    const char *at = strstr(info.aspects, name);
    return at && strchr(" ", at[strlen(name)]);
}

static void test_lacking_aspect(void **state)
{
    (void)state;
    fusion_session *session = service_connect(&service);
    fusion_buffer *out = index_buffer(session, "out", 16, 0, 0);
    fusion_image *image;
    fusion_exec *exec;
    const fusion_image_desc desc = {
        .width = 16, .height = 16, .channel_order = FUSION_CHANNEL_R, .channel_type = FUSION_UNSIGNED_INT8};
    expect_ok(fusion_image_create(session, "image", &desc, &image));
    fusion_arg args[] = {fusion_arg_write(out), fusion_arg_image(image, FUSION_ACCESS_READ)};
    fusion_graph *graph = one_kernel(load_test_kernels(session), session, "needs_image", args, 2);
    if (has_aspect(session, "image")) {
        run(session, finalize(graph, FUSION_ENABLE, gpu), NULL, 0);
        assert_int_equal(map(out)[0], 16);
    } else {
        expect_error(fusion_graph_finalize(graph, &(fusion_finalize_options){.device = gpu}, &exec),
                     FUSION_KERNEL_NOT_SUPPORTED);
        expect_in_reason("aspect::image");
    }
    fusion_disconnect(session);
}

/* Sums whose order does not matter, least and largest ones. */
static const char float_kernels[] =
    "kernel @gather(%x: ptr.global f32 read, %s: ptr.global f32 read_write) {\n"
    "  %i = global_id x\n  %v = load f32 %x[%i]\n  %least = elem f32 %s, 1\n  %most = elem f32 %s, 2\n"
    "  %a = atomic_fadd f32 %s, %v, device, relaxed\n  %b = atomic_fmin f32 %least, %v, device, relaxed\n"
    "  %c = atomic_fmax f32 %most, %v, device, relaxed\n  return\n}\n";

static void test_float_atomics(void **state)
{
    (void)state;
    fusion_session *session = service_connect(&service);
    fusion_module *module;
    fusion_buffer *x, *s;
    float *values;
    if (!has_aspect(session, "float_atomics")) {
        fusion_disconnect(session);
        skip();
    }
    expect_ok(fusion_module_load(session, "floats", float_kernels, sizeof float_kernels - 1, &module));
    expect_ok(fusion_buffer_create(session, "x", FUSION_F32, SIZE, 0, &x));
    expect_ok(fusion_buffer_create(session, "s", FUSION_F32, 3, 0, &s));
    expect_ok(fusion_buffer_map(x, (void **)&values));
    for (int i = 0; i < SIZE; i++) values[i] = 0.5f * (float)i - 100;
    fusion_buffer_unmap(x);
    expect_ok(fusion_buffer_map(s, (void **)&values));
    memset(values, 0, 3 * sizeof *values);
    fusion_buffer_unmap(s);
    fusion_arg args[] = {fusion_arg_read(x), fusion_arg_read_write(s)};
    fusion_graph *graph;
    expect_ok(fusion_graph_create(session, &graph));
    add_node(graph, module, "gather", SIZE, args, 2);
    run(session, finalize(graph, FUSION_ENABLE, gpu), NULL, 0);
    expect_ok(fusion_buffer_map(s, (void **)&values));
    assert_true(values[0] == 0.5f * SIZE * (SIZE - 1) / 2 - 100 * SIZE);
    assert_true(values[1] == -100 && values[2] == 0.5f * (SIZE - 1) - 100);
    fusion_disconnect(session);
}

/* A picture is sampled between its texels, written to another one, and read from there by another kernel. */
static const char image_kernels[] =
    "kernel @turn(%in: image2d.read, %out: image2d.write) {\n"
    "  %ix = global_id x\n  %iy = global_id y\n  %x = trunc i32 %ix\n  %y = trunc i32 %iy\n"
    "  %fx = utof f32 %x\n  %fy = utof f32 %y\n  %u = fmul f32 %fx, 0.37\n  %v = fmul f32 %fy, 0.71\n"
    "  %at = vec f32x2 %u, %v\n  %s = make_sampler 34\n  %t = image_read f32x4 %in, %at, %s\n"
    "  %to = vec i32x2 %y, %x\n  image_write f32x4 %out, %to, %t\n  return\n}\n"
    "kernel @keep(%in: image2d.read, %o: ptr.global f32x4 write) {\n"
    "  %ix = global_id x\n  %iy = global_id y\n  %x = trunc i32 %ix\n  %y = trunc i32 %iy\n"
    "  %at = vec i32x2 %x, %y\n  %t = image_read f32x4 %in, %at\n  %row = mul i64 %iy, 16\n"
    "  %i = add i64 %row, %ix\n  store f32x4 %o[%i], %t\n  return\n}\n";

static void compute_images(fusion_session *session, const char *device, float *values)
{
    static const fusion_channel_type types[] = {FUSION_UNORM_INT8, FUSION_HALF_FLOAT};
    fusion_module *module = NULL;
    fusion_image *images[2];
    fusion_buffer *out;
    fusion_graph *graph;
    void *memory;
    expect_ok(fusion_module_load(session, "images.fk", image_kernels, sizeof image_kernels - 1, &module));
    expect_ok(fusion_buffer_create(session, "out", FUSION_F32, 16 * 16 * 4, 0, &out));
    for (int i = 0; i < 2; i++) {
        const fusion_image_desc desc = {
            .width = 16, .height = 16, .channel_order = FUSION_CHANNEL_RGBA, .channel_type = types[i]};
        expect_ok(fusion_image_create(session, i ? "turned" : "picture", &desc, &images[i]));
    }
    expect_ok(fusion_image_map(images[0], &memory));
    for (int i = 0; i < 16 * 16 * 4; i++) ((uint8_t *)memory)[i] = (uint8_t)(i * 37 + i / 64);
    expect_ok(fusion_graph_create(session, &graph));
    fusion_arg turn[] = {fusion_arg_image(images[0], FUSION_ACCESS_READ),
                         fusion_arg_image(images[1], FUSION_ACCESS_WRITE)};
    fusion_arg keep[] = {fusion_arg_image(images[1], FUSION_ACCESS_READ), fusion_arg_write(out)};
    for (int i = 0; i < 2; i++) {
        const fusion_kernel_node node = {.module = module,
                                         .kernel = i ? "keep" : "turn",
                                         .dims = 2,
                                         .global = {16, 16},
                                         .args = i ? keep : turn,
                                         .n_args = 2};
        expect_ok(fusion_graph_add_kernel(graph, &node, NULL));
    }
    run(session, finalize(graph, FUSION_ENABLE, device), NULL, 0);
    memcpy(values, map(out), 16 * 16 * 4 * sizeof *values);
}

static void test_images(void **state)
{
    (void)state;
    static float want[16 * 16 * 4], got[16 * 16 * 4];
    fusion_session *session = service_connect(&service);
    if (has_aspect(session, "image")) {
        compute_images(session, "cpu", want);
        compute_images(session, gpu, got);
        assert_memory_equal(want, got, sizeof want);
    }
    fusion_disconnect(session);
}

/* Packets stay in a pipe of the module from one submission to the next. */
static void test_pipes(void **state)
{
    (void)state;
    static const char kernels[] =
        "pipe @p: packet i32 capacity 64\n"
        "kernel @put(%a: ptr.global i32 read) {\n  %i = global_id x\n  %q = global @p\n  %v = var i32\n"
        "  %x = load i32 %a[%i]\n  store i32 %v, %x\n  %ok = pipe_write i32 %q, %v\n  return\n}\n"
        "kernel @take(%o: ptr.global i32 write) {\n  %i = global_id x\n  %q = global @p\n  %v = var i32\n"
        "  %ok = pipe_read i32 %q, %v\n  %x = load i32 %v\n  store i32 %o[%i], %x\n  return\n}\n";
    fusion_session *session = service_connect(&service);
    fusion_module *module = NULL;
    if (has_aspect(session, "pipes")) {
        expect_ok(fusion_module_load(session, "pipes.fk", kernels, sizeof kernels - 1, &module));
        fusion_buffer *in = index_buffer(session, "in", 64, 3, 0), *out = index_buffer(session, "out", 64, 0, 0);
        for (int i = 0; i < 2; i++) {
            fusion_graph *graph;
            fusion_arg args[] = {i ? fusion_arg_write(out) : fusion_arg_read(in)};
            expect_ok(fusion_graph_create(session, &graph));
            add_node(graph, module, i ? "take" : "put", 64, args, 1);
            run(session, finalize(graph, FUSION_ENABLE, gpu), NULL, 0);
        }
        long long sum = 0;
        for (int i = 0; i < 64; i++) sum += map(out)[i];
        assert_int_equal(sum, 3 * 63 * 64 / 2); /* each once, in any order */
    }
    fusion_disconnect(session);
}

/* All of it, up to the driver's UUID. */
static void test_target(void **state)
{
    (void)state;
    fusion_session *session = service_connect(&service);
    const fusion_device_info info = description(session);
    const char *driver = strstr(info.target, "driver ");
    assert_non_null(driver);
    assert_int_equal(strspn(driver + strlen("driver "), "0123456789abcdef"), 32);
    fusion_disconnect(session);
}

/* Finalizing it gives the words; an empty list: it runs. */
static void expect_refused(fusion_session *session, const char *text, void *memory, const char *words)
{
    fusion_module *module = NULL;
    fusion_exec *exec = NULL;
    fusion_arg args[] = {fusion_arg_pointer(memory, FUSION_ACCESS_READ | FUSION_ACCESS_WRITE, 0)};
    expect_ok(fusion_module_load(session, "k.fk", text, strlen(text), &module));
    fusion_graph *graph = one_kernel(module, session, "k", args, 1);
    if (!words[0]) {
        run(session, finalize(graph, FUSION_ENABLE, gpu), NULL, 0);
        return;
    }
    expect_error(fusion_graph_finalize(graph, &(fusion_finalize_options){.device = gpu}, &exec),
                 FUSION_FEATURE_NOT_SUPPORTED);
    expect_in_reason(words);
    expect_in_reason("has other addresses");
}

/* Followed and stored where the device has the session's addresses, refused where not. */
static void test_pointers_in_memory(void **state)
{
    (void)state;
    fusion_session *session = service_connect(&service);
    void *table, *target;
    expect_ok(fusion_malloc(session, FUSION_USM_HOST, 32, &table));
    expect_ok(fusion_malloc(session, FUSION_USM_HOST, 8, &target));
    *(void **)table = target;
    bool same = has_aspect(session, "usm_host_allocations");
    expect_refused(session,
                   "kernel @k(%t: ptr.global i64 read_write) {\n"
                   "  %a = load i64 %t[0]\n  %p = inttoptr %a, global\n  store i32 %p, 7\n  return\n}\n",
                   table, same ? "" : "follows a pointer");
    if (same) assert_int_equal(*(int *)target, 7);
    expect_refused(session,
                   "kernel @k(%t: ptr.global i64 read_write) {\n"
                   "  %p = elem i64 %t, 3\n  store ptr.global %t[1], %p\n  return\n}\n",
                   table, same ? "" : "stores a pointer");
    expect_refused(session,
                   "kernel @k(%t: ptr.global i64 read_write) {\n"
                   "  %a = ptrtoint i64 %t\n  %b = add i64 %a, 24\n  store i64 %t[2], %b\n  return\n}\n",
                   table, same ? "" : "keeps an address as a number");
    for (int i = 1; same && i < 3; i++) assert_ptr_equal(((char **)table)[i], (char *)table + 24);
    expect_refused(session,
                   "kernel @k(%t: ptr.global i64 read_write) {\n"
                   "  %q = elem i64 %t, 3\n  %a = ptrtoint i64 %t\n  %b = ptrtoint i64 %q\n"
                   "  %d = sub i64 %b, %a\n  store i64 %t[2], %d\n  return\n}\n",
                   table, "");
    assert_int_equal(((int64_t *)table)[2], 24);
    fusion_disconnect(session);
}

/* More rounds than some drivers do: all of them, or it is said that they were not. */
static void test_long_loop(void **state)
{
    (void)state;
    enum { ROUNDS = 100000 };
    static const char kernel[] = "kernel @k(%o: ptr.global i32 read_write) {\n"
                                 "  %n = loop (%i: i32 = 0, %s: i32 = 0) -> i32 {\n    %c = sge i32 %i, 100000\n"
                                 "    if %c { break %s }\n    %v = load i32 %o[1], volatile\n    %t = mul i32 %s, 3\n"
                                 "    %u = add i32 %t, %v\n    %j = add i32 %i, 1\n    continue %j, %u\n  }\n"
                                 "  store i32 %o[0], %n\n  return\n}\n";
    fusion_session *session = service_connect(&service);
    fusion_module *module = NULL;
    fusion_event event;
    uint32_t right = 0;
    expect_ok(fusion_module_load(session, "k.fk", kernel, sizeof kernel - 1, &module));
    fusion_buffer *out = index_buffer(session, "out", 2, 1, 0);
    fusion_arg args[] = {fusion_arg_read_write(out)};
    fusion_exec *exec = finalize(one_kernel(module, session, "k", args, 1), FUSION_ENABLE, gpu);
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    fusion_status status = fusion_event_wait(session, event, WAIT_MS, NULL);
    for (int i = 0; i < ROUNDS; i++) right = right * 3 + 1;
    if (status == FUSION_SUCCESS)
        assert_int_equal((uint32_t)map(out)[0], right);
    else
        expect_status(status, FUSION_FEATURE_NOT_SUPPORTED, __FILE__, __LINE__);
    fusion_disconnect(session);
}

/* A test's own setup cannot skip it. */
#define ON_DEVICE(name)                                                                                                \
    static void on_device_##name(void **state)                                                                         \
    {                                                                                                                  \
        if (absent) skip();                                                                                            \
        name(state);                                                                                                   \
    }
ON_DEVICE(test_fused)
ON_DEVICE(test_unfused)
ON_DEVICE(test_sizes)
ON_DEVICE(test_many_groups)
ON_DEVICE(test_long_rows)
ON_DEVICE(test_rebinding)
ON_DEVICE(test_rounds)
ON_DEVICE(test_both_devices)
ON_DEVICE(test_copies_and_fills)
ON_DEVICE(test_usm)
ON_DEVICE(test_independent_parts)
ON_DEVICE(test_many_submissions)
ON_DEVICE(test_cache)
ON_DEVICE(test_tried_once)
ON_DEVICE(test_faults)
ON_DEVICE(test_kill)
ON_DEVICE(test_lacking_aspect)
ON_DEVICE(test_pointers_in_memory)
ON_DEVICE(test_target)
ON_DEVICE(test_float_atomics)
ON_DEVICE(test_images)
ON_DEVICE(test_pipes)
ON_DEVICE(test_long_loop)

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    gpu = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_device_test_fused),
        cmocka_unit_test(on_device_test_unfused),
        cmocka_unit_test(on_device_test_sizes),
        cmocka_unit_test(on_device_test_many_groups),
        cmocka_unit_test(on_device_test_long_rows),
        cmocka_unit_test(on_device_test_rebinding),
        cmocka_unit_test(on_device_test_rounds),
        cmocka_unit_test(on_device_test_both_devices),
        cmocka_unit_test(on_device_test_copies_and_fills),
        cmocka_unit_test(on_device_test_usm),
        cmocka_unit_test(on_device_test_independent_parts),
        cmocka_unit_test(on_device_test_many_submissions),
        cmocka_unit_test(on_device_test_cache),
        cmocka_unit_test(on_device_test_faults),
        cmocka_unit_test(on_device_test_kill),
        cmocka_unit_test(on_device_test_tried_once),
        cmocka_unit_test(on_device_test_lacking_aspect),
        cmocka_unit_test(on_device_test_pointers_in_memory),
        cmocka_unit_test(on_device_test_target),
        cmocka_unit_test(on_device_test_float_atomics),
        cmocka_unit_test(on_device_test_images),
        cmocka_unit_test(on_device_test_pipes),
        cmocka_unit_test(on_device_test_long_loop),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
