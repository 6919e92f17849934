/* Vectors without optimization, as large kernels get them, lie on the stack. Instructions that take a half of one want
 * it aligned there, also where the vector was read from numbers that are aligned for one of them, and whatever lies
 * between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/base/strbuf.h"
#include "tests/support/service.h"

enum { ITEMS = 256, SUMS = 4, FACTOR = 1234567 };

/* o[i]: the sum of a[i + k] + a[k], which wrap around, as numbers of 64 bits. */
static char *write_kernel(void)
{
    struct strbuf b = {0};
    strbuf_printf(&b, "kernel @k(%%a: ptr.global i32 read, %%o: ptr.global i64 write) {\n  %%i = global_id x\n");
    for (int k = 0; k < SUMS; k++)
        strbuf_printf(&b, "  %%at%d = add i64 %%i, %d\n  %%x%d = load i32 %%a[%%at%d]\n", k, k, k, k);
    strbuf_printf(&b, "  barrier work_group, local\n  %%sum0 = sub i64 %%i, %%i\n");
    for (int k = 0; k < SUMS; k++)
        strbuf_printf(&b,
                      "  %%q%d = load i32 %%a[%d]\n  %%y%d = add i32 %%x%d, %%q%d\n  %%z%d = zext i64 %%y%d\n"
                      "  %%sum%d = add i64 %%sum%d, %%z%d\n",
                      k, k, k, k, k, k, k, k + 1, k, k);
    strbuf_printf(&b, "  store i64 %%o[%%i], %%sum%d\n}\n", SUMS);
    return strbuf_take(&b);
}

static void expect_sums(fusion_session *s, const char *text)
{
    fusion_module *module;
    fusion_graph *graph;
    fusion_exec *exec;
    fusion_event event;
    fusion_buffer *o;
    void *memory;
    fusion_buffer *a = index_buffer(s, "a", ITEMS + SUMS, FACTOR, 0);
    expect_ok(fusion_buffer_create(s, "o", FUSION_I64, ITEMS, 0, &o));
    const fusion_arg args[] = {fusion_arg_read(a), fusion_arg_write(o)};
    fusion_kernel_node node = {.kernel = "k", .dims = 1, .global = {ITEMS}, .local = {32}, .n_args = 2, .args = args};
    expect_ok(fusion_module_load(s, "k.fk", text, strlen(text), &module));
    node.module = module;
    expect_ok(fusion_graph_create(s, &graph));
    expect_ok(fusion_graph_add_kernel(graph, &node, NULL));
    expect_ok(fusion_graph_finalize(graph, NULL, &exec));
    expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(s, event, -1, NULL));
    expect_ok(fusion_buffer_map(o, &memory));
    for (uint32_t i = 0; i < ITEMS; i++) {
        uint64_t sum = 0;
        for (uint32_t k = 0; k < SUMS; k++) sum += (i + k) * FACTOR + k * FACTOR;
        assert_true(((uint64_t *)memory)[i] == sum);
    }
}

static void halves_are_aligned(void **state)
{
    static const char *const isas[] = {"avx512", "avx2", "sse4"};
    char *text = write_kernel();
    (void)state;
    setenv("FUSIOND_EFFORT", "plain vector", 1);
    setenv("FUSIOND_TIER", "compiled", 1);
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        struct service service;
        setenv("FUSIOND_ISA", isas[i], 1);
        service_start(&service, NULL);
        fusion_session *session = service_connect(&service);
        expect_sums(session, text);
        fusion_disconnect(session);
        service_clear(&service);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(halves_are_aligned)};
    return cmocka_run_group_tests_name("plain_vectors", tests, NULL, NULL);
}
