/* Ids of sub-groups. Where work-groups are rows of whole sub-groups, the local id is sub_group_id * size + id in the
   sub-group; the latter alone often cancels: a block begins at the first work-item of its sub-group. */
#include "fuser/access/sub_group_ids.h"

static const struct affine unknown;

struct affine sub_group_ids_value(const struct access_walk *w, const struct ir_inst *inst)
{
    int64_t size = w->sub_group_size;
    switch (inst->op) {
    case IR_OP_SUB_GROUP_LOCAL_ID: return affine_id(AFFINE_LANE, 1);
    case IR_OP_SUB_GROUP_ID: return w->even_sub_groups ? affine_id(AFFINE_SUB_GROUP, 1) : unknown;
    case IR_OP_SUB_GROUP_MAX_SIZE: return size ? affine_constant(size) : unknown;
    case IR_OP_SUB_GROUP_SIZE: return w->even_sub_groups ? affine_constant(size) : unknown;
    case IR_OP_NUM_SUB_GROUPS:
    case IR_OP_ENQUEUED_NUM_SUB_GROUPS:
        return w->even_sub_groups ? affine_constant((int64_t)w->range.local[0] / size) : unknown;
    default: return unknown;
    }
}

/* sub_group_id * size is the local id without that in the sub-group. */
static bool without_sub_groups(const struct access_walk *w, struct affine *a)
{
    int64_t size = w->sub_group_size, factor = a->factor[AFFINE_SUB_GROUP];
    if (!factor) return true;
    if (factor % size) return false;
    a->factor[AFFINE_SUB_GROUP] = 0;
    return !__builtin_add_overflow(a->factor[AFFINE_LOCAL], factor / size, &a->factor[AFFINE_LOCAL]) &&
           !__builtin_sub_overflow(a->factor[AFFINE_LANE], factor / size, &a->factor[AFFINE_LANE]);
}

/* group_id * local size + the local id is the global id without its offset. */
static bool without_groups(const struct access_walk *w, struct affine *a)
{
    int64_t local = (int64_t)w->range.local[0], factor = a->factor[AFFINE_LOCAL], whole, start;
    if (!factor || !local || __builtin_mul_overflow(factor, local, &whole) || a->factor[AFFINE_GROUP] != whole)
        return true;
    a->factor[AFFINE_LOCAL] = a->factor[AFFINE_GROUP] = 0;
    return !__builtin_add_overflow(a->factor[AFFINE_GLOBAL], factor, &a->factor[AFFINE_GLOBAL]) &&
           !__builtin_mul_overflow(factor, (int64_t)w->range.offset[0], &start) &&
           !__builtin_sub_overflow(a->constant, start, &a->constant);
}

struct affine sub_group_ids_simplify(const struct access_walk *w, const struct affine *a)
{
    struct affine simple = *a;
    if (!a->known || !(a->factor[AFFINE_SUB_GROUP] || a->factor[AFFINE_LANE])) return *a;
    return without_sub_groups(w, &simple) && without_groups(w, &simple) ? simple : unknown;
}
