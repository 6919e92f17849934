/* Memory after many finalizes of distinct graphs: the daemon's and the compilers'. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { SIZE = 64 };

static int cases(void)
{
    const char *text = getenv("FUSIOND_TEST_FINALIZES");
    return text ? atoi(text) : 1000; /* each job is a new process: only the daemon can grow */
}

/* Each graph has a kernel of its own: other code, another plan, another object. */
static void finalize_distinct(fusion_session *session, fusion_buffer *in, fusion_buffer *out, int n)
{
    char source[512];
    snprintf(source, sizeof source,
             "kernel @k(%%a: ptr.global i32 read, %%o: ptr.global i32 write) {\n  %%i = global_id x\n  %%x = load i32 "
             "%%a[%%i]\n"
             "  %%y = mul i32 %%x, %d\n  %%z = add i32 %%y, %d\n  store i32 %%o[%%i], %%z\n  return\n}\n",
             n + 3, n * 7);
    fusion_module *module;
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_event event;
    void *memory;
    expect_ok(fusion_module_load(session, "distinct.fk", source, strlen(source), &module));
    expect_ok(fusion_graph_create(session, &graph));
    fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(out)};
    add_node(graph, module, "k", SIZE, args, 2);
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.mode = FUSION_ENABLE}, &exec));
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(session, event, 20000, NULL));
    expect_ok(fusion_buffer_map(out, &memory));
    assert_int_equal(((int *)memory)[SIZE - 1], (SIZE - 1) * (n + 3) + n * 7);
    fusion_exec_destroy(exec);
    fusion_graph_destroy(graph);
    fusion_module_destroy(module);
}

static void test_growth(void **state)
{
    (void)state;
    struct service s;
    service_start(&s, NULL);
    fusion_session *session = service_connect(&s);
    fusion_buffer *in = index_buffer(session, "in", SIZE, 1, 0), *out = index_buffer(session, "out", SIZE, 0, 0);
    long long largest_compiler = 0;
    int n = cases();
    for (int i = 0; i < n; i++) {
        finalize_distinct(session, in, out, i);
        if (i % 50) continue;
        pid_t pids[16];
        int compilers = service_children(&s, "fusiond-comp", pids, 16);
        for (int k = 0; k < compilers; k++) {
            long long bytes = resident_bytes(pids[k]);
            if (bytes > largest_compiler) largest_compiler = bytes;
        }
    }
    long long daemon = resident_bytes(s.pid);
    print_message("# after %d finalizes: daemon %.1f MB, largest compiler %.1f MB\n", n, (double)daemon / 1e6,
                  (double)largest_compiler / 1e6);
    assert_true(service_counter(session, "object_misses") >= n);
    assert_true(daemon < 30 * 1000 * 1000);
    assert_true(largest_compiler < 150 * 1000 * 1000);
    fusion_disconnect(session);
    service_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_growth)};
    return cmocka_run_group_tests_name("growth", tests, NULL, NULL);
}
