/* Who has a buffer's contents: its memory, which this process and the executor share, or a device. */
#pragma once

#include "client/memory/table.h"
#include "proto/ring.h"

enum { CLIENT_HOST_ALL = RING_HOST_READS | RING_HOST_WRITES };

/* Of memory that a submission uses on a GPU: what this process does with it (enum ring_host), for its entry. Session
   locked. */
uint32_t client_memory_submitted(struct memory *m);
/* Whoever comes next in the session's ring may read it, or with RING_HOST_WRITES write it too: what only a device has
   is on its way back. event: what to wait for; 0: nothing is needed. NULL: nobody waits. */
fusion_status client_memory_take(struct memory *m, uint32_t host, fusion_event *event);
/* The same, and waits for it and for all submissions that use the memory, which is made where there is none yet. */
fusion_status client_memory_access(struct memory *m, uint32_t host, void **memory);
