/* Names that are used once each. All 0 is an empty set. */
#pragma once

#include <stdbool.h>

struct client_names {
    void *tree;
};

enum client_name { CLIENT_NAME_CLAIMED, CLIENT_NAME_TAKEN, CLIENT_NAME_NO_MEMORY };

enum client_name client_names_claim(struct client_names *n, const char *text);
/* The name may be claimed again. */
void client_names_release(struct client_names *n, const char *text);
/* base, or base.1, base.2 ... whichever is free; to be freed. NULL: no memory, and nothing is claimed. */
char *client_names_make(struct client_names *n, const char *base);
void client_names_clear(struct client_names *n);
