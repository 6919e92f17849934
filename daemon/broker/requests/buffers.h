/* Buffers of a session: sealed memory of the client, handed on to the executor and kept for the next one. */
#pragma once

#include "daemon/broker/session/session.h"
#include "proto/frame.h"

/* Methods. */
void buffer_attach(struct session *s, struct proto_message *m);
void buffer_release(struct session *s, struct proto_message *m);

void buffers_clear(struct session *s);
void buffers_replay(struct session *s, struct executor *executor); /* sends all to a new one */
/* The executor's answer. */
void buffer_replied(struct session *s, uint64_t id, const struct proto_message *reply);
