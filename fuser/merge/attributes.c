/* What the parts of a fused kernel require of the device and the launch, together. */
#include <stdio.h>
#include <string.h>

#include "fuser/graph/range.h"
#include "fuser/merge/attributes.h"
#include "ir/core/facts.h"
#include "ir/features/usage.h"

static bool given(const uint32_t size[3])
{
    return size[0] != 0;
}

static bool merge_work_group_size(struct fuse *f, const struct ir_function *part)
{
    uint32_t *have = f->kernel->work_group_size;
    const uint32_t *want = part->work_group_size;
    const uint64_t *local = f->request->range.local;
    if (!given(want)) return true;
    if (given(have) && memcmp(have, want, sizeof f->kernel->work_group_size) != 0)
        return fuse_refuse(f, "kernel %s requires work-groups of %u x %u x %u, kernels before it %u x %u x %u", f->part,
                           want[0], want[1], want[2], have[0], have[1], have[2]);
    for (int d = 0; d < 3 && local[0]; d++)
        if (local[d] != want[d])
            return fuse_refuse(f, "kernel %s requires work-groups of %u x %u x %u, the launch has %llu x %llu x %llu",
                               f->part, want[0], want[1], want[2], (unsigned long long)local[0],
                               (unsigned long long)local[1], (unsigned long long)local[2]);
    memcpy(have, want, sizeof f->kernel->work_group_size);
    return true;
}

static const char *sub_group_text(uint32_t size, char text[static 16])
{
    if (size == IR_SUB_GROUP_AUTOMATIC) return "automatic";
    if (size == IR_SUB_GROUP_PRIMARY) return "primary";
    snprintf(text, 16, "%u", size);
    return text;
}

/* "automatic" leaves the choice to us, so whatever the others require is right. */
static bool merge_sub_group_size(struct fuse *f, const struct ir_function *part)
{
    uint32_t *have = &f->kernel->sub_group_size, want = part->sub_group_size;
    char a[16], b[16];
    if (f->request->sub_group_size) return true;
    if (!want || want == *have || (want == IR_SUB_GROUP_AUTOMATIC && *have)) return true;
    if (*have && *have != IR_SUB_GROUP_AUTOMATIC)
        return fuse_refuse(f, "kernel %s requires the sub-group size %s, kernels before it %s", f->part,
                           sub_group_text(want, a), sub_group_text(*have, b));
    *have = want;
    return true;
}

static bool merge_sub_groups(struct fuse *f, const struct ir_function *part)
{
    uint32_t *have = &f->kernel->sub_groups_per_work_group, want = part->sub_groups_per_work_group;
    if (want && *have && want != *have)
        return fuse_refuse(f, "kernel %s requires work-groups of %u sub-groups, kernels before it %u", f->part, want,
                           *have);
    if (want) *have = want;
    return true;
}

static bool is_target(const struct ir_function *f, const char *name)
{
    for (uint32_t i = 0; i < f->n_targets; i++)
        if (strcmp(f->targets[i], name) == 0) return true;
    return false;
}

/* Devices that every part is for; a part without a list is for every device. */
static bool merge_targets(struct fuse *f, const struct ir_function *part)
{
    struct ir_function *k = f->kernel;
    if (!part->n_targets) return true;
    if (!k->n_targets) {
        k->has_targets = true;
        k->n_targets = part->n_targets;
        k->targets = ir_alloc(f->module, k->n_targets * sizeof *k->targets);
        memcpy(k->targets, part->targets, k->n_targets * sizeof *k->targets);
        return true;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->n_targets; i++)
        if (is_target(part, k->targets[i])) k->targets[n++] = k->targets[i];
    if (!n)
        return fuse_refuse(f, "kernel %s is for %s only, kernels before it are for %s only", f->part, part->targets[0],
                           k->targets[0]);
    k->n_targets = n;
    return true;
}

static void merge_hint(struct fuse *f, const struct ir_function *part)
{
    uint32_t *have = f->kernel->work_group_size_hint;
    size_t size = sizeof f->kernel->work_group_size_hint;
    if (!f->has_part) memcpy(have, part->work_group_size_hint, size);
    if (memcmp(have, part->work_group_size_hint, size) != 0) memset(have, 0, size);
}

bool attributes_merge(struct fuse *f, const struct ir_function *part)
{
    if (!f->has_part) f->kernel->loc = part->loc;
    merge_hint(f, part);
    f->declares |= part->has_declared;
    f->declared |= ir_function_aspects(part) | (part->has_declared ? part->aspects_declared : 0);
    return merge_work_group_size(f, part) && merge_sub_group_size(f, part) && merge_sub_groups(f, part) &&
           merge_targets(f, part);
}

/* What a kernel asks about its work-groups. */
struct questions {
    bool waits, place, group, all, loops, shares;
};

static void see_question(struct ir_inst *inst, void *data)
{
    struct questions *q = data;
    if (ir_is_work_group_collective(inst)) q->waits = true;
    if (inst->op == IR_OP_LOCAL_ID) q->place = true;
    if (inst->op == IR_OP_GROUP_ID) q->group = true;
    if (inst->op == IR_OP_GLOBAL_SIZE || inst->op == IR_OP_NUM_GROUPS) q->all = true;
    if (inst->op == IR_OP_LOOP) q->loops = true;
    if (inst->op == IR_OP_GLOBAL && inst->attrs.global->space == IR_SPACE_LOCAL) q->shares = true;
}

static void know_size(struct ir_inst *inst, void *data)
{
    (void)data;
    if (inst->op == IR_OP_LOCAL_SIZE) inst->op = IR_OP_ENQUEUED_LOCAL_SIZE;
}

/* Those that run as one do so on one thread: there are to be some for each. */
static bool has_groups_for_lanes(const struct nd_range *range)
{
    enum { LEAST = 16 * IR_LANE_GROUPS };
    return nd_range_has_groups_by(range, IR_LANE_GROUPS) && range->global[0] >= LEAST * range->local[0];
}

/* Where work-items of a group wait for each other, compute with their place in it, or go over a row together in loops
   whose step is the size of all, the size of groups is worth code of its own. */
static void fix_local_size(struct fuse *f)
{
    enum { NARROW = 16 }; /* groups whose rows are a vector at most may run as one */
    const struct nd_range *range = &f->request->range;
    struct nd_range others = nd_range_of_others(range);
    struct questions q = {0};
    ir_walk(f->kernel->body, see_question, &q);
    if (fuse_has_last_group(f->request)) f->kernel->assumes |= IR_ASSUME_LAST_GROUP;
    const struct nd_range *alike = f->kernel->assumes & IR_ASSUME_LAST_GROUP ? &others : range;
    if (!range->local[0] || !(q.waits || (q.place && q.group) || (q.loops && q.all))) return;
    for (unsigned d = 0; d < 3; d++) f->kernel->work_group_size[d] = d < range->dims ? (uint32_t)range->local[d] : 1;
    if (!nd_range_has_whole_groups(range)) return;
    f->kernel->assumes |= IR_ASSUME_WHOLE_GROUPS;
    if (q.waits && range->local[0] <= NARROW && nd_range_has_groups_by(alike, 2))
        f->kernel->assumes |= IR_ASSUME_PAIRED_GROUPS;
    if (q.waits && q.shares && has_groups_for_lanes(alike)) f->kernel->assumes |= IR_ASSUME_LANE_GROUPS;
    ir_walk(f->kernel->body, know_size, NULL);
}

static void see_id(struct ir_inst *inst, void *data)
{
    bool *asked = data;
    if (inst->op == IR_OP_GLOBAL_ID) asked[inst->attrs.dim] = true;
}

/* Of ranges in several dimensions: along which ones rows may run. Where work-groups have a size, that says it. */
static void assume_long_rows(struct fuse *f)
{
    const struct nd_range *range = &f->request->range;
    bool asked[3] = {false};
    if (f->kernel->work_group_size[0]) return;
    ir_walk(f->kernel->body, see_id, asked);
    if (asked[1] && range->global[1] >= IR_LONG_DIMENSION) f->kernel->assumes |= IR_ASSUME_LONG_Y;
    if (asked[2] && range->global[2] >= IR_LONG_DIMENSION) f->kernel->assumes |= IR_ASSUME_LONG_Z;
}

void attributes_finish(struct fuse *f)
{
    f->kernel->assumes = f->request->assumes | (range_items(&f->request->range) == 1 ? IR_ASSUME_ONE_ITEM : 0);
    fix_local_size(f);
    assume_long_rows(f);
    if (f->request->sub_group_size) f->kernel->sub_group_size = f->request->sub_group_size;
    f->kernel->has_declared = f->declares;
    f->kernel->aspects_declared = f->declares ? f->declared : 0;
}
