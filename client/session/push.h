/* Entries on their way into the ring. */
#pragma once

#include "client/session/state.h"

/* Puts the entry of this sequence number into the ring, with the session locked, and notes what follows from that.
   False: there is no room yet. */
typedef bool client_pusher(void *data, uint64_t sequence);

/* Calls push when there is room (never more than RING_MAX_PENDING on the way) and an executor, until it succeeds.
   event: the entry's. */
fusion_status client_push(fusion_session *s, client_pusher *push, void *data, fusion_event *event);
