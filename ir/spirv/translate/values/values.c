/* Values by id. */
#include "ir/spirv/translate/values/values.h"

#include <string.h>

#include "ir/image/image.h"
#include "ir/spirv/decode/constant_values.h"
#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/globals.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/names.h"
#include "ir/spirv/decode/tools.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/values/prologue.h"

struct ir_value *spirv_int(struct spirv_body *s, ir_type t, uint64_t v)
{
    return ir_const_int(s->r->module, t, v);
}

bool spirv_is_set(const struct spirv_body *s, uint32_t id)
{
    return s->bindings[id].owner == s->f;
}

static void name_value(struct spirv_body *s, uint32_t id, struct ir_value *v)
{
    const char *wish = spirv_name(s->r, id);
    if (!wish || !*wish || v->name || (v->kind != IR_VALUE_RESULT && v->kind != IR_VALUE_BLOCK_ARG)) return;
    v->name = spirv_unique_name(s->r, &s->names, wish, "v");
}

void spirv_set_all(struct spirv_body *s, uint32_t id, struct ir_value *const *values)
{
    struct spirv_reader *r = s->r;
    struct spirv_binding *own = &s->bindings[id];
    uint32_t leaves = spirv_leaves(r, spirv_type_of(r, id));
    own->owner = s->f;
    if (leaves == 1) {
        own->of.one = values[0];
        name_value(s, id, values[0]);
        return;
    }
    own->of.many = arena_alloc(r->arena, leaves * sizeof(*own->of.many));
    for (uint32_t k = 0; k < leaves; k++) own->of.many[k] = values[k];
}

void spirv_set(struct spirv_body *s, const struct spirv_inst *i, struct ir_value *v)
{
    spirv_set_all(s, i->id, &v);
}

static void bind_one(struct spirv_body *s, uint32_t id, struct ir_value *v)
{
    s->bindings[id].owner = s->f;
    s->bindings[id].of.one = v;
}

static void undefined(struct spirv_body *s, uint32_t id)
{
    struct spirv_reader *r = s->r;
    uint32_t type = spirv_type_of(r, id), leaves = type && r->types[type].known ? spirv_leaves(r, type) : 0;
    if (leaves > SPIRV_MAX_LEAVES || !leaves) {
        bind_one(s, id, ir_undef(r->module, IR_I32));
        return;
    }
    const ir_type *types = spirv_leaf_types(r, type);
    struct ir_value *values[SPIRV_MAX_LEAVES];
    for (uint32_t k = 0; k < leaves; k++) values[k] = ir_undef(r->module, types[k]);
    spirv_set_all(s, id, values);
}

/* The leaves of a constant struct or array, from *at on. */
static void constant_leaves(struct spirv_body *s, const struct spirv_inst *user, uint32_t id, struct ir_value **values)
{
    struct spirv_reader *r = s->r;
    const struct spirv_inst *d = spirv_def(r, id);
    uint32_t n = spirv_leaves(r, d->type);
    if (r->constants[id]) {
        values[0] = r->constants[id];
    } else if (d->op == SpvOpConstantComposite || d->op == SpvOpSpecConstantComposite) {
        for (uint32_t k = 3; k < d->n; k++) {
            constant_leaves(s, user, d->words[k], values);
            values += spirv_leaves(r, spirv_type_of(r, d->words[k]));
        }
    } else if (d->op == SpvOpConstantNull || d->op == SpvOpUndef) {
        static const uint64_t zero[IR_MAX_LANES];
        const ir_type *types = spirv_leaf_types(r, d->type);
        for (uint32_t k = 0; k < n; k++)
            values[k] = d->op == SpvOpUndef ? ir_undef(r->module, types[k]) : ir_const(r->module, types[k], zero);
    } else {
        struct ir_value *const *inner = spirv_values(s, user, id);
        for (uint32_t k = 0; k < n; k++) values[k] = inner[k];
    }
}

/* A computed constant that is no number, as the instruction it stands for at the function's beginning. */
static void emit_computed(struct spirv_body *s, const struct spirv_inst *d)
{
    uint32_t *words = arena_alloc(s->r->arena, (d->n - 1u) * sizeof *words);
    words[0] = d->words[3];
    words[1] = d->type;
    words[2] = d->id;
    memcpy(words + 3, d->words + 4, (d->n - 4u) * sizeof *words);
    struct spirv_inst *i = arena_alloc(s->r->arena, sizeof *i);
    *i = (struct spirv_inst){
        .op = (uint16_t)d->words[3], .n = (uint16_t)(d->n - 1), .type = d->type, .id = d->id, .words = words};
    for (uint32_t k = 3; k < i->n; k++) /* what it needs stands before it */
        if (words[k] < s->r->index.bound && spirv_is_constant(s->r, words[k])) spirv_values(s, d, words[k]);
    struct ir_builder outer = s->b;
    s->b = spirv_prologue(s);
    s->emit(s, i);
    spirv_prologue_end(s, &s->b);
    if (outer.block == s->b.block && outer.before == NULL) outer = ir_builder_at_end(outer.block);
    s->b = outer;
}

static struct ir_value *constant_sampler(struct spirv_body *s, const struct spirv_inst *d)
{
    uint32_t bits = (d->words[3] << 1 & IR_SAMPLER_ADDRESS) | (d->words[4] ? IR_SAMPLER_NORMALIZED : 0);
    bits |= d->words[5] == SpvSamplerFilterModeLinear ? IR_SAMPLER_LINEAR : IR_SAMPLER_NEAREST;
    struct ir_builder b = spirv_prologue(s);
    struct ir_value *v = ir_build1(&b, IR_OP_MAKE_SAMPLER, IR_VOID, spirv_int(s, IR_I32, bits));
    spirv_prologue_end(s, &b);
    return v;
}

/* ---- what the module defines ---- */

/* What the module defines, made for this function. */
static void materialize(struct spirv_body *s, const struct spirv_inst *user, uint32_t id)
{
    struct spirv_reader *r = s->r;
    const struct spirv_inst *d = spirv_def(r, id);
    uint32_t leaves = d && d->type && r->types[d->type].known ? spirv_leaves(r, d->type) : 0;
    if (d && r->globals.by_id[id]) {
        struct ir_builder b = spirv_prologue(s);
        struct ir_value *v = ir_build_global(&b, r->globals.by_id[id]);
        spirv_prologue_end(s, &b);
        bind_one(s, id, v);
    } else if (d && spirv_is_constant(r, id) && d->op == SpvOpSpecConstantOp) {
        emit_computed(s, d);
    } else if (d && d->op == SpvOpConstantSampler) {
        bind_one(s, id, constant_sampler(s, d));
    } else if (d && spirv_is_constant(r, id) && leaves <= SPIRV_MAX_LEAVES) {
        struct ir_value *values[SPIRV_MAX_LEAVES];
        spirv_type(r, user, d->type);
        constant_leaves(s, user, id, values);
        spirv_set_all(s, id, values);
    } else if (d && spirv_why_refused(r, id)) {
        const char *of = spirv_name(r, id);
        spirv_fail(r, user, "uses variable %s, which cannot be read: %s", of ? of : "", spirv_why_refused(r, id));
    } else if (d) {
        spirv_fail(r, user, "uses id %u, an Op%s, as a value", id, tools_op_name(d->op));
    }
    if (!spirv_is_set(s, id)) {
        if (!spirv_failed(r)) spirv_fail(r, user, "uses id %u, which has no value here", id);
        undefined(s, id);
    }
}

struct ir_value *const *spirv_values(struct spirv_body *s, const struct spirv_inst *user, uint32_t id)
{
    struct spirv_reader *r = s->r;
    struct spirv_binding *own = &s->bindings[id];
    if (r->constants[id]) return &r->constants[id];
    if (!spirv_is_set(s, id)) materialize(s, user, id);
    uint32_t leaves = spirv_leaves(r, spirv_type_of(r, id));
    return leaves > 1 && own->of.many && leaves <= SPIRV_MAX_LEAVES ? own->of.many : &own->of.one;
}

struct ir_value *spirv_value(struct spirv_body *s, const struct spirv_inst *user, uint32_t id)
{
    struct ir_value *const *values = spirv_values(s, user, id);
    if (spirv_leaves(s->r, spirv_type_of(s->r, id)) == 1) return values[0];
    spirv_fail(s->r, user, "has a struct or an array as operand, id %u", id);
    return ir_undef(s->r->module, IR_I32);
}

struct ir_value *spirv_as_int(struct spirv_body *s, struct ir_value *v, ir_type to)
{
    unsigned from_bits = ir_type_bits(v->type), to_bits = ir_type_bits(to);
    ir_type t = ir_type_with_lanes(to, ir_type_lanes(v->type));
    if (!ir_type_is_int(v->type) || from_bits == to_bits) return v;
    if (v->kind == IR_VALUE_CONST) return spirv_int(s, t, v->of.lanes[0]);
    return ir_build1(&s->b, from_bits > to_bits ? IR_OP_ITRUNC : IR_OP_ZEXT, t, v);
}
