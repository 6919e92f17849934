/* Graphs through the whole service: values, and the evidence that fusion happened. */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { SIZE = 512 };
static const unsigned internal = FUSION_ACCESS_SCOPE_WORK_ITEM | FUSION_INTERNAL_MEMORY | FUSION_NO_INIT;

static struct service service;

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    service_clear(&service);
    return 0;
}

/* The four kernels of the specification's first program. */
struct diamond {
    fusion_session *session;
    fusion_module *module;
    fusion_graph *graph;
    fusion_buffer *in[3], *tmp[3], *out;
    fusion_node scale;
};

static void diamond_build(struct diamond *d, uint64_t size)
{
    d->session = service_connect(&service);
    d->module = load_test_kernels(d->session);
    expect_ok(fusion_graph_create(d->session, &d->graph));
    for (int i = 0; i < 3; i++) {
        char name[8] = {'i', 'n', (char)('1' + i)}, tmp[8] = {'t', 'm', 'p', (char)('1' + i)};
        d->in[i] = index_buffer(d->session, name, size, i + 1, 0);
        expect_ok(fusion_buffer_create(d->session, tmp, FUSION_I32, size, internal, &d->tmp[i]));
    }
    expect_ok(fusion_buffer_create(d->session, "out", FUSION_I32, size, 0, &d->out));
    fusion_arg add[] = {fusion_arg_read(d->in[0]), fusion_arg_read(d->in[1]), fusion_arg_write(d->tmp[0])};
    fusion_arg multiply[] = {fusion_arg_read(d->tmp[0]), fusion_arg_read(d->in[2]), fusion_arg_write(d->tmp[1])};
    fusion_arg scale[] = {fusion_arg_read(d->tmp[0]), fusion_arg_write(d->tmp[2]), fusion_arg_i32(5)};
    fusion_arg last[] = {fusion_arg_read(d->tmp[1]), fusion_arg_read(d->tmp[2]), fusion_arg_write(d->out)};
    add_node(d->graph, d->module, "add", size, add, 3);
    add_node(d->graph, d->module, "multiply", size, multiply, 3);
    d->scale = add_node(d->graph, d->module, "scale", size, scale, 3);
    add_node(d->graph, d->module, "add", size, last, 3);
}

static fusion_exec *finalize(fusion_graph *graph, fusion_mode mode)
{
    fusion_exec *exec = NULL;
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.mode = mode}, &exec));
    return exec;
}

static void run(fusion_session *session, fusion_exec *exec, const fusion_rebind *rebind, uint32_t n)
{
    fusion_event event;
    expect_ok(fusion_exec_submit(exec, rebind, n, &event));
    expect_ok(fusion_event_wait(session, event, 20000, NULL));
}

static void expect_diamond(fusion_buffer *out, uint64_t size, int factor)
{
    void *memory;
    expect_ok(fusion_buffer_map(out, &memory));
    for (uint64_t i = 0; i < size; i++) {
        uint32_t n = (uint32_t)i, t = 3 * n; /* as the kernels: modulo 2^32 */
        assert_int_equal(((uint32_t *)memory)[i], t * 3 * n + t * (uint32_t)factor);
    }
}

static void test_fused(void **state)
{
    (void)state;
    struct diamond d;
    diamond_build(&d, SIZE);
    fusion_exec *exec = finalize(d.graph, FUSION_REQUIRE);
    run(d.session, exec, NULL, 0);
    expect_diamond(d.out, SIZE, 5);
    const fusion_report *r = fusion_exec_report(exec);
    assert_int_equal(r->launches, 1);
    assert_int_equal(r->groups[0].n_nodes, 4);
    assert_int_equal(r->n_order, 4);
    assert_int_equal(r->n_internalized, 3);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(r->internalized[i].memory, "private");
        assert_false(fusion_buffer_has_memory(d.tmp[i]));
    }
    /* Three inputs read, one output written; unfused each kernel reads and writes its own. */
    assert_int_equal(r->bytes_fused, 4 * SIZE * 4);
    assert_int_equal(r->bytes_unfused, (3 + 3 + 2 + 3) * SIZE * 4);
    assert_true(r->n_remarks >= 4);
    fusion_disconnect(d.session);
}

static void test_unfused(void **state)
{
    (void)state;
    struct diamond d;
    diamond_build(&d, SIZE);
    fusion_exec *exec = finalize(d.graph, FUSION_NONE);
    run(d.session, exec, NULL, 0);
    expect_diamond(d.out, SIZE, 5);
    const fusion_report *r = fusion_exec_report(exec);
    assert_int_equal(r->launches, 4);
    assert_int_equal(r->n_internalized, 0);
    for (int i = 0; i < 3; i++) assert_true(fusion_buffer_has_memory(d.tmp[i]));
    assert_int_equal(r->bytes_fused, r->bytes_unfused);
    fusion_disconnect(d.session);
}

/* Every size around vector widths and work-group borders. */
static void test_sizes(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 2, 7, 15, 16, 17, 31, 33, 63, 65, 127, 1023, 1024, 1025, 4099, 100003, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct diamond d;
        diamond_build(&d, sizes[i]);
        run(d.session, finalize(d.graph, FUSION_REQUIRE), NULL, 0);
        expect_diamond(d.out, sizes[i], 5);
        fusion_disconnect(d.session);
    }
}

static void test_reference_device(void **state)
{
    (void)state;
    struct diamond d;
    diamond_build(&d, 100);
    fusion_exec *exec;
    expect_ok(fusion_graph_finalize(d.graph, &(fusion_finalize_options){.mode = FUSION_REQUIRE, .device = "reference"},
                                    &exec));
    run(d.session, exec, NULL, 0);
    expect_diamond(d.out, 100, 5);
    assert_int_equal(fusion_exec_report(exec)->launches, 1);
    fusion_disconnect(d.session);
}

static void test_rebinding(void **state)
{
    (void)state;
    struct diamond d;
    diamond_build(&d, SIZE);
    fusion_exec *exec = finalize(d.graph, FUSION_REQUIRE);
    fusion_buffer *other;
    expect_ok(fusion_buffer_create(d.session, "other", FUSION_I32, SIZE, 0, &other));
    int32_t factor = -9;
    fusion_rebind rebind[] = {{.node = d.scale, .arg = 2, .value = &factor, .value_bytes = 4},
                              {.from = d.out, .to = other}};
    run(d.session, exec, rebind, 2);
    expect_diamond(other, SIZE, -9);
    run(d.session, exec, NULL, 0); /* the handle itself is as it was */
    expect_diamond(d.out, SIZE, 5);

    fusion_buffer *small;
    expect_ok(fusion_buffer_create(d.session, "small", FUSION_I32, SIZE - 1, 0, &small));
    expect_error(fusion_exec_submit(exec, &(fusion_rebind){.from = d.out, .to = small}, 1, NULL), FUSION_INVALID);
    expect_in_reason("2048");
    expect_error(fusion_exec_submit(exec, &(fusion_rebind){.from = small, .to = d.out}, 1, NULL), FUSION_NOT_FOUND);
    expect_error(fusion_exec_submit(
                     exec, &(fusion_rebind){.node = d.scale, .arg = 2, .value = &factor, .value_bytes = 2}, 1, NULL),
                 FUSION_INVALID);
    fusion_disconnect(d.session);
}

/* Two slots that were distinct when the code was made must stay so: the code relies on it. */
static void test_overlap_is_refused(void **state)
{
    (void)state;
    struct diamond d;
    diamond_build(&d, SIZE);
    fusion_exec *exec = finalize(d.graph, FUSION_REQUIRE);
    fusion_event event;
    expect_ok(fusion_exec_submit(exec, &(fusion_rebind){.from = d.out, .to = d.in[0]}, 1, &event));
    expect_error(fusion_event_wait(d.session, event, 20000, NULL), FUSION_INVALID);
    expect_in_reason("in1");
    run(d.session, exec, NULL, 0);
    expect_diamond(d.out, SIZE, 5);
    fusion_disconnect(d.session);
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
                          fusion_arg_pointer(tmp, FUSION_ACCESS_WRITE, internal), fusion_arg_i32(3)};
    fusion_arg second[] = {fusion_arg_pointer(tmp, FUSION_ACCESS_READ, internal),
                           fusion_arg_pointer(out, FUSION_ACCESS_WRITE, 0), fusion_arg_i32(4)};
    add_node(graph, module, "scale", SIZE, first, 3);
    add_node(graph, module, "scale", SIZE, second, 3);
    fusion_exec *exec = finalize(graph, FUSION_REQUIRE);
    run(session, exec, NULL, 0);
    for (int i = 0; i < SIZE; i++) assert_int_equal(((int *)out)[i], 12 * i);
    assert_int_equal(fusion_exec_report(exec)->launches, 1);
    assert_int_equal(fusion_exec_report(exec)->n_internalized, 1);
    expect_ok(fusion_free(session, tmp));
    expect_error(fusion_free(session, (char *)in + 4), FUSION_INVALID);
    fusion_disconnect(session);
}

static void test_copies_and_fills(void **state)
{
    (void)state;
    fusion_session *session = service_connect(&service);
    fusion_module *module = load_test_kernels(session);
    fusion_graph *graph;
    fusion_buffer *in = index_buffer(session, "in", SIZE, 1, 0), *mid, *out;
    expect_ok(fusion_buffer_create(session, "mid", FUSION_I32, SIZE, 0, &mid));
    expect_ok(fusion_buffer_create(session, "out", FUSION_I32, SIZE, 0, &out));
    expect_ok(fusion_graph_create(session, &graph));
    fusion_node fill, scale;
    int32_t value = 41;
    expect_ok(
        fusion_graph_add_fill(graph, "fill", (fusion_memory){.buffer = out}, SIZE * 4, &value, 4, NULL, 0, &fill));
    fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(mid), fusion_arg_i32(2)};
    scale = add_node(graph, module, "scale", SIZE, args, 3);
    /* The second half of mid over the second half of the filled buffer. */
    expect_ok(fusion_graph_add_copy(graph, "copy", (fusion_memory){.buffer = mid, .offset = SIZE * 2},
                                    (fusion_memory){.buffer = out, .offset = SIZE * 2}, SIZE * 2, &scale, 1, NULL));
    fusion_exec *exec = finalize(graph, FUSION_ENABLE);
    run(session, exec, NULL, 0);
    void *memory;
    expect_ok(fusion_buffer_map(out, &memory));
    for (int i = 0; i < SIZE; i++) assert_int_equal(((int *)memory)[i], i < SIZE / 2 ? 41 : 2 * i);
    expect_error(fusion_graph_add_fill(graph, "odd", (fusion_memory){.buffer = out}, 10, &value, 4, NULL, 0, NULL),
                 FUSION_INVALID);
    expect_error(fusion_graph_add_copy(graph, "far", (fusion_memory){.buffer = mid, .offset = 4},
                                       (fusion_memory){.buffer = out}, SIZE * 4, NULL, 0, NULL),
                 FUSION_INVALID);
    fusion_disconnect(session);
}

static void test_queue_runs_at_once(void **state)
{
    (void)state;
    fusion_session *session = service_connect(&service);
    fusion_module *module = load_test_kernels(session);
    fusion_queue *queue;
    fusion_buffer *in = index_buffer(session, "in", SIZE, 1, 0), *out = index_buffer(session, "out", SIZE, 0, 0);
    expect_ok(fusion_queue_create(session, &queue));
    for (int factor = 1; factor < 50; factor++) {
        fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(out), fusion_arg_i32(factor)};
        fusion_kernel_node node = {
            .module = module, .kernel = "scale", .dims = 1, .global = {SIZE}, .args = args, .n_args = 3};
        expect_ok(fusion_queue_submit(queue, &node, NULL));
        expect_ok(fusion_queue_wait(queue));
        void *memory;
        expect_ok(fusion_buffer_map(out, &memory));
        assert_int_equal(((int *)memory)[SIZE - 1], factor * (SIZE - 1));
    }
    fusion_queue_destroy(queue);
    fusion_disconnect(session);
}

static void test_completion_descriptor(void **state)
{
    (void)state;
    struct diamond d;
    diamond_build(&d, SIZE);
    fusion_exec *exec = finalize(d.graph, FUSION_REQUIRE);
    struct pollfd p = {.fd = fusion_session_fd(d.session), .events = POLLIN};
    fusion_event event;
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    assert_int_equal(poll(&p, 1, 20000), 1);
    expect_ok(fusion_session_dispatch(d.session));
    expect_ok(fusion_event_poll(d.session, event));
    assert_int_equal(poll(&p, 1, 0), 0);
    expect_error(fusion_event_poll(d.session, event + 1), FUSION_INVALID);
    fusion_disconnect(d.session);
}

/* More submissions in flight than the ring has room for. */
static void test_many_submissions(void **state)
{
    (void)state;
    struct diamond d;
    diamond_build(&d, SIZE);
    fusion_exec *exec = finalize(d.graph, FUSION_REQUIRE);
    fusion_event event = 0;
    for (int32_t i = 0; i < 2000; i++)
        expect_ok(fusion_exec_submit(exec, &(fusion_rebind){.node = d.scale, .arg = 2, .value = &i, .value_bytes = 4},
                                     1, &event));
    expect_ok(fusion_event_wait(d.session, event, 20000, NULL));
    expect_diamond(d.out, SIZE, 1999);
    expect_ok(fusion_event_wait(d.session, 1, 0, NULL));
    fusion_disconnect(d.session);
}

static void *thread_work(void *data)
{
    struct diamond *d = data;
    fusion_graph *graph;
    fusion_buffer *out, *in = d->in[0];
    if (fusion_graph_create(d->session, &graph) || fusion_buffer_create(d->session, NULL, FUSION_I32, SIZE, 0, &out))
        return "create";
    fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(out), fusion_arg_i32(7)};
    fusion_kernel_node node = {
        .module = d->module, .kernel = "scale", .dims = 1, .global = {SIZE}, .args = args, .n_args = 3};
    fusion_exec *exec;
    if (fusion_graph_add_kernel(graph, &node, NULL) || fusion_graph_finalize(graph, NULL, &exec)) return "finalize";
    for (int i = 0; i < 200; i++) {
        fusion_event event;
        if (fusion_exec_submit(exec, NULL, 0, &event) || fusion_event_wait(d->session, event, 20000, NULL))
            return "submit";
    }
    void *memory;
    if (fusion_buffer_map(out, &memory)) return "map";
    for (int i = 0; i < SIZE; i++)
        if (((int *)memory)[i] != 7 * i) return "values";
    fusion_exec_destroy(exec);
    fusion_buffer_destroy(out);
    fusion_graph_destroy(graph);
    return NULL;
}

static void test_threads_share_a_session(void **state)
{
    (void)state;
    struct diamond d;
    pthread_t threads[4];
    diamond_build(&d, SIZE);
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, thread_work, &d), 0);
    for (int i = 0; i < 4; i++) {
        void *failure;
        pthread_join(threads[i], &failure);
        if (failure) fail_msg("a thread failed at: %s", (char *)failure);
    }
    fusion_disconnect(d.session);
}

/* A neighbour's element is needed: without the user's word the group is cut, and the result is right. */
static void test_cut_where_items_depend_on_others(void **state)
{
    (void)state;
    fusion_session *session = service_connect(&service);
    fusion_module *module = load_test_kernels(session);
    fusion_graph *graph;
    fusion_buffer *in = index_buffer(session, "in", 1024, 1, 0), *mid, *out;
    expect_ok(fusion_buffer_create(session, "mid", FUSION_I32, 1024, 0, &mid));
    expect_ok(fusion_buffer_create(session, "out", FUSION_I32, 1024, 0, &out));
    expect_ok(fusion_graph_create(session, &graph));
    fusion_arg first[] = {fusion_arg_read(in), fusion_arg_write(mid), fusion_arg_i32(3)};
    fusion_arg second[] = {fusion_arg_read(mid), fusion_arg_write(out)};
    add_node(graph, module, "scale", 1024, first, 3);
    add_node(graph, module, "neighbour", 1024, second, 2);
    fusion_exec *exec = finalize(graph, FUSION_ENABLE);
    run(session, exec, NULL, 0);
    const fusion_report *r = fusion_exec_report(exec);
    assert_int_equal(r->launches, 2);
    void *memory;
    expect_ok(fusion_buffer_map(out, &memory));
    for (int i = 0; i < 1024; i++) assert_int_equal(((int *)memory)[i], 3 * (i ^ 1));
    fusion_disconnect(session);
}

/* A kernel of so many operations, each on the one before. */
static char *chain_of(unsigned n)
{
    char *text = malloc(200 + 60 * (size_t)n), *at = text;
    if (!text) abort();
    at += sprintf(at, "kernel @k(%%a: ptr.global f32 read, %%o: ptr.global f32 write) {\n  %%i = global_id x\n"
                      "  %%v0 = load f32 %%a[%%i]\n");
    for (unsigned k = 0; k < n; k++)
        at += sprintf(at, "  %%v%u = %s f32 %%v%u, 0.5\n", k + 1, k & 1 ? "fmul" : "fadd", k);
    sprintf(at, "  store f32 %%o[%%i], %%v%u\n}\n", n);
    return text;
}

static void check_effort(fusion_session *session, unsigned n, const char *effort)
{
    char *text = chain_of(n);
    fusion_module *module;
    fusion_buffer *in, *out;
    fusion_graph *graph;
    fusion_exec *exec;
    float *x, want = 3;
    expect_ok(fusion_module_load(session, "chain.fk", text, strlen(text), &module));
    expect_ok(fusion_buffer_create(session, "in", FUSION_F32, SIZE, 0, &in));
    expect_ok(fusion_buffer_create(session, "out", FUSION_F32, SIZE, 0, &out));
    expect_ok(fusion_buffer_map(in, (void **)&x));
    for (int i = 0; i < SIZE; i++) x[i] = want;
    expect_ok(fusion_graph_create(session, &graph));
    fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(out)};
    add_node(graph, module, "k", SIZE, args, 2);
    expect_ok(fusion_graph_finalize(graph, NULL, &exec));
    assert_string_equal(fusion_exec_report(exec)->groups[0].effort, effort);
    run(session, exec, NULL, 0);
    expect_ok(fusion_buffer_map(out, (void **)&x));
    for (unsigned k = 0; k < n; k++) want = k & 1 ? want * 0.5f : want + 0.5f;
    for (int i = 0; i < SIZE; i++) assert_true(x[i] == want);
    free(text);
}

/* A large kernel is compiled with less effort, and the report says so. */
static void test_large_kernels(void **state)
{
    (void)state;
    fusion_session *session = service_connect(&service);
    check_effort(session, 100, "full");
    check_effort(session, 5000, "scalar");
    fusion_disconnect(session);
}

static void test_devices(void **state)
{
    (void)state;
    fusion_session *session = service_connect(&service);
    uint32_t n;
    fusion_device_info cpu = {FUSION_SIZED(fusion_device_info)};
    expect_ok(fusion_device_count(session, &n));
    assert_true(n >= 2); /* and the GPUs of this machine */
    expect_ok(fusion_device_get(session, 0, &cpu));
    assert_string_equal(cpu.name, "cpu");
    assert_non_null(strstr(cpu.aspects, "ext_oneapi_graph_fusion"));
    assert_true(cpu.max_work_group_size >= 256 && cpu.compute_units >= 1);
    expect_error(fusion_device_get(session, n, &cpu), FUSION_NOT_FOUND);
    fusion_disconnect(session);
}

static void test_module_queries(void **state)
{
    (void)state;
    fusion_session *session = service_connect(&service);
    fusion_module *module = load_test_kernels(session);
    const fusion_kernel_info *k = fusion_module_kernel(module, 0);
    assert_string_equal(k->name, "add");
    assert_int_equal(k->n_args, 3);
    assert_string_equal(k->args[0].name, "a");
    assert_string_equal(k->args[0].access, "read");
    assert_string_equal(k->args[2].access, "write");
    assert_int_equal(fusion_module_kernel(module, 2)->args[2].size, 4);
    assert_null(fusion_module_kernel(module, 1000));
    char *text;
    expect_ok(fusion_module_text(module, &text));
    fusion_module *again;
    expect_ok(fusion_module_load(session, "again.fk", text, strlen(text), &again)); /* it reads its own text */
    assert_int_equal(fusion_module_kernel_count(again), fusion_module_kernel_count(module));
    free(text);
    fusion_module_destroy(again);
    fusion_disconnect(session);
}

static void test_private_daemon(void **state)
{
    (void)state;
    fusion_session *session;
    expect_ok(fusion_connect(NULL, &(fusion_connect_options){.private_daemon = true}, &session));
    fusion_module *module = load_test_kernels(session);
    fusion_queue *queue;
    fusion_buffer *in = index_buffer(session, "in", SIZE, 1, 0), *out = index_buffer(session, "out", SIZE, 0, 0);
    expect_ok(fusion_queue_create(session, &queue));
    fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(out), fusion_arg_i32(6)};
    fusion_kernel_node node = {
        .module = module, .kernel = "scale", .dims = 1, .global = {SIZE}, .args = args, .n_args = 3};
    expect_ok(fusion_queue_submit(queue, &node, NULL));
    expect_ok(fusion_queue_wait(queue));
    void *memory;
    expect_ok(fusion_buffer_map(out, &memory));
    assert_int_equal(((int *)memory)[100], 600);
    fusion_disconnect(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fused),
        cmocka_unit_test(test_unfused),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_reference_device),
        cmocka_unit_test(test_rebinding),
        cmocka_unit_test(test_overlap_is_refused),
        cmocka_unit_test(test_usm),
        cmocka_unit_test(test_copies_and_fills),
        cmocka_unit_test(test_queue_runs_at_once),
        cmocka_unit_test(test_completion_descriptor),
        cmocka_unit_test(test_many_submissions),
        cmocka_unit_test(test_threads_share_a_session),
        cmocka_unit_test(test_cut_where_items_depend_on_others),
        cmocka_unit_test(test_large_kernels),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_module_queries),
        cmocka_unit_test(test_private_daemon),
    };
    return cmocka_run_group_tests_name("graphs", tests, start, stop);
}
