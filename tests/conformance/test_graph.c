/* Graphs with more than kernels in them: copies, fills, host tasks, and graphs as nodes. */
#include "tests/conformance/kit.h"

static fusion_memory at(fusion_buffer *buffer)
{
    return (fusion_memory){.buffer = buffer};
}

static fusion_memory host(void *memory)
{
    return (fusion_memory){.host = memory};
}

static fusion_node scale(struct kit *k, fusion_buffer *from, fusion_buffer *to, int factor)
{
    return kit_add(k, "scale", SIZE, 0, fusion_arg_read(from), fusion_arg_write(to), fusion_arg_i32(factor));
}

static void expect_all(fusion_buffer *buffer, int factor, int add)
{
    for (int i = 0; i < SIZE; i++)
        if (kit_map(buffer)[i] != factor * i + add)
            fail_msg("element %d: %d instead of %d", i, kit_map(buffer)[i], factor * i + add);
}

/* ---- memory operations: graph_fusion_buffer, _mem_cmd_first, _mem_cmd_last ---- */

/* Before and behind all kernels they are in nobody's way; the host's memory on both sides. */
static void mem_cmd_first_and_last(struct kit *k)
{
    static int given[SIZE], got[SIZE];
    for (int i = 0; i < SIZE; i++) given[i] = i + 1, got[i] = 0;
    fusion_buffer *in = kit_buffer(k, "in", SIZE, 0), *tmp = kit_buffer(k, "tmp", SIZE, kit_private),
                  *out = kit_buffer(k, "out", SIZE, 0);
    int32_t seven = 7;
    expect_ok(fusion_graph_add_copy(k->graph, "copy_in", host(given), at(in), sizeof given, NULL, 0, NULL));
    scale(k, in, tmp, 2);
    scale(k, tmp, out, 3);
    expect_ok(fusion_graph_add_fill(k->graph, "fill_in", at(in), SIZE * 4, &seven, 4, NULL, 0, NULL));
    expect_ok(fusion_graph_add_copy(k->graph, "copy_out", at(out), host(got), sizeof got, NULL, 0, NULL));
    const fusion_report *r = kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:private");
    assert_int_equal(r->n_order, 5);
    assert_string_equal(fusion_exec_node_name(k->exec, r->order[0]), "copy_in");
    for (int i = 0; i < SIZE; i++) assert_true(got[i] == 6 * (i + 1) && kit_map(in)[i] == 7);
    /* The host's memory is read when the graph runs, not when it is built. */
    for (int i = 0; i < SIZE; i++) given[i] = -i;
    kit_submit(k);
    for (int i = 0; i < SIZE; i++) assert_int_equal(got[i], -6 * i);
}

static void (*const no_function)(void *) = NULL;

static void add_one(void *data)
{
    int *memory = kit_map(data);
    for (int i = 0; i < SIZE; i++) memory[i]++;
}

/* non-kernel-cg: each kind of command between two kernels that need it there. Theirs fused none; a copy or fill is part
   of the launch here, a host task cannot be. Always right. */
static void non_kernel_cg(struct kit *k)
{
    for (int kind = 0; kind < 3; kind++) {
        kit_new_graph(k);
        fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *a = kit_buffer(k, "a", SIZE, 0),
                      *b = kit_buffer(k, "b", SIZE, 0), *out = kit_buffer(k, "out", SIZE, 0);
        int32_t nine = 9;
        fusion_arg touched = fusion_arg_read_write(a);
        scale(k, in, a, 2);
        if (kind == 0) expect_ok(fusion_graph_add_copy(k->graph, "between", at(a), at(b), SIZE * 4, NULL, 0, NULL));
        if (kind == 1) expect_ok(fusion_graph_add_fill(k->graph, "between", at(a), SIZE * 4, &nine, 4, NULL, 0, NULL));
        if (kind == 2)
            expect_ok(fusion_graph_add_host_task(k->graph, "between", &touched, 1, add_one, a, NULL, 0, NULL));
        scale(k, kind == 0 ? b : a, out, 3);
        if (kind == 2) {
            kit_expect_finalize_error(k, FUSION_REQUIRE, FUSION_KERNEL_NOT_SUPPORTED, "between");
        } else {
            kit_run(k, FUSION_REQUIRE);
            kit_expect_launches(k, 1);
            expect_all(out, kind == 1 ? 0 : 6, kind == 1 ? 27 : 0);
        }
        kit_run(k, FUSION_ENABLE);
        kit_expect_launches(k, kind == 2 ? 2 : 1);
        kit_expect_internalized(k, "");
        if (kind == 2) kit_expect_remark(k, "not_fused_command", NULL, NULL);
        expect_all(out, kind == 1 ? 0 : 6, kind == 1 ? 27 : kind == 2 ? 3 : 0);
        kit_submit(k);
        expect_all(out, kind == 1 ? 0 : 6, kind == 1 ? 27 : kind == 2 ? 3 : 0);
    }
    fusion_arg value = fusion_arg_i32(1);
    expect_error(fusion_graph_add_host_task(k->graph, "value", &value, 1, add_one, NULL, NULL, 0, NULL),
                 FUSION_INVALID);
    expect_error(fusion_graph_add_host_task(k->graph, "none", NULL, 0, no_function, NULL, NULL, 0, NULL),
                 FUSION_INVALID);
}

static void count(void *data)
{
    ++*(int *)data;
}

/* Host tasks in three places of one order, by explicit edges only; once for each submission. */
static void host_tasks_in_order(struct kit *k)
{
    int seen[3] = {0};
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *a = kit_buffer(k, "a", SIZE, 0),
                  *b = kit_buffer(k, "b", SIZE, 0);
    fusion_node first, kernel, middle, second;
    fusion_arg args[2][3] = {{fusion_arg_read(in), fusion_arg_write(a), fusion_arg_i32(2)},
                             {fusion_arg_read(in), fusion_arg_write(b), fusion_arg_i32(3)}};
    fusion_kernel_node node = {.module = k->module,
                               .kernel = "scale",
                               .dims = 1,
                               .global = {SIZE},
                               .n_args = 3,
                               .args = args[0],
                               .n_depends_on = 1,
                               .depends_on = &first};
    expect_ok(fusion_graph_add_host_task(k->graph, NULL, NULL, 0, count, &seen[0], NULL, 0, &first));
    expect_ok(fusion_graph_add_kernel(k->graph, &node, &kernel));
    expect_ok(fusion_graph_add_host_task(k->graph, NULL, NULL, 0, count, &seen[1], &kernel, 1, &middle));
    node.depends_on = &middle;
    node.args = args[1];
    expect_ok(fusion_graph_add_kernel(k->graph, &node, &second));
    expect_ok(fusion_graph_add_host_task(k->graph, NULL, NULL, 0, count, &seen[2], &second, 1, NULL));
    kit_finalize(k, FUSION_ENABLE);
    kit_expect_launches(k, 2);
    for (int run = 1; run <= 3; run++) {
        kit_submit(k);
        for (int i = 0; i < 3; i++) assert_int_equal(seen[i], run);
    }
    expect_all(a, 2, 0);
    expect_all(b, 3, 0);
}

/* Rows of a picture: out of the middle of one buffer into a narrower one, and host memory with a pitch. */
static void copies_2d(struct kit *k)
{
    enum { WIDTH = 32, HEIGHT = 16, INNER = 8, ROWS = 10 };
    fusion_buffer *big = kit_ramp(k, "big", WIDTH * HEIGHT, 1, 0), *small = kit_buffer(k, "small", INNER * ROWS, 0);
    int got[ROWS][INNER + 3];
    memset(got, 0xff, sizeof got);
    fusion_memory middle = {.buffer = big, .offset = (2 * WIDTH + 5) * 4};
    expect_ok(fusion_graph_add_copy_2d(k->graph, "cut", middle, WIDTH * 4, at(small), INNER * 4, INNER * 4, ROWS, NULL,
                                       0, NULL));
    expect_ok(fusion_graph_add_copy_2d(k->graph, "out", at(small), INNER * 4, host(got), sizeof got[0], INNER * 4, ROWS,
                                       NULL, 0, NULL));
    kit_run(k, FUSION_ENABLE);
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < INNER + 3; x++) assert_int_equal(got[y][x], x < INNER ? (y + 2) * WIDTH + x + 5 : -1);
    expect_error(fusion_graph_add_copy_2d(k->graph, "far", middle, WIDTH * 4, at(small), INNER * 4, INNER * 4, ROWS + 1,
                                          NULL, 0, NULL),
                 FUSION_INVALID);
    expect_in_reason("small");
    expect_error(fusion_graph_add_copy_2d(k->graph, "tight", middle, INNER, at(small), INNER * 4, INNER * 4, ROWS, NULL,
                                          0, NULL),
                 FUSION_INVALID);
}

/* ---- graphs as nodes ---- */

/* in * 2 -> tmp * 3 -> out as a graph of its own. */
static fusion_graph *chain(struct kit *k, fusion_buffer *in, fusion_buffer *tmp, fusion_buffer *out)
{
    fusion_graph *outer = k->graph, *inner;
    expect_ok(fusion_graph_create(k->session, &k->graph));
    scale(k, in, tmp, 2);
    scale(k, tmp, out, 3);
    inner = k->graph;
    k->graph = outer;
    return inner;
}

static const fusion_finalize_options fused = {.mode = FUSION_REQUIRE};

/* fused_subgraph: its launch is one, its temporary has no memory; the kernels around it are by themselves. */
static void fused_subgraph(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *a = kit_buffer(k, "a", SIZE, 0),
                  *tmp = kit_buffer(k, "tmp", SIZE, kit_private), *b = kit_buffer(k, "b", SIZE, 0),
                  *out = kit_buffer(k, "out", SIZE, 0);
    scale(k, in, a, 5);
    fusion_graph *inner = chain(k, a, tmp, b);
    fusion_node node;
    expect_ok(fusion_graph_add_graph(k->graph, "inner", inner, &fused, NULL, 0, &node));
    fusion_graph_destroy(inner); /* the node is a copy */
    scale(k, b, out, 7);
    const fusion_report *r = kit_run(k, FUSION_NONE);
    kit_expect_launches(k, 3);
    kit_expect_internalized(k, "tmp:private");
    assert_false(fusion_buffer_has_memory(tmp));
    assert_int_equal(r->n_order, 3);
    assert_string_equal(fusion_exec_node_name(k->exec, r->order[1]), "inner");
    expect_all(out, 5 * 6 * 7, 0);
    kit_submit(k);
    expect_all(out, 5 * 6 * 7, 0);
}

/* fused_subgraph_nested_fuse: the outer graph is fused too, and all is one launch. */
static void nested_fuse(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *a = kit_buffer(k, "a", SIZE, kit_private),
                  *tmp = kit_buffer(k, "tmp", SIZE, kit_private), *b = kit_buffer(k, "b", SIZE, kit_private),
                  *out = kit_buffer(k, "out", SIZE, 0);
    fusion_node first = scale(k, in, a, 5);
    fusion_graph *inner = chain(k, a, tmp, b);
    fusion_node node;
    expect_ok(fusion_graph_add_graph(k->graph, "inner", inner, &fused, &first, 1, &node));
    fusion_node last = scale(k, b, out, 7);
    const fusion_report *r = kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    assert_int_equal(r->n_internalized, 3);
    assert_int_equal(r->n_order, 3);
    assert_true(r->order[0] == first && r->order[1] == node && r->order[2] == last);
    expect_all(out, 5 * 6 * 7, 0);
    /* The kernel behind the inner graph has its number all the same: its argument can be rebound. */
    int32_t factor = -1;
    fusion_event event;
    fusion_rebind rebind = {.node = last, .arg = 2, .value = &factor, .value_bytes = 4};
    expect_ok(fusion_exec_submit(k->exec, &rebind, 1, &event));
    expect_ok(fusion_event_wait(k->session, event, 20000, NULL));
    expect_all(out, -5 * 6, 0);
}

/* A graph in a graph in a graph; the middle one is not fused by itself, the inner one is. */
static void two_levels(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, kit_private),
                  *mid = kit_buffer(k, "mid", SIZE, 0), *out = kit_buffer(k, "out", SIZE, 0),
                  *last = kit_buffer(k, "last", SIZE, 0);
    fusion_graph *outer = k->graph, *inner = chain(k, in, tmp, mid), *middle;
    expect_ok(fusion_graph_create(k->session, &middle));
    expect_ok(fusion_graph_add_graph(middle, NULL, inner, &fused, NULL, 0, NULL));
    k->graph = middle;
    scale(k, mid, out, 10);
    k->graph = outer;
    expect_ok(fusion_graph_add_graph(k->graph, NULL, middle, NULL, NULL, 0, NULL));
    scale(k, out, last, 100);
    kit_run(k, FUSION_NONE);
    kit_expect_launches(k, 3);
    kit_expect_internalized(k, "tmp:private");
    expect_all(last, 6000, 0);
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    expect_all(last, 6000, 0);
}

/* fused_subgraph_complex: two fused graphs side by side, and kernels that use what both made. */
static void subgraph_complex(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *t1 = kit_buffer(k, "t1", SIZE, kit_private),
                  *t2 = kit_buffer(k, "t2", SIZE, kit_private), *a = kit_buffer(k, "a", SIZE, 0),
                  *b = kit_buffer(k, "b", SIZE, 0), *sum = kit_buffer(k, "sum", SIZE, 0),
                  *out = kit_buffer(k, "out", SIZE, 0);
    expect_ok(fusion_graph_add_graph(k->graph, "left", chain(k, in, t1, a), &fused, NULL, 0, NULL));
    expect_ok(fusion_graph_add_graph(k->graph, "right", chain(k, in, t2, b), &fused, NULL, 0, NULL));
    kit_add(k, "add", SIZE, 0, fusion_arg_read(a), fusion_arg_read(b), fusion_arg_write(sum));
    scale(k, sum, out, 2);
    kit_run(k, FUSION_NONE);
    kit_expect_launches(k, 4);
    kit_expect_internalized(k, "t1:private t2:private");
    expect_all(out, 24, 0);
}

/* fused_subgraph_with_non_kernel_cmds: memory commands around the node, and inside before its kernels. */
static void subgraph_with_non_kernel_cmds(struct kit *k)
{
    static int got[SIZE];
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *a = kit_buffer(k, "a", SIZE, 0),
                  *tmp = kit_buffer(k, "tmp", SIZE, kit_private), *out = kit_buffer(k, "out", SIZE, 0);
    expect_ok(fusion_graph_add_copy(k->graph, "before", at(in), at(a), SIZE * 4, NULL, 0, NULL));
    fusion_graph *inner = chain(k, a, tmp, out);
    int32_t zero = 0;
    expect_ok(fusion_graph_add_fill(inner, "clear", at(in), SIZE * 4, &zero, 4, NULL, 0, NULL));
    expect_ok(fusion_graph_add_graph(k->graph, "inner", inner, &fused, NULL, 0, NULL));
    expect_ok(fusion_graph_add_copy(k->graph, "after", at(out), host(got), sizeof got, NULL, 0, NULL));
    kit_run(k, FUSION_NONE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:private");
    for (int i = 0; i < SIZE; i++) assert_true(got[i] == 6 * i && kit_map(in)[i] == 0);
}

/* What the inner graph requires and cannot have is the error of the outer finalize. */
static void subgraph_that_cannot_be_fused(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, 0),
                  *out = kit_buffer(k, "out", SIZE, 0);
    fusion_graph *outer = k->graph, *inner;
    kit_new_graph(k);
    outer = k->graph;
    expect_ok(fusion_graph_create(k->session, &inner));
    k->graph = inner;
    scale(k, in, tmp, 2);
    kit_add(k, "rotate", SIZE, 0, fusion_arg_read(tmp), fusion_arg_write(out));
    k->graph = outer;
    expect_ok(fusion_graph_add_graph(k->graph, NULL, inner, &fused, NULL, 0, NULL));
    kit_expect_finalize_error(k, FUSION_NONE, FUSION_KERNEL_NOT_SUPPORTED, "rotate");
    kit_run(k, FUSION_ENABLE); /* the outer properties count */
    kit_expect_launches(k, 2);
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 2 * ((i + 1) % SIZE));
}

/* A graph added to itself is what it was before: no circle. */
static void graph_in_itself(struct kit *k)
{
    fusion_buffer *a = kit_ramp(k, "a", SIZE, 1, 0);
    for (int i = 0; i < 3; i++) {
        if (i == 0)
            kit_add(k, "count_up", SIZE, 0, fusion_arg_read_write(a), fusion_arg_i32(1));
        else
            expect_ok(fusion_graph_add_graph(k->graph, NULL, k->graph, NULL, NULL, 0, NULL));
    }
    kit_run(k, FUSION_REQUIRE); /* 1, then 2, then 4 times */
    kit_expect_launches(k, 1);
    expect_all(a, 1, 4);
}

/* Another buffer for one submission, which the inner graph uses too. */
static void rebinding_reaches_subgraphs(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *other = kit_ramp(k, "other", SIZE, -1, 4),
                  *tmp = kit_buffer(k, "tmp", SIZE, kit_private), *a = kit_buffer(k, "a", SIZE, 0),
                  *out = kit_buffer(k, "out", SIZE, 0);
    expect_ok(fusion_graph_add_graph(k->graph, NULL, chain(k, in, tmp, a), &fused, NULL, 0, NULL));
    kit_add(k, "add", SIZE, 0, fusion_arg_read(a), fusion_arg_read(in), fusion_arg_write(out));
    kit_run(k, FUSION_NONE);
    expect_all(out, 7, 0);
    fusion_event event;
    expect_ok(fusion_exec_submit(k->exec, &(fusion_rebind){.from = in, .to = other}, 1, &event));
    expect_ok(fusion_event_wait(k->session, event, 20000, NULL));
    expect_all(out, -7, 28);
}

ON_DEVICES(mem_cmd_first_and_last)
ON_DEVICES(non_kernel_cg)
ON_DEVICES(host_tasks_in_order)
ON_DEVICES(copies_2d)
ON_DEVICES(fused_subgraph)
ON_DEVICES(nested_fuse)
ON_DEVICES(two_levels)
ON_DEVICES(subgraph_complex)
ON_DEVICES(subgraph_with_non_kernel_cmds)
ON_DEVICES(subgraph_that_cannot_be_fused)
ON_DEVICES(graph_in_itself)
ON_DEVICES(rebinding_reaches_subgraphs)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mem_cmd_first_and_last),
        cmocka_unit_test(test_non_kernel_cg),
        cmocka_unit_test(test_host_tasks_in_order),
        cmocka_unit_test(test_copies_2d),
        cmocka_unit_test(test_fused_subgraph),
        cmocka_unit_test(test_nested_fuse),
        cmocka_unit_test(test_two_levels),
        cmocka_unit_test(test_subgraph_complex),
        cmocka_unit_test(test_subgraph_with_non_kernel_cmds),
        cmocka_unit_test(test_subgraph_that_cannot_be_fused),
        cmocka_unit_test(test_graph_in_itself),
        cmocka_unit_test(test_rebinding_reaches_subgraphs),
    };
    return cmocka_run_group_tests_name("conformance_graph", tests, kit_start, kit_stop);
}
