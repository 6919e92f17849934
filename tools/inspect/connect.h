/* The service that the commands talk to, and what went wrong with it. */
#pragma once

#include <fusiond/fusiond.h>

struct context {
    const char *socket; /* NULL: fusion_connect's rule */
    bool private_daemon;
};

/* A session, or NULL with a message. */
fusion_session *connect_or_say(const struct context *c);
/* Prints the library's last error, with what we were doing, to stderr. */
void print_error(const char *what);
