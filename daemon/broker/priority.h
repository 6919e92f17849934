/*
 * How much of the processors a process of the daemon gets against others, and how soon. Executors are waited for: they
 * have short slices. But what they run is a stranger's and may never end: they weigh less than compilers, and those of a
 * user who keeps a processor busy while the daemon serves others step back further, so that the others' short
 * submissions go first.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct priority {
    int nice;          /* more than the daemon's own */
    uint32_t slice_us; /* 0: the kernel's usual one, which all have where it knows no other */
};

extern const struct priority priority_of_compilers, priority_of_executors;

/* For the calling process. Allocates and locks nothing. Failures are none: it only runs at another time. */
void priority_take(const struct priority *priority);

/* What a process has used lately. */
struct priority_load {
    pid_t pid;
    uint64_t at_ns, used_ns; /* when last looked at, and its processor time then */
    int steps;               /* how far it has stepped back */
};

void priority_watch(struct priority_load *load, pid_t pid);
/* What the process and all its threads have used since the last time, in percent of a processor. */
uint32_t priority_measure(struct priority_load *load);
/* Sets the process a step back, with all its threads, or a step forward again as far as the system allows. */
void priority_step_back(struct priority_load *load);
void priority_step_forward(struct priority_load *load);
