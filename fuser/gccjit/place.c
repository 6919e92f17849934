/* Ids and sizes of the ND-range. */
#include "fuser/gccjit/emit.h"

static rval global_linear(struct emit *e)
{
    const struct place *p = &e->place;
    rval at = jit_add(e, p->start[2], p->item[2]);
    at = jit_add(e, jit_mul(e, at, p->global_size[1]), jit_add(e, p->start[1], p->item[1]));
    return jit_add(e, jit_mul(e, at, p->global_size[0]), jit_add(e, p->start[0], p->item[0]));
}

rval place_local_linear(struct emit *e)
{
    const struct place *p = &e->place;
    rval at = jit_add(e, jit_mul(e, p->item[2], p->extent[1]), p->item[1]);
    return jit_add(e, jit_mul(e, at, p->extent[0]), p->item[0]);
}

static struct lanes along_x(struct emit *e, unsigned dim, rval v)
{
    return lanes_linear(IR_KIND_I64, jit_read(jit_keep(e, v)), dim == 0 && e->width > 1, NULL);
}

void emit_place(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    const struct place *p = &e->place;
    unsigned d = inst->attrs.dim;
    switch (inst->op) {
    case IR_OP_GLOBAL_ID:
        *result = along_x(e, d, jit_add(e, p->global_offset[d], jit_add(e, p->start[d], p->item[d])));
        break;
    case IR_OP_LOCAL_ID: *result = along_x(e, d, p->item[d]); break;
    case IR_OP_GLOBAL_LINEAR_ID: *result = along_x(e, 0, global_linear(e)); break;
    case IR_OP_LOCAL_LINEAR_ID: *result = along_x(e, 0, place_local_linear(e)); break;
    case IR_OP_GROUP_ID: *result = lanes_uniform(IR_KIND_I64, p->group[d]); break;
    case IR_OP_GLOBAL_SIZE: *result = lanes_uniform(IR_KIND_I64, p->global_size[d]); break;
    case IR_OP_LOCAL_SIZE: *result = lanes_uniform(IR_KIND_I64, p->extent[d]); break;
    case IR_OP_ENQUEUED_LOCAL_SIZE: *result = lanes_uniform(IR_KIND_I64, p->local_size[d]); break;
    case IR_OP_NUM_GROUPS: *result = lanes_uniform(IR_KIND_I64, p->num_groups[d]); break;
    case IR_OP_GLOBAL_OFFSET: *result = lanes_uniform(IR_KIND_I64, p->global_offset[d]); break;
    default: *result = lanes_uniform(IR_KIND_I32, p->dims); break;
    }
}
