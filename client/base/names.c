/* Sets of names. Each name knows the number that was last put behind it, so that the next one is found at once. */
#include "client/base/names.h"

#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BASE_BYTES = 200 }; /* of longer ones, what numbers are put behind */

struct name {
    const char *text;
    bool taken;
    uint32_t last; /* number behind it */
    char storage[];
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
    name->text = memcpy(name->storage, text, size);
    struct name **found = tsearch(name, &n->tree, compare);
    if (!found || *found != name) free(name);
    return found ? *found : NULL;
}

enum client_name client_names_claim(struct client_names *n, const char *text)
{
    struct name *name = entry_of(n, text);
    if (!name) return CLIENT_NAME_NO_MEMORY;
    if (name->taken) return CLIENT_NAME_TAKEN;
    name->taken = true;
    return CLIENT_NAME_CLAIMED;
}

void client_names_release(struct client_names *n, const char *text)
{
    const struct name key = {.text = text}; /* takes no memory: what failed for lack of it is undone so */
    struct name **found = tfind(&key, &n->tree, compare);
    if (found) (*found)->taken = false;
}

/* base with the first number behind it that is free. */
static enum client_name claim_counted(struct client_names *n, const char *base, char name[BASE_BYTES + 16])
{
    enum client_name result;
    snprintf(name, BASE_BYTES + 1, "%s", base);
    struct name *counted = entry_of(n, name);
    size_t length = strlen(name);
    if (!counted) return CLIENT_NAME_NO_MEMORY;
    do {
        snprintf(name + length, 16, ".%" PRIu32, counted->last + 1);
        result = client_names_claim(n, name);
        if (result != CLIENT_NAME_NO_MEMORY) counted->last++;
    } while (result == CLIENT_NAME_TAKEN);
    return result;
}

char *client_names_make(struct client_names *n, const char *base)
{
    char name[BASE_BYTES + 16];
    const char *claimed = base;
    enum client_name result = client_names_claim(n, base);
    if (result == CLIENT_NAME_TAKEN) {
        result = claim_counted(n, base, name);
        claimed = name;
    }
    if (result != CLIENT_NAME_CLAIMED) return NULL;
    char *copy = strdup(claimed);
    if (!copy) client_names_release(n, claimed);
    return copy;
}

void client_names_clear(struct client_names *n)
{
    tdestroy(n->tree, free);
    n->tree = NULL;
}
