/* Where the parser of the text form stands. Each parse_... function returns false after it has reported an error; the
   caller then either fails too or skips to where reading can go on. */
#pragma once

#include "ir/base/diag.h"
#include "ir/base/name_map.h"
#include "ir/core/ir.h"
#include "ir/text/parse/lex.h"

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
    bool has_marks;

    struct ir_function *function; /* being read, or NULL */
    struct names locals;
    struct parser_list visible;  /* struct parser_local, in the order of definition */
    struct parser_list operands; /* struct ir_value, of the instruction that is being read */
    struct parser_list results;  /* struct token, of the instructions around the place */
    unsigned depth;              /* of blocks, or of the braces of an initial value */
    bool unclosed;               /* a block without an end has been reported */
};
