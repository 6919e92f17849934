/* What the executor gives up before it runs anybody's code. */
#pragma once

/* The descriptors that system calls may send and receive over. */
enum { SANDBOX_CONNECTION_FD = 3, SANDBOX_EVENT_FD = 5 };

/* Limits, descriptors, files: before any thread is started. 0, or -1 with a message on stderr. */
int sandbox_enter(void);
/* System calls: for all threads, after the last one was started; standard error goes nowhere then. Does nothing where
   FUSIOND_NO_SECCOMP=1 or in sanitizer builds, whose runtime needs more. */
int sandbox_filter(void);
