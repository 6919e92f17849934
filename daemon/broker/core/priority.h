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

/* To a child that has one thread yet. By its parent alone, so that what it is given later stays. Failures are none: it
   only runs at another time. */
void priority_give(pid_t pid, const struct priority *priority);

/* What somebody has asked the system for: that a process of his goes behind others. */
struct priority_class {
    uint32_t policy; /* SCHED_OTHER, SCHED_BATCH or SCHED_IDLE */
    int nice;        /* counts where it is more than the daemon's own */
};

/* That of another user's process. Who wants to go before others, or is not there, has the usual one. */
struct priority_class priority_class_of(pid_t pid);

/* Processor time of a process, its threads included; 0 where unknown. */
uint64_t priority_used_ns(pid_t pid);

/* What a process has used lately. */
struct priority_load {
    pid_t pid;
    uint64_t used_ns;  /* its processor time when last looked at */
    uint32_t policy;   /* before any step; */
    int nice;          /* likewise */
    uint32_t slice_us; /* likewise */
    int steps;         /* how far it has stepped back */
};

/* A child that was started with this priority, and has one thread yet. It goes behind others as this class does. */
void priority_watch(struct priority_load *load, pid_t pid, const struct priority *priority,
                    struct priority_class behind);
/* Processor time that the process and all its threads have used since the last time. */
uint64_t priority_measure(struct priority_load *load);
/* How far the process and all its threads step back: 0 not at all, PRIORITY_STEPS as far as possible. Forward again as
   far as the system allows. */
enum { PRIORITY_STEPS = 2 };
void priority_step_to(struct priority_load *load, int steps);
