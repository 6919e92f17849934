/* Group operations inside fused kernels. */
#include "tests/conformance/kit.h"

enum { LOCAL = 32 };

static void all_of(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, kit_private),
                  *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, "scale", SIZE, LOCAL, fusion_arg_read(in), fusion_arg_write(tmp), fusion_arg_i32(2));
    kit_add(k, "all_below", SIZE, LOCAL, fusion_arg_read(tmp), fusion_arg_write(out), fusion_arg_i32(2 * 300));
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:private");
    for (int i = 0; i < SIZE; i++) {
        int first = i / LOCAL * LOCAL, last = first + LOCAL - 1;
        assert_int_equal(kit_map(out)[i], 2 * (last < 300) + (first < 300));
    }
}

static void exclusive_scan(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 1), *tmp = kit_buffer(k, "tmp", SIZE, kit_private),
                  *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, "scan", SIZE, LOCAL, fusion_arg_read(in), fusion_arg_write(tmp));
    kit_add(k, "scan", SIZE, LOCAL, fusion_arg_read(tmp), fusion_arg_write(out));
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:private");
    for (int g = 0; g < SIZE; g += LOCAL)
        for (int i = 0, once = 0, twice = 0; i < LOCAL; i++) {
            assert_int_equal(kit_map(out)[g + i], twice);
            twice += once;
            once += g + i + 1;
        }
}

static void group_broadcast(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, kit_private),
                  *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, "broadcast", SIZE, LOCAL, fusion_arg_read(in), fusion_arg_write(tmp), fusion_arg_i64(5));
    kit_add(k, "scale", SIZE, LOCAL, fusion_arg_read(tmp), fusion_arg_write(out), fusion_arg_i32(3));
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:private");
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 3 * (i / LOCAL * LOCAL + 6));
}

/* Over different sizes: each kernel has its own work-groups. */
static void group_broadcast_remapping(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *x = kit_buffer(k, "x", SIZE, 0),
                  *y = kit_buffer(k, "y", SIZE / 2, 0);
    kit_add(k, "broadcast", SIZE, LOCAL, fusion_arg_read(in), fusion_arg_write(x), fusion_arg_i64(5));
    kit_add(k, "broadcast", SIZE / 2, LOCAL, fusion_arg_read(in), fusion_arg_write(y), fusion_arg_i64(7));
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(x)[i], i / LOCAL * LOCAL + 6);
    for (int i = 0; i < SIZE / 2; i++) assert_int_equal(kit_map(y)[i], i / LOCAL * LOCAL + 8);
}

/* The last work-group is incomplete: its operations are of the work-items that are there. */
static void incomplete_group(struct kit *k)
{
    enum { COUNT = 100 };
    fusion_buffer *in = kit_ramp(k, "in", COUNT, 0, 1), *out = kit_buffer(k, "out", COUNT, 0);
    kit_add(k, "scan", COUNT, LOCAL, fusion_arg_read(in), fusion_arg_write(out));
    kit_run(k, FUSION_NONE);
    for (int i = 0; i < COUNT; i++) assert_int_equal(kit_map(out)[i], i % LOCAL);
}

ON_DEVICES(all_of)
ON_DEVICES(exclusive_scan)
ON_DEVICES(group_broadcast)
ON_DEVICES(group_broadcast_remapping)
ON_DEVICES(incomplete_group)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_of),           cmocka_unit_test(test_exclusive_scan),
        cmocka_unit_test(test_group_broadcast),  cmocka_unit_test(test_group_broadcast_remapping),
        cmocka_unit_test(test_incomplete_group),
    };
    return cmocka_run_group_tests_name("conformance_groups", tests, kit_start, kit_stop);
}
