/*
 * Closing descriptors whose closing may take long: a socket lingers, large memory is given back, a file system waits
 * for its server. Helper threads do it, so that the event loop never waits. Of what strangers have sent closing may
 * never end, whatever is tried: each user has few threads for it, and holds up nobody but himself.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Starts the first thread. False: it cannot be. */
bool closing_start(void);
/* A connection, or memory that was looked at: what ends some day. Takes the descriptor over; never blocks. Before
   closing_start() it closes in place. */
void closing_close(int fd);
/* Whatever a user has sent, likewise. */
void closing_close_of(uid_t uid, int fd);
/* Of these descriptors: how many are still open, of one user and of all. */
uint64_t closing_pending_of(uid_t uid);
uint64_t closing_pending(void);
