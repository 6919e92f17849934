/* Whole files. */
#include "tools/clc/file.h"

#include <stdlib.h>

#include "ir/base/strbuf.h"

char *file_read(const char *path, size_t *size)
{
    FILE *f = path ? fopen(path, "rbe") : stdin;
    struct strbuf b = {0};
    char part[16384];
    size_t got;
    if (!f) return NULL;
    while ((got = fread(part, 1, sizeof part, f)) > 0) strbuf_add_bytes(&b, part, got);
    bool failed = ferror(f);
    if (path) fclose(f);
    *size = b.size;
    char *text = strbuf_take(&b);
    if (!failed) return text;
    free(text);
    return NULL;
}

bool file_write_to(FILE *out, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, out) == size && fflush(out) == 0;
}

bool file_write_new(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wbe");
    if (!f) return false;
    bool good = file_write_to(f, bytes, size);
    return fclose(f) == 0 && good;
}
