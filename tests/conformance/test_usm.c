/* Pointers instead of buffers: USM allocations, annotated or not, alone or inside a struct. */
#include "tests/conformance/kit.h"

static int *allocate(struct kit *k, fusion_usm_kind kind, int factor)
{
    void *pointer = NULL;
    expect_ok(fusion_malloc(k->session, kind, SIZE * sizeof(int), &pointer));
    for (int i = 0; i < SIZE; i++) ((int *)pointer)[i] = factor * i;
    return pointer;
}

static fusion_arg read_at(int *p, unsigned properties)
{
    return fusion_arg_pointer(p, FUSION_ACCESS_READ, properties);
}

static fusion_arg write_at(int *p, unsigned properties)
{
    return fusion_arg_pointer(p, FUSION_ACCESS_WRITE, properties);
}

/* Kernels that share nothing are one launch. */
static void usm_no_dependencies(struct kit *k)
{
    int *in[3], *out[3];
    for (int i = 0; i < 3; i++) {
        in[i] = allocate(k, FUSION_USM_HOST, i + 1);
        out[i] = allocate(k, FUSION_USM_SHARED, 0);
        kit_add(k, "scale", SIZE, 0, read_at(in[i], 0), write_at(out[i], 0), fusion_arg_i32(10));
    }
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    for (int i = 0; i < 3; i++)
        for (int e = 0; e < SIZE; e++) assert_int_equal(out[i][e], 10 * (i + 1) * e);
}

static void usm_private_internalize(struct kit *k)
{
    int *in = allocate(k, FUSION_USM_HOST, 1), *tmp = allocate(k, FUSION_USM_DEVICE, -1),
        *out = allocate(k, FUSION_USM_SHARED, 0);
    kit_add(k, "scale", SIZE, 0, read_at(in, 0), write_at(tmp, kit_private), fusion_arg_i32(2));
    kit_add(k, "scale", SIZE, 0, read_at(tmp, kit_private), write_at(out, 0), fusion_arg_i32(3));
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    assert_int_equal(fusion_exec_report(k->exec)->n_internalized, 1);
    assert_string_equal(fusion_exec_report(k->exec)->internalized[0].memory, "private");
    for (int i = 0; i < SIZE; i++) assert_true(out[i] == 6 * i && tmp[i] == -i); /* nothing was stored */
}

/* One pointer is annotated, the other one is not: kept in memory, and the remark names it. */
static void usm_private_mismatch(struct kit *k)
{
    int *in = allocate(k, FUSION_USM_HOST, 1), *tmp = allocate(k, FUSION_USM_DEVICE, -1),
        *out = allocate(k, FUSION_USM_SHARED, 0);
    kit_add(k, "scale", SIZE, 0, read_at(in, 0), write_at(tmp, kit_private), fusion_arg_i32(2));
    kit_add(k, "scale", SIZE, 0, read_at(tmp, 0), write_at(out, 0), fusion_arg_i32(3));
    kit_run(k, FUSION_ENABLE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "");
    kit_expect_remark(k, "not_internalized_accessor", NULL, NULL);
    for (int i = 0; i < SIZE; i++) assert_true(out[i] == 6 * i && tmp[i] == 2 * i);

    /* Different scopes on both: none is in force. What is proved needs none. */
    kit_new_graph(k);
    kit_add(k, "scale", SIZE, 16, read_at(in, 0), write_at(tmp, kit_private), fusion_arg_i32(2));
    kit_add(k, "neighbour", SIZE, 16, read_at(tmp, kit_local), write_at(out, 0));
    kit_run(k, FUSION_ENABLE);
    kit_expect_launches(k, 2);
    kit_expect_internalized(k, "");
    for (int i = 0; i < SIZE; i++) assert_int_equal(out[i], 2 * (i ^ 1));
}

/* Two pointers into one allocation overlap by 4 bytes: dependence is found by address, not by name. */
static void pointers_into_one_allocation(struct kit *k)
{
    int *p = allocate(k, FUSION_USM_SHARED, 1);
    kit_add(k, "scale", SIZE / 2, 0, read_at(p, 0), write_at(p + SIZE / 2, 0), fusion_arg_i32(2));
    kit_add(k, "scale", SIZE / 2 - 1, 0, read_at(p + SIZE / 2 - 1, 0), write_at(p, 0), fusion_arg_i32(3));
    kit_run(k, FUSION_ENABLE);
    kit_expect_launches(k, 2);
    for (int i = 0; i < SIZE / 2 - 1; i++) assert_int_equal(p[i], i == 0 ? 3 * (SIZE / 2 - 1) : 6 * (i - 1));
}

/* A pointer inside a struct hides what it points at: right values, and no fusion across it. */
static void wrapped_usm(struct kit *k)
{
    int *in = allocate(k, FUSION_USM_HOST, 1), *tmp = allocate(k, FUSION_USM_DEVICE, 0),
        *out = allocate(k, FUSION_USM_SHARED, 0);
    fusion_arg wrapped = fusion_arg_value(&tmp, sizeof tmp);
    kit_add(k, "wrapped_fill", SIZE, 0, wrapped, read_at(in, 0));
    fusion_node fill = 0;
    fusion_arg args[] = {wrapped, write_at(out, 0), fusion_arg_i32(3)};
    fusion_kernel_node second = {.module = k->module,
                                 .kernel = "wrapped_scale",
                                 .dims = 1,
                                 .global = {SIZE},
                                 .args = args,
                                 .n_args = 3,
                                 .depends_on = &fill,
                                 .n_depends_on = 1};
    expect_ok(fusion_graph_add_kernel(k->graph, &second, NULL));
    kit_run(k, FUSION_ENABLE);
    kit_expect_launches(k, 2);
    kit_expect_remark(k, "not_fused_hidden_memory", NULL, NULL);
    for (int i = 0; i < SIZE; i++) assert_int_equal(out[i], 3 * (i + 1));
}

ON_DEVICES(usm_no_dependencies)
ON_DEVICES(usm_private_internalize)
ON_DEVICES_WITH("usm_device_allocations", usm_private_mismatch) /* which this process reads */
ON_DEVICES(pointers_into_one_allocation)
ON_DEVICES_WITH("usm_host_allocations", wrapped_usm)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usm_no_dependencies),  cmocka_unit_test(test_usm_private_internalize),
        cmocka_unit_test(test_usm_private_mismatch), cmocka_unit_test(test_pointers_into_one_allocation),
        cmocka_unit_test(test_wrapped_usm),
    };
    return cmocka_run_group_tests_name("conformance_usm", tests, kit_start, kit_stop);
}
