/* Sets of names. Each name knows the number that was last put behind it, so that the next one is found at once. */
#include "client/names.h"

#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BASE_BYTES = 200 }; /* of longer ones, what numbers are put behind */

struct name {
    bool taken;
    uint32_t last; /* number behind it */
    char text[];
};

static int compare(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    return strcmp(x->text, y->text);
}

/* The name's entry, made where there is none. */
static struct name *entry_of(struct client_names *n, const char *text)
{
    size_t size = strlen(text) + 1;
    struct name *name = calloc(1, sizeof *name + size);
    if (!name) return NULL;
    memcpy(name->text, text, size);
    struct name **found = tsearch(name, &n->tree, compare);
    if (!found || *found != name) free(name);
    return found ? *found : NULL;
}

bool client_names_claim(struct client_names *n, const char *text)
{
    struct name *name = entry_of(n, text);
    if (!name || name->taken) return false;
    return name->taken = true;
}

char *client_names_make(struct client_names *n, const char *base)
{
    char name[BASE_BYTES + 16];
    if (client_names_claim(n, base)) return strdup(base);
    snprintf(name, BASE_BYTES + 1, "%s", base);
    struct name *counted = entry_of(n, name);
    size_t length = strlen(name);
    if (!counted) return NULL;
    do snprintf(name + length, sizeof name - length, ".%" PRIu32, ++counted->last);
    while (!client_names_claim(n, name));
    return strdup(name);
}

void client_names_clear(struct client_names *n)
{
    tdestroy(n->tree, free);
    n->tree = NULL;
}
