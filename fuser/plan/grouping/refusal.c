/* Why a kernel does not join a group. */
#include "fuser/plan/grouping/refusal.h"

#include <stdarg.h>
#include <stdio.h>

bool refuse(struct refusal *r, const char *code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(r->text, sizeof r->text, format, list);
    va_end(list);
    r->code = code;
    return false;
}
