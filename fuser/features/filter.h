/* Which rows of a file table a target can use. */
#pragma once

#include <stdbool.h>

#include "fuser/features/file_table.h"
#include "fuser/features/property_set.h"
#include "ir/features/targets.h"

/* Whether the target has what the set asks for. */
bool filter_accepts(const struct ir_target *t, const struct property_set *s);
/* The rows of `from` that the target can use, into `to`, which was initialized. A table without the column Properties
   is copied. 0, or -1 with the error. */
int filter_table(const struct file_table *from, const struct ir_target *t, struct file_table *to, struct error *e);
/* A text file, to be freed; NULL with the error. */
char *filter_read_file(const char *path, struct error *e);
