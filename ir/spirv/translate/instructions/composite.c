/* Vectors, and structs and arrays as values: those are kept as their parts. */
#include "ir/spirv/translate/instructions/composite.h"

#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/instructions/builtin.h"
#include "ir/spirv/translate/values/values.h"

/* The lane of a vector, from where it was put together where that can be seen. */
static struct ir_value *lane_of(struct spirv_body *s, struct ir_value *v, uint32_t k)
{
    struct ir_value *index = spirv_int(s, IR_I32, k);
    if (v->kind == IR_VALUE_CONST) return spirv_int(s, ir_type_element(v->type), v->of.lanes[k]);
    if (v->kind == IR_VALUE_UNDEF) return ir_undef(s->r->module, ir_type_element(v->type));
    const struct ir_inst *d = v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
    if (d && d->op == IR_OP_VEC && d->n_operands == ir_type_lanes(v->type) && k < d->n_operands) return d->operands[k];
    return ir_build2(&s->b, IR_OP_EXTRACT, v->type, v, index);
}

static bool is_vector(const struct spirv_reader *r, uint32_t type)
{
    return spirv_def(r, type)->op == SpvOpTypeVector;
}

/* Follows the literal indices of an instruction from word `at` on through structs and arrays: the type they lead to,
   its first leaf, and the lane where the last one goes into a vector (UINT32_MAX: none). */
static uint32_t follow_indices(struct spirv_body *s, const struct spirv_inst *i, uint32_t type, uint32_t at,
                               uint32_t *leaf, uint32_t *lane_at)
{
    struct spirv_reader *r = s->r;
    *leaf = 0;
    *lane_at = UINT32_MAX;
    for (; at < i->n; at++) {
        uint32_t k = i->words[at], part = spirv_part(r, type, k);
        if (!part || k >= spirv_n_parts(r, type) || *lane_at != UINT32_MAX) {
            spirv_fail(r, i, "has an index %u that leads nowhere", k);
            return type;
        }
        if (is_vector(r, type)) {
            *lane_at = k;
        } else {
            *leaf += spirv_part_leaf(r, type, k);
        }
        type = part;
    }
    return type;
}

static void emit_extract(struct spirv_body *s, const struct spirv_inst *i)
{
    uint32_t leaf, lane_at, type = spirv_type_of(s->r, i->words[3]);
    spirv_type(s->r, i, type);
    follow_indices(s, i, type, 4, &leaf, &lane_at);
    if (spirv_failed(s->r)) return;
    struct ir_value *const *values = spirv_values(s, i, i->words[3]);
    if (spirv_failed(s->r)) return;
    if (lane_at != UINT32_MAX) {
        spirv_set(s, i, lane_of(s, values[leaf], lane_at));
    } else if (spirv_leaves(s->r, i->type)) {
        spirv_set_all(s, i->id, values + leaf);
    }
}

static void emit_insert(struct spirv_body *s, const struct spirv_inst *i)
{
    uint32_t leaf, lane_at, n = spirv_leaves(s->r, i->type);
    follow_indices(s, i, i->type, 5, &leaf, &lane_at);
    if (spirv_failed(s->r) || !n) return;
    struct ir_value *const *part = spirv_values(s, i, i->words[3]), *const *old = spirv_values(s, i, i->words[4]);
    uint32_t n_part = spirv_leaves(s->r, spirv_type_of(s->r, i->words[3]));
    struct ir_value **values = arena_alloc(s->r->arena, n * sizeof(*values));
    for (uint32_t k = 0; k < n; k++) values[k] = old[k];
    if (lane_at == UINT32_MAX) {
        for (uint32_t k = 0; k < n_part; k++) values[leaf + k] = part[k];
    } else {
        struct ir_value *v = values[leaf];
        values[leaf] = ir_build3(&s->b, IR_OP_INSERT, v->type, v, part[0], spirv_int(s, IR_I32, lane_at));
    }
    spirv_set_all(s, i->id, values);
}

static void emit_construct(struct spirv_body *s, const struct spirv_inst *i)
{
    uint32_t n = spirv_leaves(s->r, i->type), at = 0;
    struct ir_value *lanes[IR_MAX_LANES];
    struct ir_value **values = is_vector(s->r, i->type) ? lanes : arena_alloc(s->r->arena, (n + 1) * sizeof(*values));
    uint32_t most = is_vector(s->r, i->type) ? IR_MAX_LANES : n;
    for (uint32_t k = 3; k < i->n; k++) {
        struct ir_value *const *part = spirv_values(s, i, i->words[k]);
        uint32_t n_part = spirv_leaves(s->r, spirv_type_of(s->r, i->words[k]));
        for (uint32_t p = 0; p < n_part && at < most; p++) values[at++] = part[p];
    }
    if (spirv_failed(s->r)) return;
    if (is_vector(s->r, i->type)) {
        spirv_set(s, i, ir_build(&s->b, IR_OP_VEC, spirv_result_type(s->r, i), values, at)->results[0]);
    } else if (n) {
        spirv_set_all(s, i->id, values);
    }
}

/* The operation shuffle, or extracts where both sides are wholly scalar again. */
static void emit_shuffle(struct spirv_body *s, const struct spirv_inst *i)
{
    struct ir_value *o[2] = {spirv_value(s, i, i->words[3]), spirv_value(s, i, i->words[4])};
    if (spirv_failed(s->r)) return;
    struct ir_inst *inst = ir_build(&s->b, IR_OP_SHUFFLE, spirv_result_type(s->r, i), o, 2);
    for (uint32_t k = 5; k < i->n && k - 5 < IR_MAX_LANES; k++)
        inst->attrs.mask[k - 5] = i->words[k] == UINT32_MAX ? -1 : (int8_t)i->words[k];
    spirv_set(s, i, inst->results[0]);
}

static void emit_dynamic(struct spirv_body *s, const struct spirv_inst *i)
{
    struct ir_value *v = spirv_value(s, i, i->words[3]);
    uint64_t k;
    if (i->op == SpvOpVectorExtractDynamic) {
        struct ir_value *index = spirv_value(s, i, i->words[4]);
        bool known = ir_value_uint(index, &k) && k < ir_type_lanes(v->type);
        struct ir_value *part = known ? lane_of(s, v, (uint32_t)k) : spirv_builtin_at(s, i->words[3], v, index);
        spirv_set(s, i, part ? part : ir_build2(&s->b, IR_OP_EXTRACT, v->type, v, index));
    } else {
        spirv_set(
            s, i,
            ir_build3(&s->b, IR_OP_INSERT, v->type, v, spirv_value(s, i, i->words[4]), spirv_value(s, i, i->words[5])));
    }
}

static void emit_undef(struct spirv_body *s, const struct spirv_inst *i)
{
    uint32_t n = spirv_leaves(s->r, i->type);
    const ir_type *types = spirv_leaf_types(s->r, i->type);
    struct ir_value **values = arena_alloc(s->r->arena, (n + 1) * sizeof(*values));
    for (uint32_t k = 0; k < n; k++) values[k] = ir_undef(s->r->module, types[k]);
    if (n) spirv_set_all(s, i->id, values);
}

bool spirv_emit_composite(struct spirv_body *s, const struct spirv_inst *i)
{
    switch (i->op) {
    case SpvOpCompositeExtract: emit_extract(s, i); return true;
    case SpvOpCompositeInsert: emit_insert(s, i); return true;
    case SpvOpCompositeConstruct: emit_construct(s, i); return true;
    case SpvOpVectorShuffle: emit_shuffle(s, i); return true;
    case SpvOpVectorExtractDynamic:
    case SpvOpVectorInsertDynamic: emit_dynamic(s, i); return true;
    case SpvOpUndef: emit_undef(s, i); return true;
    default: return false;
    }
}
