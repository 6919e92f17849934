/* What the elements are: structs, arrays, vectors in internalized buffers; structs by value; pointers on their way. */
#include "tests/conformance/kit.h"

/* SIZE elements of that many bytes. */
static fusion_buffer *elements(struct kit *k, const char *name, uint64_t bytes, unsigned properties)
{
    fusion_buffer *buffer = NULL;
    expect_ok(fusion_buffer_create(k->session, name, FUSION_BYTES, SIZE * bytes, properties, &buffer));
    return buffer;
}

static void internalize_vec(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE * 4, 1, 0), *tmp = elements(k, "tmp", 16, kit_private),
                  *out = elements(k, "out", 16, 0);
    kit_add(k, "vec_scale", SIZE, 0, fusion_arg_read(in), fusion_arg_write(tmp), fusion_arg_i32(2));
    kit_add(k, "vec_scale", SIZE, 0, fusion_arg_read(tmp), fusion_arg_write(out), fusion_arg_i32(3));
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:private");
    for (int i = 0; i < SIZE * 4; i++) assert_int_equal(kit_map(out)[i], 6 * i);
}

/* Pointers that go to called functions: to be seen through (theirs fails), also into an internalized buffer. */
static void pointer_arg_function(struct kit *k)
{
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, kit_private),
                  *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, "twice_called", SIZE, 0, fusion_arg_read(in), fusion_arg_write(tmp));
    kit_add(k, "twice_called", SIZE, 0, fusion_arg_read(tmp), fusion_arg_write(out));
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:private");
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], 4 * i);
}

struct settings {
    int8_t kind;
    int32_t factors[3];
    int8_t last;
};

/* By value, with its padding, which may hold anything; two of them in one launch stay apart. */
static void struct_with_array(struct kit *k)
{
    struct settings a, b;
    memset(&a, 0x5a, sizeof a);
    memset(&b, 0xa5, sizeof b);
    a.kind = -3, a.last = 7, b.kind = 100, b.last = -100;
    for (int i = 0; i < 3; i++) a.factors[i] = i + 1, b.factors[i] = 10 - i;
    fusion_buffer *in = kit_ramp(k, "in", SIZE, 1, 0), *tmp = kit_buffer(k, "tmp", SIZE, kit_private),
                  *out = kit_buffer(k, "out", SIZE, 0);
    kit_add(k, "by_value", SIZE, 0, fusion_arg_read(in), fusion_arg_write(tmp), fusion_arg_value(&a, sizeof a));
    fusion_node second =
        kit_add(k, "by_value", SIZE, 0, fusion_arg_read(tmp), fusion_arg_write(out), fusion_arg_value(&b, sizeof b));
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    kit_expect_internalized(k, "tmp:private");
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], (i * (i % 3 + 1) + 4) * (10 - i % 3));
    /* Another value for one submission. */
    for (int i = 0; i < 3; i++) b.factors[i] = 1;
    fusion_rebind rebind = {.node = second, .arg = 2, .value = &b, .value_bytes = sizeof b};
    fusion_event event;
    expect_ok(fusion_exec_submit(k->exec, &rebind, 1, &event));
    expect_ok(fusion_event_wait(k->session, event, 20000, NULL));
    for (int i = 0; i < SIZE; i++) assert_int_equal(kit_map(out)[i], i * (i % 3 + 1) + 4);
    /* Of the wrong size it is refused, with both sizes. */
    fusion_arg args[] = {fusion_arg_read(in), fusion_arg_write(out), fusion_arg_value(&a, sizeof a - 4)};
    fusion_kernel_node small = {
        .module = k->module, .kernel = "by_value", .dims = 1, .global = {SIZE}, .n_args = 3, .args = args};
    expect_error(fusion_graph_add_kernel(k->graph, &small, NULL), FUSION_INVALID);
    expect_in_reason("has 20 bytes, but the value given has 16");
    args[2] = fusion_arg_vector(FUSION_I32, 5, &a);
    expect_error(fusion_graph_add_kernel(k->graph, &small, NULL), FUSION_INVALID);
    expect_in_reason("it is of type struct Settings, but the value given is of type i32x5");
}

ON_DEVICES(internalize_vec)
ON_DEVICES(pointer_arg_function)
ON_DEVICES(struct_with_array)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_internalize_vec),
        cmocka_unit_test(test_pointer_arg_function),
        cmocka_unit_test(test_struct_with_array),
    };
    return cmocka_run_group_tests_name("conformance_structs", tests, kit_start, kit_stop);
}
