#include "tools/features/usage.h"

#include <stdio.h>
#include <string.h>

bool usage_is_asked(const char *program, const char *usage, int argc, char **argv)
{
    if (argc != 2) return false;
    if (strcmp(argv[1], "--help") == 0)
        fputs(usage, stdout);
    else if (strcmp(argv[1], "--version") == 0)
        printf("%s " FUSIOND_VERSION "\n", program);
    else
        return false;
    return true;
}
