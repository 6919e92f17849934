/* Structural equality of modules and functions. */
#include "ir/core/equal.h"

#include <string.h>

#include "ir/core/layout.h"
#include "ir/core/module_aspects.h"
#include "ir/core/pipe_properties.h"
#include "ir/core/value.h"

static bool same_string(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_type(const struct ir_type_relation *r, ir_type a, ir_type b)
{
    return r->same(r, a, b);
}

/* Structs by name: names are unique, and what they stand for is compared by whoever walks the module. */
static bool same_type_by_name(const struct ir_type_relation *r, ir_type a, ir_type b)
{
    for (uint32_t steps = 0; steps <= r->a->n_arrays; steps++) {
        const struct ir_array *x = ir_type_array(r->a, a), *y = ir_type_array(r->b, b);
        if (!x || !y) break;
        if (x->count != y->count) return false;
        a = x->element;
        b = y->element;
    }
    const struct ir_struct *s = ir_type_struct(r->a, a), *t = ir_type_struct(r->b, b);
    if (s && t) return same_string(s->name, t->name);
    return a == b && ir_type_kind(a) != IR_KIND_ARRAY;
}

static const char *file_of(const struct ir_module *m, struct ir_loc loc)
{
    return loc.file && loc.file <= m->n_files ? m->files[loc.file - 1] : NULL;
}

static bool same_loc(const struct ir_type_relation *r, struct ir_loc a, struct ir_loc b)
{
    return a.line == b.line && a.column == b.column && same_string(file_of(r->a, a), file_of(r->b, b));
}

bool ir_struct_equal(const struct ir_type_relation *r, const struct ir_struct *s, const struct ir_struct *t)
{
    if (!same_string(s->name, t->name) || s->n_fields != t->n_fields || s->size != t->size || s->align != t->align ||
        !ir_aspects_equal(r->a, s->aspects_used, r->b, t->aspects_used))
        return false;
    for (uint32_t i = 0; i < s->n_fields; i++) {
        const struct ir_field *x = &s->fields[i], *y = &t->fields[i];
        if (!same_string(x->name, y->name) || x->offset != y->offset || !same_type(r, x->type, y->type)) return false;
    }
    return true;
}

static bool same_addresses(const struct ir_global *g, const struct ir_global *h)
{
    if (g->n_addresses != h->n_addresses) return false;
    for (uint32_t i = 0; i < g->n_addresses; i++) {
        const struct ir_address *x = &g->addresses[i], *y = &h->addresses[i];
        if (x->offset != y->offset || x->at != y->at || !same_string(x->target->name, y->target->name)) return false;
    }
    return true;
}

bool ir_global_equal(const struct ir_type_relation *r, const struct ir_global *g, const struct ir_global *h)
{
    if (!same_string(g->name, h->name) || g->space != h->space || g->align != h->align || g->linkage != h->linkage ||
        !same_type(r, g->type, h->type))
        return false;
    if (!g->init != !h->init || (g->init && memcmp(g->init, h->init, ir_type_size(r->a, g->type)) != 0)) return false;
    if (!same_addresses(g, h)) return false;
    if (ir_type_kind(g->type) != IR_KIND_PIPE) return true;
    return same_type(r, g->packet, h->packet) && g->capacity == h->capacity &&
           same_string(g->host_access, h->host_access) && ir_pipe_same_properties(g, h);
}

/* ---- bodies: the definitions of both sides are numbered alike, in order ---- */

struct numbering {
    const struct ir_type_relation *relation;
    uint32_t next;
};

static bool define(struct numbering *n, struct ir_value *a, struct ir_value *b)
{
    a->scratch = b->scratch = n->next++;
    return same_string(a->name, b->name) && same_type(n->relation, a->type, b->type);
}

static bool same_operand(const struct ir_type_relation *r, const struct ir_value *a, const struct ir_value *b)
{
    if (!a || !b) return a == b;
    if (a->kind != b->kind || !same_type(r, a->type, b->type)) return false;
    if (a->kind == IR_VALUE_UNDEF) return true;
    if (a->kind != IR_VALUE_CONST) return a->scratch == b->scratch;
    return memcmp(a->of.lanes, b->of.lanes, ir_type_lanes(a->type) * sizeof *a->of.lanes) == 0;
}

static bool same_attr(char letter, const struct ir_inst *i, const struct ir_inst *j)
{
    const struct ir_attrs *a = &i->attrs, *b = &j->attrs;
    switch (letter) {
    case 'd': return a->dim == b->dim;
    case 's': return a->scope == b->scope;
    case 'o': return a->order == b->order;
    case 'O': return a->order_fail == b->order_fail;
    case 'r': return a->rounding == b->rounding;
    case 't': return a->saturate == b->saturate;
    case 'a': return a->align == b->align;
    case 'v': return a->is_volatile == b->is_volatile;
    case 'g': return a->group_op == b->group_op;
    case 'x': return a->index == b->index;
    case 'm': return memcmp(a->mask, b->mask, ir_type_lanes(i->type)) == 0;
    case 'f': return a->fp == b->fp;
    case 'k': return a->fence == b->fence;
    case 'p': return a->space == b->space;
    case 'c': return a->callee && b->callee && same_string(a->callee->name, b->callee->name);
    case 'y': return a->global && b->global && same_string(a->global->name, b->global->name);
    default: return true;
    }
}

static bool same_block(struct numbering *n, const struct ir_block *a, const struct ir_block *b);

static bool same_inst(struct numbering *n, const struct ir_inst *i, const struct ir_inst *j)
{
    if (i->op != j->op || i->n_operands != j->n_operands || i->n_results != j->n_results) return false;
    if (!same_type(n->relation, i->type, j->type) || !same_loc(n->relation, i->loc, j->loc)) return false;
    for (uint32_t k = 0; k < i->n_operands; k++)
        if (!same_operand(n->relation, i->operands[k], j->operands[k])) return false;
    for (const char *letter = ir_op_info(i->op)->attrs; *letter; letter++)
        if (!same_attr(*letter, i, j)) return false;
    for (int k = 0; k < 2; k++)
        if (!same_block(n, i->blocks[k], j->blocks[k])) return false;
    for (uint32_t k = 0; k < i->n_results; k++)
        if (!define(n, i->results[k], j->results[k])) return false;
    return true;
}

static bool same_block(struct numbering *n, const struct ir_block *a, const struct ir_block *b)
{
    if (!a || !b) return a == b;
    if (a->n_args != b->n_args) return false;
    for (uint32_t k = 0; k < a->n_args; k++)
        if (!define(n, a->args[k], b->args[k])) return false;
    const struct ir_inst *i = a->first, *j = b->first;
    for (; i && j; i = i->next, j = j->next)
        if (!same_inst(n, i, j)) return false;
    return i == j; /* both at the end */
}

static bool same_names(const char *const *a, uint32_t n, const char *const *b, uint32_t m)
{
    if (n != m) return false;
    for (uint32_t i = 0; i < n; i++)
        if (!same_string(a[i], b[i])) return false;
    return true;
}

static bool same_attributes(const struct ir_function *f, const struct ir_function *g)
{
    if (f->has_declared != g->has_declared ||
        (f->has_declared && !ir_aspects_equal(f->module, f->aspects_declared, g->module, g->aspects_declared)) ||
        !ir_aspects_equal(f->module, f->aspects_used, g->module, g->aspects_used))
        return false;
    if (memcmp(f->work_group_size, g->work_group_size, sizeof f->work_group_size) != 0 ||
        memcmp(f->work_group_size_hint, g->work_group_size_hint, sizeof f->work_group_size_hint) != 0)
        return false;
    if (!same_string(f->refused, g->refused)) return false;
    if (f->sub_groups_per_work_group != g->sub_groups_per_work_group || f->assumes != g->assumes) return false;
    return f->sub_group_size == g->sub_group_size && f->has_targets == g->has_targets &&
           f->has_compiled == g->has_compiled && same_names(f->targets, f->n_targets, g->targets, g->n_targets) &&
           same_names(f->compiled, f->n_compiled, g->compiled, g->n_compiled);
}

bool ir_function_equal(const struct ir_type_relation *r, const struct ir_function *f, const struct ir_function *g)
{
    if (!same_string(f->name, g->name) || f->linkage != g->linkage || f->n_params != g->n_params) return false;
    if (!same_type(r, f->result, g->result) || !same_loc(r, f->loc, g->loc) || !same_attributes(f, g)) return false;
    struct numbering n = {.relation = r};
    for (uint32_t i = 0; i < f->n_params; i++) {
        const struct ir_param *p = &f->params[i], *q = &g->params[i];
        if (p->access != q->access || p->by_value != q->by_value || !same_type(r, p->elem, q->elem)) return false;
        if (!define(&n, p->value, q->value)) return false;
    }
    return same_block(&n, f->body, g->body);
}

bool ir_module_equal(const struct ir_module *a, const struct ir_module *b)
{
    const struct ir_type_relation r = {.same = same_type_by_name, .a = a, .b = b};
    if (!same_string(a->name, b->name) || a->n_structs != b->n_structs || a->n_globals != b->n_globals ||
        a->n_functions != b->n_functions || a->n_aspect_numbers != b->n_aspect_numbers)
        return false;
    for (uint32_t i = 0; i < a->n_aspect_numbers; i++)
        if (a->aspect_numbers[i].number != b->aspect_numbers[i].number ||
            !same_string(a->aspect_numbers[i].name, b->aspect_numbers[i].name))
            return false;
    for (uint32_t i = 0; i < a->n_structs; i++)
        if (!ir_struct_equal(&r, a->structs[i], b->structs[i])) return false;
    for (uint32_t i = 0; i < a->n_globals; i++)
        if (!ir_global_equal(&r, a->globals[i], b->globals[i])) return false;
    for (uint32_t i = 0; i < a->n_functions; i++)
        if (!ir_function_equal(&r, a->functions[i], b->functions[i])) return false;
    return true;
}
