/* Filling in errors. */
#include "daemon/executor/error.h"

#include <stdarg.h>
#include <stdio.h>

static int fail(struct exec_error *e, fusion_status status, const char *format, va_list args)
{
    e->status = status;
    vsnprintf(e->reason, sizeof e->reason, format, args);
    return -1;
}

int exec_fail(struct exec_error *e, fusion_status status, const char *object, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    snprintf(e->object, sizeof e->object, "%s", object);
    int result = fail(e, status, format, args);
    va_end(args);
    return result;
}

int exec_fail_id(struct exec_error *e, fusion_status status, const char *kind, unsigned long long id,
                 const char *format, ...)
{
    va_list args;
    va_start(args, format);
    snprintf(e->object, sizeof e->object, "%s %llu", kind, id);
    int result = fail(e, status, format, args);
    va_end(args);
    return result;
}
