/* Reductions by five strategies, each behind a kernel that makes what is reduced: global sizes 16 and 512, all local
 * sizes that are powers of two, sum and maximum, fused and unfused. */
#include <string.h>

#include "tests/conformance/kit.h"

enum strategy { GROUP_OPERATION, TREE, ATOMIC, GROUP_THEN_ATOMIC, ONE_WORK_ITEM, STRATEGIES };
enum operation { ADD, MAX };

static const char *const kernels[STRATEGIES][2] = {
    [GROUP_OPERATION] = {"reduce_add", "reduce_max"}, [TREE] = {"tree_add", "tree_max"},
    [ATOMIC] = {"atomic_add", "atomic_max"},          [GROUP_THEN_ATOMIC] = {"group_atomic_add", "group_atomic_max"},
    [ONE_WORK_ITEM] = {"finish_add", "finish_max"},
};

/* Has the strategy a second kernel that finishes what the groups left? */
static bool in_two_steps(enum strategy s)
{
    return s == GROUP_OPERATION || s == TREE;
}

struct reduction {
    enum strategy strategy;
    enum operation operation;
    uint64_t global, local;
    fusion_mode mode;
};

static void build(struct kit *k, const struct reduction *r, fusion_buffer **result)
{
    uint64_t groups = r->global / r->local;
    fusion_buffer *in = kit_ramp(k, "in", r->global, 1, 1),
                  *made = kit_buffer(k, "made", r->global, FUSION_INTERNAL_MEMORY),
                  *parts = kit_buffer(k, "parts", groups, 0);
    *result = kit_ramp(k, "result", 1, 0, 0);
    const char *kernel = kernels[r->strategy][r->operation];
    kit_add(k, "scale", r->global, r->local, fusion_arg_read(in), fusion_arg_write(made), fusion_arg_i32(3));
    switch (r->strategy) {
    case GROUP_OPERATION:
        kit_add(k, kernel, r->global, r->local, fusion_arg_read(made), fusion_arg_write(parts));
        break;
    case TREE:
        kit_add(k, kernel, r->global, r->local, fusion_arg_read(made), fusion_arg_write(parts),
                fusion_arg_local(r->local * 4));
        break;
    case ATOMIC:
    case GROUP_THEN_ATOMIC:
        kit_add(k, kernel, r->global, r->local, fusion_arg_read(made), fusion_arg_read_write(*result));
        break;
    default:
        kit_add(k, kernel, 1, 1, fusion_arg_read(made), fusion_arg_write(*result), fusion_arg_i64((int64_t)r->global));
    }
    if (in_two_steps(r->strategy))
        kit_add(k, kernels[ONE_WORK_ITEM][r->operation], 1, 1, fusion_arg_read(parts), fusion_arg_write(*result),
                fusion_arg_i64((int64_t)groups));
}

static void check(struct kit *k, const struct reduction *r)
{
    fusion_buffer *result;
    kit_new_graph(k);
    build(k, r, &result);
    kit_run(k, r->mode);
    int n = (int)r->global, wanted = r->operation == ADD ? 3 * n * (n + 1) / 2 : 3 * n;
    if (kit_map(result)[0] != wanted)
        fail_msg("%s, %d in groups of %d on %s: %d instead of %d", kernels[r->strategy][r->operation], n, (int)r->local,
                 k->device, kit_map(result)[0], wanted);
    if (r->mode == FUSION_NONE) {
        kit_expect_launches(k, in_two_steps(r->strategy) ? 3 : 2);
        kit_expect_internalized(k, "");
        return;
    }
    /* The first two are one launch; what the groups left is ready only when all groups are, which the last work-group
       of a launch waits for on the processor. Where one work-item does it all, that is proved. */
    bool apart = r->strategy == ONE_WORK_ITEM, waits = strcmp(k->device, "cpu") == 0;
    uint32_t most = apart || in_two_steps(r->strategy) ? 2 : 1;
    assert_in_range(fusion_exec_report(k->exec)->launches, waits || r->global == r->local ? 1 : most, most);
    if (!apart) kit_expect_internalized(k, "made:private");
}

static void check_strategy(struct kit *k, enum strategy strategy, uint64_t global)
{
    for (uint64_t local = 1; local <= global && local <= 256; local *= 2)
        for (int operation = ADD; operation <= MAX; operation++)
            for (int mode = FUSION_NONE; mode <= FUSION_ENABLE; mode++)
                check(k, &(struct reduction){strategy, operation, global, local, mode});
}

static void small(struct kit *k)
{
    for (int s = 0; s < STRATEGIES; s++) check_strategy(k, s, 16);
}

static void large(struct kit *k)
{
    for (int s = 0; s < STRATEGIES; s++) check_strategy(k, s, 512);
}

ON_DEVICES(small)
ON_DEVICES(large)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small), cmocka_unit_test(test_large)};
    return cmocka_run_group_tests_name("conformance_reduction", tests, kit_start, kit_stop);
}
