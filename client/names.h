/* Names that are used once each. All 0 is an empty set. */
#pragma once

#include <stdbool.h>

struct client_names {
    void *tree;
};

bool client_names_claim(struct client_names *n, const char *name); /* false: it is taken */
/* base, or base.1, base.2 ... whichever is free; to be freed. NULL: no memory. */
char *client_names_make(struct client_names *n, const char *base);
void client_names_clear(struct client_names *n);
