/* What the executor gives up before it runs anybody's code. */
#pragma once

/* The descriptors that system calls may send and receive over. */
enum { SANDBOX_CONNECTION_FD = 3, SANDBOX_EVENT_FD = 5 };

/* What a process needs that drivers of GPUs are loaded into: files of theirs, device nodes, threads, code that is made
   at run time. docs/security.md. */
enum sandbox_profile { SANDBOX_CPU, SANDBOX_GPU };

/* Limits, descriptors, files: before any thread is started, and any driver loaded. 0, or -1 with a message on stderr.
 */
int sandbox_enter(enum sandbox_profile profile);
/* System calls: for all threads, after the last one was started; standard error goes nowhere then. Does nothing where
   FUSIOND_NO_SECCOMP=1 or in sanitizer builds, whose runtime needs more. */
int sandbox_filter(enum sandbox_profile profile);
