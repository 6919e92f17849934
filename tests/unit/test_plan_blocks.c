/* Block reads and writes of sub-groups, and places in sub-groups: which work-item touches what is proved, and buffers
   between them lose their memory. What comes out is compared with the kernels one by one, interpreted and compiled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "ir/base/strbuf.h"
#include "tests/support/compiled.h"
#include "tests/support/plan_check.h"
#include "tests/support/plan_run.h"

enum { N = 128, LOCAL = 32, SIZE = 16 };

static const char *const types[] = {"i8", "i16", "i32", "i64"};
static const ir_type elements[] = {IR_I8, IR_I16, IR_I32, IR_I64};
static const unsigned widths[] = {1, 2, 4, 8, 16};

/* Where a sub-group's block begins, as element %c of t: from ids in different words. */
static const char *const starts[] = {
    "    %l = sub_group_local_id\n    %lw = zext i64 %l\n    %b = sub i64 %i, %lw\n    %c = mul i64 %b, WIDTH\n",
    "    %s = sub_group_id\n    %sw = zext i64 %s\n    %g = group_id x\n    %n = num_sub_groups\n    %nw = zext i64 "
    "%n\n"
    "    %m = sub_group_max_size\n    %mw = zext i64 %m\n    %h = mul i64 %g, %nw\n    %q = add i64 %h, %sw\n"
    "    %b = mul i64 %q, %mw\n    %c = mul i64 %b, WIDTH\n",
};

enum way { BY_BLOCK, BY_COMPONENT, BY_ID }; /* in one operation, one by one, p[id] */

static void add_start(struct strbuf *s, unsigned start, unsigned width)
{
    for (const char *c = starts[start]; *c; c++) {
        if (*c != 'W') {
            strbuf_add_bytes(s, c, 1);
            continue;
        }
        strbuf_printf(s, "%u", width);
        c += 4; /* the rest of WIDTH */
    }
}

/* Places of the components, %e0 on. */
static void add_places(struct strbuf *s, enum way way, unsigned width, unsigned size)
{
    if (way == BY_ID) strbuf_printf(s, "    %%e0 = add i64 %%i, 0\n");
    for (unsigned k = 0; k < width && way == BY_COMPONENT; k++)
        strbuf_printf(s,
                      "    %%d%u = add i64 %%c, %u\n    %%y%u = sub_group_local_id\n    %%z%u = zext i64 %%y%u\n"
                      "    %%e%u = add i64 %%d%u, %%z%u\n",
                      k, k * size, k, k, k, k, k, k);
}

static void add_vector_type(struct strbuf *s, const char *type, unsigned width)
{
    strbuf_printf(s,
                  width > 1 ? "%s"
                              "x%u"
                            : "%s",
                  type, width);
}

static void add_put(struct strbuf *s, const char *type, unsigned width, enum way way, unsigned start, unsigned size)
{
    strbuf_printf(s,
                  "kernel @put(%%a: ptr.global %s, %%t: ptr.global %s) sub_group_size(%u) {\n    %%i = global_id x\n"
                  "    %%x = load %s %%a[%%i]\n",
                  type, type, size, type);
    add_start(s, start, width);
    for (unsigned k = 0; k < width; k++) strbuf_printf(s, "    %%v%u = add %s %%x, %u\n", k, type, k * 3);
    add_places(s, way, width, size);
    for (unsigned k = 0; k < width && way != BY_BLOCK; k++)
        strbuf_printf(s, "    store %s %%t[%%e%u], %%v%u\n", type, k, k);
    if (way == BY_BLOCK) {
        strbuf_printf(s, "    %%p = elem %s %%t, %%c\n", type);
        if (width > 1) {
            strbuf_printf(s, "    %%vv = vec ");
            add_vector_type(s, type, width);
            for (unsigned k = 0; k < width; k++) strbuf_printf(s, "%s %%v%u", k ? "," : "", k);
            strbuf_printf(s, "\n");
        }
        strbuf_printf(s, "    block_write ");
        add_vector_type(s, type, width);
        strbuf_printf(s, " %%p, %s\n", width > 1 ? "%vv" : "%v0");
    }
    strbuf_printf(s, "}\n");
}

static void add_get(struct strbuf *s, const char *type, unsigned width, enum way way, unsigned start, unsigned size)
{
    strbuf_printf(s,
                  "kernel @get(%%t: ptr.global %s, %%o: ptr.global %s) sub_group_size(%u) {\n    %%i = global_id x\n",
                  type, type, size);
    add_start(s, start, width);
    add_places(s, way, width, size);
    if (way == BY_BLOCK) {
        strbuf_printf(s, "    %%p = elem %s %%t, %%c\n    %%vv = block_read ", type);
        add_vector_type(s, type, width);
        strbuf_printf(s, " %%p\n");
    }
    for (unsigned k = 0; k < width; k++) {
        if (way != BY_BLOCK) strbuf_printf(s, "    %%w%u = load %s %%t[%%e%u]\n", k, type, k);
        if (way == BY_BLOCK && width > 1) {
            strbuf_printf(s, "    %%w%u = extract ", k);
            add_vector_type(s, type, width);
            strbuf_printf(s, " %%vv, %u\n", k);
        }
    }
    const char *first = way == BY_BLOCK && width == 1 ? "%vv" : "%w0";
    strbuf_printf(s, "    %%sum0 = xor %s %s, 21\n", type, first);
    for (unsigned k = 1; k < width; k++)
        strbuf_printf(s, "    %%t%u = mul %s %%sum%u, 3\n    %%sum%u = add %s %%t%u, %%w%u\n", k, type, k - 1, k, type,
                      k, k);
    strbuf_printf(s, "    store %s %%o[%%i], %%sum%u\n}\n", type, width - 1);
}

struct shape {
    unsigned type, width;
    enum way put, get;
    unsigned put_start, get_start;
    unsigned put_size, get_size; /* of sub-groups */
    uint64_t local;              /* 0: none is given */
};

static const struct fuser_props none = {0}, internal = {FUSER_SCOPE_NONE, true, false};

/* From a by put to t, of `width` elements for each work-item, and by get to o. */
static struct test_graph *graph_of(const char *text, ir_type element, unsigned width, uint64_t local)
{
    struct test_graph *g = test_graph_new(text);
    uint32_t a = test_buffer(g, "a", element, N, none);
    uint32_t t = test_buffer(g, "t", element, (uint64_t)N * width, internal);
    uint32_t o = test_buffer(g, "o", element, N, none);
    struct fuser_arg put[] = {test_arg_buffer(a), test_arg_buffer(t)}, get[] = {test_arg_buffer(t), test_arg_buffer(o)};
    test_kernel(g, "put", "put", test_range(N, local), put, 2);
    test_kernel(g, "get", "get", test_range(N, local), get, 2);
    return g;
}

static struct test_graph *make(const struct shape *s)
{
    struct strbuf text = {0};
    add_put(&text, types[s->type], s->width, s->put, s->put_start, s->put_size);
    add_get(&text, types[s->type], s->width, s->get, s->get_start, s->get_size);
    struct test_graph *g = graph_of(text.text, elements[s->type], s->width, s->local);
    free(text.text);
    return g;
}

static bool run_compiled(const struct fuser_launch *launch, const struct nd_range *range, const struct interp_arg *args,
                         void *data)
{
    enum cpu_isa isas[CPU_ISA_COUNT];
    struct compiled c;
    unsigned n = compiled_isas(isas), *turn = data;
    if (!compiled_make(&c, launch->kernel, isas[(*turn)++ % n], false)) return false;
    compiled_run(&c, launch->kernel, range, args, 1, 0);
    compiled_clear(&c);
    return true;
}

static void check_compiled(const struct test_graph *g, const struct fuser_plan *plan)
{
    static unsigned turn;
    struct graph_memory a = graph_memory_new(&g->graph, 3), b = graph_memory_new(&g->graph, 3);
    char why[600];
    if (!run_graph(&g->graph, &a, why, sizeof why) ||
        !run_plan_by(&g->graph, plan, &b, run_compiled, &turn, why, sizeof why) ||
        !same_memory(plan, &a, &b, why, sizeof why))
        fail_msg("%s", why);
    graph_memory_free(&a);
    graph_memory_free(&b);
}

static void check_kept(const struct shape *s, bool compiled)
{
    struct test_graph *g = make(s);
    struct fuser_plan *plan = check_planned(g);
    struct graph_memory m = graph_memory_new(&g->graph, 1);
    char why[1500], elements_text[40];
    check_launches(g, plan, "put get");
    check_internalized(g, plan, "t");
    snprintf(elements_text, sizeof elements_text, s->width > 1 ? "in registers, %u elements" : "in registers of",
             s->width);
    check_remark(plan, "internalized_private", "put", "t", elements_text);
    check_no_remark(plan, "vouched_by_scope");
    check_same(g, plan);
    if (!run_watched(&g->graph, plan, &m, why, sizeof why)) fail_msg("%s", why);
    if (compiled) check_compiled(g, plan);
    /* what goes over memory: a and o, and nothing of t */
    uint64_t bytes = (uint64_t)N << s->type;
    assert_int_equal(plan->bytes_fused, 2 * bytes);
    assert_int_equal(plan->bytes_unfused, (2 + 2 * s->width) * bytes);
    graph_memory_free(&m);
    fuser_plan_free(plan);
    test_graph_free(g);
}

static void blocks_stay_in_registers(void **state)
{
    (void)state;
    static const enum way ways[][2] = {{BY_BLOCK, BY_BLOCK}, {BY_COMPONENT, BY_BLOCK}, {BY_BLOCK, BY_COMPONENT}};
    for (unsigned type = 0; type < 4; type++)
        for (unsigned w = 0; w < 5; w++)
            for (unsigned way = 0; way < 3; way++)
                for (unsigned start = 0; start < 2; start++)
                    check_kept(&(const struct shape){type, widths[w], ways[way][0], ways[way][1], start, (w + way) % 2,
                                                     SIZE, SIZE, LOCAL},
                               (type + w + way) % 4 == 0 && start);
}

/* One element is the work-item's own, whatever the sizes of sub-groups and work-groups: also where none are given. */
static void one_element_is_that_of_the_id(void **state)
{
    (void)state;
    static const enum way ways[][2] = {{BY_ID, BY_BLOCK}, {BY_BLOCK, BY_ID}, {BY_BLOCK, BY_BLOCK}};
    for (unsigned type = 0; type < 4; type++)
        for (unsigned way = 0; way < 3; way++)
            for (uint64_t local = 0; local <= LOCAL; local += LOCAL)
                check_kept(&(const struct shape){type, 1, ways[way][0], ways[way][1], 0, 0, SIZE, SIZE, local},
                           way == 0);
}

/* ---- other elements of the same buffer by the two kernels ---- */

static void check_apart(struct test_graph *g, const char *code, const char *text)
{
    struct fuser_plan *plan = check_planned(g);
    check_launches(g, plan, "put|get");
    check_internalized(g, plan, "");
    check_remark(plan, code, "get", "t", text);
    check_same(g, plan);
    fuser_plan_free(plan);
    test_graph_free(g);
}

/* The second kernel reads p[id] after a block of two: another work-item's. */
static void another_width_is_a_race(void **state)
{
    (void)state;
    struct strbuf text = {0};
    add_put(&text, "i32", 2, BY_BLOCK, 0, SIZE);
    add_get(&text, "i32", 1, BY_ID, 0, SIZE);
    check_apart(graph_of(text.text, IR_I32, 2, LOCAL), "not_fused_race", "writes what is then read");
    free(text.text);
}

static void another_block_is_a_race(void **state)
{
    (void)state;
    struct test_graph *g = make(&(const struct shape){2, 1, BY_BLOCK, BY_BLOCK, 0, 0, SIZE, SIZE, LOCAL});
    g->graph.buffers[1].bytes += 4 * SIZE;
    g->graph.nodes[1].args[0].offset = 4 * SIZE;
    check_apart(g, "not_fused_race", "writes what is then read");
}

/* Where no work-groups are given, they may not be rows of whole sub-groups: a second component may be anybody's. */
static void unknown_work_groups_prove_nothing(void **state)
{
    (void)state;
    check_apart(make(&(const struct shape){2, 2, BY_BLOCK, BY_BLOCK, 0, 0, SIZE, SIZE, 0}), "not_fused_dependence",
                "perhaps by another work-item");
}

/* The ids that a sub-group's first work-item has. */
static void under_offsets(void **state)
{
    (void)state;
    for (uint64_t offset = 0; offset <= 32; offset += 16) {
        struct test_graph *g = make(&(const struct shape){2, 1, BY_BLOCK, BY_BLOCK, 0, 0, SIZE, SIZE, LOCAL});
        for (int i = 0; i < 3; i++) g->graph.buffers[i].bytes += 4 * 32;
        for (int i = 0; i < 2; i++) g->graph.nodes[i].range.offset[0] = offset;
        struct fuser_plan *plan = check_planned(g);
        check_launches(g, plan, "put get");
        check_internalized(g, plan, "t");
        check_same(g, plan);
        fuser_plan_free(plan);
        test_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_stay_in_registers),          cmocka_unit_test(one_element_is_that_of_the_id),
        cmocka_unit_test(another_width_is_a_race),           cmocka_unit_test(another_block_is_a_race),
        cmocka_unit_test(unknown_work_groups_prove_nothing), cmocka_unit_test(under_offsets),
    };
    return cmocka_run_group_tests_name("plan_blocks", tests, NULL, NULL);
}
