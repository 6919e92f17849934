/* Findings, and places in messages. */
#include "ir/link/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"

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

static const char *keep_text(struct linker *l, char *text)
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
    return keep_text(l, text);
}

const char *link_place(struct linker *l, uint32_t module, struct ir_loc loc)
{
    const char *name = l->modules[module]->name;
    char number[16], *text = NULL;
    snprintf(number, sizeof number, "%u", module + 1);
    if (asprintf(&text, "module %s%s%s%s", name ? name : number, loc.line ? " (" : "",
                 loc.line ? link_line(l, module, loc) : "", loc.line ? ")" : "") < 0)
        abort();
    return keep_text(l, text);
}
