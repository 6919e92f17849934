/* What the process may do and where it leaves files. */
#pragma once

/* Limits, descriptors, a temporary folder of its own. 0, or -1 with a message on stderr. */
int process_enter(void);
/* Removes the temporary folder. */
void process_leave(void);
