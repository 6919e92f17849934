/* Compilers of others, run as programs on files in a folder of our own. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/error.h"

struct workshop {
    char folder[256];
};

/* False, with the error. */
bool workshop_open(struct workshop *w, struct error *e);
void workshop_close(struct workshop *w); /* removes the folder with what is in it */
/* "<folder>/name" into path. */
const char *workshop_path(const struct workshop *w, const char *name, char path[static 512]);
bool workshop_put(const struct workshop *w, const char *name, const void *bytes, size_t size, struct error *e);
/* A whole file with a 0 behind it, to be freed; NULL: there is none. */
uint8_t *workshop_get(const struct workshop *w, const char *name, size_t *size);

/* Is there such a program in PATH, or at that path? */
bool program_found(const char *name);
/* Runs it; false with the error, in its own words where it said some. name is what errors call it. */
bool program_run(const struct workshop *w, const char *name, char *const argv[], struct error *e);
/* The same in a process of ours, for libraries that end theirs. */
bool function_run(const struct workshop *w, const char *name, int (*run)(void *data), void *data, struct error *e);
