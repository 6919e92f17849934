/* The service that the commands talk to. */
#pragma once

#include <fusiond/fusiond.h>

struct context {
    const char *socket; /* NULL: fusion_connect's rule */
    bool private_daemon;
};

/* A session, or NULL with a message. */
fusion_session *connect_or_say(const struct context *c);
/* The same, of a service that runs already: none is started, but with --private. */
fusion_session *connect_to_running(const struct context *c);
