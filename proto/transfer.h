/* Blocking send and receive, for processes without an event loop. */
#pragma once

#include "proto/frame.h"
#include "proto/writer.h"

/* Blocking send and receive for processes without a loop (client, compiler, executor). deadline: CLOCK_MONOTONIC
   in ms, 0: none. 0 or -1 with errno (ETIMEDOUT, EPIPE ...); reason is set with EPROTO and EPIPE only.
   ENOMEM loses nothing: the message can be received later. */
int proto_send(int fd, const struct proto_writer *w, uint64_t deadline_ms);
/* The same for a message whose first *sent bytes are sent already: it can go on where it ran out of time. The
   descriptors go with the first byte. */
int proto_send_from(int fd, const struct proto_writer *w, size_t *sent, uint64_t deadline_ms);
int proto_receive(int fd, struct proto_reader *r, struct proto_message *message, uint64_t deadline_ms,
                  const char **reason);
