/* Launches that go by what scalars were when the graph was finalized: submissions that say otherwise get what the
   kernels compute one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { WIDTH = 48, HEIGHT = 16, SIZE = WIDTH * HEIGHT, KERNELS = 3 };

static const char kernels[] =
    "kernel @plus(%in: ptr.global i32, %out: ptr.global i32, %w: i32, %h: i32) {\n"
    "    %x0 = global_id x\n    %y0 = global_id y\n    %x = trunc i32 %x0\n    %y = trunc i32 %y0\n"
    "    %c = slt i32 %x, %w\n    %d = slt i32 %y, %h\n    %e = select bool %c, %d, false\n"
    "    if %e {\n"
    "        %row = mul i32 %y, %w\n        %j = add i32 %row, %x\n        %i = sext i64 %j\n"
    "        %v = load i32 %in[%i]\n        %s = add i32 %v, %y\n        %t = mul i32 %s, 3\n"
    "        store i32 %out[%i], %t\n"
    "    }\n"
    "}\n"
    "kernel @near(%in: ptr.global i32, %out: ptr.global i32, %w: i32, %h: i32) {\n"
    "    %x0 = global_id x\n    %y0 = global_id y\n    %x = trunc i32 %x0\n    %y = trunc i32 %y0\n"
    "    %c = slt i32 %x, %w\n    %d = slt i32 %y, %h\n    %e = and bool %c, %d\n"
    "    if %e {\n"
    "        %row = mul i32 %y, %w\n        %j = add i32 %row, %x\n        %i = sext i64 %j\n"
    "        %x1 = sub i32 %x, 1\n        %x2 = smax i32 %x1, 0\n        %j2 = add i32 %row, %x2\n"
    "        %i2 = sext i64 %j2\n        %v = load i32 %in[%i]\n        %v2 = load i32 %in[%i2]\n"
    "        %s = add i32 %v, %v2\n        store i32 %out[%i], %s\n"
    "    }\n"
    "}\n"
    "kernel @shifted(%in: ptr.global i32, %out: ptr.global i32, %off: i32) {\n"
    "    %i0 = global_id x\n    %i = trunc i32 %i0\n    %j = add i32 %i, %off\n    %k = sext i64 %j\n"
    "    %v = load i32 %in[%k]\n    %s = add i32 %v, %i\n    store i32 %out[%k], %s\n"
    "}\n";

static const char bounds[] =
    "kernel @part(%in: ptr.global i32, %out: ptr.global i32, %n: i32) {\n"
    "    %i0 = global_id x\n    %i = trunc i32 %i0\n    %c = slt i32 %i, %n\n"
    "    if %c {\n        %v = load i32 %in[%i0]\n        %s = add i32 %v, 1\n        store i32 %out[%i0], %s\n    }\n"
    "}\n"
    "kernel @all(%in: ptr.global i32, %out: ptr.global i32) {\n"
    "    %i = global_id x\n    %v = load i32 %in[%i]\n    %s = mul i32 %v, 2\n    store i32 %out[%i], %s\n"
    "}\n";

static struct service service;
static fusion_session *session;
static fusion_module *module;

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    session = service_connect(&service);
    expect_ok(fusion_module_load(session, "kernels", kernels, strlen(kernels), &module));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    return 0;
}

static int *map(fusion_buffer *buffer)
{
    void *memory;
    expect_ok(fusion_buffer_map(buffer, &memory));
    return memory;
}

/* in -> t -> s -> out, the two in between internal. */
struct chain {
    fusion_buffer *buffers[KERNELS + 1];
    fusion_exec *exec;
};

static void make_buffers(struct chain *c)
{
    for (int i = 0; i <= KERNELS; i++) {
        const char name[] = {'b', (char)('0' + i), 0};
        fusion_buffer_create(session, name, FUSION_I32, SIZE * 2, i && i < KERNELS ? FUSION_INTERNAL_MEMORY : 0,
                             &c->buffers[i]);
    }
    for (int i = 0; i < SIZE * 2; i++) {
        map(c->buffers[0])[i] = i * 7;
        map(c->buffers[KERNELS])[i] = -1;
    }
}

static void make(struct chain *c, const char *kernel, const int *values, uint32_t n, fusion_finalize_options options)
{
    fusion_graph *graph;
    make_buffers(c);
    expect_ok(fusion_graph_create(session, &graph));
    for (int i = 0; i < KERNELS; i++) {
        const char name[] = {'k', (char)('0' + i), 0};
        fusion_arg args[4] = {fusion_arg_read(c->buffers[i]), fusion_arg_write(c->buffers[i + 1])};
        for (uint32_t v = 0; v < n; v++) args[2 + v] = fusion_arg_i32(values[v]);
        fusion_kernel_node k = {.name = name, .module = module, .kernel = kernel, .args = args, .n_args = 2 + n};
        k.dims = n == 2 ? 2 : 1;
        k.global[0] = n == 2 ? WIDTH : SIZE;
        k.global[1] = n == 2 ? HEIGHT : 0;
        expect_ok(fusion_graph_add_kernel(graph, &k, NULL));
    }
    expect_ok(fusion_graph_finalize(graph, &options, &c->exec));
    fusion_graph_destroy(graph);
    const fusion_report *report = fusion_exec_report(c->exec);
    bool conditional = false;
    for (uint32_t i = 0; i < report->n_remarks; i++) conditional |= strcmp(report->remarks[i].code, "conditional") == 0;
    assert_int_equal(conditional, !options.debug);
    assert_int_equal(report->launches, options.debug ? report->launches : 1);
    assert_int_equal(report->n_internalized, options.debug ? report->n_internalized : KERNELS - 1);
}

static void clear(struct chain *c)
{
    fusion_exec_destroy(c->exec);
    for (int i = 0; i <= KERNELS; i++) fusion_buffer_destroy(c->buffers[i]);
}

static void run(struct chain *c, int (*values)[2], uint32_t n)
{
    fusion_event event;
    fusion_rebind rebind[KERNELS * 2] = {0};
    for (uint32_t i = 0; i < KERNELS * n; i++)
        rebind[i] = (fusion_rebind){
            .node = i / n, .arg = 2 + i % n, .value = &values[i / n][i % n], .value_bytes = sizeof(int)};
    expect_ok(fusion_exec_submit(c->exec, rebind, KERNELS * n, &event));
    expect_ok(fusion_event_wait(session, event, 20000, NULL));
}

/* ---- rows ---- */

/* What a kernel makes of the row it reads. */
typedef int row_function(const int *row, int x, int y);

static int plus(const int *row, int x, int y)
{
    return (row[x] + y) * 3;
}

static int near(const int *row, int x, int y)
{
    (void)y;
    return row[x] + row[x > 0 ? x - 1 : 0];
}

static void expect_rows(struct chain *c, int (*values)[2], row_function *f)
{
    static int memory[KERNELS + 1][SIZE * 2];
    memset(memory, 0, sizeof memory);
    for (int i = 0; i < SIZE * 2; i++) {
        memory[0][i] = i * 7;
        memory[KERNELS][i] = -1;
    }
    for (int k = 0; k < KERNELS; k++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                int row = y * values[k][0];
                if (x < values[k][0] && y < values[k][1]) memory[k + 1][row + x] = f(&memory[k][row], x, y);
            }
    assert_memory_equal(map(c->buffers[KERNELS]), memory[KERNELS], sizeof memory[KERNELS]);
}

static void check_rows(const char *kernel, row_function *f, fusion_finalize_options options)
{
    int all[][KERNELS][2] = {
        {{WIDTH, HEIGHT}, {WIDTH, HEIGHT}, {WIDTH, HEIGHT}},
        {{WIDTH, 9}, {WIDTH, 9}, {WIDTH, 9}},
        {{40, HEIGHT}, {40, HEIGHT}, {40, HEIGHT}},
        {{WIDTH, 12}, {WIDTH, 11}, {WIDTH, 10}},
        {{WIDTH, HEIGHT}, {WIDTH, 3}, {20, 7}},
        {{WIDTH, HEIGHT}, {WIDTH, HEIGHT}, {WIDTH, HEIGHT}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct chain c;
        make(&c, kernel, (const int[]){WIDTH, HEIGHT}, 2, options);
        run(&c, all[i], 2);
        expect_rows(&c, all[i], f);
        clear(&c);
    }
}

static void test_rows(void **state)
{
    (void)state;
    for (int tier = FUSION_TIER_AUTOMATIC; tier <= FUSION_TIER_COMPILED; tier++)
        check_rows("plus", plus, (fusion_finalize_options){.mode = FUSION_ENABLE, .tier = (fusion_tier)tier});
    check_rows("plus", plus, (fusion_finalize_options){.mode = FUSION_ENABLE, .device = "reference"});
    check_rows("plus", plus, (fusion_finalize_options){.mode = FUSION_ENABLE, .debug = true});
}

/* Reads of neighbours, which are computed again. */
static void test_near_rows(void **state)
{
    (void)state;
    for (int tier = FUSION_TIER_AUTOMATIC; tier <= FUSION_TIER_COMPILED; tier++)
        check_rows("near", near, (fusion_finalize_options){.mode = FUSION_ENABLE, .tier = (fusion_tier)tier});
    check_rows("near", near, (fusion_finalize_options){.mode = FUSION_ENABLE, .device = "reference"});
    check_rows("near", near, (fusion_finalize_options){.mode = FUSION_ENABLE, .debug = true});
}

/* Which runs nothing but code: that of spares is there from the beginning. */
static void test_rows_on_gpu(void **state)
{
    (void)state;
    if (!service_has_device(session, "vulkan")) {
        print_message("# device vulkan is absent\n");
        skip();
    }
    check_rows("plus", plus, (fusion_finalize_options){.mode = FUSION_ENABLE, .device = "vulkan"});
    check_rows("near", near, (fusion_finalize_options){.mode = FUSION_ENABLE, .device = "vulkan"});
}

/* Their code is made once they run, and no sooner. */
static void test_code_of_spares(void **state)
{
    (void)state;
    int as_planned[KERNELS][2] = {{WIDTH, HEIGHT}, {WIDTH, HEIGHT}, {WIDTH, HEIGHT}};
    int other[KERNELS][2] = {{WIDTH, 13}, {WIDTH, 12}, {WIDTH, 11}};
    struct chain c;
    const fusion_finalize_options options = {.mode = FUSION_ENABLE, .tier = FUSION_TIER_COMPILED};
    make(&c, "plus", (const int[]){WIDTH, HEIGHT}, 2, options);
    long long before = service_counter(session, "launches_replaced"), compiles = service_counter(session, "compiles");
    run(&c, as_planned, 2);
    assert_int_equal(service_counter(session, "compiles"), compiles);
    for (int i = 0; i < 2000 && service_counter(session, "launches_replaced") < before + KERNELS; i++) {
        for (int k = 0; k < SIZE * 2; k++) map(c.buffers[KERNELS])[k] = -1;
        run(&c, other, 2);
        expect_rows(&c, other, plus);
        usleep(10000);
    }
    assert_int_equal(service_counter(session, "launches_replaced"), before + KERNELS);
    for (int k = 0; k < SIZE * 2; k++) map(c.buffers[KERNELS])[k] = -1;
    run(&c, other, 2);
    expect_rows(&c, other, plus);
    clear(&c);
}

/* ---- offsets ---- */

static void expect_shifted(struct chain *c, int (*values)[2])
{
    for (int i = 0; i < SIZE; i++) {
        int at = i + values[0][0];
        assert_int_equal(map(c->buffers[KERNELS])[at], at * 7 + 3 * i);
    }
}

/* Changed from one submission of a handle to the next. */
static void test_offsets(void **state)
{
    (void)state;
    struct chain c;
    make(&c, "shifted", (const int[]){5}, 1, (fusion_finalize_options){.mode = FUSION_ENABLE});
    for (int off = 0; off < 40; off += 3) {
        int same[KERNELS][2] = {{off}, {off}, {off}};
        run(&c, same, 1);
        expect_shifted(&c, same);
    }
    for (int off = 20; off < 60; off += 10) {
        /* the element that another work-item wrote: i + off of k1 is i - 1 + off of k0 */
        int other[KERNELS][2] = {{off + 1}, {off}, {off}};
        int t[SIZE * 2] = {0};
        memset(map(c.buffers[KERNELS]), 0, SIZE * 2 * sizeof(int));
        run(&c, other, 1);
        for (int i = 0; i < SIZE; i++) t[i + off + 1] = (i + off + 1) * 7 + i;
        for (int i = 1; i < SIZE; i++) assert_int_equal(map(c.buffers[KERNELS])[i + off], t[i + off] + 2 * i);
    }
    clear(&c);
}

/* What is read was written as long as n is large enough; else it is zeros, or what a submission binds. */
static void test_bounds(void **state)
{
    (void)state;
    fusion_module *m;
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_buffer *in, *t, *out;
    expect_ok(fusion_module_load(session, "bounds", bounds, strlen(bounds), &m));
    in = index_buffer(session, "in", SIZE, 3, 0);
    expect_ok(fusion_buffer_create(session, "t", FUSION_I32, SIZE, FUSION_INTERNAL_MEMORY, &t));
    out = index_buffer(session, "out", SIZE, 0, 0);
    expect_ok(fusion_graph_create(session, &graph));
    fusion_arg part[] = {fusion_arg_read(in), fusion_arg_write(t), fusion_arg_i32(SIZE)};
    fusion_arg all[] = {fusion_arg_read(t), fusion_arg_write(out)};
    fusion_node node = add_node(graph, m, "part", SIZE, part, 3);
    add_node(graph, m, "all", SIZE, all, 2);
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.mode = FUSION_ENABLE}, &exec));
    assert_int_equal(fusion_exec_report(exec)->n_internalized, 1);
    for (int i = 0; i < 6; i++) {
        int n = (const int[]){SIZE, SIZE + 100, SIZE - 1, 7, 0, INT32_MIN}[i];
        fusion_event event;
        fusion_rebind rebind = {.node = node, .arg = 2, .value = &n, .value_bytes = sizeof n};
        fusion_buffer *zeros = index_buffer(session, "zeros", SIZE, 0, 0);
        fusion_rebind both[] = {rebind, {.from = t, .to = zeros}};
        expect_ok(fusion_exec_submit(exec, both, 2, &event));
        expect_ok(fusion_event_wait(session, event, 20000, NULL));
        for (int k = 0; k < SIZE; k++) assert_int_equal(map(out)[k], k < n ? 2 * (3 * k + 1) : 0);
        fusion_buffer_destroy(zeros);
    }
    fusion_exec_destroy(exec);
    fusion_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_of_spares), cmocka_unit_test(test_rows),    cmocka_unit_test(test_near_rows),
        cmocka_unit_test(test_rows_on_gpu),    cmocka_unit_test(test_offsets), cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests_name("conditions", tests, start, stop);
}
