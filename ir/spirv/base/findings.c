/* Findings about the whole module. */
#include "ir/spirv/base/findings.h"

#include <stdarg.h>
#include <stdio.h>

void spirv_fail_module(struct spirv_findings *findings, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    diag_add(findings->list, NULL, NULL, 0, 0, "%s", text);
    findings->failed = true;
}
