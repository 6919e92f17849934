/* Ids and sizes of the ND-range. */
#include "fuser/cpu/emit/ids.h"

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"

/* ---- lanes that follow one another in a row ---- */

static rval global_linear(struct emit *e)
{
    const struct work_item_ids *p = e->ids;
    rval at = jit_add(e, p->start[2], p->item[2]);
    at = jit_add(e, jit_mul(e, at, p->global_size[1]), jit_add(e, p->start[1], p->item[1]));
    return jit_add(e, jit_mul(e, at, p->global_size[0]), jit_add(e, p->start[0], p->item[0]));
}

rval ids_local_linear(struct emit *e)
{
    const struct work_item_ids *p = e->ids;
    if (p->flat) return jit_read(p->flat);
    rval at = jit_add(e, jit_mul(e, p->item[2], p->extent[1]), p->item[1]);
    return jit_add(e, jit_mul(e, at, p->extent[0]), p->item[0]);
}

rval ids_items_left(struct emit *e)
{
    const struct work_item_ids *p = e->ids;
    if (p->flat) return jit_binary(e, GCC_JIT_BINARY_OP_MINUS, p->items, jit_read(p->flat));
    return jit_binary(e, GCC_JIT_BINARY_OP_MINUS, p->extent[0], p->item[0]);
}

static struct lanes along(struct emit *e, unsigned dim, rval v)
{
    return lanes_linear(IR_KIND_I64, jit_read(jit_keep(e, v)), dim == e->ids->along && e->width > 1);
}

/* ---- lanes that go on from row to row ---- */

static struct lanes id_of(rval v)
{
    return lanes_uniform(IR_KIND_I64, v);
}

static struct lanes flat_item(struct emit *e, unsigned d)
{
    const struct work_item_ids *p = e->ids;
    struct lanes at = lanes_linear(IR_KIND_I64, jit_read(p->flat), 1);
    if (d > 0) at = op2(e, IR_OP_UDIV, IR_KIND_I64, at, id_of(p->extent[0]));
    if (d > 1) return op2(e, IR_OP_UDIV, IR_KIND_I64, at, id_of(p->extent[1]));
    return op2(e, IR_OP_UREM, IR_KIND_I64, at, id_of(p->extent[d]));
}

static struct lanes flat_global(struct emit *e, unsigned d, bool offset)
{
    const struct work_item_ids *p = e->ids;
    rval start = offset ? jit_add(e, p->global_offset[d], p->start[d]) : p->start[d];
    return op2(e, IR_OP_ADD, IR_KIND_I64, flat_item(e, d), id_of(jit_read(jit_keep(e, start))));
}

static struct lanes flat_global_linear(struct emit *e)
{
    struct lanes at = flat_global(e, 2, false);
    for (unsigned d = 2; d-- > 0;) {
        at = op2(e, IR_OP_MUL, IR_KIND_I64, at, id_of(e->ids->global_size[d]));
        at = op2(e, IR_OP_ADD, IR_KIND_I64, at, flat_global(e, d, false));
    }
    return at;
}

static bool emit_flat(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    switch (inst->op) {
    case IR_OP_GLOBAL_ID: *result = flat_global(e, inst->attrs.dim, true); return true;
    case IR_OP_LOCAL_ID: *result = flat_item(e, inst->attrs.dim); return true;
    case IR_OP_GLOBAL_LINEAR_ID: *result = flat_global_linear(e); return true;
    default: return false;
    }
}

void emit_id(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    const struct work_item_ids *p = e->ids;
    unsigned d = inst->attrs.dim;
    if (p->flat && emit_flat(e, inst, result)) return;
    switch (inst->op) {
    case IR_OP_GLOBAL_ID:
        *result = along(e, d, jit_add(e, p->global_offset[d], jit_add(e, p->start[d], p->item[d])));
        break;
    case IR_OP_LOCAL_ID: *result = along(e, d, p->item[d]); break;
    case IR_OP_GLOBAL_LINEAR_ID: *result = along(e, 0, global_linear(e)); break;
    case IR_OP_LOCAL_LINEAR_ID: *result = along(e, 0, ids_local_linear(e)); break;
    case IR_OP_GROUP_ID: *result = lanes_uniform(IR_KIND_I64, p->group[d]); break;
    case IR_OP_GLOBAL_SIZE: *result = lanes_uniform(IR_KIND_I64, p->global_size[d]); break;
    case IR_OP_LOCAL_SIZE: *result = lanes_uniform(IR_KIND_I64, p->extent[d]); break;
    case IR_OP_ENQUEUED_LOCAL_SIZE: *result = lanes_uniform(IR_KIND_I64, p->local_size[d]); break;
    case IR_OP_NUM_GROUPS: *result = lanes_uniform(IR_KIND_I64, p->num_groups[d]); break;
    case IR_OP_GLOBAL_OFFSET: *result = lanes_uniform(IR_KIND_I64, p->global_offset[d]); break;
    default: *result = lanes_uniform(IR_KIND_I32, p->dims); break;
    }
}
