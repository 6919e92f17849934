/* Taking memory: a sealed memfd that the session's executor maps too. */
#pragma once

#include "client/memory/table.h"

/* Takes the memory and attaches it to the executor, where that has not happened yet. */
fusion_status client_memory_ensure(struct memory *m);
/* Waits for the last user, then gives the memory back on both sides, and its place in the table. */
void client_memory_drop(struct memory *m);
