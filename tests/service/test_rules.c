/* Small rules of the interface that a client sees: empty runs, names, rebinding of what only this process uses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { SIZE = 64 };

static struct service service;
static fusion_session *session;
static fusion_module *module;

static int start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    session = service_connect(&service);
    module = load_test_kernels(session);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    return 0;
}

static fusion_graph *new_graph(void)
{
    fusion_graph *graph;
    expect_ok(fusion_graph_create(session, &graph));
    return graph;
}

static fusion_exec *finalize(fusion_graph *graph, fusion_finalize_options options)
{
    fusion_exec *exec = NULL;
    expect_ok(fusion_graph_finalize(graph, &options, &exec));
    return exec;
}

static fusion_status run(fusion_exec *exec, const fusion_rebind *rebind, uint32_t n)
{
    fusion_event event;
    fusion_status status = fusion_exec_submit(exec, rebind, n, &event);
    return status == FUSION_SUCCESS ? fusion_event_wait(session, event, 20000, NULL) : status;
}

static fusion_node add_scale(fusion_graph *graph, const char *name, uint64_t n, fusion_buffer *from, fusion_buffer *to,
                             int factor)
{
    fusion_node node;
    fusion_arg args[] = {fusion_arg_read(from), fusion_arg_write(to), fusion_arg_i32(factor)};
    fusion_kernel_node k = {
        .name = name, .module = module, .kernel = "scale", .dims = 1, .global = {n}, .args = args, .n_args = 3};
    expect_ok(fusion_graph_add_kernel(graph, &k, &node));
    return node;
}

static int *map(fusion_buffer *buffer)
{
    void *memory;
    expect_ok(fusion_buffer_map(buffer, &memory));
    return memory;
}

static void nothing(void *data)
{
    (void)data;
}

/* ---- empty runs ---- */

static void test_no_work_items(void **state)
{
    (void)state;
    static const fusion_finalize_options all[] = {{.mode = FUSION_NONE},
                                                  {.mode = FUSION_REQUIRE},
                                                  {.mode = FUSION_REQUIRE, .debug = true},
                                                  {.device = "reference"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        fusion_buffer *a = index_buffer(session, "a", SIZE, 1, 0), *b = index_buffer(session, "b", SIZE, 0, 0),
                      *c = index_buffer(session, "c", SIZE, 0, 0);
        fusion_graph *graph = new_graph();
        add_scale(graph, "before", SIZE, a, b, 3);
        fusion_node empty = add_scale(graph, "empty", 0, a, b, 100);
        add_scale(graph, "after", SIZE, b, c, 5);
        expect_ok(fusion_graph_add_copy(graph, "none", (fusion_memory){.buffer = a}, (fusion_memory){.buffer = c}, 0,
                                        NULL, 0, NULL));
        fusion_exec *exec = finalize(graph, all[i]);
        assert_int_equal(fusion_exec_report(exec)->n_order, 4);
        assert_int_equal(fusion_exec_report(exec)->launches, all[i].mode == FUSION_REQUIRE ? 1 : 2);
        expect_ok(run(exec, NULL, 0));
        int factor = 7; /* a value of a node that does not run can be changed like any */
        fusion_rebind rebind = {.node = empty, .arg = 2, .value = &factor, .value_bytes = sizeof factor};
        expect_ok(run(exec, &rebind, 1));
        for (int k = 0; k < SIZE; k++) assert_int_equal(map(c)[k], 15 * k);
        fusion_graph *only = new_graph();
        add_scale(only, NULL, 0, a, c, 9);
        expect_ok(run(finalize(only, all[i]), NULL, 0));
        assert_int_equal(map(c)[3], 45);
    }
    fusion_queue *queue;
    fusion_buffer *a = index_buffer(session, "a", SIZE, 1, 0);
    fusion_arg args[] = {fusion_arg_read_write(a), fusion_arg_i64(0)};
    fusion_kernel_node k = {
        .module = module, .kernel = "write_beyond", .dims = 2, .global = {4, 0}, .args = args, .n_args = 2};
    expect_ok(fusion_queue_create(session, &queue));
    expect_ok(fusion_queue_submit(queue, &k, NULL));
    expect_ok(fusion_queue_wait(queue));
    assert_int_equal(map(a)[1], 1);
}

/* ---- names and properties ---- */

static void test_names(void **state)
{
    (void)state;
    fusion_buffer *a = index_buffer(session, "same", SIZE, 1, 0),
                  *b = index_buffer(session, "other", SIZE, 0, FUSION_INTERNAL_MEMORY),
                  *c = index_buffer(session, "c", SIZE, 0, 0);
    fusion_graph *graph = new_graph();
    add_scale(graph, "same", SIZE, a, b, 3); /* a node and a buffer */
    add_scale(graph, "c", SIZE, b, c, 5);
    fusion_arg args[] = {fusion_arg_read(b), fusion_arg_write(c), fusion_arg_i32(5)};
    fusion_kernel_node twice = {
        .name = "c", .module = module, .kernel = "scale", .dims = 1, .global = {SIZE}, .args = args, .n_args = 3};
    expect_error(fusion_graph_add_kernel(graph, &twice, NULL), FUSION_INVALID);
    expect_in_reason("another node");
    fusion_exec *exec = finalize(graph, (fusion_finalize_options){.mode = FUSION_REQUIRE});
    assert_int_equal(fusion_exec_report(exec)->n_internalized, 1);
    assert_string_equal(fusion_exec_report(exec)->internalized[0].buffer, "other");
    assert_string_equal(fusion_exec_node_name(exec, 0), "same");
    expect_ok(run(exec, NULL, 0));
    assert_int_equal(map(c)[2], 30);
}

static void test_scopes_of_an_accessor(void **state)
{
    (void)state;
    fusion_buffer *a = index_buffer(session, "a", SIZE, 1, 0);
    fusion_graph *graph = new_graph();
    void *pointer;
    expect_ok(fusion_malloc(session, FUSION_USM_SHARED, 64, &pointer));
    fusion_arg args[] = {fusion_arg_read(a), fusion_arg_write(a), fusion_arg_i32(1)};
    fusion_kernel_node k = {
        .module = module, .kernel = "scale", .dims = 1, .global = {SIZE}, .args = args, .n_args = 3};
    args[1].properties = FUSION_ACCESS_SCOPE_WORK_GROUP | FUSION_ACCESS_SCOPE_WORK_ITEM;
    expect_error(fusion_graph_add_kernel(graph, &k, NULL), FUSION_INVALID);
    expect_in_reason("exclude each other");
    expect_in_reason("argument 1");
    args[1].properties = 1 << 9;
    expect_error(fusion_graph_add_kernel(graph, &k, NULL), FUSION_INVALID);
    expect_in_reason("unknown property bits 0x200");
    args[1] = fusion_arg_pointer(pointer, FUSION_ACCESS_WRITE,
                                 FUSION_ACCESS_SCOPE_WORK_GROUP | FUSION_ACCESS_SCOPE_WORK_ITEM);
    expect_error(fusion_graph_add_kernel(graph, &k, NULL), FUSION_INVALID);
    expect_in_reason("exclude each other");
}

static void test_empty_modules(void **state)
{
    (void)state;
    fusion_module *m = NULL;
    expect_error(fusion_module_load(session, "empty.fk", "", 0, &m), FUSION_INVALID);
    expect_in_reason("empty");
    expect_error(fusion_module_load(session, "comment.fk", "// nothing\n", 11, &m), FUSION_INVALID);
    expect_in_reason("neither a kernel nor");
    assert_null(m);
}

/* Also where the pointer goes through arithmetic and a function. */
static void test_writing_what_is_declared_to_be_read(void **state)
{
    (void)state;
    static const char text[] = "func @put(%p: ptr.global) {\n  store i32 %p, 7\n  return\n}\n"
                               "kernel @bad(%a: ptr.global i32 read, %o: ptr.global i32 write) {\n"
                               "  %i = global_id x\n  %q = elem i32 %a, %i\n  call @put(%q)\n  return\n}\n";
    static const char good[] = "kernel @good(%a: ptr.global i32 read) {\n  %i = global_id x\n  %v = load i32 %a[%i]\n"
                               "  return\n}\n";
    fusion_module *m = NULL;
    expect_error(fusion_module_load(session, "bad.fk", text, sizeof text - 1, &m), FUSION_INVALID);
    expect_in_reason("kernel bad declares parameter 0 (%a) to be read only, but writes it in line 2");
    expect_ok(fusion_module_load(session, "good.fk", good, sizeof good - 1, &m));
}

/* ---- rebinding ---- */

/* `out` is written by a kernel, `seen` by a host task or copy alone: of that the executor knows nothing. */
static void test_rebinding_onto_memory_of_host_tasks(void **state)
{
    (void)state;
    fusion_buffer *a = index_buffer(session, "a", SIZE, 1, 0), *out = index_buffer(session, "out", SIZE, 0, 0),
                  *seen = index_buffer(session, "seen", SIZE, 0, 0),
                  *free_one = index_buffer(session, "free", SIZE, 0, 0);
    int host[SIZE] = {0};
    fusion_arg writes[] = {fusion_arg_write(seen)}, reads[] = {fusion_arg_read(seen)};
    for (int kind = 0; kind < 4; kind++) {
        fusion_graph *graph = new_graph();
        add_scale(graph, "kernel", SIZE, a, out, 3);
        if (kind == 0) expect_ok(fusion_graph_add_host_task(graph, "host", writes, 1, nothing, NULL, NULL, 0, NULL));
        if (kind == 1)
            expect_ok(fusion_graph_add_copy(graph, "host", (fusion_memory){.host = host},
                                            (fusion_memory){.buffer = seen}, sizeof host, NULL, 0, NULL));
        if (kind == 2)
            expect_ok(fusion_graph_add_copy(graph, "host", (fusion_memory){.buffer = seen},
                                            (fusion_memory){.host = host}, sizeof host, NULL, 0, NULL));
        if (kind == 3) expect_ok(fusion_graph_add_host_task(graph, "host", reads, 1, nothing, NULL, NULL, 0, NULL));
        fusion_exec *exec = finalize(graph, (fusion_finalize_options){0});
        fusion_rebind onto = {.from = out, .to = seen}, back = {.from = seen, .to = out},
                      fine = {.from = out, .to = free_one};
        expect_error(run(exec, &onto, 1), FUSION_INVALID);
        expect_in_reason("were distinct");
        expect_in_reason("buffers out and seen");
        expect_error(run(exec, &back, 1), FUSION_INVALID);
        expect_ok(run(exec, &fine, 1));
        assert_int_equal(map(free_one)[2], 6);
        fusion_rebind input = {.from = a, .to = seen}; /* read by the kernel, read here: nothing is written */
        expect_status(run(exec, &input, 1), kind < 2 ? FUSION_INVALID : FUSION_SUCCESS, __FILE__, __LINE__);
        fusion_rebind swapped[] = {{.from = out, .to = seen}, {.from = seen, .to = out}}; /* distinct still */
        expect_ok(run(exec, swapped, 2));
    }
}

static void test_pointers_into_the_middle(void **state)
{
    (void)state;
    int *first, *second;
    fusion_buffer *a = index_buffer(session, "a", SIZE, 1, 0);
    expect_ok(fusion_malloc(session, FUSION_USM_SHARED, SIZE * 4, (void **)&first));
    expect_ok(fusion_malloc(session, FUSION_USM_SHARED, 2 * SIZE * 4, (void **)&second));
    int host[SIZE] = {0};
    fusion_graph *graph = new_graph();
    fusion_node node;
    fusion_arg args[] = {fusion_arg_read(a), fusion_arg_pointer(first, FUSION_ACCESS_WRITE, 0), fusion_arg_i32(3)};
    fusion_kernel_node k = {
        .module = module, .kernel = "scale", .dims = 1, .global = {SIZE}, .args = args, .n_args = 3};
    expect_ok(fusion_graph_add_kernel(graph, &k, &node));
    expect_ok(fusion_graph_add_copy(graph, "copy", (fusion_memory){.pointer = first}, (fusion_memory){.host = host},
                                    sizeof host, NULL, 0, NULL));
    fusion_exec *exec = finalize(graph, (fusion_finalize_options){0});
    fusion_rebind middle = {.from_pointer = first, .to_pointer = second + SIZE};
    expect_ok(run(exec, &middle, 1));
    assert_int_equal(second[SIZE + 5], 15);
    assert_int_equal(host[5], 15); /* the copy follows, too */
    fusion_rebind late = {.from_pointer = first, .to_pointer = second + SIZE + 1};
    expect_error(run(exec, &late, 1), FUSION_INVALID);
    expect_in_reason("256 bytes are needed, the new one has 252 from byte 260 of its 512 on");
    fusion_rebind early = {.from_pointer = first + 2, .to_pointer = second};
    expect_error(run(exec, &early, 1), FUSION_INVALID);
    expect_in_reason("8 bytes into its memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_work_items),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_scopes_of_an_accessor),
        cmocka_unit_test(test_empty_modules),
        cmocka_unit_test(test_writing_what_is_declared_to_be_read),
        cmocka_unit_test(test_rebinding_onto_memory_of_host_tasks),
        cmocka_unit_test(test_pointers_into_the_middle),
    };
    return cmocka_run_group_tests_name("rules", tests, start, stop);
}
