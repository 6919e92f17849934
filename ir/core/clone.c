/* Deep copies of functions, within a module and into another one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/core/builder.h"
#include "ir/core/clone.h"
#include "ir/core/edit.h"
#include "ir/core/equal.h"
#include "ir/core/layout.h"
#include "ir/core/module.h"
#include "ir/core/module_aspects.h"
#include "ir/core/pipe_properties.h"
#include "ir/core/value.h"

/* What each object of the source module has become; NULL or IR_VOID: not needed so far. */
struct ir_copy {
    const struct ir_module *from;
    struct ir_module *into;
    struct ir_type_relation relation; /* by the maps below */
    ir_type *structs, *arrays;
    struct ir_global **globals; /* both by scratch, which is the number in the source's list */
    struct ir_function **functions;
    uint32_t *files;
    const struct ir_function **pending; /* copied so far without their bodies */
    uint32_t n_pending;
    const struct ir_global **holders; /* copied so far without the addresses in them */
    uint32_t n_holders;
    struct ir_value **values; /* of the body that is being copied, by scratch of the source's values */
    uint32_t n_values;
};

static void *map_new(size_t n, size_t size)
{
    void *p = arena_realloc(NULL, n * size);
    memset(p, 0, n * size);
    return p;
}

char *ir_copy_name(struct ir_module *m, const char *name, unsigned i)
{
    if (!i) return ir_strdup(m, name);
    size_t size = strlen(name) + 12;
    char *s = ir_alloc(m, size);
    snprintf(s, size, "%s.%u", name, i);
    return s;
}

/* ---- types ---- */

static bool same_layout(struct ir_copy *c, const struct ir_struct *s, const struct ir_struct *t, const char *name)
{
    struct ir_struct renamed = *s;
    renamed.name = name;
    return ir_struct_equal(&c->relation, &renamed, t);
}

static ir_type map_struct(struct ir_copy *c, uint32_t index)
{
    if (c->structs[index] != IR_VOID) return c->structs[index];
    const struct ir_struct *s = c->from->structs[index];
    for (uint32_t i = 0; i < s->n_fields; i++) ir_copy_type(c, s->fields[i].type);
    struct ir_struct *found;
    for (unsigned i = 0;; i++) {
        char *name = ir_copy_name(c->into, s->name, i);
        found = ir_module_find_struct(c->into, name);
        if (!found) {
            found = ir_struct_new(c->into, name, s->n_fields);
            for (uint32_t k = 0; k < s->n_fields; k++) {
                const struct ir_field *x = &s->fields[k];
                found->fields[k] = (struct ir_field){ir_strdup(c->into, x->name), ir_copy_type(c, x->type), x->offset};
            }
            found->size = s->size;
            found->align = s->align;
            found->aspects_used = ir_aspects_into(c->into, c->from, s->aspects_used);
            break;
        }
        if (same_layout(c, s, found, name)) break;
    }
    return c->structs[index] = ir_struct_type(c->into, found);
}

ir_type ir_copy_type(struct ir_copy *c, ir_type t)
{
    uint32_t index = ir_type_detail(t);
    if (c->from == c->into) return t;
    if (ir_type_kind(t) == IR_KIND_STRUCT) return map_struct(c, index);
    if (ir_type_kind(t) != IR_KIND_ARRAY) return t;
    if (c->arrays[index] == IR_VOID) {
        const struct ir_array *a = &c->from->arrays[index];
        c->arrays[index] = ir_array_type(c->into, ir_copy_type(c, a->element), a->count);
    }
    return c->arrays[index];
}

static bool same_by_map(const struct ir_type_relation *r, ir_type a, ir_type b)
{
    return ir_copy_type(r->data, a) == b;
}

/* ---- files, globals, functions ---- */

static struct ir_loc map_loc(struct ir_copy *c, struct ir_loc loc)
{
    if (!loc.file || loc.file > c->from->n_files || c->from == c->into) return loc;
    uint32_t *file = &c->files[loc.file - 1];
    if (!*file) *file = ir_module_file(c->into, c->from->files[loc.file - 1]);
    loc.file = *file;
    return loc;
}

struct ir_global *ir_copy_global(struct ir_copy *c, const struct ir_global *g, const char *name)
{
    struct ir_global *copy = ir_global_new(c->into, name, g->space, ir_copy_type(c, g->type));
    copy->align = g->align;
    copy->linkage = g->linkage;
    copy->packet = ir_copy_type(c, g->packet);
    copy->capacity = g->capacity;
    copy->host_access = ir_strdup(c->into, g->host_access);
    for (uint32_t i = 0; i < g->n_properties; i++)
        ir_pipe_add_property(c->into, copy, g->properties[i].what, g->properties[i].value);
    if (g->init) {
        size_t size = ir_type_size(c->from, g->type);
        copy->init = memcpy(ir_alloc(c->into, size), g->init, size);
    }
    if (g->n_addresses) c->holders[c->n_holders++] = c->from->globals[g->scratch];
    return c->globals[g->scratch] = copy;
}

/* Variables that kernels can write are shared by name only where both modules mean the same one. A
   local variable belongs to one work-group, so sharing would let two kernels' uses meet: each gets its own.
   One that holds addresses is equal to its namesake only if what they lead to is: it is copied too. */
static struct ir_global *map_global(struct ir_copy *c, struct ir_global *g)
{
    if (c->from == c->into || !g) return g;
    if (c->globals[g->scratch]) return c->globals[g->scratch];
    for (unsigned i = 0;; i++) {
        char *name = ir_copy_name(c->into, g->name, i);
        struct ir_global *found = ir_module_find_global(c->into, name);
        if (!found) return ir_copy_global(c, g, name);
        struct ir_global renamed = *g;
        renamed.name = name;
        if (g->space != IR_SPACE_LOCAL && !g->n_addresses && ir_global_equal(&c->relation, &renamed, found))
            return c->globals[g->scratch] = found;
    }
}

static void copy_addresses(struct ir_copy *c, const struct ir_global *g)
{
    struct ir_global *copy = c->globals[g->scratch];
    copy->addresses = ir_alloc(c->into, g->n_addresses * sizeof *copy->addresses);
    for (uint32_t i = 0; i < g->n_addresses; i++) {
        const struct ir_address *a = &g->addresses[i];
        copy->addresses[i] = (struct ir_address){a->offset, map_global(c, c->from->globals[a->target->scratch]), a->at};
    }
    copy->n_addresses = g->n_addresses;
}

static const char **copy_names(struct ir_module *into, const char *const *names, uint32_t n)
{
    const char **copy = ir_alloc(into, n * sizeof *copy);
    for (uint32_t i = 0; i < n; i++) copy[i] = ir_strdup(into, names[i]);
    return copy;
}

/* The function without its body, which is left for later: chains of calls may be long. */
struct ir_function *ir_copy_signature(struct ir_copy *c, const struct ir_function *f, const char *name)
{
    struct ir_module *into = c->into;
    struct ir_function *g = ir_function_new(into, name, f->linkage, ir_copy_type(c, f->result), f->n_params);
    for (uint32_t i = 0; i < f->n_params; i++) {
        const struct ir_param *p = &f->params[i];
        ir_function_set_param(g, i, p->value->name, ir_copy_type(c, p->value->type));
        g->params[i].access = p->access;
        g->params[i].elem = ir_copy_type(c, p->elem);
        g->params[i].by_value = p->by_value;
    }
    g->loc = map_loc(c, f->loc);
    g->aspects_declared = ir_aspects_into(into, c->from, f->aspects_declared);
    g->aspects_used = ir_aspects_into(into, c->from, f->aspects_used);
    g->has_declared = f->has_declared;
    memcpy(g->work_group_size, f->work_group_size, sizeof g->work_group_size);
    memcpy(g->work_group_size_hint, f->work_group_size_hint, sizeof g->work_group_size_hint);
    g->sub_group_size = f->sub_group_size;
    g->sub_groups_per_work_group = f->sub_groups_per_work_group;
    g->assumes = f->assumes;
    g->has_targets = f->has_targets;
    g->n_targets = f->n_targets;
    g->targets = copy_names(into, f->targets, f->n_targets);
    g->has_compiled = f->has_compiled;
    g->n_compiled = f->n_compiled;
    g->compiled = copy_names(into, f->compiled, f->n_compiled);
    c->functions[f->scratch] = g;
    if (f->refused) {
        ir_function_refuse(g, f->refused);
    } else if (f->body) {
        c->pending[c->n_pending++] = f;
    }
    return g;
}

static void look_for_names(struct ir_inst *inst, void *data)
{
    bool *found = data;
    if (inst->attrs.callee || inst->attrs.global) *found = true;
}

/* A function that names other objects is equal to its namesake elsewhere only if those are equal too;
   it is copied rather than compared. */
static bool names_others(const struct ir_function *f)
{
    bool found = false;
    if (f->body) ir_walk(f->body, look_for_names, &found);
    return found;
}

static struct ir_function *map_function(struct ir_copy *c, struct ir_function *f)
{
    if (c->from == c->into || !f) return f;
    if (c->functions[f->scratch]) return c->functions[f->scratch];
    for (unsigned i = 0;; i++) {
        char *name = ir_copy_name(c->into, f->name, i);
        struct ir_function *found = ir_module_find(c->into, name);
        if (!found) return ir_copy_signature(c, f, name);
        struct ir_function renamed = *f;
        renamed.name = name;
        if (!names_others(f) && ir_function_equal(&c->relation, &renamed, found))
            return c->functions[f->scratch] = found;
    }
}

/* ---- bodies ---- */

static struct ir_value *map_value(struct ir_copy *c, const struct ir_value *v)
{
    if (!v) return NULL;
    if (v->kind == IR_VALUE_CONST) return ir_const(c->into, v->type, v->of.lanes);
    if (v->kind == IR_VALUE_UNDEF) return ir_undef(c->into, v->type);
    return c->values[v->scratch];
}

static void number(struct ir_copy *c, struct ir_value *v)
{
    v->scratch = c->n_values++;
}

static void number_inst(struct ir_inst *inst, void *data)
{
    for (uint32_t i = 0; i < inst->n_results; i++) number(data, inst->results[i]);
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; inst->blocks[k] && i < inst->blocks[k]->n_args; i++)
            number(data, inst->blocks[k]->args[i]);
}

static void define(struct ir_copy *c, const struct ir_value *v, struct ir_value *copy)
{
    copy->name = ir_strdup(c->into, v->name);
    c->values[v->scratch] = copy;
}

static struct ir_value *value_like(struct ir_copy *c, const struct ir_value *v)
{
    struct ir_value *copy = ir_alloc(c->into, sizeof *copy);
    copy->type = ir_copy_type(c, v->type);
    copy->kind = v->kind;
    copy->index = v->index;
    define(c, v, copy);
    return copy;
}

static void copy_block(struct ir_copy *c, const struct ir_block *from, struct ir_block *into);

static struct ir_block *block_like(struct ir_copy *c, const struct ir_block *from, struct ir_block *outer,
                                   struct ir_inst *parent)
{
    struct ir_block *block = ir_alloc(c->into, sizeof *block);
    block->function = outer->function;
    block->parent = parent;
    block->n_args = from->n_args;
    block->args = ir_alloc(c->into, from->n_args * sizeof *block->args);
    for (uint32_t i = 0; i < from->n_args; i++) {
        block->args[i] = value_like(c, from->args[i]);
        block->args[i]->of.block = block;
    }
    copy_block(c, from, block);
    return block;
}

static void copy_inst(struct ir_copy *c, const struct ir_inst *from, struct ir_block *block)
{
    struct ir_inst *inst = ir_alloc(c->into, sizeof *inst);
    *inst = *from;
    inst->type = ir_copy_type(c, from->type);
    inst->loc = map_loc(c, from->loc);
    inst->attrs.callee = map_function(c, from->attrs.callee);
    inst->attrs.global = map_global(c, from->attrs.global);
    inst->operands = ir_alloc(c->into, from->n_operands * sizeof *inst->operands);
    for (uint32_t i = 0; i < from->n_operands; i++) inst->operands[i] = map_value(c, from->operands[i]);
    inst->results = ir_alloc(c->into, from->n_results * sizeof *inst->results);
    for (uint32_t i = 0; i < from->n_results; i++) {
        inst->results[i] = value_like(c, from->results[i]);
        inst->results[i]->of.inst = inst;
    }
    inst->parent = block;
    inst->next = NULL;
    inst->prev = block->last;
    *(inst->prev ? &inst->prev->next : &block->first) = inst;
    block->last = inst;
    for (int k = 0; k < 2; k++)
        if (from->blocks[k]) inst->blocks[k] = block_like(c, from->blocks[k], block, inst);
}

static void copy_block(struct ir_copy *c, const struct ir_block *from, struct ir_block *into)
{
    for (const struct ir_inst *inst = from->first; inst; inst = inst->next) copy_inst(c, inst, into);
}

static void copy_body(struct ir_copy *c, const struct ir_function *f, struct ir_function *g)
{
    c->n_values = 0;
    for (uint32_t i = 0; i < f->n_params; i++) number(c, f->params[i].value);
    ir_walk(f->body, number_inst, c);
    c->values = map_new(c->n_values, sizeof(struct ir_value *));
    for (uint32_t i = 0; i < f->n_params; i++) define(c, f->params[i].value, g->params[i].value);
    copy_block(c, f->body, g->body);
    free(c->values);
}

static char *free_function_name(struct ir_module *into, const char *name)
{
    for (unsigned i = 0;; i++) {
        char *s = ir_copy_name(into, name, i);
        if (!ir_module_find(into, s)) return s;
    }
}

/* ---- the whole ---- */

struct ir_copy *ir_copy_open(struct ir_module *into, const struct ir_module *from)
{
    struct ir_copy *c = map_new(1, sizeof *c);
    *c = (struct ir_copy){
        .from = from,
        .into = into,
        .structs = map_new(from->n_structs, sizeof(ir_type)),
        .arrays = map_new(from->n_arrays, sizeof(ir_type)),
        .globals = map_new(from->n_globals, sizeof(struct ir_global *)),
        .functions = map_new(from->n_functions, sizeof(struct ir_function *)),
        .files = map_new(from->n_files, sizeof(uint32_t)),
        .pending = map_new(from->n_functions, sizeof(struct ir_function *)),
        .holders = map_new(from->n_globals, sizeof(struct ir_global *)),
    };
    c->relation = (struct ir_type_relation){.same = same_by_map, .a = from, .b = into, .data = c};
    for (uint32_t i = 0; i < from->n_structs; i++) c->structs[i] = IR_VOID;
    for (uint32_t i = 0; i < from->n_arrays; i++) c->arrays[i] = IR_VOID;
    for (uint32_t i = 0; i < from->n_globals; i++) from->globals[i]->scratch = i;
    for (uint32_t i = 0; i < from->n_functions; i++) from->functions[i]->scratch = i;
    return c;
}

void ir_copy_close(struct ir_copy *c)
{
    if (!c) return;
    free(c->structs);
    free(c->arrays);
    free(c->globals);
    free(c->functions);
    free(c->files);
    free(c->pending);
    free(c->holders);
    free(c);
}

void ir_copy_bodies(struct ir_copy *c)
{
    for (uint32_t i = 0; i < c->n_pending; i++) copy_body(c, c->pending[i], c->functions[c->pending[i]->scratch]);
    c->n_pending = 0;
    for (uint32_t i = 0; i < c->n_holders; i++) copy_addresses(c, c->holders[i]);
    c->n_holders = 0;
}

void ir_copy_set_function(struct ir_copy *c, const struct ir_function *f, struct ir_function *to)
{
    c->functions[f->scratch] = to;
}

void ir_copy_set_global(struct ir_copy *c, const struct ir_global *g, struct ir_global *to)
{
    c->globals[g->scratch] = to;
}

struct ir_function *ir_function_copy(struct ir_module *into, const struct ir_function *f, const char *name)
{
    struct ir_copy *c = ir_copy_open(into, f->module);
    struct ir_function *copy = ir_copy_signature(c, f, free_function_name(into, name ? name : f->name));
    ir_copy_bodies(c);
    ir_copy_close(c);
    return copy;
}
