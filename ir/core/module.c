/* Modules and what they own: files, globals, functions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/core/layout.h"
#include "ir/core/module.h"

struct ir_module *ir_module_new(const char *name)
{
    struct arena *arena = arena_new();
    struct ir_module *m = arena_alloc(arena, sizeof *m);
    m->arena = arena;
    m->name = ir_strdup(m, name);
    return m;
}

void ir_module_free(struct ir_module *m)
{
    if (m) arena_free(m->arena);
}

const char *ir_loc_file(const struct ir_module *m, struct ir_loc loc)
{
    const char *file = loc.line && loc.file && loc.file <= m->n_files ? m->files[loc.file - 1] : NULL;
    return file && *file && (!m->name || strcmp(file, m->name) != 0) ? file : NULL;
}

const char *ir_loc_text(const struct ir_module *m, struct ir_loc loc, char *buf, size_t size)
{
    const char *file = ir_loc_file(m, loc);
    if (!loc.line)
        snprintf(buf, size, "an unknown line");
    else
        snprintf(buf, size, file ? "%.*s:%u" : "%.*sline %u", (int)(size > 16 ? size - 16 : 0), file ? file : "",
                 loc.line);
    return buf;
}

uint32_t ir_module_file(struct ir_module *m, const char *path)
{
    if (!path) return 0;
    for (uint32_t i = m->n_files; i; i--)
        if (strcmp(m->files[i - 1], path) == 0) return i;
    m->files = arena_grow(m->arena, m->files, m->n_files, sizeof *m->files);
    m->files[m->n_files++] = ir_strdup(m, path);
    return m->n_files;
}

struct ir_global *ir_global_new(struct ir_module *m, const char *name, enum ir_space space, ir_type type)
{
    struct ir_global *g = ir_alloc(m, sizeof *g);
    *g = (struct ir_global){.name = ir_strdup(m, name), .space = space, .type = type, .packet = IR_VOID};
    g->align = ir_type_align(m, type);
    m->globals = arena_grow(m->arena, m->globals, m->n_globals, sizeof *m->globals);
    m->globals[m->n_globals++] = g;
    return g;
}

void ir_global_add_address(struct ir_module *m, struct ir_global *g, const struct ir_address *address)
{
    g->addresses = arena_grow(m->arena, g->addresses, g->n_addresses, sizeof *g->addresses);
    g->addresses[g->n_addresses++] = *address;
}

static int compare_addresses(const void *a, const void *b)
{
    const struct ir_address *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

void ir_global_sort_addresses(struct ir_global *g)
{
    if (g->n_addresses) qsort(g->addresses, g->n_addresses, sizeof *g->addresses, compare_addresses);
}

struct ir_block *ir_body_new(struct ir_function *f)
{
    struct ir_block *body = ir_alloc(f->module, sizeof *body);
    body->function = f;
    return body;
}

struct ir_function *ir_function_new(struct ir_module *m, const char *name, enum ir_linkage linkage, ir_type result,
                                    uint32_t n_params)
{
    struct ir_function *f = ir_alloc(m, sizeof *f);
    f->module = m;
    f->name = ir_strdup(m, name);
    f->linkage = linkage;
    f->result = result;
    f->n_params = n_params;
    f->params = ir_alloc(m, n_params * sizeof *f->params);
    for (uint32_t i = 0; i < n_params; i++) ir_function_set_param(f, i, NULL, IR_VOID);
    if (linkage != IR_LINKAGE_IMPORT) f->body = ir_body_new(f);
    m->functions = arena_grow(m->arena, m->functions, m->n_functions, sizeof *m->functions);
    m->functions[m->n_functions++] = f;
    return f;
}

void ir_function_set_param(struct ir_function *f, uint32_t i, const char *name, ir_type type)
{
    struct ir_param *p = &f->params[i];
    if (!p->value) {
        p->value = ir_alloc(f->module, sizeof *p->value);
        *p->value = (struct ir_value){.kind = IR_VALUE_PARAM, .index = i, .of.function = f};
        p->elem = IR_VOID;
    }
    p->value->type = type;
    p->value->name = ir_strdup(f->module, name);
}

struct ir_function *ir_module_find(const struct ir_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->n_functions; i++)
        if (strcmp(m->functions[i]->name, name) == 0) return m->functions[i];
    return NULL;
}

struct ir_struct *ir_module_find_struct(const struct ir_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->n_structs; i++)
        if (m->structs[i]->name && strcmp(m->structs[i]->name, name) == 0) return m->structs[i];
    return NULL;
}

struct ir_global *ir_module_find_global(const struct ir_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->n_globals; i++)
        if (strcmp(m->globals[i]->name, name) == 0) return m->globals[i];
    return NULL;
}

const struct ir_function *ir_module_only_kernel(const struct ir_module *m)
{
    const struct ir_function *kernel = NULL;
    for (uint32_t i = 0; i < m->n_functions; i++) {
        if (m->functions[i]->linkage != IR_LINKAGE_KERNEL) continue;
        if (kernel) return NULL;
        kernel = m->functions[i];
    }
    return kernel;
}
