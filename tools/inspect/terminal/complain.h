/* What went wrong, told to people on stderr, or as JSON. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* From now on errors are objects on stdout instead: {"error": {"status", "object", "reason"}}, with "file", "line" and
   "column" where they are known. One a command: it ends with it. */
void complain_as_json(void);
/* "object: reason". status: a fusion_status_name(). */
void complain(const char *object, const char *status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The library's last error, with what we were doing. */
void print_error(const char *what);
/* About a place in a file: lines and columns from 1 on, 0: not known. The line is shown, with a caret below the column.
   Always false. */
bool complain_at(const char *file, size_t line, size_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The library's last error, which is about what stands at a place of a file. Always false. */
bool print_error_at(const char *file, size_t line, size_t column);
