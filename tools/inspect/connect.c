/* The service that the commands talk to. */
#include "tools/inspect/connect.h"

#include <stdio.h>

void print_error(const char *what)
{
    const fusion_error *e = fusion_last_error();
    fprintf(stderr, "%s: %s: %s: %s\n", what, fusion_status_name(e->status), e->object, e->reason);
}

fusion_session *connect_or_say(const struct context *c)
{
    fusion_session *s = NULL;
    fusion_connect_options options = {.name = "fusion-inspect", .private_daemon = c->private_daemon};
    if (fusion_connect(c->socket, &options, &s) != FUSION_SUCCESS) print_error("connect");
    return s;
}
