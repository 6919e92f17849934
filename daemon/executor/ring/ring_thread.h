/*
 * The thread that takes the client's submissions from the ring, one after the other. This room is the executor's side
 * of the ring: entries come in (submit.h), completions go out (completion.h). It uses the rooms program and run.
 */
#pragma once

struct ring;
struct submitter;

/* corrupt: told where the ring holds garbage, before the process ends. 0, or an error number. */
int ring_thread_start(struct ring *ring, struct submitter *submitter, void (*corrupt)(const char *reason));
/* From another thread: ends the process with the code as soon as what was taken from the ring is complete. What was not
   is left there. */
_Noreturn void ring_thread_end(int code);
