/* The linker's part for declarations: they must agree with what they stand for. */
#include "ir/link/match.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/strbuf.h"
#include "ir/core/pipe_properties.h"
#include "ir/link/report.h"
#include "ir/text/print/print_type.h"
#include "ir/text/words.h"

/* ---- types ---- */

/* How many comparisons of types there may be: structs that name each other often could ask for any number. */
enum { MAX_STEPS = 10000000 };

/* The same bytes in the same places; names do not matter. Both are types of the result. */
static bool same_layout(struct linker *l, ir_type a, ir_type b)
{
    const struct ir_module *m = l->into;
    if (a == b) return true;
    if (++l->type_steps > MAX_STEPS) return false;
    const struct ir_array *x = ir_type_array(m, a), *y = ir_type_array(m, b);
    if (x && y) return x->count == y->count && same_layout(l, x->element, y->element);
    const struct ir_struct *s = ir_type_struct(m, a), *t = ir_type_struct(m, b);
    if (!s || !t || s->n_fields != t->n_fields || s->size != t->size || s->align != t->align) return false;
    for (uint32_t i = 0; i < s->n_fields; i++)
        if (s->fields[i].offset != t->fields[i].offset || !same_layout(l, s->fields[i].type, t->fields[i].type))
            return false;
    return true;
}

/* A type of one module and one of another. */
static bool same_type(struct linker *l, uint32_t module, ir_type a, const struct link_symbol *s, ir_type b)
{
    return same_layout(l, ir_copy_type(l->copies[module], a), ir_copy_type(l->copies[s->module], b));
}

/* ---- functions ---- */

static bool says_nothing(ir_type elem)
{
    return elem == IR_VOID || elem == IR_I8; /* compilers without types of pointers write bytes for them all */
}

static bool same_param(struct linker *l, uint32_t module, const struct ir_param *p, const struct link_symbol *s,
                       const struct ir_param *q)
{
    if (p->value->type != q->value->type || p->by_value != q->by_value) return false;
    if (p->access != q->access && p->access != IR_ACCESS_UNKNOWN && q->access != IR_ACCESS_UNKNOWN) return false;
    if (!p->by_value && (says_nothing(p->elem) || says_nothing(q->elem))) return true;
    return same_type(l, module, p->elem, s, q->elem);
}

static void print_param(struct strbuf *out, const struct ir_module *m, const struct ir_param *p)
{
    char text[256];
    strbuf_add(out, ir_print_type(m, p->value->type, text, sizeof text));
    if (p->elem != IR_VOID) strbuf_printf(out, " %s", ir_print_type(m, p->elem, text, sizeof text));
    if (p->by_value) strbuf_add(out, " by_value");
    if (p->access != IR_ACCESS_UNKNOWN) strbuf_printf(out, " %s", ir_access_words[p->access]);
}

/* "(i32, ptr.global f32 read) -> f32", to be freed by the caller. */
static char *signature(const struct ir_function *f)
{
    struct strbuf out = {0};
    char text[256];
    strbuf_add(&out, "(");
    for (uint32_t i = 0; i < f->n_params; i++) {
        if (i) strbuf_add(&out, ", ");
        print_param(&out, f->module, &f->params[i]);
    }
    strbuf_add(&out, ")");
    if (f->result != IR_VOID) strbuf_printf(&out, " -> %s", ir_print_type(f->module, f->result, text, sizeof text));
    return strbuf_take(&out);
}

void link_match_function(struct linker *l, uint32_t module, const struct ir_function *f, const struct link_symbol *s)
{
    bool same = f->result == s->f->result && f->n_params == s->f->n_params;
    for (uint32_t i = 0; same && i < f->n_params; i++) same = same_param(l, module, &f->params[i], s, &s->f->params[i]);
    if (same) return;
    char *declared = signature(f), *defined = signature(s->f);
    link_fail(l, f, f->loc, "%s has it as %s, but %s, which exports it, as %s", link_place(l, module, f->loc), declared,
              link_place(l, s->module, s->f->loc), defined);
    free(declared);
    free(defined);
}

/* ---- variables ---- */

static char *variable_text(const struct ir_module *m, const struct ir_global *g)
{
    struct strbuf out = {0};
    char text[256];
    bool pipe = ir_type_kind(g->type) == IR_KIND_PIPE;
    if (!pipe) strbuf_printf(&out, "%s ", ir_space_words[g->space]);
    strbuf_add(&out, ir_print_type(m, g->type, text, sizeof text));
    if (!pipe) return strbuf_take(&out);
    strbuf_printf(&out, " packet %s capacity %u", ir_print_type(m, g->packet, text, sizeof text), g->capacity);
    if (g->host_access) strbuf_printf(&out, " host_access \"%s\"", g->host_access);
    for (uint32_t i = 0; i < g->n_properties; i++) {
        strbuf_add(&out, " ");
        ir_pipe_print_property(&out, &g->properties[i]);
    }
    return strbuf_take(&out);
}

void link_match_variable(struct linker *l, uint32_t module, const struct ir_global *g, const struct link_symbol *s)
{
    const struct ir_global *h = s->g;
    bool same = g->space == h->space && g->capacity == h->capacity && same_type(l, module, g->type, s, h->type) &&
                same_type(l, module, g->packet, s, h->packet);
    if (g->host_access && (!h->host_access || strcmp(g->host_access, h->host_access) != 0)) same = false;
    for (uint32_t i = 0; i < g->n_properties; i++)
        same &= g->properties[i].value == ir_pipe_property(h, g->properties[i].what);
    if (same) return;
    char *declared = variable_text(l->modules[module], g), *defined = variable_text(l->modules[s->module], h);
    link_fail(l, NULL, (struct ir_loc){0}, "variable %s: %s has it as %s, but %s, which exports it, as %s", g->name,
              link_place(l, module, (struct ir_loc){0}), declared, link_place(l, s->module, (struct ir_loc){0}),
              defined);
    free(declared);
    free(defined);
}
