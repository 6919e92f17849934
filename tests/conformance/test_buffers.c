/* Buffers kept in registers: where the properties stand, what speaks against it, and four kernels that share. */
#include "tests/conformance/kit.h"

/* in1 + in2 -> tmp1; tmp1 * in3 -> tmp2; tmp1 * 5 -> tmp3; tmp2 + tmp3 -> out */
struct diamond {
    fusion_buffer *in[3], *tmp[3], *out;
    fusion_node node[4];
};

static struct diamond diamond(struct kit *k, unsigned on_buffer, unsigned on_accessor)
{
    struct diamond d = {
        .in = {kit_ramp(k, "in1", SIZE, 1, 0), kit_ramp(k, "in2", SIZE, 2, 0), kit_ramp(k, "in3", SIZE, 3, 0)}};
    static const char *const names[] = {"tmp1", "tmp2", "tmp3"};
    for (int i = 0; i < 3; i++) d.tmp[i] = kit_buffer(k, names[i], SIZE, on_buffer);
    d.out = kit_buffer(k, "out", SIZE, 0);
    fusion_arg write[3], read[3];
    for (int i = 0; i < 3; i++) {
        write[i] = kit_with(fusion_arg_write(d.tmp[i]), on_accessor);
        read[i] = kit_with(fusion_arg_read(d.tmp[i]), on_accessor);
    }
    d.node[0] = kit_add(k, "add", SIZE, 0, fusion_arg_read(d.in[0]), fusion_arg_read(d.in[1]), write[0]);
    d.node[1] = kit_add(k, "mul", SIZE, 0, read[0], fusion_arg_read(d.in[2]), write[1]);
    d.node[2] = kit_add(k, "scale", SIZE, 0, read[0], write[2], fusion_arg_i32(5));
    d.node[3] = kit_add(k, "add", SIZE, 0, read[1], read[2], fusion_arg_write(d.out));
    return d;
}

static void expect_diamond(const struct diamond *d)
{
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(d->out)[i], 3 * i * 3 * i + 5 * 3 * i);
}

static void expect_all_in_registers(struct kit *k, const struct diamond *d)
{
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp1:private tmp2:private tmp3:private");
    for (int i = 0; i < 3; i++) assert_false(fusion_buffer_has_memory(d->tmp[i]));
    kit_expect_remark(k, "internalized_private", NULL, "tmp1");
    kit_expect_remark(k, "fused", NULL, NULL);
}

static void diamond_shape(struct kit *k)
{
    struct diamond d = diamond(k, 0, kit_private);
    kit_run(k, FUSION_REQUIRE);
    expect_diamond(&d);
    expect_all_in_registers(k, &d);
}

static void buffer_internalization(struct kit *k)
{
    struct diamond d = diamond(k, kit_private, 0);
    kit_run(k, FUSION_ENABLE);
    expect_diamond(&d);
    expect_all_in_registers(k, &d);
}

/* Ours needs the one property that only the user can know. */
static void internal_memory_alone(struct kit *k)
{
    struct diamond d = diamond(k, FUSION_INTERNAL_MEMORY, 0);
    kit_run(k, FUSION_REQUIRE);
    expect_diamond(&d);
    expect_all_in_registers(k, &d);
}

static void private_internalization(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, 0),
                  *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, "scale", SIZE, 0, fusion_arg_read(in), kit_with(fusion_arg_write(tmp), kit_private), fusion_arg_i32(2));
    kit_add(k, "scale", SIZE, 0, kit_with(fusion_arg_read(tmp), kit_private), fusion_arg_write(out), fusion_arg_i32(7));
    kit_run(k, FUSION_REQUIRE);
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 14 * i);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:private");
    assert_false(fusion_buffer_has_memory(tmp));
    assert_true(fusion_exec_report(k->exec)->bytes_fused < fusion_exec_report(k->exec)->bytes_unfused);
}

/* Not asked for: fused all the same, the buffer keeps its memory, and the report says what would change that. */
static void without_properties(struct kit *k)
{
    struct diamond d = diamond(k, 0, 0);
    kit_run(k, FUSION_REQUIRE);
    expect_diamond(&d);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "");
    kit_expect_remark(k, "internalization_possible", NULL, "tmp1");
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(d.tmp[2])[i], 15 * i);
}

/* Six mismatches of two accessors; each leaves the buffer in memory, with a reason, and the values right. */
static void abort_internalization(struct kit *k)
{
    enum { GROUP = FUSION_ACCESS_SCOPE_WORK_GROUP, ITEM = FUSION_ACCESS_SCOPE_WORK_ITEM };
    static const struct {
        unsigned first, second; /* fusion_internal_memory and no_init besides */
        uint64_t local[2];
        const char *launches_remark;
    } cases[] = {
        {GROUP, ITEM, {16, 16}, NULL}, {ITEM, GROUP, {16, 16}, NULL}, {ITEM, 0, {16, 16}, NULL},
        {0, ITEM, {16, 16}, NULL},     {GROUP, 0, {16, 16}, NULL},    {GROUP, GROUP, {16, 32}, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kit_new_graph(k);
        /* Of the neighbour's element: what is written is read by another work-item, so no proof helps out. */
        fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, 0),
                      *out = kit_buffer(k, "out", SIZE, 0);
        unsigned both = FUSION_INTERNAL_MEMORY | FUSION_NO_INIT;
        kit_add(k, "scale", SIZE, cases[i].local[0], fusion_arg_read(in),
                kit_with(fusion_arg_write(tmp), cases[i].first | both), fusion_arg_i32(2));
        kit_add(k, "neighbour", SIZE, cases[i].local[1], kit_with(fusion_arg_read(tmp), cases[i].second | both),
                fusion_arg_write(out));
        kit_run(k, FUSION_ENABLE);
        for (int e = 0; e < SIZE; e++) assert_int_equal(kit_map(out)[e], 2 * (e ^ 1));
        kit_expect_internalized(k, "");
        kit_expect_remark(k, cases[i].launches_remark ? cases[i].launches_remark : "not_fused_race", NULL, NULL);
        kit_expect_remark(k, "not_internalized_groups", NULL, "tmp");
    }
}

static void abort_internalization_stored_ptr(struct kit *k)
{
    fusion_buffer *tmp = kit_buffer(k, "tmp", SIZE, kit_private), *out = kit_buffer(k, "out", SIZE, 0), *where;
    expect_ok(fusion_buffer_create(k->session, "where", FUSION_I64, SIZE, 0, &where));
    kit_add(k, "keep_address", SIZE, 0, fusion_arg_read_write(tmp), fusion_arg_read_write(where));
    kit_add(k, "scale", SIZE, 0, fusion_arg_read(tmp), fusion_arg_write(out), fusion_arg_i32(3));
    kit_run(k, FUSION_ENABLE);
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 3 * i);
    kit_expect_internalized(k, "");
    kit_expect_remark(k, "not_internalized_escapes", NULL, "tmp");
}

/* depends_on between kernels that share nothing; it is part of the order, and of no help to those that do. */
static void internal_explicit_dependency(struct kit *k)
{
    fusion_buffer *a = kit_ramp(k, "a", SIZE, 1, 0), *b = kit_ramp(k, "b", SIZE, 1, 0),
                  *x = kit_buffer(k, "x", SIZE, 0), *y = kit_buffer(k, "y", SIZE, 0);
    fusion_node later = 1; /* depends_on may name a node that comes later */
    fusion_arg args[] = {fusion_arg_read(a), fusion_arg_write(x), fusion_arg_i32(2)};
    fusion_kernel_node first = {.module = k->module,
                                .kernel = "scale",
                                .dims = 1,
                                .global = {SIZE},
                                .args = args,
                                .n_args = 3,
                                .depends_on = &later,
                                .n_depends_on = 1,
                                .name = "a_first"};
    expect_ok(fusion_graph_add_kernel(k->graph, &first, NULL));
    kit_add(k, "scale", SIZE, 0, fusion_arg_read(b), fusion_arg_write(y), fusion_arg_i32(3));
    const fusion_report *r = kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    assert_int_equal(r->n_order, 2);
    assert_int_equal(r->order[0], 1);
    assert_int_equal(r->order[1], 0);
    for (int i = 0; i < SIZE; i++) assert_true(kit_map(x)[i] == 2 * i && kit_map(y)[i] == 3 * i);

    /* In a circle it is refused, with the names. */
    kit_new_graph(k);
    fusion_node other = 1, self = 0;
    expect_ok(fusion_graph_add_kernel(k->graph, &first, NULL));
    fusion_kernel_node second = first;
    second.name = "b_second";
    second.depends_on = &self;
    expect_ok(fusion_graph_add_kernel(k->graph, &second, &other));
    kit_expect_finalize_error(k, FUSION_ENABLE, FUSION_INVALID, "a_first");
    expect_in_reason("b_second");
}

static void math_function(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 3, -7), *tmp = kit_buffer(k, "tmp", SIZE, kit_private),
                  *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, "root", SIZE, 0, fusion_arg_read(in), fusion_arg_write(tmp));
    kit_add(k, "scale", SIZE, 0, fusion_arg_read(tmp), fusion_arg_write(out), fusion_arg_i32(2));
    kit_expect_like_unfused(k, FUSION_REQUIRE, out);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:private");
    assert_int_equal(kit_map(out)[0], 2 * 8); /* 3 * sqrt(7) = 7.94 */
}

/* Accessors on parts: where they do not overlap there is no edge, and equal parts are one piece of memory. */
static void ranged_offset_accessor(struct kit *k)
{
    enum { HALF = SIZE / 2 };
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, kit_private),
                  *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, "scale", HALF, 0, kit_part(fusion_arg_read(in), 0, HALF), kit_part(fusion_arg_write(tmp), HALF, HALF),
            fusion_arg_i32(2));
    kit_add(k, "scale", HALF, 0, kit_part(fusion_arg_read(tmp), HALF, HALF), kit_part(fusion_arg_write(out), 0, HALF),
            fusion_arg_i32(5));
    kit_add(k, "scale", HALF, 0, kit_part(fusion_arg_read(in), HALF, HALF), kit_part(fusion_arg_write(out), HALF, HALF),
            fusion_arg_i32(-1));
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:private");
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], i < HALF ? 10 * i : -i);

    /* Different parts of the temporary: not one element for each work-item, so it keeps its memory. */
    kit_new_graph(k);
    kit_add(k, "scale", HALF, 0, kit_part(fusion_arg_read(in), 0, HALF), kit_part(fusion_arg_write(tmp), 0, HALF),
            fusion_arg_i32(2));
    kit_add(k, "scale", HALF - 1, 0, kit_part(fusion_arg_read(tmp), 1, HALF - 1),
            kit_part(fusion_arg_write(out), 0, HALF - 1), fusion_arg_i32(5));
    kit_run(k, FUSION_ENABLE);
    kit_expect_internalized(k, "");
    for (int i = 0; i < HALF - 1; i++) assert_int_equal(kit_map(out)[i], 10 * (i + 1));
}

static void internalization_mismatch(struct kit *k)
{
    static const unsigned scopes[2] = {FUSION_ACCESS_SCOPE_WORK_GROUP, FUSION_ACCESS_SCOPE_WORK_ITEM};
    for (int i = 0; i < 2; i++) {
        kit_new_graph(k);
        fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, scopes[i]);
        kit_add(k, "scale", SIZE, 0, fusion_arg_read(in), kit_with(fusion_arg_write(tmp), scopes[!i]),
                fusion_arg_i32(2));
        kit_expect_finalize_error(k, FUSION_NONE, FUSION_INVALID, "access_scope_work_group");
        expect_in_reason("access_scope_work_item");
        expect_in_reason("tmp");
    }
    /* On one object it is a mistake too. */
    fusion_buffer *both = NULL;
    expect_error(fusion_buffer_create(k->session, "both", FUSION_I32, SIZE, scopes[0] | scopes[1], &both),
                 FUSION_INVALID);
}

/* The first table: what is in force for an accessor, from its own scope and its buffer's. The second: two accessors. */
static void combination_tables(struct kit *k)
{
    enum { NONE = 0, GROUP = FUSION_ACCESS_SCOPE_WORK_GROUP, ITEM = FUSION_ACCESS_SCOPE_WORK_ITEM };
    static const struct {
        unsigned buffer, accessors[2];
        bool vouched; /* access_scope_work_item is in force on both */
    } rows[] = {
        {NONE, {NONE, NONE}, false},  {ITEM, {NONE, NONE}, true},   {ITEM, {ITEM, ITEM}, true},
        {ITEM, {ITEM, NONE}, true},   {NONE, {ITEM, ITEM}, true},   {NONE, {ITEM, NONE}, false},
        {NONE, {NONE, ITEM}, false},  {GROUP, {NONE, NONE}, false}, {GROUP, {GROUP, NONE}, false},
        {NONE, {GROUP, ITEM}, false}, {NONE, {ITEM, GROUP}, false}, {NONE, {GROUP, GROUP}, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kit_new_graph(k);
        fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *index = kit_ramp(k, "index", SIZE, 1, 0),
                      *tmp = kit_buffer(k, "tmp", SIZE, rows[i].buffer), *out = kit_buffer(k, "out", SIZE, 0);
        /* The index comes from memory: nothing is proved, the properties decide. */
        kit_add(k, "scatter", SIZE, 0, fusion_arg_read(in), fusion_arg_read(index),
                kit_with(fusion_arg_write(tmp), rows[i].accessors[0]));
        kit_add(k, "scale", SIZE, 0, kit_with(fusion_arg_read(tmp), rows[i].accessors[1]), fusion_arg_write(out),
                fusion_arg_i32(2));
        kit_run(k, FUSION_ENABLE);
        for (int e = 0; e < SIZE; e++) assert_int_equal(kit_map(out)[e], 2 * e);
        kit_expect_launches(k, rows[i].vouched ? 1 : 2);
        if (rows[i].vouched)
            kit_expect_remark(k, "vouched_by_scope", NULL, "tmp");
        else
            kit_expect_remark(k, "not_fused_dependence", NULL, "tmp");
    }
}

ON_DEVICES(diamond_shape)
ON_DEVICES(buffer_internalization)
ON_DEVICES(internal_memory_alone)
ON_DEVICES(private_internalization)
ON_DEVICES(without_properties)
ON_DEVICES(abort_internalization)
ON_DEVICES_WITH("usm_device_allocations", abort_internalization_stored_ptr)
ON_DEVICES(internal_explicit_dependency)
ON_DEVICES(math_function)
ON_DEVICES(ranged_offset_accessor)
ON_DEVICES(internalization_mismatch)
ON_DEVICES(combination_tables)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diamond_shape),
        cmocka_unit_test(test_buffer_internalization),
        cmocka_unit_test(test_internal_memory_alone),
        cmocka_unit_test(test_private_internalization),
        cmocka_unit_test(test_without_properties),
        cmocka_unit_test(test_abort_internalization),
        cmocka_unit_test(test_abort_internalization_stored_ptr),
        cmocka_unit_test(test_internal_explicit_dependency),
        cmocka_unit_test(test_math_function),
        cmocka_unit_test(test_ranged_offset_accessor),
        cmocka_unit_test(test_internalization_mismatch),
        cmocka_unit_test(test_combination_tables),
    };
    return cmocka_run_group_tests_name("conformance_buffers", tests, kit_start, kit_stop);
}
