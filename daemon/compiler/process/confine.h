/* What a job may do: files of its folder, the assembler and the linker, its connection; no other process, no network.
 */
#pragma once

/* The descriptor over which a job speaks. */
enum { JOB_FD = 3 };

/* Makes the rules ready, for jobs whose files lie in the folder. 0, or -1 with a message on stderr. */
int confine_prepare(const char *folder);
/* In the process of a job, with its connection in place: enters the rules for good. 0, or -1. */
int confine_enter(void);
