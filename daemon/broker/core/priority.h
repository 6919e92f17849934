/*
 * How much of the processors a process of the daemon gets against others, and how soon. Executors are waited for: they
 * have short slices. But what they run is a stranger's and may never end: they weigh less than compilers, and those of
 * a user who keeps a processor busy while the daemon serves others step back further, so that the others' short
 * submissions go first.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct priority {
    int nice;          /* more than the daemon's own */
    uint32_t slice_us; /* 0: the kernel's usual one, which all have where it knows no other */
};

extern const struct priority priority_of_compilers, priority_of_executors, priority_of_binaries;

/* For the calling process. Allocates and locks nothing. Failures are none: it only runs at another time. */
void priority_take(const struct priority *priority);

/* Processor time of a process, its threads included; 0 where unknown. */
uint64_t priority_used_ns(pid_t pid);

/* What a process has used lately. */
struct priority_load {
    pid_t pid;
    uint64_t used_ns;  /* its processor time when last looked at */
    int nice;          /* before any step; */
    uint32_t slice_us; /* likewise */
    int steps;         /* how far it has stepped back */
};

/* A child that was started with this priority. */
void priority_watch(struct priority_load *load, pid_t pid, const struct priority *priority);
/* Processor time that the process and all its threads have used since the last time. */
uint64_t priority_measure(struct priority_load *load);
/* How far the process and all its threads step back: 0 not at all, PRIORITY_STEPS as far as possible. Forward again as
   far as the system allows. */
enum { PRIORITY_STEPS = 2 };
void priority_step_to(struct priority_load *load, int steps);
