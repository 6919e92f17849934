#include "tools/inspect/terminal/complain.h"

#include <fusiond/fusiond.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/inspect/terminal/json.h"
#include "tools/inspect/terminal/progress.h"
#include "tools/inspect/terminal/style.h"

static bool as_json;

void complain_as_json(void)
{
    as_json = true;
}

struct complaint {
    const char *file; /* NULL: none */
    size_t line, column;
    const char *object, *status, *reason;
};

static void tell_json(const struct complaint *c)
{
    json_object *json = json_object_new_object(), *error = json_object_new_object();
    json_object_object_add(error, "status", json_object_new_string(c->status));
    json_object_object_add(error, "object", json_object_new_string(c->object));
    json_object_object_add(error, "reason", json_object_new_string(c->reason));
    if (c->file) json_object_object_add(error, "file", json_object_new_string(c->file));
    if (c->line) json_object_object_add(error, "line", json_object_new_int64((int64_t)c->line));
    if (c->column) json_object_object_add(error, "column", json_object_new_int64((int64_t)c->column));
    json_object_object_add(json, "error", error);
    print_json(json);
    json_object_put(json);
}

/* The line with a caret; nothing where the file is not to be read again. */
static void print_line(const struct complaint *c)
{
    char *text = NULL;
    size_t size = 0, line = 0;
    ssize_t n = -1;
    FILE *in = c->column ? fopen(c->file, "re") : NULL;
    while (in && line < c->line && (n = getline(&text, &size, in)) >= 0) line++;
    if (n >= 0 && line == c->line && c->column <= (size_t)n) {
        text[strcspn(text, "\r\n")] = 0;
        for (char *t = text; *t; t++)
            if (*t == '\t') *t = ' ';
        fprintf(stderr, "  %s\n  %*s%s^%s\n", text, (int)c->column - 1, "", style(stderr, STYLE_ERROR),
                style(stderr, STYLE_NONE));
    }
    if (in) fclose(in);
    free(text);
}

static void print_text(const struct complaint *c)
{
    const char *bold = style(stderr, STYLE_BOLD), *none = style(stderr, STYLE_NONE);
    fputs(bold, stderr);
    if (c->file) fputs(c->file, stderr);
    if (c->line) fprintf(stderr, ":%zu", c->line);
    if (c->column) fprintf(stderr, ":%zu", c->column);
    if (c->file) fputs(": ", stderr);
    fputs(none, stderr);
    if (*c->status && strcmp(c->status, "invalid") != 0)
        fprintf(stderr, "%s%s:%s ", style(stderr, STYLE_ERROR), c->status, none);
    if (*c->object) fprintf(stderr, "%s: ", c->object);
    fprintf(stderr, "%s\n", c->reason);
    print_line(c);
}

static void tell(const struct complaint *c)
{
    progress_end();
    if (as_json)
        tell_json(c);
    else
        print_text(c);
}

void complain(const char *object, const char *status, const char *format, ...)
{
    char *reason = NULL;
    va_list args;
    va_start(args, format);
    bool formatted = vasprintf(&reason, format, args) >= 0;
    va_end(args);
    tell(&(struct complaint){.object = object, .status = status, .reason = formatted ? reason : "no memory"});
    if (formatted) free(reason);
}

bool complain_at(const char *file, size_t line, size_t column, const char *format, ...)
{
    char *reason = NULL;
    va_list args;
    va_start(args, format);
    bool formatted = vasprintf(&reason, format, args) >= 0;
    va_end(args);
    tell(&(struct complaint){file, line, column, "", "invalid", formatted ? reason : "no memory"});
    if (formatted) free(reason);
    return false;
}

void print_error(const char *what)
{
    print_error_at(what, 0, 0);
}

bool print_error_at(const char *file, size_t line, size_t column)
{
    const fusion_error *e = fusion_last_error();
    tell(&(struct complaint){file, line, column, e->object, fusion_status_name(e->status), e->reason});
    return false;
}
