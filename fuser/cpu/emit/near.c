/*
 * Addresses of lanes as 32-bit offsets from the parameter or variable that they are computed from. As far as lanes
 * access them they lie in its memory, so that nothing above 2^31 counts, whatever the offsets were computed from.
 */
#include "fuser/cpu/emit/near.h"

#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/prepare/uniformity.h"
#include "fuser/cpu/simd/computed.h"
#include "fuser/cpu/simd/x86_gather.h"

/* What has been emitted for the value here; NULL: nothing. */
static const struct lanes *emitted(struct emit *e, const struct ir_value *v)
{
    return v->kind == IR_VALUE_CONST || v->kind == IR_VALUE_UNDEF ? emit_value(e, v) : e->values->lanes[v->scratch];
}

static const struct ir_value *root_of(const struct ir_value *v)
{
    while (v->kind == IR_VALUE_RESULT && (v->of.inst->op == IR_OP_ELEM || v->of.inst->op == IR_OP_FIELD))
        v = v->of.inst->operands[0];
    return v;
}

static struct lanes low_half(struct emit *e, struct lanes v)
{
    if (v.shape == SHAPE_VARYING) return op1(e, IR_OP_ITRUNC, IR_KIND_I32, v);
    return op_linear(e, IR_OP_ITRUNC, IR_KIND_I32, 1, &v, v.stride);
}

/* The low half of an index, where possible as it was before it was extended. */
static struct lanes index_of(struct emit *e, const struct ir_value *v)
{
    const struct ir_inst *inst = v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
    bool extends = inst && (inst->op == IR_OP_SEXT || inst->op == IR_OP_ZEXT);
    if (extends && ir_type_bits(inst->operands[0]->type) == 32 && emitted(e, inst->operands[0])) v = inst->operands[0];
    if (extends && ir_type_bits(inst->operands[0]->type) < 32 && emitted(e, inst->operands[0]))
        return op1(e, inst->op, IR_KIND_I32, *emit_value(e, inst->operands[0]));
    struct lanes index = *emit_value(e, v);
    if (kind_bytes(index.kind) == 8) return low_half(e, index);
    return kind_bytes(index.kind) == 4 ? index : op1(e, IR_OP_SEXT, IR_KIND_I32, index);
}

/* Whether what differs between the work-items of a vector is made of their ids and of nothing they have read. */
static bool is_of_ids(const struct emit *e, const struct ir_value *v, unsigned depth)
{
    enum { DEEPEST = 8 };
    if (v->kind <= IR_VALUE_PARAM || value_shape(e, v).kind != SHAPE_VARYING) return true;
    if (v->kind != IR_VALUE_RESULT || depth == DEEPEST || ir_type_is_float(v->type)) return false;
    const struct ir_inst *inst = v->of.inst;
    if (!(ir_op_info(inst->op)->flags & IR_FLAG_PURE) || inst->blocks[0]) return false;
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (!is_of_ids(e, inst->operands[i], depth + 1)) return false;
    return true;
}

/* How far the base is behind the root; false where lanes are anywhere and nothing near is known of them. */
static bool base_offset(struct emit *e, const struct ir_value *base, rval root, struct near_lanes *near)
{
    struct lanes at = *emit_value(e, base);
    if (at.shape == SHAPE_VARYING && !at.near) return false;
    if (at.near) {
        near->offset = at.near->offset;
        near->of_ids = at.near->of_ids;
        return true;
    }
    at.kind = IR_KIND_I64;
    near->offset = low_half(
        e, op_linear(e, IR_OP_SUB, IR_KIND_I64, 2, (struct lanes[]){at, lanes_uniform(IR_KIND_I64, root)}, at.stride));
    return true;
}

/* How far behind the base elements are, of so many bytes each: the same for all arrays that are read at an index. */
static struct lanes offset_of(struct emit *e, const struct ir_value *v, uint64_t size)
{
    struct lanes index = index_of(e, v);
    const struct lanes *known = index.chunk ? computed_find(e, index.chunk, size) : NULL;
    if (known) return *known;
    struct lanes *offset = arena_alloc(e->arena, sizeof *offset);
    *offset = lanes_made(e, op2(e, IR_OP_MUL, IR_KIND_I32, index, lanes_int(e, IR_KIND_I32, size)));
    if (index.chunk) computed_add(e, index.chunk, size, offset);
    return *offset;
}

const struct near_lanes *near_element(struct emit *e, const struct ir_inst *inst)
{
    const struct ir_value *base = inst->operands[0], *root = root_of(base);
    if (!x86_can_gather(e, IR_KIND_I32) || root->kind == IR_VALUE_CONST || root->kind == IR_VALUE_UNDEF) return NULL;
    const struct lanes *from = emitted(e, root);
    if (!e->values->uniformity.small[root->scratch] || !from || from->shape != SHAPE_UNIFORM) return NULL;
    struct near_lanes *near = arena_alloc(e->arena, sizeof *near);
    near->base = from->scalar;
    near->of_ids = true;
    if (base != root && !base_offset(e, base, from->scalar, near)) return NULL;
    struct lanes by = offset_of(e, inst->operands[1], private_element_step(inst));
    near->offset = base != root ? op2(e, IR_OP_ADD, IR_KIND_I32, by, near->offset) : by;
    near->of_ids = near->of_ids && is_of_ids(e, inst->operands[1], 0);
    return near;
}

const struct near_lanes *near_plus(struct emit *e, const struct near_lanes *near, uint64_t bytes)
{
    if (!near) return NULL;
    struct near_lanes *further = arena_alloc(e->arena, sizeof *further);
    *further = *near;
    further->offset = op2(e, IR_OP_ADD, IR_KIND_I32, near->offset, lanes_int(e, IR_KIND_I32, bytes));
    return further;
}

struct near_lanes near_places(struct emit *e, const struct lanes *address, uint64_t offset)
{
    const int64_t longest = (1 << 30) / MAX_WIDTH;
    struct near_lanes p = {.of_ids = false};
    rval by = jit_int(e, IR_KIND_I64, offset);
    if (address->shape == SHAPE_LINEAR && address->stride < longest && address->stride > -longest) {
        p.base = jit_add(e, address->scalar, by);
        p.offset = lanes_linear(IR_KIND_I32, jit_int(e, IR_KIND_I32, 0), address->stride);
    } else if (address->near) {
        p = *address->near;
        p.base = jit_add(e, p.base, by);
    } else {
        p.base = by;
        p.offset = *address;
        p.offset.kind = IR_KIND_I64;
    }
    return p;
}
