/* Linking: the order of its parts, and how findings get their place. */
#include "ir/link/link.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/link/internal.h"
#include "ir/verify/verify.h"

/* ---- findings ---- */

void link_fail(struct linker *l, const struct ir_function *f, struct ir_loc loc, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) abort();
    va_end(args);
    diag_add(l->list, f ? f->name : NULL, NULL, loc.line, 0, "%s", text);
    free(text);
    l->failed = true;
}

static const char *keep(struct linker *l, char *text)
{
    if (!text) abort();
    const char *kept = arena_strndup(l->arena, text, strlen(text));
    free(text);
    return kept;
}

const char *link_line(struct linker *l, uint32_t module, struct ir_loc loc)
{
    const struct ir_module *m = l->modules[module];
    char *text = NULL;
    if (!loc.line) return "an unknown line";
    bool named = loc.file && loc.file <= m->n_files;
    if (asprintf(&text, "%s%s%u", named ? m->files[loc.file - 1] : "line ", named ? ":" : "", loc.line) < 0) abort();
    return keep(l, text);
}

const char *link_place(struct linker *l, uint32_t module, struct ir_loc loc)
{
    const char *name = l->modules[module]->name;
    char number[16], *text = NULL;
    snprintf(number, sizeof number, "%u", module + 1);
    if (asprintf(&text, "module %s%s%s%s", name ? name : number, loc.line ? " (" : "",
                 loc.line ? link_line(l, module, loc) : "", loc.line ? ")" : "") < 0)
        abort();
    return keep(l, text);
}

/* ---- linking ---- */

/* All types of a module, so that linking one module alone changes nothing. */
static void copy_types(struct linker *l, uint32_t module)
{
    const struct ir_module *m = l->modules[module];
    for (uint32_t i = 0; i < m->n_structs; i++) ir_copy_type(l->copies[module], IR_TYPE(IR_KIND_STRUCT, 1, i));
    for (uint32_t i = 0; i < m->n_arrays; i++) ir_copy_type(l->copies[module], IR_TYPE(IR_KIND_ARRAY, 1, i));
}

static void check(struct linker *l)
{
    link_symbols(l);
    link_calls(l);
    link_check_imports(l);
    link_check_recursion(l);
    link_check_sub_groups(l);
}

static void make(struct linker *l)
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
        copy_types(&l, i);
    }
    check(&l);
    if (!l.failed) make(&l);
    for (uint32_t i = 0; i < n; i++) ir_copy_close(l.copies[i]);
    free(l.edges);
    arena_free(l.arena);
    if (!l.failed) return l.into;
    ir_module_free(l.into);
    return NULL;
}
