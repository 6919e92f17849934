/* The aspects of types, of functions and of everything that they reach. */
#include "ir/features/usage.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"

enum { UNKNOWN, OWN_KNOWN, BEING_FOUND, ALL_KNOWN };

/* A function that others call, as far as it was looked at. */
struct usage {
    uint64_t own, all;
    uint8_t state;
    const struct ir_inst **calls; /* of its body, in order */
    uint32_t n_calls;
};

struct ir_usage {
    const struct ir_module *m;
    struct arena *arena;
    struct usage *functions;
    uint64_t *structs, *arrays;
    bool *struct_known, *array_known;
};

static void *zeroed(struct arena *a, size_t n, size_t size)
{
    return memset(arena_alloc(a, n * size + 1), 0, n * size);
}

struct ir_usage *ir_usage_new(const struct ir_module *m)
{
    struct arena *a = arena_new();
    struct ir_usage *u = arena_alloc(a, sizeof *u);
    *u = (struct ir_usage){.m = m, .arena = a};
    u->functions = zeroed(a, m->n_functions, sizeof *u->functions);
    u->structs = zeroed(a, m->n_structs, sizeof *u->structs);
    u->arrays = zeroed(a, m->n_arrays, sizeof *u->arrays);
    u->struct_known = zeroed(a, m->n_structs, sizeof *u->struct_known);
    u->array_known = zeroed(a, m->n_arrays, sizeof *u->array_known);
    for (uint32_t i = 0; i < m->n_functions; i++) m->functions[i]->scratch = i;
    return u;
}

void ir_usage_free(struct ir_usage *u)
{
    if (u) arena_free(u->arena);
}

const struct ir_module *ir_usage_module(const struct ir_usage *u)
{
    return u->m;
}

/* The number of a function: in its scratch, unless a pass has used that since. */
static struct usage *usage_of(struct ir_usage *u, const struct ir_function *f)
{
    uint32_t i = f->scratch;
    if (i >= u->m->n_functions || u->m->functions[i] != f)
        for (i = 0; u->m->functions[i] != f; i++) {
        }
    return &u->functions[i];
}

/* ---- types ---- */

static uint64_t struct_aspects(struct ir_usage *u, uint32_t i)
{
    const struct ir_struct *s = u->m->structs[i];
    if (u->struct_known[i]) return u->structs[i];
    u->struct_known[i] = true;
    u->structs[i] = s->aspects_used;
    for (uint32_t k = 0; k < s->n_fields; k++) u->structs[i] |= ir_usage_of_type(u, s->fields[k].type);
    return u->structs[i];
}

static uint64_t array_aspects(struct ir_usage *u, uint32_t i)
{
    if (!u->array_known[i]) u->arrays[i] = ir_usage_of_type(u, u->m->arrays[i].element);
    u->array_known[i] = true;
    return u->arrays[i];
}

uint64_t ir_usage_of_type(struct ir_usage *u, ir_type t)
{
    switch (ir_type_kind(t)) {
    case IR_KIND_F16: return IR_ASPECT_FP16;
    case IR_KIND_F64: return IR_ASPECT_FP64;
    case IR_KIND_IMAGE: return IR_ASPECT_IMAGE;
    case IR_KIND_PIPE: return IR_ASPECT_PIPES;
    case IR_KIND_PTR: return ir_type_space(t) == IR_SPACE_GENERIC ? IR_ASPECT_GENERIC_SPACE : 0;
    case IR_KIND_STRUCT: return struct_aspects(u, ir_type_detail(t));
    case IR_KIND_ARRAY: return array_aspects(u, ir_type_detail(t));
    default: return 0;
    }
}

/* ---- one function ---- */

static uint64_t inst_aspects(struct ir_usage *u, const struct ir_inst *inst)
{
    const struct ir_op_info *info = ir_op_info(inst->op);
    uint64_t set = info->aspects | ir_usage_of_type(u, inst->type);
    for (uint32_t i = 0; i < inst->n_operands; i++)
        if (inst->operands[i]) set |= ir_usage_of_type(u, inst->operands[i]->type);
    for (uint32_t i = 0; i < inst->n_results; i++) set |= ir_usage_of_type(u, inst->results[i]->type);
    if (inst->attrs.global)
        set |= ir_usage_of_type(u, inst->attrs.global->type) | ir_usage_of_type(u, inst->attrs.global->packet);
    if (info->op_class == IR_CLASS_ATOMIC) {
        if (ir_type_bits(inst->type) == 64) set |= IR_ASPECT_ATOMIC64;
        if (info->type_class == 'f') set |= IR_ASPECT_FLOAT_ATOMICS;
    } else if (strchr(info->attrs, 's') && inst->attrs.scope == IR_SCOPE_SUB_GROUP && inst->op != IR_OP_FENCE) {
        set |= IR_ASPECT_SUB_GROUPS;
    }
    return set;
}

/* What stands outside of its body. */
static uint64_t head_aspects(struct ir_usage *u, const struct ir_function *f)
{
    uint64_t set = f->aspects_used | ir_usage_of_type(u, f->result);
    for (uint32_t i = 0; i < f->n_params; i++)
        if (f->params[i].value)
            set |= ir_usage_of_type(u, f->params[i].value->type) | ir_usage_of_type(u, f->params[i].elem);
    return set;
}

struct look {
    struct ir_usage *u;
    struct usage *f;
};

static void look_at(struct ir_inst *inst, void *data)
{
    struct look *l = data;
    struct usage *f = l->f;
    f->own |= inst_aspects(l->u, inst);
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; inst->blocks[k] && i < inst->blocks[k]->n_args; i++)
            f->own |= ir_usage_of_type(l->u, inst->blocks[k]->args[i]->type);
    if (inst->op != IR_OP_CALL || !inst->attrs.callee) return;
    f->calls = arena_grow(l->u->arena, f->calls, f->n_calls, sizeof(*f->calls));
    f->calls[f->n_calls++] = inst;
}

static struct usage *look_into(struct ir_usage *u, const struct ir_function *f)
{
    struct usage *x = usage_of(u, f);
    if (x->state != UNKNOWN) return x;
    x->state = OWN_KNOWN;
    x->own = head_aspects(u, f);
    if (f->body && !f->refused) ir_walk(f->body, look_at, &(struct look){u, x});
    return x;
}

uint64_t ir_usage_own(struct ir_usage *u, const struct ir_function *f)
{
    return look_into(u, f)->own;
}

/* ---- calls ---- */

static uint64_t declared(const struct ir_function *f)
{
    return f->has_declared ? f->aspects_declared : 0;
}

uint64_t ir_usage_all(struct ir_usage *u, const struct ir_function *f)
{
    struct usage *x = look_into(u, f);
    if (x->state == ALL_KNOWN || x->state == BEING_FOUND) return x->all;
    x->state = BEING_FOUND;
    x->all = x->own;
    for (uint32_t i = 0; i < x->n_calls; i++) {
        const struct ir_function *callee = x->calls[i]->attrs.callee;
        x->all |= ir_usage_all(u, callee) | declared(callee);
    }
    x->state = ALL_KNOWN;
    return x->all;
}

/* ---- how it comes to that ---- */

/* A function on the way, and the call that led to it. */
struct step {
    const struct ir_function *f;
    const struct ir_inst *call;
    uint32_t from;
};

static struct ir_loc first_use(struct ir_usage *u, struct ir_block *block, uint64_t aspect)
{
    for (struct ir_inst *inst = block->first; inst; inst = inst->next) {
        if (inst_aspects(u, inst) & aspect && inst->loc.line) return inst->loc;
        for (int k = 0; k < 2; k++) {
            struct ir_loc loc = inst->blocks[k] ? first_use(u, inst->blocks[k], aspect) : (struct ir_loc){0};
            if (loc.line) return loc;
        }
    }
    return (struct ir_loc){0};
}

static void describe(struct ir_usage *u, const struct step *steps, uint32_t last, uint64_t aspect,
                     struct ir_usage_chain *chain)
{
    const struct ir_function *f = steps[last].f;
    chain->n_calls = 0;
    for (uint32_t i = last; i; i = steps[i].from) chain->n_calls++;
    uint32_t at = chain->n_calls;
    for (uint32_t i = last; i; i = steps[i].from) chain->calls[--at] = steps[i].call;
    chain->loc = (struct ir_loc){0};
    if (f->body && !f->refused && !(head_aspects(u, f) & aspect)) chain->loc = first_use(u, f->body, aspect);
    if (!chain->loc.line) chain->loc = f->loc;
}

/* Breadth first, so that the first one that is found is the shortest. */
void ir_usage_find(struct ir_usage *u, const struct ir_function *f, unsigned bit, struct ir_usage_chain *chain)
{
    uint64_t aspect = (uint64_t)1 << bit;
    struct arena *a = arena_new();
    struct step *steps = arena_alloc(a, (u->m->n_functions + 1) * sizeof *steps);
    bool *seen = zeroed(a, u->m->n_functions, sizeof *seen);
    uint32_t n = 1, at = 0;
    steps[0] = (struct step){f, NULL, 0};
    seen[usage_of(u, f) - u->functions] = true;
    for (; at < n; at++) {
        const struct usage *x = look_into(u, steps[at].f);
        if (x->own & aspect || (at && declared(steps[at].f) & aspect)) break;
        for (uint32_t i = 0; i < x->n_calls; i++) {
            const struct ir_function *callee = x->calls[i]->attrs.callee;
            bool *was_seen = &seen[usage_of(u, callee) - u->functions];
            if (!*was_seen) steps[n++] = (struct step){callee, x->calls[i], at};
            *was_seen = true;
        }
    }
    describe(u, steps, at < n ? at : 0, aspect, chain);
    arena_free(a);
}

uint64_t ir_function_aspects(const struct ir_function *f)
{
    struct ir_usage *u = ir_usage_new(f->module);
    uint64_t set = ir_usage_all(u, f);
    ir_usage_free(u);
    return set;
}

void ir_usage_keep(struct ir_function *f)
{
    f->aspects_used |= ir_function_aspects(f);
}
