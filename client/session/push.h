/* Entries on their way into the ring. */
#pragma once

#include "client/session/state.h"

/* Puts the entry of this sequence number into the ring, with the session locked, and notes what follows from that.
   False: there is no room yet. */
typedef bool client_pusher(void *data, uint64_t sequence);

/* Calls push when there is room (never more than RING_MAX_PENDING on the way) and an executor, until it succeeds.
   event: the entry's. */
fusion_status client_push(fusion_session *s, client_pusher *push, void *data, fusion_event *event);

/* Pushes one entry for all reserved numbers up to `last`. */
fusion_status client_push_reserved(fusion_session *s, client_pusher *push, void *data, fusion_event last);
/* The first reserved number is of nothing that could be pushed: who waits for it learns the error recorded last. */
void client_fail_reserved(fusion_session *s);
