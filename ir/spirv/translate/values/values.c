/* Reading a function's body: values by id, and which file knows an instruction. */
#include "ir/spirv/translate/values/body.h"

#include <string.h>

#include "ir/image/image.h"

enum { MAX_LEAVES = 1024 /* of one value */ };

/* ---- values ---- */

uint32_t spirv_type_of(const struct spirv_reader *r, uint32_t id)
{
    return r->ids[id].def ? r->ids[id].def->type : 0;
}

struct ir_value *spirv_int(struct spirv_body *s, ir_type t, uint64_t v)
{
    return ir_const_int(s->r->module, t, v);
}

bool spirv_is_set(const struct spirv_reader *r, uint32_t id)
{
    return r->ids[id].owner == r->function;
}

static void name_value(struct spirv_body *s, uint32_t id, struct ir_value *v)
{
    const char *wish = s->r->ids[id].name;
    if (!wish || !*wish || v->name || (v->kind != IR_VALUE_RESULT && v->kind != IR_VALUE_BLOCK_ARG)) return;
    v->name = spirv_unique_name(s->r, &s->names, wish, "v");
}

void spirv_set_all(struct spirv_body *s, uint32_t id, struct ir_value *const *values)
{
    struct spirv_reader *r = s->r;
    struct spirv_id *own = &r->ids[id];
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

struct ir_builder spirv_prologue(struct spirv_body *s)
{
    struct ir_builder b = ir_builder_at_end(s->ir->body);
    b.before = s->prologue ? s->prologue->next : s->ir->body->first;
    return b;
}

void spirv_prologue_end(struct spirv_body *s, const struct ir_builder *b)
{
    s->prologue = b->before ? b->before->prev : s->ir->body->last;
}

static void undefined(struct spirv_body *s, uint32_t id)
{
    struct spirv_reader *r = s->r;
    uint32_t type = spirv_type_of(r, id), leaves = type && r->ids[type].known ? spirv_leaves(r, type) : 0;
    if (leaves > MAX_LEAVES || !leaves) {
        struct ir_value *none = ir_undef(r->module, IR_I32);
        r->ids[id].owner = s->f;
        r->ids[id].of.one = none;
        return;
    }
    const ir_type *types = spirv_leaf_types(r, type);
    struct ir_value *values[MAX_LEAVES];
    for (uint32_t k = 0; k < leaves; k++) values[k] = ir_undef(r->module, types[k]);
    spirv_set_all(s, id, values);
}

/* The leaves of a constant struct or array, from *at on. */
static void constant_leaves(struct spirv_body *s, const struct spirv_inst *user, uint32_t id, struct ir_value **values)
{
    struct spirv_reader *r = s->r;
    const struct spirv_inst *d = r->ids[id].def;
    uint32_t n = spirv_leaves(r, d->type);
    if (r->ids[id].known) {
        values[0] = r->ids[id].of.one;
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
        if (words[k] < s->r->bound && spirv_is_constant(s->r, words[k])) spirv_values(s, d, words[k]);
    struct ir_builder outer = s->b;
    s->b = spirv_prologue(s);
    spirv_emit(s, i);
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

/* What the module defines, made for this function. */
static void materialize(struct spirv_body *s, const struct spirv_inst *user, uint32_t id)
{
    struct spirv_reader *r = s->r;
    const struct spirv_inst *d = r->ids[id].def;
    uint32_t leaves = d && d->type && r->ids[d->type].known ? spirv_leaves(r, d->type) : 0;
    if (d && d->op == SpvOpVariable && r->ids[id].global) {
        struct ir_builder b = spirv_prologue(s);
        struct ir_value *v = ir_build_global(&b, r->ids[id].global);
        spirv_prologue_end(s, &b);
        r->ids[id].owner = s->f;
        r->ids[id].of.one = v;
    } else if (d && spirv_is_constant(r, id) && d->op == SpvOpSpecConstantOp) {
        emit_computed(s, d);
    } else if (d && d->op == SpvOpConstantSampler) {
        r->ids[id].owner = s->f;
        r->ids[id].of.one = constant_sampler(s, d);
    } else if (d && spirv_is_constant(r, id) && leaves <= MAX_LEAVES) {
        struct ir_value *values[MAX_LEAVES];
        spirv_type(r, user, d->type);
        constant_leaves(s, user, id, values);
        if (leaves != 1 || !r->ids[id].known) spirv_set_all(s, id, values);
    } else if (d && spirv_why_refused(r, id)) {
        spirv_fail(r, user, "uses variable %s, which cannot be read: %s", r->ids[id].name ? r->ids[id].name : "",
                   spirv_why_refused(r, id));
    } else if (d) {
        spirv_fail(r, user, "uses id %u, an Op%s, as a value", id, tools_op_name(d->op));
    }
    if (!spirv_is_set(r, id)) {
        if (!r->failed_function) spirv_fail(r, user, "uses id %u, which has no value here", id);
        undefined(s, id);
    }
}

struct ir_value *const *spirv_values(struct spirv_body *s, const struct spirv_inst *user, uint32_t id)
{
    struct spirv_reader *r = s->r;
    struct spirv_id *own = &r->ids[id];
    bool constant = own->known && own->owner == NULL && spirv_is_constant(r, id);
    if (!constant && !spirv_is_set(r, id)) materialize(s, user, id);
    uint32_t leaves = spirv_leaves(r, spirv_type_of(r, id));
    return leaves > 1 && !constant && own->of.many && leaves <= MAX_LEAVES ? own->of.many : &own->of.one;
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

/* ---- instructions ---- */

static bool is_ignored(unsigned op)
{
    switch (op) {
    case SpvOpLine:
    case SpvOpNoLine:
    case SpvOpNop:
    case SpvOpPhi:
    case SpvOpLabel:
    case SpvOpLoopMerge:
    case SpvOpSelectionMerge:
    case SpvOpLifetimeStart:
    case SpvOpLifetimeStop:
    case SpvOpAssumeTrueKHR: return true;
    default: return false;
    }
}

void spirv_emit(struct spirv_body *s, const struct spirv_inst *i)
{
    if (is_ignored(i->op)) return;
    s->b.loc = spirv_loc(s->r, i);
    if (s->r->failed_function) return;
    bool known = spirv_emit_builtin(s, i) || spirv_emit_arith(s, i) || spirv_emit_dot(s, i) ||
                 spirv_emit_convert(s, i) ||
                 spirv_emit_composite(s, i) || spirv_emit_memory(s, i) || spirv_emit_ext(s, i) ||
                 spirv_emit_call(s, i) || spirv_emit_atomic(s, i) || spirv_emit_group(s, i) || spirv_emit_image(s, i) ||
                 spirv_emit_pipe(s, i);
    if (!known) spirv_fail(s->r, i, "cannot be read");
}

void spirv_emit_block(struct spirv_body *s, const struct cfg_node *node)
{
    for (const struct spirv_inst *i = node->label + 1; i < node->end && !s->r->failed_function; i++) spirv_emit(s, i);
}

/* A struct is returned through a hidden last parameter. */
void spirv_emit_return(struct spirv_body *s, const struct spirv_inst *i)
{
    struct spirv_reader *r = s->r;
    uint32_t type = i->op == SpvOpReturnValue ? s->f->first->type : 0;
    uint32_t leaves = spirv_leaves(r, type);
    if (leaves > 0 && s->ir->result == IR_VOID) {
        struct ir_value *to = s->ir->params[s->ir->n_params - 1].value;
        spirv_store(s, i, type, to, 0, false, spirv_values(s, i, i->words[1]));
        leaves = 0;
    }
    struct ir_value *v = leaves ? spirv_value(s, i, i->words[1]) : NULL;
    ir_build(&s->b, IR_OP_RETURN, IR_VOID, &v, leaves != 0);
}

static void bind_params(struct spirv_body *s)
{
    uint32_t n = 0;
    for (const struct spirv_inst *i = s->f->first; i < s->f->end && i->op != SpvOpLabel; i++) {
        if (i->op != SpvOpFunctionParameter) continue;
        struct ir_value *values[MAX_LEAVES];
        uint32_t leaves = spirv_leaves(s->r, i->type);
        for (uint32_t k = 0; k < leaves && n < s->ir->n_params; k++) {
            values[k] = s->ir->params[n++].value;
            if (values[k]->name) /* taken already */
                values[k]->name = spirv_unique_name(s->r, &s->names, values[k]->name, "p");
        }
        spirv_set_all(s, i->id, values);
    }
}

/* Types of results that have no counterpart, or too many parts, are told before anything relies on them. */
static void check_values(struct spirv_reader *r, const struct spirv_function *f)
{
    for (const struct spirv_inst *i = f->first; i < f->end; i++) {
        if (!i->type) continue;
        bool builtin = i->op != SpvOpFunction && !r->ids[i->type].known &&
                       r->ids[i->type].def->op == SpvOpTypePointer &&
                       r->ids[i->type].def->words[2] == SpvStorageClassInput;
        if (builtin) continue; /* an address of a built-in variable, which is not a value */
        spirv_type(r, i, i->type);
        if (spirv_leaves(r, i->type) > MAX_LEAVES) spirv_fail(r, i, "gives a value of more than %d parts", MAX_LEAVES);
    }
}

void spirv_read_body(struct spirv_reader *r, struct spirv_function *f)
{
    struct spirv_body s = {.r = r, .f = f, .ir = f->ir, .names.arena = r->arena};
    r->function = f;
    r->failed_function = false;
    s.contract = r->contract;
    s.b = ir_builder_at_end(f->ir->body);
    check_values(r, f);
    if (!r->failed_function) bind_params(&s);
    if (!r->failed_function && cfg_build(&s.cfg, r, f)) {
        spirv_find_live(&s);
        spirv_structure(&s);
    }
    if (!r->failed_function) spirv_tidy(f->ir);
    r->function = NULL;
}
