/* What was compiled before, in $XDG_CACHE_HOME/fusiond/clc (or ~/.cache/fusiond/clc). */
#pragma once

#include <stdbool.h>

#include "tools/clc/compile.h"

/* The place of an entry. Known before anything was compiled: by source, options, compiler and folder. */
struct cache_entry {
    char path[PATH_MAX]; /* "": there is no cache */
};

void cache_locate(struct cache_entry *e, const struct source *s, const struct toolchain *t);
/* What was kept, where all files that it was made of are as they were. To be cleared. */
bool cache_find(const struct cache_entry *e, struct compiled *c);
/* Failures are none: it is compiled again. */
void cache_keep(const struct cache_entry *e, const struct compiled *c);
