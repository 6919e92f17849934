/* A kernel whose functions and constants lie in another module: built apart, linked by the service and run by the
 * interpreter and the CPU, it leaves what the same source in one module leaves. Arguments: main O0, part O0, whole O0,
 * then the same of O2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { ITEMS = 64, GROUP = 8, LEVELS = 2, FILES = 3 };

static char **paths;

struct results {
    int out[ITEMS];
    float floats[ITEMS];
};

static fusion_buffer *buffer(fusion_session *s, const char *name, fusion_type type, void **memory)
{
    fusion_buffer *b;
    expect_ok(fusion_buffer_create(s, name, type, ITEMS, 0, &b));
    expect_ok(fusion_buffer_map(b, memory));
    return b;
}

static struct results run(fusion_session *s, fusion_module *m, const char *device)
{
    struct results r;
    void *in, *out, *floats;
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_event event;
    fusion_arg args[] = {
        fusion_arg_read(buffer(s, "in", FUSION_I32, &in)), fusion_arg_write(buffer(s, "out", FUSION_I32, &out)),
        fusion_arg_write(buffer(s, "floats", FUSION_F32, &floats)), fusion_arg_local(GROUP * sizeof(int))};
    for (int i = 0; i < ITEMS; i++) ((int *)in)[i] = 13 * i - 400;
    expect_ok(fusion_graph_create(s, &graph));
    const fusion_kernel_node node = {
        .module = m, .kernel = "linked", .dims = 1, .global = {ITEMS}, .local = {GROUP}, .n_args = 4, .args = args};
    expect_ok(fusion_graph_add_kernel(graph, &node, NULL));
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.device = device}, &exec));
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(s, event, 20000, NULL));
    memcpy(r.out, out, sizeof r.out);
    memcpy(r.floats, floats, sizeof r.floats);
    return r;
}

/* The two parts linked, in that order or the other, or the whole. */
static fusion_module *load(fusion_session *s, char **files, int how)
{
    fusion_module *parts[2], *linked;
    if (how == 2) {
        expect_ok(fusion_module_load_file(s, files[2], &linked));
        return linked;
    }
    expect_ok(fusion_module_load_file(s, files[how], &parts[0]));
    expect_ok(fusion_module_load_file(s, files[1 - how], &parts[1]));
    expect_ok(fusion_module_link(s, "linked", parts, 2, &linked));
    for (int i = 0; i < 2; i++) fusion_module_destroy(parts[i]);
    return linked;
}

static void test_same_as_one_module(void **state)
{
    (void)state;
    struct service service;
    service_start(&service, NULL);
    fusion_session *s = service_connect(&service);
    for (int level = 0; level < LEVELS; level++) {
        char **files = paths + FILES * level;
        struct results want = run(s, load(s, files, 2), "reference");
        assert_int_not_equal(want.out[0], want.out[1]);
        assert_true(want.floats[0] < want.floats[ITEMS - 1]);
        for (int how = 0; how < 3; how++) {
            fusion_module *m = load(s, files, how);
            struct results reference = run(s, m, "reference"), cpu = run(s, m, "cpu");
            assert_memory_equal(&reference, &want, sizeof want);
            assert_memory_equal(&cpu, &want, sizeof want);
        }
    }
    fusion_disconnect(s);
    service_clear(&service);
}

/* What LinkOnceODR says of both parts is there once; only the kernel's module has the kernel. */
static void test_linked_text(void **state)
{
    (void)state;
    struct service service;
    char *text;
    service_start(&service, NULL);
    fusion_session *s = service_connect(&service);
    fusion_module *m = load(s, paths, 0);
    assert_int_equal(fusion_module_kernel_count(m), 1);
    assert_string_equal(fusion_module_kernel(m, 0)->args[0].access, "read");
    expect_ok(fusion_module_text(m, &text));
    char *first = strstr(text, "export once func @");
    assert_non_null(first);
    assert_null(strstr(first + 1, "export once func @"));
    assert_non_null(strstr(text, "export once constant @"));
    assert_non_null(strstr(text, "func @_ZL3owni("));
    assert_non_null(strstr(text, "func @_ZL3owni.1("));
    assert_null(strstr(text, "import"));
    free(text);
    fusion_disconnect(s);
    service_clear(&service);
}

int main(int argc, char **argv)
{
    if (argc != 1 + FILES * LEVELS) return 2;
    paths = argv + 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_as_one_module), cmocka_unit_test(test_linked_text)};
    return cmocka_run_group_tests_name("link", tests, NULL, NULL);
}
