/* Places in memory, as callers give them. */
#pragma once

#include "client/memory/table.h"

/* The memory that `bytes` bytes from the place on lie in. */
fusion_status client_memory_of(fusion_session *s, const fusion_memory *place, uint64_t bytes, struct memory **m,
                               uint64_t *offset);
