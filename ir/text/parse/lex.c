/* The words of the text form. */
#include "ir/text/parse/lex.h"

#include <string.h>

struct lexer lex_start(const char *text, size_t n)
{
    return (struct lexer){.at = text, .end = text + n, .line_start = text, .line = 1};
}

bool token_is(const struct token *t, char punct)
{
    return t->kind == TOKEN_PUNCT && *t->text == punct;
}

bool token_is_word(const struct token *t, const char *word)
{
    return t->kind == TOKEN_WORD && strlen(word) == t->n && memcmp(t->text, word, t->n) == 0;
}

bool token_is_number(const struct token *t)
{
    return t->kind == TOKEN_NUMBER || token_is_word(t, "inf") || token_is_word(t, "nan");
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool continues_name(char c)
{
    return starts_name(c) || is_digit(c) || c == '.' || c == '$';
}

static char peek(const struct lexer *lex, size_t ahead)
{
    return (size_t)(lex->end - lex->at) > ahead ? lex->at[ahead] : 0;
}

static void skip_blank(struct lexer *lex)
{
    while (lex->at < lex->end) {
        char c = *lex->at;
        if (c == '\n') {
            lex->line++;
            lex->line_start = lex->at + 1;
        } else if (c == '/' && peek(lex, 1) == '/') {
            while (lex->at < lex->end && *lex->at != '\n') lex->at++;
            continue;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            return;
        }
        lex->at++;
    }
}

static size_t name_length(const struct lexer *lex, size_t from)
{
    size_t n = from;
    while (continues_name(peek(lex, n))) n++;
    return n;
}

/* Digits, with everything that could be meant to belong to them: what is wrong is said where it is read. */
static size_t number_length(const struct lexer *lex)
{
    size_t n = peek(lex, 0) == '-';
    bool hex = peek(lex, n) == '0' && (peek(lex, n + 1) == 'x' || peek(lex, n + 1) == 'X');
    for (;; n++) {
        char c = peek(lex, n);
        if (!hex && (c == 'e' || c == 'E') && (peek(lex, n + 1) == '-' || peek(lex, n + 1) == '+')) {
            n++;
        } else if (!continues_name(c)) {
            return n;
        }
    }
}

/* Up to and without the closing quote; SIZE_MAX: there is none on the line. */
static size_t string_length(const struct lexer *lex)
{
    for (size_t n = 1;; n++) {
        char c = peek(lex, n);
        if (c == '"') return n - 1;
        if (c == '\\') n++;
        if (lex->at + n >= lex->end || c == '\n' || peek(lex, n) == '\n') return SIZE_MAX;
    }
}

static void take(struct lexer *lex, struct token *t, enum token_kind kind, size_t skip, size_t n, size_t skip_after)
{
    t->kind = kind;
    t->text = lex->at + skip;
    t->n = n;
    lex->at += skip + n + skip_after;
}

static void take_string(struct lexer *lex, struct token *t)
{
    size_t n = string_length(lex);
    if (n != SIZE_MAX) {
        take(lex, t, TOKEN_STRING, 1, n, 1);
        return;
    }
    const char *end = memchr(lex->at, '\n', (size_t)(lex->end - lex->at));
    take(lex, t, TOKEN_BAD, 0, (size_t)((end ? end : lex->end) - lex->at), 0);
}

struct token lex_next(struct lexer *lex)
{
    skip_blank(lex);
    struct token t = {.text = lex->at, .line = lex->line, .column = (uint32_t)(lex->at - lex->line_start) + 1};
    if (lex->at == lex->end) return t;
    char c = *lex->at, after = peek(lex, 1);
    if (starts_name(c)) {
        take(lex, &t, TOKEN_WORD, 0, name_length(lex, 0), 0);
    } else if ((c == '%' || c == '@') && (starts_name(after) || (c == '%' && is_digit(after)))) {
        take(lex, &t, c == '%' ? TOKEN_VALUE : TOKEN_SYMBOL, 1, name_length(lex, 1) - 1, 0);
    } else if (is_digit(c) || (c == '-' && (is_digit(after) || after == 'i'))) {
        take(lex, &t, TOKEN_NUMBER, 0, number_length(lex), 0);
    } else if (c == '-' && after == '>') {
        take(lex, &t, TOKEN_ARROW, 0, 2, 0);
    } else if (c == '"') {
        take_string(lex, &t);
    } else {
        bool known = c && strchr("{}()[]<>=,:;!@+", c);
        take(lex, &t, known ? TOKEN_PUNCT : TOKEN_BAD, 0, 1, 0);
    }
    return t;
}
