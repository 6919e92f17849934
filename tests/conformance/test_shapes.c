/* ND-ranges of two and three dimensions, and barriers between and inside kernels. */
#include "tests/conformance/kit.h"

static void fused_over(struct kit *k, uint32_t dims, const uint64_t global[3], const uint64_t local[3])
{
    const char *kernel = dims == 1 ? "scale" : dims == 2 ? "scale2" : "scale3";
    uint64_t n = global[0] * global[1] * global[2];
    kit_new_graph(k);
    fusion_buffer *in = kit_ramp(k, "in", n, 1, 0), *tmp = kit_buffer(k, "tmp", n, kit_private),
                  *out = kit_buffer(k, "out", n, 0);
    fusion_arg first[] = {fusion_arg_read(in), fusion_arg_write(tmp), fusion_arg_i32(2)};
    fusion_arg second[] = {fusion_arg_read(tmp), fusion_arg_write(out), fusion_arg_i32(3)};
    kit_add_args(k, kernel, dims, global, local, first, 3);
    kit_add_args(k, kernel, dims, global, local, second, 3);
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:private");
    for (uint64_t i = 0; i < n; i++) assert_int_equal(kit_map(out)[i], 6 * (int)i);
}

static const uint64_t any[3];

static void two_dimensional(struct kit *k)
{
    fused_over(k, 2, (uint64_t[]){32, 16, 1}, any);
    fused_over(k, 2, (uint64_t[]){32, 16, 1}, (uint64_t[]){8, 4, 1});
    /* Prime sizes, with whatever groups: also such as do not divide them. */
    fused_over(k, 2, (uint64_t[]){31, 37, 1}, any);
    fused_over(k, 2, (uint64_t[]){1, 97, 1}, any);
    fused_over(k, 2, (uint64_t[]){53, 59, 1}, (uint64_t[]){53, 1, 1});
}

static void three_dimensional(struct kit *k)
{
    fused_over(k, 3, (uint64_t[]){8, 8, 8}, any);
    fused_over(k, 3, (uint64_t[]){8, 4, 16}, (uint64_t[]){4, 2, 2});
    fused_over(k, 3, (uint64_t[]){5, 7, 11}, any);
}

/* Each work-item reads what another of its work-group wrote: a barrier between the kernels is needed, and enough. */
static void work_group_barrier(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, 0),
                  *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, "scale", SIZE, 16, fusion_arg_read(in), fusion_arg_write(tmp), fusion_arg_i32(2));
    kit_add(k, "reverse", SIZE, 16, fusion_arg_read(tmp), fusion_arg_write(out));
    k->barriers = true;
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "");
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 2 * (i / 16 * 16 + 15 - i % 16));
    /* Theirs is a promise of the user; ours is proved, and without the barrier the race is, too. */
    k->barriers = false;
    kit_expect_finalize_error(k, FUSION_REQUIRE, FUSION_KERNEL_NOT_SUPPORTED, "work-item");
    k->by_itself = FUSION_BARRIERS_NONE;
    kit_run(k, FUSION_ENABLE);
    kit_expect_launches(k, 2);
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 2 * (i / 16 * 16 + 15 - i % 16));
}

/* What is not required may be fused all the same, and then needs a barrier that nobody asked for. */
static void barrier_by_itself(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, 0),
                  *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, "scale", SIZE, 16, fusion_arg_read(in), fusion_arg_write(tmp), fusion_arg_i32(2));
    kit_add(k, "reverse", SIZE, 16, fusion_arg_read(tmp), fusion_arg_write(out));
    kit_run(k, FUSION_ENABLE);
    kit_expect_launches(k, 1);
    kit_expect_remark(k, "barrier_inserted", NULL, "tmp");
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 2 * (i / 16 * 16 + 15 - i % 16));
    k->by_itself = FUSION_BARRIERS_NEEDED;
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 2 * (i / 16 * 16 + 15 - i % 16));
}

/* insert_barriers alone means nothing; the report says so. */
static void barriers_without_fusion(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, "scale", SIZE, 16, fusion_arg_read(in), fusion_arg_write(out), fusion_arg_i32(2));
    kit_add(k, "count_up", SIZE, 16, fusion_arg_read_write(out), fusion_arg_i32(1));
    k->barriers = true;
    kit_run(k, FUSION_NONE);
    kit_expect_launches(k, 2);
    kit_expect_remark(k, "property_without_effect", NULL, NULL);
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 2 * i + 1);
}

/* Across work-groups no barrier helps. */
static void barrier_is_not_enough(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, 0),
                  *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, "scale", SIZE, 16, fusion_arg_read(in), fusion_arg_write(tmp), fusion_arg_i32(2));
    kit_add(k, "rotate", SIZE, 16, fusion_arg_read(tmp), fusion_arg_write(out));
    k->barriers = true;
    kit_run(k, FUSION_ENABLE);
    kit_expect_launches(k, 2);
    kit_expect_remark(k, "not_fused_race", NULL, NULL);
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 2 * ((i + 1) % SIZE));
}

/* Barriers that a kernel has stay, beside work-group memory that is an argument. */
static void group_barrier(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, kit_private),
                  *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, "reverse_tile", SIZE, 32, fusion_arg_read(in), fusion_arg_write(tmp), fusion_arg_local(32 * 4));
    kit_add(k, "scale", SIZE, 32, fusion_arg_read(tmp), fusion_arg_write(out), fusion_arg_i32(3));
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:private");
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 3 * (i / 32 * 32 + 31 - i % 32));
}

/* The same range, local size not given: the service chooses one for both. */
static void unspecified_local_size(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, kit_private),
                  *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, "scale", SIZE, 0, fusion_arg_read(in), fusion_arg_write(tmp), fusion_arg_i32(2));
    kit_add(k, "scale", SIZE, 64, fusion_arg_read(tmp), fusion_arg_write(out), fusion_arg_i32(3));
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 6 * i);
}

ON_DEVICES(two_dimensional)
ON_DEVICES(three_dimensional)
ON_DEVICES(work_group_barrier)
ON_DEVICES(barrier_by_itself)
ON_DEVICES(barriers_without_fusion)
ON_DEVICES(barrier_is_not_enough)
ON_DEVICES(group_barrier)
ON_DEVICES(unspecified_local_size)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_dimensional),         cmocka_unit_test(test_three_dimensional),
        cmocka_unit_test(test_work_group_barrier),      cmocka_unit_test(test_barrier_by_itself),
        cmocka_unit_test(test_barriers_without_fusion), cmocka_unit_test(test_barrier_is_not_enough),
        cmocka_unit_test(test_group_barrier),           cmocka_unit_test(test_unspecified_local_size),
    };
    return cmocka_run_group_tests_name("conformance_shapes", tests, kit_start, kit_stop);
}
