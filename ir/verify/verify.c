/* The verifier's frame: the order of its parts, and how findings get their place. */
#include "ir/verify/verify.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/analysis/barrier_divergence.h"
#include "ir/text/print/print_type.h"
#include "ir/verify/internal.h"

enum { PATH_SIZE = 256 };

/* Which structured instruction of its kind in its block it is, from 1. */
static unsigned ordinal(const struct ir_inst *inst)
{
    unsigned n = 1;
    for (const struct ir_inst *i = inst->prev; i; i = i->prev)
        if (i->op == inst->op) n++;
    return n;
}

/* "body/loop 1/then 2"; of a very long path only the end. The blocks around block have sound links. */
static void block_path(const struct ir_block *block, char path[static PATH_SIZE])
{
    size_t at = PATH_SIZE - 1;
    path[at] = 0;
    for (; block; block = block->parent ? block->parent->parent : NULL) {
        char part[32] = "body";
        const struct ir_inst *p = block->parent;
        if (p) {
            const char *what = p->op == IR_OP_LOOP ? "loop" : block == p->blocks[0] ? "then" : "else";
            snprintf(part, sizeof part, "/%s %u", what, ordinal(p));
        }
        size_t n = strlen(part);
        if (n + 3 > at) {
            memcpy(path + (at -= 3), "...", 3);
            break;
        }
        memcpy(path + (at -= n), part, n);
    }
    memmove(path, path + at, PATH_SIZE - at);
}

void verify_report(struct verifier *v, const char *format, ...)
{
    v->n_findings++;
    if (!v->list) return;
    if (v->list->dropped) { /* it is full, and a place takes time to describe */
        v->list->dropped++;
        return;
    }
    char *text = NULL, path[PATH_SIZE];
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) abort();
    va_end(args);
    if (v->block) block_path(v->block, path);
    struct ir_loc loc = v->inst ? v->inst->loc : v->f ? v->f->loc : (struct ir_loc){0, 0};
    bool named = v->inst && v->inst->op < IR_OP_COUNT;
    diag_add(v->list, v->f ? v->f->name : NULL, v->block ? path : NULL, loc.line, 0, "%s%s%s",
             named ? ir_op_info(v->inst->op)->text : "", named ? ": " : "", text);
    diag_set_file(v->list, ir_loc_file(v->m, loc));
    free(text);
}

const char *verify_type_text(struct verifier *v, ir_type t)
{
    char *text = v->texts[v->next_text++ % 4];
    size_t size = sizeof v->texts[0];
    if (!verify_type_ok(v, t)) {
        snprintf(text, size, "a type that does not exist (%#x)", t);
    } else if (ir_type_kind(t) == IR_KIND_STRUCT && !v->m->structs[ir_type_detail(t)]->name) {
        snprintf(text, size, "struct type %u", ir_type_detail(t));
    } else if (ir_type_kind(t) == IR_KIND_ARRAY && v->arrays[ir_type_detail(t)].state != LAYOUT_GOOD) {
        snprintf(text, size, "array type %u", ir_type_detail(t));
    } else {
        return ir_print_type(v->m, t, text, size);
    }
    return text;
}

bool verify_name_ok(const char *name)
{
    if (!isalpha((unsigned char)*name) && *name != '_') return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && !strchr("_.$", *name)) return false;
    return true;
}

static int compare_names(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    if (!x || !y) return !x - !y;
    return strcmp(x, y);
}

void verify_unique(struct verifier *v, const char **names, size_t n, const char *what)
{
    if (n) qsort(names, n, sizeof *names, compare_names);
    for (size_t i = 1; i < n && names[i]; i++)
        if (strcmp(names[i - 1], names[i]) == 0) verify_report(v, "two %s have the name %s", what, names[i]);
}

/* The lists of the module have no holes; without that nothing else can be looked at. */
static bool lists_ok(struct verifier *v)
{
    const struct ir_module *m = v->m;
    bool ok = true;
    ok &= (m->structs || !m->n_structs) && (m->arrays || !m->n_arrays) && (m->globals || !m->n_globals);
    ok &= (m->functions || !m->n_functions) && (m->files || !m->n_files);
    for (uint32_t i = 0; ok && i < m->n_structs; i++) ok = m->structs[i];
    for (uint32_t i = 0; ok && i < m->n_globals; i++) ok = m->globals[i];
    for (uint32_t i = 0; ok && i < m->n_functions; i++) ok = m->functions[i];
    for (uint32_t i = 0; ok && i < m->n_files; i++) ok = m->files[i];
    if (!ok) verify_report(v, "a list of the module has a hole");
    return ok;
}

static void *zeroed(size_t n, size_t size)
{
    return memset(arena_realloc(NULL, n * size), 0, n * size);
}

static void open_verifier(struct verifier *v)
{
    const struct ir_module *m = v->m;
    v->structs = zeroed(m->n_structs, sizeof *v->structs);
    v->arrays = zeroed(m->n_arrays, sizeof *v->arrays);
    for (uint32_t i = 0; i < m->n_globals; i++) m->globals[i]->scratch = i;
    for (uint32_t i = 0; i < m->n_functions; i++) m->functions[i]->scratch = i;
}

static void close_verifier(struct verifier *v)
{
    free(v->structs);
    free(v->arrays);
    free(v->visible);
    free(v->named);
}

static void verify_functions(struct verifier *v)
{
    const struct ir_module *m = v->m;
    const char **names = zeroed(m->n_functions, sizeof *names);
    for (uint32_t i = 0; i < m->n_functions; i++) {
        v->f = m->functions[i];
        names[i] = v->f->name;
        if (v->f->scratch != i) verify_report(v, "the module lists the function twice");
        verify_function(v, v->f);
    }
    v->f = NULL;
    verify_unique(v, names, m->n_functions, "functions");
    free(names);
}

/* Kernels that say for which work-groups they are: do all work-items come to each barrier? */
static void verify_meetings(struct verifier *v)
{
    for (uint32_t i = 0; i < v->m->n_functions; i++) {
        const struct ir_function *f = v->m->functions[i];
        struct ir_meeting_group group = {.size = {f->work_group_size[0], f->work_group_size[1], f->work_group_size[2]}};
        struct ir_meeting_finding finding;
        if (f->linkage != IR_LINKAGE_KERNEL || !group.size[0] || !ir_meeting_find(f, &group, &finding)) continue;
        v->f = f;
        v->inst = finding.at;
        v->block = finding.at->parent;
        verify_report(v, "%s", finding.text);
        v->f = NULL;
        v->inst = NULL;
        v->block = NULL;
    }
}

bool ir_verify(const struct ir_module *m, struct diag_list *list)
{
    struct verifier v = {.m = m, .list = list};
    if (!lists_ok(&v)) return false;
    open_verifier(&v);
    verify_types(&v);
    verify_globals(&v);
    verify_functions(&v);
    if (verify_calls(&v)) verify_aspects(&v);
    if (v.n_findings == 0) verify_meetings(&v);
    close_verifier(&v);
    return v.n_findings == 0;
}

bool ir_verify_function(const struct ir_function *f, struct diag_list *list)
{
    struct verifier v = {.m = f->module, .list = list};
    if (!lists_ok(&v)) return false;
    open_verifier(&v);
    verify_types(&v);
    v.f = f;
    verify_function(&v, f);
    close_verifier(&v);
    return v.n_findings == 0;
}
