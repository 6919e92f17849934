/* Option bounds: every device and tier tells of the first access outside of its buffer in the words of the reference
   device, whether kernels are fused or not; what is loaded there is 0, nothing is stored, and what is proved to be
   inside costs nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { N = 3000 };

static const char text[] = "kernel @gather(%x: ptr.global i32 read, %at: ptr.global i32 read, %o: ptr.global i32) {\n"
                           "    %i = global_id x\n"
                           "    %k = load i32 %at[%i]\n"
                           "    %v = load i32 %x[%k]\n" /* line 4 */
                           "    store i32 %o[%i], %v\n"
                           "}\n"
                           "kernel @shift(%x: ptr.global i32 read, %o: ptr.global i32 write, %n: i64) {\n"
                           "    %i = global_id x\n"
                           "    %v = load i32 %x[%i]\n"
                           "    %j = add i64 %i, %n\n"
                           "    store i32 %o[%j], %v\n" /* line 11 */
                           "}\n";

static const char *gpu; /* NULL: on the processor */
static bool absent;
static struct service service;
static fusion_session *session;
static fusion_module *module;

static int set_up(void **state)
{
    (void)state;
    service_start(&service, NULL);
    session = service_connect(&service);
    absent = gpu && !service_has_device(session, gpu);
    if (absent) printf("# skipped: no device %s\n", gpu);
    expect_ok(fusion_module_load(session, "bounds.fk", text, sizeof text - 1, &module));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fusion_disconnect(session);
    service_clear(&service);
    return 0;
}

static fusion_buffer *buffer(const char *name, uint64_t n, int factor)
{
    return index_buffer(session, name, n, factor, 0);
}

static fusion_exec *finalize(fusion_graph *g, fusion_finalize_options options)
{
    fusion_exec *e;
    options.size = sizeof options;
    expect_ok(fusion_graph_finalize(g, &options, &e));
    return e;
}

/* Runs it; 0, or the status with the error. */
static fusion_status run(fusion_exec *e, int64_t n)
{
    fusion_event event;
    fusion_rebind rebind = {.node = 1, .arg = 2, .value = &n, .value_bytes = sizeof n};
    expect_ok(fusion_exec_submit(e, n ? &rebind : NULL, n ? 1 : 0, &event));
    return fusion_event_wait(session, event, 60000, NULL);
}

/* gather, whose places lie in memory, and shift behind it. */
struct chain {
    fusion_graph *graph;
    fusion_buffer *x, *at, *tmp, *out;
    int32_t *places, *result;
};

static struct chain chain_new(void)
{
    struct chain c = {
        .x = buffer("x", N, 2), .at = buffer("at", N, 1), .tmp = buffer("tmp", N, 0), .out = buffer("out", N, 0)};
    fusion_arg first[] = {fusion_arg_read(c.x), fusion_arg_read(c.at), fusion_arg_write(c.tmp)};
    fusion_arg second[] = {fusion_arg_read(c.tmp), fusion_arg_write(c.out), fusion_arg_i64(0)};
    expect_ok(fusion_graph_create(session, &c.graph));
    add_node(c.graph, module, "gather", N, first, 3);
    add_node(c.graph, module, "shift", N, second, 3);
    expect_ok(fusion_buffer_map(c.at, (void **)&c.places));
    expect_ok(fusion_buffer_map(c.out, (void **)&c.result));
    return c;
}

static void chain_free(struct chain *c)
{
    fusion_graph_destroy(c->graph);
    fusion_buffer_destroy(c->x);
    fusion_buffer_destroy(c->at);
    fusion_buffer_destroy(c->tmp);
    fusion_buffer_destroy(c->out);
}

static const char gather_says[] = "gather, line 4, work-item 1234: load of 4 bytes at offset 12000 of argument 0 `x` "
                                  "(12000 bytes): element 3000";
static const char shift_says[] = "shift, line 11, work-item 2990: store of 4 bytes at offset 12000 of argument 1 `out` "
                                 "(12000 bytes): element 3000";

static void check_chain(fusion_finalize_options options)
{
    struct chain c = chain_new();
    fusion_exec *e = finalize(c.graph, options);
    expect_ok(run(e, 0));
    assert_int_equal(c.result[N - 1], 2 * (N - 1));
    for (int again = 0; again < 3; again++) { /* many are outside, the first one is told */
        for (int i = 1234; i < N; i += 7) c.places[i] = i == 1234 ? N : -i;
        expect_error(run(e, 0), FUSION_KERNEL_FAULT);
        expect_in_reason(gather_says);
        expect_in_reason("gather");
        for (int i = 0; i < N; i++) c.places[i] = i;
        expect_error(run(e, 10), FUSION_KERNEL_FAULT);
        expect_in_reason(shift_says);
    }
    memset(c.result, 0, N * sizeof *c.result);
    expect_ok(run(e, 0));
    assert_int_equal(c.result[N - 1], 2 * (N - 1));
    fusion_exec_destroy(e);
    chain_free(&c);
}

static void same_words(void **state)
{
    (void)state;
    if (absent) return;
    static const fusion_tier tiers[] = {FUSION_TIER_COMPILED, FUSION_TIER_QUICK};
    for (int mode = FUSION_NONE; mode <= FUSION_ENABLE; mode++) {
        for (int tier = 0; tier < (gpu ? 1 : 2); tier++)
            check_chain((fusion_finalize_options){
                .mode = (fusion_mode)mode, .tier = tiers[tier], .bounds = true, .device = gpu});
        if (!gpu)
            check_chain((fusion_finalize_options){.mode = (fusion_mode)mode, .bounds = true, .device = "reference"});
    }
    /* As it checks by itself. */
    if (!gpu) check_chain((fusion_finalize_options){.mode = FUSION_NONE, .device = "reference"});
}

static bool has_remark(fusion_exec *e, const char *code, const char *part)
{
    const fusion_report *r = fusion_exec_report(e);
    for (uint32_t i = 0; i < r->n_remarks; i++)
        if (strcmp(r->remarks[i].code, code) == 0 && strstr(r->remarks[i].text, part)) return true;
    return false;
}

static void what_is_proved_is_not_checked(void **state)
{
    (void)state;
    if (absent) return;
    struct chain c = chain_new();
    fusion_exec *e = finalize(c.graph, (fusion_finalize_options){.bounds = true, .keep_ir = true, .device = gpu});
    assert_true(has_remark(e, "bounds", "of 3 accesses of gather to memory 2 are proved to be inside, and 1 checked"));
    assert_true(has_remark(e, "bounds", "of 2 accesses of shift to memory 1 are proved to be inside, and 1 checked"));
    fusion_exec_destroy(e);
    e = finalize(c.graph, (fusion_finalize_options){.keep_ir = true, .device = gpu});
    assert_false(has_remark(e, "bounds", ""));
    assert_null(strstr(fusion_exec_report(e)->groups[0].ir, "finding"));
    fusion_exec_destroy(e);
    chain_free(&c);
}

/* Outside of the one buffer lies the other, or nothing: neither is written. */
static void nothing_is_stored_outside(void **state)
{
    (void)state;
    if (absent) return;
    fusion_buffer *x = buffer("x", 16, 1), *o = buffer("o", 16, 0);
    int32_t *out;
    fusion_graph *g;
    fusion_arg args[] = {fusion_arg_read(x), fusion_arg_write(o), fusion_arg_i64(8)};
    expect_ok(fusion_graph_create(session, &g));
    add_node(g, module, "shift", 16, args, 3);
    fusion_exec *e = finalize(g, (fusion_finalize_options){.bounds = true, .device = gpu});
    expect_error(run(e, 0), FUSION_KERNEL_FAULT);
    expect_in_reason("work-item 8: store of 4 bytes at offset 64");
    expect_ok(fusion_buffer_map(o, (void **)&out));
    for (int i = 0; i < 16; i++) assert_int_equal(out[i], i < 8 ? 0 : i - 8);
    fusion_exec_destroy(e);
    fusion_graph_destroy(g);
    fusion_buffer_destroy(x);
    fusion_buffer_destroy(o);
}

int main(int argc, char **argv)
{
    if (argc > 1) gpu = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_words),
        cmocka_unit_test(what_is_proved_is_not_checked),
        cmocka_unit_test(nothing_is_stored_outside),
    };
    return cmocka_run_group_tests_name("bounds", tests, set_up, tear_down);
}
