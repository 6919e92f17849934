/* Kernels that are too large for code run on device cpu all the same, within the compilers' limits; a fusion that would
   be too large is not made. The generators below compute along with the kernel that they write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { SIZE = 64, GROUP = 16, OPERATIONS = 200000, SECOND = 3000 };

static struct service service;
static fusion_session *session;

static int start(void **state)
{
    (void)state;
    static const char *const options[] = {"--compilers", "1", NULL};
    service_start(&service, options);
    session = service_connect(&service);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    return 0;
}

/* ---- kernels @k of i32 from %a to %o ---- */

struct text {
    char *start, *at;
    int values[SIZE]; /* what the kernel has computed so far, by work-item */
};

static void begin(struct text *t, const char *before, const char *params)
{
    t->start = t->at = malloc((size_t)OPERATIONS * 80 + 4096);
    assert_non_null(t->start);
    t->at += sprintf(t->at,
                     "%skernel @k(%%a: ptr.global i32 read, %%o: ptr.global i32 write%s) {\n  %%i = global_id x\n"
                     "  %%v0 = load i32 %%a[%%i]\n",
                     before, params);
    for (int i = 0; i < SIZE; i++) t->values[i] = 3 * i;
}

static void end(struct text *t, unsigned last)
{
    sprintf(t->at, "  store i32 %%o[%%i], %%v%u\n}\n", last);
}

static int step_value(int v, unsigned k)
{
    return k & 1 ? (int)((unsigned)v * 5u) : (int)((unsigned)v ^ (k % 1000));
}

/* Operation k: %v<k + 1> of %v<k>. */
static void step(struct text *t, unsigned k)
{
    t->at += k & 1 ? sprintf(t->at, "  %%v%u = mul i32 %%v%u, 5\n", k + 1, k)
                   : sprintf(t->at, "  %%v%u = xor i32 %%v%u, %u\n", k + 1, k, k % 1000);
    for (int i = 0; i < SIZE; i++) t->values[i] = step_value(t->values[i], k);
}

static void write_chain(struct text *t, unsigned n)
{
    begin(t, "", "");
    for (unsigned k = 0; k < n; k++) step(t, k);
    end(t, n);
}

/* In the middle each work-item takes its neighbour's value. */
static void write_barrier(struct text *t)
{
    unsigned n = OPERATIONS, middle = n / 2;
    begin(t, "", ", %l: ptr.local i32");
    for (unsigned k = 0; k < middle; k++) step(t, k);
    t->at += sprintf(t->at,
                     "  %%m = local_id x\n  %%n = xor i64 %%m, 1\n  store i32 %%l[%%m], %%v%u\n"
                     "  barrier work_group, local\n  %%w = load i32 %%l[%%n]\n  %%v%u = add i32 %%w, 0\n",
                     middle, middle + 1);
    for (int i = 0; i < SIZE; i += 2) {
        int first = t->values[i];
        t->values[i] = t->values[i + 1];
        t->values[i + 1] = first;
    }
    for (unsigned k = middle + 1; k < n; k++) step(t, k);
    end(t, n);
}

/* Each branch is six operations; which way one goes differs between work-items. */
static void write_branches(struct text *t)
{
    unsigned n = OPERATIONS / 6;
    begin(t, "", "");
    for (unsigned k = 0; k < n; k++) {
        t->at += sprintf(t->at,
                         "  %%b%u = and i32 %%v%u, %u\n  %%c%u = ine i32 %%b%u, 0\n  %%v%u = if %%c%u -> i32 {\n"
                         "    %%x%u = mul i32 %%v%u, 3\n    yield %%x%u\n  } else {\n    %%y%u = add i32 %%v%u, %u\n"
                         "    yield %%y%u\n  }\n",
                         k, k, 1u << k % 7, k, k, k + 1, k, k, k, k, k, k, k, k);
        for (int i = 0; i < SIZE; i++) {
            unsigned v = (unsigned)t->values[i];
            t->values[i] = (int)(v & 1u << k % 7 ? v * 3 : v + k);
        }
    }
    end(t, n);
}

/* Functions that each call the one before twice: 20 * 2^levels operations, and as many calls. */
static void write_calls(struct text *t, unsigned levels)
{
    enum { OWN = 20 };
    char functions[8192], *at = functions;
    at += sprintf(at, "func @f0(%%v0: i32) -> i32 {\n");
    for (unsigned k = 0; k < OWN; k++)
        at += sprintf(at, "  %%v%u = %s i32 %%v%u, 5\n", k + 1, k & 1 ? "mul" : "xor", k);
    at += sprintf(at, "  return %%v%d\n}\n", OWN);
    for (unsigned k = 1; k <= levels; k++)
        at += sprintf(at,
                      "func @f%u(%%x: i32) -> i32 {\n  %%y = call @f%u(%%x)\n  %%z = call @f%u(%%y)\n  return %%z\n}\n",
                      k, k - 1, k - 1);
    begin(t, functions, "");
    t->at += sprintf(t->at, "  %%v1 = call @f%u(%%v0)\n", levels);
    for (int i = 0; i < SIZE; i++)
        for (unsigned k = 0; k < (unsigned)OWN << levels; k++) {
            unsigned v = (unsigned)t->values[i];
            t->values[i] = (int)(k & 1 ? v * 5 : v ^ 5);
        }
    end(t, 1);
}

/* ---- runs ---- */

static fusion_module *load(const struct text *t)
{
    fusion_module *module;
    expect_ok(fusion_module_load(session, "large.fk", t->start, strlen(t->start), &module));
    return module;
}

static void run(fusion_exec *exec)
{
    fusion_event done;
    expect_ok(fusion_exec_submit(exec, NULL, 0, &done));
    expect_ok(fusion_event_wait(session, done, 60000, NULL));
}

static void expect_values(fusion_buffer *out, const int *want)
{
    void *memory;
    expect_ok(fusion_buffer_map(out, &memory));
    for (int i = 0; i < SIZE; i++) assert_int_equal(((int *)memory)[i], want[i]);
}

static void check(struct text *t, const char *effort, bool local)
{
    fusion_module *module = load(t);
    fusion_buffer *in = index_buffer(session, "in", SIZE, 3, 0), *out = index_buffer(session, "out", SIZE, 0, 0);
    fusion_graph *graph;
    fusion_exec *exec;
    long long lost = service_counter(session, "compilers_lost");
    expect_ok(fusion_graph_create(session, &graph));
    fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(out), fusion_arg_local(GROUP * 4)};
    fusion_kernel_node node = {.module = module,
                               .kernel = "k",
                               .dims = 1,
                               .global = {SIZE},
                               .local = {GROUP},
                               .n_args = local ? 3 : 2,
                               .args = args};
    expect_ok(fusion_graph_add_kernel(graph, &node, NULL));
    expect_ok(fusion_graph_finalize(graph, NULL, &exec));
    assert_string_equal(fusion_exec_report(exec)->groups[0].effort, effort);
    assert_int_equal(service_counter(session, "compilers_lost"), lost); /* within their limits */
    run(exec);
    expect_values(out, t->values);
    fusion_exec_destroy(exec);
    fusion_graph_destroy(graph);
    fusion_buffer_destroy(in);
    fusion_buffer_destroy(out);
    fusion_module_destroy(module);
    free(t->start);
}

static void test_chain(void **state)
{
    (void)state;
    struct text t;
    write_chain(&t, OPERATIONS);
    check(&t, "interpreted", false);
}

static void test_barrier(void **state)
{
    (void)state;
    struct text t;
    write_barrier(&t);
    check(&t, "interpreted", true);
}

static void test_branches(void **state)
{
    (void)state;
    struct text t;
    write_branches(&t);
    check(&t, "interpreted", false);
}

static void test_calls(void **state)
{
    (void)state;
    struct text t;
    write_calls(&t, 13); /* 163,840 */
    check(&t, "interpreted", false);
}

/* Both have code; fused they would take more effort than is sure to be there. */
static void test_fusion(void **state)
{
    (void)state;
    struct text first, second;
    write_chain(&first, 14000);
    write_chain(&second, SECOND);
    fusion_module *modules[] = {load(&first), load(&second)};
    fusion_buffer *in = index_buffer(session, "in", SIZE, 3, 0),
                  *between = index_buffer(session, "between", SIZE, 0, 0),
                  *out = index_buffer(session, "out", SIZE, 0, 0);
    fusion_graph *graph;
    fusion_exec *exec;
    expect_ok(fusion_graph_create(session, &graph));
    fusion_arg one[] = {fusion_arg_read(in), fusion_arg_write(between)};
    fusion_arg two[] = {fusion_arg_read(between), fusion_arg_write(out)};
    add_node(graph, modules[0], "k", SIZE, one, 2);
    add_node(graph, modules[1], "k", SIZE, two, 2);
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.mode = FUSION_ENABLE}, &exec));
    const fusion_report *report = fusion_exec_report(exec);
    assert_int_equal(report->launches, 2);
    bool told = false;
    for (uint32_t i = 0; i < report->n_remarks; i++) told |= strcmp(report->remarks[i].code, "not_fused_size") == 0;
    assert_true(told);
    for (int i = 0; i < 2; i++) assert_string_not_equal(report->groups[i].effort, "interpreted");
    run(exec);
    for (int i = 0; i < SIZE; i++)
        for (unsigned k = 0; k < SECOND; k++) first.values[i] = step_value(first.values[i], k);
    expect_values(out, first.values);
    free(first.start);
    free(second.start);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain), cmocka_unit_test(test_barrier), cmocka_unit_test(test_branches),
        cmocka_unit_test(test_calls), cmocka_unit_test(test_fusion),
    };
    return cmocka_run_group_tests_name("large_kernels", tests, start, stop);
}
