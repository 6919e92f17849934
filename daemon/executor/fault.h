/* What happens when a kernel touches memory it must not, or does what the processor refuses. */
#pragma once

/* Distance from a buffer within which a bad address is taken for an overrun of it; buffers have that
   much unmapped space on both sides. */
#define FAULT_GUARD_BYTES ((size_t)256 << 20)

/* Installs the handlers. */
void fault_init(void);
/* Each thread that may run kernels calls it once: the handler needs a stack of its own. */
void fault_thread_init(void);
