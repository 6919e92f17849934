/* How much of the processors a process of the daemon gets. */
#include "daemon/broker/core/priority.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STEP_NICE = 14, MAX_NICE = 19, LONG_SLICE_US = 100000 };

const struct priority priority_of_compilers = {.nice = 0, .slice_us = 0};
const struct priority priority_of_executors = {.nice = 5, .slice_us = 500};
const struct priority priority_of_binaries = {.nice = 10, .slice_us = 0}; /* nobody waits for them */

/* struct sched_attr as of its first version: the C library has none. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t real_time;
    uint64_t slice_ns, deadline, period;
};

/* The nice value of a child of this process. */
static int nice_of(const struct priority *priority)
{
    errno = 0;
    int own = getpriority(PRIO_PROCESS, 0);
    int nice_now = (errno ? 0 : own) + priority->nice;
    return nice_now < MAX_NICE ? nice_now : MAX_NICE;
}

void priority_take(const struct priority *priority)
{
    int nice_now = nice_of(priority);
    struct attributes a = {.size = sizeof a, .nice = nice_now, .slice_ns = (uint64_t)priority->slice_us * 1000};
    if (syscall(SYS_sched_setattr, 0, &a, 0) != 0) setpriority(PRIO_PROCESS, 0, nice_now);
}

uint64_t priority_used_ns(pid_t pid)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0) return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void priority_watch(struct priority_load *load, pid_t pid, const struct priority *priority)
{
    *load = (struct priority_load){
        .pid = pid, .used_ns = priority_used_ns(pid), .nice = nice_of(priority), .slice_us = priority->slice_us};
}

/* Which policy the process has when it has stepped back so far: the last step gives way to whoever wakes up. */
static uint32_t policy_at(int steps)
{
    return steps >= PRIORITY_STEPS ? SCHED_IDLE : SCHED_OTHER;
}

/* All threads of the process. False: they cannot be seen. */
static bool set_threads(pid_t pid, const struct attributes *a)
{
    char path[64];
    bool done = false;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    if (!dir) return false;
    for (struct dirent *d = readdir(dir); d; d = readdir(dir))
        if (d->d_name[0] != '.') done |= syscall(SYS_sched_setattr, (pid_t)atol(d->d_name), a, 0) == 0;
    closedir(dir);
    return done;
}

/* Who has stepped back has long slices: he is to have the end of one far before him whenever somebody else wakes up,
   and with short ones some of many who compute without end would always be about to get their next. */
static uint32_t slice_at(const struct priority_load *load, int steps)
{
    return steps > 0 ? LONG_SLICE_US : load->slice_us;
}

/* The whole process. It leads a group of which it is all, and whose threads are meant, too, where only that helps. */
void priority_step_to(struct priority_load *load, int steps)
{
    if (steps == load->steps) return;
    int wanted = load->nice + steps * STEP_NICE, nice_now = wanted < MAX_NICE ? wanted : MAX_NICE;
    struct attributes a = {.size = sizeof a,
                           .policy = policy_at(steps),
                           .nice = nice_now,
                           .slice_ns = (uint64_t)slice_at(load, steps) * 1000};
    if (set_threads(load->pid, &a) || setpriority(PRIO_PGRP, (id_t)load->pid, nice_now) == 0) load->steps = steps;
}

uint64_t priority_measure(struct priority_load *load)
{
    uint64_t used = priority_used_ns(load->pid), more = used > load->used_ns ? used - load->used_ns : 0;
    load->used_ns = used;
    return more;
}
