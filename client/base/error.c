/* The last error of each thread. */
#include "client/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local fusion_error last_error;

const fusion_error *fusion_last_error(void)
{
    return &last_error;
}

fusion_status client_error(fusion_status status, const char *object, const char *format, ...)
{
    fusion_error error = {.status = status};
    snprintf(error.object, sizeof error.object, "%s", object ? object : "");
    va_list args;
    va_start(args, format);
    vsnprintf(error.reason, sizeof error.reason, format, args);
    va_end(args);
    last_error = error; /* at the end: object or an argument may point into the old one */
    return status;
}

fusion_status client_errno(fusion_status status, const char *object, const char *what)
{
    int code = errno;
    return client_error(status, object, "%s: %s", what, strerror(code));
}

fusion_status client_no_memory(const char *object)
{
    return client_error(FUSION_OUT_OF_MEMORY, object, "no memory");
}
