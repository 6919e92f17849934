/* The service that the commands talk to. */
#include "tools/inspect/connect.h"

#include "tools/inspect/terminal/complain.h"

static fusion_status try_connect(const struct context *c, bool running_only, fusion_session **s)
{
    fusion_connect_options options = {FUSION_SIZED(fusion_connect_options), .name = "fusion-inspect",
                                      .time_limit_ms = c->time_limit_ms, .private_daemon = c->private_daemon,
                                      .running_only = running_only};
    return fusion_connect(c->socket, &options, s);
}

fusion_session *connect_or_say(const struct context *c)
{
    fusion_session *s = NULL;
    if (try_connect(c, false, &s) != FUSION_SUCCESS) print_error("connect");
    return s;
}

fusion_session *connect_to_running(const struct context *c)
{
    fusion_session *s = NULL;
    if (try_connect(c, true, &s) == FUSION_SUCCESS) return s;
    const fusion_error *e = fusion_last_error();
    if (e->status == FUSION_CONNECTION)
        complain("no service is running", fusion_status_name(e->status), "%s: %s", e->object, e->reason);
    else
        print_error("connect");
    return NULL;
}
