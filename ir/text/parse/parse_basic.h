/* Tokens, errors, numbers, strings and locations. */
#pragma once

#include "ir/text/parse/parser.h"

void parse_advance(struct parser *p);
/* Reports an error at a token; always false. */
bool parse_error(struct parser *p, const struct token *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Reports that something else was expected where the parser stands; always false. */
bool parse_expected(struct parser *p, const char *what);
/* Whether it is worth while to look for what was meant: only the first errors of a text are, whatever the text. */
bool parse_may_hint(const struct parser *p);
/* The same where a word is known that is like the one that is there; meant NULL: none is. */
bool parse_expected_like(struct parser *p, const char *what, const char *meant);
bool parse_punct(struct parser *p, char c); /* must be there */
bool parse_if_punct(struct parser *p, char c);
bool parse_word(struct parser *p, const char *word); /* must be there */
bool parse_if_word(struct parser *p, const char *word);
/* The next token is on the line of the last one: what belongs to an instruction stays on its line. */
bool parse_same_line(const struct parser *p);
/* A line that begins a function: where a block that lacks its end has to stop. */
bool parse_starts_function(const struct parser *p);
bool parse_uint(struct parser *p, const char *what, uint64_t max, uint64_t *out);
bool parse_string(struct parser *p, const char *what, char **out); /* in the module's memory */
int parse_hex_digit(char c);                                       /* its value, or -1 */
/* The token's place in a table of words, or -1. */
int parse_find_word(const struct token *t, const char *const *words, unsigned n);
char *parse_copy(struct parser *p, const struct token *t); /* its text, in the module's memory */
/* The mark of a location, if there is one; gives the location of what stands on `line`. */
bool parse_location(struct parser *p, uint32_t line, struct ir_loc *loc);
/* What the verifier found in the text as it was read is about its lines, from what is first there on. */
void parse_place_findings(struct parser *p, const char *file, const char *text, size_t n);
bool parse_file(struct parser *p, uint32_t *file); /* a string or none */
void parse_push(struct parser_list *list, void *item);
