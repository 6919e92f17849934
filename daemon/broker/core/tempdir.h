/* The daemon's directory for temporary files of compilers: removed at the end, or by the next daemon. */
#pragma once

#include <stdbool.h>

struct tempdir {
    char path[256];
    int lock; /* held while the daemon lives: says that the directory is in use */
};

/* Removes what dead daemons of this user have left, then makes a new directory. False with a line in the log. */
bool tempdir_make(struct tempdir *t);
void tempdir_remove(struct tempdir *t);
/* A directory below it, for one compiler. */
bool tempdir_make_child(const struct tempdir *t, unsigned number, char *path, unsigned size);
void tempdir_remove_tree(const char *path);
