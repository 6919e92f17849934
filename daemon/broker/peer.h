/*
 * A connection in the event loop: a client, a compiler or an executor. Messages come as callbacks; what is sent goes
 * out at once as far as the socket takes it, the rest is queued. Never blocks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "proto/frame.h"

struct peer;

struct peer_events {
    /* The message is cleared afterwards; descriptors are taken by setting them to -1. */
    void (*message)(void *data, struct proto_message *message);
    /* The connection ended: reason NULL: by the other side; violation: what came was no protocol. Called once, not
       after peer_close; the peer is still there until then. */
    void (*ended)(void *data, const char *reason, bool violation);
    /* The queue has become short (peer_queued), or NULL. */
    void (*drained)(void *data);
};

/* Takes fd, also when it fails (NULL). A connection whose queue exceeds max_queue bytes ends. */
struct peer *peer_new(uv_loop_t *loop, int fd, size_t max_queue, const struct peer_events *events, void *data);
/* Finishes, sends and clears the message. False: it is too large, or the connection has ended (then `ended` is called
   from the loop). The writer's descriptors stay the caller's. */
bool peer_send(struct peer *peer, struct proto_writer *w);
size_t peer_queued(const struct peer *peer);
uint64_t peer_sent(const struct peer *peer); /* bytes, ever: whether the other side takes anything */
/* While paused nothing is read. */
void peer_pause(struct peer *peer, bool paused);
int peer_fd(const struct peer *peer);
/* No callback follows. flush: what is queued is sent first, for a second at most. NULL is fine. */
void peer_close(struct peer *peer, bool flush);
