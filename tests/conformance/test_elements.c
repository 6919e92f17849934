/* Internalized buffers of which a work-item has more than one value: structs, arrays, several elements. */
#include "tests/conformance/kit.h"

/* SIZE elements of that many bytes. */
static fusion_buffer *elements(struct kit *k, const char *name, uint64_t bytes, unsigned properties)
{
    fusion_buffer *buffer = NULL;
    expect_ok(fusion_buffer_create(k->session, name, FUSION_BYTES, SIZE * bytes, properties, &buffer));
    return buffer;
}

static void through(struct kit *k, const char *fill, const char *sum, uint64_t bytes, int factor, int add)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = elements(k, "tmp", bytes, kit_private),
                  *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, fill, SIZE, 0, fusion_arg_read(in), fusion_arg_write(tmp));
    kit_add(k, sum, SIZE, 0, fusion_arg_read(tmp), fusion_arg_write(out));
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:private");
    assert_false(fusion_buffer_has_memory(tmp));
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], factor * i + add);
}

static void internalize_array_wrapper(struct kit *k)
{
    through(k, "pair_fill", "pair_sum", 8, 2, 100);
}

static void internalize_deep(struct kit *k)
{
    through(k, "deep_fill", "deep_sum", 16, 6, 0);
}

static void internalize_vfunc(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE * 4, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE * 4, kit_private),
                  *out = kit_buffer(k, "out", SIZE * 4, 0);
    kit_add(k, "vload_scale", SIZE, 0, fusion_arg_read(in), fusion_arg_write(tmp), fusion_arg_i32(2));
    kit_add(k, "vload_scale", SIZE, 0, fusion_arg_read(tmp), fusion_arg_write(out), fusion_arg_i32(3));
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:private");
    for (int i = 0; i < SIZE * 4; i++) assert_int_equal(kit_map(out)[i], 6 * i);
}

/* internalize_multi_ptr: the same pointer as a value that is cast and chosen on its way to the access. */
static void internalize_multi_ptr(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, kit_private),
                  *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, "generic_scale", SIZE, 0, fusion_arg_read(in), fusion_arg_write(tmp), fusion_arg_i32(2));
    kit_add(k, "generic_scale", SIZE, 0, fusion_arg_read(tmp), fusion_arg_write(out), fusion_arg_i32(3));
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:private");
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 6 * i);
}

static void expect_pairs(struct kit *k, uint64_t local)
{
    kit_new_graph(k);
    fusion_buffer *in = kit_ramp(k, "in", SIZE * 2, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE * 2, kit_private),
                  *out = kit_buffer(k, "out", SIZE * 2, 0);
    kit_add(k, "scale_pair", SIZE, local, fusion_arg_read(in), fusion_arg_write(tmp), fusion_arg_i32(2));
    kit_add(k, "scale_pair", SIZE, local, fusion_arg_read(tmp), fusion_arg_write(out), fusion_arg_i32(3));
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:private");
    assert_false(fusion_buffer_has_memory(tmp));
    for (int i = 0; i < SIZE * 2; i++) assert_int_equal(kit_map(out)[i], 6 * i);
}

static void internalize_non_unit_localsize(struct kit *k)
{
    expect_pairs(k, 16);
}

static void non_unit_local_size(struct kit *k)
{
    expect_pairs(k, 0);
    expect_pairs(k, 4);
}

ON_DEVICES(internalize_array_wrapper)
ON_DEVICES(internalize_deep)
ON_DEVICES(internalize_vfunc)
ON_DEVICES_WITH("generic_address_space", internalize_multi_ptr)
ON_DEVICES(internalize_non_unit_localsize)
ON_DEVICES(non_unit_local_size)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_internalize_array_wrapper),
        cmocka_unit_test(test_internalize_deep),
        cmocka_unit_test(test_internalize_vfunc),
        cmocka_unit_test(test_internalize_multi_ptr),
        cmocka_unit_test(test_internalize_non_unit_localsize),
        cmocka_unit_test(test_non_unit_local_size),
    };
    return cmocka_run_group_tests_name("conformance_elements", tests, kit_start, kit_stop);
}
