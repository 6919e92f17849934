/* Where work-items are. */
#include "fuser/cpu/batch/ids.h"

/* Where the work-item with a linear local id is in its work-group. */
static void local_ids(const struct segment *s, uint64_t linear, uint64_t id[3])
{
    for (int d = 0; d < 3; d++) {
        id[d] = linear % s->size[d];
        linear /= s->size[d];
    }
}

static uint64_t global_linear(const struct run *run, const struct segment *s, const uint64_t local[3])
{
    uint64_t linear = 0;
    for (int d = 2; d >= 0; d--)
        linear = linear * run->launch->global_size[d] + s->group[d] * run->launch->local_size[d] + local[d];
    return linear;
}

/* Numbers from `first` on by steps of `by`. */
static void count_up(uint64_t *r, uint32_t n, uint64_t first, uint64_t by)
{
    for (uint32_t i = 0; i < n; i++) r[i] = first + i * by;
}

/* Ids of 64 bits: row by row of the work-group. */
static void fill_rows(const struct run *run, const struct segment *s, const struct id_column *c, uint64_t *r)
{
    const struct kernel_launch *l = run->launch;
    unsigned d = c->dim;
    uint64_t id[3], first = 0;
    local_ids(s, s->first, id);
    for (uint32_t at = 0, n; at < s->n; at += n) {
        uint64_t left = s->size[0] - id[0];
        n = left < s->n - at ? (uint32_t)left : s->n - at;
        switch (c->op) {
        case IR_OP_LOCAL_ID: first = id[d]; break;
        case IR_OP_GLOBAL_ID: first = l->global_offset[d] + s->group[d] * l->local_size[d] + id[d]; break;
        case IR_OP_GLOBAL_LINEAR_ID: first = global_linear(run, s, id); break;
        case IR_OP_LOCAL_LINEAR_ID: first = s->first + at; break;
        case IR_OP_GROUP_ID: first = s->group[d]; break;
        default: first = s->size[d]; break;
        }
        bool of_group = c->op == IR_OP_GROUP_ID || c->op == IR_OP_LOCAL_SIZE;
        bool linear = c->op == IR_OP_GLOBAL_LINEAR_ID || c->op == IR_OP_LOCAL_LINEAR_ID;
        count_up(r + at, n, first, !of_group && (linear || d == 0));
        id[0] = 0;
        if (++id[1] < s->size[1]) continue;
        id[1] = 0;
        id[2]++;
    }
}

static uint32_t sub_group_id(const struct run *run, const struct segment *s, enum ir_op op, uint64_t linear)
{
    uint32_t size = run->batch->sub_group_size;
    uint64_t rest = s->items - linear / size * size;
    switch (op) {
    case IR_OP_SUB_GROUP_ID: return (uint32_t)(linear / size);
    case IR_OP_SUB_GROUP_LOCAL_ID: return (uint32_t)(linear % size);
    case IR_OP_SUB_GROUP_SIZE: return rest < size ? (uint32_t)rest : size;
    default: return (uint32_t)((s->items + size - 1) / size);
    }
}

void ids_fill(const struct run *run, const struct segment *s)
{
    for (uint32_t i = 0; i < run->batch->n_ids; i++) {
        const struct id_column *c = &run->batch->ids[i];
        uint8_t *place = run_place(run, c->reg);
        struct segment one = *s;
        if (c->reg & UNIFORM_BIT) one.n = 1, one.lane = 0;
        if (ir_op_class(c->op) == IR_CLASS_ND_RANGE)
            fill_rows(run, &one, c, (uint64_t *)place + one.lane);
        else
            for (uint32_t lane = 0; lane < one.n; lane++)
                ((uint32_t *)place)[one.lane + lane] = sub_group_id(run, s, c->op, s->first + lane);
    }
}

uint64_t ids_of_launch(const struct run *run, enum ir_op op, unsigned dim)
{
    const struct kernel_launch *l = run->launch;
    uint64_t size = run->batch->sub_group_size;
    switch (op) {
    case IR_OP_GLOBAL_SIZE: return l->global_size[dim];
    case IR_OP_ENQUEUED_LOCAL_SIZE: return l->local_size[dim];
    case IR_OP_NUM_GROUPS: return l->num_groups[dim];
    case IR_OP_GLOBAL_OFFSET: return l->global_offset[dim];
    case IR_OP_WORK_DIM: return l->dims;
    case IR_OP_SUB_GROUP_MAX_SIZE: return size;
    default: return (l->local_size[0] * l->local_size[1] * l->local_size[2] + size - 1) / size;
    }
}
