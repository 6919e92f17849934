/* The memory of executables that were loaded. */
#pragma once

#include "client/graph/parts.h"

/* Buffers, images and allocations as the graph's slots describe them; it gets their ids. What there is at a failure is
   to be dropped. */
fusion_status client_saved_memory_make(fusion_graph *g);
/* What is still there of it; 0 stands for none. */
void client_saved_memory_drop(fusion_session *s, const uint64_t *ids, uint32_t n);
