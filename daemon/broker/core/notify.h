/*
 * What the service manager is told: that the daemon is ready, reads its configuration again, ends, and at regular
 * intervals that its event loop goes round (sd_notify(3): one datagram each, to the socket that the environment names).
 */
#pragma once

#include <uv.h>

struct notify;

/* Takes what it needs out of the environment, so that no child has it. NULL: nobody listens, which is fine for all
   below. */
struct notify *notify_new(uv_loop_t *loop);
void notify_ready(struct notify *notify);
void notify_reloading(struct notify *notify); /* until it is ready again */
void notify_stopping(struct notify *notify);
void notify_free(struct notify *notify);
