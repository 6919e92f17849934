/* The linker's part for names: who defines what, and what imports stand for. */
#include "ir/link/symbols.h"

#include <string.h>

#include "ir/base/arena.h"
#include "ir/link/match.h"
#include "ir/link/report.h"

static const char *name_of(const struct link_symbol *s)
{
    return s->f ? s->f->name : s->g->name;
}

static enum ir_linkage linkage_of(const struct link_symbol *s)
{
    return s->f ? s->f->linkage : s->g->linkage;
}

static struct ir_loc loc_of(const struct link_symbol *s)
{
    return s->f ? s->f->loc : (struct ir_loc){0};
}

static const char *kind_of(const struct link_symbol *s)
{
    return linkage_of(s) == IR_LINKAGE_KERNEL ? "a kernel of" : "exported by";
}

static void report_twice(struct linker *l, const struct link_symbol *a, const struct link_symbol *b)
{
    link_fail(l, b->f, loc_of(b), "%s%s%sis %s %s and %s %s", b->g ? "variable " : "", b->g ? b->g->name : "",
              b->g ? " " : "", kind_of(a), link_place(l, a->module, loc_of(a)), kind_of(b),
              link_place(l, b->module, loc_of(b)));
}

/* A definition that is the same in each module gives way to any other. */
static void offer_symbol(struct linker *l, struct names *map, struct link_symbol s)
{
    enum ir_linkage linkage = linkage_of(&s);
    if (linkage != IR_LINKAGE_KERNEL && linkage != IR_LINKAGE_EXPORT && linkage != IR_LINKAGE_EXPORT_ONCE) return;
    void **slot = names_put(map, name_of(&s), strlen(name_of(&s)));
    struct link_symbol *have = *slot;
    if (!have) {
        *slot = have = arena_alloc(l->arena, sizeof *have);
        *have = s;
    } else if (linkage_of(have) == IR_LINKAGE_EXPORT_ONCE && linkage != IR_LINKAGE_KERNEL) {
        if (linkage == IR_LINKAGE_EXPORT) *have = s;
    } else if (linkage_of(have) != IR_LINKAGE_EXPORT || linkage != IR_LINKAGE_EXPORT_ONCE) {
        report_twice(l, have, &s);
    }
}

void link_symbols(struct linker *l)
{
    for (uint32_t i = 0; i < l->n_modules; i++) {
        const struct ir_module *m = l->modules[i];
        for (uint32_t k = 0; k < m->n_functions; k++)
            offer_symbol(l, &l->functions, (struct link_symbol){.module = i, .f = m->functions[k]});
        for (uint32_t k = 0; k < m->n_globals; k++)
            offer_symbol(l, &l->variables, (struct link_symbol){.module = i, .g = m->globals[k]});
    }
}

struct link_symbol *link_function_stands_for(const struct linker *l, const struct ir_function *f)
{
    if (f->linkage != IR_LINKAGE_IMPORT && f->linkage != IR_LINKAGE_EXPORT_ONCE) return NULL;
    struct link_symbol *s = names_get(&l->functions, f->name, strlen(f->name));
    return s && s->f != f && s->f->linkage != IR_LINKAGE_KERNEL ? s : NULL;
}

struct link_symbol *link_variable_stands_for(const struct linker *l, const struct ir_global *g)
{
    if (g->linkage != IR_LINKAGE_IMPORT && g->linkage != IR_LINKAGE_EXPORT_ONCE) return NULL;
    struct link_symbol *s = names_get(&l->variables, g->name, strlen(g->name));
    return s && s->g != g ? s : NULL;
}

/* ---- imports ---- */

/* What could have been meant by an import that nobody exports. */
static const char *misspelt_hint(struct linker *l, const char *name)
{
    for (uint32_t i = 0; i < l->n_modules && !(l->list && l->list->dropped); i++) {
        const struct ir_function *f = ir_module_find(l->modules[i], name);
        const struct ir_global *g = f ? NULL : ir_module_find_global(l->modules[i], name);
        if (f && f->linkage == IR_LINKAGE_KERNEL) return ": a kernel of that name cannot be called";
        if ((f && f->linkage == IR_LINKAGE_INTERNAL) || (g && g->linkage == IR_LINKAGE_INTERNAL))
            return ": the one of that name is its module's own";
    }
    return "";
}

static void check_function(struct linker *l, uint32_t module, const struct ir_function *f)
{
    const struct link_symbol *s = link_function_stands_for(l, f);
    const struct ir_inst *call = l->nodes[l->first_node[module] + f->scratch].call;
    if (s) {
        link_match_function(l, module, f, s);
    } else if (f->linkage == IR_LINKAGE_IMPORT && call) {
        link_fail(l, f, call->loc, "is imported by %s and called in %s (%s), but no module exports it%s",
                  link_place(l, module, f->loc), call->parent->function->name, link_line(l, module, call->loc),
                  misspelt_hint(l, f->name));
    }
}

static void check_variable(struct linker *l, uint32_t module, const struct ir_global *g)
{
    const struct link_symbol *s = link_variable_stands_for(l, g);
    const struct ir_inst *use = l->variable_use[module][g->scratch];
    const struct ir_global *holder = l->variable_holder[module][g->scratch];
    if (s) {
        link_match_variable(l, module, g, s);
    } else if (g->linkage == IR_LINKAGE_IMPORT && use) {
        link_fail(l, use->parent->function, use->loc,
                  "variable %s is imported by %s and used here (%s), but no module exports it%s", g->name,
                  link_place(l, module, (struct ir_loc){0}), link_line(l, module, use->loc), misspelt_hint(l, g->name));
    } else if (g->linkage == IR_LINKAGE_IMPORT && holder) {
        link_fail(l, NULL, (struct ir_loc){0},
                  "variable %s is imported by %s and %s holds its address, but no module exports it%s", g->name,
                  link_place(l, module, (struct ir_loc){0}), holder->name, misspelt_hint(l, g->name));
    }
}

void link_check_imports(struct linker *l)
{
    for (uint32_t i = 0; i < l->n_modules; i++) {
        const struct ir_module *m = l->modules[i];
        for (uint32_t k = 0; k < m->n_functions; k++) check_function(l, i, m->functions[k]);
        for (uint32_t k = 0; k < m->n_globals; k++) check_variable(l, i, m->globals[k]);
    }
}
