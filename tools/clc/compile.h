/* OpenCL C to SPIR-V by the user's compiler. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tools/clc/toolchain.h"

struct source {
    const char *path; /* NULL: it came by standard input */
    const char *name; /* in messages */
    char *text;       /* ends in a 0 byte */
    size_t size;
    char **options; /* of clang */
    size_t n_options;
};

struct compiled {
    char *spirv; /* NULL: there is none */
    size_t size;
    char *log;       /* errors and warnings, never NULL */
    char **includes; /* files that were read besides the source */
    size_t n_includes;
};

/* False: it did not work, and the log says why. folder: for temporary files, empty. To be cleared in both cases. */
bool compile(const struct source *s, const struct toolchain *t, const char *folder, struct compiled *c);
void compiled_clear(struct compiled *c);
