/*
 * The process of one job. It is a copy of a compiler that has read no job before, and ends with this one: nothing of a
 * job reaches another, whatever the first does to its process.
 */
#pragma once

/* Does the work for the connection JOB_FD; its own descriptors are all it has of the compiler. */
typedef void worker_body(void);

/* Runs body in a process of its own, with `job` (taken) as JOB_FD, and waits until nothing of it is left, its files
   included. 0; -1 where the other end of `control` was closed meanwhile. Where that process does not end in peace, this
   one ends in the same way. started: is told its number. */
int worker_run(int control, int job, worker_body *body, void (*started)(int pid));
