/* Operations on rows from OpenCL C, a kernel for each step and a work-group for each row: one launch without
   properties, and the bits of the steps one by one, whatever a submission says of the rows' length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"
#include "tests/support/spirv_make.h"

enum { ROWS = 24, COLUMNS = 512, ALL = ROWS * COLUMNS, GROUP = 128, MOST_STEPS = 4, BUFFERS = 7 };

static const char source[] =
    "float of_group(float mine, local float *part, bool largest)\n{\n"
    "    int l = get_local_id(0);\n    part[l] = mine;\n    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {\n"
    "        if (l < s) part[l] = largest ? fmax(part[l], part[l + s]) : part[l] + part[l + s];\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n    }\n    return part[0];\n}\n"
    "kernel void means(global const float *x, global float *mean, int columns)\n{\n"
    "    local float part[128];\n    int row = get_group_id(0);\n    float sum = 0;\n"
    "    for (int j = get_local_id(0); j < columns; j += 128) sum += x[row * columns + j];\n"
    "    sum = of_group(sum, part, false);\n    if (get_local_id(0) == 0) mean[row] = sum / columns;\n}\n"
    "kernel void factors(global const float *x, global const float *mean, global float *factor, int columns)\n{\n"
    "    local float part[128];\n    int row = get_group_id(0);\n    float sum = 0;\n"
    "    for (int j = get_local_id(0); j < columns; j += 128) {\n"
    "        float d = x[row * columns + j] - mean[row];\n        sum += d * d;\n    }\n"
    "    sum = of_group(sum, part, false);\n    if (get_local_id(0) == 0) factor[row] = rsqrt(sum / columns + "
    "1e-5f);\n}\n"
    "kernel void normalize_rows(global const float *x, global const float *mean, global const float *factor,\n"
    "                           global float *y, int columns)\n{\n    int row = get_group_id(0);\n"
    "    for (int j = get_local_id(0); j < columns; j += 128)\n"
    "        y[row * columns + j] = (x[row * columns + j] - mean[row]) * factor[row];\n}\n"
    "kernel void scale_and_shift(global const float *y, global const float *scale, global const float *shift,\n"
    "                            global float *o, int columns)\n{\n    int row = get_group_id(0);\n"
    "    for (int j = get_local_id(0); j < columns; j += 128)\n"
    "        o[row * columns + j] = y[row * columns + j] * scale[j] + shift[j];\n}\n"
    "kernel void largest(global const float *x, global float *m, int columns)\n{\n"
    "    local float part[128];\n    int row = get_group_id(0);\n    float v = -INFINITY;\n"
    "    for (int j = get_local_id(0); j < columns; j += get_local_size(0)) v = fmax(v, x[row * columns + j]);\n"
    "    v = of_group(v, part, true);\n    if (get_local_id(0) == 0) m[row] = v;\n}\n"
    "kernel void exponents(global const float *x, global const float *m, global float *e, global float *sums, int "
    "columns)\n"
    "{\n    local float part[128];\n    int row = get_group_id(0);\n    float sum = 0;\n"
    "    for (int j = get_local_id(0); j < columns; j += get_local_size(0)) {\n"
    "        float v = exp(x[row * columns + j] - m[row]);\n        e[row * columns + j] = v;\n        sum += v;\n    "
    "}\n"
    "    sum = of_group(sum, part, false);\n    if (get_local_id(0) == 0) sums[row] = sum;\n}\n"
    "kernel void shares(global const float *e, global const float *sums, global float *o, int columns)\n{\n"
    "    int row = get_group_id(0);\n"
    "    for (int j = get_local_id(0); j < columns; j += get_local_size(0))\n"
    "        o[row * columns + j] = e[row * columns + j] / sums[row];\n}\n";

/* Kernels, and their buffers by number: 0 to 2 are inputs, 3 is the result. The last argument is the rows' length. */
struct operation {
    unsigned n_steps;
    struct {
        const char *kernel;
        int buffers[5]; /* the last ones are written */
        unsigned n, n_written;
    } steps[MOST_STEPS];
};

static const struct operation layernorm = {4,
                                           {{"means", {0, 4}, 2, 1},
                                            {"factors", {0, 4, 5}, 3, 1},
                                            {"normalize_rows", {0, 4, 5, 6}, 4, 1},
                                            {"scale_and_shift", {6, 1, 2, 3}, 4, 1}}};
static const struct operation softmax = {
    3, {{"largest", {0, 4}, 2, 1}, {"exponents", {0, 4, 6, 5}, 4, 2}, {"shares", {6, 5, 3}, 3, 1}}};

static struct service service;
static fusion_session *session;
static fusion_module *module;

static int start(void **state)
{
    (void)state;
    size_t size;
    service_start(&service, NULL);
    session = service_connect(&service);
    if (!spirv_make_can_compile()) return 0;
    uint8_t *bytes = spirv_make_compiled(source, "O2", &size);
    expect_ok(fusion_module_load(session, "rows.spv", bytes, size, &module));
    free(bytes);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    return 0;
}

/* ---- an operation ---- */

struct made {
    fusion_buffer *buffers[BUFFERS];
    fusion_exec *exec;
};

static float *map(fusion_buffer *buffer)
{
    void *memory;
    expect_ok(fusion_buffer_map(buffer, &memory));
    return memory;
}

static void make(struct made *m, const struct operation *o, unsigned properties, fusion_finalize_options options)
{
    fusion_graph *graph;
    for (int i = 0; i < BUFFERS; i++) {
        const char name[] = {'b', (char)('0' + i), 0};
        size_t count = i == 0 || i == 3 || i == 6 ? ALL : i < 3 ? COLUMNS : ROWS;
        expect_ok(fusion_buffer_create(session, name, FUSION_F32, count, i > 3 ? properties : 0, &m->buffers[i]));
        for (size_t k = 0; k < count && i < 4; k++) map(m->buffers[i])[k] = (float)(k * 37 % 101) * 0.0625f - 3;
    }
    expect_ok(fusion_graph_create(session, &graph));
    for (unsigned i = 0; i < o->n_steps; i++) {
        fusion_arg args[6];
        unsigned n = o->steps[i].n;
        for (unsigned k = 0; k < n; k++) {
            fusion_buffer *b = m->buffers[o->steps[i].buffers[k]];
            args[k] = k + o->steps[i].n_written < n ? fusion_arg_read(b) : fusion_arg_write(b);
        }
        args[n] = fusion_arg_i32(COLUMNS);
        fusion_kernel_node node = {.name = o->steps[i].kernel,
                                   .module = module,
                                   .kernel = o->steps[i].kernel,
                                   .dims = 1,
                                   .global = {ROWS * GROUP},
                                   .local = {GROUP},
                                   .args = args,
                                   .n_args = n + 1};
        expect_ok(fusion_graph_add_kernel(graph, &node, NULL));
    }
    expect_ok(fusion_graph_finalize(graph, &options, &m->exec));
    fusion_graph_destroy(graph);
}

static void clear(struct made *m)
{
    fusion_exec_destroy(m->exec);
    for (int i = 0; i < BUFFERS; i++) fusion_buffer_destroy(m->buffers[i]);
}

/* With rows of these lengths, for each step. */
static void run(struct made *m, const struct operation *o, const int *columns)
{
    fusion_event event;
    fusion_rebind rebind[MOST_STEPS] = {0};
    for (unsigned i = 0; i < o->n_steps; i++)
        rebind[i] =
            (fusion_rebind){.node = i, .arg = o->steps[i].n, .value = &columns[i], .value_bytes = sizeof columns[i]};
    for (size_t k = 0; k < ALL; k++) map(m->buffers[3])[k] = -1;
    expect_ok(fusion_exec_submit(m->exec, rebind, o->n_steps, &event));
    expect_ok(fusion_event_wait(session, event, 20000, NULL));
}

static bool has_remark(const struct made *m, const char *code)
{
    const fusion_report *r = fusion_exec_report(m->exec);
    for (uint32_t i = 0; i < r->n_remarks; i++)
        if (strcmp(r->remarks[i].code, code) == 0) return true;
    return false;
}

/* ---- tests ---- */

static void check(const struct operation *o, unsigned properties, uint32_t internalized)
{
    static const int columns[][MOST_STEPS] = {{COLUMNS, COLUMNS, COLUMNS, COLUMNS},
                                              {200, 200, 200, 200},
                                              {COLUMNS, COLUMNS, 384, 384},
                                              {96, 128, 160, 7},
                                              {COLUMNS, COLUMNS, COLUMNS, COLUMNS}};
    struct made apart, fused;
    if (!module) skip();
    make(&apart, o, 0, (fusion_finalize_options){.mode = FUSION_NONE});
    make(&fused, o, properties, (fusion_finalize_options){.mode = FUSION_ENABLE});
    assert_int_equal(fusion_exec_report(apart.exec)->launches, o->n_steps);
    assert_int_equal(fusion_exec_report(fused.exec)->launches, 1);
    assert_int_equal(fusion_exec_report(fused.exec)->n_internalized, internalized);
    assert_true(has_remark(&fused, "barrier_inserted"));
    assert_true(has_remark(&fused, "conditional"));
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        run(&apart, o, columns[i]);
        run(&fused, o, columns[i]);
        assert_memory_equal(map(apart.buffers[3]), map(fused.buffers[3]), ALL * sizeof(float));
    }
    clear(&apart);
    clear(&fused);
}

static void layernorm_is_one_launch(void **state)
{
    (void)state;
    check(&layernorm, 0, 0);
}

static void softmax_is_one_launch(void **state)
{
    (void)state;
    check(&softmax, 0, 0);
}

static void what_flows_needs_no_memory(void **state)
{
    (void)state;
    check(&layernorm, FUSION_INTERNAL_MEMORY | FUSION_NO_INIT, 3);
    check(&softmax, FUSION_INTERNAL_MEMORY | FUSION_NO_INIT, 3);
}

static void nothing_is_put_that_is_not_wanted(void **state)
{
    (void)state;
    struct made m;
    if (!module) skip();
    make(&m, &layernorm, 0, (fusion_finalize_options){.mode = FUSION_ENABLE, .barriers = FUSION_BARRIERS_NONE});
    assert_int_equal(fusion_exec_report(m.exec)->launches, 3); /* the last two need none */
    assert_false(has_remark(&m, "barrier_inserted"));
    clear(&m);
    fusion_graph *graph;
    fusion_exec *exec;
    const fusion_finalize_options unknown = {.barriers = (fusion_barriers)3};
    expect_ok(fusion_graph_create(session, &graph));
    assert_int_equal(fusion_graph_finalize(graph, &unknown, &exec), FUSION_INVALID);
    fusion_graph_destroy(graph);
}

/* A run that watches what the plan takes for granted finds nothing. */
static void watched(void **state)
{
    (void)state;
    static const int columns[MOST_STEPS] = {COLUMNS, COLUMNS, COLUMNS, COLUMNS};
    struct made m;
    if (!module) skip();
    make(&m, &softmax, 0, (fusion_finalize_options){.mode = FUSION_ENABLE, .debug = true});
    run(&m, &softmax, columns);
    clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layernorm_is_one_launch),
        cmocka_unit_test(softmax_is_one_launch),
        cmocka_unit_test(what_flows_needs_no_memory),
        cmocka_unit_test(nothing_is_put_that_is_not_wanted),
        cmocka_unit_test(watched),
    };
    return cmocka_run_group_tests_name("rows", tests, start, stop);
}
