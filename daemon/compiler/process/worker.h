/*
 * The process of one job. It is a copy of a compiler that has read no job before, and ends with this one: nothing of a
 * job reaches another, whatever the first does to its process.
 */
#pragma once

#include <stdint.h>

/* Does the work for the connection JOB_FD; its own descriptors are all it has of the compiler. care: how, from the
   broker. */
typedef void worker_body(uint64_t care);

/* Starts the process of the next job, which waits for it in its confines: a job need not wait for a process then. */
void worker_prepare(worker_body *body);
/* Nobody waits for its job: it steps back behind others who want the processors. */
void worker_step_back(void);
/* Ends it where no job came. */
void worker_discard(void);
/* Runs body in a process of its own, the one that was prepared where there is one, with `job` (taken) as JOB_FD, and
   waits until nothing of it is left, its files included. 0; -1 where the other end of `control` was closed meanwhile.
   Where that process does not end in peace, this one ends in the same way. started: is told its number. */
int worker_run(int control, int job, uint64_t care, worker_body *body, void (*started)(int pid));
