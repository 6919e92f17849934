/* What the parser's files share. Each parse_... function returns false after it has reported an error;
   the caller then either fails too or skips to where reading can go on. */
#pragma once

#include "ir/base/diag.h"
#include "ir/core/ir.h"
#include "ir/text/lex.h"
#include "ir/base/name_map.h"

/* A name in the function that is being read. */
struct parser_local {
    struct ir_value *value; /* NULL: its definition had an error, which has been reported */
    uint32_t line;
    bool visible; /* false once the block of its definition has ended */
};

/* A growing list of pointers to locals, values or the like. */
struct parser_list {
    void **items;
    size_t n, capacity;
};

/* An address in an initial value, whose variable may be declared further down. */
struct parser_address {
    struct ir_global *holder;
    uint32_t index; /* among those of the holder */
    struct token name;
};

struct parser {
    struct lexer lex;
    struct token tok;   /* the one to be looked at next */
    uint32_t last_line; /* where the one before it ended */

    struct ir_module *m;
    struct diag_list *list;
    bool failed;
    bool heads_failed; /* an unknown name may be one whose declaration had the error */

    struct arena *scratch;
    struct names structs, globals, functions, files; /* files: index + 1 as a pointer */
    uint64_t init_budget;                            /* bytes that initial values may still take */
    struct parser_list addresses;                    /* struct parser_address, in initial values */

    uint32_t file;     /* of the text itself */
    bool marked;       /* the text says `source`: places come from marks alone */
    struct ir_loc loc; /* the last mark's */

    struct ir_function *function; /* being read, or NULL */
    struct names locals;
    struct parser_list visible;  /* struct parser_local, in the order of definition */
    struct parser_list operands; /* struct ir_value, of the instruction that is being read */
    struct parser_list results;  /* struct token, of the instructions around the place */
    unsigned depth;              /* of blocks, or of the braces of an initial value */
    bool unclosed;               /* a block without an end has been reported */
};

/* ---- parse_basic.c ---- */

void parse_advance(struct parser *p);
/* Reports an error at a token; always false. */
bool parse_error(struct parser *p, const struct token *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Reports that something else was expected where the parser stands; always false. */
bool parse_expected(struct parser *p, const char *what);
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
int parse_hex_digit(char c); /* its value, or -1 */
/* The token's place in a table of words, or -1. */
int parse_find_word(const struct token *t, const char *const *words, unsigned n);
char *parse_copy(struct parser *p, const struct token *t); /* its text, in the module's memory */
/* The mark of a location, if there is one; gives the location of what stands on `line`. */
bool parse_location(struct parser *p, uint32_t line, struct ir_loc *loc);
bool parse_file(struct parser *p, uint32_t *file); /* a string or none */
void parse_push(struct parser_list *list, void *item);

/* ---- parse_type.c ---- */

bool parse_starts_type(const struct token *t);
bool parse_type(struct parser *p, ir_type *t);
const char *parse_type_name(struct parser *p, ir_type t); /* for messages */
/* A number or a vector of a number type; lanes has room for IR_MAX_LANES. */
bool parse_lanes(struct parser *p, ir_type t, uint64_t *lanes);

/* ---- parse_init.c ---- */

bool parse_init(struct parser *p, struct ir_global *g);
/* Finds the variables whose addresses were read, once all are declared. */
bool parse_resolve_addresses(struct parser *p);

/* ---- parse_operand.c ---- */

bool parse_starts_operand(const struct token *t);
/* expected: the type of a literal that carries none; IR_VOID: it must carry one. */
bool parse_operand(struct parser *p, ir_type expected, struct ir_value **v);
/* value NULL: its definition failed. */
bool parse_define(struct parser *p, const struct token *name, struct ir_value *value);
void parse_hide(struct parser *p, size_t n_visible); /* at the end of a block */

/* ---- parse_inst.c ---- */

bool parse_ordinary(struct parser *p, struct ir_block *block, enum ir_op op, struct ir_inst **inst);

/* ---- parse_body.c ---- */

bool parse_body(struct parser *p);
