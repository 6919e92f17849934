/* Where threads run: each on a processor of its own, as far as there are enough. */
#pragma once

#include <stdbool.h>

/* The calling thread goes to any other processor that it may run on; from there on the system's scheduler decides
   again. Takes some 20 us. */
void place_move(void);
/* For the calling thread, again and again. shares: it finds itself on the processor of a thread that works at the same
   time. Where that stays so, it moves to another one, now and then: the system's scheduler leaves threads together that
   take turns, although they could run side by side. Gives whether it has a processor of its own. */
bool place_is_own(bool shares);
