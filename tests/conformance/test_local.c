/* Buffers kept in work-group memory: what one work-item of a work-group writes and another one of it reads. */
#include "tests/conformance/kit.h"

enum { LOCAL = 16 };

static int mirrored(int i)
{
    return i / LOCAL * LOCAL + LOCAL - 1 - i % LOCAL;
}

/* in * 2 -> tmp, reversed in each work-group -> out, in one launch with a barrier, tmp in work-group memory. */
static void expect_reversed(struct kit *k, unsigned on_buffer, unsigned on_accessors)
{
    kit_new_graph(k);
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, on_buffer),
                  *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, "scale", SIZE, LOCAL, fusion_arg_read(in), kit_with(fusion_arg_write(tmp), on_accessors),
            fusion_arg_i32(2));
    kit_add(k, "reverse", SIZE, LOCAL, kit_with(fusion_arg_read(tmp), on_accessors), fusion_arg_write(out));
    k->barriers = true;
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:local");
    kit_expect_remark(k, "internalized_local", NULL, "tmp");
    assert_false(fusion_buffer_has_memory(tmp));
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 2 * mirrored(i));
}

static void barrier_local_internalization(struct kit *k)
{
    expect_reversed(k, kit_local, 0);
}

static void local_internalization(struct kit *k)
{
    expect_reversed(k, 0, kit_local);
}

/* No work-group size for either kernel: not in work-group memory, and said so. */
static void local_size_unknown(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, kit_local),
                  *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, "scale", SIZE, 0, fusion_arg_read(in), fusion_arg_write(tmp), fusion_arg_i32(2));
    kit_add(k, "neighbour", SIZE, 0, fusion_arg_read(tmp), fusion_arg_write(out));
    k->barriers = true;
    kit_run(k, FUSION_ENABLE);
    kit_expect_internalized(k, "");
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 2 * (i ^ 1));
}

/* diamond_shape_local: in1 + in2 -> tmp1; reversed -> tmp2; tmp1 * 5 -> tmp3; tmp2 + tmp3 -> out */
static void diamond_shape_local(struct kit *k)
{
    fusion_buffer *in1 = kit_ramp(k, "in1", SIZE, 1, 0), *in2 = kit_ramp(k, "in2", SIZE, 2, 0), *tmp[3],
                  *out = kit_buffer(k, "out", SIZE, 0);
    static const char *const names[] = {"tmp1", "tmp2", "tmp3"};
    for (int i = 0; i < 3; i++) tmp[i] = kit_buffer(k, names[i], SIZE, kit_local);
    kit_add(k, "add", SIZE, LOCAL, fusion_arg_read(in1), fusion_arg_read(in2), fusion_arg_write(tmp[0]));
    kit_add(k, "reverse", SIZE, LOCAL, fusion_arg_read(tmp[0]), fusion_arg_write(tmp[1]));
    kit_add(k, "scale", SIZE, LOCAL, fusion_arg_read(tmp[0]), fusion_arg_write(tmp[2]), fusion_arg_i32(5));
    kit_add(k, "add", SIZE, LOCAL, fusion_arg_read(tmp[1]), fusion_arg_read(tmp[2]), fusion_arg_write(out));
    k->barriers = true;
    const fusion_report *r = kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    /* Only the one that crosses work-items has to be where others see it. */
    assert_int_equal(r->n_internalized, 3);
    for (uint32_t i = 0; i < 3; i++)
        if (strcmp(r->internalized[i].buffer, "tmp1") == 0) assert_string_equal(r->internalized[i].memory, "local");
    for (int i = 0; i < 3; i++) assert_false(fusion_buffer_has_memory(tmp[i]));
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 3 * mirrored(i) + 15 * i);
}

/* Beside work-group memory that is an argument. */
static void existing_local_accessor(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, kit_local),
                  *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, "reverse_tile", SIZE, LOCAL, fusion_arg_read(in), fusion_arg_write(tmp), fusion_arg_local(LOCAL * 4));
    kit_add(k, "reverse", SIZE, LOCAL, fusion_arg_read(tmp), fusion_arg_write(out));
    k->barriers = true;
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:local");
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], i);
}

/* internalize_array_wrapper_local: an element is a struct with an array. */
static void internalize_array_wrapper_local(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = NULL, *out = kit_buffer(k, "out", SIZE, 0);
    expect_ok(fusion_buffer_create(k->session, "tmp", FUSION_BYTES, SIZE * 8, kit_local, &tmp));
    kit_add(k, "pair_fill", SIZE, LOCAL, fusion_arg_read(in), fusion_arg_write(tmp));
    kit_add(k, "pair_sum_reverse", SIZE, LOCAL, fusion_arg_read(tmp), fusion_arg_write(out));
    k->barriers = true;
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:local");
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 2 * mirrored(i) + 100);
}

static void usm_local_internalize(struct kit *k)
{
    void *in, *tmp, *out;
    expect_ok(fusion_malloc(k->session, FUSION_USM_HOST, SIZE * 4, &in));
    expect_ok(fusion_malloc(k->session, FUSION_USM_DEVICE, SIZE * 4, &tmp));
    expect_ok(fusion_malloc(k->session, FUSION_USM_SHARED, SIZE * 4, &out));
    for (int i = 0; i < SIZE; i++) ((int *)in)[i] = i;
    kit_add(k, "scale", SIZE, LOCAL, fusion_arg_pointer(in, FUSION_ACCESS_READ, 0),
            fusion_arg_pointer(tmp, FUSION_ACCESS_WRITE, kit_local), fusion_arg_i32(2));
    kit_add(k, "reverse", SIZE, LOCAL, fusion_arg_pointer(tmp, FUSION_ACCESS_READ, kit_local),
            fusion_arg_pointer(out, FUSION_ACCESS_WRITE, 0));
    k->barriers = true;
    const fusion_report *r = kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    assert_int_equal(r->n_internalized, 1);
    assert_string_equal(r->internalized[0].memory, "local");
    for (int i = 0; i < SIZE; i++) assert_true(((int *)out)[i] == 2 * mirrored(i) && ((int *)tmp)[i] == 0);
}

/* One pointer of the work-group, the other one without: none is in force, and the memory is written. */
static void usm_local_mismatch(struct kit *k)
{
    void *in, *tmp, *out;
    expect_ok(fusion_malloc(k->session, FUSION_USM_HOST, SIZE * 4, &in));
    expect_ok(fusion_malloc(k->session, FUSION_USM_DEVICE, SIZE * 4, &tmp));
    expect_ok(fusion_malloc(k->session, FUSION_USM_SHARED, SIZE * 4, &out));
    for (int i = 0; i < SIZE; i++) ((int *)in)[i] = i;
    kit_add(k, "scale", SIZE, LOCAL, fusion_arg_pointer(in, FUSION_ACCESS_READ, 0),
            fusion_arg_pointer(tmp, FUSION_ACCESS_WRITE, kit_local), fusion_arg_i32(2));
    kit_add(k, "reverse", SIZE, LOCAL, fusion_arg_pointer(tmp, FUSION_ACCESS_READ, 0),
            fusion_arg_pointer(out, FUSION_ACCESS_WRITE, 0));
    k->barriers = true;
    kit_run(k, FUSION_ENABLE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "");
    kit_expect_remark(k, "not_internalized_accessor", NULL, NULL);
    for (int i = 0; i < SIZE; i++) assert_true(((int *)out)[i] == 2 * mirrored(i) && ((int *)tmp)[i] == 2 * i);
}

ON_DEVICES(barrier_local_internalization)
ON_DEVICES(local_internalization)
ON_DEVICES(local_size_unknown)
ON_DEVICES(diamond_shape_local)
ON_DEVICES(existing_local_accessor)
ON_DEVICES(internalize_array_wrapper_local)
ON_DEVICES(usm_local_internalize)
ON_DEVICES_WITH("usm_device_allocations", usm_local_mismatch)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_barrier_local_internalization),
        cmocka_unit_test(test_local_internalization),
        cmocka_unit_test(test_local_size_unknown),
        cmocka_unit_test(test_diamond_shape_local),
        cmocka_unit_test(test_existing_local_accessor),
        cmocka_unit_test(test_internalize_array_wrapper_local),
        cmocka_unit_test(test_usm_local_internalize),
        cmocka_unit_test(test_usm_local_mismatch),
    };
    return cmocka_run_group_tests_name("conformance_local", tests, kit_start, kit_stop);
}
