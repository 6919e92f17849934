/* The service that the commands talk to. */
#pragma once

#include <fusiond/fusiond.h>

struct context {
    const char *socket; /* NULL: fusion_connect's rule */
    bool private_daemon;
    uint32_t time_limit_ms; /* of submissions; 0: the service's */
};

/* A session, or NULL with a message. */
fusion_session *connect_or_say(const struct context *c);
/* The same, of a service that runs already: none is started, but with --private. */
fusion_session *connect_to_running(const struct context *c);
