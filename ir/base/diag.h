/* Diagnostics of ir and fuser: a list of findings with their place. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct diag {
    char *function; /* NULL: the module as a whole */
    char *block;    /* "body", "body/loop 1/then 2" ...; NULL: the function as a whole */
    char *file;     /* of line; NULL: the text that was read, or what the module is called by */
    uint32_t line;  /* line of the text or of the source; 0: unknown */
    uint32_t column;
    char *text; /* one sentence */
};

struct diag_list {
    struct diag *items;
    size_t n, capacity;
    size_t limit; /* further findings are counted in `dropped`; 0: 100 */
    size_t dropped;
};

/* An empty list is all zeros. */
void diag_add(struct diag_list *list, const char *function, const char *block, uint32_t line, uint32_t column,
              const char *format, ...) __attribute__((format(printf, 6, 7)));
/* The finding added last is about another file than the text that was read. NULL: about that. */
void diag_set_file(struct diag_list *list, const char *file);
void diag_clear(struct diag_list *list); /* frees the findings; the list can be used again */
/* All findings, one per line: "function add, block body, line 3: ...". To be freed by the caller. */
char *diag_format(const struct diag_list *list);
