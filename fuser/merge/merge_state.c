/* Why kernels cannot become one. */
#include "fuser/merge/merge_state.h"

#include <stdarg.h>
#include <stdio.h>

bool fuse_refuse(struct fuse *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(f->why, f->why_size, format, args);
    va_end(args);
    return false;
}
