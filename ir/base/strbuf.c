/* A string that grows at its end. */
#include "ir/base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/arena.h"

static void reserve(struct strbuf *b, size_t more)
{
    size_t need = b->size + more + 1;
    if (need <= b->capacity) return;
    b->capacity = need < 2 * b->capacity ? 2 * b->capacity : need;
    b->text = arena_realloc(b->text, b->capacity);
}

void strbuf_add_bytes(struct strbuf *b, const char *s, size_t n)
{
    reserve(b, n);
    memcpy(b->text + b->size, s, n);
    b->size += n;
    b->text[b->size] = 0;
}

void strbuf_add(struct strbuf *b, const char *s)
{
    strbuf_add_bytes(b, s, strlen(s));
}

void strbuf_printf(struct strbuf *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n > 0) {
        reserve(b, (size_t)n);
        vsnprintf(b->text + b->size, (size_t)n + 1, format, again);
        b->size += (size_t)n;
    }
    va_end(again);
    va_end(args);
}

char *strbuf_take(struct strbuf *b)
{
    reserve(b, 0);
    b->text[b->size] = 0;
    char *text = b->text;
    *b = (struct strbuf){0};
    return text;
}
