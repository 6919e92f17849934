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

enum { STEP_NICE = 14, MIN_NICE = -20, MAX_NICE = 19, LONG_SLICE_US = 100000 };

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

void priority_give(pid_t pid, const struct priority *priority)
{
    int nice_now = nice_of(priority);
    struct attributes a = {.size = sizeof a, .nice = nice_now, .slice_ns = (uint64_t)priority->slice_us * 1000};
    if (syscall(SYS_sched_setattr, pid, &a, 0) != 0) setpriority(PRIO_PROCESS, (id_t)pid, nice_now);
}

uint64_t priority_used_ns(pid_t pid)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0) return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A policy may have flags. */
struct priority_class priority_class_of(pid_t pid)
{
    struct priority_class c = {.policy = SCHED_OTHER, .nice = MIN_NICE};
    int policy = pid > 0 ? sched_getscheduler(pid) & ~SCHED_RESET_ON_FORK : -1;
    errno = 0;
    int nice_now = pid > 0 ? getpriority(PRIO_PROCESS, (id_t)pid) : MIN_NICE;
    if (policy == SCHED_BATCH || policy == SCHED_IDLE) c.policy = (uint32_t)policy;
    if (errno == 0) c.nice = nice_now;
    return c;
}

/* Which policy the process has when it has stepped back so far: the last step gives way to whoever wakes up. */
static uint32_t policy_at(const struct priority_load *load, int steps)
{
    return steps >= PRIORITY_STEPS ? SCHED_IDLE : load->policy;
}

/* Who has stepped back has long slices: he is to have the end of one far before him whenever somebody else wakes up,
   and with short ones some of many who compute without end would always be about to get their next. */
static uint32_t slice_at(const struct priority_load *load, int steps)
{
    return steps > 0 ? LONG_SLICE_US : load->slice_us;
}

static struct attributes attributes_at(const struct priority_load *load, int steps)
{
    int wanted = load->nice + steps * STEP_NICE;
    return (struct attributes){.size = sizeof(struct attributes),
                               .policy = policy_at(load, steps),
                               .nice = wanted < MAX_NICE ? wanted : MAX_NICE,
                               .slice_ns = (uint64_t)slice_at(load, steps) * 1000};
}

void priority_watch(struct priority_load *load, pid_t pid, const struct priority *priority,
                    struct priority_class behind)
{
    *load = (struct priority_load){.pid = pid,
                                   .used_ns = priority_used_ns(pid),
                                   .policy = behind.policy,
                                   .nice = nice_of(priority),
                                   .slice_us = priority->slice_us};
    int wanted = behind.nice + priority->nice;
    bool later = wanted > load->nice;
    if (later) load->nice = wanted < MAX_NICE ? wanted : MAX_NICE;
    if (!later && behind.policy == SCHED_OTHER) return;
    struct attributes a = attributes_at(load, 0);
    syscall(SYS_sched_setattr, pid, &a, 0);
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

/* The whole process. It leads a group of which it is all, and whose threads are meant, too, where only that helps. */
void priority_step_to(struct priority_load *load, int steps)
{
    if (steps == load->steps) return;
    struct attributes a = attributes_at(load, steps);
    if (set_threads(load->pid, &a) || setpriority(PRIO_PGRP, (id_t)load->pid, a.nice) == 0) load->steps = steps;
}

uint64_t priority_measure(struct priority_load *load)
{
    uint64_t used = priority_used_ns(load->pid), more = used > load->used_ns ? used - load->used_ns : 0;
    load->used_ns = used;
    return more;
}
