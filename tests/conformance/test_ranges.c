/* Kernels over different ND-ranges: what is fused gives what is computed unfused, what cannot be is refused with why.
 */
#include "tests/conformance/kit.h"

struct range {
    uint32_t dims;
    uint64_t global[3], local[3];
};

static void add(struct kit *k, const char *kernel, const struct range *r, fusion_buffer *out)
{
    fusion_arg args[] = {fusion_arg_write(out)};
    kit_add_args(k, kernel, r->dims, r->global, r->local, args, 1);
}

static uint64_t items(const struct range *r)
{
    return r->global[0] * r->global[1] * r->global[2];
}

/* Two kernels that write everything they can ask for; each buffer must be as when they run alone. */
static void expect_same_ids(struct kit *k, const char *kernel, const struct range *a, const struct range *b,
                            fusion_mode mode, uint32_t launches)
{
    fusion_buffer *out[2] = {kit_buffer(k, "first", items(a), 0), kit_buffer(k, "second", items(b), 0)};
    const struct range *ranges[2] = {a, b};
    int *alone[2];
    for (int i = 0; i < 2; i++) {
        kit_new_graph(k);
        add(k, kernel, ranges[i], out[i]);
        kit_run(k, FUSION_NONE);
        uint64_t bytes = fusion_buffer_bytes(out[i]);
        alone[i] = malloc(bytes);
        assert_non_null(alone[i]);
        memcpy(alone[i], kit_map(out[i]), bytes);
        memset(kit_map(out[i]), 0x77, bytes);
    }
    kit_new_graph(k);
    for (int i = 0; i < 2; i++) add(k, kernel, ranges[i], out[i]);
    kit_run(k, mode);
    kit_expect_launches(k, launches);
    for (int i = 0; i < 2; i++) {
        assert_memory_equal(alone[i], kit_map(out[i]), fusion_buffer_bytes(out[i]));
        free(alone[i]);
    }
}

/* One range holds the other one: the kernel with fewer work-items stands behind a guard. */
static void different_nd_ranges(struct kit *k)
{
    static const struct range pairs[][2] = {
        {{1, {64, 1, 1}, {0}}, {1, {32, 1, 1}, {0}}},  {{1, {100, 1, 1}, {0}}, {1, {1, 1, 1}, {0}}},
        {{1, {1, 1, 1}, {0}}, {1, {1000, 1, 1}, {0}}}, {{2, {16, 8, 1}, {0}}, {2, {16, 4, 1}, {0}}},
        {{2, {16, 8, 1}, {0}}, {2, {3, 5, 1}, {0}}},   {{3, {4, 6, 8}, {0}}, {3, {4, 6, 2}, {0}}},
        {{3, {2, 2, 2}, {0}}, {3, {7, 5, 3}, {0}}},    {{1, {64, 1, 1}, {16, 1, 1}}, {1, {32, 1, 1}, {0}}},
        {{1, {64, 1, 1}, {0}}, {2, {8, 8, 1}, {0}}},   {{2, {16, 4, 1}, {0}}, {2, {4, 16, 1}, {0}}},
        {{3, {4, 4, 4}, {0}}, {1, {60, 1, 1}, {0}}},   {{2, {7, 9, 1}, {0}}, {3, {3, 3, 7}, {0}}},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        expect_same_ids(k, "ids", &pairs[i][0], &pairs[i][1], FUSION_REQUIRE, 1);
}

/* Kernels that look at their work-groups, of one range. */
static void group_ids_of_one_range(struct kit *k)
{
    static const struct range r = {1, {96, 1, 1}, {16, 1, 1}};
    expect_same_ids(k, "group_ids", &r, &r, FUSION_REQUIRE, 1);
}

/* What is asked about work-groups is answered as if the kernel ran alone. */
static void group_ids_of_two_local_sizes(struct kit *k)
{
    static const struct range pairs[][2] = {
        {{1, {64, 1, 1}, {16, 1, 1}}, {1, {64, 1, 1}, {32, 1, 1}}},
        {{1, {96, 1, 1}, {16, 1, 1}}, {1, {48, 1, 1}, {24, 1, 1}}},
        {{2, {16, 4, 1}, {8, 2, 1}}, {2, {4, 16, 1}, {2, 8, 1}}},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        expect_same_ids(k, "group_ids", &pairs[i][0], &pairs[i][1], FUSION_REQUIRE, 1);
}

/* What is refused, and what for: these meet in their work-groups. */
static void abort_fusion(struct kit *k)
{
    static const struct {
        struct range first, second;
        const char *remark;
    } cases[] = {
        {{1, {64, 1, 1}, {16, 1, 1}}, {1, {64, 1, 1}, {32, 1, 1}}, "not_fused_local_size"},
        {{1, {100, 1, 1}, {16, 1, 1}}, {1, {50, 1, 1}, {16, 1, 1}}, NULL},
        {{2, {16, 4, 1}, {8, 2, 1}}, {2, {4, 16, 1}, {2, 8, 1}}, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct range *a = &cases[i].first, *b = &cases[i].second;
        expect_same_ids(k, "group_sums", a, b, FUSION_ENABLE, 2);
        const fusion_report *r = fusion_exec_report(k->exec);
        assert_int_equal(r->n_order, 2);
        if (cases[i].remark) kit_expect_remark(k, cases[i].remark, "group_sums.1", NULL);
        kit_expect_no_remark(k, "fused");
        bool reason = false;
        for (uint32_t n = 0; n < r->n_remarks; n++) reason |= strncmp(r->remarks[n].code, "not_fused_", 10) == 0;
        assert_true(reason);
        kit_expect_finalize_error(k, FUSION_REQUIRE, FUSION_KERNEL_NOT_SUPPORTED, "group_sums.1");
    }
}

/* A required work-group size is carried over to kernels that only ask for theirs; those that meet in theirs are not
 * fused. */
static void required_size(struct kit *k)
{
    fusion_buffer *a = kit_buffer(k, "a", 64, 0), *b = kit_buffer(k, "b", 64, 0);
    kit_add(k, "only_16", 64, 0, fusion_arg_write(a));
    kit_add(k, "group_ids", 64, 0, fusion_arg_write(b));
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1);
    for (int i = 0; i < 64; i++)
        assert_true(kit_map(a)[i] == i && kit_map(b)[i] == i % 16 * 8 + i / 16 * 7 + 4 * 11 + 16 * 13);
    kit_new_graph(k);
    kit_add(k, "only_16", 64, 32, fusion_arg_write(a));
    kit_expect_finalize_error(k, FUSION_NONE, FUSION_INVALID, "kernel only_16 requires 16");
    kit_new_graph(k);
    kit_add(k, "only_16", 64, 0, fusion_arg_write(a));
    kit_add(k, "group_ids", 64, 32, fusion_arg_write(b));
    kit_run(k, FUSION_REQUIRE);
    kit_expect_launches(k, 1); /* of 16 */
    for (int i = 0; i < 64; i++) assert_int_equal(kit_map(b)[i], i % 32 * 8 + i / 32 * 7 + 2 * 11 + 32 * 13);
    kit_new_graph(k);
    kit_add(k, "only_16", 64, 0, fusion_arg_write(a));
    kit_add(k, "group_sums", 64, 32, fusion_arg_write(b));
    kit_expect_finalize_error(k, FUSION_REQUIRE, FUSION_KERNEL_NOT_SUPPORTED, "only_16");
}

/* Nothing to fuse is no mistake, and nothing is launched. */
static void empty_list(struct kit *k)
{
    for (int mode = FUSION_NONE; mode <= FUSION_REQUIRE; mode++) {
        kit_new_graph(k);
        kit_run(k, (fusion_mode)mode);
        kit_expect_launches(k, 0);
        assert_int_equal(fusion_exec_report(k->exec)->n_order, 0);
    }
}

ON_DEVICES(different_nd_ranges)
ON_DEVICES(group_ids_of_one_range)
ON_DEVICES(group_ids_of_two_local_sizes)
ON_DEVICES(abort_fusion)
ON_DEVICES(required_size)
ON_DEVICES(empty_list)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_different_nd_ranges),
        cmocka_unit_test(test_group_ids_of_one_range),
        cmocka_unit_test(test_group_ids_of_two_local_sizes),
        cmocka_unit_test(test_abort_fusion),
        cmocka_unit_test(test_required_size),
        cmocka_unit_test(test_empty_list),
    };
    return cmocka_run_group_tests_name("conformance_ranges", tests, kit_start, kit_stop);
}
