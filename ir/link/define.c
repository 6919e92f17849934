/* The linker's part for the result: each definition once, under a name of its own. */
#include "ir/link/define.h"

#include <stdio.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/link/symbols.h"

/* name, or name.1, name.2 ... where it is taken already. The map holds the number to try next. */
static const char *free_name(struct linker *l, struct names *taken, const char *name)
{
    uintptr_t *next = (uintptr_t *)names_put(taken, name, strlen(name));
    if (!*next) {
        *next = 1;
        return name;
    }
    for (;;) {
        const char *other = ir_copy_name(l->into, name, (unsigned)(*next)++);
        void **slot = names_put(taken, other, strlen(other));
        if (*slot) continue;
        *(uintptr_t *)slot = 1;
        return other;
    }
}

static bool is_seen(enum ir_linkage linkage)
{
    return linkage == IR_LINKAGE_KERNEL || linkage == IR_LINKAGE_EXPORT || linkage == IR_LINKAGE_EXPORT_ONCE;
}

/* Names that other modules know are kept: they are taken first. */
static void take_seen_names(struct linker *l, struct names *functions, struct names *variables)
{
    for (uint32_t i = 0; i < l->n_modules; i++) {
        const struct ir_module *m = l->modules[i];
        for (uint32_t k = 0; k < m->n_functions; k++)
            if (is_seen(m->functions[k]->linkage)) free_name(l, functions, m->functions[k]->name);
        for (uint32_t k = 0; k < m->n_globals; k++)
            if (is_seen(m->globals[k]->linkage)) free_name(l, variables, m->globals[k]->name);
    }
}

static void define_function(struct linker *l, uint32_t module, const struct ir_function *f, struct names *taken)
{
    if (f->linkage == IR_LINKAGE_IMPORT || link_function_stands_for(l, f)) return;
    const char *name = is_seen(f->linkage) ? f->name : free_name(l, taken, f->name);
    struct ir_function *copy = ir_copy_signature(l->copies[module], f, name);
    if (is_seen(f->linkage)) {
        struct link_symbol *s = names_get(&l->functions, f->name, strlen(f->name));
        s->new_f = copy;
    }
}

static void define_variable(struct linker *l, uint32_t module, const struct ir_global *g, struct names *taken)
{
    if (g->linkage == IR_LINKAGE_IMPORT || link_variable_stands_for(l, g)) return;
    const char *name = is_seen(g->linkage) ? g->name : free_name(l, taken, g->name);
    struct ir_global *copy = ir_copy_global(l->copies[module], g, name);
    if (is_seen(g->linkage)) {
        struct link_symbol *s = names_get(&l->variables, g->name, strlen(g->name));
        s->new_g = copy;
    }
}

static void resolve_imports(struct linker *l, uint32_t module)
{
    const struct ir_module *m = l->modules[module];
    for (uint32_t k = 0; k < m->n_functions; k++) {
        struct link_symbol *s = link_function_stands_for(l, m->functions[k]);
        if (s) ir_copy_set_function(l->copies[module], m->functions[k], s->new_f);
    }
    for (uint32_t k = 0; k < m->n_globals; k++) {
        struct link_symbol *s = link_variable_stands_for(l, m->globals[k]);
        if (!s) continue;
        ir_copy_set_global(l->copies[module], m->globals[k], s->new_g);
        /* Who declares more alignment may use it. */
        if (m->globals[k]->align > s->new_g->align) s->new_g->align = m->globals[k]->align;
    }
}

void link_define(struct linker *l)
{
    struct names functions = {.arena = l->arena}, variables = {.arena = l->arena};
    take_seen_names(l, &functions, &variables);
    for (uint32_t i = 0; i < l->n_modules; i++) {
        const struct ir_module *m = l->modules[i];
        for (uint32_t k = 0; k < m->n_globals; k++) define_variable(l, i, m->globals[k], &variables);
        for (uint32_t k = 0; k < m->n_functions; k++) define_function(l, i, m->functions[k], &functions);
    }
    for (uint32_t i = 0; i < l->n_modules; i++) resolve_imports(l, i);
}
