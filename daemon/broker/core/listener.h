/* The listening socket: made here, or handed over by systemd. */
#pragma once

#include <uv.h>

struct listener;
/* A connection has come; taken. */
typedef void listener_accept_fn(void *data, int fd);

/* path: where to listen; a socket file that nobody listens on any more is replaced. NULL with a line in the log. */
struct listener *listener_open(uv_loop_t *loop, const char *path, listener_accept_fn *accept, void *data);
/* Stops listening; removes the file where it was made here. NULL is fine. */
void listener_close(struct listener *listener);
