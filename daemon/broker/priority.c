/* How much of the processors a process of the daemon gets. */
#include "daemon/broker/priority.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STEP = 7, MAX_NICE = 19 };

const struct priority priority_of_compilers = {.nice = 0, .slice_us = 0};
const struct priority priority_of_executors = {.nice = 5, .slice_us = 500};

/* struct sched_attr as of its first version: the C library has none. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t real_time;
    uint64_t slice_ns, deadline, period;
};

void priority_take(const struct priority *priority)
{
    errno = 0;
    int nice_before = getpriority(PRIO_PROCESS, 0);
    int nice_now = errno ? priority->nice : nice_before + priority->nice;
    if (nice_now > MAX_NICE) nice_now = MAX_NICE;
    struct attributes a = {
        .size = sizeof a, .nice = nice_now, .slice_ns = (uint64_t)priority->slice_us * 1000};
    if (syscall(SYS_sched_setattr, 0, &a, 0) != 0) setpriority(PRIO_PROCESS, 0, nice_now);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Processor time of a process, its threads included. */
static uint64_t used_ns(pid_t pid)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0) return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void priority_watch(struct priority_load *load, pid_t pid)
{
    *load = (struct priority_load){.pid = pid, .at_ns = now_ns(), .used_ns = used_ns(pid)};
}

/* The whole process: it leads a group of which it is all, and whose threads are meant, too. */
static void step(struct priority_load *load, int by)
{
    errno = 0;
    int nice_before = getpriority(PRIO_PGRP, (id_t)load->pid);
    if (errno) return;
    int nice_now = nice_before + by * STEP;
    if (nice_now > MAX_NICE) nice_now = MAX_NICE;
    if (nice_now != nice_before && setpriority(PRIO_PGRP, (id_t)load->pid, nice_now) == 0) load->steps += by;
}

uint32_t priority_measure(struct priority_load *load)
{
    uint64_t now = now_ns(), used = used_ns(load->pid);
    uint64_t elapsed = now - load->at_ns, busy = used > load->used_ns ? used - load->used_ns : 0;
    load->at_ns = now;
    load->used_ns = used;
    return elapsed ? (uint32_t)(busy * 100 / elapsed) : 0;
}

void priority_step_back(struct priority_load *load)
{
    step(load, 1);
}

void priority_step_forward(struct priority_load *load)
{
    if (load->steps > 0) step(load, -1);
}
