/* Lists of findings and their form as text. */
#include "ir/base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/strbuf.h"

enum { DEFAULT_LIMIT = 100 };

static char *copy_string(const char *s)
{
    if (!s) return NULL;
    size_t n = strlen(s) + 1;
    return memcpy(arena_realloc(NULL, n), s, n);
}

static char *format_text(const char *format, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0) return copy_string("");
    return text;
}

void diag_add(struct diag_list *list, const char *function, const char *block, uint32_t line, uint32_t column,
              const char *format, ...)
{
    if (!list) return;
    if (list->n >= (list->limit ? list->limit : DEFAULT_LIMIT)) {
        list->dropped++;
        return;
    }
    if (list->n == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 4;
        list->items = arena_realloc(list->items, list->capacity * sizeof *list->items);
    }
    struct diag *d = &list->items[list->n++];
    *d = (struct diag){.function = copy_string(function), .block = copy_string(block), .line = line, .column = column};
    va_list args;
    va_start(args, format);
    d->text = format_text(format, args);
    va_end(args);
}

void diag_set_file(struct diag_list *list, const char *file)
{
    if (!list || !list->n || list->dropped) return;
    free(list->items[list->n - 1].file);
    list->items[list->n - 1].file = copy_string(file);
}

void diag_clear(struct diag_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->items[i].file);
        free(list->items[i].function);
        free(list->items[i].block);
        free(list->items[i].text);
    }
    free(list->items);
    *list = (struct diag_list){.limit = list->limit};
}

static void format_one(struct strbuf *b, const struct diag *d)
{
    const char *comma = "";
    if (d->function) {
        strbuf_printf(b, "function %s", d->function);
        comma = ", ";
    }
    if (d->block) {
        strbuf_printf(b, "%sblock %s", comma, d->block);
        comma = ", ";
    }
    if (d->line) {
        strbuf_printf(b, d->file ? "%s%s:%u" : "%s%sline %u", comma, d->file ? d->file : "", d->line);
        comma = ", ";
    }
    if (d->column) {
        strbuf_printf(b, "%scolumn %u", comma, d->column);
        comma = ", ";
    }
    strbuf_printf(b, "%s%s\n", *comma ? ": " : "", d->text);
}

char *diag_format(const struct diag_list *list)
{
    struct strbuf b = {0};
    for (size_t i = 0; i < list->n; i++) format_one(&b, &list->items[i]);
    if (list->dropped) strbuf_printf(&b, "and %zu more\n", list->dropped);
    return strbuf_take(&b);
}
