/* Filling in errors. */
#include "ir/base/error.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

void error_clear(struct error *e)
{
    e->code = 0;
    e->object[0] = e->reason[0] = 0;
}

/* As much as fits. They may overlap. */
static void copy_text(char *to, size_t size, const char *from)
{
    size_t n = strnlen(from, size - 1);
    memmove(to, from, n);
    to[n] = 0;
}

int error_vset(struct error *e, int code, const char *object, const char *format, va_list args)
{
    char reason[ERROR_REASON];
    if (!e) return -1;
    vsnprintf(reason, sizeof reason, format, args);
    e->code = code;
    copy_text(e->object, sizeof e->object, object ? object : "");
    copy_text(e->reason, sizeof e->reason, reason);
    return -1;
}

int error_set(struct error *e, int code, const char *object, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int result = error_vset(e, code, object, format, args);
    va_end(args);
    return result;
}

int error_set_id(struct error *e, int code, const char *kind, unsigned long long id, const char *format, ...)
{
    char object[ERROR_OBJECT];
    va_list args;
    snprintf(object, sizeof object, "%s %llu", kind, id);
    va_start(args, format);
    int result = error_vset(e, code, object, format, args);
    va_end(args);
    return result;
}

int error_about(struct error *e, const char *format, ...)
{
    char object[ERROR_OBJECT];
    va_list args;
    if (!e) return -1;
    va_start(args, format);
    vsnprintf(object, sizeof object, format, args);
    va_end(args);
    copy_text(e->object, sizeof e->object, object);
    return -1;
}
