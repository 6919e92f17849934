/* What happens when a kernel touches memory it must not, or does what the processor refuses. */
#pragma once

/* Installs the handlers. */
void fault_init(void);
/* Each thread that may run kernels calls it once: the handler needs a stack of its own. */
void fault_thread_init(void);
