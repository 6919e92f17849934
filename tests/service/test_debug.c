/* The option debug: what is asserted and true runs as ever, what is not ends the submission with the element, both
   work-items, nodes and lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { SIZE = 64, GROUP = 16 };

static const char kernels[] = "kernel @fill(%o: ptr.global i32, %v: i32) {\n"
                              "    %i = global_id x\n"
                              "    store i32 %o[%i], %v\n"
                              "}\n"
                              "kernel @put(%p: ptr.global i32, %o: ptr.global i32, %v: i32) {\n"
                              "    %i = global_id x\n"
                              "    %k = load i32 %p[%i]\n"
                              "    store i32 %o[%k], %v\n"
                              "}\n"
                              "kernel @take(%p: ptr.global i32, %a: ptr.global i32, %o: ptr.global i32) {\n"
                              "    %i = global_id x\n"
                              "    %k = load i32 %p[%i]\n"
                              "    %x = load i32 %a[%k]\n"
                              "    store i32 %o[%i], %x\n"
                              "}\n";

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

/* fill or put writes t, take reads it where `index` says. */
struct scene {
    fusion_session *session;
    fusion_graph *graph;
    fusion_buffer *index, *t, *out;
    fusion_exec *exec;
};

static int *map(fusion_buffer *buffer)
{
    void *memory;
    expect_ok(fusion_buffer_map(buffer, &memory));
    return memory;
}

static void scene_open(struct scene *s, const char *writer, unsigned properties, uint64_t local,
                       const fusion_finalize_options *options)
{
    fusion_module *module;
    s->session = service_connect(&service);
    expect_ok(fusion_module_load(s->session, "debug", kernels, strlen(kernels), &module));
    expect_ok(fusion_graph_create(s->session, &s->graph));
    s->index = index_buffer(s->session, "index", SIZE + 1, 1, 0);
    s->out = index_buffer(s->session, "out", SIZE + 1, 0, 0);
    expect_ok(fusion_buffer_create(s->session, "t", FUSION_I32, SIZE + 1, properties, &s->t));
    const fusion_arg fill[] = {fusion_arg_write(s->t), fusion_arg_i32(7)};
    const fusion_arg put[] = {fusion_arg_read(s->index), fusion_arg_write(s->t), fusion_arg_i32(7)};
    const fusion_arg take[] = {fusion_arg_read(s->index), fusion_arg_read(s->t), fusion_arg_write(s->out)};
    bool fills = strcmp(writer, "fill") == 0;
    fusion_kernel_node first = {.name = "first",
                                .module = module,
                                .kernel = writer,
                                .dims = 1,
                                .global = {SIZE, 1, 1},
                                .local = {local, local != 0, local != 0},
                                .n_args = fills ? 2 : 3,
                                .args = fills ? fill : put};
    fusion_kernel_node second = first;
    second.name = "second";
    second.kernel = "take";
    second.args = take;
    second.n_args = 3;
    expect_ok(fusion_graph_add_kernel(s->graph, &first, NULL));
    expect_ok(fusion_graph_add_kernel(s->graph, &second, NULL));
    expect_ok(fusion_graph_finalize(s->graph, options, &s->exec));
    assert_int_equal(fusion_exec_report(s->exec)->launches, 1);
}

static fusion_status submit(struct scene *s)
{
    fusion_event event;
    expect_ok(fusion_exec_submit(s->exec, NULL, 0, &event));
    fusion_status status = fusion_event_wait(s->session, event, -1, NULL);
    return status;
}

static void expect_sevens(struct scene *s)
{
    expect_ok(submit(s));
    for (int i = 0; i < SIZE; i++) assert_int_equal(map(s->out)[i], 7);
}

/* True first, then with two indices exchanged. */
static void check(const char *writer, unsigned properties, bool barriers, uint64_t local, const char *says)
{
    const fusion_finalize_options options = {.mode = FUSION_REQUIRE, .insert_barriers = barriers, .debug = true};
    struct scene s;
    scene_open(&s, writer, properties, local, &options);
    expect_sevens(&s);
    map(s.index)[5] = 40;
    map(s.index)[40] = 5;
    expect_error(submit(&s), FUSION_INVALID);
    expect_in_reason("node second");
    expect_in_reason(says);
    expect_in_reason("work-item 5 of second (line 13) reads element 40 (byte 160)");
    expect_in_reason("work-item 40 of first (line 3)");
    map(s.index)[5] = 5;
    map(s.index)[40] = 40;
    expect_sevens(&s);
    fusion_disconnect(s.session);
}

static void test_race_on_the_word_of_require(void **state)
{
    (void)state;
    check("fill", 0, false, 0, "first and second race as one kernel");
}

static void test_false_work_item_scope(void **state)
{
    (void)state;
    check("fill", FUSION_ACCESS_SCOPE_WORK_ITEM, false, 0, "access_scope_work_item on buffer t does not hold");
}

static void test_false_work_group_scope(void **state)
{
    (void)state;
    check("fill", FUSION_ACCESS_SCOPE_WORK_GROUP, true, GROUP, "access_scope_work_group on buffer t does not hold");
}

static void test_barriers_order_what_stays_in_the_group(void **state)
{
    (void)state;
    const fusion_finalize_options options = {.mode = FUSION_REQUIRE, .insert_barriers = true, .debug = true};
    struct scene s;
    scene_open(&s, "fill", FUSION_ACCESS_SCOPE_WORK_GROUP, GROUP, &options);
    map(s.index)[5] = 9;
    map(s.index)[9] = 5;
    expect_sevens(&s);
    fusion_disconnect(s.session);
}

/* Of the same graph, read before anybody wrote. */
static void test_read_before_written(void **state)
{
    (void)state;
    static const char text[] = "kernel @most(%o: ptr.global i32, %n: i64) {\n"
                               "    %i = global_id x\n"
                               "    %c = ult i64 %i, %n\n"
                               "    if %c {\n"
                               "        store i32 %o[%i], 7\n"
                               "    }\n"
                               "}\n"
                               "kernel @copy(%a: ptr.global i32, %o: ptr.global i32) {\n"
                               "    %i = global_id x\n"
                               "    %x = load i32 %a[%i]\n"
                               "    store i32 %o[%i], %x\n"
                               "}\n";
    fusion_session *session = service_connect(&service);
    fusion_module *module;
    fusion_graph *graph;
    fusion_buffer *t, *out;
    fusion_exec *exec;
    expect_ok(fusion_module_load(session, "most", text, strlen(text), &module));
    expect_ok(fusion_graph_create(session, &graph));
    unsigned properties = FUSION_NO_INIT | FUSION_INTERNAL_MEMORY;
    expect_ok(fusion_buffer_create(session, "t", FUSION_I32, SIZE, properties, &t));
    out = index_buffer(session, "out", SIZE, 0, 0);
    const fusion_arg most[] = {fusion_arg_write(t), fusion_arg_i64(SIZE)};
    const fusion_arg copy[] = {fusion_arg_read(t), fusion_arg_write(out)};
    fusion_node node = add_node(graph, module, "most", SIZE, most, 2);
    add_node(graph, module, "copy", SIZE, copy, 2);
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.mode = FUSION_REQUIRE, .debug = true}, &exec));
    assert_int_equal(fusion_exec_report(exec)->n_internalized, 1);
    assert_false(fusion_buffer_has_memory(t));
    for (int64_t n = SIZE; n >= SIZE - 2; n -= 2) {
        fusion_event event;
        fusion_rebind rebind = {.node = node, .arg = 1, .value = &n, .value_bytes = 8};
        expect_ok(fusion_exec_submit(exec, &rebind, 1, &event));
        fusion_status status = fusion_event_wait(session, event, -1, NULL);
        if (n == SIZE) {
            expect_ok(status);
            continue;
        }
        expect_error(status, FUSION_INVALID);
        expect_in_reason("no_init on buffer t does not hold: work-item 62 of copy (line 10) reads element 62 (byte "
                         "248), which nothing has written before");
    }
    assert_int_equal(map(out)[61], 7);
    fusion_disconnect(session);
}

static void test_variables_of_the_program(void **state)
{
    (void)state;
    static const char text[] = "global @v: [64 x i32]\n"
                               "kernel @keep(%a: ptr.global i32) {\n"
                               "    %i = global_id x\n"
                               "    %x = load i32 %a[%i]\n"
                               "    %v = global @v\n"
                               "    store i32 %v[%i], %x\n" /* line 6 */
                               "}\n"
                               "kernel @give(%p: ptr.global i32, %o: ptr.global i32) {\n"
                               "    %i = global_id x\n"
                               "    %k = load i32 %p[%i]\n"
                               "    %v = global @v\n"
                               "    %x = load i32 %v[%k]\n" /* line 12 */
                               "    store i32 %o[%i], %x\n"
                               "}\n";
    fusion_session *session = service_connect(&service);
    fusion_module *module;
    fusion_graph *graph;
    fusion_exec *exec;
    expect_ok(fusion_module_load(session, "variable", text, strlen(text), &module));
    expect_ok(fusion_graph_create(session, &graph));
    fusion_buffer *in = index_buffer(session, "in", SIZE, 1, 0), *index = index_buffer(session, "index", SIZE, 1, 0);
    fusion_buffer *out = index_buffer(session, "out", SIZE, 0, 0);
    add_node(graph, module, "keep", SIZE, (const fusion_arg[]){fusion_arg_read(in)}, 1);
    add_node(graph, module, "give", SIZE, (const fusion_arg[]){fusion_arg_read(index), fusion_arg_write(out)}, 2);
    expect_ok(fusion_graph_finalize(graph, &(fusion_finalize_options){.mode = FUSION_REQUIRE, .debug = true}, &exec));
    for (int wrong = 0; wrong < 2; wrong++) {
        fusion_event event;
        if (wrong) map(index)[3] = 4;
        expect_ok(fusion_exec_submit(exec, NULL, 0, &event));
        fusion_status status = fusion_event_wait(session, event, -1, NULL);
        expect_status(status, wrong ? FUSION_INVALID : FUSION_SUCCESS, __FILE__, __LINE__);
        if (!wrong) assert_int_equal(map(out)[5], 5);
    }
    expect_in_reason("work-item 3 of give (line 12) reads element 4 (byte 16) of variable v, which work-item 4 of keep "
                     "(line 6) writes before");
    fusion_disconnect(session);
}

/* An inner graph is fused by itself, and the outer one reads what it keeps to itself. */
static void test_false_internal_memory(void **state)
{
    (void)state;
    for (int reads = 0; reads < 2; reads++) {
        fusion_session *session = service_connect(&service);
        fusion_module *module = load_test_kernels(session);
        fusion_graph *graph, *inner;
        fusion_buffer *t, *in = index_buffer(session, "in", SIZE, 1, 0),
                          *out = index_buffer(session, "out", SIZE, 0, 0);
        fusion_exec *exec;
        expect_ok(fusion_buffer_create(session, "t", FUSION_I32, SIZE, FUSION_INTERNAL_MEMORY, &t));
        expect_ok(fusion_graph_create(session, &graph));
        expect_ok(fusion_graph_create(session, &inner));
        const fusion_arg first[] = {fusion_arg_read(in), fusion_arg_write(t), fusion_arg_i32(2)};
        const fusion_arg second[] = {fusion_arg_read(t), fusion_arg_write(out), fusion_arg_i32(3)};
        add_node(inner, module, "scale", SIZE, first, 3);
        add_node(inner, module, "scale", SIZE, second, 3);
        expect_ok(fusion_graph_add_graph(graph, "inside", inner, &(fusion_finalize_options){.mode = FUSION_REQUIRE},
                                         NULL, 0, NULL));
        if (reads) add_node(graph, module, "scale", SIZE, second, 3);
        expect_status(fusion_graph_finalize(graph, &(fusion_finalize_options){.debug = true}, &exec),
                      reads ? FUSION_INVALID : FUSION_SUCCESS, __FILE__, __LINE__);
        if (reads)
            expect_in_reason("fusion_internal_memory on buffer t does not hold: inside keeps it to itself, and scale, "
                             "which comes later, reads it");
        fusion_disconnect(session);
    }
}

/* The same without debug is fused, taken on the word, and computes something else where the word is false. */
static void test_debug_is_another_plan(void **state)
{
    (void)state;
    struct scene s;
    scene_open(&s, "fill", 0, 0, &(fusion_finalize_options){.mode = FUSION_REQUIRE});
    map(s.index)[5] = 40;
    map(s.index)[40] = 5;
    expect_ok(submit(&s));
    fusion_exec *debugged;
    expect_ok(
        fusion_graph_finalize(s.graph, &(fusion_finalize_options){.mode = FUSION_REQUIRE, .debug = true}, &debugged));
    s.exec = debugged;
    expect_error(submit(&s), FUSION_INVALID);
    fusion_disconnect(s.session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_race_on_the_word_of_require),
        cmocka_unit_test(test_false_work_item_scope),
        cmocka_unit_test(test_false_work_group_scope),
        cmocka_unit_test(test_barriers_order_what_stays_in_the_group),
        cmocka_unit_test(test_read_before_written),
        cmocka_unit_test(test_variables_of_the_program),
        cmocka_unit_test(test_false_internal_memory),
        cmocka_unit_test(test_debug_is_another_plan),
    };
    return cmocka_run_group_tests_name("debug", tests, start, stop);
}
