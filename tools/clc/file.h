/* Whole files. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A 0 byte follows that is not counted; free() it. NULL with errno. path NULL is standard input. */
char *file_read(const char *path, size_t *size);
/* False with errno; then there may be a part of it. */
bool file_write_new(const char *path, const void *bytes, size_t size);
bool file_write_to(FILE *out, const void *bytes, size_t size);
