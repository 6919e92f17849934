/* Where a work-item is: ids and sizes. */
#include "ir/interp/ids.h"

uint64_t interp_global_linear(const struct machine *m, const struct item *item)
{
    uint64_t linear = 0;
    for (int d = 2; d >= 0; d--) linear = linear * m->range.global[d] + item->global[d] - m->range.offset[d];
    return linear;
}

static uint32_t groups_of(uint32_t items, uint32_t size)
{
    return (items + size - 1) / size;
}

static uint32_t sub_group_items(const struct machine *m, const struct item *item)
{
    uint32_t rest = m->group.n_items - item->sub_group * m->sub_group_size;
    return rest < m->sub_group_size ? rest : m->sub_group_size;
}

bool interp_item_query(const struct machine *m, const struct item *item, const struct ir_inst *inst, uint64_t *r)
{
    unsigned d = inst->attrs.dim;
    switch (inst->op) {
    case IR_OP_GLOBAL_ID: *r = item->global[d]; return true;
    case IR_OP_LOCAL_ID: *r = item->local[d]; return true;
    case IR_OP_GROUP_ID: *r = m->group.id[d]; return true;
    case IR_OP_GLOBAL_SIZE: *r = m->range.global[d]; return true;
    case IR_OP_LOCAL_SIZE: *r = m->group.size[d]; return true;
    case IR_OP_ENQUEUED_LOCAL_SIZE: *r = m->range.local[d]; return true;
    case IR_OP_NUM_GROUPS: *r = m->n_groups[d]; return true;
    case IR_OP_GLOBAL_OFFSET: *r = m->range.offset[d]; return true;
    case IR_OP_WORK_DIM: *r = m->range.dims; return true;
    case IR_OP_GLOBAL_LINEAR_ID: *r = interp_global_linear(m, item); return true;
    case IR_OP_LOCAL_LINEAR_ID: *r = item->linear; return true;
    case IR_OP_SUB_GROUP_SIZE: *r = sub_group_items(m, item); return true;
    case IR_OP_SUB_GROUP_MAX_SIZE: *r = m->sub_group_size; return true;
    case IR_OP_NUM_SUB_GROUPS: *r = m->group.n_sub_groups; return true;
    case IR_OP_ENQUEUED_NUM_SUB_GROUPS: *r = groups_of(m->group_volume, m->sub_group_size); return true;
    case IR_OP_SUB_GROUP_ID: *r = item->sub_group; return true;
    case IR_OP_SUB_GROUP_LOCAL_ID: *r = item->sub_local; return true;
    default: return false;
    }
}

void interp_item_of_number(const struct machine *m, uint32_t number, uint64_t global[3])
{
    uint64_t group = number / m->group_volume, local = number % m->group_volume;
    for (int d = 0; d < 3; d++) {
        global[d] = m->range.offset[d] + group % m->n_groups[d] * m->range.local[d] + local % m->range.local[d];
        group /= m->n_groups[d];
        local /= m->range.local[d];
    }
}
