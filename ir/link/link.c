/* Linking: the order of its parts, and what is left when one fails. */
#include "ir/link/link.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/core/module_aspects.h"
#include "ir/link/calls.h"
#include "ir/link/define.h"
#include "ir/link/linker.h"
#include "ir/link/report.h"
#include "ir/link/sub_group_check.h"
#include "ir/link/symbols.h"
#include "ir/verify/verify.h"

/* The module's numbers of aspects. Two modules give one aspect the same number. */
static void copy_aspect_numbers(struct linker *l, uint32_t module)
{
    const struct ir_module *m = l->modules[module];
    for (uint32_t i = 0; i < m->n_aspect_numbers; i++) {
        const struct ir_aspect_number *x = &m->aspect_numbers[i], *y = l->into->aspect_numbers;
        const struct ir_aspect_number *end = y + l->into->n_aspect_numbers;
        while (y < end && strcmp(x->name, y->name) != 0) y++;
        if (y == end)
            ir_module_number_aspect(l->into, x->name, x->number);
        else if (x->number != y->number)
            link_fail(l, NULL, (struct ir_loc){0}, "the aspect %s has number %u in %s, but %u in one before it",
                      x->name, x->number, link_place(l, module, (struct ir_loc){0}), y->number);
    }
}

/* All types of a module, so that linking one module alone changes nothing. */
static void copy_types(struct linker *l, uint32_t module)
{
    const struct ir_module *m = l->modules[module];
    for (uint32_t i = 0; i < m->n_structs; i++) ir_copy_type(l->copies[module], IR_TYPE(IR_KIND_STRUCT, 1, i));
    for (uint32_t i = 0; i < m->n_arrays; i++) ir_copy_type(l->copies[module], IR_TYPE(IR_KIND_ARRAY, 1, i));
}

static void check_modules(struct linker *l)
{
    link_symbols(l);
    link_calls(l);
    link_check_imports(l);
    link_check_recursion(l);
    link_check_sub_groups(l);
}

static void make_result(struct linker *l)
{
    link_define(l);
    for (uint32_t i = 0; i < l->n_modules; i++) ir_copy_bodies(l->copies[i]);
    if (!ir_verify(l->into, l->list)) l->failed = true;
}

struct ir_module *ir_link(const struct ir_module *const *modules, size_t n, const char *name, struct diag_list *list)
{
    struct linker l = {.modules = modules, .n_modules = (uint32_t)n, .list = list, .arena = arena_new()};
    l.into = ir_module_new(name);
    l.functions.arena = l.variables.arena = l.arena;
    l.copies = arena_alloc(l.arena, n * sizeof *l.copies);
    for (uint32_t i = 0; i < n; i++) {
        l.copies[i] = ir_copy_open(l.into, modules[i]);
        copy_aspect_numbers(&l, i);
        copy_types(&l, i);
    }
    check_modules(&l);
    if (!l.failed) make_result(&l);
    for (uint32_t i = 0; i < n; i++) ir_copy_close(l.copies[i]);
    free(l.edges);
    arena_free(l.arena);
    if (!l.failed) return l.into;
    ir_module_free(l.into);
    return NULL;
}
