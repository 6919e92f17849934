/* Sub-group operations inside fused kernels, also over different ranges, which the original refuses. */
#include "tests/conformance/kit.h"

enum { LOCAL = 32 };

static void permute(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, kit_private),
                  *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, "scale", SIZE, LOCAL, fusion_arg_read(in), fusion_arg_write(tmp), fusion_arg_i32(2));
    kit_add(k, "permute", SIZE, LOCAL, fusion_arg_read(tmp), fusion_arg_write(out));
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:private");
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 2 * (i ^ 1));
}

static void permute_with_different_sizes(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *x = kit_buffer(k, "x", SIZE, 0),
                  *y = kit_buffer(k, "y", SIZE / 2, 0);
    kit_add(k, "permute", SIZE, LOCAL, fusion_arg_read(in), fusion_arg_write(x));
    kit_add(k, "permute", SIZE / 2, LOCAL, fusion_arg_read(in), fusion_arg_write(y));
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(x)[i], i ^ 1);
    for (int i = 0; i < SIZE / 2; i++) assert_int_equal(kit_map(y)[i], i ^ 1);
}

/* Work-groups of other sizes, and a line beside a plane: the same work-items are a sub-group. */
static void permute_with_different_local_sizes(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, kit_private),
                  *out = kit_buffer(k, "out", SIZE, 0), *plane = kit_buffer(k, "plane", SIZE, 0);
    kit_add(k, "scale", SIZE, LOCAL, fusion_arg_read(in), fusion_arg_write(tmp), fusion_arg_i32(2));
    kit_add(k, "permute", SIZE, 2 * LOCAL, fusion_arg_read(tmp), fusion_arg_write(out));
    uint64_t global[3] = {LOCAL, SIZE / LOCAL, 1}, local[3] = {LOCAL, 2, 1};
    fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(plane)};
    kit_add_args(k, "permute_rows", 2, global, local, args, 2);
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:private");
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 2 * (i ^ 1));
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(plane)[i], i ^ 1);
}

/* Where the sub-groups would be others it is refused, with both kernels and the numbers. */
static void permute_with_other_sub_groups(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *x = kit_buffer(k, "x", SIZE, 0),
                  *y = kit_buffer(k, "y", SIZE, 0);
    kit_add(k, "permute", SIZE, LOCAL, fusion_arg_read(in), fusion_arg_write(x));
    kit_add(k, "permute", SIZE, 2, fusion_arg_read(in), fusion_arg_write(y));
    kit_run(k, FUSION_ENABLE);
    kit_expect_launches(k, 2);
    kit_expect_remark(k, "not_fused_local_size", "permute.1", NULL);
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(x)[i], i ^ 1);
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(y)[i], i ^ 1);
}

ON_DEVICES_WITH("sub_groups", permute)
ON_DEVICES_WITH("sub_groups", permute_with_different_sizes)
ON_DEVICES_WITH("sub_groups", permute_with_different_local_sizes)
ON_DEVICES_WITH("sub_groups", permute_with_other_sub_groups)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permute),
        cmocka_unit_test(test_permute_with_different_sizes),
        cmocka_unit_test(test_permute_with_different_local_sizes),
        cmocka_unit_test(test_permute_with_other_sub_groups),
    };
    return cmocka_run_group_tests_name("conformance_sub_groups", tests, kit_start, kit_stop);
}
