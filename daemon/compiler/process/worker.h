/*
 * The process of one job. It is a copy of a compiler that has read no job before, and ends with this one: nothing of a
 * job reaches another, whatever the first does to its process.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Does the work for the connection JOB_FD; its own descriptors are all it has of the compiler. care: how, from the
   broker. */
typedef void worker_body(uint64_t care);

/* Starts the process of the next job, which waits for it in its confines: a job need not wait for a process then. */
void worker_prepare(worker_body *body);
/* Before whom it goes where several want the processors: docs/protocol.md, `job`. All that it has started, too. */
enum worker_priority { WORKER_FIRST, WORKER_BEHIND, WORKER_LAST };
void worker_set_priority(uint64_t priority);
/* Ends it where no job came. */
void worker_discard(void);
struct worker_job {
    int connection; /* becomes JOB_FD; taken */
    uint64_t care, priority;
};

struct worker_control {
    int fd;
    void (*started)(int pid); /* is told the number of the job's process */
    bool (*hear)(void);       /* takes what has come over fd, without waiting; false: it was closed */
};

/* Runs body in a process of its own, the one that was prepared where there is one, and waits until nothing of it is
   left, its files included. 0; -1 where the other end of the control connection was closed meanwhile. Where that
   process does not end in peace, this one ends in the same way. used_us: the processor time of it and all that it
   started. */
int worker_run(const struct worker_job *job, const struct worker_control *control, worker_body *body,
               uint64_t *used_us);
