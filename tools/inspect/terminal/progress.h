/* What takes long, told on a terminal while it does: a line on standard error, which goes again. */
#pragma once

#include <stdint.h>

/* From now on this is done, so much of it by now; of 0: it is not counted. `what` lives until the next call. Shown
   where standard error is a terminal, after a moment. */
void progress(const char *what, uint32_t done, uint32_t of);
/* Nothing is done any more. The line goes, before anything else is written. */
void progress_end(void);
