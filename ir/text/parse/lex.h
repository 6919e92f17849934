/* The words of the text form. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,   /* load, f32x4, ptr.global */
    TOKEN_VALUE,  /* %name; the text is without the % */
    TOKEN_SYMBOL, /* @name; the text is without the @ */
    TOKEN_NUMBER, /* 12, -7, 2.5e3, 0xff, -inf */
    TOKEN_STRING, /* "..."; the text is without the quotes, escapes are not resolved */
    TOKEN_ARROW,  /* -> */
    TOKEN_PUNCT,  /* one of { } ( ) [ ] < > = , : ; ! @ */
    TOKEN_BAD,    /* anything else */
};

struct token {
    enum token_kind kind;
    const char *text;
    size_t n;
    uint32_t line, column; /* of its first character, from 1 */
};

/* Copy it to come back to a place later. */
struct lexer {
    const char *at, *end, *line_start;
    uint32_t line;
};

struct lexer lex_start(const char *text, size_t n);
struct token lex_next(struct lexer *lex);

bool token_is(const struct token *t, char punct);
bool token_is_word(const struct token *t, const char *word);
bool token_is_number(const struct token *t); /* the words inf and nan too */
