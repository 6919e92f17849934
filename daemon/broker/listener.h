/* The listening socket: made here, or handed over by systemd. */
#pragma once

#include "daemon/broker/broker.h"

struct listener;

/* path: where to listen; a socket file that nobody listens on any more is replaced. NULL with a line in the log. */
struct listener *listener_open(struct broker *broker, const char *path);
/* Stops listening; removes the file where it was made here. NULL is fine. */
void listener_close(struct listener *listener);
