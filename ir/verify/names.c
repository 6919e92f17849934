/* Names of structs, variables, functions and values. */
#include "ir/verify/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ir/verify/report.h"

bool verify_name_ok(const char *name)
{
    if (!isalpha((unsigned char)*name) && *name != '_') return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && !strchr("_.$", *name)) return false;
    return true;
}

static int compare_names(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    if (!x || !y) return !x - !y;
    return strcmp(x, y);
}

void verify_unique(struct verifier *v, const char **names, size_t n, const char *what)
{
    if (n) qsort(names, n, sizeof *names, compare_names);
    for (size_t i = 1; i < n && names[i]; i++)
        if (strcmp(names[i - 1], names[i]) == 0) verify_report(v, "two %s have the name %s", what, names[i]);
}
