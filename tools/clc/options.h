/* What fusiond-clc was asked for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct options {
    const char *told;   /* what it says of itself, when that is all it is asked for; else NULL */
    const char *path;   /* NULL: standard input */
    const char *name;   /* of the source, in messages */
    const char *output; /* "-": standard output */
    const char *lacks; /* the option of clang whose value is missing, where it cannot be understood for that; or NULL */
    bool quote_open;   /* it cannot be understood, as the text of the options ends between quotes */
    char **clang;      /* options for clang */
    size_t n_clang;
    char **owned; /* of those, the ones that were split from a text */
    size_t n_owned;
    char *own_output;
};

extern const char options_usage[];

/* False: it cannot be understood. To be cleared in both cases. */
bool options_read(struct options *o, int argc, char **argv);
void options_clear(struct options *o);
