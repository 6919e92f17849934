/* The parser's part for tokens, errors, numbers, strings and locations. */
#include "ir/text/parse/parse_basic.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/nearest.h"
#include "ir/text/number.h"

void parse_advance(struct parser *p)
{
    p->last_line = p->tok.line;
    p->tok = lex_next(&p->lex);
}

bool parse_error(struct parser *p, const struct token *at, const char *format, ...)
{
    char text[320];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    p->failed = true;
    diag_add(p->list, p->function ? p->function->name : NULL, NULL, at->line, at->column, "%s", text);
    return false;
}

bool parse_expected(struct parser *p, const char *what)
{
    return parse_expected_like(p, what, NULL);
}

bool parse_may_hint(const struct parser *p)
{
    enum { WITH_HINTS = 10 };
    return p->list && p->list->n < WITH_HINTS;
}

bool parse_expected_like(struct parser *p, const char *what, const char *meant)
{
    char hint[120];
    static const char *const prefix[] = {[TOKEN_VALUE] = "%", [TOKEN_SYMBOL] = "@", [TOKEN_STRING] = "\""};
    const struct token *t = &p->tok;
    if (t->kind == TOKEN_END) return parse_error(p, t, "expected %s, found the end of the text", what);
    if (t->kind == TOKEN_BAD && *t->text == '"')
        return parse_error(p, t, "expected %s, found a string without an end", what);
    if (t->kind == TOKEN_BAD && (*t->text < ' ' || *t->text > '~'))
        return parse_error(p, t, "expected %s, found the byte 0x%02x", what, (unsigned char)*t->text);
    const char *before = t->kind < sizeof prefix / sizeof *prefix && prefix[t->kind] ? prefix[t->kind] : "";
    return parse_error(p, t, "expected %s, found %s%.*s%s%s", what, before, (int)(t->n < 60 ? t->n : 60), t->text,
                       t->kind == TOKEN_STRING ? "\"" : "", nearest_hint(meant, hint, sizeof hint));
}

bool parse_if_punct(struct parser *p, char c)
{
    if (!token_is(&p->tok, c)) return false;
    parse_advance(p);
    return true;
}

bool parse_punct(struct parser *p, char c)
{
    if (parse_if_punct(p, c)) return true;
    char what[2] = {c, 0};
    return parse_expected(p, what);
}

bool parse_if_word(struct parser *p, const char *word)
{
    if (!token_is_word(&p->tok, word)) return false;
    parse_advance(p);
    return true;
}

bool parse_word(struct parser *p, const char *word)
{
    return parse_if_word(p, word) || parse_expected(p, word);
}

bool parse_same_line(const struct parser *p)
{
    return p->tok.kind != TOKEN_END && p->tok.line == p->last_line;
}

bool parse_starts_function(const struct parser *p)
{
    static const char *const words[] = {"kernel", "func", "export", "import"};
    return !parse_same_line(p) && parse_find_word(&p->tok, words, sizeof words / sizeof *words) >= 0;
}

bool parse_uint(struct parser *p, const char *what, uint64_t max, uint64_t *out)
{
    if (p->tok.kind != TOKEN_NUMBER) return parse_expected(p, what);
    const char *wrong = ir_number_parse(IR_KIND_I64, p->tok.text, p->tok.n, out);
    if (wrong) return parse_error(p, &p->tok, "%s %s", what, wrong);
    if (*p->tok.text == '-' || *out > max)
        return parse_error(p, &p->tok, "%s is not between 0 and %llu", what, (unsigned long long)max);
    parse_advance(p);
    return true;
}

int parse_hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* The character behind a backslash at text[*i]; 0: there is no such escape. Leaves *i at its last byte. */
static char unescape(const char *text, size_t n, size_t *i)
{
    char c = ++*i < n ? text[*i] : 0;
    if (c == 'n') return '\n';
    if (c == 't') return '\t';
    if (c == '"' || c == '\\') return c;
    if (c != 'x' || n - *i < 3) return 0;
    int high = parse_hex_digit(text[*i + 1]), low = parse_hex_digit(text[*i + 2]);
    *i += 2;
    return high < 0 || low < 0 ? 0 : (char)(high << 4 | low);
}

bool parse_string(struct parser *p, const char *what, char **out)
{
    if (p->tok.kind != TOKEN_STRING) return parse_expected(p, what);
    const char *text = p->tok.text;
    size_t n = p->tok.n, used = 0;
    char *s = ir_alloc(p->m, n + 1);
    for (size_t i = 0; i < n; i++) {
        char c = text[i] == '\\' ? unescape(text, n, &i) : text[i];
        if (!c) return parse_error(p, &p->tok, "%s has an escape that does not exist or stands for a 0 byte", what);
        s[used++] = c;
    }
    *out = s;
    parse_advance(p);
    return true;
}

int parse_find_word(const struct token *t, const char *const *words, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (words[i] && token_is_word(t, words[i])) return (int)i;
    return -1;
}

char *parse_copy(struct parser *p, const struct token *t)
{
    char *s = ir_alloc(p->m, t->n + 1);
    return memcpy(s, t->text, t->n);
}

/* As ir_module_file(), which is too slow for texts that name a new file on each line. */
static uint32_t intern_file(struct parser *p, char *path)
{
    void **known = names_put(&p->files, path, strlen(path));
    if (!*known) {
        struct ir_module *m = p->m;
        m->files = arena_grow(m->arena, m->files, m->n_files, sizeof *m->files);
        m->files[m->n_files++] = path;
        *known = (void *)(uintptr_t)m->n_files;
    }
    return (uint32_t)(uintptr_t)*known;
}

bool parse_file(struct parser *p, uint32_t *file)
{
    char *path;
    *file = 0;
    if (parse_if_word(p, "none")) return true;
    if (!parse_string(p, "the name of a source file", &path)) return false;
    *file = intern_file(p, path);
    return true;
}

bool parse_location(struct parser *p, uint32_t line, struct ir_loc *loc)
{
    struct ir_loc here = p->marked ? p->loc : (struct ir_loc){p->file, line, 0};
    if (token_is(&p->tok, '!')) {
        uint64_t n;
        p->has_marks = true;
        parse_advance(p);
        if (p->tok.kind != TOKEN_NUMBER && (!parse_file(p, &here.file) || !parse_punct(p, ':'))) return false;
        if (!parse_uint(p, "a line number", UINT32_MAX, &n)) return false;
        here.line = (uint32_t)n;
        here.column = 0;
        if (parse_if_punct(p, ':')) {
            if (!parse_uint(p, "a column number", UINT32_MAX, &n)) return false;
            here.column = (uint32_t)n;
        }
        if (p->marked) p->loc = here;
    }
    *loc = here;
    return true;
}

/* The column, from 1 on, of what is first in a line that there is. */
static uint32_t first_column(const char *text, size_t n, uint32_t line)
{
    const char *at = text, *end = text + n, *begin;
    while (--line && (at = memchr(at, '\n', (size_t)(end - at)))) at++;
    if (!at) return 0;
    for (begin = at; at < end && (*at == ' ' || *at == '\t'); at++) {
    }
    return (uint32_t)(at - begin) + 1;
}

void parse_place_findings(struct parser *p, const char *file, const char *text, size_t n)
{
    if (p->has_marks || p->marked || !p->list) return;
    for (size_t i = 0; i < p->list->n; i++) {
        struct diag *d = &p->list->items[i];
        if (!d->line || d->column || (d->file && (!file || strcmp(d->file, file) != 0))) continue;
        free(d->file);
        d->file = NULL;
        d->column = first_column(text, n, d->line);
    }
}

void parse_push(struct parser_list *list, void *item)
{
    if (list->n == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 16;
        list->items = arena_realloc(list->items, list->capacity * sizeof *list->items);
    }
    list->items[list->n++] = item;
}
