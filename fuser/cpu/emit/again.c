/*
 * Addresses that come of what is loaded, as those of bins and of tables that bytes are looked up in: each lane loads
 * its own number once more and computes with scalars, in place of vectors that are taken apart.
 */
#include "fuser/cpu/emit/again.h"

#include "fuser/cpu/emit/value.h"
#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/lower/operation.h"
#include "fuser/cpu/prepare/parallel_regions.h"
#include "fuser/cpu/prepare/uniformity.h"
#include "fuser/cpu/simd/x86_gather.h"
#include "ir/core/value.h"

enum { MOST = 6 }; /* operations for each lane: more take longer than to put a vector into memory and take it out */

static bool is_along(const struct emit *e, const struct ir_value *v)
{
    if (v->kind == IR_VALUE_CONST) return true;
    const struct lanes *known = v->kind == IR_VALUE_UNDEF ? NULL : e->values->lanes[v->scratch];
    return known && known->shape != SHAPE_VARYING && ir_type_lanes(v->type) == 1;
}

/* Integers that lanes load one after the other, and that nothing changes. */
static bool is_loaded_along(const struct emit *e, const struct ir_inst *inst)
{
    return reads_constant_memory(inst) && ir_type_is_int(inst->type) && is_along(e, inst->operands[0]);
}

/* Which component of a vector that is loaded so; -1: none, or that is not known. */
static int component_loaded_along(const struct emit *e, const struct ir_inst *extract)
{
    const struct ir_value *from = extract->operands[0];
    uint64_t which;
    if (from->kind != IR_VALUE_RESULT || !ir_value_uint(extract->operands[1], &which)) return -1;
    if (which >= ir_type_lanes(from->type) || !is_loaded_along(e, from->of.inst)) return -1;
    return (int)which;
}

struct work {
    unsigned left; /* operations */
    bool loads;
};

/* Whether each lane can have the value by scalars: it is computed of what lanes load one after the other, and that can
   be loaded again. */
static bool can_be_had_again(const struct emit *e, const struct ir_value *v, struct work *w)
{
    if (is_along(e, v)) return true;
    if (v->kind != IR_VALUE_RESULT || ir_type_lanes(v->type) > 1 || !w->left--) return false;
    const struct ir_inst *inst = v->of.inst;
    switch (inst->op) {
    case IR_OP_LOAD: w->loads = true; return is_loaded_along(e, inst);
    case IR_OP_EXTRACT: w->loads = true; return component_loaded_along(e, inst) >= 0;
    case IR_OP_SEXT:
    case IR_OP_ZEXT:
    case IR_OP_ITRUNC:
    case IR_OP_ADD:
    case IR_OP_AND:
    case IR_OP_SHL:
    case IR_OP_LSHR:
    case IR_OP_ELEM: break;
    default: return false;
    }
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (ir_type_is_bool(inst->operands[i]->type) || !can_be_had_again(e, inst->operands[i], w)) return false;
    return true;
}

static rval number_at(struct emit *e, const struct ir_inst *load, rval address, unsigned component)
{
    enum ir_kind kind = ir_type_kind(load->type);
    unsigned bytes = kind_bytes(kind), align = load->attrs.align;
    rval at = jit_add(e, address, jit_u64(e, (uint64_t)component * bytes));
    lval memory = jit_memory(e, jit_type(e, kind), at, align && align < bytes ? align : bytes);
    return jit_read(jit_keep(e, jit_read(memory)));
}

static struct lanes load_again(struct emit *e, const struct ir_inst *load, unsigned component, rval lane)
{
    struct lanes address = *emit_value(e, load->operands[0]);
    if (!e->exec.chunk) address.wraps = false; /* all lanes are in the same memory */
    return lanes_uniform(ir_type_kind(load->type), number_at(e, load, lanes_at(e, &address, lane), component));
}

struct lanes again_of_lane(struct emit *e, const struct ir_value *v, rval lane)
{
    if (is_along(e, v)) return lanes_uniform(ir_type_kind(v->type), lanes_at(e, emit_value(e, v), lane));
    const struct ir_inst *inst = v->of.inst;
    enum ir_kind kind = ir_type_kind(v->type);
    struct lanes in[2] = {{0}};
    if (inst->op == IR_OP_LOAD) return load_again(e, inst, 0, lane);
    if (inst->op == IR_OP_EXTRACT)
        return load_again(e, inst->operands[0]->of.inst, (unsigned)component_loaded_along(e, inst), lane);
    for (uint32_t i = 0; i < inst->n_operands; i++) in[i] = again_of_lane(e, inst->operands[i], lane);
    if (inst->op != IR_OP_ELEM) return op_n(e, inst->op, kind, inst->n_operands, in);
    if (kind_bytes(in[1].kind) < 8) in[1] = op1(e, IR_OP_SEXT, IR_KIND_I64, in[1]);
    in[0].kind = IR_KIND_I64;
    in[1] = op2(e, IR_OP_MUL, IR_KIND_I64, in[1], lanes_int(e, IR_KIND_I64, private_element_step(inst)));
    return op2(e, IR_OP_ADD, IR_KIND_I64, in[0], in[1]);
}

bool again_can(const struct emit *e, const struct ir_value *v)
{
    struct work w = {.left = MOST};
    return can_be_had_again(e, v, &w);
}

/* Whether a load for each lane is the way to have them: no instruction gathers them, or it takes longer. */
static bool is_lane_by_lane(const struct emit *e, enum ir_kind kind)
{
    bool all = !e->exec.chunk && e->width > 1 && e->width <= 32 && !e->compact;
    return all && (e->gathers_slowly || !x86_can_gather(e, kind));
}

/* Where half of what code may be is there already, what takes least of it is done. */
static bool has_room(const struct emit *e)
{
    return e->jit.n_statements < e->jit.most_statements / 2;
}

bool again_load(struct emit *e, const struct ir_inst *inst, struct lanes *result)
{
    enum ir_kind kind = ir_type_kind(inst->type);
    const struct ir_value *place = inst->operands[0];
    struct work w = {.left = MOST};
    rval lane[MAX_WIDTH];
    if (ir_type_lanes(inst->type) > 1 || !(ir_type_is_int(inst->type) || ir_type_is_float(inst->type))) return false;
    if (inst->attrs.is_volatile || !is_lane_by_lane(e, kind) || !has_room(e)) return false;
    if (is_along(e, place) || !can_be_had_again(e, place, &w) || !w.loads) return false;
    for (unsigned i = 0; i < e->width; i++)
        lane[i] = number_at(e, inst, again_of_lane(e, place, jit_int(e, IR_KIND_I64, i)).scalar, 0);
    *result = lanes_build(e, kind, lane);
    return true;
}
