/* Structs of programs that were made with an older or a newer header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fusiond/window.h>

#include "client/base/sized.h"
#include "tests/support/service.h"

/* A struct as it was, is and will be. */
struct was {
    size_t size;
    uint32_t a, b;
};
struct is {
    size_t size;
    uint32_t a, b;
    uint64_t c;
};
struct will_be {
    size_t size;
    uint32_t a, b;
    uint64_t c, d;
};

static void test_taken(void **state)
{
    (void)state;
    struct is own;
    struct was was = {FUSION_SIZED(struct was), 1, 2};
    memset(&own, 0xff, sizeof own);
    expect_ok(CLIENT_TAKE(struct is, b, &own, &was, "options"));
    assert_true(own.size == sizeof own && own.a == 1 && own.b == 2 && own.c == 0);
    was.size = 0; /* that of the first version, whatever lies behind it */
    expect_ok(CLIENT_TAKE(struct is, b, &own, &was, "options"));
    assert_true(own.size == sizeof own && own.a == 1 && own.b == 2 && own.c == 0);
    struct will_be will_be = {FUSION_SIZED(struct will_be), 1, 2, 3, 0};
    expect_ok(CLIENT_TAKE(struct is, b, &own, &will_be, "options"));
    assert_true(own.size == sizeof own && own.a == 1 && own.b == 2 && own.c == 3);
    will_be.d = 0x100;
    expect_error(CLIENT_TAKE(struct is, b, &own, &will_be, "options"), FUSION_INVALID);
    expect_in_reason("something at byte 25 that this library does not know, whose version is 0.1.0");
    was.size = 12;
    expect_error(CLIENT_TAKE(struct is, b, &own, &was, "options"), FUSION_INVALID);
    expect_in_reason("its size is 12 bytes, which no version of the struct has");
    memset(&was, 0xbe, sizeof was);
    expect_error(CLIENT_TAKE(struct is, b, &own, &was, "options"), FUSION_INVALID);
}

static void test_given(void **state)
{
    (void)state;
    const struct is own = {FUSION_SIZED(struct is), 1, 2, 3};
    struct {
        struct was was;
        uint64_t behind;
    } w = {{FUSION_SIZED(struct was)}, 77};
    expect_ok(CLIENT_GIVE(struct is, b, &own, &w.was, "info"));
    assert_true(w.was.size == sizeof w.was && w.was.a == 1 && w.was.b == 2 && w.behind == 77);
    struct will_be will_be = {FUSION_SIZED(struct will_be), .d = 77};
    expect_ok(CLIENT_GIVE(struct is, b, &own, &will_be, "info"));
    assert_true(will_be.size == sizeof will_be && will_be.a == 1 && will_be.c == 3 && will_be.d == 0);
    memset(&w, 0xbe, sizeof w);
    expect_error(CLIENT_GIVE(struct is, b, &own, &w.was, "info"), FUSION_INVALID);
    assert_int_equal(w.was.a, 0xbebebebe);
}

/* Each call that takes such a struct looks at its size. */
static void test_calls(void **state)
{
    (void)state;
    struct service service;
    fusion_session *session, *other = NULL;
    service_start(&service, NULL);
    session = service_connect(&service);
    fusion_module *module = load_test_kernels(session), *m = NULL;
    fusion_graph *graph, *outer;
    fusion_queue *queue;
    fusion_exec *exec = NULL;
    fusion_image *image = NULL;
    expect_ok(fusion_graph_create(session, &graph));
    expect_ok(fusion_graph_create(session, &outer));
    expect_ok(fusion_queue_create(session, &queue));
    expect_error(fusion_connect(service.socket, &(fusion_connect_options){.size = 1}, &other), FUSION_INVALID);
    expect_error(fusion_module_load_with(session, "m", test_kernels, 1, &(fusion_module_options){.size = 1}, &m),
                 FUSION_INVALID);
    expect_error(fusion_module_load_file_with(session, "m", &(fusion_module_options){.size = 1}, &m), FUSION_INVALID);
    fusion_kernel_node node = {.size = 1, .module = module, .kernel = "scale", .dims = 1, .global = {1}};
    expect_error(fusion_graph_add_kernel(graph, &node, NULL), FUSION_INVALID);
    expect_in_reason("its size is 1 bytes");
    expect_error(fusion_queue_submit(queue, &node, NULL), FUSION_INVALID);
    fusion_finalize_options options = {.size = 1};
    expect_error(fusion_graph_finalize(graph, &options, &exec), FUSION_INVALID);
    expect_error(fusion_graph_add_graph(outer, NULL, graph, &options, NULL, 0, NULL), FUSION_INVALID);
    expect_error(fusion_image_create(session, "i", &(fusion_image_desc){.size = 1, .width = 1, .height = 1}, &image),
                 FUSION_INVALID);
    expect_error(fusion_queue_set_window(queue, &(fusion_window_options){.size = 1}), FUSION_INVALID);
    expect_error(fusion_device_get(session, 0, &(fusion_device_info){.size = 1}), FUSION_INVALID);
    expect_error(fusion_kernel_device_get(module, "scale", NULL, &(fusion_kernel_device_info){.size = 1}),
                 FUSION_INVALID);
    fusion_transfers transfers = {.size = 1, .to_device = 77};
    fusion_session_transfers(session, &transfers);
    assert_int_equal(transfers.to_device, 77);
    fusion_window_counters counters = {.size = 1, .commands = 77};
    fusion_session_windows(session, &counters);
    assert_int_equal(counters.commands, 77);
    /* What keeps its size has nothing where later versions will have something. */
    fusion_buffer *a = index_buffer(session, "a", 4, 1, 0), *b = index_buffer(session, "b", 4, 1, 0);
    fusion_arg args[] = {fusion_arg_read(a), fusion_arg_write(b), fusion_arg_i32(2)};
    node = (fusion_kernel_node){FUSION_SIZED(fusion_kernel_node),
                                .module = module,
                                .kernel = "scale",
                                .dims = 1,
                                .global = {4},
                                .n_args = 3,
                                .args = args};
    args[1].reserved[2] = 1;
    expect_error(fusion_graph_add_kernel(graph, &node, NULL), FUSION_INVALID);
    expect_in_reason("reserved");
    args[1].reserved[2] = 0;
    expect_ok(fusion_graph_add_kernel(graph, &node, NULL));
    expect_ok(fusion_graph_finalize(graph, NULL, &exec));
    expect_error(fusion_exec_submit(exec, &(fusion_rebind){.from = b, .to = b, .reserved = {1}}, 1, NULL),
                 FUSION_INVALID);
    expect_error(fusion_graph_set_outputs(graph, &(fusion_arg){.buffer = b, .reserved = {1}}, 1), FUSION_INVALID);
    assert_int_equal(fusion_version(), FUSIOND_VERSION_OF(0, 1, 0));
    fusion_disconnect(session);
    service_clear(&service);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taken),
        cmocka_unit_test(test_given),
        cmocka_unit_test(test_calls),
    };
    return cmocka_run_group_tests_name("sizes", tests, NULL, NULL);
}
