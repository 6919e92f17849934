/*
 * A connection in the event loop: a client, a compiler or an executor. Messages come as callbacks; what is sent goes
 * out at once as far as the socket takes it, the rest is queued. Never blocks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "daemon/broker/core/user.h"
#include "proto/frame.h"
#include "proto/writer.h"

struct peer;

struct peer_events {
    /* The message is cleared afterwards; descriptors are taken by setting them to -1. */
    void (*message)(void *data, struct proto_message *message);
    /* The connection ended: FUSION_SUCCESS: by the other side (reason may be NULL); else for what the other side did:
       FUSION_PROTOCOL: what came was no protocol; FUSION_TIMEOUT, FUSION_OUT_OF_MEMORY: it broke a limit. Called
       once, not after peer_close; the peer is still there until then. */
    void (*ended)(void *data, fusion_status why, const char *reason);
    /* The queue has become short (peer_queued), or NULL. */
    void (*drained)(void *data);
};

/* Takes fd, also when it fails (NULL). A connection whose queue exceeds max_queue bytes ends. */
struct peer *peer_new(uv_loop_t *loop, int fd, size_t max_queue, const struct peer_events *events, void *data);
/* What comes of descriptors may be anything that the user could open. */
void peer_is_stranger(struct peer *peer, uid_t uid);
/* What is queued and what has come of messages is charged to the user, and a message is to be whole frame_ms after it
   began. */
void peer_limit(struct peer *peer, struct user *user, uint32_t frame_ms);
/* Only what has come of messages is charged: what is queued is so already, elsewhere. */
void peer_charge_received(struct peer *peer, struct user *user);
/* The same of what a compiler answers; and it is read at once, whatever the user has had, as others may wait for it. */
void peer_charge_reply(struct peer *peer, struct user *user);
/* Finishes, sends and clears the message. False: it is too large, or the connection has ended (then `ended` is called
   from the loop). The writer's descriptors stay the caller's. */
bool peer_send(struct peer *peer, struct proto_writer *w);
size_t peer_queued(const struct peer *peer); /* bytes of memory that messages on their way take */
uint64_t peer_sent(const struct peer *peer); /* bytes, ever: whether the other side takes anything */
/* While paused nothing is read. */
void peer_pause(struct peer *peer, bool paused);
/* No callback follows. flush: what is queued is sent first, for a second at most. NULL is fine. */
void peer_close(struct peer *peer, bool flush);
