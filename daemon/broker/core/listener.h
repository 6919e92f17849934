/* The listening socket: made here, or handed over by systemd. */
#pragma once

#include <sys/types.h>
#include <uv.h>

struct listener;
/* A connection has come; taken. */
typedef void listener_accept_fn(void *data, int fd);

/* Who may connect to a socket that is made here. */
struct listener_access {
    gid_t group; /* (gid_t)-1: as it comes */
    int mode;    /* -1: 0660 with a group, else as the umask has it */
};

/* path: where to listen; a socket file that nobody listens on any more is replaced. NULL with a line in the log. */
struct listener *listener_open(uv_loop_t *loop, const char *path, const struct listener_access *access,
                               listener_accept_fn *accept, void *data);
/* Stops listening; removes the file where it was made here. NULL is fine. */
void listener_close(struct listener *listener);
