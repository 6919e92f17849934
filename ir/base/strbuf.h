/* A string that grows at its end. */
#pragma once

#include <stddef.h>

/* All zeros is an empty one. text is NULL or ends in a 0 byte; free() it when done. */
struct strbuf {
    char *text;
    size_t size, capacity;
};

void strbuf_add(struct strbuf *b, const char *s);
void strbuf_add_bytes(struct strbuf *b, const char *s, size_t n);
void strbuf_printf(struct strbuf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The text, never NULL, to be freed by the caller; the buffer is empty again. */
char *strbuf_take(struct strbuf *b);
